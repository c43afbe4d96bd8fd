"""Verbatim memories under a key.

Stored exactly as given, replaced by the key, deleted without a trace.
"""

from __future__ import annotations

import pytest

import clew
from clew.errors import InputError, ProtectedError
from tests.conftest import Open

KEYED = {"verbatim": True, "on_duplicate": "replace"}


@pytest.mark.parametrize(
    "text", ["ok", "  two  spaces\n\n\n", "", "tab\tand\x07bell", "a" * 20_000, "…"]
)
def test_a_verbatim_text_is_returned_as_it_was_given(memory: clew.Clew, text: str) -> None:
    outcome = memory.remember(text, verbatim=True)
    assert outcome.outcome == "inserted", outcome
    found = memory.get(str(outcome.id))
    assert found is not None
    assert found.text == text
    assert memory.verify() == ()


def test_without_verbatim_the_same_texts_are_rejected(memory: clew.Clew) -> None:
    assert memory.remember("ok").outcome == "rejected"


def test_a_verbatim_text_that_is_too_long_is_rejected_and_said_so(memory: clew.Clew) -> None:
    outcome = memory.remember("a" * 1_000_001, verbatim=True)
    assert (outcome.outcome, outcome.rule, outcome.limit) == ("rejected", "too_long", 1_000_000)


@pytest.mark.parametrize("where", ["file", ":memory:"])
def test_a_memory_is_replaced_under_its_key(open_clew: Open, where: str) -> None:
    memory = open_clew(None if where == "file" else where)
    first = memory.remember(
        "The port is 5433", idempotency_key="port", verbatim=True, on_duplicate="replace"
    )
    second = memory.remember(
        "The port is 6543", idempotency_key="port", verbatim=True, on_duplicate="replace"
    )
    assert (first.outcome, second.outcome) == ("inserted", "inserted")
    found = memory.find("port")
    assert found is not None
    assert (found.id, found.text) == (second.id, "The port is 6543")
    assert memory.get(str(first.id)) is None
    assert [node.text for node in memory.recent(10)] == ["The port is 6543"]
    assert [hit.text for hit in memory.recall("port 5433").hits] == ["The port is 6543"]
    assert memory.verify() == ()


def test_the_last_of_a_batch_with_one_key_stays(memory: clew.Clew) -> None:
    offers = [{"text": f"version {number}", "idempotency_key": "a", **KEYED} for number in range(3)]
    outcomes = memory.remember_many(
        [*offers, {"text": "version 0", "idempotency_key": "b", **KEYED}]
    )
    assert [each.outcome for each in outcomes] == ["inserted"] * 4
    assert sorted(node.text for node in memory.recent(10)) == ["version 0", "version 2"]
    assert memory.verify() == ()


def test_equal_texts_under_two_keys_are_two_memories(memory: clew.Clew) -> None:
    memory.remember_many(
        [{"text": "the same text", "idempotency_key": key, **KEYED} for key in ("a", "b")]
    )
    assert len(memory.recent(10)) == 2


def test_a_key_belongs_to_one_space(memory: clew.Clew) -> None:
    memory.remember("one", space="red", idempotency_key="k", verbatim=True)
    assert memory.find("k") is None
    found = memory.find("k", space="red")
    assert found is not None
    assert found.text == "one"


def test_a_protected_memory_is_not_replaced(memory: clew.Clew) -> None:
    first = memory.remember("keep this one", idempotency_key="k", verbatim=True)
    memory.protect(str(first.id))
    with pytest.raises(ProtectedError, match="protected"):
        memory.remember("instead", idempotency_key="k", verbatim=True, on_duplicate="replace")
    assert memory.get(str(first.id)) is not None


def test_replace_needs_a_key(memory: clew.Clew) -> None:
    with pytest.raises(InputError, match="idempotency_key"):
        memory.remember("text without a key", on_duplicate="replace")


def test_secrets_leave_a_verbatim_text_too(memory: clew.Clew) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    outcome = memory.remember(f"token {secret}", verbatim=True)
    found = memory.get(str(outcome.id))
    assert found is not None
    assert secret not in found.text
    assert outcome.notes
