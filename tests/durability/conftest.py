from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

WRITER = Path(__file__).with_name("writer.py")


class Nursery:
    """Starts writers that can be killed; see writer.py."""

    def __init__(self, home: Path) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
        self._process = subprocess.Popen(
            [sys.executable, str(WRITER), "nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**own, "HOME": str(home)},
        )

    def run(
        self, job: str, path: Path, name: str, *, kill_after_lines: int, pause_seconds: float
    ) -> tuple[list[str], bool]:
        """Let a writer say so many lines, kill it a moment later, and return all it said, and whether the kill ended it.

        The pause waits for nothing: it moves the kill to another point of whatever the writer does
        next.
        """
        self._say(json.dumps([job, str(path), name]))
        pid = int(self._line().removeprefix("pid "))
        lines: list[str] = []
        while len(lines) < kill_after_lines and lines[-1:] != ["finished"]:
            lines.append(self._line())
        threading.Event().wait(pause_seconds)
        # the nursery has not asked for its end yet, so the id is still its own
        os.kill(pid, signal.SIGKILL)
        self._say("end")
        while not (line := self._line()).startswith("end "):
            lines.append(line)
        end = int(line.removeprefix("end "))
        assert end in (0, -signal.SIGKILL), lines[-1]
        return [line for line in lines if line != "finished"], end != 0

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.endswith("\n"), "the nursery ended"
        return line.rstrip("\n")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    nursery = Nursery(home=tmp_path_factory.mktemp("home"))
    yield nursery
    nursery.close()


@pytest.fixture(autouse=True)
def _own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLEW_CONFIG", "CLEW_STORE", "CLEW_SPACE"):
        monkeypatch.delenv(name, raising=False)
