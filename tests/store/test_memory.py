"""What is particular to the store in memory.

Everything it shares with others is in tests/conformance.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clew.errors import StoreError
from clew.ports import Store
from clew.store.filters import passes, same_json
from clew.store.memory import MemoryStore
from clew.testing import MODEL, filled, later, node, unit, where


def test_it_is_a_store() -> None:
    store: Store = MemoryStore()
    assert store.verify() == ()


def test_two_stores_share_nothing() -> None:
    first, second = MemoryStore(), MemoryStore()
    filled(first, [node("a")])
    assert list(second.nodes()) == []
    assert second.model() is None


def test_a_backup_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Export"):
        MemoryStore().backup(tmp_path / "copy")


def test_nodes_yields_what_was_there_when_it_was_called() -> None:
    store = MemoryStore()
    filled(store, [node("a"), node("b")])
    reading = store.nodes()
    store.delete(["b"])
    assert [each.id for each in reading] == ["a", "b"]


def test_every_method_of_a_closed_store_is_an_error() -> None:
    store = MemoryStore()
    store.close()
    calls: list[Callable[[], object]] = [
        lambda: store.get([]),
        store.nodes,
        store.stats,
        store.verify,
        store.model,
        lambda: store.activate(MODEL),
        lambda: store.sparse(["a"], where(), limit=1),
        lambda: store.dense(unit("a"), where(), limit=1),
        lambda: store.delete(["a"]),
        store.compact,
    ]
    for call in calls:
        with pytest.raises(StoreError, match="closed"):
            call()


@pytest.mark.parametrize(
    ("fields", "filter", "expected"),
    [
        ({}, where(), True),
        ({"space": "other"}, where(), False),
        ({"tags": ("a", "b")}, where(tags=("b",)), True),
        ({"tags": ("b",)}, where(tags=("a", "b")), False),
        ({"metadata": {"k": None}}, where(metadata={"k": None}), True),
        ({}, where(metadata={"k": None}), False),
        ({"metadata": {"k": True}}, where(metadata={"k": 1}), False),
        ({"t_valid": later(5)}, where(), True),
        ({"t_valid": later(5)}, where(as_of=later(4)), False),
        ({"t_invalid": later(5)}, where(as_of=later(5)), False),
        ({"t_expired": later(5)}, where(known_at=later(4)), True),
        ({"t_expired": later(5)}, where(known_at=later(5)), False),
        ({"archived": True}, where(archived=True), True),
        ({"archived": True}, where(), False),
        ({}, where(archived=True), True),
    ],
)
def test_a_filter_passes_what_it_names(
    fields: dict[str, object], filter: object, expected: bool
) -> None:
    assert passes(node("a", **fields), filter) is expected  # type: ignore[arg-type]


def test_json_values_are_equal_by_value_and_kind() -> None:
    assert same_json({"a": [1, 2.0, None, "x"]}, {"a": [1.0, 2, None, "x"]})
    assert not same_json([1], [True])
    assert not same_json({"a": 1}, {"a": 1, "b": 2})
    assert not same_json("1", 1)
    assert not same_json([1, 2], [1])
