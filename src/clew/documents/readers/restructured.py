"""reStructuredText as Markdown.

Titles become headings, literal blocks become fences, everything else stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from datetime import datetime
from typing import Any

from clew.documents.readers.conversation import line
from clew.documents.readers.document import Document
from clew.documents.readers.markdown import first_heading
from clew.documents.readers.transcript import written_moment

ADORNMENT = frozenset("=-`:.'\"~^_*+#<>")
DEEPEST = 6
DOCINFO_LINES = 40
_FIELD = re.compile(r":([A-Za-z][\w -]{0,40}):[ \t]+(\S.*)")
_CODE = re.compile(
    r"\.\.[ \t]+(?:code-block|code|sourcecode|highlight)::[ \t]*+([\w+#-]{0,30})[ \t]*+$"
)
_OPTION = re.compile(r"[ \t]+:[\w-]{1,40}:")


def read_rst(text: str, notes: tuple[str, ...]) -> Document:
    r"""Return reStructuredText with Markdown headings and fences.

    Date and author come from the field list at its top.

    >>> made = read_rst("Guide\n=====\n\nInstall\n-------\n\nRun::\n\n    pip install clew\n", ())
    >>> made.title, made.text
    ('Guide', '# Guide\n\n## Install\n\nRun:\n\n```\npip install clew\n```\n')
    """
    lines = text.split("\n")
    body = "\n".join(_Converter(lines).run())
    facts = _docinfo(lines)
    metadata: dict[str, Any] = {"original_format": "rst"}
    if author := facts.get("author") or facts.get("authors"):
        metadata["author"] = line(author)
    return Document(
        text=body,
        format="markdown",
        title=first_heading(body),
        time=_date(facts),
        metadata=metadata,
        notes=notes,
    )


def _docinfo(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in lines[:DOCINFO_LINES]:
        if field := _FIELD.match(each):
            found.setdefault(field[1].casefold(), field[2].strip())
    return found


def _date(facts: dict[str, str]) -> datetime | None:
    return next(
        (
            found
            for key in ("date", "created", "updated")
            if (found := written_moment(facts.get(key, "").strip("$ ")))
        ),
        None,
    )


class _Converter:
    """One pass over the lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.levels: dict[str, int] = {}
        """Each style of title with its depth: by the order in which they first come."""

    def run(self) -> Iterator[str]:
        at = 0
        while at < len(self.lines):
            if title := self.title(at):
                yield title[0]
                at = title[1]
            elif code := _CODE.match(self.lines[at]):
                at = yield from self.fenced(self.after_options(at + 1), code[1], at)
            elif self.lines[at].rstrip().endswith("::") and not self.lines[at].lstrip().startswith(
                ".."
            ):
                before = self.lines[at].rstrip()
                yield from [] if before.strip() == "::" else [before[:-1]]
                at = yield from self.fenced(at + 1, "", at)
            else:
                yield self.lines[at]
                at += 1

    def title(self, at: int) -> tuple[str, int] | None:
        """Return a title as a heading and the line behind it."""
        here = self.lines[at]
        if mark := _mark(here):
            text, under = self._line(at + 1), self._line(at + 2)
            if text.strip() and _mark(under) == mark and len(under.rstrip()) >= len(text.strip()):
                return self.heading(mark * 2, text), at + 3
            return None
        under = self._line(at + 1)
        mark = _mark(under)
        above = at == 0 or not self.lines[at - 1].strip()
        if (
            mark
            and here.strip()
            and not here[0].isspace()
            and above
            and len(under.rstrip()) >= min(len(here.rstrip()), 4)
        ):
            return self.heading(mark, here), at + 2
        return None

    def heading(self, style: str, text: str) -> str:
        depth = self.levels.setdefault(style, len(self.levels) + 1)
        return f"{'#' * min(depth, DEEPEST)} {text.strip()}"

    def after_options(self, at: int) -> int:
        while at < len(self.lines) and _OPTION.match(self.lines[at]):
            at += 1
        return at

    def fenced(self, at: int, language: str, begun: int) -> Generator[str, None, int]:
        """Yield the indented block that begins behind `at` as a fence, and return the line behind it."""
        start = at
        while start < len(self.lines) and not self.lines[start].strip():
            start += 1
        margin = _margin(self._line(begun))
        end = start
        while end < len(self.lines) and (
            not self.lines[end].strip() or _margin(self.lines[end]) > margin
        ):
            end += 1
        while end > start and not self.lines[end - 1].strip():
            end -= 1
        if end == start:
            yield from self.lines[at:start]
            return max(start, begun + 1)
        inner = min(_margin(each) for each in self.lines[start:end] if each.strip())
        fence = "````" if any("```" in each for each in self.lines[start:end]) else "```"
        yield from ("", f"{fence}{language}") if begun + 1 <= start else (f"{fence}{language}",)
        yield from (each[inner:] for each in self.lines[start:end])
        yield fence
        return end

    def _line(self, at: int) -> str:
        return self.lines[at] if at < len(self.lines) else ""


def _mark(text: str) -> str:
    """Return the sign that a line of one sign repeats."""
    bare = text.rstrip()
    return (
        bare[0] if len(bare) >= 2 and bare[0] in ADORNMENT and bare == bare[0] * len(bare) else ""
    )


def _margin(text: str) -> int:
    return len(text) - len(text.lstrip())
