"""Nodes are kept as they were given, changed by name, found by hash and key, and listed in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from clew.errors import InputError, NotFoundError, StoreError
from clew.ports import Evidence, Sort, Store
from clew.testing.build import MODEL, NOW, filled, later, node, raises, unit, where
from clew.types import Edge, Event, EventKind, Filter, Kind, Node, Stability

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


class Keeping:
    """Rows."""

    def test_a_node_comes_back_with_every_field_as_it_was_given(self, store: Store) -> None:
        full = node(
            "full",
            "text",
            space="work",
            kind=Kind.CHUNK,
            title="A title",
            category="decision",
            trigger="when asked",
            importance=0.125,
            stability=Stability.STATIC,
            t_valid=NOW + timedelta(microseconds=1),
            t_invalid=later(3),
            t_expired=later(4),
            source="mail",
            parent="p",
            root="r",
            position=3,
            start=10,
            end=14,
            keywords=("one", "two"),
            tags=("b", "a"),
            metadata={"n": 1, "f": 0.5, "b": True, "none": None, "list": [1, {"x": "é"}]},
            idempotency_key="key",
            protected=True,
            archived=True,
            accesses=7,
        )
        store.insert([full, node("plain")])
        assert store.get(["full", "missing", "plain"]) == {"full": full, "plain": node("plain")}

    def test_changing_the_metadata_one_gave_or_got_does_not_change_the_store(
        self, store: Store
    ) -> None:
        given: dict[str, Any] = {"list": [1]}
        store.insert([node("a", metadata=given)])
        given["list"].append(2)
        store.get(["a"])["a"].metadata["list"].append(3)
        assert store.get(["a"])["a"].metadata == {"list": [1]}

    def test_metadata_that_is_not_json_is_refused(self, store: Store) -> None:
        for value in (object(), float("nan"), {1, 2}):
            with raises(InputError):
                store.insert([node("a", metadata={"key": value})])
        assert store.get(["a"]) == {}

    def test_inserting_an_id_again_is_refused_and_changes_nothing(self, store: Store) -> None:
        store.insert([node("a", "first")])
        with raises(StoreError):
            store.insert([node("b", "other"), node("a", "second")])
        assert store.get(["a", "b"]) == {"a": node("a", "first")}

    def test_the_same_id_twice_in_one_insert_is_refused(self, store: Store) -> None:
        with raises(StoreError):
            store.insert([node("a"), node("a")])
        assert store.get(["a"]) == {}

    def test_each_field_can_be_updated_by_name(self, store: Store) -> None:
        store.insert([node("a")])
        changes: dict[str, Any] = {
            "text": "new",
            "title": "t",
            "category": "fact",
            "kind": Kind.ENTITY,
            "importance": 0.9,
            "t_invalid": later(1),
            "t_expired": later(2),
            "tags": ("x",),
            "keywords": ("k",),
            "metadata": {"m": [1]},
            "protected": True,
            "archived": True,
            "stability": Stability.EPHEMERAL,
            "content_hash": "h",
            "idempotency_key": "i",
            "parent": "p",
            "position": 2,
        }
        for name, value in changes.items():
            store.update("a", **{name: value})
        assert store.get(["a"])["a"] == replace(node("a"), **changes)

    def test_a_field_can_be_cleared(self, store: Store) -> None:
        store.insert(
            [
                node(
                    "a",
                    t_invalid=NOW,
                    t_expired=NOW,
                    parent="p",
                    tags=("x",),
                    metadata={"m": 1},
                    idempotency_key="k",
                )
            ]
        )
        cleared: dict[str, Any] = {
            "t_invalid": None,
            "t_expired": None,
            "parent": None,
            "tags": (),
            "metadata": {},
            "idempotency_key": None,
        }
        store.update("a", **cleared)
        assert store.get(["a"])["a"] == node("a")

    def test_updating_an_unknown_node_is_refused(self, store: Store) -> None:
        with raises(NotFoundError):
            store.update("missing", text="new")

    def test_a_node_stays_in_its_space_and_unknown_fields_are_refused(self, store: Store) -> None:
        store.insert([node("a")])
        for name in ("colour", "nid", "space", "accesses", 'text" = 1 --'):
            with raises(InputError):
                store.update("a", **{"text": "changed", name: "b"})
        assert store.get(["a"])["a"] == node("a")

    def test_delete_counts_each_existing_node_once(self, store: Store) -> None:
        filled(store, [node("a"), node("b", "other")])
        assert store.delete(["a", "a", "missing"]) == 1
        assert store.delete(["a"]) == 0
        assert list(store.nodes()) == [node("b", "other")]

    def test_an_id_can_be_used_again_after_deletion_and_brings_nothing_back(
        self, store: Store
    ) -> None:
        filled(store, [node("a", "apple")])
        store.touch(["a"], NOW, min_interval_seconds=60)
        store.delete(["a"])
        store.insert([node("a", "pear")])
        assert store.get(["a"])["a"].accesses == 0
        assert store.sparse(["appl"], where(), limit=5) == ()
        assert store.dense(unit("apple"), where(), limit=5) == ()
        assert store.touch(["a"], NOW, min_interval_seconds=60) == 1

    def test_nodes_yields_every_node_by_id_expired_and_archived_ones_too(
        self, store: Store
    ) -> None:
        store.insert([node("c", space="s"), node("a", t_expired=NOW), node("b", archived=True)])
        assert [each.id for each in store.nodes()] == ["a", "b", "c"]
        assert [each.id for each in store.nodes("s")] == ["c"]
        assert list(store.nodes("none")) == []

    def test_writing_while_reading_all_nodes_is_safe(self, store: Store) -> None:
        store.insert([node(f"{i:03}") for i in range(300)])
        seen = []
        for each in store.nodes():
            seen.append(each.id)
            store.update(each.id, importance=0.75)
        assert seen == [f"{i:03}" for i in range(300)]

    def test_ids_are_found_by_how_they_begin(self, store: Store) -> None:
        store.insert(
            [node(id) for id in ("01b2", "01a1", "01a", "01a%", "02a", "01A1")]
            + [node("01a2", space="other")]
        )
        assert store.beginning("01a", limit=9) == ("01a", "01a%", "01a1", "01a2")
        assert store.beginning("01a", limit=2) == ("01a", "01a%")
        assert store.beginning("01a%", limit=9) == ("01a%",)
        assert store.beginning("03", limit=9) == ()

    def test_find_hash_returns_the_live_memories_of_the_space_oldest_first(
        self, store: Store
    ) -> None:
        same = {"content_hash": "h"}
        store.insert(
            [
                node("expired", **same, t_created=later(-9), t_expired=NOW),
                node("archived", **same, t_created=later(-9), archived=True),
                node("chunk", **same, t_created=later(-9), kind=Kind.CHUNK),
                node("elsewhere", **same, t_created=later(-9), space="other"),
                node("young", **same, t_created=later(-1)),
                node("old-b", **same, t_created=later(-2)),
                node("old-a", **same, t_created=later(-2)),
            ]
        )
        assert store.find_hash("default", "h") == ("old-a", "old-b", "young")
        store.update("old-a", archived=True)
        store.update("old-b", t_expired=NOW)
        assert store.find_hash("default", "h") == ("young",)
        assert store.find_hash("other", "h") == ("elsewhere",)
        assert store.find_hash("default", "none") == ()

    def test_find_key_returns_the_node_of_the_space_also_an_expired_one(self, store: Store) -> None:
        store.insert(
            [
                node("a", idempotency_key="k", t_expired=NOW),
                node("b", idempotency_key="k", space="other"),
                node("c"),
            ]
        )
        assert (
            store.find_key("default", "k"),
            store.find_key("other", "k"),
            store.find_key("third", "k"),
        ) == ("a", "b", None)

    def test_a_claimed_key_finds_the_node_until_the_node_is_gone(self, store: Store) -> None:
        store.insert([node("a"), node("b", idempotency_key="own")])
        store.claim("a", "k")
        store.claim("b", "k")
        store.claim("a", "own")
        store.claim("nobody", "x")
        assert (
            store.find_key("default", "k"),
            store.find_key("default", "own"),
            store.find_key("default", "x"),
        ) == ("a", "b", None)
        assert store.find_key("other", "k") is None
        store.delete(["a"])
        assert store.find_key("default", "k") is None

    def test_a_key_that_the_space_has_used_is_refused(self, store: Store) -> None:
        store.insert([node("a", idempotency_key="k")])
        with raises(StoreError):
            store.insert([node("b", idempotency_key="k")])
        assert store.get(["b"]) == {}

    def test_recent_important_and_popular_lists_are_ordered_with_ties_by_id(
        self, store: Store
    ) -> None:
        store.insert(
            [
                node("d", importance=0.9, accesses=1),
                node("c", importance=0.5, accesses=9, t_valid=later(1)),
                node("b", importance=0.9, accesses=1),
                node("a", importance=0.9, accesses=0, t_valid=later(-1)),
            ]
        )
        assert _listed(store, sort=Sort.RECENT) == ["c", "b", "d", "a"]
        assert _listed(store, sort=Sort.IMPORTANT) == ["b", "d", "a", "c"]
        assert _listed(store, sort=Sort.POPULAR) == ["c", "b", "d", "a"]

    def test_lists_know_microseconds_apart(self, store: Store) -> None:
        store.insert([node("a", t_valid=NOW), node("b", t_valid=NOW + timedelta(microseconds=1))])
        assert _listed(store, sort=Sort.RECENT) == ["b", "a"]

    def test_lists_keep_to_their_least_importance_and_accesses(self, store: Store) -> None:
        store.insert(
            [
                node("a", importance=0.7, accesses=2),
                node("b", importance=0.69, accesses=3),
                node("c", importance=0.8, accesses=1),
            ]
        )
        assert _listed(store, sort=Sort.IMPORTANT, min_importance=0.7) == ["c", "a"]
        assert _listed(store, sort=Sort.POPULAR, min_accesses=2) == ["b", "a"]
        assert _listed(store, sort=Sort.RECENT, min_importance=0.7, min_accesses=2) == ["a"]

    def test_a_list_holds_at_most_its_limit(self, store: Store) -> None:
        store.insert([node(name) for name in "dcba"])
        assert [_listed(store, limit=limit) for limit in (0, 2, 9)] == [
            [],
            ["a", "b"],
            ["a", "b", "c", "d"],
        ]

    def test_lists_hold_nodes_as_they_are_kept(self, store: Store) -> None:
        kept = node("a", tags=("t",), metadata={"k": [1]}, accesses=2)
        store.insert([kept])
        assert store.listing(where(), sort=Sort.RECENT, limit=1) == (kept,)

    def test_stats_count_what_is_there(self, store: Store) -> None:
        nodes = [
            node("a"),
            node("b", space="s", t_expired=NOW),
            node("c", category="fact", archived=True),
            node("d", kind=Kind.CHUNK),
        ]
        filled(store, nodes)
        store.insert([node("e")])
        stats = store.stats()
        counted = {
            name: stats[name]
            for name in (
                "nodes",
                "live",
                "expired",
                "archived",
                "vectors",
                "unembedded",
                "events",
                "edges",
            )
        }
        assert counted == {
            "nodes": 5,
            "live": 3,
            "expired": 1,
            "archived": 1,
            "vectors": 4,
            "unembedded": 1,
            "events": 4,
            "edges": 0,
        }
        assert stats["by_kind"] == {"memory": 4, "chunk": 1}
        assert stats["by_category"] == {"observation": 4, "fact": 1}
        assert stats["by_space"] == {"default": 4, "s": 1}
        assert (stats["model"], stats["dimension"]) == (MODEL.id, MODEL.dimension)

    def test_a_sound_store_verifies_compacts_and_repairs_without_changing_an_answer(
        self, store: Store
    ) -> None:
        filled(store, [node(f"{i:02}", f"word{i % 7} common") for i in range(40)])
        store.delete([f"{i:02}" for i in range(0, 40, 3)])
        store.update("01", text="word1 rewritten")
        before = _everything(store)
        assert store.verify() == ()
        store.compact()
        store.repair()
        assert store.verify() == ()
        assert _everything(store) == before

    def test_a_closed_store_refuses_calls_and_may_be_closed_again(self, store: Store) -> None:
        store.insert([node("a")])
        store.close()
        store.close()
        with raises(StoreError):
            store.get(["a"])
        with raises(StoreError):
            store.insert([node("b")])


def _listed(
    store: Store,
    filter: Filter | None = None,
    *,
    sort: Sort = Sort.RECENT,
    limit: int = 10,
    **least: Any,
) -> list[str]:
    return [each.id for each in store.listing(filter or where(), sort=sort, limit=limit, **least)]


def _everything(store: Store) -> tuple[list[Node], Any, Any]:
    return (
        list(store.nodes()),
        store.sparse(["common", "word1"], where(), limit=50),
        store.dense(unit("q"), where(), limit=50),
    )


# What has happened around a node is told for many nodes at once: reinforcements, relations, the
# last access.

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


class Witnessing:
    """Evidence."""

    def test_a_node_to_which_nothing_happened_has_its_stability_and_its_time_alone(
        self, store: Store
    ) -> None:
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
        # a load may append what happened earlier
        _happened(store, "a", EventKind.REINFORCE_EXACT, 1)
        _happened(store, "a", EventKind.REINFORCE_EXACT, 1)
        _happened(store, "a", EventKind.UPDATE, 4)
        _happened(store, "b", EventKind.REINFORCE_EXACT, 2)
        found = store.evidence(["a", "b", "a"])
        assert {id: each.reinforced for id, each in found.items()} == {
            "a": (later(1), later(1), later(3)),
            "b": (later(2),),
        }

    def test_related_counts_the_related_edges_that_end_at_a_node(self, store: Store) -> None:
        store.insert([node(id) for id in "abc"])
        ends = [
            ("a", "b", "RELATED"),
            ("c", "b", "RELATED"),
            ("b", "a", "RELATED"),
            ("a", "c", "MENTIONS"),
        ]
        store.link(
            [
                Edge(source=source, target=target, kind=kind, t_created=NOW)
                for source, target, kind in ends
            ]
        )
        assert {id: each.related for id, each in store.evidence(["a", "b", "c"]).items()} == {
            "a": 1,
            "b": 2,
            "c": 0,
        }
        store.delete(["c"])
        assert {id: each.related for id, each in store.evidence(["a", "b", "c"]).items()} == {
            "a": 1,
            "b": 1,
        }

    def test_the_last_access_is_the_latest_that_was_counted(self, store: Store) -> None:
        store.insert([node("a"), node("b"), node("c", accesses=9)])
        for day in (1, 5, 2):
            store.touch(["a"], later(day), min_interval_seconds=60)
        _happened(store, "b", EventKind.ACCESS, 7)
        found = store.evidence(["a", "b", "c"])
        assert {id: each.accessed for id, each in found.items()} == {
            "a": later(5),
            "b": later(7),
            "c": None,
        }

    def test_evidence_inside_a_transaction_sees_what_it_wrote(self, store: Store) -> None:
        store.insert([node("a")])
        with store.transaction():
            _happened(store, "a", EventKind.REINFORCE_EXACT, 1)
            assert store.evidence(["a"])["a"].reinforced == (later(1),)


def _happened(store: Store, id: str, kind: EventKind, day: float) -> None:
    store.append([Event(node=id, kind=kind, at=later(day))])
