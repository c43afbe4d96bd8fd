"""Rust: modules follow the folders below a crate's root; a crate is the folder around its `src`."""

from __future__ import annotations

import posixpath

from clew.ingest.codegraph.modules.tree import Bound, SourceTree, folder_of, folders_above
from clew.ingest.codegraph.scopes import Scopes
from clew.ingest.codegraph.values import STAR, DefinitionKind, Import

_ROOTS = ("lib.rs", "main.rs")
_HEADS = ("mod.rs", *_ROOTS)  # files that speak for their folder


class RustModules:
    """Follows paths of modules; what is left over of a path is a name in the last module."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._scopes: dict[str, Scopes] = {}
        self._crates = {
            posixpath.basename(folder_of(folder_of(path))).replace("-", "_"): path
            for path in tree.paths
            if posixpath.basename(path) == "lib.rs"
        }

    def bound(self, path: str, said: Import) -> tuple[Bound, ...]:
        """Return the modules and names that a `use` or a `mod` brings into a file."""
        said = self._outside(path, said)
        if not said.names:
            found = self._follow(path, said.module.split("::"))
            return (Bound(said.alias, found[0], ""),) if found and not found[1] and found[0] != path else ()
        each = (self._name(path, [*filter(None, said.module.split("::")), name], local) for name, local in said.names)
        return tuple(bound for bound in each if bound is not None)

    def _outside(self, path: str, said: Import) -> Import:
        """Return an import as the file would write it outside its inner modules, where `super` is the file itself."""
        if not said.module.startswith("super"):
            return said
        if path not in self._scopes:
            self._scopes[path] = Scopes(self._tree.files[path])
        definitions = self._tree.files[path].definitions
        around = sum(definitions[index].kind is DefinitionKind.MODULE for index in self._scopes[path].around(said.start))
        parts = said.module.split("::")
        inner = min(around, next((at for at, part in enumerate(parts) if part != "super"), len(parts)))
        return said._replace(module="::".join(["self", *parts[inner:]])) if inner else said

    def _name(self, path: str, parts: list[str], local: str) -> Bound | None:
        star = parts[-1] == STAR
        found = self._follow(path, parts[:-1] if star else parts)
        if found is None or found[0] == path:
            return None
        file, rest = found
        if star:
            return Bound(STAR, file, STAR) if not rest else None
        return Bound(local, file, ".".join(rest))

    def _follow(self, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
        """Return the file that a path of modules leads to, and the names that are left."""
        begun = self._begin(path, parts)
        if begun is None:
            return None
        file, rest = begun
        while rest and (below := self._below(file, rest[0])) is not None:
            file, rest = below, rest[1:]
        return file, rest

    def _begin(self, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
        first, rest = parts[0], parts[1:]
        if first == "crate":
            root = self._root(path)
            return (root, rest) if root else None
        if first in ("self", "super"):
            return self._relative(path, parts)
        below = self._below(path, first)
        if below is not None:
            return below, rest
        return (self._crates[first], rest) if first in self._crates else None

    def _relative(self, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
        file: str | None = path
        for at, part in enumerate(parts):
            if part not in ("self", "super") or file is None:
                return (file, parts[at:]) if file else None
            file = self._parent(file) if part == "super" else file
        return (file, []) if file else None

    def _root(self, path: str) -> str | None:
        return self._tree.first(posixpath.join(folder, name) for folder in folders_above(path) for name in _ROOTS)

    def _home(self, path: str) -> str:
        """Return the folder in which a file's modules lie."""
        stem, name = posixpath.splitext(path)[0], posixpath.basename(path)
        return folder_of(path) if name in _HEADS else stem

    def _below(self, path: str, name: str) -> str | None:
        home = self._home(path)
        return self._tree.first((posixpath.join(home, f"{name}.rs"), posixpath.join(home, name, "mod.rs")))

    def _parent(self, path: str) -> str | None:
        folder = folder_of(path)
        folder = folder_of(folder) if posixpath.basename(path) in _HEADS else folder
        return self._tree.first([*(posixpath.join(folder, head) for head in _HEADS), f"{folder}.rs"])
