"""A store searches one model's vectors, refuses another's, and changes from one to the other at once."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

import numpy as np

from clew.errors import InputError, ModelMismatchError
from clew.ports import ModelInfo, Store
from clew.testing.build import DIMENSION, MODEL, NOW, embedding, filled, node, raises, unit, where
from clew.types import Role

_NEXT = ModelInfo("next-model", 24)


class Modelling:
    """Models and their vectors."""

    def test_the_active_model_is_remembered(self, store: Store) -> None:
        assert store.model() is None
        store.activate(MODEL)
        assert store.model() == MODEL

    def test_vectors_before_any_model_are_refused_and_the_node_with_them(self, store: Store) -> None:
        with raises(ModelMismatchError):
            store.insert([node("a")], [embedding(node("a"))])
        assert store.get(["a"]) == {}

    def test_a_vector_of_wrong_shape_length_or_content_is_refused_and_the_node_with_it(self, store: Store) -> None:
        filled(store, [node("kept")])
        infinite = unit("a").copy()
        infinite[0] = np.inf
        for vector in (unit("a", DIMENSION - 1), unit("a").reshape(1, -1), infinite, np.zeros(DIMENSION, np.float32)):
            with raises(InputError, ModelMismatchError):
                store.insert([node("a")], [embedding(node("a"), vector)])
            with raises(InputError, ModelMismatchError):
                store.put([embedding(node("kept"), vector)], MODEL)
        assert store.get(["a"]) == {}
        assert store.stats()["vectors"] == 1

    def test_a_vector_of_a_node_that_was_forgotten_meanwhile_is_left_out(self, store: Store) -> None:
        filled(store, [node("a"), node("b")])
        store.delete(["a"])
        store.put([embedding(node("a")), embedding(node("b"), unit("fresh"))], MODEL)
        assert store.dense(unit("fresh"), where(), limit=5)[0].score > 0.99
        assert store.stats()["vectors"] == 1
        store.insert([node("a")])
        assert store.cosines(unit("fresh"), ["a", "b"]).keys() == {"b"}

    def test_a_model_under_the_same_name_with_another_dimension_is_refused(self, store: Store) -> None:
        filled(store, [node("a")])
        with raises(ModelMismatchError):
            store.put([embedding(node("a"), unit("a", 24))], ModelInfo(MODEL.id, 24))

    def test_activating_the_active_model_again_keeps_its_vectors(self, store: Store) -> None:
        filled(store, [node("a")])
        store.activate(MODEL)
        assert [match.id for match in store.dense(unit("q"), where(), limit=5)] == ["a"]

    def test_a_second_model_is_not_searched_until_it_is_activated_and_then_alone(self, store: Store) -> None:
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

    def test_switching_models_that_fails_half_way_leaves_the_first_one_searched(self, store: Store) -> None:
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

    def test_unembedded_names_live_nodes_without_a_fresh_content_vector_by_id(self, store: Store) -> None:
        store.activate(MODEL)
        names = ["missing", "stale", "fresh", "question", "expired", "archived"]
        store.insert([node(name, name, t_expired=NOW if name == "expired" else None, archived=name == "archived") for name in names])
        store.put(
            [
                embedding(node("stale", "stale"), text_hash="old"),
                embedding(node("fresh", "fresh")),
                embedding(node("question", "question"), role=Role.QUESTION),
            ],
            MODEL,
        )
        assert [each.id for each in store.unembedded(MODEL.id, limit=10)] == ["missing", "question", "stale"]
        assert [each.id for each in store.unembedded(MODEL.id, limit=2)] == ["missing", "question"]
        assert store.unembedded(MODEL.id, limit=0) == ()
        assert len(store.unembedded("unheard-of", limit=10)) == 4
        assert store.stats()["unembedded"] == 3

    def test_embeddings_are_the_kept_vectors_of_the_active_model_by_node_and_role(self, store: Store) -> None:
        filled(store, [node("b", "pear"), node("a", "apple"), node("c", "plum")])
        store.put([embedding(node("a"), unit("why"), role=Role.QUESTION, text_hash="q")], MODEL)
        store.put([embedding(node("a"), unit("apple", 24))], _NEXT)
        found = store.embeddings(["b", "a", "a", "missing"])
        assert [(each.node, each.role) for each in found] == [("a", Role.CONTENT), ("a", Role.QUESTION), ("b", Role.CONTENT)]
        assert [each.text_hash for each in found] == [node("a", "apple").content_hash, "q", node("b", "pear").content_hash]
        for each, seed in zip(found, ("apple", "why", "pear"), strict=True):
            assert each.vector.dtype == np.float32
            assert each.vector.tolist() == unit(seed).astype(np.float16).astype(np.float32).tolist()
        assert store.embeddings([]) == store.embeddings(["missing"]) == ()

    def test_embeddings_can_be_put_back_without_changing_an_answer(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "pear")])
        before = store.dense(unit("q"), where(), limit=5)
        store.put(store.embeddings(["a", "b"]), MODEL)
        assert store.dense(unit("q"), where(), limit=5) == before

    def test_changing_the_text_makes_its_vector_stale_until_it_is_put_again(self, store: Store) -> None:
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
            store.put([embedding(node("a"), unit(text)), embedding(node("a"), unit(text), role=Role.QUESTION)], MODEL)
        assert store.stats()["vectors"] == 2
        assert len(store.dense(unit("plum"), where(), limit=5)) == 1
        assert store.dense(unit("plum"), where(), limit=5)[0].score > 0.99

    def test_of_two_vectors_of_one_role_that_come_with_a_new_node_the_last_is_kept(self, store: Store) -> None:
        store.activate(MODEL)
        apple = node("a", "apple")
        store.insert([apple], [embedding(apple, unit("pear")), embedding(apple, unit("plum"))])
        assert store.stats()["vectors"] == 1
        assert store.dense(unit("plum"), where(), limit=5)[0].score > 0.99
