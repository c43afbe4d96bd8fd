"""The files of a tree, and what an import brings from one of them into another."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Protocol

from clew.graph.code.values import FileSymbols, Import


class ImportedName(NamedTuple):
    """A name in an importing file, and what it stands for."""

    local: str
    """The name here; `*` where all names of the target are seen without one."""
    path: str
    name: str
    """The name in that file; empty for the module itself, `*` for all its names."""


class Resolver(Protocol):
    """Follows the imports of one family of languages."""

    def bound(self, path: str, said: Import) -> tuple[ImportedName, ...]:
        """Return what an import of a file brings into it.

        Nothing where it leads out of the tree.
        """


class SourceTree:
    """Paths with `/` between their parts, looked up by folder and by ending."""

    def __init__(self, files: Mapping[str, FileSymbols]) -> None:
        self.files = files
        self.paths = sorted(files)
        self.folders: dict[str, list[str]] = defaultdict(list)
        self._named: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            folder, name = posixpath.split(path)
            self.folders[folder].append(path)
            self._named[name].append(path)

    def there(self, path: str) -> str | None:
        """Return a path in the spelling of the tree, if it is a file of it."""
        plain = posixpath.normpath(path)
        return plain if plain in self.files else None

    def first(self, paths: Iterable[str]) -> str | None:
        """Return the first path that is a file of the tree."""
        return next((found for path in paths if (found := self.there(path)) is not None), None)

    def ending(self, tail: str, *, near: str) -> str | None:
        """Return the file that ends with a path.

        The nearest to another file, nothing where two are as near.
        """
        found = [
            path
            for path in self._named.get(posixpath.basename(tail), ())
            if path == tail or path.endswith(f"/{tail}")
        ]
        return nearest(found[:_MAX_CANDIDATES], near)


_MAX_CANDIDATES = 1_000  # files of the same name that are compared


def nearest(paths: Collection[str], near: str) -> str | None:
    """Return the path that shares most folders with another; nothing where two share as many.

    >>> nearest(["a/x/m.h", "b/m.h"], "a/x/main.c"), nearest(["p/m.h", "q/m.h"], "main.c")
    ('a/x/m.h', None)
    """
    ordered = sorted(paths, key=lambda path: (-shared_folders(path, near), path))
    tied = len(ordered) > 1 and shared_folders(ordered[0], near) == shared_folders(ordered[1], near)
    return ordered[0] if ordered and not tied else None


def shared_folders(one: str, other: str) -> int:
    """Return how many folders two paths begin with together."""
    pairs = zip(one.split("/")[:-1], other.split("/")[:-1], strict=False)
    return next(
        (place for place, (a, b) in enumerate(pairs) if a != b),
        min(one.count("/"), other.count("/")),
    )


def folder_of(path: str) -> str:
    """Return the folder that a file stands in; empty for the outermost."""
    return posixpath.dirname(path)


def folders_above(path: str) -> list[str]:
    """Return the folders above a file, innermost first; the last is "" or the root.

    >>> folders_above("a/b/c.py")
    ['a/b', 'a', '']
    """
    found = [folder_of(path)]
    while found[-1] not in ("", "/"):
        found.append(folder_of(found[-1]))
    return found
