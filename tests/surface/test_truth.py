"""What is true since when, from the command line."""

from __future__ import annotations

import subprocess

import pytest

from tests.fork_server import ForkedPython
from tests.surface.conftest import Cli

OLD = "The staging database listens on port 5433"
NEW = "The staging database listens on port 6000"


@pytest.fixture
def old(cli: Cli) -> str:
    return cli.add(OLD, "--valid-from", "2025-01-01", "--category", "fact", "--tag", "db")


def moment(cli: Cli, id: str, name: str) -> str:
    return str(cli.json("show", id)[name])


def test_supersede_says_what_became_of_both(cli: Cli, old: str) -> None:
    answer = cli.json("supersede", old, NEW, "--valid-from", "2026-01-01")
    assert answer == {"outcome": "inserted", "id": answer["id"], "supersedes": old}
    new = cli.json("show", answer["id"])
    assert (new["text"], new["category"], new["tags"], new["t_valid"]) == (
        NEW,
        "fact",
        ["db"],
        "2026-01-01T00:00:00Z",
    )
    assert moment(cli, old, "t_invalid") == "2026-01-01T00:00:00Z"
    assert (
        f"supersedes {new['id']}"
        in cli("supersede", new["id"], "-", "--source", "ops", stdin=OLD + " again").stdout
    )


def test_recall_list_and_show_answer_for_any_time(cli: Cli, old: str) -> None:
    before = moment(cli, old, "t_created")
    cli("supersede", old, NEW, "--valid-from", "2026-01-01")
    probes = {
        ("--as-of", "2025-06-01"): OLD,
        ("--as-of", "2026-02-01"): NEW,
        ("--as-of", "2026-02-01", "--known-at", before): OLD,
    }
    for times, text in probes.items():
        assert [
            hit["text"] for hit in cli.json("recall", "staging database port", *times)["hits"]
        ] == [text]
        assert [memory["text"] for memory in cli.json("list", *times)["memories"]] == [text]
        assert cli.json("show", old, *times)["text"] == text
    never = ("--as-of", "2024-01-01")
    assert cli.json("recall", "staging database port", *never, code=1)["nothing_relevant"] is True
    assert cli.json("list", *never, code=1)["memories"] == []
    assert "No memory passes these filters." in cli("list", *never, code=1).stdout
    assert cli.json("show", old, *never, code=1)["error"]["code"] == "refused.not_found"
    assert f"clew history {old}" in cli("show", old, *never, code=1).stderr


def test_invalidate_expire_and_reassert_tell_the_four_times(cli: Cli, old: str) -> None:
    ended = cli.json("invalidate", old, "--at", "2025-06-01")
    assert (ended["id"], ended["t_valid"], ended["t_invalid"], ended["t_expired"]) == (
        old,
        "2025-01-01T00:00:00Z",
        "2025-06-01T00:00:00Z",
        None,
    )
    assert cli.json("reassert", old, "--from", "2025-09-01")["t_valid"] == "2025-09-01T00:00:00Z"
    assert cli.json("list", "--as-of", "2025-07-01", code=1)["memories"] == []
    assert len(cli.json("list", "--as-of", "2025-03-01")["memories"]) == 1
    assert cli.json("expire", old)["t_expired"] is not None
    assert "is true again from" in cli("reassert", old).stdout
    assert "was true until 2" in cli("invalidate", old).stdout
    assert "no longer believed" in cli("expire", old).stdout


def test_history_shows_the_chain_with_its_intervals(cli: Cli, old: str) -> None:
    new = cli.json("supersede", old, NEW, "--valid-from", "2026-01-01")["id"]
    answer = cli.json("history", old)
    assert [event["kind"] for event in answer["events"]] == ["ADD", "SUPERSEDE"]
    version, current, later = answer["versions"]
    assert (version["root"], version["text"], version["t_invalid"]) == (old, OLD, None)
    assert version["t_expired"] == current["t_created"] == later["t_created"]
    assert (current["id"], current["t_invalid"]) == (old, later["t_valid"])
    assert (later["id"], later["text"]) == (new, NEW)
    page = cli("history", version["id"]).stdout
    assert "true from 2025-01-01 to 2026-01-01" in page
    assert NEW in page


def test_forgetting_only_a_memory_takes_its_versions_along_and_leaves_the_successor(
    cli: Cli, old: str
) -> None:
    new = cli.json("supersede", old, NEW, "--valid-from", "2026-01-01")["id"]
    version = cli.json("history", old)["versions"][0]["id"]
    told = cli.json("forget", version, old, "--only", "--yes")
    assert (told["forgotten"], told["removed"]) == ([old], {"memory": 1, "version": 1})
    assert cli.json("stats")["nodes"] == 1
    assert [version["id"] for version in cli.json("history", new)["versions"]] == [new]
    assert cli.json("history", old)["versions"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("supersede", "nobody", NEW), 1, "No memory nobody"),
        (("supersede", "{old}", NEW, "--valid-from", "soon"), 2, "valid_from: is not a moment"),
        (("supersede", "{old}", "ok"), 1, ""),
        (("invalidate", "{old}", "--at", "2024-01-01"), 2, "at: is before 2025-01-01T00:00:00Z"),
        (("reassert", "{old}"), 2, "id: is true without end already"),
        (("expire", "nobody"), 1, "No memory nobody"),
        (("list", "--as-of", "soon"), 2, "as_of: is not a moment"),
        (("show", "{old}", "--known-at", "soon"), 2, "known_at: is not a moment"),
    ],
)
def test_what_cannot_be_is_refused(
    cli: Cli, old: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = cli(*(each.format(old=old) for each in arguments), code=code)
    assert message in result.stderr
    assert [memory["text"] for memory in cli.json("list")["memories"]] == [OLD]


def test_of_two_processes_that_supersede_at_once_one_is_told_about_the_other(
    cli: Cli, old: str
) -> None:
    command = ["-m", "clew", "supersede", old]
    running = [
        ForkedPython(
            [*command, f"The staging database listens on port {port}"],
            stderr=subprocess.PIPE,
            text=True,
        )
        for port in (6000, 7000)
    ]
    errors = [process.communicate()[1] for process in running]
    assert sorted(process.returncode for process in running) == [0, 2]
    assert sum("was superseded by" in error for error in errors) == 1
    assert len(cli.json("list")["memories"]) == 1
