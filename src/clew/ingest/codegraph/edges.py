"""From the graph of a source tree to edges between the nodes that its files have become."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from clew.ingest.codegraph.graph import CodeGraph
from clew.types import Edge, Kind, Node, NodeId

IMPORTS, DEFINES, CALLS = "IMPORTS", "DEFINES", "CALLS"
CODE_EDGES = frozenset({IMPORTS, DEFINES, CALLS})
MOST_OUT = 32  # edges of one kind from a node: the surest stay, so that a walk is not lost in a list of constants
MOST_IN = 64  # and to a node: what everything calls explains nothing
MIN_CONFIDENCE = 0.4  # of a call: the only method of its name in the tree
LONGEST_EVIDENCE = 200  # characters


class Piece(NamedTuple):
    """A chunk's place in its file."""

    start: int
    end: int
    id: NodeId


class FileNodes(NamedTuple):
    """The nodes of a file: the outermost, and its chunks in the order of the text."""

    root: NodeId
    pieces: tuple[Piece, ...]

    def at(self, offset: int) -> NodeId | None:
        """Return the chunk that holds an offset; where two overlap, the later one."""
        place = bisect_right(self.pieces, offset, key=lambda piece: piece.start) - 1
        return self.pieces[place].id if place >= 0 and offset < self.pieces[place].end else None


def file_nodes(root: Node, nodes: Iterable[Node]) -> FileNodes:
    """Return the nodes of a file from its outermost node and everything below it; offsets are into the text of the outermost."""
    if root.kind is Kind.CHUNK:
        return FileNodes(root.id, (Piece(0, len(root.text), root.id),))
    chunks = [node for node in nodes if node.kind is Kind.CHUNK and node.start is not None and node.end is not None]
    return FileNodes(root.id, tuple(sorted(Piece(node.start or 0, node.end or 0, node.id) for node in chunks)))


def edges_between(places: Mapping[str, FileNodes], graph: CodeGraph, now: datetime) -> tuple[Edge, ...]:
    """Return the edges between the nodes of the files: file imports file, file defines in chunk, chunk calls chunk.

    There is one edge of a kind between two nodes, with the surest evidence; none from a node to itself. A file without nodes
    is passed over. A node has at most `MOST_OUT` edges from it and `MOST_IN` to it of each kind but DEFINES, which a file has
    to each of its chunks that begins a definition.
    """
    imports = _bounded(_best(_imports(places, graph, now)))
    calls = _bounded(_best(_calls(places, graph, now)))
    return (*imports, *_defines(places, graph, now), *calls)


def _imports(places: Mapping[str, FileNodes], graph: CodeGraph, now: datetime) -> Iterator[Edge]:
    for link in graph.imports:
        if link.source in places and link.target in places:
            yield _edge(
                places[link.source].root, places[link.target].root, IMPORTS, confidence=link.confidence, evidence=link.evidence, now=now
            )


def _calls(places: Mapping[str, FileNodes], graph: CodeGraph, now: datetime) -> Iterator[Edge]:
    for link in graph.calls:
        if link.source in places and link.target in places and link.confidence >= MIN_CONFIDENCE:
            source, target = places[link.source].at(link.at), places[link.target].at(link.definition.start)
            if source is not None and target is not None:
                yield _edge(source, target, CALLS, confidence=link.confidence, evidence=link.evidence, now=now)


def _defines(places: Mapping[str, FileNodes], graph: CodeGraph, now: datetime) -> Iterator[Edge]:
    for path in sorted(places):
        held: dict[NodeId, list[str]] = defaultdict(list)
        for each in graph.files[path].definitions if path in graph.files else ():
            chunk = places[path].at(each.start)
            if chunk is not None and chunk != places[path].root:
                held[chunk].append(f"line {each.line}: {each.kind} {each.qualified}")
        for chunk, said in held.items():
            yield _edge(places[path].root, chunk, DEFINES, confidence=1.0, evidence="; ".join(said[:4])[:LONGEST_EVIDENCE], now=now)


def _edge(source: NodeId, target: NodeId, kind: str, *, confidence: float, evidence: str, now: datetime) -> Edge:
    """Return an edge as strong as it is sure, for a walk goes by weight."""
    return Edge(source=source, target=target, kind=kind, weight=confidence, confidence=confidence, evidence=evidence, t_created=now)


def _best(edges: Iterable[Edge]) -> list[Edge]:
    """Keep the surest edge between two nodes, the first of several."""
    best: dict[tuple[NodeId, NodeId], Edge] = {}
    for edge in edges:
        known = best.get((edge.source, edge.target))
        if edge.source != edge.target and (known is None or known.confidence < edge.confidence):
            best[edge.source, edge.target] = edge
    return list(best.values())


def _bounded(edges: Sequence[Edge]) -> list[Edge]:
    """Keep so many edges from and to each node, the surest first, in the order they came."""
    surest = sorted(range(len(edges)), key=lambda place: (-edges[place].confidence, place))
    out, into = Counter[NodeId](), Counter[NodeId]()
    kept = []
    for place in surest:
        edge = edges[place]
        if out[edge.source] < MOST_OUT and into[edge.target] < MOST_IN:
            out[edge.source] += 1
            into[edge.target] += 1
            kept.append(place)
    return [edges[place] for place in sorted(kept)]
