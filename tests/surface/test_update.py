"""`clew update` and `clew compact` from the command line."""

from __future__ import annotations

from tests.surface.conftest import Cli


def test_what_is_named_changes_and_the_memory_is_shown(cli: Cli) -> None:
    id = cli.add("The staging database listens on port 5433", "--tag", "ops")
    changed = cli.json(
        "update",
        id,
        "--title",
        "Staging",
        "--importance",
        "0.9",
        "--tag",
        "db",
        "--metadata",
        "port=5433",
    )
    assert (changed["id"], changed["title"], changed["importance"], changed["tags"]) == (
        id,
        "Staging",
        0.9,
        ["db"],
    )
    assert changed["metadata"] == {"port": 5433}
    assert cli.json("show", id)["title"] == "Staging"
    assert cli.json("update", id, "--no-tags", "--title", "")["tags"] == []
    assert (
        "has its new importance and source."
        in cli("update", id, "--importance", "0.2", "--source", "wiki").stdout
    )


def test_nothing_to_change_and_values_that_cannot_be_are_refused(cli: Cli) -> None:
    id = cli.add("The staging database listens on port 5433")
    assert "Nothing to change" in cli("update", id, code=2).stderr
    assert "exclude each other" in cli("update", id, "--tag", "a", "--no-tags", code=2).stderr
    assert cli.json("update", id, "--category", "fakt", code=2)["error"]["field"] == "category"
    assert (
        cli.json("update", "0" * 26, "--title", "x", code=1)["error"]["code"] == "refused.not_found"
    )


def test_compact_says_what_was_given_back(filled: Cli) -> None:
    told = filled.json("compact")
    assert told["bytes"] > 0
    assert set(told) == {"bytes_before", "bytes"}
    assert filled("compact").stdout.startswith("Compacted: ")
    assert filled.json("verify")["sound"] is True
