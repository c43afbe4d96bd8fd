"""From the values of questions to the values of a system: overall and for each category."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from math import fsum

from clew.evaluate.data import Query
from clew.evaluate.measures.evaluation import Scores
from clew.evaluate.measures.names import in_order


def overall(scores: Scores) -> dict[str, float]:
    """Return the mean of each measure over the questions that have it.

    >>> overall({"a": {"hit@1": 1.0}, "b": {"hit@1": 0.0}, "c": {}})
    {'hit@1': 0.5}
    """
    return {
        name: _mean(column(scores, name).values())
        for name in in_order(name for values in scores.values() for name in values)
    }


def by_category(scores: Scores, queries: Iterable[Query]) -> dict[str, dict[str, float]]:
    """Return the means of each category, in the order of their names.

    Questions without a category are in none.
    """
    parts: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for query in queries:
        if query.category and query.id in scores:
            parts[query.category][query.id] = dict(scores[query.id])
    return {category: overall(parts[category]) for category in sorted(parts)}


def column(scores: Scores, name: str) -> dict[str, float]:
    """Return one measure's value for each question that has it."""
    return {query: values[name] for query, values in scores.items() if name in values}


def counts(scores: Scores, queries: Iterable[Query], name: str) -> dict[str, int]:
    """Return how many questions of each category have a value of a measure."""
    judged = Counter(
        query.category for query in queries if query.category and name in scores.get(query.id, {})
    )
    return dict(sorted(judged.items()))


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return fsum(kept) / len(kept) if kept else 0.0
