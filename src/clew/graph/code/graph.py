"""Build the dependency graph of a source tree: which file imports and calls which."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from clew.errors import InputError
from clew.graph.code.calls import IMPORTED, MODULE, Calls, Names
from clew.graph.code.languages import GRAMMARS
from clew.graph.code.module_tree import ImportedName, SourceTree
from clew.graph.code.modules import FAMILIES, resolvers
from clew.graph.code.symbols import symbols
from clew.graph.code.values import STAR, Definition, FileSymbols, Import
from clew.types import Edge, Kind, Node, NodeId

MAX_EVIDENCE = 120  # characters

ResolvedImport = tuple[str, Import, tuple[ImportedName, ...]]
"""A file, one of its imports, and what that brings into it."""


class FileLink(NamedTuple):
    """A file imports another."""

    source: str
    target: str
    confidence: float
    evidence: str


class CallLink(NamedTuple):
    """A call at an offset of one file reaches a definition of another, or of the same."""

    source: str
    at: int
    target: str
    definition: Definition
    confidence: float
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeGraph:
    """The files of a tree with their symbols, and what connects them.

    Links are in the order of paths and places.
    """

    files: Mapping[str, FileSymbols] = field(repr=False)
    imports: tuple[FileLink, ...] = field(repr=False)
    calls: tuple[CallLink, ...] = field(repr=False)
    imports_resolved: int
    """How many import statements lead to a file of the tree."""

    def neighbours(self, *, min_confidence: float = 0.5) -> dict[str, dict[str, float]]:
        """Return for each file those that it imports or calls, with the best confidence."""
        found: dict[str, dict[str, float]] = {path: {} for path in sorted(self.files)}
        links = [(link.source, link.target, link.confidence) for link in self.imports]
        links += [(link.source, link.target, link.confidence) for link in self.calls]
        for source, target, confidence in links:
            if source != target and confidence >= min_confidence:
                found[source][target] = max(confidence, found[source].get(target, 0.0))
        return found


def build_graph(files: Mapping[str, str], languages: Mapping[str, str]) -> CodeGraph:
    r"""Return the graph of source texts by path.

    A file whose language has no grammar is no part of it.

    >>> texts = {"shop/__init__.py": "", "shop/cart.py": "def total(): ...", "main.py": "from shop.cart import total\ntotal()"}
    >>> made = build_graph(texts, dict.fromkeys(texts, "python"))
    >>> made.imports[0][:3], made.calls[0].evidence
    (('main.py', 'shop/cart.py', 1.0), 'line 2: total()')
    """
    missing = sorted(set(files) - set(languages))
    if missing:
        raise InputError(
            "languages", missing[0], "says nothing of this file", "Name the language of every file."
        )
    return connect_files(
        {
            path: symbols(files[path], language=languages[path])
            for path in sorted(files)
            if languages[path] in GRAMMARS
        }
    )


def connect_files(files: Mapping[str, FileSymbols]) -> CodeGraph:
    """Return the graph of files whose symbols are known."""
    tree = SourceTree(files)
    bound, said = _resolve_imports(tree)
    names = Names(files, bound)
    return CodeGraph(
        files=files,
        imports=tuple(_file_links(said, names)),
        calls=tuple(_call_links(tree, names)),
        imports_resolved=len(said),
    )


def _resolve_imports(
    tree: SourceTree,
) -> tuple[dict[str, list[ImportedName]], list[ResolvedImport]]:
    """Return what each file's imports bring into it, and each import that leads into the tree."""
    by_family = resolvers(tree)
    bound: dict[str, list[ImportedName]] = {path: [] for path in tree.paths}
    said: list[ResolvedImport] = []
    for path in tree.paths:
        found = tree.files[path]
        resolver = by_family[FAMILIES[found.language]]
        for each in found.imports:
            brought = resolver.bound(path, each)
            bound[path] += brought
            said += [(path, each, brought)] if brought else []
    return bound, said


def _file_links(said: Iterable[ResolvedImport], names: Names) -> list[FileLink]:
    """Link each file to those that it imports, and to those that define the imported names."""
    best: dict[tuple[str, str], FileLink] = {}
    for path, each, brought in _without_unused(said, names):
        evidence = f"line {each.line}: {_format_import(each)}"[:MAX_EVIDENCE]
        for bound in brought:
            origin = names.named(bound.path, bound.name) if bound.name not in ("", STAR) else None
            for target in (bound.path, *(origin.paths if origin else ())):
                link = FileLink(path, target, 1.0 if target == bound.path else IMPORTED, evidence)
                known = best.get((path, target))
                if target != path and (known is None or known.confidence < link.confidence):
                    best[path, target] = link
    return [best[key] for key in sorted(best)]


def _without_unused(said: Iterable[ResolvedImport], names: Names) -> Iterable[ResolvedImport]:
    """Leave out files of a Go package that define nothing that is called through its name."""
    called: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path, found in names.files.items():
        for call in found.calls if found.language == "go" else ():
            called[path, call.receiver or STAR].add(call.name)
    for path, each, brought in said:
        wanted = called.get((path, brought[0].local), set())
        holding = tuple(
            bound for bound in brought if not wanted.isdisjoint(names.scopes[bound.path].outer)
        )
        yield path, each, holding if holding and names.files[path].language == "go" else brought


def _format_import(said: Import) -> str:
    """Return an import in one spelling for all languages."""
    names = ", ".join(
        name if name == local else f"{name} as {local}" for name, local in said.names[:8]
    )
    module = "." * said.level + said.module
    return (
        f"import {names} from {module}"
        if names
        else f"import {module}" + (f" as {said.alias}" if said.alias else "")
    )


