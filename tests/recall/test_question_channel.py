"""A memory is also found by the questions that it answers.

0.4 of what it says and 0.6 of its best question, where it has one (V13).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew import Clew
from clew.models.vectors import HashingEmbedder
from clew.ports import Background, Embedder
from clew.search.candidates import Candidates
from clew.search.fusion import FeatureWeights, Fuse
from clew.search.state import (
    CONTEXT,
    DENSE,
    QUESTION,
    SPARSE,
    Hit,
    QueryVectors,
    Question,
    Recall,
    relevance,
)
from clew.settings import Settings, Weights
from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore
from clew.store.sqlite.vector_index import ROLES, STANDALONE
from clew.testing import MODEL, embedding, node, unit, where
from clew.types import Match, Ranking, Role, Vectors, ranked

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BY_CHANCE = 2  # answers of 48 that change places for no reason that would hold for others
QUERY = unit("query")
SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.31, 1.0), max_size=8)
BACKGROUND = Background(cosine=0.3, tokens=0.0, ratio=0.0)


def fuse(store: MemoryStore | SqliteStore, share: float = 0.6) -> Fuse:
    return Fuse(
        method="weighted",
        rrf_k=60,
        rrf_weights=(0.5, 0.5),
        question_share=share,
        background=BACKGROUND,
        late_interaction=False,
        weights=FeatureWeights(words=0.25, vector=0.7, tokens=0.6),
        store=store,
    )


def at_cosine(cosine: float, name: str) -> Vectors:
    """Return a unit vector that has this cosine with the query."""
    other = unit(name)
    across = other - (other @ QUERY) * QUERY
    across /= (across @ across) ** 0.5
    return np.asarray(cosine * QUERY + (1 - cosine**2) ** 0.5 * across, np.float32)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryStore | SqliteStore]:
    store = MemoryStore() if request.param == "memory" else SqliteStore.open(tmp_path / "a.clew")
    store.activate(MODEL)
    yield store
    store.close()


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def put(
    store: MemoryStore | SqliteStore, id: str, cosine: float, *questions: float, **fields: Any
) -> None:
    """Write a node whose content and whose questions have these cosines with the query."""
    made = node(id, f"text of {id}", **fields)
    roles = (Role.QUESTION, Role.QUESTION_2)
    asked = [
        embedding(made, at_cosine(each, f"{id}{role}"), role=role, text_hash="q")
        for role, each in zip(roles, questions, strict=False)
    ]
    store.insert([made], [embedding(made, at_cosine(cosine, id)), *asked])


ALL = (DENSE, CONTEXT, QUESTION, SPARSE)


def ask(
    store: MemoryStore | SqliteStore,
    executor: ThreadPoolExecutor,
    *,
    limit: int = 100,
    least: float = 0.0,
    channels: tuple[str, ...] = ALL,
    **filter: Any,
) -> Recall:
    stage = Candidates(
        limit=limit,
        channels=channels,
        dense_floor=0.3,
        store=store,
        embed=lambda _: QueryVectors(QUERY),
        executor=executor,
    )
    question = Question(
        text="x",
        k=10,
        where=where(**filter),
        weights=Weights(1, 0, 0, 0),
        recipe="test",
        preset="custom",
        min_similarity=least,
    )
    return stage(Recall(question=question))


def scores(ranking: Ranking) -> dict[str, float]:
    return {match.id: round(match.score, 2) for match in ranking}


def test_each_node_stands_by_the_better_of_its_questions(
    store: MemoryStore | SqliteStore, executor: ThreadPoolExecutor
) -> None:
    put(store, "a", 0.5, 0.4, 0.9)
    put(store, "b", 0.6, 0.8, 0.35)
    put(store, "c", 0.7)
    found = ask(store, executor).channels[QUESTION]
    assert [match.id for match in found] == ["a", "b"]
    assert scores(found) == {"a": 0.9, "b": 0.8}


def test_a_store_without_questions_has_no_such_channel(
    store: MemoryStore | SqliteStore, executor: ThreadPoolExecutor
) -> None:
    put(store, "a", 0.5)
    assert QUESTION not in ask(store, executor).channels
    put(store, "b", 0.5, 0.9)
    assert QUESTION in ask(store, executor).channels
    assert QUESTION not in ask(store, executor, channels=(DENSE, SPARSE)).channels


def test_a_node_that_says_something_else_is_found_by_its_question(
    store: MemoryStore | SqliteStore, executor: ThreadPoolExecutor
) -> None:
    put(store, "a", 0.1, 0.9)
    put(store, "b", 0.1, 0.2)
    found = ask(store, executor)
    assert [match.id for match in found.channels[QUESTION]] == ["a"]
    assert [rejection.id for rejection in found.rejected] == ["b"]


def test_a_candidate_is_judged_by_its_question_too_when_that_is_far_down_the_list(
    store: MemoryStore | SqliteStore, executor: ThreadPoolExecutor
) -> None:
    for number in range(4):
        put(store, f"q{number}", 0.35 + number / 100, 0.8 + number / 100)
    put(store, "said", 0.9, 0.4)
    put(store, "plain", 0.8)
    found = ask(store, executor, limit=2)
    assert [match.id for match in found.channels[QUESTION]] == ["q3", "q2", "said"]
    hits = {hit.id: hit for hit in fuse(store)(found).hits}
    assert hits["said"].channels[QUESTION].rank is None
    assert hits["said"].channels[QUESTION].normalised == pytest.approx(0.1 / 0.7, abs=0.001)
    assert hits["q3"].channels[QUESTION].rank == 1
    assert QUESTION not in hits["plain"].channels


def test_filters_and_min_similarity_hold_for_questions(
    store: MemoryStore | SqliteStore, executor: ThreadPoolExecutor
) -> None:
    put(store, "a", 0.5, 0.9, category="plan")
    put(store, "b", 0.5, 0.95)
    assert [
        match.id for match in ask(store, executor, categories=("plan",)).channels[QUESTION]
    ] == ["a"]
    found = ask(store, executor, least=0.6)
    assert found.channels[QUESTION] == ()
    assert {rejection.reason for rejection in found.rejected} == {"min_similarity"}


# --- fused ---


def recall(dense: dict[str, float], question: dict[str, float], sparse: dict[str, float]) -> Recall:
    channels = {DENSE: dense, QUESTION: question, SPARSE: sparse}
    asked = Question(
        text="x", k=10, where=where(), weights=Weights(1, 0, 0, 0), recipe="test", preset="custom"
    )
    return Recall(
        question=asked,
        vector=QUERY,
        channels={
            name: ranked(map(Match, found, found.values())) for name, found in channels.items()
        },
        cutoffs={DENSE: 0.3, QUESTION: 0.3, SPARSE: 0.0},
    )


def fused(recall: Recall, share: float = 0.6) -> dict[str, Hit]:
    store = MemoryStore()
    store.activate(MODEL)
    return {hit.id: hit for hit in fuse(store, share)(recall).hits}


def test_what_a_node_means_is_four_parts_of_what_it_says_and_six_of_its_best_question() -> None:
    hits = fused(recall({"a": 0.7, "b": 0.8}, {"a": 0.5}, {}))
    scale = 0.7 / 0.7
    assert hits["a"].score == pytest.approx(scale * (0.4 * 0.4 + 0.6 * 0.2), abs=1e-12)
    assert hits["b"].score == pytest.approx(scale * 0.5, abs=1e-12)


@given(SCORES, SCORES, SCORES, st.floats(0, 1))
def test_relevance_adds_up_and_leaves_nodes_without_questions_as_they_were(
    dense: dict[str, float], question: dict[str, float], sparse: dict[str, float], share: float
) -> None:
    hits, before = fused(recall(dense, question, sparse), share), fused(recall(dense, {}, sparse))
    for id, hit in hits.items():
        assert abs(hit.score - relevance(hit.channels)) < 1e-9
        assert abs(hit.score - sum(place.contribution for place in hit.channels.values())) < 1e-9
        if id not in question:
            assert hit == before[id]
    assert (fused(recall(dense, question, sparse), 0.0)).items() >= before.items()


def test_a_better_question_never_lowers_a_hit() -> None:
    worth = [
        fused(recall({"a": 0.6, "b": 0.9}, {"a": score}, {}))["a"].score
        for score in (0.31, 0.5, 0.7, 0.95)
    ]
    assert worth == sorted(worth)


def test_the_way_is_called_hypothetical_where_the_question_adds_most() -> None:
    hits = fused(
        recall({"a": 0.5, "b": 0.9, "c": 0.5}, {"a": 0.9, "c": 0.45}, {"b": 3.0, "c": 9.0})
    )
    assert {id: hit.method for id, hit in hits.items()} == {
        "a": "hypothetical",
        "b": "direct",
        "c": "direct",
    }


# --- through the engine ---

OUTAGE = "The nightly export failed because a partition was full. Widening it helped."
DISTRACTOR = "The nightly export is written to the archive every evening."


def opened(path: str | Path = ":memory:", **settings: Any) -> Clew:
    return clew.open(
        path,
        embedder=HashingEmbedder(),
        clock=lambda: NOW,
        **{"questions.enabled": True, **settings},
    )


@pytest.mark.parametrize("preset", ["semantic", "balanced"])
def test_an_answer_tells_the_question_and_its_parts_add_up(preset: str, tmp_path: Path) -> None:
    with opened(tmp_path / "a.clew") as memory:
        solved = memory.remember(OUTAGE, trigger="problem-solution")
        memory.remember(DISTRACTOR)
        answer = memory.recall("Why did the nightly export fail?", preset=preset)
        best = answer.hits[0]
        assert best.id == solved.id
        assert best.channels[QUESTION].score == pytest.approx(1.0, abs=1e-2)
        assert "by a question that it answers (rank 1" in best.explanation
        for hit in answer.hits:
            assert (
                abs(
                    sum(place.contribution for place in hit.channels.values())
                    - hit.components["semantic"].value
                )
                < 1e-9
            )
            assert (
                abs(sum(part.contribution for part in hit.components.values()) - hit.score) < 1e-9
            )


def test_matching_can_be_turned_off_and_the_share_chosen() -> None:
    with opened() as memory:
        memory.remember(OUTAGE, trigger="problem-solution")
        asked = "Why did the nightly export fail?"
        assert QUESTION in memory.recall(asked).hits[0].channels
        assert (
            QUESTION
            not in memory.variant(**{"questions.match": False}).recall(asked).hits[0].channels
        )
        assert QUESTION not in memory.recall(asked, recipe="dense").hits[0].channels
        (hit,) = memory.variant(**{"questions.share": 1.0}).recall(asked).hits
        assert hit.channels[DENSE].weight == 0.0


def test_why_and_a_replay_know_the_channel() -> None:
    with opened() as memory:
        id = str(memory.remember(OUTAGE, trigger="problem-solution").id)
        asked = "Why did the nightly export fail?"
        assert QUESTION in {reason.name for reason in memory.why(asked, id).reasons}
        assert memory.replay(memory.trace(memory.recall(asked))).identical


def test_the_codes_in_stored_segments_keep_their_meaning() -> None:
    assert ROLES == {"content": 0, "context": 1, "question": 2, "question_2": 4}
    assert STANDALONE == 3  # as files have it that were written before there was a second question


def test_segments_of_a_store_keep_both_questions_apart_from_what_nodes_say(tmp_path: Path) -> None:
    with opened(tmp_path / "a.clew") as memory:
        id = memory.remember(
            "The export failed because it was late. Never skip the export.",
            trigger="problem-solution",
        ).id
        memory.remember(DISTRACTOR)
        memory.compact()
    with opened(tmp_path / "a.clew") as memory:
        assert memory.store.coverage("default")[:2] == (2, 2)
        assert memory.store.coverage("default").questions == 1
        best = memory.recall("Should I skip the export?").hits[0]
        assert (best.id, round(best.channels[QUESTION].score, 2)) == (id, 1.0)
        assert memory.verify() == ()


# --- measured ---

SET = yaml.safe_load(
    (Path(__file__).parent / "fixtures" / "questions.yaml").read_text(encoding="utf-8")
)


def found(memory: Clew) -> dict[str, list[int]]:
    """Return the rank of the answer to every question, by whether it is a memory that got questions."""
    ranks: dict[str, list[int]] = {"solved": [], "plain": []}
    for key, question in SET["asked"]:
        keys = [
            hit.node.metadata["key"]
            for hit in memory.recall(question, k=10, track=False).hits
            if hit.node
        ]
        ranks["solved" if key in SET["solved"] else "plain"].append(
            keys.index(key) + 1 if key in keys else 99
        )
    return ranks


def hits(ranks: list[int], *, at: int) -> int:
    return sum(rank <= at for rank in ranks)


@pytest.mark.model
def test_questions_by_rule_are_made_by_default_only_if_they_gain_more_than_chance_could(
    real_embedder: Embedder,
) -> None:
    memories = [
        {"text": text, "metadata": {"key": key}, "trigger": trigger}
        for part, trigger in (("solved", "problem-solution"), ("plain", None))
        for key, text in SET[part].items()
    ]
    with clew.open(
        ":memory:", embedder=real_embedder, clock=lambda: NOW, questions={"enabled": True}
    ) as memory:
        memory.remember_many(memories)
        assert memory.store.coverage("default").questions >= 40
        on, off = found(memory), found(memory.variant(**{"questions.match": False}))
    # They change little, either way: what a rule makes of a sentence says hardly more than the
    # sentence.
    for at in (1, 3):
        assert abs(hits(on["solved"], at=at) - hits(off["solved"], at=at)) <= 4
    gains = {
        (part, at): hits(on[part], at=at) - hits(off[part], at=at) for part in on for at in (1, 3)
    }
    worth_it = min(gains.values()) >= 0 and max(gains.values()) > BY_CHANCE
    assert Settings().questions.enabled is worth_it
