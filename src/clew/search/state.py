"""The state of a recall: a frozen value that each stage takes and returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, overload

from clew.ports import Coverage, Store
from clew.settings import Weights
from clew.text.words import token_estimate
from clew.types import Filter, Node, NodeId, Ranking, Signals, Vectors

if TYPE_CHECKING:
    from clew.text.dates.values import When

DENSE = "dense"
SPARSE = "sparse"
TOKENS = "tokens"
CONTEXT = "context"
QUESTION = "question"
SECTION = "section"
NAMED = "named"
PATH = "path"
CATEGORY = "category"

NOTHING: Mapping[str, Any] = MappingProxyType({})


class QueryTokens(NamedTuple):
    """The token vectors of a query, and its words with their token counts."""

    tokens: Vectors
    pieces: tuple[tuple[str, int], ...]


class QueryVectors(NamedTuple):
    """The embedding of a query.

    Its vector, notes for the answer, and token vectors if the model provides them.
    """

    vector: Vectors | None
    notes: tuple[str, ...] = ()
    tokens: QueryTokens | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A validated query with its filter, weights and limits."""

    text: str
    k: int
    where: Filter
    weights: Weights
    recipe: str
    preset: str
    min_similarity: float = 0.0
    budget_tokens: int = 0
    seed: int = 0


# Created for every candidate: named tuples take a fifth of the time of dataclasses.


class Place(NamedTuple):
    """The result of one channel for a hit.

    Rank, raw score, normalised score and weight in the relevance.
    """

    rank: int | None  # None: scored, but not proposed by the channel
    score: float
    normalised: float
    weight: float

    @property
    def contribution(self) -> float:
        """The contribution of this channel to the relevance."""
        return self.weight * self.normalised


class Component(NamedTuple):
    """One term of a score: value times weight."""

    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """The contribution of this component to the score."""
        return self.weight * self.value


class Hop(NamedTuple):
    """One link of a path; `signal` is the signal strength after it."""

    source: NodeId
    edge: str
    weight: float
    target: NodeId
    signal: float
    evidence: str = ""


class Hit(NamedTuple):
    """A recalled memory with its score, channels, components and path."""

    id: NodeId
    score: float
    channels: Mapping[str, Place]
    components: Mapping[str, Component] = NOTHING
    node: Node | None = None
    method: str = "direct"
    explanation: str = ""
    context: str = ""
    """A short chunk together with its title and neighbours; empty if the text needs no context."""
    path: tuple[Hop, ...] = ()
    """The links from a better hit that promoted this one; empty if none did."""
    confidence: float | None = None
    """The probability that it answers the question; None if it was not computed."""

    @property
    def hops(self) -> int:
        """The number of links in the path."""
        return len(self.path)

    @property
    def signal(self) -> float:
        """The signal at the end of the path; 0 without a path."""
        return self.path[-1].signal if self.path else 0.0

    @property
    def text(self) -> str:
        """The memory's text; empty until the last stage loads it."""
        return self.node.text if self.node else ""


