"""Token codes are kept beside the vector that they were made with, and go with it."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

from dataclasses import replace

from clew.errors import InputError
from clew.ports import ModelInfo, Store
from clew.testing.build import DIMENSION, MODEL, NOW, codes, embedding, filled, node, raises, unit, where
from clew.token_codes import MAX_TOKENS, bytes_per_token
from clew.types import Kind, Role

_NEXT = ModelInfo("next-model", 24)


class TokenCodes:
    """Codes of tokens."""

    def test_codes_come_back_by_node_as_they_were_given(self, store: Store) -> None:
        store.activate(MODEL)
        nodes = [node(name, name) for name in ("long", "short", "empty", "none")]
        given = {"long": codes("long", MAX_TOKENS), "short": codes("short"), "empty": b""}
        store.insert(nodes, [embedding(each, tokens=given.get(each.id)) for each in nodes])
        assert store.token_codes(["short", "none", "empty", "missing", "long", "short"]) == given
        assert {each.node: each.tokens for each in store.embeddings([*given, "none"])} == {**given, "none": None}
        assert store.token_codes([]) == {}

    def test_a_store_without_a_model_has_no_codes(self, store: Store) -> None:
        store.insert([node("a")])
        assert store.token_codes(["a"]) == {}

    def test_codes_of_a_context_vector_go_before_those_of_the_content(self, store: Store) -> None:
        store.activate(MODEL)
        keyed = node("a", context="before a after")
        content, context = embedding(keyed, tokens=codes("content")), embedding(keyed, unit("context"), role=Role.CONTEXT, text_hash="c")
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
        assert [each.vector.tobytes() for each in store.embeddings(["a", "b"])] == [each.vector.tobytes() for each in before]
        assert store.dense(unit("q"), where(), limit=5) == found

    def test_codes_that_are_none_of_the_model_are_refused_and_the_node_with_them(self, store: Store) -> None:
        filled(store, [node("kept")])
        size = bytes_per_token(DIMENSION)
        for wrong in (b"x" * (size + 1), b"x" * size * (MAX_TOKENS + 1)):
            with raises(InputError):
                store.insert([node("a")], [embedding(node("a"), tokens=wrong)])
            with raises(InputError):
                store.put([embedding(node("kept"), tokens=wrong)], MODEL)
        assert store.get(["a"]) == {}
        assert store.token_codes(["kept"]) == {}

    def test_codes_go_with_their_node_and_an_id_that_is_used_again_brings_none_back(self, store: Store) -> None:
        store.activate(MODEL)
        store.insert([node("a"), node("b")], [embedding(node(name), tokens=codes(name)) for name in "ab"])
        store.delete(["a"])
        assert store.token_codes(["a", "b"]) == {"b": codes("b")}
        store.insert([node("a")], [embedding(node("a"))])
        assert store.token_codes(["a", "b"]) == {"b": codes("b")}

    def test_codes_of_a_context_go_when_the_context_changes(self, store: Store) -> None:
        store.activate(MODEL)
        keyed = node("a", context="before a after")
        vectors = [embedding(keyed), embedding(keyed, unit("c"), role=Role.CONTEXT, text_hash="c", tokens=codes("c"))]
        store.insert([keyed], vectors)
        store.update("a", context="elsewhere")
        assert store.token_codes(["a"]) == {}

    def test_codes_are_those_of_the_searched_model(self, store: Store) -> None:
        store.activate(MODEL)
        apple = node("a", "apple")
        store.insert([apple], [embedding(apple, tokens=codes("first"))])
        store.put([embedding(apple, unit("apple", 24), tokens=codes("second", dimension=24))], _NEXT)
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

    def test_unembedded_names_nodes_without_codes_where_these_are_wanted(self, store: Store) -> None:
        store.activate(MODEL)
        kinds = {"chunk": Kind.CHUNK, "section": Kind.SECTION, "document": Kind.DOCUMENT}
        names = ["bare", "coded", "empty", "expired", "archived", *kinds]
        nodes = [
            node(name, name, t_expired=NOW if name == "expired" else None, archived=name == "archived", kind=kinds.get(name, Kind.MEMORY))
            for name in names
        ]
        given = {"coded": codes("coded"), "empty": b""}
        store.insert(nodes, [embedding(each, tokens=given.get(each.id)) for each in nodes])
        store.insert([node("vectorless")])
        assert [each.id for each in store.unembedded(MODEL.id, limit=9)] == ["vectorless"]
        assert [each.id for each in store.unembedded(MODEL.id, limit=9, tokens=True)] == ["bare", "chunk", "vectorless"]
        assert [each.id for each in store.unembedded(MODEL.id, limit=1, tokens=True)] == ["bare"]
        assert store.stats()["token_codes"] == {"nodes": 2, "missing": 3, "bytes": len(codes("coded"))}

    def test_codes_are_counted_by_space(self, store: Store) -> None:
        store.activate(MODEL)
        nodes = [node("a"), node("b"), node("c", space="other")]
        store.insert(nodes, [embedding(each, tokens=codes(each.id) if each.id != "b" else None) for each in nodes])
        size = len(codes("a"))
        assert store.stats("default")["token_codes"] == {"nodes": 1, "missing": 1, "bytes": size}
        assert store.stats("other")["token_codes"] == {"nodes": 1, "missing": 0, "bytes": size}
        assert store.stats("none")["token_codes"] == {"nodes": 0, "missing": 0, "bytes": 0}

    def test_verify_compact_and_repair_leave_sound_codes_as_they_are(self, store: Store) -> None:
        store.activate(MODEL)
        nodes = [node(f"{number:02}", f"word{number}") for number in range(40)]
        store.insert(nodes, [embedding(each, tokens=codes(each.id, number)) for number, each in enumerate(nodes)])
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
