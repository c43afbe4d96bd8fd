"""EPUB books: the chapters in reading order as Markdown, with title, author and date of the package."""

from __future__ import annotations

from typing import Any

from clew.documents.readers.containers import Container, Element, attribute, below, joined
from clew.documents.readers.conversation import line, moment
from clew.documents.readers.document import Document, UnreadableError, declared_encoding, decoded
from clew.documents.readers.html import read_html

_WHAT = "an EPUB book"
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"


def read_epub(data: bytes) -> Document:
    """Return a book as one text."""
    book = Container(data, what=_WHAT)
    entry = book.xml(_CONTAINER)
    name = (
        next((attribute(each, "full-path") for each in below(entry, "rootfile")), "")
        if entry is not None
        else ""
    )
    package = book.xml(name) if name else None
    if package is None:
        raise UnreadableError(f"it is not {_WHAT}: its package is missing", "Export it again.")
    chapters = [_chapter(book, joined(name, href)) for href in _spine(package)]
    body = "\n\n".join(each for each in chapters if each)
    if not body:
        if _ENCRYPTION in book.names:
            raise UnreadableError("it is locked", "Export it without protection.")
        raise UnreadableError("it holds no text", "Export it again.")
    facts = {key: _fact(package, key) for key in ("title", "creator", "date", "language")}
    metadata: dict[str, Any] = {"original_format": "epub"} | (
        {"author": facts["creator"]} if facts["creator"] else {}
    )
    silent = sum(1 for each in chapters if not each)
    notes = (f"{silent} parts without text left out",) if silent else ()
    return Document(
        text=body,
        format="markdown",
        title=facts["title"],
        time=moment(facts["date"]),
        metadata=metadata,
        notes=notes,
    )


def _fact(package: Element, name: str) -> str:
    return next((found for each in below(package, name) if (found := line(each.text or ""))), "")


def _spine(package: Element) -> list[str]:
    """Return the chapters' addresses in reading order, each once."""
    addresses = {attribute(each, "id"): attribute(each, "href") for each in below(package, "item")}
    order = [addresses.get(attribute(each, "idref"), "") for each in below(package, "itemref")]
    return list(dict.fromkeys(filter(None, order)))


def _chapter(book: Container, name: str) -> str:
    from urllib.parse import unquote  # noqa: PLC0415 - of no use to other formats

    data = book.read(name) or book.read(unquote(name))
    if not data:
        return ""
    try:
        text, _ = decoded(data, declared=declared_encoding(data[:2048]))
        made = read_html(text, ())
    except UnreadableError:
        return ""
    return made.text
