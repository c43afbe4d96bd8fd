"""What one handle has committed, every other sees at once, and so does one that opens later."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clew.ports import ModelInfo, Sort, Store
from clew.testing.build import MODEL, NOW, added, codes, embedding, filled, node, unit, where
from clew.types import Edge, Event, EventKind

_NEXT = ModelInfo("next-model", 24)


class Sharing:
    """Several handles, and reopening."""

    def second_handle(self, store: Store) -> Store | None:  # noqa: ARG002 - a store with a file overrides this
        """Return another handle on the same data, as another process would open it; None when there can be none."""
        return None

    def reopen(self, store: Store) -> Store | None:  # noqa: ARG002 - a store with a file overrides this
        """Close the store and return it opened again; None when it does not outlive its handle."""
        return None

    @contextmanager
    def _second(self, store: Store) -> Iterator[Store]:
        other = self.second_handle(store) or _skip("this store has no second handle on the same data")
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
        kept = [node(f"{i:02}", f"apple word{i}", tags=("t",), metadata={"i": i}) for i in range(30)]
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
