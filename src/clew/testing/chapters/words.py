"""Text of any script is kept as written and found by its words.

What looks like a query language is only words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.ports import Coverage, Sort, Store
from clew.store import bm25
from clew.testing.build import MODEL, NOW, added, embedding, filled, later, node, unit, where
from clew.text.words import content_hash, idf, query_terms, terms
from clew.types import Edge, Embedding, Kind, Node, Quality, Role, Stub

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


_LANGUAGES = {
    "chinese": ("数据库迁移到了新的服务器", "数据库"),
    "japanese": ("東京タワーに行きました", "東京タワー"),
    "arabic": ("اجتماع الفريق يوم الأحد", "الفريق"),
    "hebrew": ("הפגישה נדחתה למחר", "הפגישה"),
    "hindi": ("टीम की बैठक सोमवार को है", "बैठक"),
    "thai": ("การประชุมทีมวันจันทร์", "ประชุม"),
    "greek": ("Η συνάντηση είναι αύριο", "ΣΥΝΆΝΤΗΣΗ"),
    "combining": ("Cafe\u0301 Zu\u0308rich", "café"),
    "emoji": ("🎉 party 👩‍👩‍👧 tonight 🏳️‍🌈", "party"),
    "rtl marks": ("\u202eabc\u202c \u200fmixed\u200e words", "mixed"),
    "long word": ("x" * 100_000, "x" * 100_000),
    "fullwidth": ("Ｆｕｌｌ ｗｉｄｔｈ", "full"),
}

_SYNTAX = [
    '"',
    '""',
    '"apple',
    'apple"',
    "*",
    "appl*",
    "^appl",
    "col:appl",
    "text:appl",
    "title : appl",
    "NEAR",
    "NEAR(appl pear)",
    "AND",
    "OR",
    "NOT",
]
_ODD = [
    "appl AND pear",
    "appl pear",
    "(",
    ")",
    "{title}",
    "-appl",
    "+",
    "'",
    "';--",
    "%",
    "_",
    "\\",
    "\n",
    " ",
    "\u2028",
    "🎉",
    "\ufeff",
    "a" * 10_000,
]


class Speaking:
    """Scripts and signs."""

    def test_texts_of_every_script_come_back_as_written_and_are_found(self, store: Store) -> None:
        filled(
            store,
            [
                node(name, text, title=text[:40], tags=(text[:9],))
                for name, (text, _) in _LANGUAGES.items()
            ],
        )
        for name, (text, question) in _LANGUAGES.items():
            kept = store.get([name])[name]
            assert (kept.text, kept.title, kept.tags) == (text, text[:40], (text[:9],))
            assert [
                match.id for match in store.sparse(query_terms(question), where(), limit=20)
            ] == [name]
            assert store.dense(unit(text), where(tags=(text[:9],)), limit=5)[0].id == name

    def test_ids_spaces_tags_and_keys_may_be_any_text(self, store: Store) -> None:
        odd = ["数据", "a b", "o'neil", 'say "hi"', "a.b", "$.x", "%", "🎉", "x:y", "(", "AND"]
        filled(
            store,
            [
                node(
                    f"id {name}",
                    "apple",
                    space=name,
                    tags=(name,),
                    metadata={name: name},
                    category=name,
                )
                for name in odd
            ],
        )
        for name in odd:
            filter = where(space=name, tags=(name,), metadata={name: name}, categories=(name,))
            assert [match.id for match in store.sparse(["appl"], filter, limit=20)] == [
                f"id {name}"
            ]
            assert [match.id for match in store.dense(unit("q"), filter, limit=20)] == [
                f"id {name}"
            ]
            assert [each.id for each in store.listing(filter, sort=Sort.RECENT, limit=20)] == [
                f"id {name}"
            ]

    def test_query_syntax_is_only_a_term_that_no_node_holds(self, store: Store) -> None:
        filled(
            store,
            [
                node("a", "apple pear col text title"),
                node("b", "apple"),
                node("c", "nothing of it"),
            ],
        )
        for term in [*_SYNTAX, *_ODD]:
            assert store.sparse([term], where(), limit=5) == (), term

    def test_query_syntax_beside_a_term_changes_nothing(self, store: Store) -> None:
        filled(
            store,
            [
                node("a", "apple pear"),
                node("b", "apple"),
                node("c", "nothing of it"),
                node("d", "near"),
            ],
        )
        alone = store.sparse(["pear", "appl"], where(), limit=5)
        assert [match.id for match in alone] == ["a", "b"]
        for term in [*_SYNTAX, *_ODD]:
            assert store.sparse(["pear", term, "appl"], where(), limit=5) == alone, term

    def test_operators_are_found_as_the_words_they_are(self, store: Store) -> None:
        filled(store, [node("a", "near and or not"), node("b", "apple")])
        for word in ("near", "and", "or", "not"):
            assert [match.id for match in store.sparse(terms(word), where(), limit=5)] == ["a"]

    def test_the_names_of_spaces_and_columns_are_not_searched(self, store: Store) -> None:
        names = ("text", "title", "space", "facet", "default", "memory", "observation")
        filled(store, [node("a", "apple", category="observation"), node("b", "pear", space="work")])
        for name in names:
            assert store.sparse(terms(name), where(), limit=5) == ()


# A node knows its place: parents, roots and neighbours, its context key, its quality, and how much
# of the store has what.

# ruff: noqa: D102, S101 - a test is named by its sentence and asserts


_QUALITY = Quality(0.75, 0.1, 1 / 3, 0.0, 1.0, Stub.REFERENCE, 12, 1)


class Placing:
    """Documents at three resolutions, as far as a store knows of them."""

    # --- parents, roots, neighbours ---

    def test_a_filter_within_sees_only_the_children_of_the_named_and_what_has_no_parent(
        self, store: Store
    ) -> None:
        filled(store, [*_document("d"), node("alone", "apple")])
        seen = ["alone", "d", "d.0.0", "d.0.1", "d.0.2"]
        assert _channels(store, within=("d.0",)) == (seen,) * 3
        assert (
            _channels(store, within=("d.0", "d.1"))
            == (sorted([*seen, "d.1.0", "d.1.1", "d.1.2"]),) * 3
        )
        assert _channels(store, within=("",)) == (["alone", "d"],) * 3
        assert _channels(store, within=("nobody",), kinds=(Kind.CHUNK,)) == ([],) * 3

    def test_a_node_that_moves_to_another_parent_is_seen_there_at_once(self, store: Store) -> None:
        filled(store, _document("d"))
        # a store that keeps vectors in memory has loaded them now
        store.dense(unit("q"), where(within=("d.1",)), limit=5)
        store.update("d.0.0", parent="d.1")
        assert (
            _channels(store, within=("d.1",), kinds=(Kind.CHUNK,))
            == (["d.0.0", "d.1.0", "d.1.1", "d.1.2"],) * 3
        )
        store.update("d.0.0", parent=None)
        assert _channels(store, within=("nobody",), kinds=(Kind.CHUNK,)) == (["d.0.0"],) * 3

    def test_a_family_is_a_root_and_all_that_has_it_as_root(self, store: Store) -> None:
        store.insert([*_document("d"), *_document("e"), node("alone")])
        members = tuple(each.id for each in sorted(_document("d"), key=lambda each: each.id))
        assert store.family(["d"]) == members
        assert store.family(["d", "d", "alone", "nobody"]) == tuple(sorted((*members, "alone")))
        assert store.family(["d.0"]) == ("d.0",)  # a section is nobody's root
        store.update("d.0.0", t_expired=NOW)
        assert store.family(["d"]) == members
        store.delete(["d.1.0"])
        assert "d.1.0" not in store.family(["d"])

    def test_neighbours_are_live_children_of_the_same_parent_in_reach_in_order(
        self, store: Store
    ) -> None:
        store.insert([*reversed(_document("d")), node("alone")])
        found = store.neighbours(["d.0.0", "d.0.1", "d.1.2", "alone", "nobody"], reach=1)
        assert {id: [each.id for each in around] for id, around in found.items()} == {
            "d.0.0": ["d.0.0", "d.0.1"],
            "d.0.1": ["d.0.0", "d.0.1", "d.0.2"],
            "d.1.2": ["d.1.1", "d.1.2"],
        }
        assert found["d.0.0"][0] == store.get(["d.0.0"])["d.0.0"]
        assert [each.id for each in store.neighbours(["d.0.0"], reach=0)["d.0.0"]] == ["d.0.0"]
        # sections, not their chunks
        assert [each.id for each in store.neighbours(["d.1"], reach=5)["d.1"]] == ["d.0", "d.1"]

    def test_what_is_expired_or_archived_is_nobodys_neighbour_but_has_some(
        self, store: Store
    ) -> None:
        store.insert(_document("d"))
        store.update("d.0.0", t_expired=NOW)
        store.update("d.0.2", archived=True)
        found = store.neighbours(["d.0.0", "d.0.1"], reach=2)
        assert {id: [each.id for each in around] for id, around in found.items()} == {
            "d.0.0": ["d.0.0", "d.0.1"],
            "d.0.1": ["d.0.1"],
        }

    def test_a_child_without_a_position_stands_by_itself(self, store: Store) -> None:
        store.insert([node("p"), node("a", parent="p"), node("b", parent="p", position=0)])
        found = store.neighbours(["a", "b"], reach=3)
        assert {id: [each.id for each in around] for id, around in found.items()} == {
            "a": ["a"],
            "b": ["b"],
        }

    def test_signals_name_the_parent(self, store: Store) -> None:
        store.insert(_document("d"))
        assert {id: known.parent for id, known in store.signals(["d", "d.0", "d.0.1"]).items()} == {
            "d": None,
            "d.0": "d",
            "d.0.1": "d.0",
        }

    def test_signals_tell_who_has_a_context_key(self, store: Store) -> None:
        store.insert([node("a", "short", context="before, short, after"), node("b", "long")], [])
        assert {id: known.keyed for id, known in store.signals(["a", "b"]).items()} == {
            "a": True,
            "b": False,
        }

    def test_edges_come_by_their_source_then_kind_then_target(self, store: Store) -> None:
        store.insert([node(id) for id in "abc"])
        ends = [("b", "X", "a"), ("a", "Y", "b"), ("a", "X", "c"), ("a", "X", "b")]
        store.link(
            [
                Edge(source=source, kind=kind, target=target, t_created=NOW)
                for source, kind, target in ends
            ]
        )
        assert [(edge.source, edge.kind, edge.target) for edge in store.edges(["a"])] == sorted(
            ends
        )

    # --- words of context keys and of documents ---

    def test_words_of_a_context_key_find_with_half_their_weight(self, store: Store) -> None:
        nodes = [
            node("said", "apple pear"),
            node("near", "plum pear", context="apple quince"),
            *(node(f"x{i}", "fig date") for i in range(8)),
        ]
        store.insert(nodes)
        assert bm25.CONTEXT_WEIGHT == 0.5
        lengths = [3, 5, *[3] * 8]
        mean = sum(lengths) / len(lengths)
        telling = idf(10, 2)
        expected = {
            "said": telling * bm25.saturation(1.0, 3, mean),
            "near": telling * bm25.saturation(0.5, 5, mean),
        }
        found = {match.id: match.score for match in store.sparse(["appl"], where(), limit=5)}
        assert found.keys() == expected.keys()
        assert all(abs(found[id] - expected[id]) < 1e-9 for id in expected)
        assert [match.id for match in store.sparse(["quinc"], where(), limit=5)] == ["near"]

    def test_a_changed_context_key_is_found_by_its_new_words_alone(self, store: Store) -> None:
        filled(store, [node("a", "pear", context="apple"), node("b", "fig")])
        store.update("a", context="plum")
        assert _words(store, "appl") == []
        assert _words(store, "plum") == _words(store, "pear") == ["a"]
        store.update("a", context="")
        assert _words(store, "plum") == []
        assert store.verify() == ()

    def test_a_document_is_found_by_its_opening_and_ending_and_its_sections_by_all_their_words(
        self, store: Store
    ) -> None:
        text = f"apple {'fig ' * 1000}quince {'fig ' * 1000}plum"
        filled(
            store,
            [
                node("d", text, kind=Kind.DOCUMENT),
                node("s", text, kind=Kind.SECTION, parent="d", root="d"),
            ],
        )
        assert _words(store, "appl") == _words(store, "plum") == ["d", "s"]
        assert _words(store, "quinc") == ["s"]
        store.update("d", kind=Kind.CHUNK)
        assert _words(store, "quinc") == ["d", "s"]
        assert store.verify() == ()

    # --- vectors of context keys ---

    def test_a_node_with_a_context_key_is_searched_by_the_vector_of_the_key(
        self, store: Store
    ) -> None:
        keyed = node("keyed", "plum", context="apple amid pears")
        filled(store, [keyed, node("plain", "apple")])
        store.put([_of_context(keyed)], MODEL)
        best = store.dense(unit(keyed.context), where(), limit=1, role=Role.CONTEXT)[0]
        assert (best.id, best.score > 0.99) == ("keyed", True)
        assert [
            match.id for match in store.dense(unit("apple"), where(), limit=1, role=Role.CONTEXT)
        ] == ["plain"]
        found = {
            match.id: match.score
            for match in store.dense(unit("q"), where(), limit=5, role=Role.CONTEXT)
        }
        assert store.cosines(unit("q"), ["keyed", "plain"], role=Role.CONTEXT) == found
        assert found.keys() == {"keyed", "plain"}

    def test_a_key_without_a_vector_is_not_found_by_what_the_node_says(self, store: Store) -> None:
        filled(store, [node("a", "apple", context="apple amid pears"), node("b", "pear")])
        assert [
            match.id for match in store.dense(unit("apple"), where(), limit=5, role=Role.CONTEXT)
        ] == ["b"]
        assert store.cosines(unit("apple"), ["a", "b"], role=Role.CONTEXT).keys() == {"b"}

    def test_a_changed_context_key_loses_its_vector_and_wants_a_new_one(self, store: Store) -> None:
        keyed = node("a", "plum", context="apple amid pears")
        filled(store, [keyed])
        assert [each.id for each in store.unembedded(MODEL.id, limit=5)] == ["a"]
        store.put([_of_context(keyed)], MODEL)
        assert store.unembedded(MODEL.id, limit=5) == ()
        store.update("a", context="apple amid figs")
        assert [each.role for each in store.embeddings(["a"])] == [Role.CONTENT]
        assert [each.id for each in store.unembedded(MODEL.id, limit=5)] == ["a"]
        assert store.dense(unit("q"), where(), limit=5, role=Role.CONTEXT) == ()
        store.put([_of_context(replace(keyed, context="apple amid figs"))], MODEL)
        assert (
            store.dense(unit("apple amid figs"), where(), limit=5, role=Role.CONTEXT)[0].score
            > 0.99
        )
        assert store.unembedded(MODEL.id, limit=5) == ()

    def test_a_node_becomes_its_own_context_when_its_key_goes_and_stops_when_one_comes(
        self, store: Store
    ) -> None:
        keyed = node("a", "plum", context="apple amid pears")
        filled(store, [keyed])
        store.put([_of_context(keyed)], MODEL)
        store.update("a", context="")
        assert store.dense(unit("q"), where(), limit=5, role=Role.CONTEXT) == store.dense(
            unit("q"), where(), limit=5
        )
        store.update("a", context="apple again")
        assert store.dense(unit("q"), where(), limit=5, role=Role.CONTEXT) == ()

    def test_a_context_vector_without_a_key_stands_for_nothing(self, store: Store) -> None:
        filled(
            store, [node("a", "apple"), node("b", "pear"), node("keyed", context="apple and pear")]
        )
        store.put([embedding(node("a"), unit("fig"), role=Role.CONTEXT)], MODEL)
        assert store.coverage("default").contexts == 0
        store.delete(["keyed"])
        content = store.dense(unit("fig"), where(), limit=5)
        assert store.dense(unit("fig"), where(), limit=5, role=Role.CONTEXT) == content
        assert store.cosines(unit("fig"), ["a", "b"], role=Role.CONTEXT) == {
            match.id: match.score for match in content
        }

    # --- quality ---

    def test_quality_comes_back_as_it_went_in(self, store: Store) -> None:
        store.insert([node("a", quality=_QUALITY), node("b")])
        kept = store.get(["a", "b"])
        assert (kept["a"].quality, kept["b"].quality) == (_QUALITY, None)
        assert kept["a"].quality is not None
        assert kept["a"].quality.stub is Stub.REFERENCE
        store.update("b", quality=_QUALITY._replace(stub=Stub.NONE, overall=0.1))
        store.update("a", quality=None)
        kept = store.get(["a", "b"])
        assert (kept["a"].quality, kept["b"].quality) == (
            None,
            _QUALITY._replace(stub=Stub.NONE, overall=0.1),
        )

    # --- coverage ---

    def test_coverage_counts_without_a_search_before_it(self, store: Store) -> None:
        filled(store, _keyed("d"))
        assert store.coverage("default") == Coverage(
            nodes=9, vectors=9, keyed=6, contexts=0, sections=2
        )
        store.put([_of_context(each) for each in _keyed("d") if each.context][:4], MODEL)
        assert store.coverage("default") == Coverage(
            nodes=9, vectors=9, keyed=6, contexts=4, sections=2
        )

    def test_coverage_follows_updates_deletes_and_other_models(self, store: Store) -> None:
        nodes = _keyed("d")
        filled(store, nodes)
        store.put([_of_context(each) for each in nodes if each.context], MODEL)
        assert store.coverage("default") == Coverage(
            nodes=9, vectors=9, keyed=6, contexts=6, sections=2
        )
        store.dense(unit("q"), where(), limit=5)
        store.update("d.0.0", context="other words")
        assert store.coverage("default") == Coverage(
            nodes=9, vectors=9, keyed=6, contexts=5, sections=2
        )
        store.update("d.0.0", context="")
        store.update("d.1", kind=Kind.DOCUMENT)
        assert store.coverage("default") == Coverage(
            nodes=9, vectors=9, keyed=5, contexts=5, sections=1
        )
        store.delete(["d.0.0", "d.0.1", "d.0"])
        assert store.coverage("default") == Coverage(
            nodes=6, vectors=6, keyed=4, contexts=4, sections=0
        )
        added(store, [node("late", space="other")])
        assert store.coverage("default") == Coverage(
            nodes=6, vectors=6, keyed=4, contexts=4, sections=0
        )
        assert store.coverage("other") == Coverage(
            nodes=1, vectors=1, keyed=0, contexts=0, sections=0
        )
        store.activate(replace(MODEL, id="another"))
        assert store.coverage("default") == Coverage(
            nodes=6, vectors=0, keyed=4, contexts=0, sections=0
        )

    def test_coverage_leaves_out_what_is_expired_or_archived(self, store: Store) -> None:
        nodes = _keyed("d")
        filled(store, nodes)
        store.put([_of_context(each) for each in nodes if each.context], MODEL)
        for searched in (False, True):
            if searched:  # a store that keeps vectors in memory counts there
                store.dense(unit("q"), where(), limit=5)
            store.update("d.0.0", t_expired=NOW)
            store.update("d.0.1", archived=True)
            store.update("d.0", t_expired=NOW)
            assert store.coverage("default") == Coverage(
                nodes=6, vectors=6, keyed=4, contexts=4, sections=1
            )
            store.update("d.0.0", t_expired=None)
            store.update("d.0.1", archived=False)
            store.update("d.0", t_expired=None)
            assert store.coverage("default") == Coverage(
                nodes=9, vectors=9, keyed=6, contexts=6, sections=2
            )
        store.update("d.0.0", t_expired=NOW)
        store.insert([node("e", t_expired=NOW, context="key"), node("f", archived=True)])
        store.delete(["d.0.0", "e", "f"])
        assert store.coverage("default") == Coverage(
            nodes=8, vectors=8, keyed=5, contexts=5, sections=2
        )
        assert store.verify() == ()

    def test_coverage_inside_a_transaction_sees_what_it_wrote(self, store: Store) -> None:
        filled(store, [node("a")])
        store.dense(unit("q"), where(), limit=5)
        with store.transaction():
            added(store, _keyed("d"))
            assert store.coverage("default") == Coverage(
                nodes=10, vectors=10, keyed=6, contexts=0, sections=2
            )

    # --- soundness ---

    def test_a_store_with_documents_stays_sound_through_all_of_it(self, store: Store) -> None:
        nodes = _keyed("d")
        filled(store, nodes)
        store.put([_of_context(each) for each in nodes if each.context], MODEL)
        store.update("d.0.0", context="other words", parent="d.1", quality=_QUALITY)
        store.update("d.0.1", t_expired=later(0), kind=Kind.MEMORY)
        store.delete(["d.1.1"])
        before = _answers(store)
        assert store.verify() == ()
        store.repair()
        assert store.verify() == ()
        assert _answers(store) == before
        store.compact()
        assert store.verify() == ()
        assert _answers(store) == before


def _document(id: str) -> list[Node]:
    """Return a document with two sections of three chunks each."""
    sections = [
        node(f"{id}.{i}", "apple", kind=Kind.SECTION, parent=id, root=id, position=i)
        for i in range(2)
    ]
    chunks = [
        node(
            f"{each.id}.{i}",
            "apple",
            kind=Kind.CHUNK,
            parent=each.id,
            root=id,
            position=3 * (each.position or 0) + i,
        )
        for each in sections
        for i in range(3)
    ]
    return [node(id, "apple", kind=Kind.DOCUMENT, position=0), *sections, *chunks]


def _keyed(id: str) -> list[Node]:
    return [
        replace(each, context=f"apple beside {each.id}") if each.kind is Kind.CHUNK else each
        for each in _document(id)
    ]


def _of_context(of: Node) -> Embedding:
    return embedding(of, unit(of.context), role=Role.CONTEXT, text_hash=content_hash(of.context))


def _words(store: Store, term: str) -> list[str]:
    return sorted(match.id for match in store.sparse([term], where(), limit=10))


def _channels(
    store: Store,
    *,
    within: tuple[str, ...],
    kinds: Sequence[Kind] = (Kind.MEMORY, Kind.DOCUMENT, Kind.CHUNK),
) -> tuple[list[str], ...]:
    chosen = where(within=within, kinds=tuple(kinds))
    return (
        sorted(match.id for match in store.sparse(["appl"], chosen, limit=50)),
        sorted(match.id for match in store.dense(unit("q"), chosen, limit=50)),
        sorted(each.id for each in store.listing(chosen, sort=Sort.RECENT, limit=50)),
    )


def _answers(store: Store) -> tuple[object, ...]:
    chosen = where(within=("d.1",))
    return (
        store.sparse(["appl", "word"], chosen, limit=50),
        store.dense(unit("q"), chosen, limit=50),
        store.dense(unit("q"), chosen, limit=50, role=Role.CONTEXT),
        store.coverage("default"),
    )
