from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.fuse import Fuse, convex, relevance, rrf
from clew.recall.state import DENSE, SPARSE
from clew.types import Match, Ranking, ranked

SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 1.0), max_size=8)
WEIGHTS = {DENSE: 0.7, SPARSE: 0.3}


def ranking(scores: dict[str, float]) -> Ranking:
    return ranked(Match(id, score) for id, score in scores.items())


def order(relevances: dict[str, float]) -> list[str]:
    return sorted(relevances, key=lambda id: (-relevances[id], id))


@given(SCORES, SCORES)
def test_rank_fusion_orders_as_the_published_formula_does(dense: dict[str, float], sparse: dict[str, float]) -> None:
    channels = {DENSE: ranking(dense), SPARSE: ranking(sparse)}
    published: dict[str, float] = defaultdict(float)
    for name, found in channels.items():
        for rank, match in enumerate(found, start=1):
            published[match.id] += WEIGHTS[name] / (60 + rank)
    scaled = {id: relevance(places) for id, places in rrf(channels, weights=WEIGHTS, k=60).items()}
    assert scaled == pytest.approx({id: score * 61 for id, score in published.items()})


@given(SCORES, SCORES)
def test_relevance_stays_between_zero_and_one(dense: dict[str, float], sparse: dict[str, float]) -> None:
    channels = {DENSE: ranking(dense), SPARSE: ranking(sparse)}
    for places in (rrf(channels, weights=WEIGHTS, k=60), convex(channels, weights=WEIGHTS, lows={DENSE: 0.0, SPARSE: 0.0})):
        assert all(0 <= relevance(found) <= 1 + 1e-12 for found in places.values())


@given(SCORES)
def test_a_single_channel_keeps_its_order(scores: dict[str, float]) -> None:
    only = {SPARSE: ranking(scores)}
    fused = {id: relevance(places) for id, places in convex(only, weights=WEIGHTS, lows={SPARSE: 0.0}).items()}
    assert [fused[id] for id in order(fused)] == [fused[match.id] for match in only[SPARSE]]


def test_scores_of_different_scales_are_never_added_raw() -> None:
    channels = {DENSE: (Match("near", 0.9), Match("both", 0.85)), SPARSE: (Match("loud", 400.0), Match("both", 390.0))}
    fused = {id: relevance(places) for id, places in convex(channels, weights=WEIGHTS, lows={DENSE: 0.3, SPARSE: 0.0}).items()}
    assert order(fused)[0] == "both"


def test_the_weights_are_used() -> None:
    channels = {DENSE: (Match("meant", 0.9),), SPARSE: (Match("said", 9.0),)}
    lows = {DENSE: 0.3, SPARSE: 0.0}
    by_meaning = {id: relevance(places) for id, places in convex(channels, weights={DENSE: 0.9, SPARSE: 0.1}, lows=lows).items()}
    by_words = {id: relevance(places) for id, places in convex(channels, weights={DENSE: 0.1, SPARSE: 0.9}, lows=lows).items()}
    assert (order(by_meaning)[0], order(by_words)[0]) == ("meant", "said")


def test_a_stage_prints_its_options_and_compares_by_them() -> None:
    one = Fuse(context_share=0.5, method="rrf", dense_weight=0.7, sparse_weight=0.3, rrf_k=60)
    assert one == Fuse(context_share=0.5, method="rrf", dense_weight=0.7, sparse_weight=0.3, rrf_k=60)
    assert "method='rrf'" in repr(one)


def test_the_best_of_words_that_nearly_all_memories_hold_is_no_full_evidence() -> None:
    channels = {DENSE: (Match("right", 0.9), Match("short", 0.6)), SPARSE: (Match("short", 2e-6),)}
    lows, alike = {DENSE: 0.5, SPARSE: 0.0}, {DENSE: 0.5, SPARSE: 0.5}
    for full, best in ((0.0, "short"), (1.0, "right")):
        fused = {id: relevance(places) for id, places in convex(channels, weights=alike, lows=lows, full={SPARSE: full}).items()}
        assert max(fused, key=lambda id: fused[id]) == best


def test_a_best_score_above_full_evidence_is_what_it_was() -> None:
    channels = {DENSE: (Match("a", 0.9),), SPARSE: (Match("b", 4.0), Match("a", 2.0))}
    lows = {DENSE: 0.3, SPARSE: 0.0}
    assert convex(channels, weights=WEIGHTS, lows=lows, full={SPARSE: 1.0}) == convex(channels, weights=WEIGHTS, lows=lows)
