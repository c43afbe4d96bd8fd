"""Lines such as `Time: 20260924_20:00` or `Date: 8 May 2023` that stand above a transcript."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from clew.ingest.readers.moments import moment
from clew.ingest.readers.stamps import moments, stamped

LONGEST_CHARACTERS = 60  # of a written time
MOST_LINES = 10  # a longer head is a text
_LINE = re.compile(r"[ \t]*(\w[\w-]{0,20})[ \t]*:[ \t]*(.*?)[ \t]*$")
_TIMES = ("date", "time")
_TITLES = ("title", "subject", "topic")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)[_ -](\d\d)[:.]?(\d\d)")
_CLOCK = re.compile(r"\d:\d\d|\d ?[ap]m\b|\d{8}[_ -]\d{4}", re.IGNORECASE)
_DATES = ("%d %B %Y", "%B %d %Y", "%d %b %Y", "%b %d %Y")
_WRITTEN = tuple(form for date in _DATES for form in (date, f"{date} %H:%M", f"{date} %I:%M %p", f"%I:%M %p on {date}"))


class Header(NamedTuple):
    """What the first lines say of a transcript, and how many they are."""

    lines: int = 0
    title: str = ""
    time: datetime | None = None
    exact: bool = False
    """Whether the time is more than a date."""
    notes: tuple[str, ...] = ()


def header(lines: Sequence[str]) -> Header:
    """Return the header of a transcript; one without a time that can be read is none.

    >>> found = header(["Time: 20260924_20:00", "Ann: Hello"])
    >>> found.lines, found.time.isoformat(), found.exact
    (1, '2026-09-24T20:00:00+00:00', True)
    >>> header(["Ann: Hello"]).lines, header(["Time: flies", "Ann: Hello"]).lines
    (0, 0)
    """
    said: dict[str, str] = {}
    count = 0
    for line in lines[:MOST_LINES]:
        found = _LINE.match(line)
        name = found[1].casefold() if found else ""
        if line.strip() and (found is None or name not in (*_TIMES, *_TITLES) or name in said):
            break
        if found:
            said[name] = found[2]
        count += 1
    written = " ".join(said[name] for name in _TIMES if name in said)
    time, notes = _moment(written)
    if time is None:
        return Header()
    title = next((said[name] for name in _TITLES if name in said), "")
    return Header(count, title, time, _CLOCK.search(written) is not None, notes)


def _moment(written: str) -> tuple[datetime | None, tuple[str, ...]]:
    """Return a time in one of the forms that people and programs write above a chat, in UTC where no zone is named."""
    if not written or len(written) > LONGEST_CHARACTERS:
        return None, ()
    if found := _COMPACT.fullmatch(written):
        year, month, day, hour, minute = map(int, found.groups())
        with suppress(ValueError):  # the 31st of February
            return datetime(year, month, day, hour, minute, tzinfo=UTC), ()
    if known := moment(written):
        return known, ()
    if stamp := stamped(f"{written} "):
        (known,), notes = moments([stamp[0]])
        if known is not None:
            return known, notes
    plain = " ".join(written.replace(",", " ").split())
    for form in _WRITTEN:
        with suppress(ValueError):
            return datetime.strptime(plain, form).replace(tzinfo=UTC), ()
    return None, ()
