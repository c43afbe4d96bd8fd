"""A reranker reads the best hits beside the question.

It has a share in the order, never the only word, and never costs an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

import clew
from clew.errors import ModelError
from clew.ports import Reranker
from clew.search.pack import Pack
from clew.search.rerank import RERANK, Rerank, add_rerank_scores
from clew.search.score import total
from clew.search.state import Component, Hit, Recall
from clew.testing import FixedClock

TEXTS = (
    "The harbour office opens at seven in the morning.",
    "The harbour office was painted blue in the spring.",
    "The harbour office phone rings at the gate house.",
    "Nobody sails in the harbour during the storm season.",
)
ASKED = "when does the harbour office open?"


class Wordy:
    """Finds that the longest text answers best."""

    id = "wordy@1"

    def __init__(self) -> None:
        self.read: list[tuple[str, list[str]]] = []

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        self.read.append((question, list(texts)))
        return [float(len(text)) for text in texts]


class Backwards(Wordy):
    """Finds that the last of those it is shown answers best."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        super().score(question, texts)
        return [float(at) for at in range(len(texts))]


class Broken(Wordy):
    """Cannot be loaded."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        raise ModelError("its file is damaged. Check it with: clew models verify")


class Unreachable(Wordy):
    """Asks a server that is not there."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        raise ConnectionError("nobody answers")


def opened(reranker: Reranker | None, **settings: Any) -> clew.Clew:
    chosen: dict[str, Any] = {"model.embedder": "none", **settings}
    memory = clew.open(":memory:", reranker=reranker, clock=FixedClock(), **chosen)
    for at, text in enumerate(TEXTS):
        memory.remember(text, title="Harbour" if at == 3 else "")
    return memory


def asked(memory: clew.Clew, **options: Any) -> Recall:
    return memory.recall(ASKED, recipe="reranked", track=False, **options)


def order(answer: Recall) -> list[str]:
    return [hit.text for hit in answer.hits]


def test_it_reads_question_and_texts_with_their_titles_best_first() -> None:
    reranker = Wordy()
    with opened(reranker) as memory:
        plain, answer = memory.recall(ASKED, track=False), asked(memory)
        [(question, texts)] = reranker.read
        assert question == ASKED
        assert texts == [f"Harbour\n{text}" if text == TEXTS[3] else text for text in order(plain)]
        assert answer.reranked == answer.stats["reranked"] == len(TEXTS)


def test_what_it_says_is_a_component_and_the_components_still_add_up() -> None:
    with opened(Wordy()) as memory:
        for hit in asked(memory).hits:
            assert total(hit.components) == hit.score
            assert 0.0 <= hit.components[RERANK].value <= 1.0
            assert hit.components[RERANK].weight > 0
            assert f"{RERANK} 0." in hit.explanation or not hit.components[RERANK].contribution


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.9])
def test_the_order_is_by_both_scales_in_their_shares(weight: float) -> None:
    with opened(Backwards(), **{"rerank.weight": weight}) as memory:
        plain = memory.recall(ASKED, track=False).hits
        own = [(hit.score - plain[-1].score) / (plain[0].score - plain[-1].score) for hit in plain]
        read = [at / (len(plain) - 1) for at in range(len(plain))]
        both = {
            hit.text: (1 - weight) * mine + weight * its
            for hit, mine, its in zip(plain, own, read, strict=True)
        }
        found = order(asked(memory))
        assert [both[text] for text in found] == pytest.approx(sorted(both.values(), reverse=True))


def test_hits_beyond_its_depth_never_overtake_those_it_has_read() -> None:
    with opened(Backwards(), **{"rerank.depth": 2, "rerank.weight": 0.9}) as memory:
        plain, found = order(memory.recall(ASKED, track=False)), order(asked(memory))
        assert set(found[:2]) == set(plain[:2])
        assert found[2:] == plain[2:]


def test_without_a_weight_or_in_other_recipes_it_is_not_asked() -> None:
    reranker = Wordy()
    with opened(reranker) as memory:
        memory.recall(ASKED, track=False)
        asked(memory.variant(**{"rerank.weight": 0}))
        assert reranker.read == []
        memory.variant(**{"rerank.always": True}).recall(ASKED, track=False)
        assert len(reranker.read) == 1
        memory.variant(**{"rerank.always": True}).recall(ASKED, recipe="lexical", track=False)
        assert len(reranker.read) == 1


