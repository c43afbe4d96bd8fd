"""A document at three resolutions: every node knows its place, and its place holds its text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.documents.chunkers.port import ChunkOptions, Unit, estimate
from clew.documents.chunkers.structural import chunker_for
from clew.documents.readers.document import Document, Message
from clew.documents.tree import FOLLOWS, MAX_TITLE, PART_OF, Origin, Tree, planted, titled
from clew.testing import NOW
from clew.text.words import content_hash
from clew.types import Kind

OPTIONS = ChunkOptions(min_tokens=4, target_tokens=16, max_tokens=24, overlap_tokens=4)
BEGIN = datetime(2026, 1, 5, 10, tzinfo=UTC)
LINES = st.sampled_from(
    [
        "# One",
        "## Two",
        "### Three",
        "",
        "Some words of a sentence.",
        "🎉 emoji, שלום and 数据库。",
        "- an item",
        "```",
        "def f():",
        "    return 1",
    ]
)
TEXTS = st.lists(LINES, min_size=1, max_size=80).map("\n".join).filter(str.strip)


def tree(document: Document, options: ChunkOptions = OPTIONS, **origin: Any) -> Tree:
    units = [
        Unit(each.start, each.end, each.speaker, each.time) for each in document.messages
    ] or None
    chunks = chunker_for(document.format, count=estimate).chunk(
        document.text, format=document.format, options=options, units=units
    )
    numbers = count()
    chosen = Origin(
        **{"space": "default", "source": "file.md", "category": "note", "importance": 0.5, **origin}
    )
    return planted(
        document, chunks, origin=chosen, now=NOW, new_id=lambda now: f"n{next(numbers):05}"
    )


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, st.sampled_from(["text", "markdown", "python"]))
def test_every_node_knows_its_place_and_its_place_holds_its_text(text: str, format: str) -> None:
    made = tree(Document(text=text, format=format, title="Title"))
    assert made.root.parent is made.root.root is None
    by_id = {node.id: node for node in made.nodes}
    assert len(by_id) == len(made.nodes)
    for node in made.nodes:
        assert text[node.start : node.end] == node.text
        assert node.content_hash == content_hash(node.text)
        assert node.quality is not None
        assert node.position is not None
    if len(made.nodes) == 1:
        assert made.root.kind is Kind.CHUNK
        assert made.edges == ()
        return
    sections = [node for node in made.nodes if node.kind is Kind.SECTION]
    leaves = [node for node in made.nodes if node.kind is Kind.CHUNK]
    assert (made.root.kind, made.root.text) == (Kind.DOCUMENT, text)
    assert len(made.nodes) == 1 + len(sections) + len(leaves)
    assert all((node.parent, node.root) == (made.root.id, made.root.id) for node in sections)
    assert [node.position for node in sections] == list(range(len(sections)))
    assert [node.position for node in leaves] == list(range(len(leaves)))
    for leaf in leaves:
        section = by_id[str(leaf.parent)]
        assert section.kind is Kind.SECTION
        assert leaf.root == made.root.id
        assert (
            section.start is not None
            and section.end is not None
            and leaf.start is not None
            and leaf.end is not None
        )
        assert section.start <= leaf.start <= leaf.end <= section.end
    part_of = {(edge.source, edge.target) for edge in made.edges if edge.kind == PART_OF}
    assert part_of == {(node.id, node.parent) for node in (*sections, *leaves)}
    follows = [(edge.source, edge.target) for edge in made.edges if edge.kind == FOLLOWS]
    assert follows == [(later.id, earlier.id) for earlier, later in pairwise(leaves)]
    assert len(made.edges) == len(part_of) + len(follows)


@given(TEXTS)
def test_the_same_document_gives_the_same_tree(text: str) -> None:
    document = Document(text=text, format="markdown")
    assert tree(document) == tree(document)


def conversation(gaps: list[timedelta]) -> Document:
    text, messages, time = "", [], BEGIN
    for number, gap in enumerate(gaps):
        time += gap
        said = (
            f"{'Ada' if number % 2 else 'Ben'}: Remark number {number} is about boats and ropes.\n"
        )
        role = "assistant" if number % 2 else "user"
        messages.append(Message(len(text), len(text) + len(said) - 1, said[:3], time, role))
        text += said
    return Document(text=text, format="conversation", messages=tuple(messages), time=BEGIN)


def test_a_chunk_of_a_conversation_is_valid_since_its_first_message() -> None:
    made = tree(conversation([timedelta(minutes=1)] * 20), OPTIONS)
    leaves = [node for node in made.nodes if node.kind is Kind.CHUNK]
    assert len(leaves) > 5
    starts = [node.t_valid for node in leaves]
    assert starts == sorted(starts)
    assert len(set(starts)) == len(starts)
    assert leaves[0].t_valid == BEGIN + timedelta(minutes=1)


def test_each_message_is_a_node_with_its_speaker_and_role_and_without_the_title_of_all() -> None:
    made = tree(
        replace(conversation([timedelta(minutes=1)] * 6), title="Boats"), metadata={"who": "me"}
    )
    leaves = [node for node in made.nodes if node.kind is Kind.CHUNK]
    assert [node.text for node in leaves] == made.root.text.strip().split("\n")
    assert [dict(node.metadata) for node in leaves[:2]] == [
        {"who": "me", "speaker": "Ben", "role": "user"},
        {"who": "me", "speaker": "Ada", "role": "assistant"},
    ]
    assert {node.title for node in leaves} == {""}
    assert {node.title for node in made.nodes if node.kind is not Kind.CHUNK} == {"Boats"}


def test_a_longer_silence_begins_a_new_section() -> None:
    gaps = [timedelta(minutes=1)] * 20
    gaps[10] = timedelta(days=1)
    made = tree(conversation(gaps))
    sections = [node for node in made.nodes if node.kind is Kind.SECTION]
    assert [node.t_valid - BEGIN > timedelta(days=1) for node in sections] == [False, True]
    assert sections[1].text.startswith("Ben: Remark number 10")


def test_small_units_have_a_key_of_themselves_amid_their_neighbours_and_larger_nodes_none() -> None:
    made = tree(conversation([timedelta(minutes=1)] * 20))
    for node in made.nodes:
        assert bool(node.context) == (node.kind is Kind.CHUNK)
        if node.context:
            assert node.text in node.context
            assert len(node.context) > len(node.text)


def test_labels_go_to_all_nodes_and_what_is_known_of_the_file_to_the_outermost() -> None:
    text = "\n".join(f"Sentence number {n} of a longer text about boats." for n in range(60))
    made = tree(
        Document(text=text, format="text"),
        tags=("x",),
        metadata={"who": "Ada"},
        root_metadata={"file": "a.txt"},
        importance=0.9,
    )
    assert len(made.nodes) > 5
    assert all(
        (node.tags, node.importance, node.metadata["who"]) == (("x",), 0.9, "Ada")
        for node in made.nodes
    )
    assert [node.id for node in made.nodes if "file" in node.metadata] == [made.root.id]
    short = tree(Document(text="Only this.", format="text"), root_metadata={"file": "a.txt"})
    assert short.root.metadata == {"file": "a.txt"}


def test_titles_name_the_document_and_the_headings_once() -> None:
    text = (
        "# Guide\n\n## Install\n\n"
        + "Type this and that. " * 30
        + "\n\n## Use\n\n"
        + "Then do this. " * 30
    )
    made = tree(Document(text=text, format="markdown", title="Guide"))
    titles = {node.title for node in made.nodes if node.kind is Kind.CHUNK}
    assert {"Guide > Install", "Guide > Use"} <= titles
    assert made.root.title == "Guide"


@pytest.mark.parametrize(
    ("title", "path", "expected"),
    [
        ("", (), ""),
        ("A", ("", "B"), "A > B"),
        ("A", ("B" * MAX_TITLE,), "A > " + "B" * (MAX_TITLE - 4)),
    ],
)
def test_a_title_is_never_longer_than_a_title_may_be(
    title: str, path: tuple[str, ...], expected: str
) -> None:
    assert titled(title, path) == expected


def test_what_has_no_time_of_its_own_is_valid_since_the_file_was_written_or_now() -> None:
    written = NOW - timedelta(days=30)
    document = Document(text="Only this.", format="text")
    assert tree(document, time=written).root.t_valid == written
    assert tree(document).root.t_valid == NOW
    assert (
        tree(Document(text="Only this.", format="text", time=BEGIN), time=written).root.t_valid
        == BEGIN
    )
