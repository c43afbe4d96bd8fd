"""PowerPoint slides (.pptx) and Excel sheets (.xlsx) as Markdown, read from their XML parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from clew.documents.readers.containers import (
    Container,
    Element,
    attribute,
    below,
    inner_text,
    joined,
    local,
)
from clew.documents.readers.conversation import line, moment
from clew.documents.readers.document import Document, UnreadableError
from clew.documents.readers.tables import spoken

_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SLIDES, _SHEETS = "a PowerPoint file (.pptx)", "an Excel file (.xlsx)"
_CELL = re.compile(r"([A-Z]{1,3})\d{1,7}")
# day 0 of Excel's calendar, its leap year 1900 included
_EPOCH = datetime(1899, 12, 30, tzinfo=UTC)
_DATES = frozenset((*range(14, 23), *range(45, 48)))  # of the built-in number formats
_DATE_SIGNS = re.compile(r"[ymdhs]", re.IGNORECASE)
_NOT_SIGNS = re.compile(r"\[[^\]]*\]|\"[^\"]*\"|\\.")
MAX_COLUMNS = 1000
MAX_CELLS = 2_000_000


def read_pptx(data: bytes) -> Document:
    """Return the slides in order, each under its title, with the speaker's notes behind it."""
    container = Container(data, what=_SLIDES)
    main = "ppt/presentation.xml"
    deck = container.xml(main)
    if deck is None:
        raise UnreadableError(f"it is not {_SLIDES}", "Save it again as .pptx.")
    targets = _targets(container, main)
    names = [
        targets.get(each.attrib.get(f"{{{_RELATION}}}id", ""), "") for each in below(deck, "sldId")
    ]
    parts = [
        _slide(container, name, number) for number, name in enumerate(filter(None, names), start=1)
    ]
    return _document(container, [part for part in parts if part], "pptx")


def _targets(container: Container, part: str) -> dict[str, str]:
    """Return the parts that a part refers to, by relation id."""
    folder, _, name = part.rpartition("/")
    relations = container.xml(f"{folder}/_rels/{name}.rels")
    found: dict[str, str] = {}
    for each in below(relations, "Relationship") if relations is not None else ():
        target = attribute(each, "Target")
        found[attribute(each, "Id")] = (
            target.lstrip("/") if target.startswith("/") else joined(part, target)
        )
    return found


def _slide(container: Container, name: str, number: int) -> str:
    slide = container.xml(name)
    if slide is None:
        return ""
    title, texts = "", []
    for shape in below(slide, "sp", "graphicFrame"):
        text = _rows_of(shape) if local(shape) == "graphicFrame" else _paragraphs(shape)
        kind = next((attribute(each, "type") for each in below(shape, "ph")), "")
        if kind in ("title", "ctrTitle") and not title:
            title = line(text)
        elif text and kind not in ("sldNum", "dt", "ftr"):
            texts.append(text)
    notes = next(
        (target for target in _targets(container, name).values() if "notesSlide" in target), ""
    )
    spoken_notes = _notes(container, notes) if notes else ""
    body = [
        f"## {title or f'Slide {number}'}",
        *texts,
        *([f"Notes: {spoken_notes}"] if spoken_notes else []),
    ]
    return "\n\n".join(body) if title or texts or spoken_notes else ""


def _notes(container: Container, name: str) -> str:
    page = container.xml(name)
    if page is None:
        return ""
    shapes = [
        shape
        for shape in below(page, "sp")
        if any(attribute(each, "type") == "body" for each in below(shape, "ph"))
    ]
    return "\n".join(filter(None, map(_paragraphs, shapes)))


def _paragraphs(shape: Element) -> str:
    texts = []
    for paragraph in below(shape, "p"):
        parts = [
            (each.text or "") if local(each) == "t" else "\n"
            for each in below(paragraph, "t", "br")
        ]
        texts.append("".join(parts).strip())
    return "\n".join(text for text in texts if text)


def _rows_of(shape: Element) -> str:
    rows = [[_paragraphs(cell) for cell in below(row, "tc")] for row in below(shape, "tr")]
    return "\n\n".join(spoken(rows))


