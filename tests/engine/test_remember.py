"""What becomes of what is offered."""

from __future__ import annotations

from typing import Any

import pytest

import clew
from clew.errors import DuplicateError, InputError
from clew.models.vectors import HashingEmbedder
from clew.testing import NOW, FixedClock, later
from clew.types import EventKind, OutcomeKind, Stability
from tests.conftest import Open

POSTGRES = "The staging server runs Postgres 16 in the Frankfurt region"
SAME_BUT_FOR_A_WORD = "Staging server runs Postgres 16 in the Frankfurt region!"
LIMIT = HashingEmbedder().background.passage_cosine_at(0.8)


def test_what_is_remembered_is_recalled_with_every_field(memory: clew.Clew) -> None:
    fields: dict[str, Any] = {
        "category": "fact",
        "trigger": "problem-solution",
        "importance": 0.9,
        "title": "Staging database",
        "space": "work",
        "stability": "dynamic",
        "valid_from": "2026-01-01",
        "valid_to": "2027-01-01",
        "tags": ["db", "ops"],
        "metadata": {"ticket": 7, "nested": {"a": [1, None]}},
        "source": "chat:42",
        "keywords": ["postgres"],
        "idempotency_key": "k-1",
    }
    outcome = memory.remember(POSTGRES, **fields)
    assert (outcome.outcome, outcome.rule, outcome.canonical_id, outcome.notes) == (
        OutcomeKind.INSERTED,
        None,
        None,
        (),
    )
    (hit,) = memory.recall("Which database runs on staging?", where={"space": "work"}).hits
    node = hit.node
    assert node is not None
    assert node == memory.get(str(outcome.id))
    assert (node.id, node.text, node.title, node.category, node.trigger) == (
        outcome.id,
        POSTGRES,
        "Staging database",
        "fact",
        "problem-solution",
    )
    assert (node.importance, node.space, node.stability) == (0.9, "work", Stability.DYNAMIC)
    assert (node.t_created, node.t_valid.isoformat(), node.t_invalid) == (
        NOW,
        "2026-01-01T00:00:00+00:00",
        later(0).replace(year=2027, month=1, day=1, hour=0),
    )
    assert (node.tags, node.keywords, node.source, node.idempotency_key) == (
        ("db", "ops"),
        ("postgres",),
        "chat:42",
        "k-1",
    )
    assert node.metadata == {"ticket": 7, "nested": {"a": [1, None]}}


@pytest.mark.parametrize(
    ("text", "rule", "value", "limit"),
    [
        ("", "empty", 0, 12),
        (" \t\n ", "empty", 0, 12),
        ("too short", "too_short", 9, 12),
        ("x" * 5000, "too_long", 5000, 4000),
        ("ok, thanks a lot!", "chatter", "ok, thanks a lot!", "a word that is not chatter"),
        (
            "........................",
            "chatter",
            "........................",
            "a word that is not chatter",
        ),
        ("asdf asdf asdf asdf", "repeated", "asdf", "not 3 times the same and nothing else"),
    ],
)
def test_a_rejection_says_rule_value_and_limit_and_is_counted(
    memory: clew.Clew, text: str, rule: str, value: object, limit: object
) -> None:
    outcome = memory.remember(text)
    assert (outcome.outcome, outcome.id, outcome.canonical_id) == (OutcomeKind.REJECTED, None, None)
    assert (outcome.rule, outcome.value, outcome.limit) == (rule, value, limit)
    assert memory.stats()["rejected"] == {rule: 1}
    assert memory.stats()["nodes"] == 0


def test_the_same_text_again_reinforces_the_first(memory: clew.Clew) -> None:
    first = memory.remember(POSTGRES)
    again = memory.remember(f"  {POSTGRES.replace(' ', '   ')} \n", source="chat:2")
    assert (again.outcome, again.rule, again.id, again.canonical_id) == (
        OutcomeKind.EXACT_DUPLICATE,
        "same_text",
        first.id,
        first.id,
    )
    assert again.value == getattr(memory.get(str(first.id)), "content_hash", None)
    assert memory.stats()["nodes"] == 1
    assert [event.kind for event in memory.history(str(first.id))] == [
        EventKind.ADD,
        EventKind.REINFORCE_EXACT,
    ]
    assert memory.history(str(first.id))[1].detail == {"source": "chat:2"}


def test_nearly_the_same_text_reinforces_and_keeps_the_wording(memory: clew.Clew) -> None:
    first = memory.remember(POSTGRES)
    near = memory.remember(SAME_BUT_FOR_A_WORD)
    assert (near.outcome, near.rule, near.limit, near.canonical_id) == (
        OutcomeKind.NEAR_DUPLICATE,
        "similar_text",
        LIMIT,
        first.id,
    )
    assert isinstance(near.value, float)
    assert near.value >= LIMIT
    last = memory.history(str(first.id))[-1]
    assert (last.kind, last.detail["text"], last.detail["cosine"]) == (
        EventKind.REINFORCE_NEAR,
        SAME_BUT_FOR_A_WORD,
        near.value,
    )


def test_near_duplicates_are_kept_when_asked(memory: clew.Clew) -> None:
    memory.remember(POSTGRES)
    assert memory.remember(SAME_BUT_FOR_A_WORD, near=False).outcome == OutcomeKind.INSERTED


