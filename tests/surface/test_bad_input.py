"""Whatever is typed or piped.

A clear error, the right exit code, never a traceback, nothing lost.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.text.words import content_hash
from tests.surface.conftest import TEXTS, Cli, Process


def check_error(
    cli: Cli, *arguments: str, code: int, kind: str, stdin: str | bytes | None = None
) -> str:
    """Return the message; both forms of the error must be well-formed."""
    result = cli(*arguments, stdin=stdin, code=code)
    assert "Traceback" not in result.output
    assert "bug" not in result.stderr
    error = cli.json(*arguments, stdin=stdin, code=code)["error"]
    assert error["code"] == kind
    return str(error["message"])


@pytest.mark.parametrize("text", ["", "   ", "...", "\u200b\u200b"])
def test_texts_that_say_nothing_are_rejected_with_a_rule(cli: Cli, text: str) -> None:
    answer = cli.json("add", text, code=1)
    assert answer["outcome"] == "rejected"
    assert answer["rule"]


def test_nul_bytes_are_removed_and_noted(cli: Cli) -> None:
    answer = cli.json("add", "-", stdin=b"has a \0 in the middle of it\n" + TEXTS[0].encode())
    assert [entry["outcome"] for entry in answer["outcomes"]] == ["inserted", "inserted"]
    assert answer["outcomes"][0]["notes"] == ["Removed 1 control character: U+0000 (1)."]
    check_error(cli, "recall", "-", stdin=b"what \0 is this", code=2, kind="input.invalid")


def test_ten_megabytes_are_rejected(cli: Cli) -> None:
    answer = cli.json("add", "-", stdin=b"word " * 2_000_000, code=1)
    assert (answer["outcomes"][0]["rule"], answer["outcomes"][0]["value"]) == (
        "too_long",
        10_000_000,
    )
    assert (
        len(
            check_error(
                cli, "recall", "-", stdin=b"word " * 2_000_000, code=2, kind="input.invalid"
            )
        )
        < 500
    )


def test_bytes_that_are_no_text_are_removed_from_a_memory_and_refused_in_a_query(
    process: Process,
) -> None:
    answer = process("add", b"this is \xff\xfe no text at all", "--json")
    assert (answer.returncode, json.loads(answer.stdout)["notes"]) == (
        0,
        ["Removed 2 control characters: U+DCFE (1), U+DCFF (1)."],
    )
    answer = process("recall", b"this is \xff no text", "--json")
    assert (answer.returncode, json.loads(answer.stdout)["error"]["code"]) == (2, "input.invalid")
    answer = process("add", b"fine text for a memory", "--space", b"\xff\xfe")
    assert answer.returncode == 2
    assert b"Traceback" not in answer.stderr


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '"unbalanced',
        "*",
        "sta*",
        "NEAR(a b)",
        "text:staging",
        "a AND OR NOT b",
        "^x",
        "-x",
        "'; DROP TABLE node; --",
        "(((",
        "%",
    ],
)
def test_query_syntax_and_sql_are_only_words(filled: Cli, query: str) -> None:
    result = filled("recall", "--", query, code=None)
    assert result.exit_code in {0, 1}, result.output
    assert "Traceback" not in result.output
    assert filled.json("verify")["sound"] is True
    assert filled.json("stats")["nodes"] == 3


def test_sql_in_every_field_is_only_text(cli: Cli) -> None:
    evil = "x'); DROP TABLE node; --"
    id = cli.add(
        f"A memory about {evil}",
        "--title",
        evil,
        "--tag",
        evil,
        "--space",
        evil,
        "--source",
        evil,
        "--metadata",
        f"{evil}={evil}",
    )
    assert cli.json("show", id)["tags"] == [evil]
    assert (
        cli.json(
            "recall", "memory", "--space", evil, "--tag", evil, "--metadata", f"{evil}={evil}"
        )["hits"][0]["id"]
        == id
    )


@pytest.mark.parametrize(
    "options",
    [
        ("--weights", "semantic=nan"),
        ("--weights", "semantic=inf"),
        ("--weights", "semantic=-1"),
        ("--weights", "semantic"),
        ("--weights", "semantic=1,=2"),
        ("--weights", "semantics=1"),
        ("--weights", "semantic=0"),
        ("--since", "2026-02-30"),
        ("--until", "yesterday-ish"),
        ("--as-of", "2026-13-01"),
        ("--known-at", "not a date"),
        ("--category", "nonsense"),
        ("--preset", "nonsense"),
        ("--recipe", "nonsense"),
        ("--min-similarity", "nan"),
        ("--min-similarity", "7"),
        ("--budget-tokens", "-1"),
        ("--metadata", "novalue"),
        ("-k", "0"),
        ("-k", "100000"),
        ("--seed", str(2**70)),
    ],
)
def test_wrong_values_of_recall_are_input_errors(filled: Cli, options: tuple[str, str]) -> None:
    check_error(filled, "recall", "staging", *options, code=2, kind="input.invalid")


@pytest.mark.parametrize(
    "options",
    [
        ("--category", "fakt"),
        ("--trigger", "nonsense"),
        ("--importance", "1.5"),
        ("--importance", "nan"),
        ("--valid-from", "2026-02-30"),
        ("--valid-to", "1999-01-01"),
        ("--stability", "wobbly"),
        ("--space", ""),
        ("--title", "x" * 5000),
        ("--metadata", "=x"),
    ],
)
def test_wrong_fields_of_a_memory_are_input_errors_and_nothing_is_stored(
    cli: Cli, options: tuple[str, str]
) -> None:
    cli("init")
    message = check_error(cli, "add", TEXTS[0], *options, code=2, kind="input.invalid")
    assert len(message) < 400
    assert cli.json("list", code=1) == {"memories": []}


@pytest.mark.parametrize(
    "arguments",
    [
        ("recal", "x"),
        ("recall",),
        ("recall", "x", "--nonsense"),
        ("recall", "x", "-k", "many"),
        ("add",),
        ("list", "--sort", "worst"),
        ("forget",),
        ("completion", "csh"),
    ],
)
def test_wrong_usage_exits_with_two(cli: Cli, arguments: tuple[str, ...]) -> None:
    check_error(cli, *arguments, code=2, kind="usage")


def test_an_unknown_command_is_answered_with_the_nearest(cli: Cli) -> None:
    assert "Did you mean 'recall'?" in cli("recal", "x", code=2).stderr


def test_nothing_on_stdin_is_an_error(cli: Cli) -> None:
    check_error(cli, "add", "-", stdin="\n\n", code=2, kind="input.invalid")
    check_error(cli, "add", "text", "--jsonl", code=2, kind="input.invalid")


def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(cli: Cli) -> None:
    cli.store.write_bytes(b"Dear diary, this is not a database. " * 200)
    before = cli.store.read_bytes()
    check_error(cli, "recall", "anything", code=3, kind="store.not_a_store")
    check_error(cli, "add", TEXTS[0], code=3, kind="store.not_a_store")
    assert cli.store.read_bytes() == before


def test_another_programs_database_is_refused(cli: Cli) -> None:
    with closing(sqlite3.connect(cli.store)) as connection:
        connection.execute("CREATE TABLE other (x)")
    check_error(cli, "list", code=3, kind="store.not_a_store")


def test_a_newer_schema_is_refused(filled: Cli) -> None:
    with closing(sqlite3.connect(filled.store)) as connection:
        connection.execute("PRAGMA user_version = 999")
    assert "newer" in check_error(filled, "recall", "staging", code=3, kind="store.newer_schema")


def test_a_place_that_cannot_be_written_is_said(filled: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a regular file, not a folder")
    check_error(
        filled,
        "add",
        TEXTS[0],
        "--store",
        str(tmp_path / "file" / "x.clew"),
        code=3,
        kind="store.read_only",
    )
    result = filled.json("export", str(tmp_path / "file" / "x.jsonl"), code=3)
    assert result["error"]["code"] == "system"


def test_a_wrong_setting_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_RECALL__KK", "5")
    assert "CLEW_RECALL__K" in check_error(cli, "recall", "x", code=2, kind="setting.invalid")
    assert cli.json("doctor", code=3)["healthy"] is False


def test_a_memory_cannot_command_the_terminal(cli: Cli, tmp_path: Path) -> None:
    """`add` removes control characters.

    The text of an export from elsewhere may still bring them in.
    """
    cli("add", "An ordinary memory [bold red]with markup[/] in it", "--title", "Plain")
    file = tmp_path / "x.jsonl"
    cli("export", str(file))
    text = "Evil \x1b[31m\x9b2J\x07\u202e [bold red]with markup[/] in it"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line.get("node", {}).update(text=text, title="\u202eTitle", content_hash=content_hash(text))
    file.write_text("\n".join(map(json.dumps, lines)))
    other = str(tmp_path / "evil.clew")
    cli("load", str(file), "--store", other)
    for arguments in (("list",), ("recall", "evil", "--explain")):
        shown = cli(*arguments, "--store", other).stdout
        assert not set("\x1b\x9b\x07\u202e") & set(shown)
        assert "[bold red]with markup[/]" in " ".join(shown.split())
        document = cli(*arguments, "--store", other, "--json").stdout
        assert not set("\x1b\x9b\x07") & set(document)
        json.loads(document)


def test_a_bug_is_told_in_a_line_and_shown_whole_on_request(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("clew.surface.cli.session.Session.clew", broken)
    result = cli("list", code=3)
    assert "This is a bug" in result.stderr
    assert "Traceback" not in result.stderr
    assert cli.json("list", code=3)["error"]["code"] == "bug"
    monkeypatch.setenv("CLEW_DEBUG", "1")
    assert "Traceback" in cli("list", code=3).stderr


def test_an_interrupt_exits_quietly(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("clew.surface.cli.session.Session.clew", interrupted)
    assert "Traceback" not in cli("list", code=130).output
