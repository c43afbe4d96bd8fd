"""Hostile files: documents or UnreadableError, soon, and never anything else."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.documents.readers.document import Document, UnreadableError
from clew.documents.readers.reading import read
from clew.file_formats import FORMATS

from .test_readers_office import pdf, word

SECONDS = 4.0  # of processor time, on a slow machine; what grows with the square takes minutes
EXTENSIONS = (".txt", ".md", ".html", ".pdf", ".docx", ".json", ".jsonl", "")
FIXTURES = Path(__file__).parent / "fixtures" / "reading"


def attempted(name: str, data: bytes, *, format: str | None = None) -> tuple[Document, ...]:
    begin = time.process_time()
    try:
        documents = read(Path(name), data=data, format=format)
    except UnreadableError as error:
        assert error.reason and error.way_out
        documents = ()
    else:
        assert documents
    assert time.process_time() - begin < SECONDS
    for document in documents:
        document.text.encode()
        document.title.encode()
        json.dumps(dict(document.metadata))
        assert all(
            document.text[each.start : each.end].startswith(f"{each.speaker}: ")
            for each in document.messages
        )
    return documents


@pytest.mark.parametrize("extension", EXTENSIONS)
@given(data=st.binary(max_size=300))
def test_random_bytes_are_documents_or_unreadable(extension: str, data: bytes) -> None:
    attempted(f"a{extension}", data)


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(
    text=st.text(
        alphabet=st.one_of(st.sampled_from("<>/=\"'`#-*:[]{}|\n\r\\&;! ab1"), st.characters()),
        max_size=200,
    )
)
@settings(max_examples=30)
def test_random_texts_are_documents_or_unreadable_in_every_format(format: str, text: str) -> None:
    attempted("a", text.encode(errors="surrogatepass"), format=format)


@pytest.mark.parametrize("begin", [pdf("Some words", title="T"), word()], ids=["pdf", "docx"])
@given(data=st.data())
@settings(max_examples=60)
def test_sound_files_with_broken_bytes_are_documents_or_unreadable(
    begin: bytes, data: st.DataObject
) -> None:
    broken = bytearray(begin)
    for _ in range(data.draw(st.integers(1, 8))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    attempted(
        "a.pdf" if begin.startswith(b"%PDF") else "a.docx",
        bytes(broken[: data.draw(st.integers(1, len(broken)))]),
    )
    attempted("a.pdf" if begin.startswith(b"%PDF") else "a.docx", bytes(broken))


@pytest.mark.parametrize(
    "name",
    [
        "chatgpt.json",
        "claude.json",
        "slack.json",
        "messages.jsonl",
        "page.html",
        "notes.md",
        "whatsapp.txt",
    ],
)
@given(cut=st.integers(0, 3000))
@settings(max_examples=40)
def test_files_torn_anywhere_are_documents_or_unreadable(name: str, cut: int) -> None:
    attempted(name, (FIXTURES / name).read_bytes()[:cut])


json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                "mapping message author role content parts text chat_messages sender messages user ts name type current_node parent".split()
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=25,
)


@given(json_values)
@settings(max_examples=200)
def test_exports_of_any_shape_are_documents_or_unreadable(value: object) -> None:
    attempted("conversations.json", json.dumps(value).encode())
    attempted(
        "conversations.json",
        json.dumps([{"mapping": value}, {"chat_messages": value}, {"messages": value}]).encode(),
    )


NESTED = {
    "json lists": ("a.json", b"[" * 10_000 + b"]" * 10_000),
    "json mappings": ("a.json", b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
    "json messages": ("a.json", b'[{"role":"user","content":' * 5_000),
    "json number": ("a.json", b'[{"role":"user","content":"x","time":' + b"9" * 100_000 + b"}]"),
    "one line": ("a.txt", b"word " * 200_000),
    "one line of letters": ("a.md", b"a" * 1_000_000),
    "colons": ("a.txt", b"a:" * 500_000),
    "names": ("a.txt", b"Ada: " * 200_000),
    "heads": ("a.txt", b"Ada:\nBob:\n" * 50_000),
    "stamps": ("a.txt", b"[2024-03-01 10:00] " * 50_000),
    "digits": ("a.txt", b"1" * 1_000_000),
    "fences": ("a.md", b"```\n" * 200_000),
    "front matter": ("a.md", b"---\n" + b"a: &a [" * 9_000 + b"\n---\ntext"),
    "laughs": (
        "a.md",
        b"---\na: &a [x, x]\n"
        + b"".join(b"%c: &%c [*%c, *%c]\n" % (98 + n, 98 + n, 97 + n, 97 + n) for n in range(24))
        + b"---\nt",
    ),
    "divs": ("a.html", b"<div>" * 50_000 + b"deep" + b"</div>" * 50_000),
    "divs never closed": ("a.html", b"<div><p>" * 100_000),
    "divs hidden in quotes": (
        "a.html",
        b"<div =\"><div a='</div>'><!--</div>--><![CDATA[></div>]]>" * 10_000,
    ),
    "formatting": ("a.html", b"".join(b"<b id=%d>" % n for n in range(20_000)) + b"<p>x" * 20_000),
    "tables": ("a.html", b"<table><tr><td>" * 20_000),
    "lists": ("a.html", b"<ul><li>a" * 20_000),
    "quotes": ("a.html", b"<blockquote>a\n<br>b" * 20_000),
    "attributes": ("a.html", b"<a " + b" ".join(b"a%d" % n for n in range(100_000)) + b">x</a>"),
    "tags without end": ("a.html", b"<a " * 300_000),
    "scripts": ("a.html", b"<script>" * 100_000),
    "comments": ("a.html", b"<!--" * 200_000 + b"--"),
    "drawings": ("a.html", b"<svg><td><option>" * 50_000),
    "signs": ("a.html", b"<" * 500_000),
    "entities": ("a.html", b"&" * 500_000),
    "code in code": ("a.html", b"<code>" * 500 + b"x" * 300_000 + b"</code>" * 500),
    "slack marks": (
        "a.json",
        json.dumps([{"user": "a", "ts": "1", "text": "<@" * 200_000}]).encode(),
    ),
    "loops": (
        "a.json",
        json.dumps([{"mapping": {str(n): {"parent": str(n + 1)} for n in range(50_000)}}]).encode(),
    ),
    "pdf": ("a.pdf", b"%PDF-1.4\n" + b"1 0 obj\n<<" * 20_000),
    "pdf lists": ("a.pdf", pdf("x").replace(b"[0 0 612 792]", b"[" * 20_000)),
}


@pytest.mark.parametrize("case", sorted(NESTED))
def test_files_made_to_take_long_do_not(case: str) -> None:
    attempted(*NESTED[case])


def test_deep_nesting_loses_no_words() -> None:
    (deep,) = attempted(
        "a.html", b"<div>" * 50_000 + b"deep" + b"</div>" * 50_000 + b"<h2>after</h2>"
    )
    assert deep.text == "deep\n\n## after"
    assert deep.notes == ("nested more than 512 deep: flattened below",)
    (nested,) = attempted("a.json", b"[" * 10_000 + b"]" * 10_000)
    assert nested.format == "json"
    assert nested.notes == ("JSON that is nested more than 100 levels deep: kept as text",)