def _call_links(tree: SourceTree, names: Names) -> Iterable[CallLink]:
    calls = Calls(tree.files, names)
    for path in tree.paths:
        for call in tree.files[path].calls:
            found = calls.reached(path, call)
            if found is not None and found.place != MODULE:
                written = f"{call.receiver}.{call.name}" if call.receiver else call.name
                evidence = f"line {call.line}: {written}()"[:MAX_EVIDENCE]
                yield CallLink(
                    path,
                    call.start,
                    found.paths[0],
                    names.definition(found),
                    found.confidence,
                    evidence,
                )


IMPORTS, DEFINES, CALLS = "IMPORTS", "DEFINES", "CALLS"
CODE_EDGES = frozenset({IMPORTS, DEFINES, CALLS})
# edges of one kind from a node: the surest stay, so that a walk is not lost in a list of constants
MAX_OUT = 32
MAX_IN = 64  # and to a node: what everything calls explains nothing
MIN_CONFIDENCE = 0.4  # of a call: the only method of its name in the tree
MAX_EDGE_EVIDENCE = 200  # characters


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
    """Return the nodes of a file from its outermost node and everything below it.

    Offsets are into the text of the outermost.
    """
    if root.kind is Kind.CHUNK:
        return FileNodes(root.id, (Piece(0, len(root.text), root.id),))
    chunks = [
        node
        for node in nodes
        if node.kind is Kind.CHUNK and node.start is not None and node.end is not None
    ]
    return FileNodes(
        root.id, tuple(sorted(Piece(node.start or 0, node.end or 0, node.id) for node in chunks))
    )


def edges_between(
    places: Mapping[str, FileNodes], graph: CodeGraph, now: datetime
) -> tuple[Edge, ...]:
    """Return the edges between the nodes of the files.

    File imports file, file defines in chunk, chunk calls chunk.

    There is one edge of a kind between two nodes, with the surest evidence; none from a node to
    itself. A file without nodes is passed over. A node has at most `MAX_OUT` edges from it and
    `MAX_IN` to it of each kind but DEFINES, which a file has to each of its chunks that begins a
    definition.
    """
    imports = _limit_degree(_best_by_pair(_imports(places, graph, now)))
    calls = _limit_degree(_best_by_pair(_calls(places, graph, now)))
    return (*imports, *_defines(places, graph, now), *calls)


def _imports(places: Mapping[str, FileNodes], graph: CodeGraph, now: datetime) -> Iterator[Edge]:
    for link in graph.imports:
        if link.source in places and link.target in places:
            yield _edge(
                places[link.source].root,
                places[link.target].root,
                IMPORTS,
                confidence=link.confidence,
                evidence=link.evidence,
                now=now,
            )


def _calls(places: Mapping[str, FileNodes], graph: CodeGraph, now: datetime) -> Iterator[Edge]:
    for link in graph.calls:
        if link.source in places and link.target in places and link.confidence >= MIN_CONFIDENCE:
            source, target = (
                places[link.source].at(link.at),
                places[link.target].at(link.definition.start),
            )
            if source is not None and target is not None:
                yield _edge(
                    source,
                    target,
                    CALLS,
                    confidence=link.confidence,
                    evidence=link.evidence,
                    now=now,
                )


def _defines(places: Mapping[str, FileNodes], graph: CodeGraph, now: datetime) -> Iterator[Edge]:
    for path in sorted(places):
        held: dict[NodeId, list[str]] = defaultdict(list)
        for each in graph.files[path].definitions if path in graph.files else ():
            chunk = places[path].at(each.start)
            if chunk is not None and chunk != places[path].root:
                held[chunk].append(f"line {each.line}: {each.kind} {each.qualified}")
        for chunk, said in held.items():
            yield _edge(
                places[path].root,
                chunk,
                DEFINES,
                confidence=1.0,
                evidence="; ".join(said[:4])[:MAX_EDGE_EVIDENCE],
                now=now,
            )


def _edge(
    source: NodeId, target: NodeId, kind: str, *, confidence: float, evidence: str, now: datetime
) -> Edge:
    """Return an edge as strong as it is sure, for a walk goes by weight."""
    return Edge(
        source=source,
        target=target,
        kind=kind,
        weight=confidence,
        confidence=confidence,
        evidence=evidence,
        t_created=now,
    )


def _best_by_pair(edges: Iterable[Edge]) -> list[Edge]:
    """Keep the surest edge between two nodes, the first of several."""
    best: dict[tuple[NodeId, NodeId], Edge] = {}
    for edge in edges:
        known = best.get((edge.source, edge.target))
        if edge.source != edge.target and (known is None or known.confidence < edge.confidence):
            best[edge.source, edge.target] = edge
    return list(best.values())


def _limit_degree(edges: Sequence[Edge]) -> list[Edge]:
    """Keep so many edges from and to each node, the surest first, in the order they came."""
    surest = sorted(range(len(edges)), key=lambda place: (-edges[place].confidence, place))
    out, into = Counter[NodeId](), Counter[NodeId]()
    kept = []
    for place in surest:
        edge = edges[place]
        if out[edge.source] < MAX_OUT and into[edge.target] < MAX_IN:
            out[edge.source] += 1
            into[edge.target] += 1
            kept.append(place)
    return [edges[place] for place in sorted(kept)]
