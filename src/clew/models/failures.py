"""Remembers for a while that an automatic pull failed, so that the next command does not wait for it again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from clew.parsing import parse_json
from clew.user_files import read_file

MAX_NOTE_BYTES = 100_000
REMEMBERED_SECONDS = 600.0  # long enough for a series of commands, short enough for a network that comes back


def remember(root: Path, name: str, problem: str, *, now: Callable[[], float] = time.time) -> None:
    """Write down that the pull of a model failed just now."""
    with suppress(OSError):  # a note that cannot be kept costs a wait, nothing else
        root.mkdir(parents=True, exist_ok=True)
        _note(root, name).write_text(json.dumps({"at": now(), "problem": problem}), encoding="utf-8")


def recent(root: Path, name: str, *, now: Callable[[], float] = time.time) -> str | None:
    """Return the problem of a pull that failed not long ago."""
    try:
        note = parse_json(read_file(_note(root, name), limit_bytes=MAX_NOTE_BYTES))
        age = now() - float(note["at"])
        problem = str(note["problem"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return problem if 0 <= age < REMEMBERED_SECONDS else None  # a note from the future: the clock was set


def forget(root: Path, name: str) -> None:
    """Forget the failure, after a success."""
    with suppress(OSError):
        _note(root, name).unlink()


def _note(root: Path, name: str) -> Path:
    return root / f".{name}.failed.json"
