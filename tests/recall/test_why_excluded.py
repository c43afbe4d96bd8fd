"""Which condition of a filter shuts a node out, against the definition that the stores share."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clew.search.why_not import excluded
from clew.store.filters import passes
from clew.testing import NOW, later, node
from clew.types import Filter, Kind, Node

DAYS = st.sampled_from([None, *(later(day) for day in (-3, -2, -1, 0, 1, 2))])
KINDS = st.sampled_from([Kind.MEMORY, Kind.CHUNK, Kind.SECTION])
NAMES = st.lists(st.sampled_from("abc"), unique=True, max_size=2).map(tuple)
METADATA = st.dictionaries(
    st.sampled_from("mn"), st.sampled_from([1, 1.0, True, "1", None]), max_size=2
)

NODES = st.builds(
    lambda created, valid, fields: node(
        "x", t_created=created or NOW, t_valid=valid or NOW, **fields
    ),
    DAYS,
    DAYS,
    st.fixed_dictionaries(
        {
            "t_invalid": DAYS,
            "t_expired": DAYS,
            "kind": KINDS,
            "category": st.sampled_from("fg"),
            "tags": NAMES,
            "metadata": METADATA,
            "archived": st.booleans(),
            "parent": st.sampled_from([None, "p", "q"]),
        }
    ),
)
FILTERS = st.builds(
    Filter,
    now=st.just(NOW),
    kinds=st.lists(KINDS, max_size=2).map(tuple),
    categories=st.lists(st.sampled_from("fg"), max_size=1).map(tuple),
    tags=NAMES,
    metadata=METADATA,
    since=DAYS,
    until=DAYS,
    as_of=DAYS,
    known_at=DAYS,
    archived=st.booleans(),
    within=st.lists(st.sampled_from("pr"), max_size=1).map(tuple),
)
# What to change in a filter or a node so that one condition no longer shuts it out.
MENDED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "kind": ({"kinds": ()}, {}),
    "category": ({"categories": ()}, {}),
    "tag": ({"tags": ()}, {}),
    "metadata": ({"metadata": {}}, {}),
    "since": ({"since": None}, {}),
    "until": ({"until": None}, {}),
    "as_of": ({"as_of": None}, {"t_invalid": None}),
    "invalid": ({}, {"t_invalid": None}),
    "known_at": ({"known_at": None}, {"t_expired": None}),
    "expired": ({}, {"t_expired": None}),
    "archived": ({}, {"archived": False}),
    "within": ({"within": ()}, {}),
}


@given(NODES, FILTERS)
def test_a_condition_is_named_exactly_when_the_filter_shuts_the_node_out(
    seen: Node, where: Filter
) -> None:
    found = excluded(seen, where, passes)
    assert (found is None) == passes(seen, where)
    if found is not None:
        assert found.reason in MENDED
        json.dumps([found.value, found.threshold], allow_nan=False)


@given(NODES, FILTERS)
def test_mending_what_is_named_lets_the_node_through_in_the_end(seen: Node, where: Filter) -> None:
    named = []
    while (found := excluded(seen, where, passes)) is not None:
        assert found.reason not in named  # each condition is mended once
        named.append(found.reason)
        in_filter, in_node = MENDED[found.reason]
        where, seen = replace(where, **in_filter), replace(seen, **in_node)
    assert passes(seen, where)


def test_conditions_that_only_together_shut_a_node_out_are_called_the_filter() -> None:
    found = excluded(node("x"), Filter(now=NOW), lambda seen, where: bool(seen.tags))
    assert found is not None
    named = excluded(
        node("x"),
        Filter(now=NOW, tags=("a",), since=later(-1)),
        lambda seen, where: not (where.tags and where.since),
    )
    assert named is not None
    assert (named.reason, named.value, named.threshold) == ("filter", None, None)
