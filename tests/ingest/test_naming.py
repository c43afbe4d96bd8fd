"""What nodes name: memories by text and title, documents by their first chunk, one reading for all who write."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from clew.documents.importing import ImportReport
from clew.errors import ModelMissingError
from clew.graph.mentions import mentions, mentions_of, subject_of
from clew.settings import EntitySettings
from clew.testing import node, where
from clew.types import Kind, Mention, Node
from tests.ingest.test_commit import Bench
from tests.ingest.test_importing import Run

USUAL = EntitySettings()


def told(made: Node, **settings: Any) -> list[tuple[str, bool]]:
    return [
        (mention.key, mention.subject)
        for mention in mentions_of(made, settings=EntitySettings(**settings))
    ]


def chunk(text: str, **fields: Any) -> Node:
    return node("c", text, **{"kind": Kind.CHUNK, "position": 0, **fields})


# --- one node ---


def test_a_memory_is_about_its_title_under_all_its_keys_and_names_what_its_text_names() -> None:
    film = node("n", "Kate Winslet was in it.", title="Titanic (1997 film)")
    assert told(film) == [("titanic", True), ("titanic 1997 film", True), ("kate winslet", False)]


def test_a_mention_says_where_the_text_has_it() -> None:
    text = "then Anna Keller called"
    (found,) = mentions_of(node("n", text), settings=USUAL)
    assert isinstance(found, Mention)
    assert (found.node, found.name, found.type, text[found.start : found.end]) == (
        "n",
        "Anna Keller",
        "PERSON",
        "Anna Keller",
    )


def test_the_names_inside_a_memorys_title_are_mentions_without_a_place() -> None:
    found = {
        each.key: each
        for each in mentions_of(
            node("n", "the plan was agreed", title="Call with Anna Keller"), settings=USUAL
        )
    }
    assert (found["anna keller"].subject, found["anna keller"].start, found["anna keller"].end) == (
        False,
        0,
        0,
    )
    both = {
        each.key: each
        for each in mentions_of(
            node("n", "so Anna Keller agreed", title="Call with Anna Keller"), settings=USUAL
        )
    }
    assert both["anna keller"].start == 3


def begun(made: Node, **settings: Any) -> list[str]:
    return [
        mention.key
        for mention in mentions_of(made, settings=EntitySettings(**settings))
        if mention.opens
    ]


def test_a_memory_without_a_title_is_about_its_heading() -> None:
    film = node("n", "Titanic (1997 film)\nA drama that James Cameron directed.")
    assert told(film) == [("titanic", True), ("titanic 1997 film", True), ("james cameron", False)]
    assert told(film, openings=False) == [("james cameron", False)]


def test_a_memory_without_a_title_tells_of_what_its_text_begins_with_by_a_description_or_a_name() -> (
    None
):
    assert begun(node("n", "It Happened at Noon is a film by Marta Ruiz.")) == [
        "it happened at noon"
    ]
    assert begun(node("n", "Marta Ines Ruiz, better known as Tita Ruiz, was a director.")) == [
        *("marta ines", "marta ines ruiz", "marta ruiz", "tita ruiz"),
    ]
    assert begun(node("n", "Imke Sauer moved to Porto.")) == ["imke sauer"]
    assert begun(node("n", "Imke Sauer moved to Porto."), openings=False) == []


def test_a_name_before_a_colon_speaks_and_one_in_the_genitive_only_owns() -> None:
    assert begun(node("n", "Imke Sauer: we moved to Porto.")) == []
    assert begun(node("n", "Imke Sauer's dog likes Porto.")) == []
    assert begun(node("n", "In Porto we met Imke Sauer.")) == []


def test_where_there_is_a_title_it_alone_tells_what_a_memory_is_about() -> None:
    film = node("n", "James Cameron was its director.", title="Titanic")
    assert (told(film), begun(film)) == ([("titanic", True), ("james cameron", False)], [])


def test_of_documents_only_titles_tell_what_they_are_about() -> None:
    assert begun(chunk("Marta Ruiz was a director.", title="People")) == []


def test_only_the_first_chunk_is_about_the_document_and_only_by_its_title() -> None:
    first = chunk("It begins.", title="Harbour Guide > Berths > North")
    assert subject_of(first) == "Harbour Guide"
    assert told(first) == [("harbour guide", True)]
    assert told(chunk("It goes on.", title="Harbour Guide > Berths > North", position=1)) == []


@pytest.mark.parametrize("kind", [Kind.DOCUMENT, Kind.SECTION, Kind.ENTITY])
def test_what_is_not_served_names_nothing(kind: Kind) -> None:
    assert told(node("n", "then Anna Keller called", title="Anna Keller", kind=kind)) == []


def test_settings_bound_what_is_noted() -> None:
    named = node("n", "Anna Keller, Bob Stone and Carla Diaz met in Lisbon.", title="Standup")
    assert len(told(named)) == 5
    assert told(named, most=2)[0] == ("standup", True)
    assert len(told(named, most=2)) == 3  # the subject and two others
    assert told(named, least_confidence=1.0) == [("standup", True)]
    assert told(named, enabled=False) == []


def test_in_code_quotation_marks_hold_data() -> None:
    text = 'they wait for the "pilot boat" here'
    assert ("pilot boat", False) in told(chunk(text, source="notes.txt"))
    assert told(chunk(text, source="shop/cart.py")) == []


def test_many_nodes_are_read_in_order_and_each_by_itself() -> None:
    made = [
        node("a", "then Anna Keller called"),
        node("s", "x", kind=Kind.SECTION),
        node("b", "then Bob Stone called"),
    ]
    assert mentions(made, settings=USUAL) == [mentions_of(each, settings=USUAL) for each in made]


def test_a_library_reads_in_place_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    span = SimpleNamespace(start_char=5, end_char=9, label_="PERSON")
    module: Any = ModuleType("spacy")
    module.load = lambda name: SimpleNamespace(
        pipe=lambda texts: [SimpleNamespace(ents=[span]) for _ in texts], name=name
    )
    monkeypatch.setitem(sys.modules, "spacy", module)
    assert told(node("n", "when anna left"), extractor="spacy", model="ours") == [("anna", False)]


def test_a_library_that_is_not_there_is_named_with_its_way_out() -> None:
    with pytest.raises(ModelMissingError, match="pip install gliner"):
        told(node("n", "when anna left"), extractor="gliner", model="not installed")


# --- at commit ---


def test_a_committed_memory_is_found_by_what_it_names() -> None:
    bench = Bench()
    first, second = bench.commit(
        "Anna Keller reviews the harbour plan", "Bob Stone wrote the harbour plan"
    )
    found = bench.store.named(["anna keller", "stone"], where(), limit=5)
    assert (found["anna keller"].holders, found["stone"].holders) == ((first.id,), (second.id,))
    titled = bench.one("It sank in 1912 on its first voyage", title="Titanic")
    assert bench.store.named(["titanic"], where(), limit=5)["titanic"].subjects == (titled.id,)


def test_a_duplicate_adds_no_mention() -> None:
    bench = Bench()
    bench.one("Anna Keller reviews the harbour plan")
    bench.one("Anna Keller reviews the harbour plan")
    assert bench.store.named(["anna keller"], where(), limit=5)["anna keller"].nodes == 1


def test_a_chunk_that_fails_leaves_no_mention() -> None:
    bench = Bench()
    bench.one("The pilot boat is late again")
    with pytest.raises(Exception, match="says this already"):
        bench.commit(
            "Anna Keller reviews the harbour plan",
            "The pilot boat is late again",
            on_duplicate="error",
        )
    assert bench.store.named(["anna keller"], where(), limit=5) == {}


def test_turned_off_nothing_is_noted() -> None:
    bench = Bench(entities__enabled=False)
    outcome = bench.one("Anna Keller reviews the harbour plan")
    assert bench.store.mentions([str(outcome.id)]) == {}


# --- at import ---


def test_an_imported_document_is_named_by_its_first_chunk_and_again_after_a_change() -> None:
    run = Run()

    def bring(text: str) -> ImportReport:
        run.clock.advance(days=1)
        return run.importer().data(f"# Harbour Guide\n\n{text}\n".encode(), name="guide.md")

    bring("Anna Keller leads the pilots.")
    guide = run.store.named(["harbour guide", "anna keller"], where(), limit=5)
    assert guide["harbour guide"].subjects == guide["anna keller"].holders != ()
    bring("Bob Stone leads the pilots.")
    after = run.store.named(["harbour guide", "anna keller", "bob stone"], where(), limit=5)
    assert (
        after["harbour guide"].subjects
        == after["bob stone"].holders
        != guide["harbour guide"].subjects
    )
    assert after["anna keller"].holders == ()  # of what is believed now
    assert after["harbour guide"].nodes == 1
