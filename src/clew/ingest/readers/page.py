"""Web pages: what a reader came for, as markdown, without what surrounds it on every page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from clew.ingest.readers.conversation import line
from clew.ingest.readers.document import Document, UnreadableError
from clew.ingest.readers.flatten import flattened
from clew.ingest.readers.library import load
from clew.ingest.readers.moments import moment
from clew.ingest.readers.walk import host_of, written

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

ENOUGH_CHARACTERS = 200  # a main part with less is a frame that scripts would fill, or not the main part

_LAYOUT = "table:has(table, h1, h2, h3, h4, h5, h6, pre)"
_DATES = ("article:published_time", "datepublished", "date", "dc.date", "dcterms.created", "article:modified_time")


def read_html(text: str, notes: tuple[str, ...]) -> Document:
    """Return a page's main part as markdown, with title, date, author and address beside it.

    Dropped are scripts, styles, navigation, headers, footers, asides, forms, cookie banners and what is hidden. A link is its
    words; its address stays, as [words](address), when it is absolute, leads to another host and is not overlong.
    """
    parser = load("selectolax.lexbor", reads="web pages")
    safe, more = flattened(text)
    tree: LexborHTMLParser = parser.LexborHTMLParser(safe)
    facts = _facts(tree)
    title, address = _title(tree, facts), _address(tree, facts)
    body = _main_text(tree, host=host_of(address))
    if not body:
        raise UnreadableError("it holds no text", "A page that scripts fill must be saved from a browser, as complete page or PDF.")
    kept = {"url": address, "author": line(facts.get("author", ""))}
    metadata: dict[str, Any] = {"original_format": "html", **{key: value for key, value in kept.items() if value}}
    return Document(text=body, format="markdown", title=title, time=_date(facts), metadata=metadata, notes=(*notes, *more))


def _main_text(tree: LexborHTMLParser, *, host: str) -> str:
    """Return the first of ever larger parts of the page that says enough, or the one that says most."""
    layouts = {node.mem_id for node in tree.css(_LAYOUT)}
    found = ""
    for root, strict in _parts(tree):
        text = written(root, layouts=layouts, host=host, strict=strict)
        if len(text) >= ENOUGH_CHARACTERS:
            return text
        found = max(found, text, key=len)
    return found


def _parts(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, bool]]:
    for selector in ("main", "[role=main]", "article"):
        nodes = tree.css(selector)
        if len(nodes) == 1:
            yield nodes[0], True
    if tree.body:
        yield tree.body, True
        yield tree.body, False


def _facts(tree: LexborHTMLParser) -> Mapping[str, str]:
    """Return what the page's head says about it, by name in lower case; the first of several counts."""
    facts: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
        facts.setdefault(name.lower(), attributes.get("content") or "")
    return facts


def _title(tree: LexborHTMLParser, facts: Mapping[str, str]) -> str:
    named, heading = (node.text() if node else "" for node in (tree.css_first("title"), tree.css_first("h1")))
    return line(named) or line(facts.get("og:title", "")) or line(heading)


def _address(tree: LexborHTMLParser, facts: Mapping[str, str]) -> str:
    canonical = tree.css_first("link[rel=canonical]")
    address = (canonical.attributes.get("href") if canonical else "") or facts.get("og:url", "")
    return line(address) if host_of(address) else ""


def _date(facts: Mapping[str, str]) -> datetime | None:
    return next((found for key in _DATES if (found := moment(facts.get(key)))), None)
