"""Add many texts: messages of a conversation, or one memory per line of stdin."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clew.documents.readers.conversation import messages_of
from clew.documents.readers.document import Document
from clew.documents.readers.reading import read
from clew.errors import ClewError, InputError, RefusedError
from clew.parsing import parse_json
from clew.surface import payload
from clew.surface.cli.options import STDIN, stdin_lines
from clew.surface.cli.progress import Meter
from clew.surface.cli.session import Session
from clew.surface.cli.text import clean, counted
from clew.surface.cli.views.outcomes import beside_lines, outcome_line

if TYPE_CHECKING:
    from clew.engine import Clew


# Conversations from a file or a pipe: one outcome for each message.

FORMAT = "conversation"
OPTIONS = (
    "title",
    "space",
    "source",
    "category",
    "importance",
    "tags",
    "metadata",
    "force",
    "extract",
)
# What a message cannot have, with what is said where nobody gave it.
OTHERS: Mapping[str, object] = {
    "trigger": None,
    "valid_to": None,
    "stability": None,
    "idempotency_key": None,
    "near": False,
    "on_duplicate": "reinforce",
}


def add_conversation(
    session: Session, path: str, name: str | None, fields: Mapping[str, Any]
) -> int:
    """Offer every conversation of a file; return 1 if a message was refused."""
    for option, usual in OTHERS.items():
        if fields.get(option, usual) != usual:
            raise InputError(
                option, fields[option], "does not go with --conversation", "Leave it out."
            )
    documents = _read(path)
    if name is not None and len(documents) > 1:
        raise InputError(
            "--session",
            name,
            f"is one name for {len(documents)} conversations",
            "Leave it out: each has its own.",
        )
    options = {option: fields[option] for option in OPTIONS if option in fields}
    told = []
    with session.clew(create=True) as clew, Meter(quiet=session.as_json) as meter:
        for document in documents:
            chosen = {
                "title": document.title,
                "time": fields.get("valid_from", document.time),
                **options,
            }
            done = clew.remember_conversation(
                messages_of(document),
                session=name or document.key or None,
                progress=meter,
                **chosen,
            )
            told.append({**payload.conversation(done), "notes": [*document.notes, *done.notes]})
    _show(session, told)
    return 1 if any("rejected" in each["counts"] for each in told) else 0


def _read(path: str) -> tuple[Document, ...]:
    data = sys.stdin.buffer.read() if path == STDIN else None
    return read(Path("stdin" if path == STDIN else path), format=FORMAT, data=data)


def _show(session: Session, told: Sequence[Mapping[str, Any]]) -> None:
    notes = [note for each in told for note in each["notes"]]
    notes += [
        note
        for each in told
        for outcome in (*each["outcomes"], *each.get("facts", ()))
        for note in outcome.get("notes", ())
    ]
    for note in dict.fromkeys(notes):
        session.note(note)
    session.answer({"conversations": list(told)}, lambda: _echo(told))


def _echo(told: Sequence[Mapping[str, Any]]) -> None:
    for each in told:
        for outcome in each["outcomes"]:
            click.echo(clean(outcome_line(outcome)))
        for fact in each.get("facts", ()):
            click.echo(clean(f"fact {outcome_line(fact)}"))
        counts = ", ".join(f"{count:,} {kind}" for kind, count in each["counts"].items())
        click.echo(
            clean(
                f"session {each['session']}: {counted(len(each['outcomes']), 'message')}: {counts}"
            ),
            err=True,
        )


# Many memories from stdin: in batches, each line with its own outcome; one bad line costs no other.

Entry = dict[str, Any]
# a line: its number and the memory on it, or what is wrong with it
Numbered = tuple[int, "str | Mapping[str, Any] | InputError"]
WHAT = "remembering"


def add_many(session: Session, fields: Mapping[str, Any], *, jsonl: bool) -> int:
    """Offer every line of stdin that is not blank; return 1 if any was refused."""
    entries: list[Entry] = []
    lines = (
        (number, _many_read(number, line, fields, jsonl=jsonl))
        for number, line in enumerate(stdin_lines(), start=1)
        if line.strip()
    )
    with session.clew(create=True) as clew, Meter(quiet=session.as_json) as meter:
        meter(WHAT, 0, None)
        for batch in _batches(lines, clew.settings.memory.batch_size):
            fresh = list(_offered(clew, batch, fields))
            entries += fresh
            _tell(session, fresh)
            meter(WHAT, len(entries), None)
    if not entries:
        raise InputError(
            "stdin",
            "",
            "holds no memory",
            'Pipe one memory a line, or with --jsonl one object a line: {"text": "…"}.',
        )
    _finish(session, entries)
    return 1 if any(entry["outcome"] == "rejected" for entry in entries) else 0


def _many_read(
    number: int, line: str, fields: Mapping[str, Any], *, jsonl: bool
) -> str | Mapping[str, Any] | InputError:
    if not jsonl:
        return line
    try:
        value = parse_json(line)
    except ValueError as error:
        return InputError(f"line {number}", line, str(error), 'Write each line as {"text": "…"}.')
    if not isinstance(value, dict) or "text" not in value:
        return InputError(
            f"line {number}",
            line,
            "is not an object with a text",
            'Write each line as {"text": "…"}.',
        )
    try:
        return _named(value, fields)
    except InputError as error:
        return error


def _named(given: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line's fields under the names of the engine, its tags beside those of the options.

    >>> _named({"text": "…", "tag": "b", "key": "k1"}, {"tags": ("a",)})
    {'text': '…', 'idempotency_key': 'k1', 'tags': ['a', 'b']}
    """
    memory = {name: value for name, value in given.items() if name not in ("tag", "tags", "key")}
    if "key" in given:
        if given.get("idempotency_key", given["key"]) != given["key"]:
            raise InputError(
                "key",
                given["key"],
                "differs from idempotency_key",
                "Give one of the two: they are the same field.",
            )
        memory["idempotency_key"] = given["key"]
    tags = [tag for name in ("tags", "tag") if name in given for tag in _listed(name, given[name])]
    return {**memory, "tags": [*fields.get("tags", ()), *tags]} if tags else memory


