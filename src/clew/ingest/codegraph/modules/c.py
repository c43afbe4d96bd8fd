"""C and C++: an include is a path from the file's own folder, or from a folder of headers."""

from __future__ import annotations

import posixpath

from clew.ingest.codegraph.modules.tree import Bound, SourceTree, folder_of
from clew.ingest.codegraph.values import STAR, Import


class Includes:
    """Finds the files that are included."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def bound(self, path: str, said: Import) -> tuple[Bound, ...]:
        """Return the included file, whose names are all seen."""
        found = self._file(path, said.module)
        return (Bound(STAR, found, STAR),) if found is not None and found != path else ()

    def _file(self, path: str, module: str) -> str | None:
        plain = module.strip("<>")
        if not module.startswith("<"):
            beside = self._tree.there(posixpath.join(folder_of(path), plain))
            if beside is not None:
                return beside
        elif "/" not in plain:
            return None  # a header of the system, though the tree may have one of that name
        tail = posixpath.normpath(plain).lstrip("./")
        return self._tree.ending(tail, near=path) if tail else None
