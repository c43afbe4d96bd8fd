"""One weighted sum of words, vector and late interaction on an absolute scale, or reciprocal ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.ports import Background
from clew.search.fusion import FeatureWeights, Fuse, rrf
from clew.search.state import (
    CONTEXT,
    DENSE,
    SPARSE,
    TOKENS,
    Hit,
    QueryTokens,
    Question,
    Recall,
    relevance,
)
from clew.settings import Weights
from clew.store.memory import MemoryStore
from clew.testing import MODEL, embedding, node, unit, where
from clew.token_codes import pack
from clew.types import Match, Ranking, ranked

SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 1.0), max_size=8)
WEIGHTS = FeatureWeights(words=0.25, vector=0.7, tokens=0.6)
RRF_WEIGHTS = {DENSE: 0.7, SPARSE: 0.3}
ASKED = Question(
    text="port", k=3, where=where(), weights=Weights(1, 0, 0, 0), recipe="balanced", preset="custom"
)
BACKGROUND = Background(cosine=0.5, tokens=0.3, ratio=0.8)


def ranking(scores: Mapping[str, float]) -> Ranking:
    return ranked(Match(id, score) for id, score in scores.items())


def stage(store: MemoryStore | None = None, *, late: bool = True, method: str = "weighted") -> Fuse:
    return Fuse(
        method=method,
        rrf_k=60,
        rrf_weights=(0.7, 0.3),
        question_share=0.6,
        background=BACKGROUND,
        late_interaction=late,
        weights=WEIGHTS,
        store=store or filled(),
    )


def filled(nodes: int = 40, text: str = "note {} of the household") -> MemoryStore:
    store = MemoryStore()
    store.activate(MODEL)
    store.insert([node(f"m{number:02d}", text=text.format(number)) for number in range(nodes)])
    return store


def asked(
    dense: Mapping[str, float], sparse: Mapping[str, float], terms: tuple[str, ...] = ("away",)
) -> Recall:
    channels = {DENSE: ranking(dense), SPARSE: ranking(sparse)}
    return Recall(
        question=ASKED,
        terms=terms,
        vector=unit("query"),
        channels=channels,
        cutoffs=dict.fromkeys(channels, 0.0),
    )


def hits(recall: Recall) -> dict[str, Hit]:
    return {hit.id: hit for hit in recall.hits}


@given(SCORES, SCORES)
def test_rank_fusion_orders_as_the_published_formula_does(
    dense: dict[str, float], sparse: dict[str, float]
) -> None:
    channels = {DENSE: ranking(dense), SPARSE: ranking(sparse)}
    published: dict[str, float] = defaultdict(float)
    for name, found in channels.items():
        for rank, match in enumerate(found, start=1):
            published[match.id] += RRF_WEIGHTS[name] / (60 + rank)
    scaled = {
        id: relevance(places) for id, places in rrf(channels, weights=RRF_WEIGHTS, k=60).items()
    }
    assert scaled == pytest.approx({id: score * 61 for id, score in published.items()})


@given(SCORES, SCORES, st.sampled_from(["weighted", "rrf"]))
def test_contributions_add_up_to_the_relevance(
    dense: dict[str, float], sparse: dict[str, float], method: str
) -> None:
    for hit in stage(method=method)(asked(dense, sparse)).hits:
        assert abs(hit.score - sum(place.contribution for place in hit.channels.values())) < 1e-9


@given(SCORES, SCORES, SCORES)
def test_a_relevance_does_not_depend_on_what_else_was_found(
    dense: dict[str, float], sparse: dict[str, float], others: dict[str, float]
) -> None:
    alone = hits(stage()(asked(dense, sparse)))
    more = {f"other-{id}": score for id, score in others.items()}
    beside = hits(stage()(asked({**dense, **more}, {**sparse, **more})))
    assert {id: beside[id].score for id in alone} == {id: hit.score for id, hit in alone.items()}


def test_the_formula_is_the_weighted_sum_above_the_background() -> None:
    hit = hits(stage(late=False)(asked({"a": 0.7}, {"a": 2.0}, terms=("unknown",))))["a"]
    chosen, rarity = WEIGHTS, np.log(1 + 40.5 / 0.5)
    vector = (0.7 - 0.5) / 0.5
    expected = (
        chosen.words * 2.0 / rarity
        + chosen.vector * vector
        + chosen.tokens * BACKGROUND.ratio * vector
    )
    assert hit.channels[SPARSE].normalised == pytest.approx(2.0 / rarity, rel=0.05)
    assert hit.score == pytest.approx(expected, rel=0.02)


def test_one_word_in_common_does_not_outweigh_what_is_meant() -> None:
    dense = {
        f"m{number:02d}": 0.66 if number == 0 else 0.55 - number / 1000 for number in range(40)
    }
    few = stage()(asked(dense, {"m39": 3.7}, terms=("away", "espresso", "thyroid")))
    assert few.hits[0].id == "m00"
    assert hits(few)["m39"].score > hits(few)["m38"].score


def test_words_alone_are_all_of_the_relevance() -> None:
    recall = replace(asked({}, {"a": 2.0, "b": 1.0}), vector=None)
    found = stage()(recall).hits
    assert [hit.id for hit in found] == ["a", "b"]
    assert set(found[0].channels) == {SPARSE}
    assert found[0].channels[SPARSE].weight == 1.0


def test_a_memory_without_a_vector_is_judged_by_its_words_beside_others() -> None:
    found = hits(stage()(asked({"near": 0.8}, {"said": 1.0})))
    assert set(found["said"].channels) == {SPARSE, TOKENS}
    assert found["said"].channels[TOKENS].normalised == 0.0


def test_a_context_key_has_half_of_the_weight_of_the_vector() -> None:
    store = MemoryStore()
    store.activate(MODEL)
    keyed = node("a", text="Yes, on Sunday!", context="Do you run? Yes, on Sunday!")
    store.insert([keyed])
    recall = asked({"a": 0.5}, {})
    recall = replace(recall, channels={**recall.channels, CONTEXT: ranking({"a": 0.9})})
    places = hits(stage(store)(recall))["a"].channels
    assert places[DENSE].weight == places[CONTEXT].weight == WEIGHTS.vector / 2


# --- late interaction ---


def coded() -> MemoryStore:
    """Return a store in which one text has the query's tokens and another has not.

    A third has no codes.
    """
    store = MemoryStore()
    store.activate(MODEL)
    both = [
        node("covers", text="the boiler"),
        node("misses", text="a kettle"),
        node("bare", text="a note"),
    ]
    tokens = {
        "covers": np.stack([unit("boiler"), unit("the")]),
        "misses": np.stack([unit("kettle")]),
    }
    made = [
        replace(
            embedding(each, unit(each.id)),
            tokens=pack(tokens[each.id]) if each.id in tokens else b"",
        )
        for each in both
    ]
    store.insert(both, made)
    return store


def about_the_boiler(dense: Mapping[str, float]) -> Recall:
    tokens = QueryTokens(np.stack([unit("the"), unit("boiler")]), (("the", 1), ("boiler?", 1)))
    return replace(asked(dense, {}, terms=("boiler",)), query=tokens)


def test_a_text_that_covers_the_query_token_by_token_comes_first() -> None:
    dense = {"covers": 0.6, "misses": 0.6, "bare": 0.6}
    with_tokens, without = (
        stage(coded())(about_the_boiler(dense)),
        stage(coded(), late=False)(about_the_boiler(dense)),
    )
    assert with_tokens.hits[0].id == "covers"
    assert with_tokens.hits[-1].id == "misses"
    assert len({hit.score for hit in without.hits}) == 1


def test_a_text_without_codes_gets_what_its_cosine_lets_expect() -> None:
    place = hits(stage(coded())(about_the_boiler({"bare": 0.6, "covers": 0.6})))["bare"].channels[
        TOKENS
    ]
    assert place.rank is None
    assert place.normalised == pytest.approx(BACKGROUND.ratio * 0.2)
    assert place.score == pytest.approx(BACKGROUND.maxsim(place.normalised))


def test_a_stage_prints_its_options_and_compares_by_them() -> None:
    one, other = stage(method="rrf"), stage(method="rrf")
    assert one == other
    assert "method='rrf'" in repr(one)
