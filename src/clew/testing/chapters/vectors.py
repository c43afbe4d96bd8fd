"""Both channels find what is there now, score it as the formulas say, and order it in one way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from clew.errors import InputError, ModelMismatchError
from clew.ports import Sort, Store
from clew.store import bm25
from clew.store.filters import passes
from clew.store.vectors import exact_cosines
from clew.testing.build import DIMENSION, MODEL, embedding, filled, node, raises, unit, where
from clew.text.words import idf, query_weight, terms
from clew.types import Filter, Kind, Match, Node, Ranking, Role, Vectors, ranked

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


_VOCABULARY = ("apple", "pear", "plum", "quince", "fig", "date", "lemon", "lime", "olive", "grape")
_SPACES = ("default", "default", "other")
_RELATIVE = 1e-9  # two ways to sum a handful of float64 numbers


class Searching:
    """Words and vectors."""

    def test_sparse_scores_are_the_bm25_of_all_nodes_of_the_space(self, store: Store) -> None:
        nodes = _orchard(120)
        store.insert(nodes)
        for query in (
            ["appl"],
            ["pear", "plum"],
            ["appl", "fig", "quinc", "unknown"],
            terms(" ".join(_VOCABULARY)),
        ):
            for filter in (where(), where(space="other"), where(kinds=(Kind.CHUNK,))):
                _agree(
                    store.sparse(query, filter, limit=200), _sparse_by_hand(nodes, query, filter)
                )

    def test_holding_counts_the_nodes_of_the_space_that_hold_a_term(self, store: Store) -> None:
        nodes = [
            replace(each, title="Olive grove", context="quince") if each.id.endswith("7") else each
            for each in _orchard(120)
        ]
        store.insert(nodes)
        asked = [*terms(" ".join(_VOCABULARY)), "grove", "unknown", ""]
        for space in ("default", "other", "empty"):
            held = [
                set(terms(f"{each.title} {each.text} {each.context}"))
                for each in nodes
                if each.space == space
            ]
            assert store.holding(asked, space) == {
                term: sum(term in each for each in held) for term in asked
            }
        store.update(nodes[0].id, text="grove")
        store.delete([nodes[3].id])
        left = [
            each
            for number, each in enumerate(nodes)
            if number not in (0, 3) and each.space == nodes[0].space
        ]
        told = sum("grove" in terms(f"{each.title} {each.text}") for each in left)
        assert store.holding(["grove"], nodes[0].space) == {"grove": told + 1}

    def test_dense_scores_are_the_cosines_of_the_rounded_vectors(self, store: Store) -> None:
        nodes = _orchard(120)
        filled(store, nodes)
        for seed in ("one", "two", "three"):
            for filter in (where(), where(space="other"), where(kinds=(Kind.CHUNK,))):
                _agree(
                    store.dense(unit(seed), filter, limit=200),
                    _dense_by_hand(nodes, unit(seed), filter),
                )

    def test_a_limited_search_is_the_head_of_the_unlimited_one(self, store: Store) -> None:
        filled(store, _orchard(300))
        for limit in (0, 1, 2, 7, 50, 299, 300, 1000):
            assert (
                store.sparse(["appl", "pear"], where(), limit=limit)
                == store.sparse(["appl", "pear"], where(), limit=10_000)[:limit]
            )
            assert (
                store.dense(unit("q"), where(), limit=limit)
                == store.dense(unit("q"), where(), limit=10_000)[:limit]
            )

    def test_ties_are_ordered_by_id_also_where_the_limit_cuts_them(self, store: Store) -> None:
        names = [f"{i:03}" for i in range(150)]
        filled(store, [node(name, "same words") for name in reversed(names)])
        for limit in (1, 10, 149, 200):
            assert [match.id for match in store.sparse(["word"], where(), limit=limit)] == names[
                :limit
            ]
            assert [match.id for match in store.dense(unit("q"), where(), limit=limit)] == names[
                :limit
            ]
            assert [
                each.id for each in store.listing(where(), sort=Sort.RECENT, limit=limit)
            ] == names[:limit]

    def test_cosines_are_the_scores_of_dense(self, store: Store) -> None:
        filled(store, _orchard(50))
        found = {match.id: match.score for match in store.dense(unit("q"), where(), limit=50)}
        assert store.cosines(unit("q"), [*found, "missing"]) == found
        assert store.cosines(unit("q"), []) == {}

    def test_cosines_ask_no_filter(self, store: Store) -> None:
        filled(store, [node("a", archived=True, space="other")])
        assert store.cosines(unit("q"), ["a"]).keys() == {"a"}

    def test_a_row_scores_the_same_whatever_stands_beside_it(self, store: Store) -> None:
        nodes = _orchard(100)
        filled(store, nodes)
        together = store.cosines(unit("q"), [each.id for each in nodes])
        assert {each.id: store.cosines(unit("q"), [each.id])[each.id] for each in nodes} == together

    def test_title_words_find_and_count_like_text_words(self, store: Store) -> None:
        store.insert(
            [
                node("both", "apple", title="apple"),
                node("title", "pear", title="apple"),
                node("text", "apple", title="pear"),
            ]
        )
        found = store.sparse(["appl"], where(), limit=5)
        assert [match.id for match in found] == ["both", "text", "title"]
        assert found[1].score == found[2].score < found[0].score

    def test_a_word_that_every_node_holds_still_finds_them(self, store: Store) -> None:
        store.insert([node("a", "apple"), node("b", "apple")])
        assert [match.id for match in store.sparse(["appl"], where(), limit=5)] == ["a", "b"]
        assert all(0 < match.score < 0.2 for match in store.sparse(["appl"], where(), limit=5))

    def test_no_terms_and_unknown_terms_find_nothing(self, store: Store) -> None:
        store.insert([node("a", "apple")])
        assert (
            store.sparse([], where(), limit=5)
            == store.sparse(["unknown", ""], where(), limit=5)
            == ()
        )

    def test_a_repeated_term_counts_more_but_less_each_time(self, store: Store) -> None:
        nodes = _orchard(40)
        store.insert(nodes)
        for query in (["appl", "pear", "appl"], ["appl"] * 30 + ["pear", "plum"], ["pear"] * 2):
            _agree(store.sparse(query, where(), limit=50), _sparse_by_hand(nodes, query, where()))
        once, twice, thrice = (
            {m.id: m.score for m in store.sparse(["appl"] * n, where(), limit=50)}
            for n in (1, 2, 3)
        )
        assert all(
            once[id] < twice[id] < 2 * once[id] and thrice[id] - twice[id] < twice[id] - once[id]
            for id in once
        )

    def test_many_terms_are_one_question(self, store: Store) -> None:
        store.insert(_orchard(20))
        padding = [f"unknown{i}" for i in range(2000)]
        _agree(
            store.sparse([*padding, "appl"], where(), limit=50),
            store.sparse(["appl"], where(), limit=50),
        )

    def test_an_update_of_the_words_is_found_at_once_and_the_old_words_no_more(
        self, store: Store
    ) -> None:
        store.insert([node("a", "apple", title="fruit"), node("b", "plum")])
        store.update("a", text="pear", title="vegetable")
        assert _found(store, "apple") == _found(store, "fruit") == []
        assert _found(store, "pear") == _found(store, "vegetable") == ["a"]

    def test_an_update_of_the_vector_is_found_at_once(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "plum")])
        store.put([embedding(node("a"), unit("pear"))], MODEL)
        best = store.dense(unit("pear"), where(), limit=1)[0]
        assert best.id == "a"
        assert best.score > 0.99
        assert len(store.dense(unit("pear"), where(), limit=5)) == 2

    def test_what_a_filter_asks_is_up_to_date_at_once_in_both_channels(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "apple")])
        # a store that keeps vectors in memory has loaded them now
        store.dense(unit("q"), where(), limit=5)
        changes = {"category": "fact", "tags": ("t",), "metadata": {"k": 1}, "kind": Kind.CHUNK}
        for field, value in changes.items():
            store.update("a", **{field: value})
        for filter in (
            where(categories=("fact",)),
            where(tags=("t",)),
            where(metadata={"k": 1}),
            where(kinds=(Kind.CHUNK,)),
        ):
            assert _channels(store, filter) == (["a"],) * 3

    def test_hiding_and_showing_a_node_is_visible_at_once(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "apple")])
        for field, value in (
            ("t_expired", where().now),
            ("t_invalid", where().now),
            ("archived", True),
        ):
            store.update("a", **{field: value})
            assert _channels(store, where()) == (["b"],) * 3
            store.update("a", **{field: type(value)() if isinstance(value, bool) else None})
            assert _channels(store, where()) == (["a", "b"],) * 3

    def test_a_delete_is_visible_at_once(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "apple")])
        assert _channels(store, where()) == (["a", "b"],) * 3
        store.delete(["a"])
        assert _channels(store, where()) == (["b"],) * 3
        assert store.cosines(unit("apple"), ["a", "b"]).keys() == {"b"}

    def test_a_deleted_node_leaves_the_statistics_of_words(self, store: Store) -> None:
        nodes = _orchard(30)
        store.insert([*nodes, *(node(f"x{i}", "apple " * 40) for i in range(20))])
        store.delete([f"x{i}" for i in range(20)])
        _agree(
            store.sparse(["appl", "pear"], where(), limit=50),
            _sparse_by_hand(nodes, ["appl", "pear"], where()),
        )

    def test_each_role_is_searched_by_itself(self, store: Store) -> None:
        filled(store, [node("a", "apple"), node("b", "pear")])
        store.put([embedding(node("b"), unit("apple"), role=Role.QUESTION)], MODEL)
        assert [
            match.id for match in store.dense(unit("apple"), where(), limit=5, role=Role.QUESTION)
        ] == ["b"]
        assert store.dense(unit("apple"), where(), limit=5)[0].id == "a"
        assert store.cosines(unit("apple"), ["a", "b"], role=Role.QUESTION).keys() == {"b"}
        # Without a context key a node is its own context; no question stands in for anything.
        content = store.dense(unit("apple"), where(), limit=5)
        assert store.dense(unit("apple"), where(), limit=5, role=Role.CONTEXT) == content
        assert store.cosines(unit("apple"), ["a", "b"], role=Role.CONTEXT) == {
            match.id: match.score for match in content
        }

    def test_the_two_questions_of_a_node_are_searched_one_by_one_and_counted_as_one(
        self, store: Store
    ) -> None:
        nodes = [node("a", "apple"), node("b", "pear"), node("c", "plum")]
        filled(store, nodes)
        assert store.coverage("default").questions == 0
        asked = [
            ("a", "why", Role.QUESTION),
            ("a", "when", Role.QUESTION_2),
            ("b", "where", Role.QUESTION),
        ]
        store.put(
            [
                embedding(node(id), unit(text), role=role, text_hash=text)
                for id, text, role in asked
            ],
            MODEL,
        )
        assert [
            match.id for match in store.dense(unit("when"), where(), limit=5, role=Role.QUESTION_2)
        ] == ["a"]
        assert {
            match.id for match in store.dense(unit("when"), where(), limit=5, role=Role.QUESTION)
        } == {"a", "b"}
        assert store.cosines(unit("when"), ["a", "b", "c"], role=Role.QUESTION_2).keys() == {"a"}
        assert store.cosines(unit("when"), ["a"], role=Role.QUESTION_2)["a"] > 0.99
        assert [each.text_hash for each in store.embeddings(["a"])][1:] == ["why", "when"]
        assert store.coverage("default").questions == 2
        assert store.dense(unit("apple"), where(), limit=5)[0].id == "a"
        store.update("b", archived=True)
        assert store.coverage("default").questions == 1
        store.delete(["a"])
        assert store.coverage("default").questions == 0
        assert store.dense(unit("when"), where(), limit=5, role=Role.QUESTION_2) == ()

    def test_a_question_vector_that_is_none_is_refused(self, store: Store) -> None:
        filled(store, [node("a")])
        broken = np.full(DIMENSION, np.nan, np.float32)
        for vector in (
            unit("q", DIMENSION + 1),
            broken,
            np.zeros(DIMENSION, np.float32),
            unit("q") * 3,
        ):
            with raises(InputError, ModelMismatchError):
                store.dense(vector, where(), limit=5)
            with raises(InputError, ModelMismatchError):
                store.cosines(vector, ["a"])

    def test_opposite_and_orthogonal_vectors_are_found_too_and_come_last(
        self, store: Store
    ) -> None:
        same, none = np.eye(DIMENSION, dtype=np.float32)[:2]
        store.activate(MODEL)
        nodes = [node("against"), node("aside"), node("along")]
        store.insert(
            nodes,
            [
                embedding(each, vector)
                for each, vector in zip(nodes, (-same, none, same), strict=True)
            ],
        )
        assert store.dense(same, where(), limit=5) == (
            Match("along", 1.0),
            Match("aside", 0.0),
            Match("against", -1.0),
        )

    def test_every_method_works_on_an_empty_store(self, store: Store) -> None:
        assert store.get(["a"]) == {}
        assert store.get([]) == {}
        assert store.signals(["a"]) == {}
        assert store.neighbours(["a"], reach=1) == {}
        assert store.family(["a"]) == store.family([]) == ()
        assert store.coverage("default") == (0, 0, 0, 0, 0, 0)
        assert (store.find_hash("default", "h"), store.find_key("default", "k")) == ((), None)
        assert store.listing(where(), sort=Sort.POPULAR, limit=5) == ()
        assert (
            store.sparse(["appl"], where(), limit=5)
            == store.dense(unit("q"), where(), limit=5)
            == ()
        )
        assert store.cosines(unit("q"), ["a"]) == {}
        assert (
            store.events("a"),
            store.edges(["a"]),
            store.unembedded("m", limit=5),
            store.verify(),
        ) == ((),) * 4
        assert store.model() is None
        assert store.embeddings(["a"]) == ()
        assert list(store.nodes()) == []
        assert (
            store.delete(["a"])
            == store.delete([])
            == store.touch(["a"], where().now, min_interval_seconds=1)
            == 0
        )
        store.insert([])
        store.append([])
        store.link([])
        store.put([], MODEL)
        store.compact()
        store.repair()
        assert store.stats()["nodes"] == store.stats()["vectors"] == 0
        store.activate(MODEL)
        assert store.dense(unit("q"), where(), limit=5) == ()


def _orchard(size: int) -> list[Node]:
    """Return nodes of few words in many mixtures and lengths, most of them unlike their neighbours."""
    return [
        node(
            f"{i * 7919 % 10_007:05}",
            " ".join(_VOCABULARY[(i * step + step) % 10] for step in range(1, 2 + i % 9)),
            title=_VOCABULARY[i % 10] if i % 3 else "",
            space=_SPACES[i % 3],
            kind=Kind.CHUNK if i % 4 == 0 else Kind.MEMORY,
        )
        for i in range(size)
    ]


def _sparse_by_hand(nodes: Sequence[Node], query: Sequence[str], filter: Filter) -> Ranking:
    rows = {
        each.id: (terms(each.title), terms(each.text))
        for each in nodes
        if each.space == filter.space
    }
    lengths = {id: bm25.length(len(title), len(text)) for id, (title, text) in rows.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores = {each.id: 0.0 for each in nodes if passes(each, filter)}
    for term, said in Counter(query).items():
        holding = sum(term in title + text for title, text in rows.values())
        for id in scores:
            frequency = bm25.frequency(*(column.count(term) for column in rows[id]))
            weight = idf(len(rows), holding) * query_weight(said)
            scores[id] += weight * bm25.saturation(frequency, lengths[id], mean)
    return ranked(Match(id, score) for id, score in scores.items() if score)


def _dense_by_hand(nodes: Sequence[Node], query: Vectors, filter: Filter) -> Ranking:
    seen = [each for each in nodes if passes(each, filter)]
    halves = np.stack([unit(each.text).astype(np.float16) for each in seen])
    return ranked(
        Match(each.id, float(cosine))
        for each, cosine in zip(seen, exact_cosines(halves, query), strict=True)
    )


def _agree(found: Ranking, expected: Ranking) -> None:
    """Check that both hold the same ids with the same scores.

    Nearly equal scores may change places.
    """
    assert found == ranked(found)
    scores = {match.id: match.score for match in expected}
    assert {match.id for match in found} == scores.keys()
    for match, by_rank in zip(found, expected, strict=True):
        assert math.isclose(match.score, scores[match.id], rel_tol=_RELATIVE, abs_tol=1e-12)
        assert math.isclose(match.score, by_rank.score, rel_tol=_RELATIVE, abs_tol=1e-12)


def _found(store: Store, text: str) -> list[str]:
    return _names(store.sparse(terms(text), where(), limit=10))


def _names(found: Iterable[Match]) -> list[str]:
    return sorted(match.id for match in found)


def _channels(store: Store, filter: Filter) -> tuple[list[str], list[str], list[str]]:
    listed = store.listing(filter, sort=Sort.RECENT, limit=10)
    return (
        _names(store.sparse(["appl"], filter, limit=10)),
        _names(store.dense(unit("apple"), filter, limit=10)),
        sorted(each.id for each in listed),
    )
