"""The thin client and the warm process behind it, as processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.surface.hooks import client
from clew.surface.hooks.daemon import Daemon
from tests.waiting import LONG_SECONDS, wait_until

PNPM = "Use pnpm in the web folder, because npm breaks the lock file."
ASKED = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s1",
    "prompt": "which of pnpm and npm for the web folder?",
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store with one memory, and a short folder for sockets, whose names have a limit."""
    with tempfile.TemporaryDirectory(prefix="clew") as folder:
        for name, value in {
            "HOME": str(tmp_path),
            "XDG_RUNTIME_DIR": folder,
            "CLEW_MODEL__EMBEDDER": "hashing",
            "CLEW_OFFLINE": "1",
        }.items():
            monkeypatch.setenv(name, value)
        path = tmp_path / "memory.clew"
        with clew.open(path) as memory:
            memory.remember(PNPM, category="preference")
        yield path


@pytest.fixture
def ask(store: Path) -> Iterator[Callable[..., dict[str, Any]]]:
    """Ask as `clew hooks run` does, but wait as long as it takes.

    The warm process is stopped at the end.
    """
    arguments = ["claude-code", "--store", str(store)]

    def asking(event: dict[str, Any]) -> dict[str, Any]:
        answer = client.ask(json.dumps(event).encode(), arguments, wait_seconds=LONG_SECONDS)
        return json.loads(answer) if answer else {}

    yield asking
    stop(arguments)


def stop(arguments: list[str]) -> None:
    address = Path(client.address_of(client.identity_of(arguments)))
    client.ask(client.STOP, arguments, start=False)
    wait_until(lambda: not address.exists())


def injected(answer: dict[str, Any]) -> str:
    return str(answer["hookSpecificOutput"]["additionalContext"]) if answer else ""


def test_the_first_event_starts_the_warm_process_and_later_ones_use_it(
    ask: Callable[..., dict[str, Any]], store: Path
) -> None:
    assert PNPM in injected(ask(ASKED))
    assert ask(ASKED) == {}  # the same process knows that the session has seen it
    assert PNPM in injected(ask({**ASKED, "session_id": "s2"}))
    log = store.with_name(store.name + ".hooks.jsonl")
    wait_until(lambda: len(log.read_text(encoding="utf-8").splitlines()) == 3)
    assert log.stat().st_mode & 0o077 == 0


def test_the_command_answers_on_stdout(ask: Callable[..., dict[str, Any]], store: Path) -> None:
    ask({"hook_event_name": "Notification"})  # the process is warm
    command = [sys.executable, "-m", "clew", "hooks", "run", "claude-code", "--store", str(store)]
    done = subprocess.run(
        command, input=json.dumps(ASKED).encode(), capture_output=True, check=True
    )
    assert done.stderr == b""
    # nothing, if this machine was too busy
    assert done.stdout == b"" or PNPM in injected(json.loads(done.stdout))


def test_whatever_goes_wrong_the_command_prints_nothing_and_succeeds(
    store: Path, tmp_path: Path
) -> None:
    open_folder = tmp_path / "open"
    (open_folder / "clew").mkdir(parents=True)
    (open_folder / "clew").chmod(0o777)
    command = [sys.executable, "-m", "clew", "hooks", "run", "claude-code", "--store", str(store)]
    for stdin in (b"", b"{", json.dumps(ASKED).encode()):
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(open_folder)}
        done = subprocess.run(
            command, input=stdin, capture_output=True, check=False, env=environment
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    told = subprocess.run(
        command,
        input=b"{}",
        capture_output=True,
        check=False,
        env={**environment, "CLEW_DEBUG": "1"},
    )
    assert b"not a private folder" in told.stderr


def test_a_broken_event_does_not_end_the_process(
    ask: Callable[..., dict[str, Any]], store: Path
) -> None:
    for event in (b"{", b"[]", b"\xff", b'{"hook_event_name": 7}'):
        assert (
            client.ask(event, ["claude-code", "--store", str(store)], wait_seconds=LONG_SECONDS)
            == b""
        )
    assert PNPM in injected(ask(ASKED))


def test_a_store_that_cannot_be_opened_is_told_in_the_log(
    ask: Callable[..., dict[str, Any]], store: Path
) -> None:
    store.write_bytes(b"not a store at all, but some other file" * 10)
    assert ask(ASKED) == {}
    log = store.with_name(store.name + ".hooks.jsonl")
    wait_until(lambda: log.exists() and log.stat().st_size > 0)
    record = json.loads(log.read_text(encoding="utf-8").splitlines()[0])
    assert record["event"] == "error"
    assert str(store) in record["reason"] or "store" in record["reason"]


def test_the_client_loads_nothing_heavy() -> None:
    code = "import sys, clew.surface.hooks.client; print(sorted(name for name in sys.modules if name.split('.')[0] in sys.argv[1:]))"
    heavy = [
        "numpy",
        "click",
        "yaml",
        "sqlite3",
        "json",
        "pathlib",
        "subprocess",
        "asyncio",
        "logging",
        "onnxruntime",
        "hashlib",
        "ssl",
    ]
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *heavy], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "[]"


def test_the_process_ends_by_itself_when_idle(store: Path) -> None:
    def opening() -> Any:
        raise OSError("no store")

    failures: list[Exception] = []
    daemon = Daemon(
        ["claude-code", "--store", str(store)], opening, idle_seconds=0.01, failed=failures.append
    )
    daemon.serve()
    assert [type(each) for each in failures] == [OSError]
    assert not Path(daemon.address).exists()


def test_a_second_process_for_the_same_store_leaves_at_once(
    ask: Callable[..., dict[str, Any]], store: Path
) -> None:
    ask(ASKED)
    failures: list[Exception] = []
    arguments = ["claude-code", "--store", str(store)]
    second = Daemon(
        arguments, lambda: pytest.fail("opened"), idle_seconds=LONG_SECONDS, failed=failures.append
    )
    second.serve()
    assert failures == []
    assert PNPM in injected(ask({**ASKED, "session_id": "s3"}))


def test_another_store_whose_address_is_the_same_gets_nothing(
    ask: Callable[..., dict[str, Any]], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(ASKED)
    address = client.address_of(client.identity_of(["claude-code", "--store", str(store)]))
    monkeypatch.setattr(client, "address_of", lambda _: address)
    event = json.dumps({**ASKED, "session_id": "s4"}).encode()
    assert (
        client.ask(event, ["claude-code", "--store", "other.clew"], wait_seconds=LONG_SECONDS)
        == b""
    )
