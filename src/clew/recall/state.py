"""What a recall is while it is on its way: a frozen value that each stage returns anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, overload

from clew.ports import Coverage
from clew.settings import Weights
from clew.types import Filter, Node, NodeId, Ranking, Signals, Vectors
from clew.words import token_estimate

if TYPE_CHECKING:  # a store that is written to or listed reads no question
    from clew.when import When

DENSE = "dense"
SPARSE = "sparse"
TOKENS = "tokens"
CONTEXT = "context"
QUESTION = "question"
SECTION = "section"
NAMED = "named"
PATH = "path"

NOTHING: Mapping[str, Any] = MappingProxyType({})


class QueryTokens(NamedTuple):
    """The token vectors of a query, and its words with the number of tokens that each has."""

    tokens: Vectors
    pieces: tuple[tuple[str, int], ...]


class QueryVectors(NamedTuple):
    """What a model makes of a query: its vector, the notes that an answer must carry, and its tokens where it gives them."""

    vector: Vectors | None
    notes: tuple[str, ...] = ()
    tokens: QueryTokens | None = None


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


# Place, Component and Hit are made for every candidate of every recall: tuples, which are made in a fifth of the time.


class Place(NamedTuple):
    """Where a channel put a hit: its rank, raw score, and share in the relevance."""

    rank: int | None  # None: scored without having been proposed
    score: float
    normalised: float
    weight: float

    @property
    def contribution(self) -> float:
        """What this channel adds to the hit's relevance."""
        return self.weight * self.normalised


class Component(NamedTuple):
    """One term of a score: value times weight."""

    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """What this component adds to the score."""
        return self.weight * self.value


class Hop(NamedTuple):
    """One step along a link; `signal` is what is left of the start's signal after it."""

    source: NodeId
    edge: str
    weight: float
    target: NodeId
    signal: float
    evidence: str = ""


class Hit(NamedTuple):
    """A recalled memory with everything that led to it."""

    id: NodeId
    score: float
    channels: Mapping[str, Place]
    components: Mapping[str, Component] = NOTHING
    node: Node | None = None
    method: str = "direct"
    explanation: str = ""
    context: str = ""
    """A short chunk amid its neighbours, under its title; empty where the text stands for itself."""
    path: tuple[Hop, ...] = ()
    """The links along which a signal came from a better hit; empty where none did."""
    confidence: float | None = None
    """The probability that it answers the question; None where there is nothing to judge by."""

    @property
    def hops(self) -> int:
        """How many links lie between this hit and the one its signal came from."""
        return len(self.path)

    @property
    def signal(self) -> float:
        """What arrived along the path; 0 without one."""
        return self.path[-1].signal if self.path else 0.0

    @property
    def text(self) -> str:
        """The memory's text; empty before the last stage has fetched it."""
        return self.node.text if self.node else ""


