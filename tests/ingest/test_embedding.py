"""Which vectors a node wants, and from which text each is made."""

from __future__ import annotations

from clew.memories.embedding import wanted
from clew.testing import node
from clew.text.gist import EXCERPT_CHARACTERS
from clew.text.words import content_hash
from clew.types import Kind, Role


def test_a_node_wants_one_vector_and_with_a_context_key_a_second() -> None:
    plain, keyed = node("a", "apple"), node("b", "pear", context="apple pear plum", title="Fruit")
    assert [(each.node.id, each.role, each.text) for each in wanted([plain, keyed])] == [
        ("a", Role.CONTENT, "apple"),
        ("b", Role.CONTENT, "Fruit\npear"),
        ("b", Role.CONTEXT, "Fruit\napple pear plum"),
    ]


def test_each_vector_is_stamped_with_the_hash_of_what_it_stands_for() -> None:
    content, context = wanted([node("b", "pear", context="apple pear")])
    assert (content.text_hash, context.text_hash) == (
        content_hash("pear"),
        content_hash("apple pear"),
    )


def test_a_long_document_is_embedded_by_its_opening_and_ending_and_a_chunk_whole() -> None:
    text = "begin " + "middle " * 1000 + "end"
    for kind in (Kind.DOCUMENT, Kind.SECTION):
        (each,) = wanted([node("a", text, kind=kind, title="Title")])
        assert each.text.startswith("Title\nbegin ")
        assert each.text.endswith(" end")
        assert len(each.text) < EXCERPT_CHARACTERS + 20
    (whole,) = wanted([node("a", text, kind=Kind.CHUNK)])
    assert whole.text == text
