"""Bring the edges of a source tree in a store up to date, after some of its files were imported.

A changed file has new nodes, so all its edges are new, and whatever pointed at it must point anew:
also from files that have not changed. Which these are follows from all names of the tree, so the
graph is made of all its files; but a file is parsed only when its text is not among the symbols
that are already `known`, and only edges that differ are written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath

from clew.file_formats import HEAD_BYTES, detect
from clew.graph.code.graph import CODE_EDGES, FileNodes, connect_files, edges_between, file_nodes
from clew.graph.code.languages import GRAMMARS
from clew.graph.code.symbols import symbols
from clew.graph.code.values import FileSymbols
from clew.ports import Store
from clew.types import Edge, Node, NodeId

RETRACTED = "no longer in the source"
_CPP = re.compile(r"^[^\S\n]*+(?:class|namespace|template|using)\b", re.MULTILINE)

SymbolCache = MutableMapping[tuple[str, str], FileSymbols]
"""The symbols of texts, by the hash of every letter (a node's own hash overlooks white space) and
language.
"""


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What a linking did: edges there should be, edges written, edges taken back, files parsed."""

    edges: int
    written: int
    retracted: int
    parsed: int


def language_of(path: str, text: str) -> str | None:
    """Return the language of a source file; None where it is not one that has a grammar.

    >>> language_of("a/shop.py", ""), language_of("shop.h", "class Cart {};"), language_of("notes.md", "# Shop")
    ('python', 'cpp', None)
    """
    found = detect(PurePath(path), text[:HEAD_BYTES].encode(errors="replace"))
    if found == "c" and path.endswith(".h") and _CPP.search(text):
        return "cpp"  # the name alone does not tell
    return found if found in GRAMMARS else None


def link_code(
    store: Store,
    files: Iterable[tuple[str, Node]],
    *,
    now: datetime,
    known: SymbolCache | None = None,
) -> LinkReport:
    """Write the code edges between live files, given each file's path and outermost node.

    An edge that holds no longer gets the weight and confidence 0: nothing in a store is ever
    unsaid.
    """
    roots = {PurePath(path).as_posix(): root for path, root in files}
    cache: SymbolCache = {} if known is None else known
    before = len(cache)
    graph = connect_files(
        {
            path: found
            for path, root in sorted(roots.items())
            if (found := _symbols(path, root, cache)) is not None
        }
    )
    with store.transaction():
        places = _file_nodes(store, {path: roots[path] for path in graph.files})
        wanted = edges_between(places, graph, now)
        fresh, stale = _differences(wanted, _stored_edges(store, places), now)
        store.link([*fresh, *stale])
    return LinkReport(len(wanted), len(fresh), len(stale), len(cache) - before)


def _symbols(path: str, root: Node, cache: SymbolCache) -> FileSymbols | None:
    language = language_of(path, root.text)
    if language is None:
        return None
    key = (
        hashlib.blake2b(root.text.encode(errors="surrogatepass"), digest_size=16).hexdigest(),
        language,
    )
    if key not in cache:
        cache[key] = symbols(root.text, language=language)
    return cache[key]


def _file_nodes(store: Store, roots: dict[str, Node]) -> dict[str, FileNodes]:
    """Return the nodes of each file, read with one question for all."""
    below: dict[NodeId, list[Node]] = {root.id: [] for root in roots.values()}
    for node in store.get(store.family(list(below))).values():
        if node.root in below and node.t_expired is None:
            below[node.root].append(node)
    return {path: file_nodes(root, below[root.id]) for path, root in roots.items()}


def _stored_edges(store: Store, places: dict[str, FileNodes]) -> list[Edge]:
    """Return the code edges that the store has between these files."""
    nodes = {
        id for each in places.values() for id in (each.root, *(piece.id for piece in each.pieces))
    }
    return [
        edge
        for edge in store.edges(sorted(nodes))
        if edge.kind in CODE_EDGES and edge.source in nodes and edge.target in nodes
    ]


def _differences(
    wanted: Sequence[Edge], present: Sequence[Edge], now: datetime
) -> tuple[list[Edge], list[Edge]]:
    """Return the edges to write, new or changed, and those to take back."""
    known = {_key(edge): edge for edge in present}
    keys = {_key(edge) for edge in wanted}
    fresh = [
        edge
        for edge in wanted
        if (old := known.get(_key(edge))) is None or replace(old, t_created=now) != edge
    ]
    gone = [edge for key, edge in sorted(known.items()) if key not in keys and edge.weight > 0]
    return fresh, [
        replace(edge, weight=0.0, confidence=0.0, evidence=RETRACTED, t_created=now)
        for edge in gone
    ]


def _key(edge: Edge) -> tuple[NodeId, NodeId, str]:
    return edge.source, edge.target, edge.kind