def read_xlsx(data: bytes) -> Document:
    """Return the sheets in order, each under its name, row by row with the names of its first row."""
    container = Container(data, what=_SHEETS)
    main = "xl/workbook.xml"
    book = container.xml(main)
    if book is None:
        raise UnreadableError(f"it is not {_SHEETS}", "Save it again as .xlsx.")
    targets = _targets(container, main)
    strings = container.xml("xl/sharedStrings.xml")
    shared = [_plain(each) for each in below(strings, "si")] if strings is not None else []
    dates = _date_styles(container)
    parts = []
    for each in below(book, "sheet"):
        sheet = container.xml(targets.get(each.attrib.get(f"{{{_RELATION}}}id", ""), ""))
        rows = [row for row in _rows(sheet, shared, dates) if any(row)] if sheet is not None else []
        if rows:
            parts.append("\n\n".join((f"## {line(attribute(each, 'name'))}", *spoken(rows))))
    return _document(container, parts, "xlsx")


def _plain(item: Element) -> str:
    """Return a shared string without the readings that stand above it."""
    return "".join(
        each.text or "" for part in item if local(part) in ("t", "r") for each in below(part, "t")
    )


def _date_styles(container: Container) -> frozenset[int]:
    """Return the numbers of the cell styles that show a number as a date."""
    styles = container.xml("xl/styles.xml")
    if styles is None:
        return frozenset()
    own = {
        attribute(each, "numFmtId"): _NOT_SIGNS.sub("", attribute(each, "formatCode"))
        for each in below(styles, "numFmt")
    }
    dated = set()
    formats = [each for group in below(styles, "cellXfs") for each in group]
    for number, each in enumerate(formats):
        id = attribute(each, "numFmtId")
        if (id.isdecimal() and len(id) < 6 and int(id) in _DATES) or _DATE_SIGNS.search(
            own.get(id, "")
        ):
            dated.add(number)
    return frozenset(dated)


def _rows(sheet: Element, shared: Sequence[str], dates: frozenset[int]) -> Iterator[list[str]]:
    seen = 0
    for row in below(sheet, "row"):
        cells: list[str] = []
        for cell in row:
            at = _column(attribute(cell, "r"), len(cells))
            if local(cell) != "c" or at >= MAX_COLUMNS:
                continue
            cells += [""] * (at + 1 - len(cells))
            cells[at] = _value(cell, shared, dates)
            seen += 1
            if seen > MAX_CELLS:
                raise UnreadableError(f"it holds more than {MAX_CELLS:,} cells", "Split it.")
        yield cells


def _column(place: str, fallback: int) -> int:
    """Return the number of a cell's column.

    >>> _column("A1", 9), _column("AB12", 9), _column("", 9)
    (0, 27, 9)
    """
    found = _CELL.fullmatch(place)
    if not found:
        return fallback
    number = 0
    for sign in found[1]:
        number = number * 26 + ord(sign) - ord("A") + 1
    return number - 1


def _value(cell: Element, shared: Sequence[str], dates: frozenset[int]) -> str:
    kind = attribute(cell, "t")
    if kind == "inlineStr":
        return "".join(inner_text(each) for each in below(cell, "is"))
    raw = next((each.text or "" for each in below(cell, "v")), "")
    if kind == "s":
        return (
            shared[int(raw)] if raw.isdecimal() and len(raw) < 9 and int(raw) < len(shared) else ""
        )
    if kind == "b":
        return "yes" if raw == "1" else "no"
    style = attribute(cell, "s")
    return (
        _dated(raw)
        if kind in ("", "n") and style.isdecimal() and len(style) < 7 and int(style) in dates
        else raw
    )


def _dated(raw: str) -> str:
    """Return a number of days as a date.

    >>> _dated("45365"), _dated("45365.5"), _dated("0.25")
    ('2024-03-14', '2024-03-14 12:00', '06:00')
    """
    try:
        days = float(raw)
        found = _EPOCH + timedelta(days=days)
    except (ValueError, OverflowError):
        return raw
    found += timedelta(microseconds=500_000)
    if 0 <= days < 1:
        return f"{found:%H:%M}"
    return f"{found:%Y-%m-%d}" if days == int(days) else f"{found:%Y-%m-%d %H:%M}"


def _document(container: Container, parts: Sequence[str], original: str) -> Document:
    text = "\n\n".join(parts)
    if not text.strip():
        raise UnreadableError(
            "it holds no text", "Pictures must be described in words to be found."
        )
    facts = container.xml("docProps/core.xml")
    told = {local(each): each.text or "" for each in (facts.iter() if facts is not None else ())}
    title = line(told.get("title", ""))
    return Document(
        text=text,
        format="markdown",
        title="" if title == "PowerPoint Presentation" else title,
        time=moment(told.get("created")),
        metadata={"original_format": original},
    )
