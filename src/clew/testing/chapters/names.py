"""What nodes name: noted, replaced, found under every way to write it, and never across spaces."""

from __future__ import annotations

from typing import Any

from clew.errors import NotFoundError
from clew.ports import Store
from clew.testing.build import NOW, added, filled, later, node, raises, where
from clew.types import Kind, Mention, NodeId

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


class Naming:
    """Mentions, names, and who is meant by a part of one."""

    # --- noting ---

    def test_mentions_come_back_as_they_were_noted_subjects_first_then_the_surest_then_by_key(
        self, store: Store
    ) -> None:
        store.insert([node("a"), node("b"), node("silent")])
        titled = _said("a", "titanic", subject=True, confidence=0.5, name="Titanic", start=0, end=0)
        sure, tied, unsure = (
            _said("a", "zoe", confidence=0.9),
            _said("a", "ada", confidence=0.8),
            _said("a", "bob", confidence=0.8),
        )
        other = _said("b", "zoe", name="ZOE", type="ORG")
        store.mention([unsure, sure, other, titled, tied])
        assert store.mentions(["a", "b", "silent", "nobody", "a"]) == {
            "a": (titled, sure, tied, unsure),
            "b": (other,),
        }
        assert store.mentions([]) == {}

    def test_what_was_noted_of_a_node_before_is_replaced_and_of_others_kept(
        self, store: Store
    ) -> None:
        store.insert([node("a"), node("b")])
        store.mention([_said("a", "ada"), _said("a", "bob"), _said("b", "ada")])
        store.mention([_said("a", "bob"), _said("a", "cyd")])
        assert _keys(store, "a") == ["bob", "cyd"]
        assert _holders(store, "ada") == ["b"]
        assert [_count(store, key) for key in ("ada", "bob", "cyd")] == [1, 1, 1]
        store.mention([])
        assert _keys(store, "a") == ["bob", "cyd"]

    def test_a_node_mentions_a_key_once_as_its_subject_or_else_where_it_is_surest(
        self, store: Store
    ) -> None:
        store.insert([node("a"), node("b")])
        about, surer = (
            _said("a", "ada", subject=True, confidence=0.6),
            _said("b", "ada", confidence=0.9),
        )
        store.mention(
            [_said("a", "ada", confidence=0.9), about, _said("b", "ada", confidence=0.8), surer]
        )
        assert store.mentions(["a", "b"]) == {"a": (about,), "b": (surer,)}
        found = store.named(["ada"], where(), limit=5)["ada"]
        assert (found.subjects, found.holders, found.nodes) == (("a",), ("b",), 2)

    def test_what_a_text_begins_with_is_told_apart_from_what_it_names_and_a_title_goes_before_it(
        self, store: Store
    ) -> None:
        store.insert([node(id) for id in "abcd"])
        begun, titled = _said("a", "ada", opens=True, start=0), _said("b", "ada", subject=True)
        store.mention(
            [
                begun,
                titled,
                _said("b", "ada", opens=True),
                _said("c", "ada"),
                _said("d", "ada"),
                _said("d", "ada", opens=True),
            ]
        )
        found = store.named(["ada"], where(), limit=5)["ada"]
        assert (found.subjects, found.holders, found.openers, found.nodes) == (
            ("b",),
            ("d", "c", "a"),
            ("d", "a"),
            4,
        )
        assert store.mentions(["a", "b"]) == {"a": (begun,), "b": (titled,)}
        assert store.named(["ada"], where(), limit=1)["ada"].openers == ("d",)

    def test_mentions_of_a_node_that_is_gone_are_passed_over(self, store: Store) -> None:
        store.insert([node("a")])
        store.mention([_said("gone", "ada"), _said("a", "bob")])
        assert store.mentions(["gone", "a"]).keys() == {"a"}
        assert store.named(["ada"], where(), limit=5) == {}

    def test_a_changed_text_or_title_names_nothing_until_it_is_read_anew(
        self, store: Store
    ) -> None:
        store.insert([node("a"), node("b"), node("c")])
        store.mention([_said(id, "ada") for id in ("a", "b", "c")])
        store.update("a", text="said otherwise")
        store.update("b", title="called otherwise")
        store.update("c", importance=0.9, text=store.get(["c"])["c"].text)
        assert list(store.mentions(["a", "b", "c"])) == ["c"]
        assert (_holders(store, "ada"), _count(store, "ada")) == (["c"], 1)

    def test_a_rollback_takes_mentions_back(self, store: Store) -> None:
        store.insert([node("a")])
        store.mention([_said("a", "ada")])
        with raises(NotFoundError), store.transaction():
            store.mention([_said("a", "bob")])
            assert _holders(store, "bob") == ["a"]
            store.update("nobody", title="gone")
        assert _keys(store, "a") == ["ada"]
        assert store.named(["bob"], where(), limit=5) == {}

    def test_a_forgotten_node_is_named_nowhere_and_a_name_goes_with_its_last_mention(
        self, store: Store
    ) -> None:
        filled(store, [node("a"), node("b")])
        store.mention(
            [
                _said("a", "ada", name="Ada"),
                _said("b", "ada", name="ADA", type="ORG"),
                _said("a", "bob"),
            ]
        )
        assert store.delete(["a"]) == 1
        assert store.named(["ada", "bob"], where(), limit=5).keys() == {"ada"}
        assert (_holders(store, "ada"), _count(store, "ada")) == (["b"], 1)
        store.delete(["b"])
        assert store.named(["ada"], where(), limit=5) == {}
        added(store, [node("c")])
        store.mention([_said("c", "ada", name="ada", type="TOOL")])
        found = store.named(["ada"], where(), limit=5)["ada"]
        # nothing is left of how it was written before
        assert (found.name, found.type) == ("ada", "TOOL")
        assert store.verify() == ()

    # --- finding ---

    def test_a_name_is_told_as_first_written_with_subjects_and_holders_latest_first(
        self, store: Store
    ) -> None:
        store.insert([node(id) for id in "dbcae"])
        about = _said("b", "ada", subject=True)
        store.mention(
            [
                _said("d", "ada", name="Ada", type="PERSON"),
                about,
                _said("a", "ada", name="ADA", type="TOOL"),
            ]
        )
        store.mention([_said("c", "ada")])
        found = store.named(["ada", "nobody"], where(), limit=5)
        assert found.keys() == {"ada"}
        # as inserted, whenever it was noted
        assert found["ada"] == ("Ada", "PERSON", ("b",), ("a", "c", "d"), 4, ())
        assert store.named([], where(), limit=5) == {}

    def test_a_hub_gives_its_latest_holders_and_how_many_there_are(self, store: Store) -> None:
        ids = [f"n{number:03}" for number in range(300)]
        store.insert([node(id) for id in ids])
        store.mention([_said(id, "hub", subject=number % 3 == 0) for number, id in enumerate(ids)])
        found = store.named(["hub"], where(), limit=4)["hub"]
        assert found.subjects == ("n297", "n294", "n291", "n288")
        assert found.holders == ("n299", "n298", "n296", "n295")
        assert found.nodes == 300
        none = store.named(["hub"], where(), limit=0)["hub"]
        assert (none.subjects, none.holders, none.nodes) == ((), (), 300)

    def test_names_and_what_parts_stand_for_never_leak_into_another_space(
        self, store: Store
    ) -> None:
        store.insert([node("a", space="one"), node("b", space="two"), node("c", space="two")])
        store.mention([_said("a", "marie curie"), _said("b", "curie"), _said("c", "pierre curie")])
        assert store.named(["marie curie"], where(space="two"), limit=5) == {}
        assert _holders(store, "curie", space="one") == ["a"]
        assert _holders(store, "curie", space="two") == ["c", "b"]
        assert _count(store, "marie curie", space="one") == 1
        assert store.named(["curie"], where(), limit=5) == {}

    def test_every_part_of_a_filter_holds_for_subjects_and_holders(self, store: Store) -> None:
        store.insert(
            [
                node("plain"),
                node(
                    "chunk",
                    kind=Kind.CHUNK,
                    parent="p",
                    tags=("x",),
                    metadata={"n": 1},
                    category="fact",
                ),
                node("archived", archived=True),
                node("ended", t_invalid=later(-1), t_valid=later(-9)),
                node("expired", t_created=later(-9), t_expired=later(-3)),
            ]
        )
        ids = ("plain", "chunk", "archived", "ended", "expired")
        store.mention(
            [_said(id, "ada") for id in ids] + [_said(id, "bob", subject=True) for id in ids]
        )
        expected: list[tuple[dict[str, Any], list[NodeId]]] = [
            ({}, ["chunk", "plain"]),
            ({"kinds": (Kind.CHUNK,)}, ["chunk"]),
            ({"tags": ("x",), "metadata": {"n": 1}, "categories": ("fact",)}, ["chunk"]),
            ({"archived": True}, ["archived", "chunk", "plain"]),
            ({"as_of": later(-5)}, ["ended"]),
            ({"known_at": later(-5), "until": NOW}, ["expired"]),
            ({"within": ("q",)}, ["plain"]),
            ({"since": later(1)}, []),
        ]
        for fields, seen in expected:
            found = store.named(["ada", "bob"], where(**fields), limit=9)
            assert (list(found["ada"].holders), list(found["bob"].subjects)) == (seen, seen), fields
            assert found["ada"].subjects == found["bob"].holders == ()
            assert store.visible([*ids, "nobody", "plain"], where(**fields)) == frozenset(seen), (
                fields
            )
        assert _count(store, "ada") == 4  # all but the one that is expired
        assert store.visible([], where()) == frozenset()

    def test_the_count_follows_expiry_and_is_never_less_than_what_is_shown(
        self, store: Store
    ) -> None:
        filled(store, [node("a"), node("b")])
        store.mention([_said("a", "ada"), _said("b", "ada")])
        store.update("a", t_expired=later(2))
        assert (_holders(store, "ada"), _count(store, "ada")) == (["b"], 1)
        past = store.named(["ada"], where(known_at=later(1)), limit=5)["ada"]
        assert (past.holders, past.nodes) == (("b", "a"), 2)
        store.update("a", t_expired=None)
        assert _count(store, "ada") == 2
        store.update("b", t_expired=later(2))
        store.delete(["b"])
        assert _count(store, "ada") == 1
        assert store.verify() == ()

    # --- who is meant ---

    def test_a_part_of_a_persons_name_stands_for_the_whole_and_the_whole_for_it(
        self, store: Store
    ) -> None:
        store.insert([node(id) for id in "abcd"])
        store.mention(
            [
                _said("a", "matt"),
                _said("b", "matt joyce", name="Matt Joyce"),
                _said("c", "joyce"),
                _said("d", "oxford"),
            ]
        )
        found = store.named(["matt", "matt joyce", "joyce"], where(), limit=5)
        assert (
            found["matt"]
            == found["matt joyce"]
            == found["joyce"]
            == ("Matt Joyce", "PERSON", (), ("c", "b", "a"), 3, ())
        )

    def test_a_part_that_two_names_have_stands_for_neither(self, store: Store) -> None:
        store.insert([node(id) for id in "abcd"])
        store.mention(
            [
                _said("a", "matt"),
                _said("b", "matt joyce"),
                _said("c", "matt smith"),
                _said("d", "smith"),
            ]
        )
        assert _holders(store, "matt") == ["a"]
        assert _holders(store, "matt joyce") == ["b"]
        assert _holders(store, "smith") == _holders(store, "matt smith") == ["d", "c"]
        store.delete(["c"])  # and with it the other Matt
        assert _holders(store, "matt") == ["b", "a"]
        assert store.named(["matt smith"], where(), limit=5) == {}

    def test_a_part_that_nobody_mentions_by_itself_finds_the_whole_and_an_ambiguous_one_nothing(
        self, store: Store
    ) -> None:
        store.insert([node("a"), node("b")])
        store.mention([_said("a", "marie curie")])
        assert _holders(store, "curie") == ["a"]
        store.mention([_said("b", "pierre curie")])
        assert store.named(["curie"], where(), limit=5) == {}

    def test_no_part_of_a_place_stands_for_it(self, store: Store) -> None:
        store.insert([node("a"), node("b")])
        store.mention([_said("a", "new york", type="PLACE"), _said("b", "york", type="PLACE")])
        assert (_holders(store, "york"), _holders(store, "new york")) == (["b"], ["a"])

    def test_keys_may_be_of_any_script_and_are_never_syntax(self, store: Store) -> None:
        keys = [
            "東京",
            "мария кюри",
            "o'brien\"; DROP TABLE name; --",
            "%",
            "a/b.py",
            "😀",
            "c++",
            ":space",
            "?1",
            "",
        ]
        store.insert([node(f"n{place}") for place in range(len(keys))])
        store.mention([_said(f"n{place}", key, name=key) for place, key in enumerate(keys)])
        found = store.named([*keys, "東", "_"], where(), limit=5)
        assert {key: named.holders for key, named in found.items()} == {
            key: (f"n{place}",) for place, key in enumerate(keys)
        }
        assert [
            store.mentions([f"n{place}"])[f"n{place}"][0].key for place in range(len(keys))
        ] == keys


def _said(
    id: NodeId,
    key: str,
    *,
    name: str = "Name",
    type: str = "PERSON",
    confidence: float = 0.9,
    **fields: Any,
) -> Mention:
    return Mention(
        id, key, name, type, confidence, **{"subject": False, "start": 3, "end": 7, **fields}
    )


def _keys(store: Store, id: NodeId) -> list[str]:
    return sorted(mention.key for mention in store.mentions([id]).get(id, ()))


def _holders(store: Store, key: str, **fields: Any) -> list[NodeId]:
    return list(store.named([key], where(**fields), limit=50)[key].holders)


def _count(store: Store, key: str, **fields: Any) -> int:
    return store.named([key], where(**fields), limit=50)[key].nodes