class LazyHits(Sequence[Hit]):
    """Hits in order, each made when it is looked at: of the candidates most are only counted.

    A source begins with the score, negated, and the id: what the order is by.

    >>> hits = LazyHits([(-0.9, "a"), (-0.8, "b")], lambda source: Hit(source[1], -source[0], {}))
    >>> len(hits), hits[1].id, hits == (Hit("a", 0.9, {}), Hit("b", 0.8, {}))
    (2, 'b', True)
    >>> [hit.id for hit in hits.with_replaced({"a": Hit("a", 0.5, {})})]
    ['b', 'a']
    """

    __slots__ = ("_make", "_sources")

    def __init__(self, sources: list[Any], make: Callable[[Any], Hit]) -> None:
        self._sources, self._make = sources, make

    @classmethod
    def of(cls, hits: Sequence[Hit]) -> LazyHits:
        """Return the hits as they are if they are lazy, and otherwise as if they were."""
        return hits if isinstance(hits, cls) else cls([(-hit.score, hit.id, hit) for hit in hits], itemgetter(2))

    def scores(self) -> dict[NodeId, float]:
        """Return the score of each by its id, in order, without making a hit.

        >>> LazyHits([(-0.9, "a"), (-0.8, "b")], lambda source: Hit(source[1], -source[0], {})).scores()
        {'a': 0.9, 'b': 0.8}
        """
        return {source[1]: -source[0] for source in self._sources}

    def select(self, ids: Collection[NodeId]) -> list[Hit]:
        """Return the hits with these ids, in order.

        >>> [hit.score for hit in LazyHits([(-0.9, "a"), (-0.8, "b")], lambda source: Hit(source[1], -source[0], {})).select(["b"])]
        [0.8]
        """
        wanted = frozenset(ids)
        return [self._make(source) for source in self._sources if source[1] in wanted]

    def ids(self, count: int) -> list[NodeId]:
        """Return the ids of the first, without making a hit."""
        return [source[1] for source in self._sources[:count]]

    def with_replaced(self, changed: Mapping[NodeId, Hit]) -> LazyHits:
        """Return the hits in the order of their scores, some of them exchanged."""
        kept = [source for source in self._sources if source[1] not in changed]
        fresh = [(-hit.score, id, hit) for id, hit in changed.items()]
        make = self._make
        return LazyHits(sorted(kept + fresh, key=itemgetter(0, 1)), lambda source: changed.get(source[1]) or make(source))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._sources)

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Hit]: ...
    def __getitem__(self, at: int | slice) -> Hit | Sequence[Hit]:
        """Return one, or a tuple of some."""
        return tuple(map(self._make, self._sources[at])) if isinstance(at, slice) else self._make(self._sources[at])

    def __iter__(self) -> Iterator[Hit]:
        """Make one after the other."""
        return map(self._make, self._sources)

    def __eq__(self, other: object) -> bool:
        """Compare by the hits, with a tuple too."""
        return tuple(self) == tuple(other) if isinstance(other, LazyHits | tuple) else NotImplemented

    def __hash__(self) -> int:
        """Agree with an equal tuple."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """Show the hits."""
        return repr(tuple(self))


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


class BestConfidence(NamedTuple):
    """The highest confidence of the best hits, and below which none of them counts as an answer."""

    value: float
    threshold: float
    calibrated: bool
    """Whether the embedding model was measured; otherwise words alone decide."""

    @property
    def too_low(self) -> bool:
        """Whether nothing that was found seems to answer."""
        return self.value < self.threshold


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
    """The index terms of the question's words, as often as it says them."""
    phrases: tuple[str, ...] = ()
    """What the question puts in quotation marks, in folded words."""
    categories: tuple[str, ...] = ()
    """The categories of memories that the question's words point to, such as `decision` in "What did we decide?"; a hint, no filter."""
    when: When | None = None
    """The times that the question names."""
    vector: Vectors | None = field(default=None, repr=False)
    query: QueryTokens | None = field(default=None, repr=False)
    """The query's token vectors, where the model gives them."""
    document_frequencies: Mapping[str, int] = field(default_factory=dict, repr=False)
    """The document frequency of each query term in the space."""
    channels: Mapping[str, Ranking] = field(default_factory=dict)
    cutoffs: Mapping[str, float] = field(default_factory=dict)
    complete: Mapping[str, int] = field(default_factory=dict)
    """Of each channel that saw all that passes the filter: how many that were, before any was too far."""
    signals: Mapping[NodeId, Signals] | None = field(default=None, repr=False)
    """What the score asks of the hits, where a stage has read it already."""
    coverage: Coverage | None = field(default=None, repr=False)
    """What the space holds, where a stage has asked already."""
    nodes: Mapping[NodeId, Node] = field(default_factory=dict, repr=False)
    """What a stage has read already of the memories behind the best hits, so that the next need not."""
    hits: Sequence[Hit] = ()
    rejected: tuple[Rejection, ...] = ()
    judge: Callable[[Sequence[Hit]], Sequence[float]] | None = field(default=None, repr=False, compare=False)
    """Gives hits their confidence; None where there is nothing to judge by."""
    best_confidence: BestConfidence | None = None
    """Whether the best hits seem to answer; None where that was not asked, or could not be told."""
    reranked: int = 0
    """How many hits a reranker read beside the question."""
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def nothing_relevant(self) -> bool:
        """Whether no memory passed, or none seems to answer. What only the token budget shut out was relevant."""
        if self.best_confidence is not None and self.best_confidence.too_low:
            return True
        return not self.hits and not any(rejection.reason == "budget_tokens" for rejection in self.rejected)

    @property
    def filtered_count(self) -> int:
        """How many candidates were found and dropped by a threshold or the token budget."""
        return len(self.rejected)

    @property
    def best_rejected(self) -> Rejection | None:
        """The dropped candidate that came closest to its limit, be that a floor it stayed below or a budget it broke.

        Where all hits were dropped together because none seems to answer, it is the one that was on top.
        """
        if (doubted := next((each for each in self.rejected if each.reason == "not_relevant"), None)) is not None:
            return doubted
        return min(self.rejected, key=lambda rejection: (rejection.distance, rejection.id), default=None)

    @property
    def tokens_returned(self) -> int:
        """About how many tokens the hits' texts have, counted as the token budget counts them."""
        return sum(token_estimate(hit.context or hit.text) for hit in self.hits)

    @property
    def embedding_calls(self) -> int:
        """How many vectors a model made for it."""
        return int(self.vector is not None)

    @property
    def stats(self) -> dict[str, Any]:
        """How the answer came about, in numbers."""
        return {
            "recipe": self.question.recipe,
            "preset": self.question.preset,
            "milliseconds": round(sum(step.milliseconds for step in self.steps), 3),
            "candidates": {name: len(ranking) for name, ranking in self.channels.items()},
            "returned": len(self.hits),
            "tokens_returned": self.tokens_returned,
            "embedding_calls": self.embedding_calls,
            "reranked": self.reranked,
            "filtered": self.filtered_count,
            "rejected": dict(sorted(Counter(rejection.reason for rejection in self.rejected).items())),
            "confidence": None if self.best_confidence is None else self.best_confidence._asdict(),
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
            "phrases": list(self.phrases),
            "categories": list(self.categories),
            "time": None if self.when is None else self.when.as_dict(),
            "seed": self.question.seed,
            "stats": self.stats,
            "hits": [
                {"id": hit.id, "score": hit.score, "confidence": hit.confidence, "method": hit.method, "explanation": hit.explanation}
                for hit in self.hits
            ],
        }


class Stage(Protocol):
    """One step of a recall: a value that is called; its options are its fields, so it prints and compares."""

    def __call__(self, recall: Recall) -> Recall:
        """Return the recall with this stage's part done."""
