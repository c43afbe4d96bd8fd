"""Blocks: what a format's own structure says must not be cut without need, and how chunks are made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import accumulate
from typing import NamedTuple

from clew.documents.chunkers.packing import Describe, chunks_of, pack
from clew.documents.chunkers.pieces import Level, Row
from clew.documents.chunkers.port import (
    DEFAULT_OPTIONS,
    Chunk,
    ChunkOptions,
    TokenCounter,
    Unit,
    estimate,
)
from clew.errors import InputError
from clew.text.sentences import Splitter
from clew.times import iso


class Block(NamedTuple):
    """A unit, how strong the boundary before it is, and how to take it apart when it is too large."""

    unit: Unit
    level: Level = Level.BLOCK
    parts: Splitter | None = None


def cut_blocks(
    text: str, blocks: Sequence[Block], *, count: TokenCounter, options: ChunkOptions
) -> tuple[Chunk, ...]:
    """Return chunks of whole blocks where they fit, each with its headings, speakers and times."""
    row = row_of(text, blocks, count=count, options=options)
    return chunks_of(row, pack(row), described([block.unit for block in blocks]))


def row_of(
    text: str, blocks: Sequence[Block], *, count: TokenCounter, options: ChunkOptions
) -> Row:
    """Return the row of pieces that blocks become.

    What stands between two of them goes with the first.
    """
    row = Row(text, count=count, options=options)
    ends = [block.unit.start for block in blocks[1:]] + [len(text)]
    row.add_paragraphs(0, blocks[0].unit.start if blocks else len(text))
    for owner, (block, end) in enumerate(zip(blocks, ends, strict=False)):
        row.add_block(block.unit.start, end, block.level, owner, block.parts)
    return row


def given_blocks(text: str, units: Sequence[Unit]) -> list[Block]:
    """Return a reader's units as blocks, or complain about what is not in the text or out of order."""
    at = 0
    for unit in units:
        if not at <= unit.start <= unit.end <= len(text):
            raise InputError(
                "units",
                (unit.start, unit.end),
                "is not behind the unit before it and inside the text",
                "Give units in order.",
            )
        at = unit.end
    return [Block(unit) for unit in units if unit.start < unit.end]


def described(units: Sequence[Unit]) -> Describe:
    """Return the function that says where a chunk stands: its headings, who speaks and when."""

    def describe(owners: Sequence[int]) -> tuple[str, tuple[str, ...]]:
        held = [units[owner] for owner in dict.fromkeys(owners)] if units else []
        path = common_path([unit.heading for unit in held])
        speakers = ", ".join(dict.fromkeys(unit.speaker for unit in held if unit.speaker))
        return " · ".join(filter(None, (" > ".join(path), speakers, _times(held)))), path

    return describe


def common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what all paths begin with, or the first of them if they share nothing.

    >>> common_path([("Guide", "Install"), ("Guide", "Use")])
    ('Guide',)
    """
    shared: tuple[str, ...] = ()
    for names in zip(*paths, strict=False):
        if len(set(names)) > 1:
            break
        shared = (*shared, names[0])
    return shared or next(iter(paths), ())


def _times(units: Sequence[Unit]) -> str:
    moments = [iso(unit.time) for unit in units if unit.time is not None]
    return " – ".join(dict.fromkeys((min(moments), max(moments)))) if moments else ""


# The headings above a place: a stack that each new heading shortens to its own depth.

# characters of a heading that are kept: each chunk below it is labelled with all of the headings
# above
LONGEST = 300


class Headings:
    """The path of open headings, outermost first.

    >>> headings = Headings()
    >>> for depth, title in [(1, "Guide"), (3, "Linux"), (2, "Use")]:
    ...     headings.open(depth, title)
    >>> headings.path
    ('Guide', 'Use')
    """

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()

    def open(self, depth: int, title: str) -> None:
        """Enter a heading: those as deep or deeper are closed."""
        while self._open and self._open[-1][0] >= depth:
            self._open.pop()
        self._open.append((depth, title[:LONGEST]))
        self.path = tuple(name for _, name in self._open if name)


# The block elements of an HTML text with the headings above them, as offsets into the source.
#
# A scanner of its own: the standard library's parser looks for the end of every unclosed comment
# and tag from the start, so a
# megabyte of `<!--` keeps it busy for hours. Here what is not closed goes on to the end, as
# browsers read it, and that is all.

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
    """Return the blocks in order.

    A heading begins a section and is not parted from what follows it.

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
            level = (
                min(level, _level(tag.name))
                if level is not Level.LINE or tag.name in HEADINGS
                else level
            )
        begun = tag.end
    return (
        [*found, Block(Unit(start, len(text), heading=headings.path), level)]
        if text[start:].strip()
        else found
    )


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