def _listed(name: str, value: object) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return value
    raise InputError(
        name, value, "must be a text or a list of texts", f'Write "{name}": ["one", "two"].'
    )


def _batches(lines: Iterator[Numbered], length: int) -> Iterator[list[Numbered]]:
    while batch := list(islice(lines, length)):
        yield batch


def _offered(clew: Clew, batch: Sequence[Numbered], fields: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield an entry for each line, in order."""
    good = [memory for _, memory in batch if not isinstance(memory, InputError)]
    results = iter(_together(clew, good, fields))
    for number, memory in batch:
        result = memory if isinstance(memory, InputError) else next(results)
        yield {
            "line": number,
            **(_refused(result) if isinstance(result, ClewError) else payload.outcome(result)),
        }


def _together(
    clew: Clew, memories: Sequence[str | Mapping[str, Any]], fields: Mapping[str, Any]
) -> Iterable[Any]:
    """Return the outcome or the error of each.

    A batch is written whole or not at all, so after an error each goes alone.
    """
    try:
        return clew.remember_many(memories, **fields)
    except (InputError, RefusedError):
        return [_alone(clew, memory, fields) for memory in memories]


def _alone(clew: Clew, memory: str | Mapping[str, Any], fields: Mapping[str, Any]) -> Any:
    try:
        return clew.remember_many([memory], **fields)[0]
    except (InputError, RefusedError) as error:
        return error


def _refused(error: ClewError) -> Entry:
    return {"outcome": "rejected", "id": None, **payload.error(error)}


def _tell(session: Session, entries: Sequence[Entry]) -> None:
    if not session.as_json:
        for entry in entries:
            click.echo(f"{entry['line']:>6}  {clean(outcome_line(entry))}")
            for line in beside_lines(entry):
                click.echo(f"{'':>6}  {clean(line)}")


def _finish(session: Session, entries: Sequence[Entry]) -> None:
    for note in dict.fromkeys(note for entry in entries for note in entry.get("notes", ())):
        session.note(note)
    document = payload.outcomes(entries)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in document["counts"].items())
    session.answer(
        document, lambda: click.echo(f"{counted(len(entries), 'line')}: {counts}", err=True)
    )
