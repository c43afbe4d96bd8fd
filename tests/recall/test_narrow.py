"""Staged search: sections first, then the chunks inside them; memories always.

Said where there are no sections.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import clew
from clew.search.candidates import FLAT, MAX_SECTIONS, Narrow
from clew.search.state import QueryVectors, Question, Recall
from clew.settings import Weights
from clew.store.memory import MemoryStore
from clew.testing import FixedClock, node, where
from clew.text.words import terms
from clew.types import Kind


def unable(text: str) -> QueryVectors:
    return QueryVectors(None, ("there is no model",))


def asked(text: str) -> Recall:
    question = Question(
        text=text, k=5, where=where(), weights=Weights(1, 0, 0, 0), recipe="staged", preset="custom"
    )
    return Recall(question=question, terms=tuple(terms(text)))


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.insert([node("d", "tide", kind=Kind.DOCUMENT)])
    named = [
        node(f"s{n}", f"tide {'berth ' * n}", kind=Kind.SECTION, parent="d", root="d", position=n)
        for n in range(MAX_SECTIONS + 3)
    ]
    store.insert(named)
    return store


def test_only_the_best_sections_are_looked_into(store: MemoryStore) -> None:
    answer = Narrow(store=store, embed=unable)(asked("berth"))
    assert len(answer.question.where.within) == MAX_SECTIONS
    assert "s0" not in answer.question.where.within
    assert answer.notes == ("there is no model",)


def test_where_no_section_answers_only_what_stands_in_none_is_seen(store: MemoryStore) -> None:
    answer = Narrow(store=store, embed=unable)(asked("unheard"))
    assert answer.question.where.within == ("",)


def test_a_store_without_sections_is_searched_at_once_and_the_answer_says_so() -> None:
    recall = asked("berth")
    answer = Narrow(store=MemoryStore(), embed=unable)(recall)
    assert (answer.question, answer.notes) == (recall.question, (FLAT,))


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        text = "\n\n".join(
            f"## Part {n}\n\n" + " ".join(f"Berth {n} has bollard {i}." for i in range(200))
            for n in range(MAX_SECTIONS + 4)
        )
        memory.import_data(text, name="harbour.md")
        yield memory


def test_staged_hits_are_of_the_best_section_and_of_memories(memory: clew.Clew) -> None:
    kept = memory.remember("Berth 2 was painted green by Ada last spring")
    answer = memory.recall("Berth 2 painted green", recipe="staged", k=50)
    assert kept.id in [hit.id for hit in answer.hits]
    parents = {hit.node.parent for hit in answer.hits if hit.node and hit.node.kind is Kind.CHUNK}
    assert 0 < len(parents) <= MAX_SECTIONS
    flat = memory.recall("Berth 2 painted green", recipe="balanced", k=50)
    assert (
        len({hit.node.parent for hit in flat.hits if hit.node and hit.node.kind is Kind.CHUNK}) > 1
    )


def test_the_question_is_embedded_once(memory: clew.Clew) -> None:
    asked_for: list[str] = []
    genuine = memory._vectors.query

    def counted(text: str) -> QueryVectors:
        asked_for.append(text)
        return genuine(text)

    memory._vectors.query = counted  # type: ignore[method-assign]
    memory.recall("Berth 2", recipe="staged")
    assert asked_for == ["Berth 2"]
