"""Word files: paragraphs, headings, lists and tables as markdown."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from clew.documents.readers.conversation import line
from clew.documents.readers.document import Document, UnreadableError, load

Element: TypeAlias = Any  # of lxml, which has no type information

MAX_UNPACKED_BYTES = 200_000_000  # a file that unpacks to more is refused unopened; pictures count
MAX_XML_BYTES = 50_000_000  # of one part: as a tree it takes ten times as much

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVELS = 6
_INDENT = "  "
_HEADING = re.compile(r"heading (\d)")
_SAVE = "Open it in a word processor and save it anew as .docx."
# What a reader of the page does not see: deletions, where text was moved from, fields' formulas,
# and the second copy of a text box.
_UNSEEN = frozenset(f"{_W}{name}" for name in ("del", "moveFrom", "delText", "instrText")) | {
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
}
_SIGNS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def read_docx(data: bytes) -> Document:
    """Return a Word file as markdown, with title and date of its properties."""
    _refuse_bombs(data)
    library = load("docx", reads="Word files")
    try:
        source = library.Document(io.BytesIO(data))
        styles = {style.style_id: (style.name or "").lower() for style in source.styles}
        text = "\n".join(_blocks(source.element.body, styles)).strip()
        title, time = _facts(source.core_properties)
    except (
        Exception
    ) as error:  # foreign: a broken file makes the library raise anything, down to KeyError
        raise UnreadableError(
            f"it is not a sound Word file ({type(error).__name__}: {line(str(error), limit=200)})",
            _SAVE,
        ) from error
    if not text:
        raise UnreadableError(
            "it holds no text", "Pictures must be described in words to be found."
        )
    return Document(
        text=text, format="markdown", title=title, time=time, metadata={"original_format": "docx"}
    )


def _refuse_bombs(data: bytes) -> None:
    """Add up what the archive says it unpacks to; more than it says is never unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = [(info.filename, info.file_size) for info in archive.infolist()]
    except Exception as error:  # foreign: zipfile raises struct.error, NotImplementedError and more on broken archives
        raise UnreadableError("it is not a Word file (.docx)", _SAVE) from error
    xml = max((size for name, size in sizes if name.endswith((".xml", ".rels"))), default=0)
    if sum(size for _, size in sizes) > MAX_UNPACKED_BYTES or xml > MAX_XML_BYTES:
        raise UnreadableError(
            f"it unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB",
            "Split it and import the parts.",
        )


def _facts(properties: Any) -> tuple[str, datetime | None]:
    try:
        created = properties.created
        title = line(properties.title or "")
    except ValueError:  # a date that is none
        return "", None
    return title, created.replace(tzinfo=UTC) if created and not created.tzinfo else created


def _blocks(body: Element, styles: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a document, with an empty one after each block.

    Items of one list stand together.
    """
    in_list = False
    for element in _top(body):
        if element.tag == f"{_W}tbl":
            yield from ("", *_rows(element))
            in_list = False
            continue
        text, item = _paragraph(element, styles)
        if not text:
            continue
        if not (item and in_list):
            yield ""
        yield text
        in_list = item


def _top(body: Element) -> Iterator[Element]:
    """Yield paragraphs and tables in order, also out of content controls and insertions, and no paragraph of a table."""
    waiting = list(reversed(body))
    while waiting:
        element = waiting.pop()
        if element.tag in (f"{_W}p", f"{_W}tbl"):
            yield element
        elif element.tag not in _UNSEEN:
            waiting.extend(reversed(element))


def _paragraph(element: Element, styles: Mapping[str, str]) -> tuple[str, bool]:
    """Return a paragraph as markdown, and whether it is an item of a list."""
    text = _text(element)
    if not text:
        return "", False
    name = styles.get(_value(element, "pPr/pStyle"), "")
    if found := _HEADING.match(name):
        return f"{'#' * min(max(1, int(found[1])), _LEVELS)} {text}".replace("\n", " "), False
    if name == "title":
        return f"# {text}".replace("\n", " "), False
    if name.startswith("list ") or element.find(f"{_W}pPr/{_W}numPr") is not None:
        return _item(element, name, text), True
    return text, False


def _item(element: Element, name: str, text: str) -> str:
    """Numbers are in another part and depend on all items before.

    A reader needs only that it is an item.
    """
    level = _value(element, "pPr/numPr/ilvl") or str(
        int(name[-1]) - 1 if name[-1:] in tuple("23456789") else 0
    )
    margin = _INDENT * min(int(level) if level.isdecimal() else 0, _LEVELS)
    return f"{margin}- " + text.replace("\n", f"\n{margin}{_INDENT}")


def _rows(table: Element) -> Iterator[str]:
    """Yield a table's rows; a table inside a cell is read as that cell's text."""
    for number, row in enumerate(table.findall(f"{_W}tr")):
        cells = [
            _text(cell).replace("\n", " ").replace("|", "\\|") for cell in row.findall(f"{_W}tc")
        ]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{' --- |' * len(cells)}"


def _text(element: Element) -> str:
    """Return the text below an element as a reader sees it, paragraphs on lines of their own."""
    parts: list[str] = []
    waiting = list(reversed(element))
    while waiting:
        below = waiting.pop()
        if below.tag == f"{_W}t":
            parts.append(below.text or "")
        elif below.tag in _SIGNS:
            parts.append(_SIGNS[below.tag])
        elif below.tag not in _UNSEEN:
            parts.append("\n" if below.tag == f"{_W}p" else "")
            waiting.extend(reversed(below))
    return "".join(parts).strip()


def _value(element: Element, path: str) -> str:
    found = element.find("/".join(_W + name for name in path.split("/")))
    return "" if found is None else (found.get(f"{_W}val") or "")
