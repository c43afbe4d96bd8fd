"""What in a source tree depends on what? (B10)

symbols        a text → its definitions, imports and calls, by the queries of its language
graph          texts → which file imports which, which call reaches which definition
edges_between  graph and the places of chunks → edges between nodes
link_code      the same for a store, after an import; writes what differs
"""

from __future__ import annotations

from clew.ingest.codegraph.edges import CALLS, CODE_EDGES, DEFINES, IMPORTS, FileNodes, Piece, edges_between, file_nodes
from clew.ingest.codegraph.graph import CallLink, CodeGraph, FileLink, assembled, graph
from clew.ingest.codegraph.linking import Known, Linked, language_of, link_code
from clew.ingest.codegraph.symbols import symbols
from clew.ingest.codegraph.values import EXPRESSION, Binding, Call, Definition, DefinitionKind, FileSymbols, Import

__all__ = [
    "CALLS",
    "CODE_EDGES",
    "DEFINES",
    "EXPRESSION",
    "IMPORTS",
    "Binding",
    "Call",
    "CallLink",
    "CodeGraph",
    "Definition",
    "DefinitionKind",
    "FileLink",
    "FileNodes",
    "FileSymbols",
    "Import",
    "Known",
    "Linked",
    "Piece",
    "assembled",
    "edges_between",
    "file_nodes",
    "graph",
    "language_of",
    "link_code",
    "symbols",
]
