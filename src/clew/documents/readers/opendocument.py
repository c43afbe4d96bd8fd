"""OpenDocument texts (.odt): headings, lists and tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from clew.documents.readers.containers import Container, Element, attribute, local
from clew.documents.readers.conversation import line, moment
from clew.documents.readers.document import Document, UnreadableError

_WHAT = "an OpenDocument text"
_LEVELS = 6
_UNSEEN = frozenset(
    {"tracked-changes", "annotation", "note-citation", "forms", "sequence-decls", "bookmark"}
)
MAX_SPACES = 100  # that one element may stand for


def read_odt(data: bytes) -> Document:
    """Return a text with title and date of its properties."""
    container = Container(data, what=_WHAT)
    content = container.xml("content.xml")
    if content is None:
        raise UnreadableError(f"it is not {_WHAT}", "Save it again as .odt.")
    body = next(
        (
            each
            for each in content.iter()
            if local(each) in ("text", "spreadsheet", "presentation") and _is_office(each)
        ),
        None,
    )
    text = "\n\n".join(_blocks(body)) if body is not None else ""
    if not text.strip():
        raise UnreadableError(
            "it holds no text", "Pictures must be described in words to be found."
        )
    meta = container.xml("meta.xml")
    facts = {local(each): each.text or "" for each in (meta.iter() if meta is not None else ())}
    created = moment(facts.get("creation-date")) or moment(facts.get("date"))
    return Document(
        text=text,
        format="markdown",
        title=line(facts.get("title", "")),
        time=created,
        metadata={"original_format": "odt"},
    )


def _is_office(element: Element) -> bool:
    return isinstance(element.tag, str) and "opendocument:xmlns:office" in element.tag


def _blocks(body: Element) -> Iterator[str]:
    """Yield headings, paragraphs, lists and tables in order."""
    waiting: list[Element] = list(reversed(body))
    while waiting:
        element = waiting.pop()
        name = local(element)
        if name in ("h", "p"):
            text = _text(element)
            level = attribute(element, "outline-level")
            depth = (
                min(int(level), _LEVELS)
                if name == "h" and level.isdecimal() and len(level) < 3
                else 1
            )
            if text:
                yield f"{'#' * max(1, depth)} {text}".replace("\n", " ") if name == "h" else text
        elif name == "list":
            items = "\n".join(_items(element, 0))
            if items:
                yield items
        elif name == "table":
            rows = "\n".join(_rows(element))
            if rows:
                yield rows
        elif name not in _UNSEEN:
            waiting.extend(reversed(element))


def _items(element: Element, depth: int) -> Iterator[str]:
    """Yield the items of a list; the depth of XML is bounded, and so is this recursion."""
    for item in element:
        for part in item if local(item) in ("list-item", "list-header") else ():
            if local(part) == "list":
                yield from _items(part, depth + 1)
            elif text := _text(part):
                yield f"{'  ' * min(depth, _LEVELS)}- {text}".replace("\n", " ")


def _rows(table: Element) -> Iterator[str]:
    for number, row in enumerate(each for each in table.iter() if local(each) == "table-row"):
        cells = [
            _text(cell).replace("\n", " ").replace("|", "\\|")
            for cell in row
            if local(cell) == "table-cell"
        ]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{' --- |' * len(cells)}"


def _text(element: Element) -> str:
    """Return the text of a paragraph or a cell as a reader sees it."""
    parts: list[str] = [element.text or ""]
    waiting: list[tuple[Element, bool]] = [(each, False) for each in reversed(element)]
    while waiting:
        below, done = waiting.pop()
        if done:
            parts.append(("\n" if local(below) in ("p", "h") else "") + (below.tail or ""))
            continue
        waiting.append((below, True))
        name = local(below)
        if name in _UNSEEN:
            continue
        if name == "s":
            count = attribute(below, "c")
            parts.append(
                " " * min(int(count), MAX_SPACES) if count.isdecimal() and len(count) < 6 else " "
            )
        elif name in ("tab", "line-break"):
            parts.append("\t" if name == "tab" else "\n")
        parts.append(below.text or "")
        waiting += [(each, False) for each in reversed(below)]
    return "".join(parts).strip()
