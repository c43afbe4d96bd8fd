"""JavaScript and TypeScript: relative paths with or without an extension, index files, `@/` for the sources."""

from __future__ import annotations

import posixpath

from clew.ingest.codegraph.modules.tree import Bound, SourceTree, folder_of, folders_above
from clew.ingest.codegraph.values import Import

ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_WRITTEN_FOR = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}  # TypeScript names what it compiles to
_SOURCES = ("@/", "~/")  # what the usual configurations map to the folder of the sources


class JavaScriptModules:
    """Follows the paths that modules are imported by."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def bound(self, path: str, said: Import) -> tuple[Bound, ...]:
        """Return the names that an import brings into a file."""
        found = self._file(path, said.module)
        if found is None or found == path:
            return ()
        bound = [Bound(local, found, name) for name, local in said.names]
        if said.alias or not bound:
            bound.append(Bound(said.alias, found, ""))
        return tuple(bound)

    def _file(self, path: str, module: str) -> str | None:
        if module.startswith(("./", "../")) or module in (".", ".."):
            return self._at(posixpath.join(folder_of(path), module))
        if module.startswith(_SOURCES):
            above = [posixpath.join(folder, inner) for folder in folders_above(path) for inner in ("src", "")]
            return next((found for folder in above if (found := self._at(posixpath.join(folder, module[2:]))) is not None), None)
        return None

    def _at(self, stem: str) -> str | None:
        root, ending = posixpath.splitext(stem)
        written = [root + other for other in _WRITTEN_FOR.get(ending, ())]
        inside = [posixpath.join(stem, f"index{other}") for other in ENDINGS]
        return self._tree.first([stem, *written, *(stem + other for other in ENDINGS), *inside])
