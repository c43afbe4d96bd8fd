"""What is compared: named ways to search one and the same store."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.errors import InputError
from clew.evaluate.data import Answer, Query
from clew.evaluate.policies import Policy, SingleHop
from clew.evaluate.searcher import Searcher
from clew.search.recipes import NAMES as RECIPES

_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|[0-9]+")


def jaccard(one: str, other: str) -> float:
    """Return how many of the words of two texts both have, of all that either has.

    >>> jaccard("near(a)", "near = b")
    0.3333333333333333
    """
    left, right = set(_WORD.findall(one)), set(_WORD.findall(other))
    return len(left & right) / len(left | right) if left | right else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Jaccard:
    """Every text of the space, ordered by the Jaccard similarity of its words to the question's."""

    k: int
    name: str = "jaccard"

    def answer(self, searcher: Searcher, query: Query) -> Answer:
        """Return the first k."""
        began = searcher.timer()
        there = [id for id, passage in searcher.passages.items() if passage.space == query.space]
        searcher.seen.update(dict.fromkeys(there))
        scores = {id: jaccard(query.text, searcher.text(id)) for id in there}
        found = sorted(there, key=lambda id: (-scores[id], id))[: self.k]
        return Answer(
            ranking=tuple(found),
            hops=dict.fromkeys(found, 1),
            cost=searcher.account(found, began),
        )


# Baselines are what they are whatever Clew is set to: ranked by what they find alone, nothing cut
# off.
RELEVANCE_ONLY = {
    "score.presets": {"relevance": [1.0, 0.0, 0.0, 0.0]},
    "recall.preset": "relevance",
}
UNCUT = {
    "recall.dense_floor": -1.0,
    "recall.min_similarity": 0.0,
    "recall.budget_tokens": 0,
    "recall.candidates": 100,
}
TEXT_ALONE = {
    "spread.enabled": False,
    "recall.times": False,
    "recall.code_features": False,
    "recall.weights": {"repeat": 0.0},
    "recall.relevance_gate": "off",
    "rerank.always": False,
}  # neither links nor time nor sections
ALONE = {**RELEVANCE_ONLY, **UNCUT, **TEXT_ALONE}
# Cormack, Clarke and Büttcher, SIGIR 2009: k = 60, all rankings alike.
PLAIN_RRF = {
    "recall.fusion": "rrf",
    "recall.rrf_k": 60,
    "recall.rrf_dense_weight": 0.5,
    "recall.rrf_sparse_weight": 0.5,
}
BASELINES = ("bm25", "dense", "rrf")
DEFAULT_SYSTEMS = (*BASELINES, "clew")
NEED_VECTORS = frozenset({"dense", "rrf"})
NAMES = (*DEFAULT_SYSTEMS, "jaccard", *(recipe for recipe in RECIPES if recipe != "dense"))


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A policy under settings; `recipe` None is the settings' own."""

    name: str
    policy: Policy
    recipe: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    ignores: tuple[str, ...] = ()
    """What of a question it does not look at: as_of, known_at."""
    decayed: bool = False
    """Whether what has decayed is hidden from it; it matters for sets with a history."""
    flat: bool = False
    """Whether it is a baseline.

    It sees the passages alone, without sections and context keys, and no times.
    """


def system(name: str, *, depth: int) -> System:
    """Return a system by its name in tables.

    Bm25, dense, rrf, clew (the configuration in force), or any recipe.
    """
    if name not in NAMES:
        raise InputError("systems", name, "is not a system", f"Use some of {', '.join(NAMES)}.")
    once, deep = (
        SingleHop(k=depth),
        {**ALONE, "recall.candidates": max(depth, UNCUT["recall.candidates"])},
    )
    baselines = {
        "bm25": System(name="bm25", flat=True, policy=once, recipe="lexical", settings=deep),
        "dense": System(name="dense", flat=True, policy=once, recipe="dense", settings=deep),
        "rrf": System(
            name="rrf", flat=True, policy=once, recipe="balanced", settings={**deep, **PLAIN_RRF}
        ),
        "jaccard": System(
            name="jaccard", flat=True, policy=Jaccard(k=depth), recipe="lexical", settings=deep
        ),
    }
    return baselines.get(name) or System(
        name=name, policy=once, recipe=None if name == "clew" else name
    )
