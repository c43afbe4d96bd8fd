"""Where does an import lead? To files of the same tree, by the rules of each language; elsewhere is nowhere."""

from __future__ import annotations

from clew.ingest.codegraph.modules.c import Includes
from clew.ingest.codegraph.modules.go import GoPackages
from clew.ingest.codegraph.modules.java import JavaPackages
from clew.ingest.codegraph.modules.javascript import JavaScriptModules
from clew.ingest.codegraph.modules.python import PythonModules
from clew.ingest.codegraph.modules.rust import RustModules
from clew.ingest.codegraph.modules.tree import Bound, Resolver, SourceTree

__all__ = ["FAMILIES", "Bound", "Resolver", "SourceTree", "resolvers"]

FAMILIES = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "go": "go",
    "java": "java",
    "rust": "rust",
    "c": "c",
    "cpp": "c",
}
"""Languages whose files import and call one another."""


def resolvers(tree: SourceTree) -> dict[str, Resolver]:
    """Return for each family of languages what follows its imports through a tree."""
    return {
        "python": PythonModules(tree),
        "javascript": JavaScriptModules(tree),
        "go": GoPackages(tree),
        "java": JavaPackages(tree),
        "rust": RustModules(tree),
        "c": Includes(tree),
    }
