"""From a ranking of passages to a ranking of keys, and what of it is known to be relevant."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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
