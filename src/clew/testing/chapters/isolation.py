"""Nothing of one space shows in another.

Not in a score, a count, an order or a neighbour, whatever is added, changed or removed there.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from clew.ports import Sort, Store
from clew.testing.build import MODEL, NOW, added, codes, embedding, filled, later, node, unit, where
from clew.text.words import content_hash
from clew.types import Edge, Event, EventKind, Kind, Mention, Node, Role

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


_WORDS = ("apple", "pear", "plum", "quince", "fig", "date", "lemon", "Matt", "Matt Joyce", "Anna")
_TERMS = (
    ["appl"],
    ["pear", "plum"],
    ["fig", "date", "lemon", "absent"],
    ["matt", "joyc", "anna", "quinc"],
)
_KEYS = ("matt", "matt joyce", "anna", "apple", "nobody")
_OTHER = "other"


class Isolating:
    """Many spaces in one store."""

    def test_what_another_space_adds_changes_and_removes_changes_no_answer(
        self, store: Store
    ) -> None:
        own = _filled(store, "default", 30)
        before = _told(store, own)
        for _ in _lived(store, _OTHER, seed=1):
            assert _told(store, own) == before

    def test_a_space_answers_as_if_it_had_the_store_to_itself(self, store: Store) -> None:
        store.activate(MODEL)
        others = _filled(store, _OTHER, 40, seed=2)
        own = _filled(store, "default", 20)
        _filled(store, "third", 25, seed=3)
        beside = _told(store, own)
        store.delete([each.id for each in store.nodes(_OTHER)])
        assert not store.visible([each.id for each in others], where(space=_OTHER))
        assert _told(store, own) == beside
        store.delete([each.id for each in store.nodes("third")])
        assert _told(store, own) == beside
        store.compact()
        store.repair()
        assert _told(store, own) == beside

    def test_a_transaction_that_fills_another_space_changes_no_answer_inside_it(
        self, store: Store
    ) -> None:
        own = _filled(store, "default", 10)
        before = _told(store, own)
        with store.transaction():
            _filled(store, _OTHER, 80, seed=4)
            assert _told(store, own) == before
        assert _told(store, own) == before

    def test_many_spaces_with_the_same_texts_get_the_same_scores(self, store: Store) -> None:
        store.activate(MODEL)
        for space in range(12):
            added(
                store,
                [
                    replace(each, id=f"{space:02}.{each.id}", space=f"s{space}")
                    for each in _texts("default", 15, seed=5)
                ],
            )
        for terms in _TERMS:
            found = [store.sparse(terms, where(space=f"s{space}"), limit=9) for space in range(12)]
            assert (
                len({tuple((match.id[3:], match.score) for match in ranking) for ranking in found})
                == 1
            )

    def test_what_is_rare_is_counted_in_the_space_that_is_asked(self, store: Store) -> None:
        store.insert([node("a", "apple pear"), node("b", "apple plum"), node("c", "fig")])
        store.insert([node(f"o{n}", "pear fig date", space=_OTHER) for n in range(30)])
        ids = [match.id for match in store.sparse(["appl", "pear"], where(), limit=5)]
        assert ids == ["a", "b"]
        # one of three holds it, whatever others do
        assert store.sparse(["fig"], where(), limit=5)[0].score > 0.1

    def test_coverage_and_stats_of_a_space_count_it_alone(self, store: Store) -> None:
        filled(
            store,
            [
                node("a"),
                node("b", archived=True),
                node("c", category="fact", space=_OTHER, t_expired=NOW, protected=True),
            ],
        )
        store.insert(
            [
                node("d", kind=Kind.SECTION, space=_OTHER),
                node("e", context="key", kind=Kind.CHUNK, space=_OTHER),
            ]
        )
        store.link(
            [
                Edge(source="a", target="b", kind="k", t_created=NOW),
                Edge(source="a", target="d", kind="k", t_created=NOW),
            ]
        )
        store.reject({"too_short": 3})
        assert store.coverage("default") == (1, 1, 0, 0, 0, 0)
        assert store.coverage(_OTHER) == (2, 0, 1, 0, 1, 0)
        assert store.coverage("none") == (0, 0, 0, 0, 0, 0)
        counted = (
            "nodes",
            "live",
            "expired",
            "archived",
            "vectors",
            "unembedded",
            "events",
            "edges",
        )
        assert [store.stats("default")[name] for name in counted] == [2, 1, 0, 1, 2, 0, 2, 1]
        assert [store.stats(_OTHER)[name] for name in counted] == [3, 2, 1, 0, 1, 2, 1, 0]
        assert [store.stats("none")[name] for name in counted] == [0] * 8
        assert store.stats(_OTHER)["by_space"] == {_OTHER: 3}
        assert store.stats(_OTHER)["by_category"] == {"fact": 1, "observation": 2}
        assert store.stats(_OTHER)["by_kind"] == {"chunk": 1, "memory": 1, "section": 1}
        assert store.stats("none")["by_space"] == {}
        store.delete(["c"])
        store.append([Event(node="c", kind=EventKind.FORGET, at=NOW, detail={"space": _OTHER})])
        assert (store.stats(_OTHER)["by_event"], store.stats("default")["by_event"]) == (
            {"FORGET": 1},
            {"ADD": 2},
        )
        # nobody's space, so everybody's to infer from
        assert not {"rejected", "bytes"} & store.stats("default").keys()

    def test_a_node_that_claims_another_spaces_parent_or_root_is_none_of_its_family(
        self, store: Store
    ) -> None:
        tree = [node("doc", kind=Kind.DOCUMENT)]
        tree += [
            node(f"doc.{n}", f"part {n}", kind=Kind.CHUNK, parent="doc", root="doc", position=n)
            for n in range(3)
        ]
        intruder = node(
            "x", "intruding", kind=Kind.CHUNK, parent="doc", root="doc", position=1, space=_OTHER
        )
        store.insert([*tree, intruder])
        assert store.family(["doc"]) == ("doc", "doc.0", "doc.1", "doc.2")
        assert [each.id for each in store.neighbours(["doc.1"], reach=2)["doc.1"]] == [
            "doc.0",
            "doc.1",
            "doc.2",
        ]
        assert [each.id for each in store.neighbours(["x"], reach=2)["x"]] == ["x"]

    def test_keys_and_hashes_are_looked_up_in_their_own_space(self, store: Store) -> None:
        text = "the same words"
        store.insert(
            [
                node("a", text, idempotency_key="key"),
                node("b", text, idempotency_key="key", space=_OTHER),
            ]
        )
        store.claim("b", "claimed")
        assert (store.find_key("default", "key"), store.find_key(_OTHER, "key")) == ("a", "b")
        assert (store.find_key("default", "claimed"), store.find_key("none", "key")) == (None, None)
        assert (
            store.find_hash("default", content_hash(text)),
            store.find_hash("none", content_hash(text)),
        ) == (("a",), ())


def _texts(space: str, count: int, *, seed: int = 0) -> list[Node]:
    """Return nodes of a space: words that all spaces use, of every kind and age."""
    draw = random.Random(seed)  # noqa: S311 - texts, not secrets
    kinds = (Kind.MEMORY, Kind.MEMORY, Kind.CHUNK, Kind.SECTION)
    return [
        node(
            f"{space}.{seed}.{number:03}",
            " ".join(draw.choices(_WORDS, k=draw.randint(2, 12))),
            space=space,
            kind=draw.choice(kinds),
            title=draw.choice(("", "Matt Joyce", "apple")),
            context=draw.choice(("", "", "fig date")),
            importance=draw.randint(0, 10) / 10,
            t_valid=later(-draw.randint(0, 5)),
            t_expired=NOW if draw.random() < 0.1 else None,
            archived=draw.random() < 0.1,
            # the same in the spaces that are compared
            idempotency_key=f"{seed // 100} key {number}",
        )
        for number in range(count)
    ]


def _filled(store: Store, space: str, count: int, *, seed: int = 0) -> list[Node]:
    """Write nodes with all that hangs on them: vectors, names, edges, accesses, events."""
    nodes = _texts(space, count, seed=seed)
    if store.model() is None:
        store.activate(MODEL)
    with store.transaction():
        vectors = [
            (each, unit(f"{each.text} {role}"), role) for each in nodes for role in _roles(each)
        ]
        store.insert(
            nodes,
            [
                embedding(each, vector, role=role, tokens=codes(each.text))
                for each, vector, role in vectors
            ],
        )
        store.append([Event(node=each.id, kind=EventKind.ADD, at=NOW) for each in nodes])
        store.mention(
            [_said(each, key) for each in nodes for key in _KEYS if key in each.text.lower()]
        )
        store.link(
            [
                Edge(source=one.id, target=other.id, kind="RELATED", weight=0.7, t_created=NOW)
                for one, other in pairwise(nodes)
            ]
        )
    store.touch([each.id for each in nodes[::3]], NOW, min_interval_seconds=60)
    return nodes


def _roles(of: Node) -> tuple[Role, ...]:
    return (
        Role.CONTENT,
        *((Role.CONTEXT,) if of.context else ()),
        *((Role.QUESTION,) if of.kind is Kind.MEMORY else ()),
    )


def _said(of: Node, key: str) -> Mention:
    return Mention(of.id, key, key.title(), "PERSON", 0.9, subject=of.title.lower() == key)


def _lived(store: Store, space: str, *, seed: int) -> Iterator[None]:
    """Fill a space, change it in every way and empty it again; yield after each step."""
    nodes: Sequence[Node] = _filled(store, space, 40, seed=seed)
    yield
    for each in nodes[:5]:
        store.update(each.id, text="apple pear plum", title="fig", archived=True)
    yield
    for each in nodes[5:15]:
        store.update(each.id, t_expired=NOW, importance=1.0, category="fact")
    store.reject({"too_short": 7})
    yield
    store.touch([each.id for each in nodes], later(1), min_interval_seconds=0)
    store.put([embedding(each, unit("apple")) for each in nodes[10:20]], MODEL)
    store.claim(nodes[20].id, "0 key 45")
    yield
    _filled(store, space, 90, seed=seed + 100)
    yield
    store.delete([each.id for each in nodes])
    yield
    store.delete([each.id for each in store.nodes(space)])
    yield


def _told(store: Store, own: Sequence[Node]) -> list[object]:
    """Return everything that a space can be asked, of its own nodes and by its own filters."""
    ids = [each.id for each in own]
    filters = (
        where(),
        where(archived=True),
        where(kinds=(Kind.SECTION,)),
        where(categories=("fact",)),
        where(known_at=later(-1)),
    )
    searches = [
        store.sparse(terms, each, limit=limit)
        for terms in _TERMS
        for each in filters
        for limit in (1, 5, 500)
    ]
    near = [
        store.dense(unit(seed), each, limit=limit, role=role)
        for seed in "ab"
        for each in filters
        for limit in (3, 500)
        for role in Role
    ]
    lists = [store.listing(each, sort=sort, limit=50) for each in filters for sort in Sort]
    names = [
        store.named(_KEYS, each, limit=limit, parts=parts)
        for each in filters
        for limit in (2, 50)
        for parts in (True, False)
    ]
    return [
        *(
            searches,
            near,
            lists,
            names,
            store.coverage("default"),
            store.stats("default"),
            list(store.nodes("default")),
        ),
        *(
            store.mentions(ids),
            store.edges(ids),
            store.visible(ids, where()),
            store.signals(ids),
            store.evidence(ids),
        ),
        *(
            store.token_codes(ids),
            store.cosines(unit("a"), ids),
            store.family(ids),
            store.neighbours(ids, reach=2),
            [store.events(id) for id in ids],
        ),
        [store.find_key("default", f"0 key {number}") for number in range(50)],
        [store.find_hash("default", each.content_hash) for each in own],
    ]
