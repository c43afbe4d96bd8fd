"""Rank candidates by late interaction alone, for a query that is itself a passage: similar content and style first.

All query tokens have the same weight, function words included: they are a large part of a style.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.recall.channel_scores import Places, relevance
from clew.recall.fuse import Fuse
from clew.recall.late_interaction import unweighted_maxsim
from clew.recall.state import DENSE, SPARSE, TOKENS, Hit, LazyHits, Place, Recall
from clew.types import NodeId

NO_TOKENS = "Passages are ranked by their vectors alone: {why}. MaxSim needs token codes."
MODEL, STORE = "the model gives no token vectors, or model.token_codes is off", "no candidate has token codes; make them with clew reembed"
SOME_MISSING = "{count} of {all} candidates have no token codes and are ranked by their vectors: run clew reembed."


@dataclass(frozen=True, slots=True)
class Passages:
    """Rank hits by MaxSim or, without token codes, by cosine with a note."""

    fuse: Fuse
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set hits with one channel each: MaxSim, or the cosine if a candidate has no token codes."""
        if recall.vector is None:  # no model or no vectors: rank by words; a note was added already
            return self.fuse(recall)
        ids = list(dict.fromkeys(match.id for ranking in recall.channels.values() for match in ranking))
        scores = unweighted_maxsim(recall, ids, store=self.store)
        ranking = sorted(scores, key=lambda id: (-scores[id], id))
        places: dict[NodeId, Places] = {
            id: {TOKENS: Place(rank, scores[id], self.fuse.background.token_share(scores[id]), 1.0)}
            for rank, id in enumerate(ranking, start=1)
        }
        places |= self._by_cosine(recall, [id for id in ids if id not in scores], scale=self.fuse.background.ratio if scores else 1.0)
        notes = self._notes(recall, coded=len(scores), candidates=len(ids))
        hits = sorted((-relevance(found), id) for id, found in places.items())
        made = LazyHits(hits, lambda source: Hit(source[1], -source[0], places[source[1]]))
        return replace(recall, hits=made, notes=recall.notes + notes)

    def _by_cosine(self, recall: Recall, ids: Sequence[NodeId], *, scale: float) -> dict[NodeId, Places]:
        """Return the scaled cosines of candidates; `scale` is the MaxSim share that a cosine share of 1 predicts."""
        if recall.vector is None or not ids:
            return {}
        ranks = {match.id: rank for rank, match in enumerate(recall.channels.get(DENSE, ()), start=1)}
        share, cosines = self.fuse.background.cosine_share, self.store.cosines(recall.vector, ids)
        words = {match.id: Place(rank, match.score, 0.0, scale) for rank, match in enumerate(recall.channels.get(SPARSE, ()), start=1)}
        # A candidate without any vector counts as unrelated: BM25 does not measure how similar two passages are.
        unknown: dict[NodeId, Places] = {id: {SPARSE: words[id]} for id in ids if id in words and id not in cosines}
        return unknown | {id: {DENSE: Place(ranks.get(id), cosine, share(cosine), scale)} for id, cosine in cosines.items()}

    def _notes(self, recall: Recall, *, coded: int, candidates: int) -> tuple[str, ...]:
        if not candidates or coded == candidates:
            return ()
        if coded:
            return (SOME_MISSING.format(count=candidates - coded, all=candidates),)
        return (NO_TOKENS.format(why=MODEL if recall.query is None else STORE),)
