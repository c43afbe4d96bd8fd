"""What is deleted leaves nothing but, where that is wanted, a keyed hash of its text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clew.ports import ModelInfo, Sort, Store
from clew.testing.build import (
    MODEL,
    NOW,
    added,
    codes,
    embedding,
    filled,
    later,
    node,
    raises,
    unit,
    where,
)
from clew.text.words import content_hash
from clew.types import Edge, Event, EventKind, Mention

# What one handle has committed, every other sees at once, and so does one that opens later.

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


_NEXT = ModelInfo("next-model", 24)


class Sharing:
    """Several handles, and reopening."""

    # A store with a file overrides this
    def second_handle(self, store: Store) -> Store | None:  # noqa: ARG002
        """Return another handle on the same data, as another process would open it.

        None when there can be none.
        """
        return None

    # A store with a file overrides this
    def reopen(self, store: Store) -> Store | None:  # noqa: ARG002
        """Close the store and return it opened again; None when it does not outlive its handle."""
        return None

    @contextmanager
    def _second(self, store: Store) -> Iterator[Store]:
        other = self.second_handle(store) or _skip(
            "this store has no second handle on the same data"
        )
        try:
            yield other
        finally:
            other.close()

    @contextmanager
    def _reopened(self, store: Store) -> Iterator[Store]:
        other = self.reopen(store) or _skip("this store does not outlive its handle")
        try:
            yield other
        finally:
            other.close()

    def test_another_handles_insert_update_and_delete_are_seen_at_once(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "apple")])
        with self._second(store) as other:
            assert _ids(other) == (["a", "b"],) * 3
            store.insert([node("c", "apple")], [embedding(node("c", "apple"))])
            assert _ids(other) == (["a", "b", "c"],) * 3
            store.update("a", archived=True)
            assert _ids(other) == (["b", "c"],) * 3
            other.delete(["b"])
            assert _ids(store) == _ids(other) == (["c"],) * 3
            other.update("a", archived=False, text="pear")
            assert _ids(store) == (["c"], ["a", "c"], ["a", "c"])

    def test_another_handles_new_vector_replaces_the_old_one(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "plum")])
        with self._second(store) as other:
            assert other.dense(unit("pear"), where(), limit=1)[0].score < 0.99
            store.put([embedding(node("a"), unit("pear"))], MODEL)
            best = other.dense(unit("pear"), where(), limit=1)[0]
            assert (best.id, best.score > 0.99) == ("a", True)

    def test_another_handles_change_of_model_is_seen_at_once(self, store: Store) -> None:
        filled(store, [node("a", "apple")])
        with self._second(store) as other:
            assert other.dense(unit("apple"), where(), limit=1)[0].id == "a"
            store.put([embedding(node("a"), unit("apple", 24))], _NEXT)
            assert other.dense(unit("apple"), where(), limit=1)[0].id == "a"
            store.activate(_NEXT)
            assert other.model() == _NEXT
            assert other.dense(unit("apple", 24), where(), limit=1)[0].score > 0.99

    def test_a_handle_opened_before_the_first_model_finds_its_vectors(self, store: Store) -> None:
        with self._second(store) as other:
            assert other.dense(unit("apple"), where(), limit=1) == ()
            filled(store, [node("a", "apple")])
            assert _ids(other) == (["a"],) * 3

    def test_what_is_not_committed_is_not_seen(self, store: Store) -> None:
        filled(store, [node("a", "apple")])
        with self._second(store) as other:
            with store.transaction():
                store.insert([node("b", "apple")], [embedding(node("b", "apple"))])
                assert _ids(other) == (["a"],) * 3
            assert _ids(other) == (["a", "b"],) * 3

    def test_handles_write_in_turn_without_losing_a_write(self, store: Store) -> None:
        store.activate(MODEL)
        with self._second(store) as other:
            for i in range(20):
                fresh = node(f"{i:02}", "apple")
                added((store, other)[i % 2], [fresh])
            expected = [f"{i:02}" for i in range(20)]
            assert _ids(store) == _ids(other) == (expected,) * 3
            assert store.verify() == other.verify() == ()

    def test_everything_is_there_after_reopening(self, store: Store) -> None:
        kept = [
            node(f"{i:02}", f"apple word{i}", tags=("t",), metadata={"i": i}) for i in range(30)
        ]
        filled(store, kept)
        store.put([embedding(each, tokens=codes(each.text)) for each in kept[:9]], MODEL)
        store.append([Event(node="00", kind=EventKind.UPDATE, at=NOW, detail={"n": 1})])
        store.link([Edge(source="00", target="01", kind="k", t_created=NOW)])
        store.touch(["00"], NOW, min_interval_seconds=60)
        store.delete(["29"])
        store.update("02", text="pear")
        before = _view(store)
        with self._reopened(store) as again:
            assert _view(again) == before
            assert again.touch(["00"], NOW, min_interval_seconds=60) == 0
            assert again.verify() == ()


def _skip(reason: str) -> Store:
    import pytest  # noqa: PLC0415 - only a test that is skipped needs it

    pytest.skip(reason)


def _ids(store: Store) -> tuple[list[str], list[str], list[str]]:
    return (
        sorted(match.id for match in store.sparse(["appl"], where(), limit=50)),
        sorted(match.id for match in store.dense(unit("apple"), where(), limit=50)),
        sorted(each.id for each in store.listing(where(), sort=Sort.RECENT, limit=50)),
    )


def _view(store: Store) -> tuple[object, ...]:
    return (
        list(store.nodes()),
        store.sparse(["appl", "pear"], where(), limit=50),
        store.dense(unit("q"), where(tags=("t",)), limit=50),
        store.events("00"),
        store.edges(["00"]),
        store.token_codes([each.id for each in store.nodes()]),
        store.model(),
    )


# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


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
        assert (
            store.carriers("default", {"file": "y"})
            == store.carriers("elsewhere", {"file": "x"})
            == ()
        )

    def test_a_name_is_spelled_as_those_do_who_still_mention_it(self, store: Store) -> None:
        filled(
            store,
            [
                node("a", "ZEBRA CANARY sleeps"),
                node("b", "Zebra Canary sleeps"),
                node("c", "zebra canary sleeps"),
            ],
        )
        spelled = {"a": "ZEBRA CANARY", "b": "Zebra Canary", "c": "zebra canary"}
        store.mention(
            [Mention(id, "zebra canary", name, "PERSON", 0.9) for id, name in spelled.items()]
        )
        assert (
            store.named(["zebra canary"], where(), limit=5)["zebra canary"].name == "ZEBRA CANARY"
        )
        store.delete(["a"])
        found = store.named(["zebra canary"], where(), limit=5)["zebra canary"]
        assert (found.name, found.nodes) == ("Zebra Canary", 2)
        assert [said.name for id in "bc" for said in store.mentions([id])[id]] == [
            "Zebra Canary",
            "zebra canary",
        ]
        store.delete(["c"])
        assert (
            store.named(["zebra canary"], where(), limit=5)["zebra canary"].name == "Zebra Canary"
        )
        assert store.verify() == ()

    def test_a_deletion_leaves_every_search_as_if_the_node_had_never_been(
        self, store: Store
    ) -> None:
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
            assert {match.id for match in other.sparse(["appl"], where(), limit=200)}.isdisjoint(
                {"n007", "n050"}
            )

    def test_erasing_and_searching_files_change_no_answer(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "a text that is deleted here")])
        store.delete(["b"])
        done = store.erase(["a text that is deleted here"])
        assert (sum(each.found for each in done.files), done.shared, done.remains) == (0, 0, ())
        assert sum(each.found for each in store.search_files("a text that is deleted here")) == 0
        assert [match.id for match in store.sparse(["appl"], where(), limit=5)] == ["a"]
        assert store.get(["a"])["a"].t_created == NOW
