"""From a ranking of passages to a ranking of keys, and how much of the known paths and hops it holds."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from clew.errors import InputError
from clew.evaluate.data import Passage, Query

Run = Mapping[str, Sequence[str]]
"""For each question's id, passage ids, best first."""


def collapse(
    ranking: Sequence[str], passages: Mapping[str, Passage], level: str
) -> tuple[str, ...]:
    """Return the keys of a ranking at a level, each at its first place.

    A passage without a key at the level is known by its own id: it keeps its place, so that it
    cannot push others up.
    """
    return tuple(dict.fromkeys(passage_of(passages, id).keys.get(level, id) for id in ranking))


def relevant_at(query: Query, level: str) -> dict[str, int]:
    """Return the graded relevant keys of a question at a level.

    A grade of zero or less is not relevant.
    """
    return {key: grade for key, grade in query.relevant.get(level, {}).items() if grade > 0}


def all_found(keys: Sequence[str], relevant: Collection[str], cutoff: int) -> float:
    """Return 1 when every relevant key is among the first `cutoff`, else 0.

    >>> all_found(["a", "b", "c"], {"a", "c"}, 3), all_found(["a", "b", "c"], {"a", "c"}, 2)
    (1.0, 0.0)
    """
    return float(bool(relevant) and set(relevant) <= set(keys[:cutoff]))


def passage_of(passages: Mapping[str, Passage], id: str) -> Passage:
    """Return a passage of the dataset, or raise an InputError.

    A run made on other passages must not be scored.
    """
    try:
        return passages[id]
    except KeyError:
        raise InputError(
            "run",
            id,
            "names a passage that the dataset does not have",
            "Score a run with the passages it was made on.",
        ) from None


@dataclass(frozen=True, slots=True)
class HopRecall:
    """Where a search stood after a hop.

    Recall so far, what this hop added to it, and how many keys it brought.
    """

    hop: int
    recall: float
    gain: float
    found: float


def hopwise_recall(
    hop_of: Mapping[str, int], relevant: Collection[str], *, hops: int
) -> tuple[HopRecall, ...]:
    """Return the recall after each of `hops` hops, from the hop that first found each key.

    >>> [(step.recall, step.gain) for step in hopwise_recall({"a": 1, "x": 1, "b": 2}, {"a", "b"}, hops=2)]
    [(0.5, 0.5), (1.0, 0.5)]
    """
    steps: list[HopRecall] = []
    for hop in range(1, hops + 1):
        known = sum(key in hop_of and hop_of[key] <= hop for key in relevant)
        recall = known / len(relevant) if relevant else 0.0
        before = steps[-1].recall if steps else 0.0
        steps.append(
            HopRecall(
                hop, recall, recall - before, float(sum(first == hop for first in hop_of.values()))
            )
        )
    return tuple(steps)


def hop_of_keys(
    hops: Mapping[str, int], passages: Mapping[str, Passage], level: str
) -> dict[str, int]:
    """Turn the hop of each passage into the first hop of each key at a level."""
    first: dict[str, int] = {}
    for id, hop in hops.items():
        (key,) = collapse((id,), passages, level)
        first[key] = min(hop, first.get(key, hop))
    return first


def mean_hops(questions: Sequence[Sequence[HopRecall]]) -> tuple[HopRecall, ...]:
    """Average over questions, hop by hop.

    Every question must have been judged for the same number of hops.
    """
    return tuple(
        HopRecall(
            steps[0].hop,
            fsum(step.recall for step in steps) / len(steps),
            fsum(step.gain for step in steps) / len(steps),
            fsum(step.found for step in steps) / len(steps),
        )
        for steps in zip(*questions, strict=True)
    )


def path_coverage(keys: Collection[str], paths: Sequence[Sequence[str]]) -> float:
    """Return the share of each known path's nodes that was found, averaged over the paths.

    >>> path_coverage(["a", "b"], [["a", "b"], ["b", "c"]])
    0.75
    """
    found = set(keys)
    shares = [len(found & set(path)) / len(set(path)) for path in paths if path]
    return fsum(shares) / len(shares) if shares else 0.0


def path_at(keys: Sequence[str], paths: Sequence[Sequence[str]], cutoff: int) -> float:
    """Return the path coverage of the first `cutoff` keys of a ranking: the measure `path@k`.

    >>> path_at(["a", "x", "b"], [["a", "b"]], 2), path_at(["a", "x", "b"], [["a", "b"]], 3)
    (0.5, 1.0)
    """
    return path_coverage(keys[:cutoff], paths)


@dataclass(frozen=True, slots=True)
class Walk:
    """How the links that a system showed lie to the known paths of a question.

    Each from 0 to 1 but the count.
    """

    walked: float
    """Of the links of the known paths, the share that was shown, in either direction."""
    right: float
    """Of the shown links, the share that lies on a known path; 0 where none was shown."""
    shown: float
    found: float
    """Of the passages on the known paths, the share that is in the ranking."""
    complete: float
    """Of the known paths, the share that is in the ranking from end to end."""


def walk_of(
    links: Iterable[Sequence[str]], keys: Collection[str], paths: Sequence[Sequence[str]]
) -> Walk:
    """Return how far a system's own paths agree with the known ones.

    >>> walk_of([("b", "a"), ("a", "x")], ["a", "b", "x"], [["a", "b", "c"]])
    Walk(walked=0.5, right=0.5, shown=2.0, found=0.6666666666666666, complete=0.0)
    """
    known = {frozenset(step) for path in paths for step in itertools.pairwise(path)}
    shown = {
        ends for link in links if len(ends := frozenset(link)) > 1
    }  # two chunks of one file are one place
    both = len(known & shown)
    return Walk(
        walked=both / len(known) if known else 0.0,
        right=both / len(shown) if shown else 0.0,
        shown=float(len(shown)),
        found=path_coverage(keys, paths),
        complete=paths_complete(keys, paths),
    )


def mean_walk(walks: Sequence[Walk]) -> Walk:
    """Average over questions.

    Those without a shown link count nothing for how right the shown ones are.
    """
    showing = [walk.right for walk in walks if walk.shown]
    means = {
        name: fsum(getattr(walk, name) for walk in walks) / len(walks)
        for name in ("walked", "shown", "found", "complete")
    }
    return Walk(**means, right=fsum(showing) / len(showing) if showing else 0.0)


def paths_complete(keys: Collection[str], paths: Sequence[Sequence[str]]) -> float:
    """Return the share of the known paths that was found from end to end.

    >>> paths_complete(["a", "b"], [["a", "b"], ["b", "c"]])
    0.5
    """
    found = set(keys)
    whole = [found >= set(path) for path in paths if path]
    return sum(whole) / len(whole) if whole else 0.0
