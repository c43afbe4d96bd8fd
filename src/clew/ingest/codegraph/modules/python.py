"""Python: packages, relative imports, folders of sources, namespace packages."""

from __future__ import annotations

import posixpath
import sys
from collections import defaultdict

from clew.ingest.codegraph.modules.tree import Bound, SourceTree, folder_of, folders_above, shared
from clew.ingest.codegraph.values import STAR, Import

ENDINGS = (".py", ".pyi")
SOURCE_FOLDERS = frozenset({"src", "lib", "python", "source", "packages"})
DEEPEST_NAMESPACE = 6  # folders without an __init__ that may be packages all the same


class PythonModules:
    """The modules of a tree by their dotted names; the standard library comes before what only looks like it."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._meanings: dict[str, set[str]] = {}
        self._named: dict[str, list[tuple[bool, str, str]]] = defaultdict(list)
        for path in tree.paths:
            if path.endswith(ENDINGS):
                self._index(path)

    def bound(self, path: str, said: Import) -> tuple[Bound, ...]:
        """Return the modules and names that an import brings into a file."""
        if not said.names:
            found = self._module(path, said.module, 0)
            return (Bound(said.alias or said.module, found, ""),) if found else ()
        home = self._module(path, said.module, said.level)
        each = (self._name(path, said, home, name, local) for name, local in said.names)
        return tuple(bound for bound in each if bound is not None)

    def _name(self, path: str, said: Import, home: str | None, name: str, local: str) -> Bound | None:
        """Return what one name of `from … import` is: a name of the module, or a module below it."""
        if name == STAR:
            return Bound(STAR, home, STAR) if home else None
        below = self._module(path, f"{said.module}.{name}".lstrip("."), said.level)
        if below is not None and below != path and not self._says(home, name):
            return Bound(local, below, "")
        return Bound(local, home, name) if home and home != path else None

    def _says(self, home: str | None, name: str) -> bool:
        """Tell whether a package gives a name a meaning other than the module below it."""
        if home is None:
            return False
        if home not in self._meanings:
            there = self._tree.files[home]
            taken = {local for each in there.imports if each.module for _, local in each.names}
            self._meanings[home] = taken | {each.qualified for each in there.definitions}
        return name in self._meanings[home]

    def _module(self, path: str, module: str, level: int) -> str | None:
        parts = [part for part in module.split(".") if part]
        if level:
            above = folders_above(path)
            base = above[min(level, len(above)) - 1]
            return self._file(posixpath.join(base, *parts))
        local = self._file(posixpath.join(folder_of(path), *parts)) if parts else None
        if local is not None and not self._is_package(folder_of(path)) and local != path:
            return local  # a script sees what lies beside it first
        return self._absolute(path, ".".join(parts)) if parts and parts[0] not in sys.stdlib_module_names else None

    def _file(self, stem: str) -> str | None:
        endings = [f"{stem}{ending}" for ending in ENDINGS] + [f"{stem}/__init__{ending}" for ending in ENDINGS]
        return self._tree.first(endings)

    def _is_package(self, folder: str) -> bool:
        return self._tree.first(posixpath.join(folder, f"__init__{ending}") for ending in ENDINGS) is not None

    def _absolute(self, path: str, module: str) -> str | None:
        """Return the file of a module name: a real package before a mere folder, the nearest of several."""
        above = set(folders_above(path))
        known = self._named.get(module, ())
        fit = [
            (not packaged, -shared(file, path), file)
            for packaged, root, file in known
            if packaged or root in above or posixpath.basename(root) in SOURCE_FOLDERS
        ]
        if not fit and "." in module and len(known) == 1:
            return known[0][2]  # its empty __init__ may not have been imported
        return min(fit)[2] if fit else None

    def _index(self, path: str) -> None:
        """Enter a file under the names by which it may be imported: from its package's root, or from a folder above it."""
        folder, name = posixpath.split(path)
        stem = name.rsplit(".", 1)[0]
        parts = [] if stem == "__init__" else [stem]
        packaged = self._is_package(folder)
        while self._is_package(folder) and folder not in ("", "/"):
            folder, name = posixpath.split(folder)
            parts.insert(0, name)
        for _ in range(DEEPEST_NAMESPACE):
            if parts:
                self._named[".".join(parts)].append((packaged, folder, path))
            if folder in ("", "/"):
                return
            packaged = False
            folder, name = posixpath.split(folder)
            parts.insert(0, name)