# Chunks of HTML source end between block elements.


@dataclass(frozen=True, slots=True)
class Html:
    """Ends a chunk before a heading as soon as it has its least size.

    Texts are exact slices of the source, tags and all.

    >>> [(chunk.text, chunk.context) for chunk in Html().chunk("<h1>Guide</h1><p>Use <b>pip</b>.</p>")]
    [('<h1>Guide</h1><p>Use <b>pip</b>.</p>', 'Guide')]
    """

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "html"

    @property
    def formats(self) -> frozenset[str]:
        """HTML."""
        return frozenset({"html"})

    def chunk(
        self,
        text: str,
        *,
        format: str = "html",  # noqa: ARG002 - it reads every text as HTML
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,
    ) -> tuple[Chunk, ...]:
        """Return pieces that end between blocks, with the path of their headings."""
        blocks = given_blocks(text, units) if units else html_blocks(text)
        return cut_blocks(text, blocks, count=self.count, options=options)


# The blocks of a Markdown text with their headings: fences, tables and lists as wholes, paragraphs
# between.

# Possessive where two parts could share the same blanks: a line of a million spaces is looked at
# once.
_FENCE = re.compile(r" {0,3}(`{3,}+(?=[^`]*\Z)|~{3,}+)")
_INNER_FENCE = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}[.)])?[ \t]*+(`{3,}+(?=[^`]*\Z)|~{3,}+)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=\s|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=++|-++)\s*+\Z")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?=\s|\Z)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)\s*+\Z")
_TABLE_RULE = re.compile(r" {0,3}\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?\s*+\Z")
_INDENTED = ("  ", "\t")
_CODE = ("    ", "\t")


class _Found(NamedTuple):
    """Up to which line a block goes; a heading has a depth."""

    end: int
    depth: int = 0
    listed: bool = False


def markdown_blocks(text: str) -> list[Block]:
    r"""Return the blocks in order.

    A heading begins a section and is not parted from what follows it.

    >>> [(block.unit.heading, block.level.name) for block in markdown_blocks("# A\n\ntext\n\n## B\n\n- one\n- two")]
    [(('A',), 'SECTION'), (('A',), 'LINE'), (('A', 'B'), 'SECTION'), (('A', 'B'), 'LINE')]
    """
    lines = text.splitlines(keepends=True)
    offsets = [0, *accumulate(map(len, lines))]
    headings, blocks, at = Headings(), list[Block](), _after_blank(lines, 0)
    level = Level.BLOCK
    while at < len(lines):
        found = _block(lines, at)
        if found.depth:
            headings.open(found.depth, _markdown_blocks_title(lines[at : found.end]))
            level = Level.SECTION
        unit = Unit(offsets[at], offsets[found.end], heading=headings.path)
        blocks.append(Block(unit, level, list_items if found.listed else None))
        level = Level.LINE if found.depth else Level.BLOCK
        at = _after_blank(lines, found.end)
    return blocks


def _block(lines: list[str], at: int) -> _Found:
    """Return the block that begins at a line that is not blank."""
    line = lines[at]
    if heading := _HEADING.match(line):
        return _Found(at + 1, depth=len(heading[1]))
    if _ITEM.match(line) and not _RULE.match(line):
        return _Found(_list_end(lines, at), listed=True)
    end = _whole_end(lines, at)
    return _Found(end) if end else _paragraph(lines, at)


def _whole_end(lines: list[str], at: int) -> int | None:
    """Return the line behind a fence, front matter, a rule or a table, if one begins here."""
    if fence := _FENCE.match(lines[at]):
        return _fence_end(lines, at, fence[1])
    if at == 0 and lines[at].strip() == "---":
        return _front_matter_end(lines)
    if _RULE.match(lines[at]):
        return at + 1
    if lines[at].startswith(_CODE):
        return next(
            (end for end in range(at, len(lines)) if not lines[end].startswith(_CODE)), len(lines)
        )
    return _table_end(lines, at) if _is_table(lines, at) else None


