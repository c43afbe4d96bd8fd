"""Events are kept in order and outlive their node; accesses are damped; edges hang on nodes."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

from clew.errors import NotFoundError, StoreError
from clew.ports import ModelInfo, Sort, Store
from clew.testing.build import (
    DIMENSION,
    MODEL,
    NOW,
    added,
    embedding,
    filled,
    later,
    node,
    raises,
    unit,
    where,
)
from clew.types import Edge, Event, EventKind

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


class Logging:
    """Events, accesses and edges."""

    def test_events_come_back_oldest_first_with_their_detail(self, store: Store) -> None:
        store.insert([node("a"), node("b")])
        first = Event(node="a", kind=EventKind.ADD, at=NOW, detail={"why": ["é", 1, None]})
        second = Event(node="a", kind=EventKind.UPDATE, at=later(1))
        store.append([first, Event(node="b", kind=EventKind.ADD, at=NOW)])
        store.append([second])
        assert store.events("a") == (first, second)
        assert store.events("missing") == ()

    def test_events_written_with_their_nodes_come_before_all_that_follows(
        self, store: Store
    ) -> None:
        events = [
            Event(
                node="a",
                kind=EventKind.ADD,
                at=later(2),
                detail={"source": "inbox", "questions": ["é?", 1]},
            ),
            Event(node="b", kind=EventKind.UPDATE, at=NOW),
            # before the first by its clock, which may have been turned back
            Event(node="a", kind=EventKind.UPDATE, at=NOW),
            Event(node="b", kind=EventKind.ADD, at=NOW),
            Event(node="a", kind=EventKind.ADD, at=NOW, detail={"again": True}),
        ]
        store.insert([node("a"), node("b"), node("c")], events=events)
        store.update("a", t_created=later(9), source="elsewhere")
        store.append([Event(node="a", kind=EventKind.ACCESS, at=later(-1))])
        assert store.events("a") == (
            events[0],
            events[2],
            events[4],
            Event(node="a", kind=EventKind.ACCESS, at=later(-1)),
        )
        assert store.events("b") == (events[1], events[3])
        assert store.events("c") == ()
        assert (
            store.stats()["by_event"]
            == store.stats("default")["by_event"]
            == {"ACCESS": 1, "ADD": 3, "UPDATE": 2}
        )

    def test_what_was_forgotten_is_told_of_before_what_is_added_under_its_id(
        self, store: Store
    ) -> None:
        added = [Event(node="a", kind=EventKind.ADD, at=later(day)) for day in (0, 2)]
        forgotten, seen = (
            Event(node="a", kind=EventKind.FORGET, at=later(1)),
            Event(node="a", kind=EventKind.ACCESS, at=later(3)),
        )
        store.insert([node("a")], events=added[:1])
        store.delete(["a"])
        assert store.events("a") == ()
        store.append([forgotten])
        store.insert([node("a")], events=added[1:])
        store.append([seen])
        assert store.events("a") == (forgotten, added[1], seen)

    def test_deleting_a_node_takes_its_events_and_leaves_room_for_the_last_word(
        self, store: Store
    ) -> None:
        store.insert([node("a"), node("b")])
        store.append([Event(node=name, kind=EventKind.ADD, at=NOW) for name in "ab"])
        last = Event(node="a", kind=EventKind.FORGET, at=later(1), detail={"rule": "asked"})
        with store.transaction():
            store.delete(["a"])
            store.append([last])
        assert store.events("a") == (last,)
        assert len(store.events("b")) == 1
        assert store.stats()["events"] == 2

    def test_touch_counts_one_access_per_node_and_interval(self, store: Store) -> None:
        store.insert([node("a"), node("b")])
        assert store.touch(["a", "a", "missing"], NOW, min_interval_seconds=60) == 1
        assert store.touch(["a", "b"], NOW + timedelta(seconds=59), min_interval_seconds=60) == 1
        assert store.touch(["a", "b"], NOW + timedelta(seconds=60), min_interval_seconds=60) == 1
        assert {id: each.accesses for id, each in store.get(["a", "b"]).items()} == {"a": 2, "b": 1}

    def test_an_access_is_counted_once_an_interval_also_when_the_clock_goes_back(
        self, store: Store
    ) -> None:
        store.insert([node("a")])
        assert store.touch(["a"], NOW, min_interval_seconds=60) == 1
        assert store.touch(["a"], NOW - timedelta(seconds=30), min_interval_seconds=60) == 0
        # a clock that went back does not end the counting
        assert store.touch(["a"], later(-1), min_interval_seconds=60) == 1

    def test_touch_goes_on_from_the_accesses_a_node_came_with(self, store: Store) -> None:
        store.insert([node("a", accesses=5)])
        assert store.touch(["a"], NOW, min_interval_seconds=60) == 1
        assert store.get(["a"])["a"].accesses == 6

    def test_an_update_leaves_the_accesses_alone(self, store: Store) -> None:
        store.insert([node("a", accesses=5)])
        store.update("a", importance=0.75)
        assert store.get(["a"])["a"].accesses == 5

    def test_each_counted_access_is_logged(self, store: Store) -> None:
        store.insert([node("a")])
        for seconds in (0, 30, 60):
            store.touch(["a"], NOW + timedelta(seconds=seconds), min_interval_seconds=60)
        expected = [
            Event(node="a", kind=EventKind.ACCESS, at=NOW + timedelta(seconds=seconds))
            for seconds in (0, 60)
        ]
        assert list(store.events("a")) == expected

    def test_edges_are_found_from_both_ends_and_replaced_by_key(self, store: Store) -> None:
        store.insert([node(name) for name in "abc"])
        edge = Edge(
            source="a",
            target="b",
            kind="mentions",
            weight=0.5,
            confidence=0.25,
            evidence="said so",
            t_created=NOW,
        )
        other = Edge(source="a", target="b", kind="follows", t_created=NOW)
        store.link([edge, other, Edge(source="c", target="c", kind="self", t_created=NOW)])
        store.link([replace(edge, weight=0.75)])
        expected = [other, replace(edge, weight=0.75)]
        assert (
            _sorted(store.edges(["a"]))
            == _sorted(store.edges(["b"]))
            == _sorted(store.edges(["a", "b"]))
            == expected
        )
        assert [each.kind for each in store.edges(["c"])] == ["self"]
        assert store.edges([]) == store.edges(["missing"]) == ()

    def test_an_edge_to_an_unknown_node_is_refused_and_writes_nothing(self, store: Store) -> None:
        store.insert([node("a"), node("b")])
        good = Edge(source="a", target="b", kind="k", t_created=NOW)
        for bad in (replace(good, target="missing"), replace(good, source="missing")):
            with raises(NotFoundError):
                store.link([good, bad])
        assert store.edges(["a", "b"]) == ()

    def test_deleting_a_node_takes_the_edges_at_both_ends(self, store: Store) -> None:
        store.insert([node(name) for name in "abc"])
        store.link(
            [
                Edge(source=source, target=target, kind="k", t_created=NOW)
                for source, target in ("ab", "bc", "ca")
            ]
        )
        store.delete(["a"])
        assert [(edge.source, edge.target) for edge in store.edges(["a", "b", "c"])] == [("b", "c")]
        assert store.stats()["edges"] == 1


def _sorted(edges: tuple[Edge, ...]) -> list[Edge]:
    return sorted(edges, key=lambda edge: (edge.source, edge.target, edge.kind))


# A transaction is all or nothing, in every channel, and nests.

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


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

    def test_the_callers_own_error_leaves_a_transaction_as_it_was_raised(
        self, store: Store
    ) -> None:
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
        assert (
            len(store.sparse(["appl"], where(), limit=100))
            == len(store.dense(unit("apple"), where(), limit=100))
            == 80
        )


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
        {
            name: stats[name]
            for name in ("nodes", "live", "by_category", "by_space", "events", "edges", "vectors")
        },
    )
