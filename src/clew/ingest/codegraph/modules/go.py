"""Go: a package is a folder; the name of the module is what most imports of the tree's own folders begin with."""

from __future__ import annotations

import posixpath
from collections import defaultdict

from clew.ingest.codegraph.modules.tree import Bound, SourceTree
from clew.ingest.codegraph.values import STAR, Import

DEEPEST = 8  # folders of an import path that are tried
MOST_FILES = 32  # of one package that an import leads to


class GoPackages:
    """Finds the folder of an import path."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._packages = {folder: files for folder, paths in tree.folders.items() if (files := _sources(paths))}
        self._tails: dict[str, list[str]] = defaultdict(list)
        for folder in self._packages:
            parts = folder.split("/")
            for take in range(1, min(DEEPEST, len(parts)) + 1):
                self._tails["/".join(parts[-take:])].append(folder)
        self._module = self._most_used_prefix()

    def bound(self, path: str, said: Import) -> tuple[Bound, ...]:
        """Return the files of the imported package, each under the package's name here."""
        folder = self._folder(said.module)
        if folder is None:
            return ()
        files = [file for file in self._packages[folder] if file != path][:MOST_FILES]
        if said.names:  # a dot: all names of the package, without one for the package
            return tuple(Bound(STAR, file, STAR) for file in files)
        return tuple(Bound(said.alias or self._tree.files[file].package, file, "") for file in files)

    def _folder(self, module: str) -> str | None:
        if module.startswith("."):
            return None
        if self._module is None or not (module == self._module or module.startswith(f"{self._module}/")):
            return None
        tail = module[len(self._module) :].strip("/")
        found = self._tails.get(tail, ()) if tail else self._roots()
        return min(found, key=lambda folder: (folder.count("/"), folder), default=None)

    def _roots(self) -> list[str]:
        return sorted(self._packages, key=lambda folder: (folder.count("/") + bool(folder), folder))[:1]

    def _most_used_prefix(self) -> str | None:
        """Return what stands before the tree's own folders in import paths: the one that explains most of them."""
        explained: dict[str, set[str]] = defaultdict(set)
        for path in self._tree.paths:
            symbols = self._tree.files[path]
            for said in symbols.imports if symbols.language == "go" else ():
                for prefix, tail in _splits(said.module):
                    if tail in self._tails:
                        explained[prefix].add(tail)
        return min(explained, key=lambda prefix: (-len(explained[prefix]), len(prefix), prefix), default=None)


def _splits(module: str) -> list[tuple[str, str]]:
    """Return the ways to part an import path into a module's name, which begins with a domain or stands alone, and a folder."""
    parts = module.split("/")
    least = 2 if "." in parts[0] else 1
    return [("/".join(parts[:at]), "/".join(parts[at:])) for at in range(least, min(len(parts), DEEPEST + least))]


def _sources(paths: list[str]) -> list[str]:
    return [path for path in paths if posixpath.splitext(path)[1] == ".go" and not path.endswith("_test.go")]
