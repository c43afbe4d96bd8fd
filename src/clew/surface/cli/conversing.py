"""Conversations from a file or a pipe: one outcome for each message."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from clew.errors import InputError
from clew.ingest.readers import Document, read
from clew.ingest.readers.conversation import messages_of
from clew.surface import payload
from clew.surface.cli.options import STDIN
from clew.surface.cli.progress import Meter
from clew.surface.cli.session import Session
from clew.surface.cli.text import clean, counted
from clew.surface.cli.views.outcomes import outcome_line

FORMAT = "conversation"
OPTIONS = ("title", "space", "source", "category", "importance", "tags", "metadata", "force")
# What a message cannot have, with what is said where nobody gave it.
OTHERS: Mapping[str, object] = {
    "trigger": None,
    "valid_to": None,
    "stability": None,
    "idempotency_key": None,
    "near": False,
    "on_duplicate": "reinforce",
}


def add_conversation(session: Session, path: str, name: str | None, fields: Mapping[str, Any]) -> int:
    """Offer every conversation of a file; return 1 if a message was refused."""
    for option, usual in OTHERS.items():
        if fields.get(option, usual) != usual:
            raise InputError(option, fields[option], "does not go with --conversation", "Leave it out.")
    documents = _read(path)
    if name is not None and len(documents) > 1:
        raise InputError("--session", name, f"is one name for {len(documents)} conversations", "Leave it out: each has its own.")
    options = {option: fields[option] for option in OPTIONS if option in fields}
    told = []
    with session.clew(create=True) as clew, Meter(quiet=session.as_json) as meter:
        for document in documents:
            chosen = {"title": document.title, "time": fields.get("valid_from", document.time), **options}
            done = clew.remember_conversation(messages_of(document), session=name or document.key or None, progress=meter, **chosen)
            told.append({**payload.conversation(done), "notes": [*document.notes, *done.notes]})
    _show(session, told)
    return 1 if any("rejected" in each["counts"] for each in told) else 0


def _read(path: str) -> tuple[Document, ...]:
    data = sys.stdin.buffer.read() if path == STDIN else None
    return read(Path("stdin" if path == STDIN else path), format=FORMAT, data=data)


def _show(session: Session, told: Sequence[Mapping[str, Any]]) -> None:
    notes = [note for each in told for note in each["notes"]]
    notes += [note for each in told for outcome in each["outcomes"] for note in outcome.get("notes", ())]
    for note in dict.fromkeys(notes):
        session.note(note)
    session.answer({"conversations": list(told)}, lambda: _echo(told))


def _echo(told: Sequence[Mapping[str, Any]]) -> None:
    for each in told:
        for outcome in each["outcomes"]:
            click.echo(clean(outcome_line(outcome)))
        counts = ", ".join(f"{count:,} {kind}" for kind, count in each["counts"].items())
        click.echo(clean(f"session {each['session']}: {counted(len(each['outcomes']), 'message')}: {counts}"), err=True)
