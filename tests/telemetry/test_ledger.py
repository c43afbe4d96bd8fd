"""What was spent is known: of each answer, and of the process."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import clew
from clew.engine.telemetry import Operation, Watch
from clew.errors import InputError
from clew.text.words import token_estimate
from tests.conftest import Open
from tests.telemetry.conftest import TEXTS


def test_an_answer_tells_its_calls_tokens_and_milliseconds(open_clew: Open) -> None:
    memory = open_clew()
    memory.remember_many(TEXTS)
    answer = memory.recall("staging database port")
    stats = answer.stats
    assert (
        stats["tokens_returned"]
        == sum(token_estimate(hit.context or hit.text) for hit in answer.hits)
        > 0
    )
    assert stats["embedding_calls"] == 1
    assert stats["milliseconds"] > 0
    assert memory.recall("staging database port", recipe="lexical").stats["embedding_calls"] == 0


def test_the_tokens_told_are_those_that_the_budget_counts(open_clew: Open) -> None:
    memory = open_clew()
    memory.remember_many(TEXTS)
    whole = memory.recall("staging database summaries", min_similarity=-1.0).stats[
        "tokens_returned"
    ]
    assert (
        memory.recall("staging database summaries", min_similarity=-1.0, budget_tokens=whole).stats[
            "tokens_returned"
        ]
        == whole
    )
    assert (
        memory.recall(
            "staging database summaries", min_similarity=-1.0, budget_tokens=whole - 1
        ).stats["tokens_returned"]
        < whole
    )


def test_totals_are_the_sums_over_all_answers_and_writes(open_clew: Open) -> None:
    memory = open_clew()
    outcomes = memory.remember_many([*TEXTS, "ok", TEXTS[0]])
    memory.forget(str(outcomes[1].id))
    answers = [memory.recall(question) for question in ("staging port", "zebra", "5433")]
    with pytest.raises(InputError):
        memory.recall("")
    ledger = memory.stats()["ledger"]
    assert ledger["recalls"] == 3
    assert ledger["nothing_relevant"] == sum(answer.nothing_relevant for answer in answers)
    texts = [hit.text for answer in answers for hit in answer.hits]
    assert ledger["tokens_returned"] == sum(map(len, texts)) // 4, (
        "about; an answer's own stats are counted as its budget is"
    )
    assert ledger["errors"] == 1
    assert ledger["writes"] == {"exact_duplicate": 1, "forget": 1, "inserted": 2, "rejected": 1}
    assert ledger["embedding_calls"] == 1 + 3  # one for the batch, one for each question
    assert ledger["texts_embedded"] == 2 + 3
    assert ledger["recall_milliseconds"] >= sum(answer.stats["milliseconds"] for answer in answers)
    assert ledger["telemetry_failure"] is None


def test_the_counts_of_one_space_hold_nothing_of_the_process(open_clew: Open) -> None:
    memory = open_clew()
    memory.remember(TEXTS[0])
    assert "ledger" not in memory.stats(space="default")


def test_many_threads_lose_no_count(open_clew: Open) -> None:
    memory = open_clew()
    memory.remember_many(TEXTS)
    answer = memory.recall("staging database")
    totals = _hammered(Watch(), answer)
    size = sum(len(hit.text) for hit in answer.hits)
    assert (totals["recalls"], totals["embedding_calls"], totals["tokens_returned"]) == (
        800,
        800,
        800 * size // 4,
    )


def _hammered(watch: Watch, answer: clew.Recall) -> dict[str, Any]:
    def work() -> None:
        for _ in range(200):
            watch.over("recall", answer, 0.001)
            watch.embedded("query", 1, 0.001)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return watch.totals()


class Broken:
    """A telemetry that fails at everything but closing."""

    def listens(self, *, failed: bool) -> bool:
        return True

    def record(self, done: Operation) -> None:
        raise RuntimeError("the collector's library is broken")

    def embedded(self, role: str, texts: int, seconds: float) -> None:
        raise RuntimeError("as broken")

    def close(self) -> None:
        pass


def test_telemetry_that_fails_costs_no_answer_and_is_told(open_clew: Open) -> None:
    kind = open_clew()
    memory = clew.Clew(
        store=kind.store,
        embedder=None,
        settings=kind.settings,
        clock=kind.now,
        owns_store=False,
        telemetry=Broken(),
    )
    assert memory.remember(TEXTS[0]).id
    assert memory.recall("staging port").hits
    assert "library is broken" in memory.stats()["ledger"]["telemetry_failure"]
    memory.close()


def test_a_variant_tells_the_same_telemetry_and_leaves_it_open(open_clew: Open) -> None:
    memory = open_clew(telemetry={"enabled": True})
    with memory.variant(**{"recall.k": 3}) as other:
        assert other.watch.telemetry is memory.watch.telemetry
    assert memory.recall("staging port").id
