"""A transaction is all or nothing, in every channel, and nests."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

import threading

from clew.errors import StoreError
from clew.ports import ModelInfo, Sort, Store
from clew.testing.build import DIMENSION, MODEL, NOW, added, embedding, filled, node, raises, unit, where
from clew.types import Edge, Event, EventKind


class _StopError(Exception):
    """What the tests roll back with."""


class Transacting:
    """Transactions."""

    def test_a_rolled_back_transaction_leaves_nothing_in_any_channel(self, store: Store) -> None:
        filled(store, [node("kept", "apple pie")])
        before = _view(store)
        with raises(_StopError), store.transaction():
            _change_everything(store)
            assert _view(store) != before
            raise _StopError
        assert _view(store) == before
        assert store.verify() == ()

    def test_the_callers_own_error_leaves_a_transaction_as_it_was_raised(self, store: Store) -> None:
        for error in (FileNotFoundError("a file of the caller"), TimeoutError(), ValueError()):
            with raises(type(error)), store.transaction():
                store.insert([node("a")])
                raise error
        assert list(store.nodes()) == []

    def test_a_failed_insert_leaves_nothing_of_its_batch(self, store: Store) -> None:
        filled(store, [node("a", "apple")])
        before = _view(store)
        fresh = node("b", "apple")
        with raises(StoreError):
            store.insert([fresh, node("a", "apple")], [embedding(fresh)])
        assert _view(store) == before

    def test_writes_are_visible_inside_their_own_transaction(self, store: Store) -> None:
        store.activate(MODEL)
        with store.transaction():
            filled(store, [node("a", "apple")])
            assert _ids(store) == (["a"], ["a"], ["a"])
            store.update("a", archived=True)
            assert _ids(store) == ([], [], [])
        assert _ids(store) == ([], [], [])

    def test_a_nested_transaction_commits_with_the_outer_one(self, store: Store) -> None:
        with store.transaction():
            store.insert([node("a")])
            with store.transaction():
                store.insert([node("b")])
            store.insert([node("c")])
        assert [each.id for each in store.nodes()] == ["a", "b", "c"]

    def test_a_failing_outer_transaction_takes_the_nested_one_along(self, store: Store) -> None:
        with raises(_StopError), store.transaction():
            with store.transaction():
                store.insert([node("a")])
            raise _StopError
        assert list(store.nodes()) == []

    def test_a_failing_nested_transaction_undoes_only_its_own_part(self, store: Store) -> None:
        filled(store, [node("kept", "apple")])
        with store.transaction():
            added(store, [node("outer", "apple")])
            with raises(_StopError), store.transaction():
                added(store, [node("inner", "apple")])
                store.update("outer", archived=True)
                assert _ids(store) == (["inner", "kept"],) * 3
                raise _StopError
            assert _ids(store) == (["kept", "outer"],) * 3
            with raises(_StopError), store.transaction():
                _change_everything(store)
                raise _StopError
            added(store, [node("after", "apple")])
            assert _ids(store) == (["after", "kept", "outer"],) * 3
        assert _ids(store) == (["after", "kept", "outer"],) * 3
        assert store.verify() == ()

    def test_a_refused_write_inside_a_transaction_undoes_only_itself(self, store: Store) -> None:
        with store.transaction():
            store.insert([node("a")])
            with raises(StoreError):
                store.insert([node("b"), node("a")])
            store.insert([node("c")])
        assert [each.id for each in store.nodes()] == ["a", "c"]

    def test_threads_write_side_by_side_without_losing_a_write(self, store: Store) -> None:
        store.activate(MODEL)
        failures: list[BaseException] = []

        def write(writer: int) -> None:
            try:
                for i in range(20):
                    fresh = node(f"{writer}-{i:02}", "apple")
                    store.insert([fresh], [embedding(fresh)])
                    assert fresh.id in store.cosines(unit("apple"), [fresh.id])
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(store.sparse(["appl"], where(), limit=100)) == len(store.dense(unit("apple"), where(), limit=100)) == 80


def _change_everything(store: Store) -> None:
    fresh = node("fresh", "apple tart", idempotency_key="k")
    store.insert([fresh], [embedding(fresh)])
    store.update("kept", text="pear", title="apple", category="fact", tags=("t",))
    store.put([embedding(node("kept", "pear"))], MODEL)
    store.append([Event(node="kept", kind=EventKind.UPDATE, at=NOW)])
    store.touch(["kept"], NOW, min_interval_seconds=1)
    store.link([Edge(source="fresh", target="kept", kind="k", t_created=NOW)])
    store.activate(ModelInfo("other", DIMENSION))
    store.put([embedding(fresh)], ModelInfo("other", DIMENSION))
    store.delete(["kept"])


def _ids(store: Store) -> tuple[list[str], list[str], list[str]]:
    return (
        sorted(match.id for match in store.sparse(["appl"], where(), limit=10)),
        sorted(match.id for match in store.dense(unit("apple"), where(), limit=10)),
        sorted(each.id for each in store.listing(where(), sort=Sort.RECENT, limit=10)),
    )


def _view(store: Store) -> tuple[object, ...]:
    stats = store.stats()
    return (
        list(store.nodes()),
        store.sparse(["appl", "pear"], where(), limit=10),
        store.dense(unit("apple"), where(), limit=10),
        store.cosines(unit("pear"), ["kept", "fresh"]),
        store.listing(where(tags=("t",)), sort=Sort.POPULAR, limit=10),
        store.events("kept"),
        store.edges(["kept", "fresh"]),
        store.model(),
        store.find_key("default", "k"),
        {name: stats[name] for name in ("nodes", "live", "by_category", "by_space", "events", "edges", "vectors")},
    )
