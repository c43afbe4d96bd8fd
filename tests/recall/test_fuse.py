from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.fuse import Fuse, convex, rrf, unrelated
from clew.recall.placed import relevance
from clew.recall.state import CONTEXT, DENSE, SPARSE, Question, Recall
from clew.settings import Weights
from clew.store.memory import MemoryStore
from clew.testing import node, where
from clew.types import Match, Ranking, ranked
from clew.words import idf

SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 1.0), max_size=8)
WEIGHTS = {DENSE: 0.7, SPARSE: 0.3}
ASKED = Question(text="port", k=3, where=where(), weights=Weights(1, 0, 0, 0), recipe="balanced", preset="custom")


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


def fused(full: float, channels: dict[str, Ranking], *, nodes: int = 40) -> dict[str, float]:
    store = MemoryStore()
    store.insert([node(f"n{number}") for number in range(nodes)])
    stage = Fuse(method="convex", dense_weight=0.5, sparse_weight=0.5, context_share=0.0, rrf_k=60, sparse_full=full, store=store)
    recall = Recall(question=ASKED, channels=channels, lows=dict.fromkeys(channels, 0.0))
    return {hit.id: hit.score for hit in stage(recall).hits}


def test_the_best_of_words_that_nearly_all_memories_hold_is_no_full_evidence() -> None:
    channels = {"dense": ranking({"right": 0.9, "short": 0.4}), "sparse": ranking({"short": 2e-6})}
    assert max(fused(0.0, channels).items(), key=lambda hit: hit[1])[0] == "short"
    weighed = fused(1.0, channels)
    assert max(weighed.items(), key=lambda hit: hit[1])[0] == "right"
    assert weighed["right"] > 0.999, "what the words do not tell the meaning does"


def test_words_that_tell_weigh_what_they_did_and_words_alone_are_all_there_is() -> None:
    channels = {"dense": ranking({"a": 0.9}), "sparse": ranking({"b": 4.0, "a": 2.0})}
    assert fused(1.0, channels) == fused(0.0, channels)
    words = {"sparse": ranking({"a": 0.2, "b": 0.1})}
    assert fused(1.0, words) == fused(0.0, words)


def test_among_a_few_memories_a_word_that_one_of_them_holds_tells() -> None:
    channels = {"dense": ranking({"right": 0.9, "short": 0.8}), "sparse": ranking({"short": idf(2, 1)})}
    assert fused(1.0, channels, nodes=2) == fused(0.0, channels, nodes=2)


def small_space(**options: float) -> Fuse:
    store = MemoryStore()
    store.insert([node(f"m{number:02d}", text=f"note {number} of the household") for number in range(40)])
    return Fuse(method="convex", dense_weight=0.5, sparse_weight=0.5, context_share=0.0, rrf_k=60, store=store, **options)


def in_a_small_space(terms: tuple[str, ...] = ("away",)) -> Recall:
    """One of forty is near; any two texts are alike to a degree, and another has a word of the question that no third has."""
    dense = ranking({f"m{number:02d}": 0.66 if number == 0 else 0.55 - number / 1000 for number in range(40)})
    channels = {DENSE: dense, SPARSE: (Match("m39", 3.7),)}
    return Recall(question=ASKED, terms=terms, channels=channels, lows={DENSE: 0.3, SPARSE: 0.0}, complete={DENSE: 40, SPARSE: 1})


def best_of(recall: Recall) -> str:
    return recall.hits[0].id


def test_in_a_small_space_one_word_in_common_does_not_outweigh_what_is_meant() -> None:
    assert best_of(small_space()(in_a_small_space())) == "m39"
    found = small_space(near_share=0.25)(in_a_small_space())
    assert nearness(found, "m00") == 1.0
    assert nearness(found, "m01") == pytest.approx(0.068, abs=0.005)
    assert nearness(found, "m39") < 0.001
    assert best_of(small_space(near_share=0.25, sparse_cover=0.5)(in_a_small_space(("away", "espresso", "thyroid")))) == "m00"


def test_the_best_by_meaning_alone_comes_before_the_best_by_words_alone() -> None:
    assert best_of(small_space(near_share=0.25)(in_a_small_space())) == "m00"


