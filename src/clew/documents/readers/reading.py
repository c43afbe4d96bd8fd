"""Read a file: find its format, decode it, hand it to its reader, and keep nothing that a store would refuse."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from clew.documents.readers import transcript
from clew.documents.readers.chat_exports import read_json, read_lines
from clew.documents.readers.conversation import document, line
from clew.documents.readers.document import (
    Document,
    UnreadableError,
    declared_encoding,
    decoded,
    legible,
)
from clew.documents.readers.markdown import read_markdown
from clew.documents.readers.skipping import NotTextError, not_text
from clew.documents.readers.vault import as_note, in_vault, linked
from clew.errors import InputError
from clew.file_formats import FORMATS, HEAD_BYTES, detect
from clew.files import read_file

_PACKED = {
    "epub": ("epub", "read_epub"),
    "odt": ("opendocument", "read_odt"),
    "pptx": ("office", "read_pptx"),
    "xlsx": ("office", "read_xlsx"),
    "eml": ("mail", "read_eml"),
    "mbox": ("mail", "read_mbox"),
    "archive": ("chat_archives", "read_chat_archive"),
}
"""Formats that are read from bytes: the module and the function; loaded when the first such file
comes.
"""
_TOLD = {
    "rst": ("restructured", "read_rst"),
    "notebook": ("notebook", "read_notebook"),
    "ics": ("vobjects", "read_ics"),
    "vcf": ("vobjects", "read_vcf"),
    "csv": ("tables", "read_table"),
    "conversation": ("reading", "read_conversation"),
}
"""Formats that are read from text, likewise."""
# as much as imports.max_file_mb can allow; imports read files themselves, with their own limit
MAX_BYTES = 2_000_000_000


def read(
    path: Path, *, format: str | None = None, data: bytes | None = None
) -> tuple[Document, ...]:
    """Return the documents in a file, at least one.

    `data` stands for its bytes where they come from elsewhere, as from stdin.

    Whatever a file holds, the outcome is documents or an `UnreadableError` with reason and way out.
    """
    if format is not None and format not in FORMATS:
        raise InputError(
            "format",
            format,
            f"is not known; known are {', '.join(FORMATS)}",
            "Leave it out to have it found.",
        )
    try:
        content = _bytes(path) if data is None else data
        if format is None and (kind := not_text(path)):
            raise NotTextError(f"it is {kind}", "Import a text that describes it.")
        named = format or detect(path, content[:HEAD_BYTES])
        return _kept(_linked(_documents(content, named, asked=format is not None), path))
    except UnreadableError as error:
        raise error.at(os.fspath(path)) from error.__cause__


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise UnreadableError(
            "it is not a file" if path.exists() else "it does not exist", "Name an existing file."
        )
    try:
        return read_file(path, limit_bytes=MAX_BYTES)
    except OSError as error:
        raise UnreadableError(
            error.strerror or "it cannot be opened", "Check its permissions."
        ) from error


def _documents(data: bytes, format: str, *, asked: bool) -> tuple[Document, ...]:
    if (reader := _PACKED.get(format)) is not None:
        return _called(reader, data)
    if format == "pdf":
        # With its library, only where there is one
        from clew.documents.readers.pdf import read_pdf  # noqa: PLC0415

        return (read_pdf(data),)
    if format == "docx":
        # With its library, only where there is one
        from clew.documents.readers.word import read_docx  # noqa: PLC0415

        return (read_docx(data),)
    text, notes = decoded(
        data, declared=declared_encoding(data[:HEAD_BYTES]) if format == "html" else ""
    )
    return _of_text(text, notes, format, asked=asked)


def _of_text(
    text: str, notes: tuple[str, ...], format: str, *, asked: bool
) -> tuple[Document, ...]:
    if format == "html":
        # With its library, only where there is one
        from clew.documents.readers.html import read_html  # noqa: PLC0415

        return (read_html(text, notes),)
    if format == "markdown":
        return (read_markdown(text, notes),)
    if format in ("json", "jsonl"):
        return (read_json if format == "json" else read_lines)(text, notes)
    if (reader := _TOLD.get(format)) is not None:
        return _called(reader, text, notes)
    if format == "text" and not asked and (found := _transcript(text, notes, asked=False)):
        return (found,)
    return (Document(text=text, format=format, notes=notes),)


def _called(reader: tuple[str, str], *given: object) -> tuple[Document, ...]:
    """Load a reader and return its documents."""
    module, function = reader
    made = getattr(import_module(f"clew.documents.readers.{module}"), function)(*given)
    return made if isinstance(made, tuple) else (made,)


def _linked(found: tuple[Document, ...], path: Path) -> tuple[Document, ...]:
    """Return Markdown with its wikilinks.

    Notes of a vault also with the names by which others link to them.
    """
    if len(found) != 1 or found[0].format != "markdown" or "original_format" in found[0].metadata:
        return found
    return (as_note(found[0], path) if in_vault(path) else linked(found[0]),)


def _transcript(text: str, notes: tuple[str, ...], *, asked: bool) -> Document | None:
    talk = transcript.conversation(text, asked=asked)
    return document(replace(talk, notes=(*notes, *talk.notes))) if talk else None


def read_conversation(text: str, notes: tuple[str, ...]) -> tuple[Document, ...]:
    """Return conversations, and nothing else: they were asked for."""
    found = read_json(text, notes)
    if found[0].format == "conversation":
        return found
    if talk := _transcript(text, notes, asked=True):
        return (talk,)
    raise UnreadableError(
        "no conversation was found in it",
        "Use a chat export, JSON with role and content, or lines such as 'Ada: Hello'; or leave the format out.",
    )


def _kept(found: tuple[Document, ...]) -> tuple[Document, ...]:
    kept = tuple(each for each in map(_legible, found) if each.text.strip())
    if not kept:
        raise UnreadableError("it holds no text", "There is nothing to import in it.")
    return kept


def _legible(each: Document) -> Document:
    text, notes = legible(each.text)
    return replace(each, text=text, title=line(each.title), notes=(*each.notes, *notes))
