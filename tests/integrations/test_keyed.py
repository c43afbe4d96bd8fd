"""What the adapters are built on needs no framework: texts under keys, and the two tools."""

from __future__ import annotations

import inspect

import pytest

import clew
from clew.integrations.keyed import Entry, KeyedMemories, key_of, own_metadata
from clew.integrations.tools import DATA, NOTHING, memory_tools


@pytest.fixture
def kept(memory: clew.Clew) -> KeyedMemories:
    return KeyedMemories(memory, space="adapter", collection="test")


@pytest.mark.parametrize(
    "key", ["a", "", "two  spaces", "x" * 5000, "/memories/ä.md", "a\nb", '["a", "b"]']
)
def test_a_text_comes_back_under_any_key(kept: KeyedMemories, key: str) -> None:
    kept.put([Entry(key, "ok\n\n", {"n": 1, "deep": {"list": [None, 1.5]}})])
    found = kept.get(key)
    assert found is not None
    assert (found.text, key_of(found), own_metadata(found)) == (
        "ok\n\n",
        key,
        {"n": 1, "deep": {"list": [None, 1.5]}},
    )


def test_keys_that_differ_in_spaces_are_two(kept: KeyedMemories) -> None:
    kept.put([Entry("a b", "one"), Entry("a  b", "two")])
    assert {node.text for node in kept.list()} == {"one", "two"}


def test_a_text_is_replaced_and_deleted(kept: KeyedMemories) -> None:
    kept.put([Entry("k", "first")])
    kept.put([Entry("k", "second")])
    assert [node.text for node in kept.list()] == ["second"]
    assert kept.delete(["k", "unknown"]) == 1
    assert kept.get("k") is None
    kept.put([Entry("k", "second")])
    assert kept.get("k") is not None, "a deleted text may be put again"


def test_collections_and_spaces_do_not_see_each_other(
    memory: clew.Clew, kept: KeyedMemories
) -> None:
    others = [
        KeyedMemories(memory, space="adapter", collection="other"),
        KeyedMemories(memory, space="else", collection="test"),
    ]
    kept.put([Entry("k", "the staging port")])
    for other in others:
        assert other.get("k") is None
        assert list(other.list()) == []
        assert not other.search("staging port", k=5)
    assert [hit.text for hit in kept.search("staging port", k=5)] == ["the staging port"]


def test_a_list_goes_over_its_pages(memory: clew.Clew, kept: KeyedMemories) -> None:
    kept.put(
        Entry(f"k{number}", f"text {number}", {"even": number % 2 == 0}) for number in range(1100)
    )
    assert len({node.id for node in kept.list()}) == 1100
    assert sum(1 for _ in kept.list({"even": True})) == 550


def test_metadata_may_be_large_and_a_text_that_is_too_long_is_said_so(kept: KeyedMemories) -> None:
    kept.put([Entry("k", "text", {"value": "x" * 200_000})])
    found = kept.get("k")
    assert found is not None
    assert len(found.metadata["value"]) == 200_000
    with pytest.raises(clew.ClewError, match="too_long"):
        kept.put([Entry("long", "x" * 1_000_001)])


def test_the_tools_remember_and_recall(memory: clew.Clew) -> None:
    remember, recall = memory_tools(memory, space="agent")
    assert recall("anything") == NOTHING
    assert remember("The staging database listens on port 5433") == "inserted"
    assert remember("ok") == "rejected (chatter)"
    told = recall("which port does the staging database use")
    assert told.splitlines()[0] == DATA
    assert told.endswith("The staging database listens on port 5433")
    assert "Args:" in str(inspect.getdoc(remember))
