"""`clew move`: a store moves between SQLite and PostgreSQL with everything it holds, as often as it is interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import clew
from clew.engine.moving import move
from clew.errors import InputError, StoreError
from clew.ports import Store
from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore
from clew.testing import node
from tests.conftest import Open
from tests.postgres_fixtures import Database


def _written(memory: clew.Clew) -> clew.Clew:
    memory.remember(
        "Ada Lovelace wrote the first program.", tags=["history"], idempotency_key="ada"
    )
    memory.remember(
        "Grace Hopper found a moth in the relay.", space="work", metadata={"year": 1947}
    )
    first = memory.remember("The office is in Paris, on the second floor.").id
    gone = memory.remember("A secret birthday party is planned for Tuesday.").id
    assert first is not None and gone is not None
    memory.supersede(first, "The office is in Berlin, on the second floor.")
    memory.forget([gone])
    memory.remember("Ada Lovelace wrote the first program.", idempotency_key="ada again")
    memory.store.keep("token", "t\0", {"a": 1})
    memory.recall("Who wrote the first program?")
    return memory


def _told(store: Store) -> list[Any]:
    return [store.remains(), list(store.nodes()), [store.events(each.id) for each in store.nodes()]]  # type: ignore[attr-defined]


def test_a_store_moves_to_postgres_and_back_with_everything(
    open_clew: Open, postgres: Database, tmp_path: Path
) -> None:
    with _written(open_clew()) as memory, open_clew(postgres.url) as other:
        done = move(memory.store, other.store)
        assert (done.nodes, done.written, done.tombstones, done.records) == (4, 4, 1, 1)
        assert _told(other.store) == _told(memory.store)
        again = move(memory.store, other.store)
        assert (again.written, again.digest) == (0, done.digest)
        question = "Who wrote the first program?"
        found, same = (each.recall(question, track=False) for each in (memory, other))
        assert [(hit.id, hit.score) for hit in found.hits] == [
            (hit.id, hit.score) for hit in same.hits
        ]
        back = SqliteStore.open(tmp_path / "back.clew")
        assert move(other.store, back).digest == done.digest
        assert _told(back) == _told(memory.store)
        assert back.verify() == other.store.verify() == ()
        back.close()


def test_an_interrupted_move_goes_on_where_it_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = SqliteStore.open(tmp_path / "one.clew"), SqliteStore.open(tmp_path / "other.clew")
    one.insert([node(f"n{number:04}", f"apple {number}") for number in range(1200)])
    insert, calls = other.insert, []

    def failing(*values: Any) -> None:
        calls.append(values)
        if len(calls) == 2:
            raise StoreError("the line is cut")
        insert(*values)

    monkeypatch.setattr(other, "insert", failing)
    with pytest.raises(StoreError, match="the line is cut"):
        move(one, other)
    assert (move(one, other).written, len(list(other.nodes()))) == (700, 1200)
    one.close()
    other.close()


def test_a_target_with_another_state_of_a_memory_is_refused(tmp_path: Path) -> None:
    one, other = SqliteStore.open(tmp_path / "one.clew"), SqliteStore.open(tmp_path / "other.clew")
    one.insert([node("a", "apple")])
    other.insert([node("a", "pear")])
    with pytest.raises(StoreError, match="another memory under the id a"):
        move(one, other)
    assert other.get(["a"])["a"].text == "pear"
    one.close()
    other.close()


def test_what_changes_during_a_move_is_found_by_the_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = SqliteStore.open(tmp_path / "one.clew"), SqliteStore.open(tmp_path / "other.clew")
    one.insert([node("a", "apple")])
    adopt = other.adopt

    def adopting(found: Any) -> None:
        adopt(found)
        one.update("a", importance=0.75)

    monkeypatch.setattr(other, "adopt", adopting)
    with pytest.raises(StoreError, match="does not hold what the source holds"):
        move(one, other)
    one.close()
    other.close()


def test_a_store_in_memory_cannot_be_moved() -> None:
    with pytest.raises(InputError, match="clew export"):
        move(MemoryStore(), MemoryStore())
