"""The log of hooks: what was injected and captured, and why.

One JSON object a line, and no text of anybody.

The log is also the state of the sessions: which memories a session has seen, and how far its
transcript was read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from clew.files import FILE_MODE, make_private_folder
from clew.parsing import parse_json

SUFFIX = ".hooks.jsonl"
LARGEST = 4_000_000  # bytes; a larger log loses its older half


@dataclass
class SessionState:
    """What is known of one session of an agent."""

    seen: set[str] = field(default_factory=set)
    """The memories that were injected since its context was last cleared."""
    offset: int = 0
    """How many bytes of its transcript were read."""
    captured: int = 0


class HookLog:
    """A log beside the store; thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a record."""
        line = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            make_private_folder(self.path.parent)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
            try:
                os.write(descriptor, line)
                size = os.fstat(descriptor).st_size
            finally:
                os.close(descriptor)
            if size > LARGEST:
                self._halve()

    def _halve(self) -> None:
        lines = self.path.read_bytes().splitlines(keepends=True)
        shorter = self.path.with_name(self.path.name + ".new")
        shorter.touch(FILE_MODE)
        shorter.write_bytes(b"".join(lines[len(lines) // 2 :]))
        shorter.replace(self.path)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records, oldest first; a line that was cut off is left out."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        for line in content.splitlines():
            try:
                record = parse_json(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record

    def sessions(self) -> dict[str, SessionState]:
        """Return the state of every session in the log."""
        states: dict[str, SessionState] = {}
        for record in self.records():
            state = states.setdefault(str(record.get("session", "")), SessionState())
            if record.get("reset"):
                state.seen.clear()
            state.seen.update(str(each["id"]) for each in record.get("injected", ()))
            state.offset = int(record.get("offset", state.offset))
            state.captured += len(record.get("captured", ()))
        return states


def log_path(store: Path) -> Path:
    """Return where the log of a store is."""
    return store.with_name(store.name + SUFFIX)
