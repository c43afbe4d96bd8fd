"""What is deleted leaves nothing but, where that is wanted, a keyed hash of its text."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

from clew.ports import Store
from clew.testing.build import NOW, filled, later, node, raises, where
from clew.testing.chapters.sharing import Sharing
from clew.types import Mention
from clew.words import content_hash

HASHES = tuple(content_hash(text) for text in ("one text", "another text", "a third text"))


class Forgetting(Sharing):
    """Tombstones, carriers of metadata, and what a deletion takes along."""

    def test_a_text_has_a_tombstone_in_the_space_where_it_was_forgotten(self, store: Store) -> None:
        assert store.find_tombstones("work", HASHES) == frozenset()
        store.add_tombstones("work", HASHES[:2])
        assert store.find_tombstones("work", HASHES) == frozenset(HASHES[:2])
        assert store.find_tombstones("home", HASHES) == frozenset()
        assert store.find_tombstones("work", ()) == frozenset()

    def test_a_tombstone_can_be_dropped_and_added_again(self, store: Store) -> None:
        store.drop_tombstones("work", HASHES)
        store.add_tombstones("work", HASHES)
        store.add_tombstones("work", HASHES)
        store.drop_tombstones("home", HASHES)
        store.drop_tombstones("work", HASHES[:1])
        assert store.find_tombstones("work", HASHES) == frozenset(HASHES[1:])
        store.add_tombstones("work", HASHES[:1])
        assert store.find_tombstones("work", HASHES) == frozenset(HASHES)

    def test_a_tombstone_is_rolled_back_with_its_transaction(self, store: Store) -> None:
        with raises(ValueError), store.transaction():
            store.add_tombstones("work", HASHES)
            raise ValueError
        assert store.find_tombstones("work", HASHES) == frozenset()

    def test_tombstones_outlive_the_handle(self, store: Store) -> None:
        store.add_tombstones("work", HASHES[:1])
        with self._reopened(store) as other:
            assert other.find_tombstones("work", HASHES) == frozenset(HASHES[:1])

    def test_carriers_of_metadata_are_found_whatever_their_state(self, store: Store) -> None:
        store.insert(
            [
                node("a", metadata={"file": "x", "n": 1}),
                node("b", metadata={"file": "x", "n": 1}, t_expired=later(1), archived=True),
                node("c", metadata={"file": "x", "n": 2}),
                node("d", metadata={"file": "x", "n": 1}, space="home"),
                node("e"),
            ]
        )
        assert store.carriers("default", {"file": "x", "n": 1.0}) == ("a", "b")
        assert store.carriers("default", {"file": "x"}) == ("a", "b", "c")
        assert store.carriers("default", {"file": "y"}) == store.carriers("elsewhere", {"file": "x"}) == ()

    def test_a_name_is_spelled_as_those_do_who_still_mention_it(self, store: Store) -> None:
        filled(store, [node("a", "ZEBRA CANARY sleeps"), node("b", "Zebra Canary sleeps"), node("c", "zebra canary sleeps")])
        spelled = {"a": "ZEBRA CANARY", "b": "Zebra Canary", "c": "zebra canary"}
        store.mention([Mention(id, "zebra canary", name, "PERSON", 0.9) for id, name in spelled.items()])
        assert store.named(["zebra canary"], where(), limit=5)["zebra canary"].name == "ZEBRA CANARY"
        store.delete(["a"])
        found = store.named(["zebra canary"], where(), limit=5)["zebra canary"]
        assert (found.name, found.nodes) == ("Zebra Canary", 2)
        assert [said.name for id in "bc" for said in store.mentions([id])[id]] == ["Zebra Canary", "zebra canary"]
        store.delete(["c"])
        assert store.named(["zebra canary"], where(), limit=5)["zebra canary"].name == "Zebra Canary"
        assert store.verify() == ()

    def test_a_deletion_leaves_every_search_as_if_the_node_had_never_been(self, store: Store) -> None:
        texts = [f"apple number {number}" for number in range(100)]
        filled(store, [node(f"n{number:03}", text) for number, text in enumerate(texts)])
        store.compact()
        store.delete(["n007", "n050"])
        assert store.verify() == ()
        assert store.holding(["appl"], "default") == {"appl": 98}
        assert store.coverage("default").vectors == 98
        with self._reopened(store) as other:
            assert other.verify() == ()
            assert other.holding(["appl"], "default") == {"appl": 98}
            assert {match.id for match in other.sparse(["appl"], where(), limit=200)}.isdisjoint({"n007", "n050"})

    def test_erasing_and_searching_files_change_no_answer(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "a text that is deleted here")])
        store.delete(["b"])
        done = store.erase(["a text that is deleted here"])
        assert (sum(each.found for each in done.files), done.shared, done.remains) == (0, 0, ())
        assert sum(each.found for each in store.search_files("a text that is deleted here")) == 0
        assert [match.id for match in store.sparse(["appl"], where(), limit=5)] == ["a"]
        assert store.get(["a"])["a"].t_created == NOW
