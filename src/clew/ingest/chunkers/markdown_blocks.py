"""The blocks of a Markdown text with their headings: fences, tables and lists as wholes, paragraphs between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from clew.ingest.chunkers.blocks import Block
from clew.ingest.chunkers.headings import Headings
from clew.ingest.chunkers.port import Unit
from clew.ingest.chunkers.row import Level

# Possessive where two parts could share the same blanks: a line of a million spaces is looked at once.
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
    r"""Return the blocks in order; a heading begins a section and is not parted from what follows it.

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
            headings.open(found.depth, _title(lines[at : found.end]))
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
        return next((end for end in range(at, len(lines)) if not lines[end].startswith(_CODE)), len(lines))
    return _table_end(lines, at) if _is_table(lines, at) else None


def _paragraph(lines: list[str], at: int) -> _Found:
    """Return a paragraph, or the heading that a line of = or - makes of it."""
    end = at + 1
    while end < len(lines) and not lines[end].isspace():
        line = lines[end]
        if _UNDERLINE.match(line):
            return _Found(end + 1, depth=1 if "=" in line else 2)
        if _HEADING.match(line) or _FENCE.match(line) or _ITEM.match(line) or _RULE.match(line) or _is_table(lines, end):
            break
        end += 1
    return _Found(end)


def _fence_end(lines: list[str], at: int, mark: str, *, inner: bool = False) -> int:
    """Return the line behind the closing fence; an unclosed one goes to the end, as CommonMark says."""
    for end in range(at + 1, len(lines)):
        closing = lines[end].strip()
        if len(closing) >= len(mark) and closing == mark[0] * len(closing) and (inner or not lines[end].startswith(_CODE)):
            return end + 1
    return len(lines)


def _front_matter_end(lines: list[str]) -> int:
    return next((end + 1 for end in range(1, len(lines)) if lines[end].rstrip() in ("---", "...")), 1)


def _is_table(lines: list[str], at: int) -> bool:
    return "|" in lines[at] and at + 1 < len(lines) and "-" in lines[at + 1] and _TABLE_RULE.match(lines[at + 1]) is not None


def _table_end(lines: list[str], at: int) -> int:
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end


def _list_end(lines: list[str], at: int) -> int:
    """Return the line behind a list: it goes on over blank lines while items or indented lines follow."""
    end = at
    while end < len(lines):
        line = lines[end]
        if line.isspace():
            following = _after_blank(lines, end)
            if following == len(lines) or not (lines[following].startswith(_INDENTED) or _ITEM.match(lines[following])):
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


def _title(lines: list[str]) -> str:
    """Return the words of a heading without the signs that make it one."""
    written = lines[:-1] if len(lines) > 1 else [lines[0].strip().strip("#")]
    return " ".join(" ".join(written).split())