def nonsense(scores: Sequence[float]) -> Callable[[], Reranker]:
    class Nonsense(Wordy):
        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            return list(scores)

    return Nonsense


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (Broken, "its file is damaged"),
        (nonsense([1.0]), "1 scores for 4 texts"),
        (nonsense([1.0, 2.0, 3.0, float("nan")]), "no number"),
        (nonsense([-1.7e308, 1.7e308, 0.0, 5.0]), "no number"),
        (nonsense([None] * 4), "TypeError"),  # type: ignore[list-item]
        (Unreachable, "ConnectionError: nobody answers"),
    ],
)
def test_one_that_fails_costs_its_share_and_is_reported(
    make: Callable[[], Reranker], why: str
) -> None:
    with opened(make()) as memory:
        answer = asked(memory)
        assert order(answer) == order(memory.recall(ASKED, track=False))
        assert answer.reranked == 0
        assert any(note.startswith("Not reranked") and why in note for note in answer.notes)


def test_a_model_that_is_not_here_is_named_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("CLEW_MODELS", str(tmp_path))
    with opened(None) as memory:
        [note] = [note for note in asked(memory).notes if note.startswith("Not reranked")]
        assert "clew models pull ms-marco-minilm" in note


@pytest.mark.parametrize("model", ["nonsense", "arctic-embed-s", "onnx:/nowhere", "ollama:x"])
def test_a_setting_that_names_no_reranker_costs_no_answer(model: str) -> None:
    with opened(None, **{"rerank.model": model, "rerank.always": True}) as memory:
        answer = memory.recall(ASKED, track=False)
        assert len(answer.hits) == len(TEXTS)
        assert any(note.startswith("Not reranked") for note in answer.notes)


def test_none_means_none() -> None:
    with opened(None, **{"rerank.model": "none"}) as memory:
        assert "Not reranked: rerank.model is 'none'." in asked(memory).notes


def test_scores_that_are_all_alike_move_nothing() -> None:
    with opened(nonsense([2.0] * len(TEXTS))()) as memory:
        answer = asked(memory)
        assert order(answer) == order(memory.recall(ASKED, track=False))
        assert answer.reranked == len(TEXTS)


def test_where_all_are_worth_the_same_reading_tells_them_apart() -> None:
    hits = [Hit(id, 0.5, {}, {"semantic": Component(0.5, 1.0)}) for id in "abc"]
    assert [
        id
        for id, _ in sorted(
            add_rerank_scores(hits, [1.0, 3.0, 2.0], weight=0.3).items(),
            key=lambda item: -item[1].score,
        )
    ] == [
        "b",
        "c",
        "a",
    ]


def test_what_is_gone_meanwhile_is_not_read() -> None:
    reranker = Wordy()
    with opened(reranker) as memory:
        ranked = (
            memory.recipe("balanced")
            .without(Pack)
            .run(asked(memory.variant(**{"rerank.weight": 0})))
        )
        stage = next(
            stage for stage in memory.recipe("reranked").stages if isinstance(stage, Rerank)
        )
        with opened(None) as other:  # whose store has none of them
            assert replace(stage, store=other.store)(replace(ranked, nodes={})).hits == ranked.hits
        assert reranker.read == []


def test_an_empty_store_and_a_single_memory_need_no_reading() -> None:
    reranker = Wordy()
    with clew.open(":memory:", reranker=reranker, model={"embedder": "none"}) as memory:
        assert memory.recall(ASKED, recipe="reranked").hits == ()
        memory.remember(TEXTS[0])
        assert order(memory.recall(ASKED, recipe="reranked")) == [TEXTS[0]]
        assert reranker.read == []


def test_why_and_replay_read_again_and_agree() -> None:
    with opened(Backwards(), **{"rerank.weight": 0.8}) as memory:
        answer = asked(memory)
        best = answer.hits[0]
        why = memory.why(ASKED, best.id, recipe="reranked")
        assert why.rank == 1
        assert why.hit is not None
        assert why.hit.score == best.score
        assert memory.replay(memory.trace(answer)).identical


def test_the_ledger_counts_what_was_read() -> None:
    with opened(Wordy()) as memory:
        asked(memory)
        assert memory.stats()["ledger"]["texts_reranked"] == len(TEXTS)
