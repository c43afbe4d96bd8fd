"""Reading plain files: encodings, markdown, code, and what is refused with its reason."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from clew.documents.readers.document import Document, UnreadableError
from clew.documents.readers.reading import read
from clew.errors import InputError
from clew.file_formats import FORMATS, detect

FIXTURES = Path(__file__).parent / "fixtures" / "reading"


def one(name: str, data: bytes | str, *, format: str | None = None) -> Document:
    (document,) = read(
        Path(name), data=data.encode() if isinstance(data, str) else data, format=format
    )
    return document


def refusal(name: str, data: bytes, *, format: str | None = None) -> UnreadableError:
    with pytest.raises(UnreadableError) as caught:
        read(Path(name), data=data, format=format)
    return caught.value


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_text_is_the_same_in_every_unicode_encoding(encoding: str) -> None:
    document = one("a.txt", "Größe 東京 🐙\r\nnext".encode(encoding))
    assert document == Document(text="Größe 東京 🐙\nnext", format="text")


def test_big_endian_utf_16_is_known_by_its_mark() -> None:
    assert one("a.txt", b"\xfe\xff" + "Größe".encode("utf-16-be")).text == "Größe"


def test_another_encoding_is_read_as_cp1252_and_said() -> None:
    document = one("a.txt", "Das Café kostet 5 €".encode("cp1252"))
    assert document.text == "Das Café kostet 5 €"
    assert document.notes == ("not UTF-8: read as cp1252",)


def test_a_few_broken_bytes_do_not_turn_a_utf_8_text_into_another_encoding() -> None:
    document = one("a.txt", "東京タワー".encode() + b"\xff" + "の高さ".encode())
    assert document.text == "東京タワー\ufffdの高さ"
    assert document.notes == ("1 places that are not UTF-8 replaced by U+FFFD",)


def test_half_a_sign_at_the_end_of_utf_16_is_noted() -> None:
    document = one("a.txt", "abc".encode("utf-16") + b"\x00")
    assert document.text == "abc\ufffd"
    assert "1 places that are not UTF-16" in document.notes[0]


def test_control_characters_become_spaces_and_are_counted() -> None:
    document = one("a.log", "\x1b[31mred\x1b[0m words of a build log that goes on for a while\x0c")
    assert document.text == " [31mred [0m words of a build log that goes on for a while\x0c"
    assert document.notes == ("2 control characters replaced by spaces",)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
        (b"PK\x03\x04" + bytes(100), "an archive"),
        (b"abc\x00def" * 50, "NUL bytes"),
        (b"\x01\x02\x03abc" * 50, "control characters"),
        (b"   \n\t\n", "no text"),
    ],
)
def test_what_is_no_text_is_refused_with_its_reason_and_a_way_out(data: bytes, reason: str) -> None:
    error = refusal("some/a.txt", data)
    assert reason in error.reason
    assert error.way_out
    assert error.as_dict() == {
        "code": "unreadable",
        "message": error.message,
        "path": "some/a.txt",
        "reason": error.reason,
    }
    assert "some/a.txt" in error.message


def test_front_matter_becomes_fields_and_leaves_the_text() -> None:
    (document,) = read(FIXTURES / "notes.md")
    assert (document.title, document.time) == ("Garden log", datetime(2024, 3, 1, tzinfo=UTC))
    assert document.metadata == {"tags": ["garden", "soil"], "front_matter": {"mood": "no"}}
    assert document.text.startswith("```sh\n# not a heading")
    assert document.format == "markdown"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One #\n\ntext", "One"),
        ("text\n\n## Two `code`\n", "Two `code`"),
        ("Under\n=====\n", "Under"),
        ("~~~\n# no\n~~~\n### Three", "Three"),
        ("````\n```\n# no\n````\n# Four", "Four"),
        ("- item\n---\n", ""),
        ("#tag is no heading", ""),
    ],
)
def test_the_first_heading_outside_of_code_is_the_title(text: str, title: str) -> None:
    assert one("a.md", text).title == title


def test_front_matter_that_is_broken_or_a_rule_stays_in_the_text() -> None:
    broken = one("a.md", "---\na: [1\n---\ntext")
    assert (broken.text, broken.notes) == (
        "---\na: [1\n---\ntext",
        ("front matter that is not YAML kept as text",),
    )
    assert one("a.md", "---\njust a line\n---\ntext").text == "---\njust a line\n---\ntext"
    assert one("a.md", "---\nnever closed: 1\n").text == "---\nnever closed: 1\n"


def test_tags_may_be_one_text_and_only_plain_fields_are_kept() -> None:
    plain = one("a.md", "---\ntags: '#a, b c, a'\nlist: [x, [y]]\n---\ntext")
    assert plain.metadata == {"tags": ["a", "b c"], "front_matter": {"list": ["x"]}}


@pytest.mark.parametrize(("name", "extensions"), FORMATS.items())
def test_every_extension_means_its_format_in_any_case(
    name: str, extensions: tuple[str, ...]
) -> None:
    assert [detect(Path(f"file{extension.upper()}"), b"") for extension in extensions] == [
        name
    ] * len(extensions)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"%PDF-1.7", "pdf"),
        (b"\xef\xbb\xbf\n<!DOCTYPE html>", "html"),
        (b"<?xml version='1.0'?><html xmlns='x'>", "html"),
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/bin/sh\n", "shell"),
        (b' [{"role": "user"', "json"),
        (b"[2024-03-01 10:00] Ada: hi", "text"),
        (b"plain words", "text"),
    ],
)
def test_a_file_without_a_telling_name_is_known_by_its_content(head: bytes, expected: str) -> None:
    assert detect(Path("-"), head) == expected


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.py", "python"), ("a.tsx", "tsx"), ("a.rs", "rust"), ("a.sql", "sql"), ("a.toml", "toml")],
)
def test_code_and_data_stay_the_text_they_are(name: str, format: str) -> None:
    assert one(name, "def a():\n\treturn 1  \n") == Document(
        text="def a():\n\treturn 1  \n", format=format
    )


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.yaml", "a.jsonl"])
def test_data_files_are_text_of_their_format(name: str) -> None:
    data = '{"port": 5432, "hosts": ["a", "b"]}'
    assert one(name, data) == Document(text=data, format=name.removeprefix("a."))


def test_a_format_can_be_asked_for_and_an_unknown_one_is_named() -> None:
    assert one("a.txt", "# Title\n", format="markdown").title == "Title"
    with pytest.raises(InputError, match="format: is not known"):
        read(Path("a.txt"), format="docs", data=b"x")


def test_files_that_are_not_there_or_not_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="does not exist"):
        read(tmp_path / "none.txt")
    with pytest.raises(UnreadableError, match="not a file"):
        read(tmp_path)
