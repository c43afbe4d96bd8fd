"""The page that people's output is drawn on.

Colours on a terminal only, no line broken in a pipe, no markup ever.
"""

from __future__ import annotations

import os
import re
import sys
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from clew.surface.cli.text import clean
from clew.types import BEGINNING

DIM, KEY, SCORE, GOOD, WARN, BAD = "dim", "cyan", "bold cyan", "green", "yellow", "red"
# columns in a pipe: who reads it wants a memory on a line, and a terminal to break it
UNBROKEN = 100_000
HEADING_WIDTH = 80
_STYLE = re.compile(r"(\x1b\[[0-9;]*+m)")


def console() -> Console:
    """Return a console on stdout.

    Text is never read as markup, so a memory cannot style or link anything.
    """
    plain = bool(os.environ.get("NO_COLOR"))  # rich would still embolden and dim
    return Console(
        markup=False,
        highlight=False,
        emoji=False,
        width=None if sys.stdout.isatty() else UNBROKEN,
        color_system=None if plain else "auto",
    )


def show(*lines: Any) -> None:
    """Draw on stdout."""
    page = console()
    with page.capture() as drawn:
        for line in lines:
            # a word that is wider than the screen goes on below, whole
            page.print(line, crop=False)
    # Cells are padded to their width: invisible on a screen, a nuisance in a file.
    sys.stdout.write("".join(f"{_trimmed(line)}\n" for line in drawn.get().split("\n")[:-1]))


def _trimmed(line: str) -> str:
    """Return a line without the spaces at its end; the styles between and behind them stay."""
    parts = _STYLE.split(line)  # texts, and between them styles
    for at in range(len(parts) - 1, -1, -2):
        parts[at] = parts[at].rstrip(" ")
        if parts[at]:
            break
    return "".join(parts)


def safe(text: object, style: str = "", *, whole: bool = False) -> Text:
    """Return text that others wrote, ready to be drawn.

    `whole` never breaks inside a word, such as a path.
    """
    return Text(clean(str(text)), style=style, overflow="ignore" if whole else None)


class Heading(Rule):
    """A line with a title in it, of the same length on every page."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it no wider than the page or 80 columns."""
        yield from super().__rich_console__(
            console, options.update(width=min(HEADING_WIDTH, options.max_width))
        )


def whole_words(table: Table) -> Table:
    """Return the table with every column as wide as its widest word.

    A path can be copied however narrow the screen.
    """
    for column in table.columns:
        words = [word for cell in (column.header, *column.cells) for word in str(cell).split()]
        column.min_width = max(map(cell_len, words), default=0)
    return table


def facts(rows: list[tuple[str, object]]) -> Table:
    """Return names and values in two columns; rows without a value are left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=KEY, no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        if value not in (None, "", (), [], {}):
            table.add_row(name, value if isinstance(value, Text) else safe(value))
    return whole_words(table)


def ago(moment: datetime, now: datetime) -> str:
    """Say how long ago a moment was.

    >>> from datetime import timedelta
    >>> now = datetime(2026, 3, 1)
    >>> [ago(now - timedelta(**age), now) for age in ({"minutes": 5}, {"hours": 3}, {"days": 1}, {"days": 45}, {"days": 800})]
    ['5 minutes ago', '3 hours ago', '1 day ago', '6 weeks ago', '2 years ago']
    >>> ago(now + timedelta(days=3), now), ago(now, now)
    ('in 3 days', 'just now')
    >>> ago(BEGINNING, now)
    'since an unknown time'
    """
    if moment == BEGINNING:
        return "since an unknown time"
    seconds = (now - moment).total_seconds()
    for name, length in (
        ("year", 365 * 86400),
        ("month", 61 * 86400),
        ("week", 14 * 86400),
        ("day", 86400),
        ("hour", 3600),
        ("minute", 60),
    ):
        if abs(seconds) >= length:
            count = int(abs(seconds) // _UNIT.get(name, length))
            amount = f"{count} {name}{'' if count == 1 else 's'}"
            return f"{amount} ago" if seconds > 0 else f"in {amount}"
    return "just now"


# Weeks are counted from two weeks on and months from two months on: "3 weeks" says more than "0
# months".
_UNIT = {"month": 30.44 * 86400, "week": 7 * 86400}
