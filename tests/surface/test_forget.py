"""`clew forget` by filter and with a receipt, and the same over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import TEXTS, Cli


@pytest.fixture
def tagged(filled: Cli) -> list[str]:
    return [
        filled.add(
            f"The crane on pier {number} is inspected in May.", "--tag", "old", "--source", "log"
        )
        for number in (1, 2)
    ]


def test_a_filter_is_shown_and_needs_its_count(filled: Cli, tagged: list[str]) -> None:
    planned = filled.json("forget", "--tag", "old", "--dry-run")
    assert (planned["forgotten"], planned["dry_run"], planned["files"]) == (tagged, True, [])
    shown = filled("forget", "--tag", "old", "--dry-run").stdout
    assert all(id in shown for id in tagged)
    assert "Would forget 2 memories. To do it: --confirm 2" in shown
    for refused in ((), ("--yes",)):
        assert filled.json("forget", "--tag", "old", *refused, code=2)["error"]["code"] == "usage"
    assert (
        "which is 2"
        in filled.json("forget", "--tag", "old", "--confirm", "3", code=2)["error"]["message"]
    )
    assert len(filled.json("list")["memories"]) == 5
    done = filled.json("forget", "--tag", "old", "--confirm", "2")
    assert (done["forgotten"], done["found"], done["dry_run"]) == (tagged, 0, False)
    assert [each["file"] for each in done["files"]] == [
        filled.store.name,
        f"{filled.store.name}-wal",
    ]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (("--source", "log"), 2),
        (("--query", "crane pier 2"), 1),
        (("--category", "fact"), 0),
        (("--before", "2020-01-01"), 0),
        (("--space", "default"), 5),
        (("--space", "elsewhere"), 0),
        (("--tag", "old", "--query", "inspected"), 2),
    ],
)
def test_each_filter_counts_what_it_names(
    filled: Cli, tagged: list[str], options: tuple[str, ...], count: int
) -> None:
    assert tagged
    assert len(filled.json("forget", *options, "--dry-run")["forgotten"]) == count
    assert len(filled.json("forget", *options, "--confirm", str(count))["forgotten"]) == count


def test_a_file_is_forgotten_by_its_path_and_stays_away(
    filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("note.txt").write_text(
        "The pump in the cellar was replaced in spring, and the pipes with it."
    )
    filled("import", "note.txt")
    assert filled.json("forget", "--source", "note.txt", "--confirm", "1")["removed"] == {
        "chunk": 1
    }
    (file,) = filled.json("import", "note.txt")["files"]
    assert (file["status"], file["reason"].split(":")[0]) == ("skipped", "forgotten")
    assert filled.json("import", "note.txt", "--force")["files"][0]["status"] == "imported"


def test_a_forgotten_text_is_refused_with_the_reason_until_forced(filled: Cli) -> None:
    id = filled.json("list", "--limit", "1")["memories"][0]["id"]
    text = filled.json("show", id)["text"]
    filled("forget", id, "--yes")
    refused = filled.json("add", text, code=1)
    assert (refused["outcome"], refused["rule"]) == ("rejected", "forgotten")
    assert filled.json("add", text, "--force")["outcome"] == "inserted"


def test_verify_searches_the_bytes_and_its_exit_code_tells(filled: Cli) -> None:
    found = filled.json("forget", "--verify", "E4012", code=1)
    assert found["found"] > 0
    (id,) = filled.json("forget", "--query", "E4012", "--confirm", "1")["forgotten"]
    assert filled.json("forget", "--verify", "E4012") == {
        "found": 0,
        "files": [
            {"file": filled.store.name, "found": 0},
            {"file": f"{filled.store.name}-wal", "found": 0},
        ],
    }
    assert (
        filled("forget", "--verify", "E4012").stdout.splitlines()[0]
        == f"{filled.store.name}: not found"
    )
    assert id


def test_ids_filters_and_verify_exclude_each_other(filled: Cli) -> None:
    for mixed in (
        (),
        ("01x", "--tag", "a"),
        ("--verify", "text", "--tag", "a"),
        ("01x", "--verify", "text"),
    ):
        filled("forget", *mixed, "--yes", code=2)
    assert len(filled.json("list")["memories"]) == len(TEXTS)
