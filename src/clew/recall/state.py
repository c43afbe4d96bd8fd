"""What a recall is while it is on its way: a frozen value that each stage returns anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from clew.settings import Weights
from clew.types import Filter, Node, NodeId, Ranking, Vectors

DENSE = "dense"
SPARSE = "sparse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was asked, and under which conditions."""

    text: str
    k: int
    where: Filter
    weights: Weights
    recipe: str
    preset: str
    min_similarity: float = 0.0
    budget_tokens: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a channel put a hit: its rank, raw score, and share in the relevance."""

    rank: int
    score: float
    normalised: float
    weight: float

    @property
    def contribution(self) -> float:
        """What this channel adds to the hit's relevance."""
        return self.weight * self.normalised


@dataclass(frozen=True, slots=True)
class Component:
    """One term of a score: value times weight."""

    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """What this component adds to the score."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A recalled memory with everything that led to it."""

    id: NodeId
    score: float
    channels: Mapping[str, Place]
    components: Mapping[str, Component] = field(default_factory=dict)
    node: Node | None = None
    method: str = "direct"
    explanation: str = ""

    @property
    def text(self) -> str:
        """The memory's text; empty before the last stage has fetched it."""
        return self.node.text if self.node else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A candidate that did not make it: which stage dropped it, by which value and limit."""

    id: NodeId
    stage: str
    reason: str
    value: float
    limit: float

    @property
    def distance(self) -> float:
        """How far it was off, as a share of the limit, so that cosines and tokens compare."""
        return abs(self.value - self.limit) / (abs(self.limit) or 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one stage did: how long it took and how much it left."""

    stage: str
    milliseconds: float
    channels: Mapping[str, int]
    hits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """A question and what has been found for it so far; the last stage's is the answer."""

    question: Question
    id: str = ""
    terms: tuple[str, ...] = ()
    vector: Vectors | None = field(default=None, repr=False)
    channels: Mapping[str, Ranking] = field(default_factory=dict)
    lows: Mapping[str, float] = field(default_factory=dict)
    hits: tuple[Hit, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def nothing_relevant(self) -> bool:
        """Whether no memory passed: an honest empty answer. What only the token budget shut out was relevant."""
        return not self.hits and not any(rejection.stage == "pack" for rejection in self.rejected)

    @property
    def filtered_count(self) -> int:
        """How many candidates were found and dropped by a threshold or the token budget."""
        return len(self.rejected)

    @property
    def best_rejected(self) -> Rejection | None:
        """The dropped candidate that came closest to its limit, be that a floor it stayed below or a budget it broke."""
        return min(self.rejected, key=lambda rejection: (rejection.distance, rejection.id), default=None)

    @property
    def stats(self) -> dict[str, Any]:
        """How the answer came about, in numbers."""
        return {
            "recipe": self.question.recipe,
            "preset": self.question.preset,
            "milliseconds": round(sum(step.milliseconds for step in self.steps), 3),
            "candidates": {name: len(ranking) for name, ranking in self.channels.items()},
            "returned": len(self.hits),
            "filtered": self.filtered_count,
            "notes": list(self.notes),
            "stages": [{"stage": step.stage, "milliseconds": round(step.milliseconds, 3), "hits": step.hits} for step in self.steps],
        }

    @property
    def trace(self) -> dict[str, Any]:
        """The thread that led here: the question as understood, and every hit with its reasons."""
        return {
            "id": self.id,
            "query": self.question.text,
            "terms": list(self.terms),
            "seed": self.question.seed,
            "stats": self.stats,
            "hits": [{"id": hit.id, "score": hit.score, "method": hit.method, "explanation": hit.explanation} for hit in self.hits],
        }


class Stage(Protocol):
    """One step of a recall: a value that is called; its options are its fields, so it prints and compares."""

    def __call__(self, recall: Recall) -> Recall:
        """Return the recall with this stage's part done."""