def nearness(recall: Recall, id: str) -> float:
    return next(hit for hit in recall.hits if hit.id == id).channels[DENSE].normalised


def test_what_is_not_near_keeps_its_order_behind_what_is() -> None:
    found = small_space(near_share=0.25)(in_a_small_space())
    values = [nearness(found, f"m{number:02d}") for number in range(40)]
    assert all(nearer > further for nearer, further in pairwise(values))


def test_ten_that_are_equally_near_make_nothing_else_near() -> None:
    dense = ranking({f"m{number:02d}": 0.8 if number < 12 else 0.5 for number in range(40)})
    recall = replace(in_a_small_space(), channels={DENSE: dense, SPARSE: ()})
    found = small_space(near_share=0.25)(recall)
    assert (nearness(found, "m00"), nearness(found, "m11")) == (1.0, 1.0)
    assert nearness(found, "m12") < 0.001


def test_what_was_too_far_still_counts_as_searched() -> None:
    """A floor that cuts a list does not change how near what is left is."""
    recall = in_a_small_space()
    cut = replace(recall, channels={**recall.channels, DENSE: recall.channels[DENSE][:20]})
    fuse = small_space(near_share=0.25)
    assert nearness(fuse(recall), "m05") == nearness(fuse(cut), "m05")


def test_context_keys_are_as_near_as_what_is_said() -> None:
    recall = in_a_small_space()
    amid = replace(recall, channels={**recall.channels, CONTEXT: recall.channels[DENSE]}, lows={**recall.lows, CONTEXT: 0.3})
    found = replace(small_space(near_share=0.25), context_share=0.5)(replace(amid, complete={**recall.complete, CONTEXT: 40}))
    places = next(hit for hit in found.hits if hit.id == "m20").channels
    assert places[CONTEXT].normalised == places[DENSE].normalised < 0.001


def test_words_weigh_as_much_as_of_the_question_they_hold() -> None:
    unknown = ("away", "espresso", "thyroid", "tablet", "straight")
    whole, part = (small_space(near_share=0.25, sparse_cover=0.3)(in_a_small_space(terms)) for terms in (("away",), unknown))
    assert best_of(part) == "m00"
    weights = [next(hit for hit in found.hits if hit.id == "m39").channels[SPARSE].weight for found in (whole, part)]
    assert weights[0] == pytest.approx(0.5, abs=0.001)
    assert weights[0] > weights[1] > 0


def test_where_words_find_nothing_what_is_meant_is_all_of_the_relevance() -> None:
    recall = in_a_small_space()
    found = small_space(near_share=0.25)(replace(recall, channels={**recall.channels, SPARSE: ()}))
    assert (found.hits[0].id, found.hits[0].score) == ("m00", 1.0)


def test_a_full_list_of_a_large_space_is_measured_from_its_end_as_ever() -> None:
    fuse = Fuse(method="convex", dense_weight=1.0, sparse_weight=0.0, context_share=0.0, rrf_k=60, near_share=0.25)
    dense = ranking({f"m{n:02d}": 0.8 - n / 100 for n in range(20)})
    recall = Recall(question=ASKED, channels={DENSE: dense}, lows={DENSE: dense[-1].score})
    store = MemoryStore()
    store.insert([node(f"m{number:03d}", text=f"note {number}") for number in range(200)])
    alone, amid = fuse(recall), replace(fuse, store=store)(recall)
    assert [hit.score for hit in alone.hits] == [hit.score for hit in amid.hits]


def test_what_passes_a_narrow_filter_is_a_small_space() -> None:
    store = MemoryStore()
    store.insert([node(f"m{number:03d}", text=f"note {number}") for number in range(200)])
    found = replace(small_space(near_share=0.25), store=store)(in_a_small_space())
    assert nearness(found, "m20") < 0.001 < nearness(found, "m05")


@given(st.lists(st.floats(-1, 1), max_size=40), st.floats(0, 1), st.integers(0, 400))
def test_the_zero_of_the_scale_lies_between_the_floor_and_the_best(scores: list[float], share: float, nodes: int) -> None:
    found = ranking({f"m{number:02d}": score for number, score in enumerate(scores)})
    low = unrelated(found, 0.3, share=share, among=max(nodes, len(found)))
    assert 0.3 <= low <= max([0.3, *scores])