class LazyHits(Sequence[Hit]):
    """A sorted sequence of hits, each built on access: most candidates are only counted.

    A source starts with the sort key: the negated score and the id.

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
        """Wrap hits; return them unchanged if they are lazy already."""
        return (
            hits
            if isinstance(hits, cls)
            else cls([(-hit.score, hit.id, hit) for hit in hits], itemgetter(2))
        )

    def scores(self) -> dict[NodeId, float]:
        """Return the score of each id, in order, without building hits.

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
        """Return the first `count` ids without building hits."""
        return [source[1] for source in self._sources[:count]]

    def with_replaced(self, changed: Mapping[NodeId, Hit]) -> LazyHits:
        """Return the hits with some of them replaced or added, sorted by score."""
        kept = [source for source in self._sources if source[1] not in changed]
        fresh = [(-hit.score, id, hit) for id, hit in changed.items()]
        make = self._make
        return LazyHits(
            sorted(kept + fresh, key=itemgetter(0, 1)),
            lambda source: changed.get(source[1]) or make(source),
        )

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self._sources)

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Hit]: ...
    def __getitem__(self, at: int | slice) -> Hit | Sequence[Hit]:
        """Return one hit, or a tuple for a slice."""
        return (
            tuple(map(self._make, self._sources[at]))
            if isinstance(at, slice)
            else self._make(self._sources[at])
        )

    def __iter__(self) -> Iterator[Hit]:
        """Build and yield the hits in order."""
        return map(self._make, self._sources)

    def __eq__(self, other: object) -> bool:
        """Compare the hits, also with a tuple."""
        return (
            tuple(self) == tuple(other) if isinstance(other, LazyHits | tuple) else NotImplemented
        )

    def __hash__(self) -> int:
        """Return the hash of the equal tuple."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """Show the hits."""
        return repr(tuple(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A dropped candidate: the stage and reason, its value and the limit."""

    id: NodeId
    stage: str
    reason: str
    value: float
    limit: float

    @property
    def distance(self) -> float:
        """The distance from the limit, relative to it, so that cosines and token counts are comparable."""
        return abs(self.value - self.limit) / (abs(self.limit) or 1.0)


class BestConfidence(NamedTuple):
    """The highest confidence among the best hits, and the threshold for an answer."""

    value: float
    threshold: float
    calibrated: bool
    """Whether the embedding model is calibrated; otherwise the words-only model is used."""

    @property
    def too_low(self) -> bool:
        """Whether the best confidence is below the threshold."""
        return self.value < self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The time that a stage took, and the number of candidates and hits after it."""

    stage: str
    milliseconds: float
    channels: Mapping[str, int]
    hits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """A question with its intermediate results; after the last stage, the answer."""

    question: Question
    id: str = ""
    terms: tuple[str, ...] = ()
    """The index terms of the question, with repetitions."""
    text_without_times: str = ""
    """The question without the times that are searched by date; empty if there are none."""
    phrases: tuple[str, ...] = ()
    """The quoted phrases of the question, case-folded."""
    categories: tuple[str, ...] = ()
    """Categories and triggers that the words hint at, such as `decision` for "What did we decide?";
    not a filter.
    """
    category_alone: bool = False
    """Whether the question asks for a category at a time and for nothing else: "latest incident",
    "What did we decide in June?".
    """
    when: When | None = None
    """The times in the question."""
    vector: Vectors | None = field(default=None, repr=False)
    query: QueryTokens | None = field(default=None, repr=False)
    """The query's token vectors, if the model provides them."""
    document_frequencies: Mapping[str, int] = field(default_factory=dict, repr=False)
    """The document frequency of each query term in the space."""
    channels: Mapping[str, Ranking] = field(default_factory=dict)
    cutoffs: Mapping[str, float] = field(default_factory=dict)
    """For each channel, an upper bound on the score of any memory outside it."""
    complete: Mapping[str, int] = field(default_factory=dict)
    """For each channel that returned every match: the number of matches before similarity floors."""
    signals: Mapping[NodeId, Signals] | None = field(default=None, repr=False)
    """The score inputs of the hits, once a stage has read them."""
    coverage: Coverage | None = field(default=None, repr=False)
    """The statistics of the space, once a stage has read them."""
    nodes: Mapping[NodeId, Node] = field(default_factory=dict, repr=False)
    """Nodes of the best hits that a stage has loaded already."""
    hits: Sequence[Hit] = ()
    rejected: tuple[Rejection, ...] = ()
    judge: Callable[[Sequence[Hit]], Sequence[float]] | None = field(
        default=None, repr=False, compare=False
    )
    """Computes the confidence of hits; None if the question has no features for that."""
    best_confidence: BestConfidence | None = None
    """The best confidence and its threshold; None if it was not computed."""
    reranked: int = 0
    """The number of hits that were reranked."""
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def nothing_relevant(self) -> bool:
        """Whether nothing was found, or the best confidence is too low.

        Hits dropped by the token budget alone count as found.
        """
        if self.best_confidence is not None and self.best_confidence.too_low:
            return True
        return not self.hits and not any(
            rejection.reason == "budget_tokens" for rejection in self.rejected
        )

    @property
    def filtered_count(self) -> int:
        """The number of candidates dropped by a threshold or the token budget."""
        return len(self.rejected)

    @property
    def best_rejected(self) -> Rejection | None:
        """The dropped candidate closest to its limit.

        If all hits were dropped for low confidence, the best of them.
        """
        if (
            doubted := next((each for each in self.rejected if each.reason == "not_relevant"), None)
        ) is not None:
            return doubted
        return min(
            self.rejected, key=lambda rejection: (rejection.distance, rejection.id), default=None
        )

    @property
    def tokens_returned(self) -> int:
        """The estimated tokens of all returned texts, counted as for the token budget."""
        return sum(token_estimate(hit.context or hit.text) for hit in self.hits)

    @property
    def embedding_calls(self) -> int:
        """The number of embedding calls for this recall."""
        return int(self.vector is not None)

    @property
    def stats(self) -> dict[str, Any]:
        """Statistics of the recall."""
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
            "rejected": dict(
                sorted(Counter(rejection.reason for rejection in self.rejected).items())
            ),
            "confidence": None if self.best_confidence is None else self.best_confidence._asdict(),
            "notes": list(self.notes),
            "stages": [
                {
                    "stage": step.stage,
                    "milliseconds": round(step.milliseconds, 3),
                    "hits": step.hits,
                }
                for step in self.steps
            ],
        }

    @property
    def trace(self) -> dict[str, Any]:
        """The parsed question, the statistics, and every hit with its explanation."""
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
                {
                    "id": hit.id,
                    "score": hit.score,
                    "confidence": hit.confidence,
                    "method": hit.method,
                    "explanation": hit.explanation,
                }
                for hit in self.hits
            ],
        }


