"""What a file becomes before it is cut: a text, what is known about it, and what was lost on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clew.errors import ClewError, shown


@dataclass(frozen=True, slots=True)
class Message:
    """Where one message of a conversation stands in its document's text, with the "Speaker: " before it."""

    start: int
    end: int
    speaker: str
    time: datetime | None
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text out of a file, ready to be cut.

    `format` says how `text` is to be read, not what the file was: a web page becomes markdown (`metadata["original_format"]`
    keeps "html"). `key` tells apart several documents of one file. `notes` say what was left out or replaced.
    """

    text: str
    format: str
    title: str = ""
    key: str = ""
    time: datetime | None = None
    messages: tuple[Message, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class UnreadableError(ClewError):
    """A file that no document can be made of, with the reason and the way out."""

    code = "unreadable"

    def __init__(self, reason: str, way_out: str, *, path: str = "") -> None:
        """Keep reason and way out apart: a list of many files shows the reason alone."""
        place = f"{shown(path)} cannot be read: " if path else ""
        super().__init__(f"{place}{reason}. {way_out}", path=path, reason=reason)
        self.path = path
        self.reason = reason
        self.way_out = way_out

    def at(self, path: str) -> UnreadableError:
        """Return the same error with the file's name in it."""
        return UnreadableError(self.reason, self.way_out, path=path)
