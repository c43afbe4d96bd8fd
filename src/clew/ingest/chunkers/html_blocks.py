"""The block elements of an HTML text with the headings above them, as offsets into the source.

A scanner of its own: the standard library's parser looks for the end of every unclosed comment and tag from the start, so a
megabyte of `<!--` keeps it busy for hours. Here what is not closed goes on to the end, as browsers read it, and that is all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from clew.ingest.chunkers.blocks import Block
from clew.ingest.chunkers.headings import Headings
from clew.ingest.chunkers.port import Unit
from clew.ingest.chunkers.row import Level

HEADINGS = {f"h{depth}": depth for depth in range(1, 7)}
BLOCKS = frozenset(
    """
    address article aside blockquote body center details dialog dir div dl fieldset figcaption figure footer form frameset head
    header hgroup hr html legend main menu nav ol p pre search section summary table tbody tfoot thead ul
    """.split()
) | frozenset(HEADINGS)
ITEMS = frozenset({"li", "tr", "dt", "dd", "option", "caption"})
RAW = frozenset({"script", "style", "textarea", "title"})  # nothing inside is a tag
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)(?:[^>\"']|\"[^\"]*+\"|'[^']*+')*+>")
_OPENING = re.compile(r"</?[a-zA-Z]")
_MARKUP = re.compile(r"<[^<>]*+>")


class _Tag(NamedTuple):
    """A tag or comment in the source, and whether something to read stands before it."""

    start: int
    end: int
    name: str
    closing: bool
    visible: bool


def html_blocks(text: str) -> list[Block]:
    """Return the blocks in order; a heading begins a section and is not parted from what follows it.

    >>> [(block.unit.start, block.unit.heading) for block in html_blocks("<h1>A &amp; B</h1><p>One</p><ul><li>Two</li></ul>")]
    [(0, ('A & B',)), (18, ('A & B',)), (28, ('A & B',))]
    """
    headings, found = Headings(), list[Block]()
    start, level, visible, begun = 0, Level.BLOCK, False, 0
    for tag in _tags(text):
        visible = visible or tag.visible
        if tag.name not in BLOCKS and tag.name not in ITEMS:
            continue
        cut = tag.end if tag.closing else tag.start
        if tag.name in HEADINGS and tag.closing:
            headings.open(HEADINGS[tag.name], _title(text[begun : tag.start]))
        if visible:
            found.append(Block(Unit(start, cut, heading=headings.path), level))
            level = Level.LINE if tag.name in HEADINGS and tag.closing else _level(tag.name)
            start, visible = cut, False
        elif tag.closing:
            start = cut if found else start
        elif tag.name in BLOCKS:
            level = min(level, _level(tag.name)) if level is not Level.LINE or tag.name in HEADINGS else level
        begun = tag.end
    return [*found, Block(Unit(start, len(text), heading=headings.path), level)] if text[start:].strip() else found


def _level(name: str) -> Level:
    return Level.SECTION if name in HEADINGS else Level.BLOCK if name in BLOCKS else Level.ITEM


def _tags(text: str) -> Iterator[_Tag]:
    """Yield the tags in order; comments, scripts and styles are passed over."""
    at, seen, visible = text.find("<"), 0, False
    while at >= 0:
        visible = visible or not (seen == at or text[seen:at].isspace())
        if text.startswith("<!--", at):
            found = text.find("-->", at + 4)
            if found < 0:
                return  # not closed: the rest of the text belongs to it
            seen = found + 3
        elif tag := _TAG.match(text, at):
            name, seen = tag[2].lower(), tag.end()
            yield _Tag(at, seen, name, bool(tag[1]), visible)
            visible = False
            if name in RAW and not tag[1]:
                seen = _raw_end(text, seen, name)
        elif _OPENING.match(text, at):
            return
        else:
            visible, seen = True, at + 1
        at = text.find("<", seen)


def _raw_end(text: str, start: int, name: str) -> int:
    """Return where a script or style ends: at its own closing tag, whatever stands before it."""
    closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, start)
    return closing.start() if closing else len(text)


def _title(source: str) -> str:
    """Return what a reader sees of a heading."""
    return " ".join(unescape(_MARKUP.sub(" ", source)).split())