class Stage(Protocol):
    """One step of a recall: a callable value whose options are its fields, so it can be printed and compared."""

    def __call__(self, recall: Recall) -> Recall:
        """Return the recall with the results of this stage."""


# Read nodes and space statistics once per recall and pass them on to later stages.


def with_nodes(recall: Recall, ids: Iterable[NodeId], *, store: Store) -> Recall:
    """Return the recall with these nodes loaded, where they exist."""
    missing = [id for id in ids if id not in recall.nodes]
    return replace(recall, nodes={**recall.nodes, **store.get(missing)}) if missing else recall


def space_coverage(recall: Recall, *, store: Store) -> Coverage:
    """Return the coverage statistics of the question's space, cached in the recall by the first stage that read them."""
    return (
        store.coverage(recall.question.where.space) if recall.coverage is None else recall.coverage
    )


# Combine the scores that the channels give a hit.

Places: TypeAlias = dict[str, Place]
"""The rank, score and weight of one hit in each channel."""


def relevance(places: Mapping[str, Place]) -> float:
    """Return the fused relevance of a hit, from 0 to 1.

    The sum of its channel contributions, in a fixed order.
    """
    if len(places) == 1:  # fast path: most hits have one channel
        ((_, _, value, weight),) = places.values()
        return weight * value
    summed = 0.0
    for name in sorted(places):
        _, _, value, weight = places[name]
        summed += weight * value
    return summed


def with_share(own: Places, further: Mapping[str, Place], *, share: float) -> Places:
    """Add channels to those of a hit and scale the weights of its own by 1 − share.

    >>> channels = with_share({"dense": Place(1, 0.7, 1.0, 0.5)}, {"section": Place(1, 0.9, 0.9, 0.4)}, share=0.4)
    >>> round(relevance(channels), 3)
    0.66
    """
    return {
        name: place._replace(weight=place.weight * (1.0 - share)) for name, place in own.items()
    } | dict(further)


def add_channels(hit: Hit, places: Mapping[str, Place], *, share: float) -> Hit:
    """Return a hit with further channels, blended as in `with_share`."""
    channels = with_share(dict(hit.channels), places, share=share)
    return hit._replace(channels=channels, score=relevance(channels))
