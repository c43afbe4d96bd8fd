"""A filter is applied inside the search.

It never starves a result, and nothing passes that it does not name.
"""

from __future__ import annotations

from datetime import timedelta

from clew.ports import Sort, Store
from clew.testing.build import MODEL, NOW, embedding, filled, later, node, unit, where
from clew.types import Filter, Kind, Vectors

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


_HAY = 2000
_NEEDLES = 3
_MOMENT = timedelta(microseconds=1)

# What sets each group of needles apart, and the filter that only they pass.
_CASES: dict[str, tuple[dict[str, object], Filter]] = {
    "space": ({"space": "other"}, where(space="other")),
    "kind": ({"kind": Kind.CHUNK}, where(kinds=(Kind.CHUNK, Kind.ENTITY))),
    "category": ({"category": "rare"}, where(categories=("rare", "unused"))),
    "tag": ({"tags": ("rare", "red")}, where(tags=("red", "rare"))),
    "metadata": ({"metadata": {"lang": "cy", "n": 1}}, where(metadata={"lang": "cy", "n": 1.0})),
    "since": ({"t_valid": later(10)}, where(since=later(10))),
    "until": ({"t_valid": later(-100)}, where(until=later(-100))),
    "as_of": ({"t_valid": later(-210), "t_invalid": later(-190)}, where(as_of=later(-200))),
    "known_at": ({"t_created": later(-300), "t_expired": later(-250)}, where(known_at=later(-275))),
    "archived": (
        {"archived": True, "category": "vault"},
        where(archived=True, categories=("vault",)),
    ),
}


class Filtering:
    """Filters."""

    def test_a_filter_that_few_of_many_pass_never_starves_a_result(self, store: Store) -> None:
        _haystack(store)
        for name, (fields, _) in _CASES.items():
            needles = [
                node(
                    f"{name}-{i}",
                    "apple beside a great many other words that push it down",
                    **fields,
                )
                for i in range(_NEEDLES)
            ]
            store.insert(needles, [embedding(each, _far()) for each in needles])
        for name, (_, filter) in _CASES.items():
            expected = [f"{name}-{i}" for i in range(_NEEDLES)]
            assert _all_channels(store, filter, limit=_NEEDLES) == (expected,) * 3, name
            assert _all_channels(store, filter, limit=10) == (expected,) * 3, name
            assert _all_channels(store, filter, limit=1) == (expected[:1],) * 3, name

    def test_one_living_node_among_many_dead_ones_is_found(self, store: Store) -> None:
        for fields in ({"t_expired": NOW}, {"t_invalid": NOW}, {"archived": True}):
            store.delete([each.id for each in store.nodes()])
            _haystack(store, **fields)
            alive = node("alive", "apple beside a great many other words that push it down")
            store.insert([alive], [embedding(alive, _far())])
            assert _all_channels(store, where(), limit=5) == (["alive"],) * 3, fields

    def test_every_filter_means_the_same_in_each_channel(self, store: Store) -> None:
        edges = [node(name, "apple", **fields) for name, fields in _edge_cases().items()]
        filled(store, edges)
        for filter, expected in _expected():
            assert (
                tuple(map(sorted, _all_channels(store, filter, limit=50)))
                == (sorted(expected),) * 3
            ), filter

    def test_all_conditions_hold_together(self, store: Store) -> None:
        full = {"category": "fact", "tags": ("a", "b"), "metadata": {"k": 1}, "kind": Kind.CHUNK}
        variants = {
            "all": full,
            "category": {**full, "category": "x"},
            "tags": {**full, "tags": ("a",)},
            "metadata": {**full, "metadata": {"k": 2}},
            "kind": {**full, "kind": Kind.MEMORY},
        }
        filled(store, [node(name, "apple", **fields) for name, fields in variants.items()])
        filter = where(
            categories=("fact",),
            tags=("b", "a"),
            metadata={"k": 1},
            kinds=(Kind.CHUNK,),
            since=NOW,
            until=NOW,
        )
        assert _all_channels(store, filter, limit=10) == (["all"],) * 3

    def test_metadata_is_compared_as_json(self, store: Store) -> None:
        values = {
            "int": 1,
            "true": True,
            "text": "1",
            "null": None,
            "zero": 0,
            "false": False,
            "list": [1, 2],
            "object": {"a": 1, "b": [2]},
        }
        filled(
            store,
            [node(name, "apple", metadata={"k": value}) for name, value in values.items()]
            + [node("without", "apple")],
        )
        asked = [
            *values.items(),
            ("int", 1.0),
            ("list", [1.0, 2]),
            ("object", {"b": [2.0], "a": 1}),
        ]
        for name, value in asked:
            assert _all_channels(store, where(metadata={"k": value}), limit=10) == ([name],) * 3, (
                value
            )
        for value in (2, "true", [2, 1], [1], {"a": 1}, ""):
            assert _all_channels(store, where(metadata={"k": value}), limit=10) == ([],) * 3, value

    def test_nested_metadata_is_not_reached_by_its_inner_key(self, store: Store) -> None:
        filled(store, [node("a", "apple", metadata={"outer": {"inner": 1}})])
        for key in ("inner", "outer.inner"):
            assert _all_channels(store, where(metadata={key: 1}), limit=10) == ([],) * 3

    def test_tags_are_whole_tags(self, store: Store) -> None:
        filled(store, [node("a", "apple", tags=("red wine",)), node("b", "apple", tags=("RED",))])
        for tag in ("red", "wine", "red win"):
            assert _all_channels(store, where(tags=(tag,)), limit=10) == ([],) * 3

    def test_spaces_never_leak_into_each_other(self, store: Store) -> None:
        spaces = ["default", "Default", "default ", "def", "work", "work/1", "*", "%", ""]
        fields = [{"space": space, "idempotency_key": "k", "content_hash": "h"} for space in spaces]
        filled(store, [node(f"{i}", "apple", **each) for i, each in enumerate(fields)])
        for i, space in enumerate(spaces):
            assert _all_channels(store, where(space=space), limit=20) == ([f"{i}"],) * 3
            assert (store.find_hash(space, "h"), store.find_key(space, "k")) == ((f"{i}",), f"{i}")
            assert [each.id for each in store.nodes(space)] == [f"{i}"]
        for unknown in ("none", "DEFAULT", "wor", "work/"):
            assert _all_channels(store, where(space=unknown), limit=20) == ([],) * 3
            assert (store.find_hash(unknown, "h"), store.find_key(unknown, "k")) == ((), None)


