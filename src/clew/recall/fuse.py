"""How do the channels become one order?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.recall.fetch import covered
from clew.recall.placed import Column, Placed, column, relevance
from clew.recall.state import CONTEXT, DENSE, QUESTION, SPARSE, Hit, LazyHits, Place, Recall
from clew.types import NodeId, Ranking
from clew.words import idf, query_weight

MEANINGS = (CONTEXT, DENSE)  # the channels that what a node says is found by
QUESTION_SHARE = 0.6  # mission V13
DIRECT, HYPOTHETICAL = "direct", "hypothetical"
NEAREST = 10  # memories that are told apart by how near they are, however small a space is: as many as a recall returns by default
FAR = 1e-6  # of the scale for what is not near: enough to keep it in its order, and no weight that anybody would see


def shared(weights: Mapping[str, float], channels: Iterable[str]) -> dict[str, float]:
    """Return the weights of the channels that answered, adding up to 1; alike where all of them are 0.

    >>> shared({"dense": 1.0, "sparse": 0.0}, ["sparse"])
    {'sparse': 1.0}
    """
    present = {name: weights[name] for name in channels}
    total = sum(present.values())
    return {name: weight / total if total > 0 else 1 / len(present) for name, weight in present.items()}


def telling(best: float, *, full: float, nodes: int) -> float:
    """Return how much of its weight the word channel has: all from a best score of `full` on.

    The best of words that nearly every memory holds tells nothing, and would be brought to 1 like any other best. Among a few
    memories no word scores high: there one that a single memory holds is full evidence.

    >>> telling(7.0, full=1.0, nodes=44), telling(0.25, full=1.0, nodes=44), telling(0.7, full=1.0, nodes=2)
    (1.0, 0.25, 1.0)
    """
    reached = min(full, idf(nodes, 1)) if nodes > 1 else 0.0
    return min(1.0, best / reached) if reached > 0 else 1.0


def covering(best: float, held: Iterable[tuple[int, int]], *, cover: float, nodes: int) -> float:
    """Return how much of its weight the word channel has: all where the best holds this share of what the question says.

    "Can I have my espresso with my thyroid tablet?" has one word in common with "The dog stays with Ann when we are away", which no
    other memory holds; that is the best of words and tells nothing. A question is worth the sum of its words' IDF, an unknown one's too.
    `held` tells of each word how many memories hold it and how often the question says it.

    >>> few = covering(4.0, [(1, 1), (0, 1), (0, 1), (0, 1)], cover=0.5, nodes=75)
    >>> half = covering(4.0, [(1, 1), (3, 1)], cover=0.5, nodes=75)
    >>> round(few, 2), half, covering(1.0, [(2, 1)], cover=0.5, nodes=2)
    (0.42, 1.0, 1.0)
    """
    # BM25 knows what is expired too, so a word may be held more often than there are live memories.
    whole = sum(idf(max(nodes, holding), holding) * query_weight(said) for holding, said in held)
    return min(1.0, best / (cover * whole)) if whole > 0 and nodes > 1 else 1.0


def rrf(channels: Mapping[str, Ranking], *, weights: Mapping[str, float], k: float) -> Placed:
    """Place hits by weighted reciprocal rank, Σ w/(k + rank), scaled so that first everywhere is 1.

    Cormack, Clarke and Büttcher, SIGIR 2009; the scale (k + 1)/Σ w changes no order.

    >>> from clew.types import Match
    >>> channels = {"dense": (Match("a", .9), Match("b", .8)), "sparse": (Match("b", 7.),)}
    >>> places = rrf(channels, weights={"dense": .7, "sparse": .3}, k=60)
    >>> round(relevance(places["b"]), 4), round(relevance(places["a"]), 4)
    (0.9887, 0.7)
    """
    shares = shared(weights, channels)
    values = {name: [(k + 1) / (k + rank) for rank in range(1, len(ranking) + 1)] for name, ranking in channels.items()}
    return Placed(
        {name: column(ranking, [match.score for match in ranking], values[name], shares[name]) for name, ranking in channels.items()}
    )


def convex(
    channels: Mapping[str, Ranking], *, weights: Mapping[str, float], lows: Mapping[str, float], nears: Mapping[str, float] | None = None
) -> Placed:
    """Place hits by a convex combination of scores, each brought to 0–1 between its channel's low and best.

    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023. The low is
    what a memory outside the list scores at most, so being absent and being last weigh the same. `nears` tells for some
    channels from which score on a memory is near; what lies between the two has next to nothing.

    >>> from clew.types import Match
    >>> channels = {"dense": (Match("a", .9), Match("b", .6)), "sparse": (Match("b", 7.),)}
    >>> places = convex(channels, weights={"dense": .6, "sparse": .4}, lows={"dense": .3, "sparse": 0.})
    >>> round(relevance(places["a"]), 9), round(relevance(places["b"]), 9)
    (0.6, 0.7)
    """
    shares = shared(weights, channels)
    columns: dict[str, Column] = {}
    for name, ranking in channels.items():
        scores, best = [match.score for match in ranking], max((match.score for match in ranking), default=0.0)
        near = (nears or {}).get(name, lows[name])
        values = _between(scores, lows[name], best) if near <= lows[name] else _near(scores, lows[name], near, best)
        columns[name] = column(ranking, scores, values, shares[name])
    return Placed(columns)


def _near(scores: Sequence[float], low: float, near: float, high: float) -> list[float]:
    """Return the same where scores up to `near` tell next to nothing: in their order, all below whatever is nearer.

    >>> [round(value, 7) for value in _near([0.7, 0.6, 0.5, 0.4], 0.3, 0.5, 0.7)]
    [1.0, 0.5000005, 1e-06, 5e-07]
    >>> [round(value, 7) for value in _near([0.7, 0.7, 0.5], 0.3, 0.7, 0.7)]
    [1.0, 1.0, 5e-07]
    """
    far = [min(near, score) for score in scores]
    return [
        1.0 if score >= high else FAR * below + (1.0 - FAR) * above
        for score, below, above in zip(scores, _between(far, low, near), _between(scores, near, high), strict=True)
    ]


def _between(scores: Sequence[float], low: float, high: float) -> list[float]:
    """Return where each score lies between low and high, from 0 to 1; all alike are all best.

    >>> _between([0.5, 0.1], 0.25, 0.75), _between([3.0], 3.0, 3.0), _between([3.0, 1.0], 3.0, 3.0)
    ([0.5, 0.0], [1.0], [1.0, 0.0])
    """
    if high <= low:
        return [float(score >= high) for score in scores]
    span = high - low
    return [1.0 if (share := (score - low) / span) > 1.0 else share if share > 0.0 else 0.0 for score in scores]


def unrelated(ranking: Ranking, low: float, *, share: float, among: int) -> float:
    """Return the cosine up to which a memory is not near: that of the last of this share of all that were searched, of ten at least.

    In a large space a list ends after a few in a hundred. In a small one it holds everything, and any two texts are alike to a degree:
    measured from the floor all are nearly as near as the nearest, and one word in common would outweigh what they mean. Of fewer than
    ten the last may be near itself, so of its distance from the floor as much less counts.

    >>> from clew.types import Match
    >>> ranking = tuple(Match(str(n), 0.7 - n / 100) for n in range(20))
    >>> unrelated(ranking, 0.3, share=0.25, among=20), round(unrelated(ranking[:5], 0.3, share=0.25, among=5), 2)
    (0.61, 0.48)
    """
    if not share or not ranking:
        return low
    place = min(len(ranking), max(NEAREST, math.ceil(share * among)))
    last = max(low, ranking[place - 1].score)
    return last if among >= NEAREST else low + (last - low) * among / NEAREST


@dataclass(frozen=True, slots=True)
class Fuse:
    """Collapse the channels into one list of hits with a relevance each."""

    method: str
    dense_weight: float
    sparse_weight: float
    context_share: float
    rrf_k: float
    sparse_full: float = 0.0
    sparse_cover: float = 0.0
    near_share: float = 0.0
    question_share: float = QUESTION_SHARE
    store: Store | None = field(default=None, repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the hits."""
        # A node's meaning is what it says and what it says amid its neighbours: the two share the dense weight.
        amid = self.context_share if CONTEXT in recall.channels else 0.0
        weights = {DENSE: self.dense_weight * (1 - amid), CONTEXT: self.dense_weight * amid, SPARSE: self.sparse_weight}
        channels = {name: ranking for name, ranking in recall.channels.items() if name != QUESTION}
        weights[SPARSE] *= self._telling(recall)
        nears, lows = self._nears(recall), recall.lows
        if any(near > lows[name] for name, near in nears.items()):
            weights[SPARSE] *= 1.0 - FAR  # the best by words alone and the best by meaning alone are level: then meaning comes first
        by_rank = self.method == "rrf"
        placed = rrf(channels, weights=weights, k=self.rrf_k) if by_rank else convex(channels, weights=weights, lows=lows, nears=nears)
        worths, answered = placed.relevances(), dict[NodeId, dict[str, Place]]()
        if self.question_share and recall.channels.get(QUESTION):
            share = sum(shared(weights, channels)[name] for name in MEANINGS if name in channels)
            answered = self._answering(placed, recall, nears.get(DENSE, lows[DENSE]), share=share)
            worths |= {id: relevance(places) for id, places in answered.items()}

        def made(source: tuple[float, NodeId]) -> Hit:
            negated, id = source
            places = answered.get(id) or placed[id]
            return Hit(id, -negated, places, method=_method(places) if QUESTION in places else DIRECT)

        return replace(recall, hits=LazyHits(sorted((-worth, id) for id, worth in worths.items()), made))

    def _nears(self, recall: Recall) -> Mapping[str, float]:
        """Return from which cosine on a memory is near, for the channels of meaning.

        A full list under a filter counts as of the whole space: how many pass is not known.
        """
        if not self.near_share or self.store is None or DENSE not in recall.channels:
            return {}
        nodes, share = covered(recall, store=self.store).nodes, self.near_share
        found = {name: recall.channels[name] for name in MEANINGS if name in recall.channels}
        return {
            name: unrelated(ranking, recall.lows[name], share=share, among=recall.complete.get(name, nodes))
            for name, ranking in found.items()
        }

    def _telling(self, recall: Recall) -> float:
        """Return how much the words tell: all where they are alone, nothing where they find nothing."""
        if self.store is None or not recall.channels.get(DENSE):
            return 1.0
        best = max((match.score for match in recall.channels.get(SPARSE, ())), default=0.0)
        nodes, told = covered(recall, store=self.store).nodes, float(best > 0)
        if best < self.sparse_full:
            told *= telling(best, full=self.sparse_full, nodes=nodes)
        if self.sparse_cover:
            said = Counter(recall.terms)
            held = self.store.holding(list(said), recall.question.where.space)
            told *= covering(best, [(held[term], count) for term, count in said.items()], cover=self.sparse_cover, nodes=nodes)
        return told

    def _answering(self, placed: Placed, recall: Recall, least: float, *, share: float) -> dict[NodeId, dict[str, Place]]:
        """Return the places of every node that has questions, with the best of them in its part of what the node means."""
        ranking, low = recall.channels[QUESTION], recall.lows[QUESTION]
        # The scale of what nodes say: no question gains by being the best among poor ones, and nodes without any keep their relevance.
        found: dict[NodeId, dict[str, Place]] = {}
        most = max(match.score for match in recall.channels.get(DENSE) or ranking)
        for rank, match in enumerate(ranking, start=1):
            by_rank = self.method == "rrf"
            value = (self.rrf_k + 1) / (self.rrf_k + rank) if by_rank else _between([match.score], min(least, match.score), most)[0]
            place = Place(rank if match.score >= low else None, match.score, value, share * self.question_share)
            found[match.id] = answering(placed.get(match.id, {}), place, share=self.question_share)
        return found


def answering(places: Mapping[str, Place], question: Place, *, share: float) -> dict[str, Place]:
    """Return a hit's places with its question's: S_semantic = 0.4·content + 0.6·best question (V13), for a share of 0.6.

    >>> both = answering({"dense": Place(1, 0.8, 0.9, 0.5), "sparse": Place(1, 7.0, 1.0, 0.5)}, Place(1, 0.9, 1.0, 0.3), share=0.6)
    >>> round(both["dense"].weight, 9), both["sparse"].weight, round(relevance(both), 9) == round(0.5 * (0.4 * 0.9 + 0.6 * 1.0) + 0.5, 9)
    (0.2, 0.5, True)
    """
    left = {name: place._replace(weight=place.weight * (1.0 - share)) if name in MEANINGS else place for name, place in places.items()}
    return {**left, QUESTION: question}


def _method(places: Mapping[str, Place]) -> str:
    """Return what to call the way to a hit: by a question where that adds more to its relevance than any other channel."""
    question = places.get(QUESTION)
    if question is None or not question.contribution:
        return DIRECT
    return HYPOTHETICAL if all(question.contribution > place.contribution for name, place in places.items() if name != QUESTION) else DIRECT
