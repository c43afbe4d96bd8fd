"""Text of any script is kept as written and found by its words; what looks like a query language is only words."""
# ruff: noqa: D102, S101 - a test is named by its sentence and asserts

from __future__ import annotations

from clew.ports import Sort, Store
from clew.testing.build import filled, node, unit, where
from clew.words import query_terms, terms

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
        filled(store, [node(name, text, title=text[:40], tags=(text[:9],)) for name, (text, _) in _LANGUAGES.items()])
        for name, (text, question) in _LANGUAGES.items():
            kept = store.get([name])[name]
            assert (kept.text, kept.title, kept.tags) == (text, text[:40], (text[:9],))
            assert [match.id for match in store.sparse(query_terms(question), where(), limit=20)] == [name]
            assert store.dense(unit(text), where(tags=(text[:9],)), limit=5)[0].id == name

    def test_ids_spaces_tags_and_keys_may_be_any_text(self, store: Store) -> None:
        odd = ["数据", "a b", "o'neil", 'say "hi"', "a.b", "$.x", "%", "🎉", "x:y", "(", "AND"]
        filled(store, [node(f"id {name}", "apple", space=name, tags=(name,), metadata={name: name}, category=name) for name in odd])
        for name in odd:
            filter = where(space=name, tags=(name,), metadata={name: name}, categories=(name,))
            assert [match.id for match in store.sparse(["appl"], filter, limit=20)] == [f"id {name}"]
            assert [match.id for match in store.dense(unit("q"), filter, limit=20)] == [f"id {name}"]
            assert [each.id for each in store.listing(filter, sort=Sort.RECENT, limit=20)] == [f"id {name}"]

    def test_query_syntax_is_only_a_term_that_no_node_holds(self, store: Store) -> None:
        filled(store, [node("a", "apple pear col text title"), node("b", "apple"), node("c", "nothing of it")])
        for term in [*_SYNTAX, *_ODD]:
            assert store.sparse([term], where(), limit=5) == (), term

    def test_query_syntax_beside_a_term_changes_nothing(self, store: Store) -> None:
        filled(store, [node("a", "apple pear"), node("b", "apple"), node("c", "nothing of it"), node("d", "near")])
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