def _haystack(store: Store, **fields: object) -> None:
    """Fill the store with nodes that any search would rather return than the needles."""
    hay = [node(f"hay-{i:04}", "apple apple", **fields) for i in range(_HAY)]
    store.activate(MODEL)
    store.insert(hay, [embedding(each, unit("apple")) for each in hay])


def _far() -> Vectors:
    """Return the vector farthest from what the hay holds."""
    return -unit("apple")


def _all_channels(
    store: Store, filter: Filter, *, limit: int
) -> tuple[list[str], list[str], list[str]]:
    return (
        [match.id for match in store.sparse(["appl"], filter, limit=limit)],
        [match.id for match in store.dense(unit("apple"), filter, limit=limit)],
        [each.id for each in store.listing(filter, sort=Sort.RECENT, limit=limit)],
    )


def _edge_cases() -> dict[str, dict[str, object]]:
    """Return nodes whose times lie exactly on, just before or just after a boundary."""
    return {
        "plain": {},
        "created-after": {"t_created": NOW + _MOMENT},
        "valid-after": {"t_valid": NOW + _MOMENT},
        "valid-before": {"t_valid": NOW - _MOMENT},
        "invalid-now": {"t_invalid": NOW},
        "invalid-after": {"t_invalid": NOW + _MOMENT},
        "expired-now": {"t_expired": NOW},
        "expired-after": {"t_expired": NOW + _MOMENT},
        "archived": {"archived": True},
    }


def _expected() -> list[tuple[Filter, set[str]]]:
    names = set(_edge_cases())
    hidden = {"expired-now", "expired-after", "archived", "invalid-now"}
    return [
        (where(), names - hidden),
        (where(archived=True), names - hidden | {"archived"}),
        (where(now=NOW - _MOMENT), names - hidden | {"invalid-now"}),
        (where(now=later(1)), names - hidden - {"invalid-after"}),
        (where(since=NOW), names - hidden - {"valid-before"}),
        (where(until=NOW), names - hidden - {"valid-after"}),
        (where(as_of=NOW), names - hidden - {"valid-after"}),
        (where(as_of=NOW - _MOMENT), {"valid-before"}),
        (
            where(as_of=NOW - _MOMENT, recorded_until=NOW),
            {"plain", "created-after", "valid-before", "invalid-now", "invalid-after"},
        ),
        (where(as_of=NOW - _MOMENT, recorded_until=NOW - _MOMENT), {"valid-before"}),
        (where(as_of=NOW, recorded_until=NOW), names - hidden - {"valid-after"}),
        (where(recorded_until=NOW - _MOMENT), names - hidden),
        (where(known_at=NOW), names - {"created-after", "expired-now", "archived", "invalid-now"}),
        (
            where(known_at=NOW + _MOMENT),
            names - {"expired-now", "expired-after", "archived", "invalid-now"},
        ),
        (where(known_at=NOW - _MOMENT), set()),
        (
            where(known_at=NOW, as_of=NOW),
            names - {"created-after", "valid-after", "expired-now", "archived", "invalid-now"},
        ),
        (where(categories=("none",)), set()),
    ]
