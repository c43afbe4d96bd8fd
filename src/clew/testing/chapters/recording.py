"""What surfaces keep beside memories, and lists that go on where they were left off."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

from clew.errors import NotFoundError
from clew.ports import Sort, Store
from clew.testing.build import NOW, later, node, raises
from clew.types import Filter, Node, Spot


class Recording:
    """Records and pages."""

    def test_a_record_is_kept_by_kind_and_id_until_it_is_dropped(self, store: Store) -> None:
        store.keep("token", "b", {"name": "é", "spaces": ["one", None]})
        store.keep("token", "a", {})
        store.keep("job", "b", {"done": 1})
        assert store.kept("token") == {"a": {}, "b": {"name": "é", "spaces": ["one", None]}}
        assert list(store.kept("token")) == ["a", "b"]
        assert store.drop("token", "b") is True
        assert store.drop("token", "b") is False
        assert store.kept("token") == {"a": {}}
        assert store.kept("job") == {"b": {"done": 1}}
        assert store.kept("unheard of") == {}

    def test_one_record_is_looked_up_by_kind_and_id(self, store: Store) -> None:
        store.keep("token", "a", {"name": "é", "spaces": ["one", None]})
        store.keep("token", "b", {})
        store.keep("job", "b", {"done": 1})
        assert store.record("token", "a") == {"name": "é", "spaces": ["one", None]}
        assert store.record("token", "b") == {}
        assert store.record("job", "b") == {"done": 1}
        assert store.record("job", "a") is None
        store.drop("token", "b")
        assert store.record("token", "b") is None

    def test_any_text_may_be_asked_for_as_the_id_of_a_record(self, store: Store) -> None:
        ids = ("", "é", "a\0b", "a%", "a'--", "\U0001f9f6" * 100)
        for id in ids:
            store.keep("token", id, {"id": id})
        assert [store.record("token", id) for id in ids] == [{"id": id} for id in ids]
        assert [store.record("token", id) for id in ("a", "a\0", "A%", "e\u0301", "\udce4", "x" * 100_000)] == [None] * 6

    def test_a_record_that_was_looked_up_is_the_callers_own(self, store: Store) -> None:
        store.keep("job", "a", {"done": [1]})
        found = store.record("job", "a")
        assert found is not None
        found["done"].append(2)
        assert store.record("job", "a") == {"done": [1]}

    def test_a_record_kept_again_is_replaced(self, store: Store) -> None:
        store.keep("job", "a", {"done": 1, "of": 2})
        store.keep("job", "a", {"done": 2})
        assert store.kept("job") == {"a": {"done": 2}}
        assert store.record("job", "a") == {"done": 2}

    def test_a_record_goes_with_the_transaction_that_failed(self, store: Store) -> None:
        store.keep("job", "a", {"done": 1})
        with raises(NotFoundError), store.transaction():
            store.keep("job", "a", {"done": 2})
            store.keep("job", "b", {})
            assert store.record("job", "a") == {"done": 2}  # whoever writes it sees it
            store.update("nowhere", importance=1.0)
        assert store.kept("job") == {"a": {"done": 1}}
        assert store.record("job", "a") == {"done": 1}
        assert store.record("job", "b") is None

    def test_pages_put_together_are_the_list(self, store: Store) -> None:
        store.insert([node(f"n{i:02}", importance=(i % 4) / 4, accesses=i % 3, t_valid=later(i % 5)) for i in range(23)])
        where = Filter(now=later(9))
        for sort in Sort:
            whole = store.listing(where, sort=sort, limit=100)
            pages: list[Node] = []
            after: Spot | None = None
            while page := store.listing(where, sort=sort, limit=4, after=after):
                pages += page
                after = _spot(page[-1], sort)
            assert pages == list(whole)
            assert len(pages) == 23

    def test_a_page_begins_behind_a_node_that_is_gone(self, store: Store) -> None:
        store.insert([node(name, t_valid=NOW) for name in "abcd"])
        where = Filter(now=later(1))
        after = _spot(store.listing(where, sort=Sort.RECENT, limit=2)[-1], Sort.RECENT)
        store.delete(["b"])
        assert [each.id for each in store.listing(where, sort=Sort.RECENT, limit=9, after=after)] == ["c", "d"]


def _spot(last: Node, sort: Sort) -> Spot:
    value = {Sort.RECENT: 0.0, Sort.IMPORTANT: last.importance, Sort.POPULAR: float(last.accesses)}[sort]
    return Spot(value, last.t_valid, last.id)
