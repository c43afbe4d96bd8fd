"""What has happened around a node is told for many nodes at once: reinforcements, relations, the last access."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

from clew.ports import Evidence, Store
from clew.testing.build import NOW, later, node
from clew.types import Edge, Event, EventKind, Stability


class Witnessing:
    """Evidence."""

    def test_a_node_to_which_nothing_happened_has_its_stability_and_its_time_alone(self, store: Store) -> None:
        store.insert([node("a", stability=Stability.DYNAMIC, t_valid=later(-3)), node("b")])
        assert store.evidence(["b", "a", "a", "missing"]) == {
            "a": Evidence(Stability.DYNAMIC, later(-3)),
            "b": Evidence(Stability.UNKNOWN, NOW),
        }
        assert store.evidence([]) == {}

    def test_reinforcements_come_oldest_first_and_no_other_event_is_one(self, store: Store) -> None:
        store.insert([node("a"), node("b")])
        _happened(store, "a", EventKind.ADD, 0)
        _happened(store, "a", EventKind.REINFORCE_NEAR, 3)
        _happened(store, "a", EventKind.REINFORCE_EXACT, 1)  # a load may append what happened earlier
        _happened(store, "a", EventKind.REINFORCE_EXACT, 1)
        _happened(store, "a", EventKind.UPDATE, 4)
        _happened(store, "b", EventKind.REINFORCE_EXACT, 2)
        found = store.evidence(["a", "b", "a"])
        assert {id: each.reinforced for id, each in found.items()} == {"a": (later(1), later(1), later(3)), "b": (later(2),)}

    def test_related_counts_the_related_edges_that_end_at_a_node(self, store: Store) -> None:
        store.insert([node(id) for id in "abc"])
        ends = [("a", "b", "RELATED"), ("c", "b", "RELATED"), ("b", "a", "RELATED"), ("a", "c", "MENTIONS")]
        store.link([Edge(source=source, target=target, kind=kind, t_created=NOW) for source, target, kind in ends])
        assert {id: each.related for id, each in store.evidence(["a", "b", "c"]).items()} == {"a": 1, "b": 2, "c": 0}
        store.delete(["c"])
        assert {id: each.related for id, each in store.evidence(["a", "b", "c"]).items()} == {"a": 1, "b": 1}

    def test_the_last_access_is_the_latest_that_was_counted(self, store: Store) -> None:
        store.insert([node("a"), node("b"), node("c", accesses=9)])
        for day in (1, 5, 2):
            store.touch(["a"], later(day), min_interval_seconds=60)
        _happened(store, "b", EventKind.ACCESS, 7)
        found = store.evidence(["a", "b", "c"])
        assert {id: each.accessed for id, each in found.items()} == {"a": later(5), "b": later(7), "c": None}

    def test_evidence_inside_a_transaction_sees_what_it_wrote(self, store: Store) -> None:
        store.insert([node("a")])
        with store.transaction():
            _happened(store, "a", EventKind.REINFORCE_EXACT, 1)
            assert store.evidence(["a"])["a"].reinforced == (later(1),)


def _happened(store: Store, id: str, kind: EventKind, day: float) -> None:
    store.append([Event(node=id, kind=kind, at=later(day))])
