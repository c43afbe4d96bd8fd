"""What a file becomes before it is cut.

A text, what is known about it, and what was lost on the way.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import Any

from clew.errors import ClewError, shown


@dataclass(frozen=True, slots=True)
class Message:
    """Where one message of a conversation stands in its document's text, with the "Speaker.

    " before it.
    """

    start: int
    end: int
    speaker: str
    time: datetime | None
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text out of a file, ready to be cut.

    `format` says how `text` is to be read, not what the file was: a web page becomes markdown
    (`metadata["original_format"]` keeps "html"). `key` tells apart several documents of one file.
    `notes` say what was left out or replaced.
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
        return type(self)(self.reason, self.way_out, path=path)


class NotTextError(UnreadableError):
    """A file that is sound and holds no text: a picture, a font, a program."""


# From bytes to text: the encoding is found, what is no text is refused, and every replacement is
# noted.

# A text of the wrong kind of luck may hold a few; more than these shares mean that it never was
# one.
NUL_SHARE = 0.001
CONTROL_SHARE = 0.05

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OFFICE = "Save it as .docx, .pdf, .csv or text and import that."
_KNOWN_BINARIES = (
    (b"\x89PNG", "a PNG picture", "Import a text that describes it."),
    (b"\xff\xd8\xff", "a JPEG picture", "Import a text that describes it."),
    (b"GIF8", "a GIF picture", "Import a text that describes it."),
    (
        b"PK\x03\x04",
        "an archive (zip, or an office file other than .docx)",
        "Unpack it, or save it as .docx, .pdf, .csv or text.",
    ),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office file", _OFFICE),
    (b"{\\rtf", "a rich text file", _OFFICE),
    (b"\x1f\x8b", "a gzip archive", "Unpack it and import what is inside."),
    (b"\x7fELF", "a program", "Import its source or its documentation."),
    (b"SQLite format 3\x00", "an SQLite database", "Export its rows as text, CSV or JSON."),
    (b"%PDF-", "a PDF file", "Name it .pdf, or say format=pdf."),
)
# skipped, not failed
_NOT_TEXTS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"\x7fELF", b"SQLite format 3\x00")
_CONTROL_BYTES = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\b\x1b") + b"\x7f"
# The same set as the first gate of a commit rejects, so that nothing read here is turned away there
# for it.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_DECLARED = re.compile(
    rb"""(?:charset|encoding)\s{0,9}=\s{0,9}["']?\s{0,9}([A-Za-z0-9_.:-]{2,40})"""
)
# What web pages declare and Python decodes in linear time. By the WHATWG's encoding standard
# Latin-1 means cp1252.
_TRUSTED = re.compile(
    r"(?:windows|cp)-?125[0-8]|iso-?8859-(?:[2-9]|1[0-6])|koi8-[ru]|shift[_-]?jis|euc-(?:jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5",
    re.IGNORECASE,
)


def decoded(data: bytes, *, declared: str = "") -> tuple[str, tuple[str, ...]]:
    r"""Return the text of some bytes with line ends as \n, and notes on what had to be guessed or replaced.

    UTF-8 with or without a mark; UTF-16 and UTF-32 by their marks; then the encoding the file
    declares (web pages); then, when most of what is not ASCII is sound UTF-8, that with the rest
    replaced; at last cp1252, where nearly any byte means something.

    >>> decoded(b"caf\xe9")
    ('café', ('not UTF-8: read as cp1252',))
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(data, encoding)
    _refuse_binary(data)
    try:
        return _lines(data.decode("utf-8")), ()
    except UnicodeDecodeError:
        text, note = _guessed(data, declared)
        return _lines(text), (note,)


def declared_encoding(head: bytes) -> str:
    """Return the encoding that the beginning of a web page names, if it is one to trust, else nothing.

    >>> declared_encoding(b'<meta charset="Shift_JIS">'), declared_encoding(b'<meta charset="zip">')
    ('shift_jis', '')
    """
    found = _DECLARED.search(head)
    name = found.group(1).decode("ascii").lower() if found else ""
    return name if _TRUSTED.fullmatch(name) else ""


def legible(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Return the text with what no store keeps replaced sign by sign, so that offsets stay, and a note if there was any.

    >>> legible("a\x1b[0m b")
    ('a [0m b', ('1 control characters replaced by spaces',))
    """
    text, controls = _CONTROLS.subn(" ", text)
    text, halves = _SURROGATES.subn("\ufffd", text)
    notes = (
        (controls, "control characters replaced by spaces"),
        (halves, "halves of surrogate pairs replaced by U+FFFD"),
    )
    return text, tuple(f"{number} {what}" for number, what in notes if number)


def _marked(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    text = data.decode(encoding, errors="replace")
    lost = max(0, text.count("\ufffd") - data.count("\ufffd".encode(encoding[:6])))
    return _lines(text), (
        f"{lost} places that are not {encoding[:6].rstrip('-').upper()} replaced by U+FFFD",
    ) if lost else ()


def _guessed(data: bytes, declared: str) -> tuple[str, str]:
    if declared:
        text = data.decode(declared, errors="replace")
        lost = text.count("\ufffd")
        return text, f"read as {declared}, as it declares" + (
            f"; {lost} places replaced by U+FFFD" if lost else ""
        )
    text = data.decode("utf-8", errors="replace")
    lost = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    sound = sum(1 for each in text if each > "\x7f") - lost
    if sound > lost:
        return text, f"{lost} places that are not UTF-8 replaced by U+FFFD"
    text = data.decode("cp1252", errors="replace")
    lost = text.count("\ufffd")
    return text, "not UTF-8: read as cp1252" + (
        f"; {lost} bytes replaced by U+FFFD" if lost else ""
    )


def _refuse_binary(data: bytes) -> None:
    for magic, what, way_out in _KNOWN_BINARIES:
        if data.startswith(magic):
            raise (NotTextError if magic in _NOT_TEXTS else UnreadableError)(
                f"it is {what}", way_out
            )
    way_out = "Export it as text; a text in UTF-16 needs its byte order mark."
    if data.count(0) > NUL_SHARE * len(data):
        raise NotTextError("it is binary: it holds NUL bytes", way_out)
    controls = len(data) - len(data.translate(None, _CONTROL_BYTES))
    if controls > CONTROL_SHARE * len(data):
        raise NotTextError(
            f"it is binary: {controls} of {len(data)} bytes are control characters", way_out
        )


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# The libraries that only some files need, loaded when the first of them comes.


def load(module: str, *, reads: str) -> Any:
    """Return a module, or say which extra brings it.

    >>> load("no_such_library", reads="stone tablets")
    Traceback (most recent call last):
    clew.documents.readers.document.UnreadableError: stone tablets need a library that is not \
installed (no_such_library). \
Install it with: pip install 'clew[docs]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        reason = f"{reads} need a library that is not installed ({module.partition('.')[0]})"
        raise UnreadableError(reason, "Install it with: pip install 'clew[docs]'") from error
