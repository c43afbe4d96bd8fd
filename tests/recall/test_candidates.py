"""Candidates: both channels under the whole filter, floors that cut without costing a nearer memory its place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.search.candidates import Candidates
from clew.search.state import DENSE, SPARSE, QueryVectors, Question, Recall
from clew.settings import Weights
from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore
from clew.testing import MODEL, embedding, node, unit, where
from clew.text.words import query_terms
from clew.types import Filter, Ranking, Vectors

QUERY = unit("query")


def at_cosine(cosine: float, name: str) -> Vectors:
    """Return a unit vector that has this cosine with the query."""
    other = unit(name)
    across = other - (other @ QUERY) * QUERY
    across /= (across @ across) ** 0.5
    return np.asarray(cosine * QUERY + (1 - cosine**2) ** 0.5 * across, np.float32)


@pytest.fixture
def store() -> MemoryStore:
    """Six memories: near and far by meaning, with and without the word, one without a vector."""
    store = MemoryStore()
    store.activate(MODEL)
    for id, text, cosine in (
        ("near", "apples are red", 0.9),
        ("nearer", "nothing in common", 0.95),
        ("middle", "an apple and a pear", 0.5),
        ("far", "one more apple", 0.1),
        ("farther", "not related at all", 0.05),
    ):
        made = node(id, text)
        store.insert([made], [embedding(made, at_cosine(cosine, id))])
    store.insert([node("bare", "the apple without a vector")])
    return store


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def ask(
    store: MemoryStore | SqliteStore,
    executor: ThreadPoolExecutor,
    *,
    channels: tuple[str, ...] = (DENSE, SPARSE),
    limit: int = 100,
    floor: float = 0.3,
    least: float = 0.0,
    vector: Vectors | None = QUERY,
    quick: bool = False,
    **filter: Any,
) -> Recall:
    stage = Candidates(
        limit=limit,
        channels=channels,
        dense_floor=floor,
        store=store,
        embed=lambda _: QueryVectors(vector, () if vector is not None else ("no model",)),
        executor=executor,
        quick=lambda: quick,
    )
    question = Question(
        text="apple",
        k=10,
        where=where(**filter),
        weights=Weights(1, 0, 0, 0),
        recipe="test",
        preset="custom",
        min_similarity=least,
    )
    return stage(Recall(question=question, terms=tuple(query_terms("apple"))))


def ids(recall: Recall, channel: str) -> list[str]:
    return [match.id for match in recall.channels[channel]]


def test_each_channel_brings_its_own_in_its_own_order(
    store: MemoryStore, executor: ThreadPoolExecutor
) -> None:
    found = ask(store, executor, floor=-1.0)
    assert ids(found, DENSE) == ["nearer", "near", "middle", "far", "farther"]
    assert set(ids(found, SPARSE)) == {"near", "middle", "far", "bare"}
    assert found.rejected == ()


def test_the_dense_floor_drops_the_far_and_counts_those_that_words_do_not_keep(
    store: MemoryStore, executor: ThreadPoolExecutor
) -> None:
    found = ask(store, executor, floor=0.3)
    assert ids(found, DENSE) == ["nearer", "near", "middle"]
    assert "far" in ids(found, SPARSE)  # found by its word, so it is not rejected
    (rejection,) = found.rejected
    assert (rejection.id, rejection.stage, rejection.reason, rejection.limit) == (
        "farther",
        "candidates",
        "dense_floor",
        0.3,
    )
    assert rejection.value == pytest.approx(0.05, abs=1e-3)


def test_min_similarity_holds_for_words_too_but_not_for_what_has_no_vector(
    store: MemoryStore, executor: ThreadPoolExecutor
) -> None:
    found = ask(store, executor, least=0.6)
    assert ids(found, DENSE) == ["nearer", "near"]
    assert set(ids(found, SPARSE)) == {"near", "bare"}
    assert {(rejection.id, rejection.reason) for rejection in found.rejected} == {
        ("middle", "min_similarity"),
        ("far", "min_similarity"),
        ("farther", "min_similarity"),
    }


def test_a_question_without_a_vector_is_answered_by_words(
    store: MemoryStore, executor: ThreadPoolExecutor
) -> None:
    found = ask(store, executor, vector=None, least=0.6)
    assert set(found.channels) == {SPARSE}
    assert len(ids(found, SPARSE)) == 4
    assert found.notes[0] == "no model"
    assert "min_similarity was not applied" in found.notes[1]


def test_one_channel_alone_asks_only_that(store: MemoryStore, executor: ThreadPoolExecutor) -> None:
    assert set(ask(store, executor, channels=(DENSE,)).channels) == {DENSE}
    words = ask(store, executor, channels=(SPARSE,))
    assert set(words.channels) == {SPARSE}
    assert words.vector is None


def test_the_low_of_a_full_list_is_its_last_score_and_of_a_short_one_the_least_there_is(
    store: MemoryStore, executor: ThreadPoolExecutor
) -> None:
    full = ask(store, executor, limit=2)
    assert full.cutoffs == {
        DENSE: full.channels[DENSE][-1].score,
        SPARSE: full.channels[SPARSE][-1].score,
    }
    short = ask(store, executor, limit=100)
    assert short.cutoffs == {DENSE: 0.3, SPARSE: 0.0}


def test_the_filter_reaches_both_channels(store: MemoryStore, executor: ThreadPoolExecutor) -> None:
    rare = node("rare", "apple of another kind", category="plan")
    store.insert([rare], [embedding(rare, at_cosine(0.31, "rare"))])
    found = ask(store, executor, limit=1, categories=("plan",))
    assert (ids(found, DENSE), ids(found, SPARSE)) == (["rare"], ["rare"])


def test_an_error_of_the_word_search_reaches_the_caller(
    store: MemoryStore, executor: ThreadPoolExecutor
) -> None:
    store.close()
    with pytest.raises(Exception, match="closed"):
        ask(store, executor)


def test_a_word_search_that_no_thread_has_begun_is_not_waited_for(
    store: MemoryStore, executor: ThreadPoolExecutor
) -> None:
    expected = ask(store, executor)
    release = threading.Event()
    busy = executor.submit(release.wait)
    try:
        assert ask(store, executor).channels == expected.channels  # would hang if it waited
    finally:
        release.set()
    assert busy.result()


def test_where_a_question_is_embedded_at_once_no_thread_is_begun(
    store: MemoryStore, executor: ThreadPoolExecutor
) -> None:
    expected = ask(store, executor)
    executor.shutdown()
    assert ask(store, executor, quick=True).channels == expected.channels
    with pytest.raises(RuntimeError, match="shutdown"):
        ask(store, executor)


def test_inside_a_transaction_both_channels_see_what_it_wrote(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    with closing(SqliteStore.open(tmp_path / "memory.clew", synchronous="OFF")) as store:
        store.activate(MODEL)
        with store.transaction():
            made = node("own", "an apple of its own")
            store.insert([made], [embedding(made, at_cosine(0.9, "own"))])
            inside = ask(store, executor)
        assert (ids(inside, DENSE), ids(inside, SPARSE)) == (["own"], ["own"])
        assert ids(ask(store, executor), SPARSE) == ["own"]


class Recording(SqliteStore):
    """Tells in which order it was asked."""

    def begin_dense(self, vector: Vectors, where: Filter, *, limit: int) -> Callable[[], Ranking]:
        self.asked = ["begun"]
        finish = super().begin_dense(vector, where, limit=limit)

        def finished() -> Ranking:
            self.asked.append("finished")
            return finish()

        return finished

    def sparse(self, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
        self.asked.append("words")
        return super().sparse(terms, where, limit=limit)


def test_words_are_looked_up_while_the_vectors_are_searched(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    with closing(Recording.open(tmp_path / "memory.clew", synchronous="OFF")) as store:
        store.activate(MODEL)
        made = node("near", "an apple")
        store.insert([made], [embedding(made, at_cosine(0.9, "near"))])
        found = ask(store, executor, quick=True)
        assert (ids(found, DENSE), ids(found, SPARSE)) == (["near"], ["near"])
        assert store.asked == ["begun", "words", "finished"]
