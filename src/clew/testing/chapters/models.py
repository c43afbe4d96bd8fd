"""A store searches one model's vectors, refuses another's, and changes from one to the other at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clew.errors import InputError, ModelMismatchError, NotFoundError
from clew.ports import ModelInfo, Sort, Store
from clew.testing.build import (
    DIMENSION,
    MODEL,
    NOW,
    codes,
    embedding,
    filled,
    later,
    node,
    raises,
    unit,
    where,
)
from clew.token_codes import MAX_TOKENS, bytes_per_token
from clew.types import Filter, Kind, Node, Role, Spot

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


_NEXT = ModelInfo("next-model", 24)


class Modelling:
    """Models and their vectors."""

    def test_the_active_model_is_remembered(self, store: Store) -> None:
        assert store.model() is None
        store.activate(MODEL)
        assert store.model() == MODEL

    def test_vectors_before_any_model_are_refused_and_the_node_with_them(
        self, store: Store
    ) -> None:
        with raises(ModelMismatchError):
            store.insert([node("a")], [embedding(node("a"))])
        assert store.get(["a"]) == {}

    def test_a_vector_of_wrong_shape_length_or_content_is_refused_and_the_node_with_it(
        self, store: Store
    ) -> None:
        filled(store, [node("kept")])
        infinite = unit("a").copy()
        infinite[0] = np.inf
        for vector in (
            unit("a", DIMENSION - 1),
            unit("a").reshape(1, -1),
            infinite,
            np.zeros(DIMENSION, np.float32),
        ):
            with raises(InputError, ModelMismatchError):
                store.insert([node("a")], [embedding(node("a"), vector)])
            with raises(InputError, ModelMismatchError):
                store.put([embedding(node("kept"), vector)], MODEL)
        assert store.get(["a"]) == {}
        assert store.stats()["vectors"] == 1

    def test_a_vector_of_a_node_that_was_forgotten_meanwhile_is_left_out(
        self, store: Store
    ) -> None:
        filled(store, [node("a"), node("b")])
        store.delete(["a"])
        store.put([embedding(node("a")), embedding(node("b"), unit("fresh"))], MODEL)
        assert store.dense(unit("fresh"), where(), limit=5)[0].score > 0.99
        assert store.stats()["vectors"] == 1
        store.insert([node("a")])
        assert store.cosines(unit("fresh"), ["a", "b"]).keys() == {"b"}

    def test_a_model_under_the_same_name_with_another_dimension_is_refused(
        self, store: Store
    ) -> None:
        filled(store, [node("a")])
        with raises(ModelMismatchError):
            store.put([embedding(node("a"), unit("a", 24))], ModelInfo(MODEL.id, 24))

    def test_activating_the_active_model_again_keeps_its_vectors(self, store: Store) -> None:
        filled(store, [node("a")])
        store.activate(MODEL)
        assert [match.id for match in store.dense(unit("q"), where(), limit=5)] == ["a"]

    def test_a_second_model_is_not_searched_until_it_is_activated_and_then_alone(
        self, store: Store
    ) -> None:
        nodes = [node("a", "apple"), node("b", "pear"), node("c", "plum")]
        filled(store, nodes)
        before = store.dense(unit("apple"), where(), limit=5)
        store.put([embedding(each, unit(each.text, 24)) for each in nodes[:2]], _NEXT)
        assert store.dense(unit("apple"), where(), limit=5) == before
        assert store.model() == MODEL
        assert store.stats()["vectors"] == 3
        store.activate(_NEXT)
        assert store.model() == _NEXT
        assert store.dense(unit("pear", 24), where(), limit=5)[0].id == "b"
        assert store.cosines(unit("pear", 24), ["a", "b", "c"]).keys() == {"a", "b"}
        assert store.stats()["vectors"] == 2
        with raises(InputError, ModelMismatchError):
            store.dense(unit("apple"), where(), limit=5)

    def test_switching_models_that_fails_half_way_leaves_the_first_one_searched(
        self, store: Store
    ) -> None:
        filled(store, [node("a", "apple")])
        before = store.dense(unit("apple"), where(), limit=5)
        with raises(ZeroDivisionError), store.transaction():
            store.put([embedding(node("a"), unit("apple", 24))], _NEXT)
            store.activate(_NEXT)
            raise ZeroDivisionError
        assert store.model() == MODEL
        assert store.dense(unit("apple"), where(), limit=5) == before
        assert store.unembedded(_NEXT.id, limit=5) == (node("a", "apple"),)

    def test_switching_there_and_back_brings_no_old_vector_back(self, store: Store) -> None:
        filled(store, [node("a", "apple")])
        store.activate(_NEXT)
        store.activate(MODEL)
        assert store.dense(unit("apple"), where(), limit=5) == ()
        assert store.unembedded(MODEL.id, limit=5) == (node("a", "apple"),)

    def test_vectors_of_a_model_in_waiting_go_with_their_node(self, store: Store) -> None:
        filled(store, [node("a"), node("b")])
        store.put([embedding(node(name), unit(name, 24)) for name in "ab"], _NEXT)
        store.delete(["a"])
        store.activate(_NEXT)
        assert [match.id for match in store.dense(unit("q", 24), where(), limit=5)] == ["b"]

    def test_unembedded_names_live_nodes_without_a_fresh_content_vector_by_id(
        self, store: Store
    ) -> None:
        store.activate(MODEL)
        names = ["missing", "stale", "fresh", "question", "expired", "archived"]
        store.insert(
            [
                node(
                    name,
                    name,
                    t_expired=NOW if name == "expired" else None,
                    archived=name == "archived",
                )
                for name in names
            ]
        )
        store.put(
            [
                embedding(node("stale", "stale"), text_hash="old"),
                embedding(node("fresh", "fresh")),
                embedding(node("question", "question"), role=Role.QUESTION),
            ],
            MODEL,
        )
        assert [each.id for each in store.unembedded(MODEL.id, limit=10)] == [
            "missing",
            "question",
            "stale",
        ]
        assert [each.id for each in store.unembedded(MODEL.id, limit=2)] == ["missing", "question"]
        assert store.unembedded(MODEL.id, limit=0) == ()
        assert len(store.unembedded("unheard-of", limit=10)) == 4
        assert store.stats()["unembedded"] == 3

    def test_embeddings_are_the_kept_vectors_of_the_active_model_by_node_and_role(
        self, store: Store
    ) -> None:
        filled(store, [node("b", "pear"), node("a", "apple"), node("c", "plum")])
        store.put([embedding(node("a"), unit("why"), role=Role.QUESTION, text_hash="q")], MODEL)
        store.put([embedding(node("a"), unit("apple", 24))], _NEXT)
        found = store.embeddings(["b", "a", "a", "missing"])
        assert [(each.node, each.role) for each in found] == [
            ("a", Role.CONTENT),
            ("a", Role.QUESTION),
            ("b", Role.CONTENT),
        ]
        assert [each.text_hash for each in found] == [
            node("a", "apple").content_hash,
            "q",
            node("b", "pear").content_hash,
        ]
        for each, seed in zip(found, ("apple", "why", "pear"), strict=True):
            assert each.vector.dtype == np.float32
            assert each.vector.tolist() == unit(seed).astype(np.float16).astype(np.float32).tolist()
        assert store.embeddings([]) == store.embeddings(["missing"]) == ()

    def test_embeddings_can_be_put_back_without_changing_an_answer(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "pear")])
        before = store.dense(unit("q"), where(), limit=5)
        store.put(store.embeddings(["a", "b"]), MODEL)
        assert store.dense(unit("q"), where(), limit=5) == before

    def test_changing_the_text_makes_its_vector_stale_until_it_is_put_again(
        self, store: Store
    ) -> None:
        filled(store, [node("a", "apple")])
        fresh = node("a", "pear")
        store.update("a", text=fresh.text, content_hash=fresh.content_hash)
        assert store.unembedded(MODEL.id, limit=10) == (fresh,)
        store.put([embedding(fresh)], MODEL)
        assert store.unembedded(MODEL.id, limit=10) == ()
        assert store.stats()["vectors"] == 1

    def test_a_node_has_at_most_one_vector_of_each_role(self, store: Store) -> None:
        filled(store, [node("a", "apple")])
        for text in ("pear", "plum"):
            store.put(
                [
                    embedding(node("a"), unit(text)),
                    embedding(node("a"), unit(text), role=Role.QUESTION),
                ],
                MODEL,
            )
        assert store.stats()["vectors"] == 2
        assert len(store.dense(unit("plum"), where(), limit=5)) == 1
        assert store.dense(unit("plum"), where(), limit=5)[0].score > 0.99

    def test_of_two_vectors_of_one_role_that_come_with_a_new_node_the_last_is_kept(
        self, store: Store
    ) -> None:
        store.activate(MODEL)
        apple = node("a", "apple")
        store.insert([apple], [embedding(apple, unit("pear")), embedding(apple, unit("plum"))])
        assert store.stats()["vectors"] == 1
        assert store.dense(unit("plum"), where(), limit=5)[0].score > 0.99


# Token codes are kept beside the vector that they were made with, and go with it.

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


class TokenCodes:
    """Codes of tokens."""

    def test_codes_come_back_by_node_as_they_were_given(self, store: Store) -> None:
        store.activate(MODEL)
        nodes = [node(name, name) for name in ("long", "short", "empty", "none")]
        given = {"long": codes("long", MAX_TOKENS), "short": codes("short"), "empty": b""}
        store.insert(nodes, [embedding(each, tokens=given.get(each.id)) for each in nodes])
        assert store.token_codes(["short", "none", "empty", "missing", "long", "short"]) == given
        assert {each.node: each.tokens for each in store.embeddings([*given, "none"])} == {
            **given,
            "none": None,
        }
        assert store.token_codes([]) == {}

    def test_a_store_without_a_model_has_no_codes(self, store: Store) -> None:
        store.insert([node("a")])
        assert store.token_codes(["a"]) == {}

    def test_codes_of_a_context_vector_go_before_those_of_the_content(self, store: Store) -> None:
        store.activate(MODEL)
        keyed = node("a", context="before a after")
        content, context = (
            embedding(keyed, tokens=codes("content")),
            embedding(keyed, unit("context"), role=Role.CONTEXT, text_hash="c"),
        )
        store.insert([keyed], [content, replace(context, tokens=codes("context"))])
        assert store.token_codes(["a"]) == {"a": codes("context")}
        store.put([context], MODEL)
        assert store.token_codes(["a"]) == {"a": codes("content")}

    def test_codes_follow_their_vector_when_it_is_put_again(self, store: Store) -> None:
        store.activate(MODEL)
        apple = node("a", "apple")
        store.insert([apple], [embedding(apple, tokens=codes("old"))])
        store.put([embedding(apple, unit("pear"), tokens=codes("new"))], MODEL)
        assert store.token_codes(["a"]) == {"a": codes("new")}
        store.put([embedding(apple)], MODEL)
        assert store.token_codes(["a"]) == {}

    def test_codes_can_be_added_to_a_vector_that_stays_as_it_is(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "pear")])
        before, found = store.embeddings(["a", "b"]), store.dense(unit("q"), where(), limit=5)
        store.put([replace(each, tokens=codes(each.node)) for each in before], MODEL)
        assert store.token_codes(["a", "b"]) == {"a": codes("a"), "b": codes("b")}
        assert [each.vector.tobytes() for each in store.embeddings(["a", "b"])] == [
            each.vector.tobytes() for each in before
        ]
        assert store.dense(unit("q"), where(), limit=5) == found

    def test_codes_that_are_none_of_the_model_are_refused_and_the_node_with_them(
        self, store: Store
    ) -> None:
        filled(store, [node("kept")])
        size = bytes_per_token(DIMENSION)
        for wrong in (b"x" * (size + 1), b"x" * size * (MAX_TOKENS + 1)):
            with raises(InputError):
                store.insert([node("a")], [embedding(node("a"), tokens=wrong)])
            with raises(InputError):
                store.put([embedding(node("kept"), tokens=wrong)], MODEL)
        assert store.get(["a"]) == {}
        assert store.token_codes(["kept"]) == {}

    def test_codes_go_with_their_node_and_an_id_that_is_used_again_brings_none_back(
        self, store: Store
    ) -> None:
        store.activate(MODEL)
        store.insert(
            [node("a"), node("b")], [embedding(node(name), tokens=codes(name)) for name in "ab"]
        )
        store.delete(["a"])
        assert store.token_codes(["a", "b"]) == {"b": codes("b")}
        store.insert([node("a")], [embedding(node("a"))])
        assert store.token_codes(["a", "b"]) == {"b": codes("b")}

    def test_codes_of_a_context_go_when_the_context_changes(self, store: Store) -> None:
        store.activate(MODEL)
        keyed = node("a", context="before a after")
        vectors = [
            embedding(keyed),
            embedding(keyed, unit("c"), role=Role.CONTEXT, text_hash="c", tokens=codes("c")),
        ]
        store.insert([keyed], vectors)
        store.update("a", context="elsewhere")
        assert store.token_codes(["a"]) == {}

    def test_codes_are_those_of_the_searched_model(self, store: Store) -> None:
        store.activate(MODEL)
        apple = node("a", "apple")
        store.insert([apple], [embedding(apple, tokens=codes("first"))])
        store.put(
            [embedding(apple, unit("apple", 24), tokens=codes("second", dimension=24))], _NEXT
        )
        assert store.token_codes(["a"]) == {"a": codes("first")}
        store.activate(_NEXT)
        assert store.token_codes(["a"]) == {"a": codes("second", dimension=24)}
        store.activate(MODEL)
        assert store.token_codes(["a"]) == {}

    def test_codes_of_a_node_that_was_forgotten_meanwhile_are_left_out(self, store: Store) -> None:
        filled(store, [node("a"), node("b")])
        store.delete(["a"])
        store.put([embedding(node(name), tokens=codes(name)) for name in "ab"], MODEL)
        assert store.token_codes(["a", "b"]) == {"b": codes("b")}

    def test_a_transaction_that_fails_leaves_the_codes_as_they_were(self, store: Store) -> None:
        store.activate(MODEL)
        store.insert([node("a")], [embedding(node("a"), tokens=codes("old"))])
        with raises(ZeroDivisionError), store.transaction():
            store.put([embedding(node("a"), tokens=codes("new"))], MODEL)
            store.insert([node("b")], [embedding(node("b"), tokens=codes("b"))])
            assert store.token_codes(["a", "b"]) == {"a": codes("new"), "b": codes("b")}
            raise ZeroDivisionError
        assert store.token_codes(["a", "b"]) == {"a": codes("old")}
        with raises(ZeroDivisionError), store.transaction():
            store.delete(["a"])
            raise ZeroDivisionError
        assert store.token_codes(["a"]) == {"a": codes("old")}

    def test_unembedded_names_nodes_without_codes_where_these_are_wanted(
        self, store: Store
    ) -> None:
        store.activate(MODEL)
        kinds = {"chunk": Kind.CHUNK, "section": Kind.SECTION, "document": Kind.DOCUMENT}
        names = ["bare", "coded", "empty", "expired", "archived", *kinds]
        nodes = [
            node(
                name,
                name,
                t_expired=NOW if name == "expired" else None,
                archived=name == "archived",
                kind=kinds.get(name, Kind.MEMORY),
            )
            for name in names
        ]
        given = {"coded": codes("coded"), "empty": b""}
        store.insert(nodes, [embedding(each, tokens=given.get(each.id)) for each in nodes])
        store.insert([node("vectorless")])
        assert [each.id for each in store.unembedded(MODEL.id, limit=9)] == ["vectorless"]
        assert [each.id for each in store.unembedded(MODEL.id, limit=9, tokens=True)] == [
            "bare",
            "chunk",
            "vectorless",
        ]
        assert [each.id for each in store.unembedded(MODEL.id, limit=1, tokens=True)] == ["bare"]
        assert store.stats()["token_codes"] == {
            "nodes": 2,
            "missing": 3,
            "bytes": len(codes("coded")),
        }

    def test_codes_are_counted_by_space(self, store: Store) -> None:
        store.activate(MODEL)
        nodes = [node("a"), node("b"), node("c", space="other")]
        store.insert(
            nodes,
            [embedding(each, tokens=codes(each.id) if each.id != "b" else None) for each in nodes],
        )
        size = len(codes("a"))
        assert store.stats("default")["token_codes"] == {"nodes": 1, "missing": 1, "bytes": size}
        assert store.stats("other")["token_codes"] == {"nodes": 1, "missing": 0, "bytes": size}
        assert store.stats("none")["token_codes"] == {"nodes": 0, "missing": 0, "bytes": 0}

    def test_verify_compact_and_repair_leave_sound_codes_as_they_are(self, store: Store) -> None:
        store.activate(MODEL)
        nodes = [node(f"{number:02}", f"word{number}") for number in range(40)]
        store.insert(
            nodes,
            [embedding(each, tokens=codes(each.id, number)) for number, each in enumerate(nodes)],
        )
        store.delete([each.id for each in nodes[::3]])
        ids = [each.id for each in nodes]
        before = store.token_codes(ids)
        assert len(before) == 26
        assert not [problem for problem in store.verify() if problem.check != "events"]
        store.compact()
        assert store.token_codes(ids) == before
        store.repair()
        assert store.token_codes(ids) == before
        assert store.verify() == ()


# What surfaces keep beside memories, and lists that go on where they were left off.

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


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
        assert [
            store.record("token", id)
            for id in ("a", "a\0", "A%", "e\u0301", "\udce4", "x" * 100_000)
        ] == [None] * 6

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
        store.insert(
            [
                node(f"n{i:02}", importance=(i % 4) / 4, accesses=i % 3, t_valid=later(i % 5))
                for i in range(23)
            ]
        )
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
        assert [
            each.id for each in store.listing(where, sort=Sort.RECENT, limit=9, after=after)
        ] == ["c", "d"]


def _spot(last: Node, sort: Sort) -> Spot:
    value = {Sort.RECENT: 0.0, Sort.IMPORTANT: last.importance, Sort.POPULAR: float(last.accesses)}[
        sort
    ]
    return Spot(value, last.t_valid, last.id)
