"""Write each memory as a Markdown note with front matter, and take edited notes back in.

A note names the memory it was made from (`clew: ID`). Read again unchanged, it changes nothing; an
edited text supersedes the memory, so that the earlier one stays for `known_at`; edited fields are
updated in place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from clew.documents.importing import FileReport, NoteReader, Status
from clew.errors import ClewError, InputError
from clew.files import create_private_file, make_private_folder, read_file
from clew.text.words import content_hash
from clew.times import iso
from clew.types import Kind, Node, OutcomeKind, Stability

if TYPE_CHECKING:
    from clew.engine.clew import Clew

MARK = b"---\nclew: "
LONGEST_NOTE = 1_000_000  # bytes: memories have at most a few thousand characters
LONGEST_SLUG = 48
NEWER = "the memory has been superseded since: edit its newer note"
FIELDS = ("title", "category", "importance", "tags", "trigger", "stability", "source")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class NotesWritten:
    """How many notes an export wrote, and how many stood there already as they are."""

    folder: str
    written: int
    unchanged: int


def note_of(node: Node) -> str:
    """Return a memory as Markdown with front matter."""
    fields: dict[str, Any] = {
        "clew": node.id,
        **{name: value for name, value in _fields(node).items() if value not in ("", [])},
    }
    fields["valid_from"] = iso(node.t_valid)
    if node.t_invalid is not None:
        fields["valid_to"] = iso(node.t_invalid)
    front = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=10**6)
    return f"---\n{front}---\n{node.text}\n"


def _fields(node: Node) -> dict[str, Any]:
    values = {name: getattr(node, name) for name in FIELDS}
    stability = "" if node.stability is Stability.UNKNOWN else str(node.stability)
    return {**values, "tags": list(node.tags), "stability": stability}


def file_name(node: Node) -> str:
    """Return a name of letters and digits that begins with what the memory is about and ends with its id.

    >>> from clew.testing import node
    >>> file_name(node("01ABC", "../../etc: The VPN needs a key")).startswith("etc-the-vpn-needs-a-key-")
    True
    """
    slug = (
        _NOT_SLUG.sub("-", (node.title or node.text)[: 4 * LONGEST_SLUG].casefold())
        .strip("-")[:LONGEST_SLUG]
        .strip("-")
    )
    return f"{slug or 'memory'}-{_NOT_SLUG.sub('-', node.id.casefold())}.md"


def export_notes(clew: Clew, folder: Path, *, space: str) -> NotesWritten:
    """Write one note per live memory of a space.

    A file that is no note of the same memory is never replaced.
    """
    try:
        make_private_folder(folder)
    except OSError as error:
        problem = f"cannot be created ({error.strerror})"
        raise InputError("folder", str(folder), problem, "Name another folder.") from error
    written = unchanged = 0
    now = clew.now()
    for node in clew.store.nodes(space):
        if (
            node.kind is not Kind.MEMORY
            or node.t_expired is not None
            or (node.t_invalid is not None and node.t_invalid <= now)
        ):
            continue
        if node.root is not None or node.archived:
            continue
        if _written(
            folder / file_name(node), note_of(node).encode("utf-8", "surrogatepass"), node.id
        ):
            written += 1
        else:
            unchanged += 1
    return NotesWritten(str(folder), written, unchanged)


def _written(path: Path, data: bytes, id: str) -> bool:
    """Write a note under its name at once; False if it stands there as it is."""
    with suppress(FileNotFoundError):
        there = read_file(path, limit_bytes=LONGEST_NOTE)
        if there == data:
            return False
        if not there.startswith(MARK + id.encode() + b"\n"):
            raise InputError(
                "path",
                str(path),
                "exists and is no note of this memory",
                "Name another folder, or move the file away.",
            )
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with os.fdopen(create_private_file(partial), "wb") as file:
            file.write(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return True


def note_reader(clew: Clew, space: str) -> NoteReader:
    """Return what takes notes back into a space; any other file is left to the readers."""

    def read(path: str, data: bytes) -> FileReport | None:
        parsed = _parsed(data)
        if parsed is None:
            return None
        fields, text = parsed
        try:
            status, reason = _taken_in(clew, space, fields, text)
        except ClewError as error:
            return FileReport(path=path, status=Status.FAILED, reason=str(error))
        return FileReport(
            path=path,
            status=status,
            reason=reason,
            nodes=int(status in (Status.IMPORTED, Status.UPDATED)),
        )

    return read


def _parsed(data: bytes) -> tuple[dict[str, Any], str] | None:
    """Return the fields and the text of a note; None for a file that is none."""
    data = data.replace(b"\r\n", b"\n") if data.startswith(b"---\r\nclew: ") else data
    if not data.startswith(MARK) or len(data) > LONGEST_NOTE:
        return None
    try:
        front, mark, text = data.decode("utf-8", "surrogatepass")[4:].partition("\n---\n")
        fields = yaml.safe_load(front) if mark and "&" not in front else None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError):
        return None
    return (
        (fields, text) if isinstance(fields, dict) and isinstance(fields.get("clew"), str) else None
    )


def _taken_in(clew: Clew, space: str, fields: Mapping[str, Any], text: str) -> tuple[Status, str]:
    node = clew.store.get([fields["clew"]]).get(fields["clew"])
    if node is None or node.space != space or node.kind is not Kind.MEMORY:
        return _new(clew, space, fields, text)
    live = (
        node.t_expired is None
        and node.root is None
        and (node.t_invalid is None or node.t_invalid > clew.now())
    )
    if content_hash(text) != node.content_hash:
        if clew.store.find_hash(space, content_hash(text)):
            return Status.UNCHANGED, ""
        return _superseded(clew, node.id, fields, text) if live else (Status.UNCHANGED, NEWER)
    if not live:
        return Status.UNCHANGED, NEWER
    changed = {
        name: value
        for name, value in _given(fields).items()
        if value != _comparable(_fields(node)[name])
    }
    if not changed:
        return Status.UNCHANGED, ""
    clew.update(node.id, **changed)
    return Status.UPDATED, f"changed {', '.join(changed)}"


def _superseded(clew: Clew, id: str, fields: Mapping[str, Any], text: str) -> tuple[Status, str]:
    outcome = clew.supersede(id, text.strip(), **_given(fields))
    if outcome.outcome is OutcomeKind.REJECTED:
        return Status.FAILED, f"rejected by the rule {outcome.rule}"
    return Status.UPDATED, f"superseded {id}"


def _new(clew: Clew, space: str, fields: Mapping[str, Any], text: str) -> tuple[Status, str]:
    """Remember a note of a memory that this space does not have, unless it has the same text or forgot it."""
    if clew.store.find_hash(space, content_hash(text)):
        return Status.UNCHANGED, ""
    times = {
        name: fields[name] for name in ("valid_from", "valid_to") if fields.get(name) is not None
    }
    outcome = clew.remember(text.strip(), space=space, **_given(fields), **times)
    if outcome.outcome is OutcomeKind.REJECTED:
        return Status.SKIPPED, f"rejected by the rule {outcome.rule}"
    return Status.IMPORTED, ""


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _comparable(fields[name]) for name in FIELDS if fields.get(name) not in (None, "", [])
    }


def _comparable(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
