"""What is kept of a session, by which rule, and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.memories.statements import rule_of
from clew.surface.hooks.block import CLOSE, OPEN
from clew.surface.hooks.capture import Reader
from clew.surface.hooks.handler import Handler
from clew.surface.hooks.log import HookLog
from clew.surface.hooks.transcript import read_new
from tests.surface.hooks.recorded import SESSION, Transcript


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "session.jsonl")


@pytest.fixture
def log(tmp_path: Path) -> HookLog:
    return HookLog(tmp_path / "log.jsonl")


@pytest.fixture
def handler(memory: clew.Clew, log: HookLog) -> Handler:
    return Handler(memory, log, agent="claude-code")


def capture(handler: Handler, transcript: Transcript, event: str = "Stop") -> None:
    reply = handler.handle(transcript.event(event))
    assert reply.output is None
    reply.afterwards()


def kept(memory: clew.Clew) -> dict[str, tuple[str, str]]:
    return {node.text: (node.category, node.trigger) for node in memory.recent(100)}


def test_a_recorded_session_leaves_what_was_decided_corrected_preferred_fixed_and_learned(
    memory: clew.Clew, handler: Handler, transcript: Transcript, log: HookLog
) -> None:
    transcript.user("Please add an endpoint that lists the orders of a customer.")
    transcript.thinking("Let's use GraphQL for this because it is modern.")
    transcript.assistant("I'll look at the existing endpoints first.")
    transcript.run("rg -n router src", "src/api.py:4: router = APIRouter()")
    transcript.assistant("I added `GET /orders` with timestamps in seconds.")
    transcript.user(
        "No, timestamps in our API are milliseconds since the epoch. Can you change that?"
    )
    transcript.assistant("Changed.")
    transcript.user(
        "Let's use cursor pagination for the order list. I always want type hints in new modules, I prefer them over docstrings."
    )
    transcript.run("pytest tests/orders", "zsh: command not found: pytest", failed=True)
    transcript.run("uv run pytest tests/orders", "1 failed")
    transcript.assistant(
        "The root cause was a stale schema cache in the orders repository; clearing it on startup solves it."
    )
    transcript.assistant(
        "The import fails on Windows because the path separator is hard-coded in loader.py."
    )
    transcript.user("ok thanks, commit it")
    capture(handler, transcript)
    assert kept(memory) == {
        "Timestamps in our API are milliseconds since the epoch.": ("feedback", "correction"),
        "Let's use cursor pagination for the order list.": ("decision", "decision"),
        "I always want type hints in new modules, I prefer them over docstrings.": (
            "preference",
            "instruction",
        ),
        "The root cause was a stale schema cache in the orders repository; clearing it on startup solves it.": (
            "insight",
            "problem-solution",
        ),
        "The import fails on Windows because the path separator is hard-coded in loader.py.": (
            "insight",
            "learning-failure",
        ),
    }
    (record,) = log.records()
    assert [each["rule"] for each in record["captured"]] == [
        "correction",
        "decision",
        "preference",
        "fix",
        "failure",
    ]
    assert "text" not in json.dumps(record)


def test_a_command_that_worked_after_one_that_could_not_run_is_kept(
    memory: clew.Clew, handler: Handler, transcript: Transcript
) -> None:
    transcript.run("make docs", "make: sphinx-build: command not found", failed=True)
    transcript.run("make docs PYTHON=.venv/bin/python", "build finished")
    transcript.run("make test", "1 failed, 3 passed\nAssertionError", failed=True)
    transcript.run("make test -k orders", "ok")
    capture(handler, transcript)
    assert kept(memory) == {
        "`make docs` failed (make: sphinx-build: command not found). What worked: `make docs PYTHON=.venv/bin/python`.": (
            "procedure",
            "problem-solution",
        )
    }


def test_a_memory_says_where_it_comes_from(
    memory: clew.Clew, handler: Handler, transcript: Transcript
) -> None:
    transcript.user("Remember that the staging cluster is rebuilt every Sunday night.")
    capture(handler, transcript)
    (node,) = memory.recent(1)
    assert node.source == "claude-code:u1"
    assert node.metadata == {"agent": "claude-code", "session": SESSION, "project": "shop"}
    assert node.importance == 0.8


def test_the_same_entries_are_not_read_twice(
    memory: clew.Clew, handler: Handler, transcript: Transcript, log: HookLog
) -> None:
    transcript.user("Remember that the staging cluster is rebuilt every Sunday night.")
    capture(handler, transcript)
    transcript.user("Decision: the gateway stays on HTTP/1.1 until the load balancer is replaced.")
    transcript.raw('{"type": "user", "message": {"role": "user", "con')  # still being written
    capture(handler, transcript)
    capture(handler, transcript)
    assert len(kept(memory)) == 2
    again = Handler(memory, log, agent="claude-code")  # the process was restarted
    capture(again, transcript)
    assert [len(each.get("captured", ())) for each in log.records()] == [1, 1]


def test_what_was_injected_is_not_captured_again(
    memory: clew.Clew, handler: Handler, transcript: Transcript
) -> None:
    text = "We decided that prices are stored as integer cents."
    memory.remember(text, category="decision")
    transcript.attachment(f"{OPEN}\n| Decision: we use floats for all prices everywhere.\n{CLOSE}")
    transcript.user(
        f"<system-reminder>{OPEN}\n| Decision: we use floats for all prices everywhere.\n{CLOSE}</system-reminder>continue"
    )
    transcript.user(
        f"{OPEN}\n[01] decision\n| Decision: we use floats for all prices everywhere.\n{CLOSE}"
    )
    handler.handle(
        {
            "hook_event_name": "UserPromptSubmit",
            "session_id": SESSION,
            "prompt": "are prices stored as integer cents?",
        }
    )
    # repeats what it was shown
    transcript.assistant("We decided that prices are stored as integer cents.")
    capture(handler, transcript)
    assert list(kept(memory)) == [text]


def test_a_sentence_with_a_secret_is_not_kept_at_all(
    memory: clew.Clew, handler: Handler, transcript: Transcript, log: HookLog
) -> None:
    transcript.user(
        "Remember that the deploy key is AKIAIOSFODNN7EXAMPLE and password=tr0ub4dor&3xyz for staging."
    )
    capture(handler, transcript)
    assert kept(memory) == {}
    (record,) = log.records()
    assert [each["reason"] for each in record["refused"]] == ["secret"]
    assert "AKIA" not in log.path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "said",
    [
        "Should we use PostgreSQL for the billing service?",
        "Can you always run the tests before the commit?",
        "never mind",
        "No, thanks.",
        "Actually it is fine.",
        "> Decision: we use MySQL for the billing service.",
        "```\nDecision: we use MySQL for the billing service.\n```",
        "The import crashes when I click the orders button twice.",
        "The problem is that the orders page stays empty after a reload.",
        "I always get an error about the orders table at startup.",
        "Fix the failing test in the orders module and run the linter.",
        "<command-name>/init</command-name> Decision: we use MySQL for the billing service.",
    ],
)
def test_a_user_who_asks_orders_or_quotes_is_not_captured(
    said: str, memory: clew.Clew, handler: Handler, transcript: Transcript
) -> None:
    transcript.assistant("Which one?")
    transcript.user(said)
    capture(handler, transcript)
    assert kept(memory) == {}


@pytest.mark.parametrize(
    "said",
    [
        "Let me use the Read tool on the orders repository.",
        "I'll go with cursor pagination for the orders list.",
        "The problem might be the stale cache in the orders repository.",
        "It failed because of the cache.",
        "I prefer to read the whole configuration file first.",
    ],
)
def test_an_assistant_that_plans_or_guesses_is_not_captured(
    said: str, memory: clew.Clew, handler: Handler, transcript: Transcript
) -> None:
    transcript.assistant(said)
    capture(handler, transcript)
    assert kept(memory) == {}


@pytest.mark.parametrize(
    "flags", [{"isSidechain": True}, {"isMeta": True}, {"isCompactSummary": True}]
)
def test_entries_that_nobody_said_are_left_out(
    flags: dict[str, Any], memory: clew.Clew, handler: Handler, transcript: Transcript
) -> None:
    transcript.user("Remember that the staging cluster is rebuilt every Sunday night.", **flags)
    capture(handler, transcript)
    assert kept(memory) == {}


def test_a_sentence_that_points_back_is_kept_with_the_one_before_it(
    memory: clew.Clew, handler: Handler, transcript: Transcript
) -> None:
    transcript.assistant(
        "The orders import stops after 1,000 rows. That was fixed by raising the batch limit in loader.py."
    )
    capture(handler, transcript)
    assert list(kept(memory)) == [
        "The orders import stops after 1,000 rows. That was fixed by raising the batch limit in loader.py."
    ]


def test_capture_can_be_turned_off(open_clew: Any, transcript: Transcript, log: HookLog) -> None:
    memory = open_clew(hooks={"capture": False})
    transcript.user("Remember that the staging cluster is rebuilt every Sunday night.")
    capture(Handler(memory, log, agent="claude-code"), transcript)
    assert kept(memory) == {}


def test_a_session_fills_the_store_only_so_far(
    memory: clew.Clew, handler: Handler, transcript: Transcript, log: HookLog
) -> None:
    for number in range(20):
        transcript.user(
            f"Remember that machine number {number} of the {'abcdefghijklmnopqrst'[number] * 7} rack has its own switch."
        )
    capture(handler, transcript)
    (record,) = log.records()
    assert len(record["captured"]) == 8
    assert {each["reason"] for each in record["refused"]} == {"too_many"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"null\n",
        b"{}\n",
        b"[1]\n",
        b'{"type":"user"}\n',
        b'{"type":"user","message":[]}\n',
        b"\xff\xfe\n",
    ],
)
def test_a_broken_transcript_says_nothing(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_bytes(content)
    entries, offset = read_new(file, 0)
    assert list(Reader().read(entries)) == []
    assert offset == len(content)


def test_a_missing_transcript_is_told_in_the_log(
    handler: Handler, transcript: Transcript, log: HookLog
) -> None:
    transcript.path.unlink()
    capture(handler, transcript)
    assert [record["reason"] for record in log.records()] == [
        "transcript: No such file or directory"
    ]


def test_the_first_prompt_comes_before_the_transcript(
    handler: Handler, transcript: Transcript, log: HookLog
) -> None:
    transcript.path.unlink()
    handler.handle(transcript.event("UserPromptSubmit", prompt="ok")).afterwards()
    assert list(log.records()) == []


def test_only_the_end_of_a_long_transcript_is_read(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.surface.hooks import transcript as module

    monkeypatch.setattr(module, "MOST_READ", 2000)
    for number in range(50):
        transcript.user(f"Entry {number}")
    entries, offset = read_new(transcript.path, 0)
    assert entries[-1].text == "Entry 49"
    assert len(entries) < 10
    assert offset == transcript.path.stat().st_size


def test_a_user_may_decide_where_an_assistant_only_plans() -> None:
    said = "We'll go with cursor pagination for the orders list."
    decided = rule_of(said, "user")
    assert decided is not None
    assert decided.name == "decision"
    assert rule_of(said, "assistant") is None
