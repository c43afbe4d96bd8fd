"""Events are kept in order and outlive their node; accesses are damped; edges hang on nodes."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from clew.errors import NotFoundError
from clew.ports import Store
from clew.testing.build import NOW, later, node, raises
from clew.types import Edge, Event, EventKind


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

    def test_events_written_with_their_nodes_come_before_all_that_follows(self, store: Store) -> None:
        events = [
            Event(node="a", kind=EventKind.ADD, at=later(2), detail={"source": "inbox", "questions": ["é?", 1]}),
            Event(node="b", kind=EventKind.UPDATE, at=NOW),
            Event(node="a", kind=EventKind.UPDATE, at=NOW),  # before the first by its clock, which may have been turned back
            Event(node="b", kind=EventKind.ADD, at=NOW),
            Event(node="a", kind=EventKind.ADD, at=NOW, detail={"again": True}),
        ]
        store.insert([node("a"), node("b"), node("c")], events=events)
        store.update("a", t_created=later(9), source="elsewhere")
        store.append([Event(node="a", kind=EventKind.ACCESS, at=later(-1))])
        assert store.events("a") == (events[0], events[2], events[4], Event(node="a", kind=EventKind.ACCESS, at=later(-1)))
        assert store.events("b") == (events[1], events[3])
        assert store.events("c") == ()
        assert store.stats()["by_event"] == store.stats("default")["by_event"] == {"ACCESS": 1, "ADD": 3, "UPDATE": 2}

    def test_what_was_forgotten_is_told_of_before_what_is_added_under_its_id(self, store: Store) -> None:
        added = [Event(node="a", kind=EventKind.ADD, at=later(day)) for day in (0, 2)]
        forgotten, seen = Event(node="a", kind=EventKind.FORGET, at=later(1)), Event(node="a", kind=EventKind.ACCESS, at=later(3))
        store.insert([node("a")], events=added[:1])
        store.delete(["a"])
        assert store.events("a") == ()
        store.append([forgotten])
        store.insert([node("a")], events=added[1:])
        store.append([seen])
        assert store.events("a") == (forgotten, added[1], seen)

    def test_deleting_a_node_takes_its_events_and_leaves_room_for_the_last_word(self, store: Store) -> None:
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

    def test_an_access_is_counted_once_an_interval_also_when_the_clock_goes_back(self, store: Store) -> None:
        store.insert([node("a")])
        assert store.touch(["a"], NOW, min_interval_seconds=60) == 1
        assert store.touch(["a"], NOW - timedelta(seconds=30), min_interval_seconds=60) == 0
        assert store.touch(["a"], later(-1), min_interval_seconds=60) == 1  # a clock that went back does not end the counting

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
        expected = [Event(node="a", kind=EventKind.ACCESS, at=NOW + timedelta(seconds=seconds)) for seconds in (0, 60)]
        assert list(store.events("a")) == expected

    def test_edges_are_found_from_both_ends_and_replaced_by_key(self, store: Store) -> None:
        store.insert([node(name) for name in "abc"])
        edge = Edge(source="a", target="b", kind="mentions", weight=0.5, confidence=0.25, evidence="said so", t_created=NOW)
        other = Edge(source="a", target="b", kind="follows", t_created=NOW)
        store.link([edge, other, Edge(source="c", target="c", kind="self", t_created=NOW)])
        store.link([replace(edge, weight=0.75)])
        expected = [other, replace(edge, weight=0.75)]
        assert _sorted(store.edges(["a"])) == _sorted(store.edges(["b"])) == _sorted(store.edges(["a", "b"])) == expected
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
        store.link([Edge(source=source, target=target, kind="k", t_created=NOW) for source, target in ("ab", "bc", "ca")])
        store.delete(["a"])
        assert [(edge.source, edge.target) for edge in store.edges(["a", "b", "c"])] == [("b", "c")]
        assert store.stats()["edges"] == 1


def _sorted(edges: tuple[Edge, ...]) -> list[Edge]:
    return sorted(edges, key=lambda edge: (edge.source, edge.target, edge.kind))
