"""Score every candidate by words, vector and late interaction.

One weighted sum on an absolute scale.

relevance = words·W + vector·C + tokens·T

W is BM25 divided by the BM25 of a text of average length that contains every query term once. C and
T are the cosine and MaxSim, scaled from the model's mean for an unrelated query and text (0) to its
maximum (1). Nothing is normalised over the candidates, so a relevance does not depend on what else
was found, and is comparable between queries and stores. A good answer has about 0.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from typing import NamedTuple

import numpy as np

from clew.ports import Background, Store
from clew.search.analyse import answer_by_period, category_members
from clew.search.candidates import best_words, sections
from clew.search.state import (
    CATEGORY,
    CONTEXT,
    DENSE,
    QUESTION,
    SECTION,
    SPARSE,
    TOKENS,
    Hit,
    LazyHits,
    Place,
    Places,
    Recall,
    relevance,
    space_coverage,
    with_share,
)
from clew.text.words import STOP_WORDS, fold, idf, terms, words
from clew.token_codes import maxsim
from clew.types import NodeId, Ranking, Role, Vectors

# Late interaction: compare the query's tokens with the token codes of the best candidates (MaxSim).

# weight of a stop word relative to the rarest word: 0 and 0.2 ranked worse in the mean of five sets
FLOOR = 0.1


def weighted_maxsim(recall: Recall, ids: Sequence[NodeId], *, store: Store) -> dict[NodeId, float]:
    """Return MaxSim of each node that has token codes, with query tokens weighted by the IDF of their words."""
    if recall.query is None or not len(recall.query.tokens):
        return {}
    codes = {id: code for id, code in store.token_codes(ids).items() if code}
    if not codes:
        return {}
    weights = token_weights(
        recall.query.pieces,
        recall.document_frequencies,
        nodes=space_coverage(recall, store=store).nodes,
    )
    weights = weights[: len(recall.query.tokens)]
    best = maxsim(recall.query.tokens, list(codes.values()))
    scores = (weights @ best.astype(np.float64)) / weights.sum()
    return dict(zip(codes, scores.tolist(), strict=True))


def unweighted_maxsim(
    recall: Recall, ids: Sequence[NodeId], *, store: Store
) -> dict[NodeId, float]:
    """Return MaxSim of each node that has token codes.

    The mean over query tokens of the best dot product with a token of the node.
    """
    if recall.query is None or not len(recall.query.tokens):
        return {}
    codes = {id: code for id, code in store.token_codes(ids).items() if code}
    means = maxsim(recall.query.tokens, list(codes.values())).astype(np.float64).mean(axis=0)
    return dict(zip(codes, means.tolist(), strict=True))


def token_weights(
    pieces: Sequence[tuple[str, int]], frequencies: Mapping[str, int], *, nodes: int
) -> Vectors:
    """Return the weight of each query token.

    The IDF of its word relative to the highest, plus FLOOR.

    >>> token_weights([("the", 1), ("boiler", 2)], {"boiler": 1}, nodes=10).tolist()
    [0.1, 1.1, 1.1]
    """
    rarities = [max(_rarities(word, frequencies, nodes), default=0.0) for word, _ in pieces]
    highest = max(rarities, default=0.0) or 1.0
    counts = [count for _, count in pieces]
    return np.repeat([rarity / highest + FLOOR for rarity in rarities], counts)


def _rarities(text: str, frequencies: Mapping[str, int], nodes: int) -> Iterator[float]:
    for word in words(text):
        if fold(word) not in STOP_WORDS:
            yield from (
                idf(max(nodes, frequencies.get(term, 0)), frequencies.get(term, 0))
                for term in terms(word)
            )


CONTEXT_SHARE = 0.5  # of the vector weight, for a text with a context key
QUESTION_SHARE = 0.6
DIRECT, HYPOTHETICAL = "direct", "hypothetical"
RRF = "rrf"
NO_CODES = "{count} of the best candidates have no token codes and are ranked without late interaction: run clew reembed."
# candidates whose token codes are read: 30, 50 and 100 ranked equally well on five sets
RESCORE_DEPTH = 50


# For every candidate: in a fifth of the time that naming the fields takes.
_place: Callable[[tuple[int | None, float, float, float]], Place] = partial(tuple.__new__, Place)


def never(text: str) -> bool:  # noqa: ARG001 - as every judge of texts
    """Return False: no text is small talk."""
    return False


class FeatureWeights(NamedTuple):
    """The weight of each feature in the relevance."""

    words: float
    vector: float
    tokens: float


def rrf(
    channels: Mapping[str, Ranking], *, weights: Mapping[str, float], k: float
) -> dict[NodeId, Places]:
    """Score hits by weighted reciprocal rank fusion, Σ w/(k + rank), scaled so that rank 1 in every channel is 1.

    Cormack, Clarke and Büttcher, SIGIR 2009; the scale (k + 1)/Σ w does not change the order.

    >>> from clew.types import Match
    >>> channels = {"dense": (Match("a", .9), Match("b", .8)), "sparse": (Match("b", 7.),)}
    >>> places = rrf(channels, weights={"dense": .7, "sparse": .3}, k=60)
    >>> round(relevance(places["b"]), 4), round(relevance(places["a"]), 4)
    (0.9887, 0.7)
    """
    total = sum(weights[name] for name in channels)
    found: dict[NodeId, Places] = {}
    for name, ranking in sorted(channels.items()):
        weight = weights[name] / total if total > 0 else 1 / len(channels)
        for rank, match in enumerate(ranking, start=1):
            found.setdefault(match.id, {})[name] = Place(
                rank, match.score, (k + 1) / (k + rank), weight
            )
    return found


@dataclass(frozen=True, slots=True)
class Fuse:
    """Fuse the candidates of all channels into one list of hits sorted by relevance."""

    method: str
    rrf_k: float
    rrf_weights: tuple[float, float]
    """The weights of vectors and of words in reciprocal rank fusion."""
    question_share: float
    background: Background
    late_interaction: bool
    weights: FeatureWeights
    section_weights: tuple[float, float] = (0.0, 0.0)
    """The share of the section in a chunk's relevance: for a chunk with a context key, and for one
    without.
    """
    times: bool = False
    """Whether a question about a period alone is answered by date."""
    limit: int = 100
    small_talk: Callable[[str], bool] = never
    """Whether a text says nothing."""
    store: Store = field(repr=False, compare=False, kw_only=True)

    def __call__(self, recall: Recall) -> Recall:
        """Set the hits, and cache the signals that later stages read."""
        found = self._fuse_channels(recall)
        if not self.times:
            return found
        return answer_by_period(
            self._add_category(found),
            limit=self.limit,
            store=self.store,
            small_talk=self.small_talk,
        )

    def _add_category(self, recall: Recall) -> Recall:
        """Add the members of the category that the question asks for, with their relevance, where no channel proposed them."""
        hits = LazyHits.of(recall.hits)
        known = hits.scores()
        missing = [
            id
            for id in category_members(recall, limit=self.limit, store=self.store)
            if id not in known
        ]
        if not missing:
            return recall
        places = self.score_more(recall, missing)
        if least := recall.question.min_similarity:
            missing = [
                id
                for id in missing
                if DENSE not in places.get(id, {}) or places[id][DENSE].score >= least
            ]
        found = {
            id: {**places.get(id, {}), CATEGORY: Place(rank, 1.0, 0.0, 0.0)}
            for rank, id in enumerate(missing, start=1)
        }
        added = {id: Hit(id, relevance(channels), channels) for id, channels in found.items()}
        return replace(recall, hits=hits.with_replaced(added), signals=None)

    def _fuse_channels(self, recall: Recall) -> Recall:
        if self.method == RRF:
            return self._add_sections(recall, self._fuse_by_rank(recall))
        if (vector := recall.vector) is None:
            return self._add_sections(recall, self._score_words(recall, alone=True))
        recall = replace(
            recall,
            document_frequencies=self.store.holding(recall.terms, recall.question.where.space),
        )
        ids = list(
            dict.fromkeys(match.id for ranking in recall.channels.values() for match in ranking)
        )
        recall = replace(recall, signals=self.store.signals(ids))
        places = self._score_words(recall, alone=False)
        for id, found in self._score_vectors(recall, vector, ids).items():
            places.setdefault(id, {}).update(found)
        places, uncoded = self._add_tokens(recall, places)
        notes = (NO_CODES.format(count=uncoded),) if uncoded else ()
        return self._add_sections(replace(recall, notes=recall.notes + notes), places)

    def score_more(self, recall: Recall, ids: Sequence[NodeId]) -> dict[NodeId, Places]:
        """Return the vector and token scores of nodes that no channel proposed.

        Their BM25 counts as 0.
        """
        if self.method == RRF or recall.vector is None or not ids:
            return {}
        with_signals = replace(recall, signals=self.store.signals(ids))
        return self._add_tokens(recall, self._score_vectors(with_signals, recall.vector, ids))[0]

    def _fuse_by_rank(self, recall: Recall) -> dict[NodeId, Places]:
        channels = {name: ranking for name, ranking in recall.channels.items() if name != QUESTION}
        dense, sparse = self.rrf_weights
        context_share = CONTEXT_SHARE if CONTEXT in channels else 0.0
        return rrf(
            channels,
            weights={
                DENSE: dense * (1 - context_share),
                CONTEXT: dense * context_share,
                SPARSE: sparse,
            },
            k=self.rrf_k,
        )

    def _score_words(self, recall: Recall, *, alone: bool) -> dict[NodeId, Places]:
        """Return BM25 relative to a text with every query term or, if `alone`, relative to the best candidate."""
        ranking = recall.channels.get(SPARSE, ())
        best = max((match.score for match in ranking), default=0.0) or 1.0
        whole = (
            best
            if alone
            else best_words(
                recall.terms,
                recall.document_frequencies,
                nodes=space_coverage(recall, store=self.store).nodes,
            )
            or best
        )
        weight = 1.0 if alone else self.weights.words
        return {
            id: {SPARSE: _place((rank, score, score / whole, weight))}
            for rank, (id, score) in enumerate(ranking, start=1)
        }

    def _score_vectors(
        self, recall: Recall, vector: Vectors, ids: Sequence[NodeId]
    ) -> dict[NodeId, Places]:
        """Return the scaled cosines of all candidates.

        Of the text, the context key and the hypothetical questions.

        They share the vector weight.
        """
        signals = recall.signals or {}
        keyed = [id for id in ids if id in signals and signals[id].keyed]
        contents = self._cosines(recall, vector, DENSE, Role.CONTENT, ids)
        contexts = self._cosines(recall, vector, CONTEXT, Role.CONTEXT, keyed)
        questions = _ranked(
            recall.channels.get(QUESTION, ()) if self.question_share else (),
            recall.cutoffs.get(QUESTION, 0.0),
        )
        whole, scale = self.weights.vector, self.background.cosine_share
        places: dict[NodeId, Places] = {}
        for id, (rank, cosine) in contents.items():
            places[id] = {DENSE: _place((rank, cosine, scale(cosine), whole))}
        for name, column in ((CONTEXT, contexts), (QUESTION, questions)):
            share = CONTEXT_SHARE if name == CONTEXT else self.question_share
            for id, (rank, cosine) in column.items():
                own = places.get(id, {})
                places[id] = with_share(
                    own, {name: _place((rank, cosine, scale(cosine), whole * share))}, share=share
                )
        return places

    def _cosines(
        self, recall: Recall, vector: Vectors, channel: str, role: Role, ids: Sequence[NodeId]
    ) -> dict[NodeId, tuple[int | None, float]]:
        """Return rank and cosine of each node that has a vector.

        The rank is None if the channel did not propose it.
        """
        known = _ranked(recall.channels.get(channel, ()))
        missing = [id for id in ids if id not in known]
        further = self.store.cosines(vector, missing, role=role) if missing else {}
        found = known | {id: (None, cosine) for id, cosine in further.items()}
        return {id: found[id] for id in ids if id in found}

    def _add_tokens(
        self, recall: Recall, places: dict[NodeId, Places]
    ) -> tuple[dict[NodeId, Places], int]:
        """Rescore the best candidates by late interaction, and estimate the score of the others from their cosines.

        Also return how many of the best have a vector but no token codes.
        """
        weight, background = self.weights.tokens, self.background
        if not weight:
            return places, 0
        scores: dict[NodeId, float] = {}
        for id, found in places.items():
            summed = whole = 0.0
            for name, (_, _, value, share) in found.items():
                if name != SPARSE:
                    summed += share * value
                    whole += share
            value = background.ratio * summed / whole if whole else 0.0
            found[TOKENS] = _place((None, background.maxsim(value), value, weight))
            scores[id] = relevance(found)
        if not self.late_interaction or recall.query is None:
            return places, 0
        best = nsmallest(RESCORE_DEPTH, places, key=lambda id: (-scores[id], id))
        exact = weighted_maxsim(recall, best, store=self.store)
        for rank, (id, score) in enumerate(
            sorted(exact.items(), key=lambda item: (-item[1], item[0])), start=1
        ):
            places[id][TOKENS] = _place((rank, score, background.token_share(score), weight))
        return places, sum(DENSE in places[id] and id not in exact for id in best)

    def _add_sections(self, recall: Recall, places: dict[NodeId, Places]) -> Recall:
        """Blend the relevance of each chunk with that of its section.

        A memory has no section and keeps its own.
        """
        if (
            not any(self.section_weights)
            or not places
            or not space_coverage(recall, store=self.store).sections
        ):
            return replace(recall, hits=_hits(places))
        terms = recall.terms if SPARSE in recall.channels else ()
        found = sections(self.store, recall.question.where, terms=terms, limit=self.limit)
        signals = self.store.signals(list(places)) if recall.signals is None else recall.signals
        recall = replace(recall, signals=signals)
        if not found:  # without matching sections, the share would only rank chunks below memories
            return replace(recall, hits=_hits(places))
        votes = {
            match.id: Place(rank, match.score, match.score, 0.0)
            for rank, match in enumerate(found, start=1)
        }
        short, long = self.section_weights
        for id, own in places.items():
            known = signals.get(id)
            if (
                known is not None
                and known.parent is not None
                and (share := short if known.keyed else long)
            ):
                vote = votes.get(known.parent) or Place(None, 0.0, 0.0, 0.0)
                places[id] = with_share(own, {SECTION: vote._replace(weight=share)}, share=share)
        return replace(recall, hits=_hits(places))


def _ranked(ranking: Ranking, low: float = 0.0) -> dict[NodeId, tuple[int | None, float]]:
    """Return rank and score of each node; below `low` it was not proposed, and its rank is None."""
    return {
        match.id: (rank if match.score >= low else None, match.score)
        for rank, match in enumerate(ranking, start=1)
    }


def _hits(places: Mapping[NodeId, Places]) -> LazyHits:
    """Return the hits sorted by relevance."""
    scores = {id: relevance(found) for id, found in places.items()}
    return LazyHits(
        sorted((-score, id) for id, score in scores.items()),
        lambda source: Hit(
            source[1], -source[0], places[source[1]], method=_method(places[source[1]])
        ),
    )


def _method(places: Places) -> str:
    """Return `hypothetical` if the question channel contributes more to the relevance than any other channel, else `direct`."""
    question = places.get(QUESTION)
    if question is None or question.contribution <= 0:
        return DIRECT
    others = (
        place.contribution for name, place in places.items() if name not in (QUESTION, TOKENS)
    )
    return HYPOTHETICAL if all(question.contribution > each for each in others) else DIRECT


# Rank candidates by late interaction alone, for a query that is itself a passage: similar content
# and style first.
#
# All query tokens have the same weight, function words included: they are a large part of a style.

NO_TOKENS = "Passages are ranked by their vectors alone: {why}. MaxSim needs token codes."
MODEL, STORE = (
    "the model gives no token vectors, or model.token_codes is off",
    "no candidate has token codes; make them with clew reembed",
)
SOME_MISSING = "{count} of {all} candidates have no token codes and are ranked by their vectors: run clew reembed."


@dataclass(frozen=True, slots=True)
class Passages:
    """Rank hits by MaxSim or, without token codes, by cosine with a note."""

    fuse: Fuse
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set hits with one channel each.

        MaxSim, or the cosine if a candidate has no token codes.
        """
        if recall.vector is None:  # no model or no vectors: rank by words; a note was added already
            return self.fuse(recall)
        ids = list(
            dict.fromkeys(match.id for ranking in recall.channels.values() for match in ranking)
        )
        scores = unweighted_maxsim(recall, ids, store=self.store)
        ranking = sorted(scores, key=lambda id: (-scores[id], id))
        places: dict[NodeId, Places] = {
            id: {TOKENS: Place(rank, scores[id], self.fuse.background.token_share(scores[id]), 1.0)}
            for rank, id in enumerate(ranking, start=1)
        }
        places |= self._by_cosine(
            recall,
            [id for id in ids if id not in scores],
            scale=self.fuse.background.ratio if scores else 1.0,
        )
        notes = self._notes(recall, coded=len(scores), candidates=len(ids))
        hits = sorted((-relevance(found), id) for id, found in places.items())
        made = LazyHits(hits, lambda source: Hit(source[1], -source[0], places[source[1]]))
        return replace(recall, hits=made, notes=recall.notes + notes)

    def _by_cosine(
        self, recall: Recall, ids: Sequence[NodeId], *, scale: float
    ) -> dict[NodeId, Places]:
        """Return the scaled cosines of candidates.

        `scale` is the MaxSim share that a cosine share of 1 predicts.
        """
        if recall.vector is None or not ids:
            return {}
        ranks = {
            match.id: rank for rank, match in enumerate(recall.channels.get(DENSE, ()), start=1)
        }
        share, cosines = self.fuse.background.cosine_share, self.store.cosines(recall.vector, ids)
        words = {
            match.id: Place(rank, match.score, 0.0, scale)
            for rank, match in enumerate(recall.channels.get(SPARSE, ()), start=1)
        }
        # A candidate without any vector counts as unrelated: BM25 does not measure how similar two
        # passages are.
        unknown: dict[NodeId, Places] = {
            id: {SPARSE: words[id]} for id in ids if id in words and id not in cosines
        }
        return unknown | {
            id: {DENSE: Place(ranks.get(id), cosine, share(cosine), scale)}
            for id, cosine in cosines.items()
        }

    def _notes(self, recall: Recall, *, coded: int, candidates: int) -> tuple[str, ...]:
        if not candidates or coded == candidates:
            return ()
        if coded:
            return (SOME_MISSING.format(count=candidates - coded, all=candidates),)
        return (NO_TOKENS.format(why=MODEL if recall.query is None else STORE),)
