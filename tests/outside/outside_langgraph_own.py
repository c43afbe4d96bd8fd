"""What LangGraph's own tests leave out.

Time to live, large values, what outlives the process, and a store over a server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from outside_common import open_memory

from clew.integrations import langgraph as adapter
from clew.integrations.langgraph import ClewStore

NS = ("users", "dana")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    from datetime import UTC, datetime, timedelta

    class Clock(datetime):
        ahead = timedelta()

        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(2026, 3, 1, tzinfo=UTC) + cls.ahead

    monkeypatch.setattr(adapter, "datetime", Clock)
    return lambda minutes: setattr(Clock, "ahead", Clock.ahead + timedelta(minutes=minutes))


def test_an_item_is_gone_when_its_time_is_over(clock: Any) -> None:
    store = ClewStore(open_memory())
    store.put(NS, "a", {"text": "short lived"}, ttl=10)
    store.put(NS, "b", {"text": "long lived"})
    clock(11)
    assert store.get(NS, "a") is None
    assert [item.key for item in store.search(NS)] == ["b"]
    assert [item.key for item in store.search(NS, query="lived")] == ["b"]
    assert store.sweep_ttl() == 1
    assert [
        node.metadata["key"] for node in store.memory.recent(10, where={"space": "langgraph"})
    ] == ["b"]


def test_reading_refreshes_unless_asked_not_to(clock: Any) -> None:
    store = ClewStore(open_memory(), ttl={"default_ttl": 10.0})
    store.put(NS, "a", {"text": "kept alive"})
    clock(6)
    assert store.get(NS, "a", refresh_ttl=True) is not None
    clock(6)
    assert store.get(NS, "a", refresh_ttl=False) is not None
    clock(5)
    assert store.get(NS, "a") is None


def test_values_of_any_form_outlive_the_process(tmp_path: Path) -> None:
    value = {"list": [1, 2.5, None, True], "deep": {"text": "x" * 100_000}, "short": "ok"}
    with ClewStore(open_memory(tmp_path / "a.clew")) as store:
        store.put(NS, "big", value)
        created = store.get(NS, "big").created_at
    with ClewStore(open_memory(tmp_path / "a.clew")) as store:
        store.put(NS, "big", {**value, "n": 1})
        item = store.get(NS, "big")
        assert item.value == {**value, "n": 1}
        assert item.created_at == created


def test_all_texts_of_an_item_go_with_it() -> None:
    store = ClewStore(open_memory(), fields=["a", "b"])
    store.put(NS, "k", {"a": "the staging port", "b": "the harbour crane"})
    assert store.search(NS, query="harbour crane")[0].key == "k"
    store.put(NS, "k", {"a": "the staging port"})
    assert len(store.memory.recent(10, where={"space": "langgraph"})) == 1
    store.delete(NS, "k")
    assert store.memory.recent(10, where={"space": "langgraph"}) == ()
