"""Gold paths of questions about code.

How the files that an answer needs depend on one another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

from clew.evaluate.data import Document, Query
from clew.graph.code.graph import CodeGraph, build_graph
from clew.graph.code.linking import language_of

# dependencies of a gold path: farther apart, two files are of one question by its wording alone
MAX_HOPS = 3
FILE = "file"

Path = tuple[str, ...]
"""Files from one to the other, each depending on the next."""


def code_graphs(documents: Iterable[Document]) -> dict[str, CodeGraph]:
    """Return the dependency graph of each space's source files, known by their keys at the level of files."""
    texts: dict[str, dict[str, str]] = {}
    for document in documents:
        if FILE in document.keys:
            texts.setdefault(document.space, {})[document.keys[FILE]] = document.text
    return {space: _graph(texts[space]) for space in sorted(texts)}


def _graph(texts: Mapping[str, str]) -> CodeGraph:
    known = {
        path: language
        for path, text in texts.items()
        if (language := language_of(path, text)) is not None
    }
    return build_graph({path: texts[path] for path in known}, known)


def query_paths(
    queries: Iterable[Query], graphs: Mapping[str, CodeGraph], *, max_hops: int = MAX_HOPS
) -> dict[str, tuple[Path, ...]]:
    """Return the gold paths of each question that has any: those between its relevant files."""
    found: dict[str, tuple[Path, ...]] = {}
    for query in queries:
        gold = {file for file, grade in query.relevant.get(FILE, {}).items() if grade > 0}
        paths = (
            gold_paths(graphs[query.space], gold, gold, max_hops=max_hops)
            if len(gold) > 1 and query.space in graphs
            else ()
        )
        if paths:
            found[query.id] = paths
    return found


def gold_paths(
    graph: CodeGraph,
    start_files: Collection[str],
    gold_files: Collection[str],
    *,
    max_hops: int = MAX_HOPS,
) -> tuple[Path, ...]:
    """Return the shortest dependency path between each start file and each gold file, whichever depends on the other.

    Among paths of one length the surest dependencies are taken, then the first by name. A pair that
    no path of at most `max_hops` dependencies connects has none; of the two directions between a
    pair the shorter counts.
    """
    both = set(start_files) | set(gold_files)
    wanted = [
        pair for pair in combinations(sorted(both), 2) if _is_asked(pair, start_files, gold_files)
    ]
    ends = sorted({file for pair in wanted for file in pair})
    ahead = graph.neighbours()
    reached = {file: _shortest(ahead, file, max_hops) for file in ends if file in ahead}
    paths = (
        _shorter(reached.get(one, {}).get(other), reached.get(other, {}).get(one))
        for one, other in wanted
    )
    return tuple(dict.fromkeys(path for path in paths if path is not None))


def _is_asked(pair: tuple[str, str], starts: Collection[str], gold: Collection[str]) -> bool:
    one, other = pair
    return (one in starts and other in gold) or (other in starts and one in gold)


def _shorter(one: Path | None, other: Path | None) -> Path | None:
    return min(
        (path for path in (one, other) if path is not None),
        key=lambda path: (len(path), path),
        default=None,
    )


def _shortest(
    ahead: Mapping[str, Mapping[str, float]], start: str, max_hops: int
) -> dict[str, Path]:
    """Return the shortest path from a file to each one that it depends on, in at most so many steps."""
    paths: dict[str, Path] = {start: (start,)}
    edge = [start]
    for _ in range(max_hops):
        following: dict[str, None] = {}
        for file in edge:
            for target, _confidence in sorted(
                ahead.get(file, {}).items(), key=lambda item: (-item[1], item[0])
            ):
                if target not in paths:
                    paths[target] = (*paths[file], target)
                    following[target] = None
        edge = list(following)
    del paths[start]
    return paths