def test_a_near_duplicate_in_another_space_or_forgotten_is_none(memory: clew.Clew) -> None:
    first = memory.remember(POSTGRES)
    assert memory.remember(SAME_BUT_FOR_A_WORD, space="other").outcome == OutcomeKind.INSERTED
    memory.forget(str(first.id))
    assert memory.remember(SAME_BUT_FOR_A_WORD).outcome == OutcomeKind.INSERTED
    assert memory.remember(POSTGRES, near=False, force=True).outcome == OutcomeKind.INSERTED


def test_the_threshold_of_a_category_decides(open_clew: Open) -> None:
    memory = open_clew(duplicates={"near_threshold_by_category": {"fact": 0.999}})
    memory.remember(POSTGRES, category="fact")
    assert memory.remember(SAME_BUT_FOR_A_WORD, category="fact").outcome == OutcomeKind.INSERTED
    assert (
        memory.remember(SAME_BUT_FOR_A_WORD + "!", category="note").outcome
        == OutcomeKind.NEAR_DUPLICATE
    )


def test_on_duplicate_inserts_or_raises_as_asked(memory: clew.Clew) -> None:
    first = memory.remember(POSTGRES)
    assert memory.remember(POSTGRES, on_duplicate="insert").outcome == OutcomeKind.INSERTED
    with pytest.raises(DuplicateError) as caught:
        memory.remember(POSTGRES, on_duplicate="error")
    assert caught.value.facts["canonical_id"] == first.id
    assert memory.stats()["nodes"] == 2


def test_an_idempotency_key_makes_a_retry_harmless(memory: clew.Clew) -> None:
    first = memory.remember(POSTGRES, idempotency_key="k")
    retry = memory.remember("Another text altogether, by mistake", idempotency_key="k")
    assert (retry.outcome, retry.rule, retry.value, retry.id) == (
        OutcomeKind.EXACT_DUPLICATE,
        "idempotency_key",
        "k",
        first.id,
    )
    assert "differs" in retry.notes[0]
    assert (
        memory.remember(
            "Another text altogether, by mistake", idempotency_key="k", space="other"
        ).outcome
        == OutcomeKind.INSERTED
    )
    assert [event.kind for event in memory.history(str(first.id))] == [EventKind.ADD]


def test_many_memories_come_back_in_their_order_whatever_became_of_them(open_clew: Open) -> None:
    memory = open_clew(memory={"batch_size": 3})
    progress: list[tuple[str, int, int | None]] = []
    offered: list[Any] = [
        POSTGRES,
        "ok",
        {"text": "The deploy key expires on Friday", "category": "fact", "tags": ["ops"]},
        POSTGRES,
        {"text": "Deploys happen from the main branch only", "idempotency_key": "k"},
        {"text": "Something else under the same key", "idempotency_key": "k"},
        "The office is closed on public holidays",
    ]
    outcomes = memory.remember_many(
        iter(offered), space="team", progress=lambda *step: progress.append(step)
    )
    assert [outcome.outcome.value for outcome in outcomes] == [
        "inserted",
        "rejected",
        "inserted",
        "exact_duplicate",
        "inserted",
        "exact_duplicate",
        "inserted",
    ]
    assert outcomes[3].canonical_id == outcomes[0].id
    assert outcomes[5].canonical_id == outcomes[4].id
    assert progress == [("remembering", 3, None), ("remembering", 6, None), ("remembering", 7, 7)]
    assert memory.stats()["by_space"] == {"team": 4}
    kept = memory.get(str(outcomes[2].id))
    assert kept is not None
    assert (kept.category, kept.tags, kept.space) == ("fact", ("ops",), "team")


def test_duplicates_inside_one_batch_are_found(memory: clew.Clew) -> None:
    outcomes = memory.remember_many([POSTGRES, POSTGRES, SAME_BUT_FOR_A_WORD])
    assert [outcome.outcome.value for outcome in outcomes] == [
        "inserted",
        "exact_duplicate",
        "near_duplicate",
    ]
    assert {outcome.canonical_id for outcome in outcomes[1:]} == {outcomes[0].id}


def test_a_bad_memory_in_the_middle_leaves_the_batches_before_it(open_clew: Open) -> None:
    memory = open_clew(memory={"batch_size": 2})
    offered: list[Any] = [f"Fact number {n} concerns topic {n}" for n in range(4)] + [
        {"no": "text"}
    ]
    with pytest.raises(InputError, match=r"memories\[4\]"):
        memory.remember_many(offered)
    assert memory.stats()["nodes"] == 4


def test_nothing_to_remember_is_fine(memory: clew.Clew) -> None:
    assert memory.remember_many([]) == []


def test_a_memory_that_ended_makes_way_for_the_same_claim_again(
    memory: clew.Clew, clock: FixedClock
) -> None:
    memory.remember(POSTGRES, valid_from="2025-01-01", valid_to="2025-02-01")
    clock.advance(days=1)
    assert memory.remember(POSTGRES).outcome == OutcomeKind.INSERTED


def test_an_unknown_field_is_named(memory: clew.Clew) -> None:
    with pytest.raises(InputError, match="colour"):
        memory.remember(POSTGRES, colour="red")  # type: ignore[call-arg]
