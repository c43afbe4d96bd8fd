"""`clew add --conversation`: messages from files and pipes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surface.conftest import Cli

TALK = "Time: 20260301_10:00\nAnn: Do you still run?\nBob: On Sundays, around the lake.\n"


def test_a_transcript_is_kept_message_by_message_and_goes_on_under_its_session(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "talk.txt").write_text(TALK, encoding="utf-8")
    cli("add", str(tmp_path / "talk.txt"), "--conversation", "--session", "s", "--tag", "sport")
    found = json.loads(
        cli(
            "add", "-", "--conversation", "--session", "s", "--json", stdin=f"{TALK}Ann: Nice!\n"
        ).stdout
    )
    (talk,) = found["conversations"]
    assert (talk["session"], talk["counts"]) == ("s", {"exact_duplicate": 2, "inserted": 1})
    node = cli.json("show", talk["outcomes"][1]["id"])
    assert (node["text"], node["metadata"]) == (
        "Bob: On Sundays, around the lake.",
        {"session": "s", "speaker": "Bob"},
    )
    assert (node["t_valid"], node["tags"]) == ("2026-03-01T10:00:00Z", ["sport"])


def test_each_conversation_of_an_export_is_a_session_of_its_own(cli: Cli) -> None:
    talks = [
        {"id": f"talk-{n}", "messages": [{"role": "user", "content": f"Where is boat {n}?"}]}
        for n in (1, 2)
    ]
    found = json.loads(cli("add", "-", "--conversation", "--json", stdin=json.dumps(talks)).stdout)
    assert [talk["session"] for talk in found["conversations"]] == ["talk-1", "talk-2"]
    refused = cli("add", "-", "--conversation", "--session", "s", stdin=json.dumps(talks), code=2)
    assert "2 conversations" in refused.output


def test_the_outcome_of_every_message_is_shown_and_a_refused_one_is_an_exit_code(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_FIREWALL__SECRETS", "refuse")
    said = f"{TALK}Ann: The password is tr0ub4dor&3.\n"
    done = cli("add", "-", "--conversation", "--session", "s", stdin=said, code=1)
    assert [line.split()[1] for line in done.stdout.splitlines()] == [
        "inserted",
        "inserted",
        "rejected",
    ]
    assert "session s: 3 messages: 2 inserted, 1 rejected" in done.stderr
    again = cli("add", "-", "--conversation", "--session", "s", stdin=TALK).output
    assert "which its session holds already" in again


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--conversation", "--jsonl"), "--jsonl"),
        (("--conversation", "--key", "k"), "idempotency_key"),
        (("--conversation", "--on-duplicate", "error"), "on_duplicate"),
        (("--session", "s"), "--session"),
    ],
)
def test_options_that_do_not_go_together_are_named(
    cli: Cli, options: tuple[str, ...], named: str
) -> None:
    assert named in cli("add", "-", *options, stdin=TALK, code=2).output