def _paragraph(lines: list[str], at: int) -> _Found:
    """Return a paragraph, or the heading that a line of = or - makes of it."""
    end = at + 1
    while end < len(lines) and not lines[end].isspace():
        line = lines[end]
        if _UNDERLINE.match(line):
            return _Found(end + 1, depth=1 if "=" in line else 2)
        if (
            _HEADING.match(line)
            or _FENCE.match(line)
            or _ITEM.match(line)
            or _RULE.match(line)
            or _is_table(lines, end)
        ):
            break
        end += 1
    return _Found(end)


def _fence_end(lines: list[str], at: int, mark: str, *, inner: bool = False) -> int:
    """Return the line behind the closing fence.

    An unclosed one goes to the end, as CommonMark says.
    """
    for end in range(at + 1, len(lines)):
        closing = lines[end].strip()
        if (
            len(closing) >= len(mark)
            and closing == mark[0] * len(closing)
            and (inner or not lines[end].startswith(_CODE))
        ):
            return end + 1
    return len(lines)


def _front_matter_end(lines: list[str]) -> int:
    return next(
        (end + 1 for end in range(1, len(lines)) if lines[end].rstrip() in ("---", "...")), 1
    )


def _is_table(lines: list[str], at: int) -> bool:
    return (
        "|" in lines[at]
        and at + 1 < len(lines)
        and "-" in lines[at + 1]
        and _TABLE_RULE.match(lines[at + 1]) is not None
    )


def _table_end(lines: list[str], at: int) -> int:
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end


def _list_end(lines: list[str], at: int) -> int:
    """Return the line behind a list.

    It goes on over blank lines while items or indented lines follow.
    """
    end = at
    while end < len(lines):
        line = lines[end]
        if line.isspace():
            following = _after_blank(lines, end)
            if following == len(lines) or not (
                lines[following].startswith(_INDENTED) or _ITEM.match(lines[following])
            ):
                return end
            end = following
        elif end > at and (_HEADING.match(line) or _FENCE.match(line)):
            return end
        else:
            fence = _INNER_FENCE.match(line)
            end = _fence_end(lines, end, fence[1], inner=True) if fence else end + 1
    return end


def list_items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the outermost items of a list, each with what belongs to it."""
    lines = text[start:end].splitlines(keepends=True)
    offsets = [start, *accumulate(map(len, lines), initial=start)][1:]
    at, begun = 0, start
    while at < len(lines):
        if _ITEM.match(lines[at]) and not lines[at].startswith(_INDENTED) and offsets[at] > begun:
            yield begun, offsets[at]
            begun = offsets[at]
        fence = _INNER_FENCE.match(lines[at])
        at = _fence_end(lines, at, fence[1], inner=True) if fence else at + 1
    yield begun, end


def _after_blank(lines: list[str], at: int) -> int:
    while at < len(lines) and lines[at].isspace():
        at += 1
    return at


def _markdown_blocks_title(lines: list[str]) -> str:
    """Return the words of a heading without the signs that make it one."""
    written = lines[:-1] if len(lines) > 1 else [lines[0].strip().strip("#")]
    return " ".join(" ".join(written).split())


# Headings begin chunks; fences, tables and lists stay whole where they fit.


@dataclass(frozen=True, slots=True)
class Markdown:
    r"""Ends a chunk before a heading as soon as it has its least size.

    The headings above are its context.

    >>> [(chunk.text, chunk.context) for chunk in Markdown().chunk("# Guide\n\n## Install\n\nUse pip.")]
    [('# Guide\n\n## Install\n\nUse pip.', 'Guide')]
    """

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "markdown"

    @property
    def formats(self) -> frozenset[str]:
        """Markdown."""
        return frozenset({"markdown"})

    def chunk(
        self,
        text: str,
        *,
        format: str = "markdown",  # noqa: ARG002 - it reads every text as Markdown
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,
    ) -> tuple[Chunk, ...]:
        """Return pieces that end between blocks, with the path of their headings."""
        blocks = given_blocks(text, units) if units else markdown_blocks(text)
        return cut_blocks(text, blocks, count=self.count, options=options)
