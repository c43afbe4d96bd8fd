"""Plain transcripts: lines that begin with a time and a name, or with a name alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import NamedTuple

from clew.documents.readers.conversation import Conversation, Turn, moment

# Times at the beginning of a transcript's lines, in the forms that chat programs write.

_DATE = r"(?P<a>\d{1,4})(?P<sign>[./-])(?P<b>\d{1,2})(?P=sign)(?P<c>\d{1,4})"
_STAMPS_CLOCK = r"(?P<h>\d{1,2})[:.](?P<m>\d{2})(?:[:.](?P<s>\d{2})(?:[.,]\d{1,6})?)?(?:[ \u00a0\u202f]?(?P<half>[AaPp])\.?[Mm]\.?)?"
_WHEN = rf"(?:{_DATE}(?:,[ \u00a0]?|[ \u00a0T]))?{_STAMPS_CLOCK}(?P<zone>Z|[+-]\d\d:?\d\d)?"
# In brackets or before a dash the rest up to the colon is a name, whatever it looks like: "+44 7700
# 900123", "🐙 Ada".
_ANY_NAME = re.compile(r"[\u200e\u202a]?([^:\n]{1,60}):(?:[ \t]+|$)")
# After a bare time only what looks like a name is one: logs begin with a bare time too.
_PLAIN_NAME = re.compile(r"([^\W\d_][\w.'’\-]{0,29}(?: [\w.'’\-]{1,30}){0,3}):(?:[ \t]+|$)")
_FORMS = (
    (re.compile(rf"[\u200e\u202a]?\[{_WHEN}\][ \t]*"), _ANY_NAME),
    (re.compile(rf"\({_WHEN}\)[ \t]*"), _ANY_NAME),
    (re.compile(rf"[\u200e\u202a]?{_WHEN}[ \u00a0][-–][ ]"), _ANY_NAME),
    (re.compile(rf"{_WHEN}[ \t]+"), _PLAIN_NAME),
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as it was written, and the form of a name that follows such a time."""

    numbers: tuple[int, int, int] | None  # of the date, as they stand
    # what the writing itself settles: dots mean day first, a year in front its own order
    day_first: bool | None
    clock: tuple[int, int, int]
    halves: bool  # written with a.m. and p.m., as where the month comes first
    zone: timezone
    name: re.Pattern[str]


def stamped(line: str) -> tuple[Stamp, int] | None:
    """Return the time a line begins with and where it ends, or nothing.

    >>> stamp, end = stamped("[2024-03-01 10:00] Ada: Hello")
    >>> stamp.numbers, stamp.clock, end
    ((2024, 3, 1), (10, 0, 0), 19)
    """
    if not line or line[0] not in "[(\u200e\u202a0123456789":
        return None
    for form, name in _FORMS:
        if found := form.match(line):
            return _stamp(found, name), found.end()
    return None


def moments(stamps: Sequence[Stamp | None]) -> tuple[list[datetime | None], tuple[str, ...]]:
    """Return each stamp in UTC, and how dates such as 01/03/2024 were read if nothing in the file settles it.

    Day first or month first is decided for the whole file: by numbers above twelve, else by the
    order in which time never runs backwards, else month first where a.m. and p.m. are written and
    day first elsewhere.
    """
    orders = {
        day_first: [_stamps_moment(stamp, day_first=day_first) for stamp in stamps]
        for day_first in (True, False)
    }
    open_ones = [stamp for stamp in stamps if stamp and stamp.numbers and stamp.day_first is None]
    if not open_ones:
        return orders[True], ()
    halves = any(stamp.halves for stamp in open_ones)
    cost = {
        day_first: (_impossible(open_ones, day_first), _backwards(times), day_first is halves)
        for day_first, times in orders.items()
    }
    best = min(cost, key=lambda day_first: cost[day_first])
    settled = cost[True][:2] != cost[False][:2]
    return orders[best], () if settled else (
        f"dates read as {'day/month' if best else 'month/day'}",
    )


def _stamp(found: re.Match[str], name: re.Pattern[str]) -> Stamp:
    hour, half = int(found["h"]), (found["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    numbers = (int(found["a"]), int(found["b"]), int(found["c"])) if found["a"] else None
    year_first = len(found["a"] or "") == 4
    day_first = True if year_first or found["sign"] == "." else None
    return Stamp(
        numbers,
        day_first,
        (hour, int(found["m"]), int(found["s"] or 0)),
        bool(half),
        _zone(found["zone"]),
        name,
    )


def _zone(written: str | None) -> timezone:
    if not written or written == "Z":
        return UTC
    hours, minutes = int(written[1:3]), int(written[-2:])
    offset = timedelta(hours=min(hours, 23), minutes=min(minutes, 59))
    return timezone(-offset if written[0] == "-" else offset)


def _stamps_moment(stamp: Stamp | None, *, day_first: bool) -> datetime | None:
    if stamp is None or stamp.numbers is None:
        return None
    year, month, day = _ordered(stamp, day_first=day_first)
    try:
        return datetime(year, month, day, *stamp.clock, tzinfo=stamp.zone).astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of February, or 25 o'clock
        return None


def _ordered(stamp: Stamp, *, day_first: bool) -> tuple[int, int, int]:
    first, second, third = stamp.numbers or (0, 0, 0)
    if first > 999:
        return first, second, third
    year = third if third > 99 else 2000 + third
    return (year, second, first) if day_first or stamp.day_first else (year, first, second)


def _impossible(stamps: Sequence[Stamp], day_first: bool) -> int:
    return sum(1 for stamp in stamps if _stamps_moment(stamp, day_first=day_first) is None)


def _backwards(times: Sequence[datetime | None]) -> int:
    known = [time for time in times if time]
    return sum(1 for before, after in pairwise(known) if after < before)


# Lines such as `Time: 20260924_20:00` or `Date: 8 May 2023` that stand above a transcript.

LONGEST_CHARACTERS = 60  # of a written time
MOST_LINES = 10  # a longer head is a text
_LINE = re.compile(r"[ \t]*+(\w[\w-]{0,20})[ \t]*+:[ \t]*+(.*)")
_TIMES = ("date", "time")
_TITLES = ("title", "subject", "topic")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)[_ -](\d\d)[:.]?(\d\d)")
_CLOCK = re.compile(r"\d:\d\d|\d ?[ap]m\b|\d{8}[_ -]\d{4}", re.IGNORECASE)
_DATES = ("%d %B %Y", "%B %d %Y", "%d %b %Y", "%b %d %Y")
_WRITTEN = tuple(
    form
    for date in _DATES
    for form in (date, f"{date} %H:%M", f"{date} %I:%M %p", f"%I:%M %p on {date}")
)


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
            said[name] = found[2].rstrip(" \t")
        count += 1
    written = " ".join(said[name] for name in _TIMES if name in said)
    time, notes = _moment(written)
    if time is None:
        return Header()
    title = next((said[name] for name in _TITLES if name in said), "")
    return Header(count, title, time, _CLOCK.search(written) is not None, notes)


def written_moment(written: str) -> datetime | None:
    """Return a time in one of the forms that people write above a text; None if it is none."""
    return _moment(written)[0]


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


NAMED_SHARE = 0.7  # of the paragraphs, or else of the lines, must begin with a name
# of the lines must begin with a time and a name: people write messages of many lines
STAMPED_SHARE = 0.3
MIN_TURNS = 3  # two lines with a colon are a letter's head

# Up to four words, the first with a letter; digits, dots and hyphens as in "Dr. Ada King-Noel" and
# "Speaker 2".
_NAMED = re.compile(r"([^\W\d_][\w.'’\-]{0,29}(?: [\w(][\w.'’\-)]{0,29}){0,3}):(?:[ \t]+|$)")
_BOLD = re.compile(r"\*\*([^*:\n]{1,60})(?::\*\*|\*\*:)[ \t]*")
# Heads of letters, logs and records: where these stand before a colon, nobody speaks.
_FIELDS = frozenset(
    """
    abstract address author bcc category cc city company content-type copyright country critical date debug default description email error
    example fatal fax file filename from host id info input keywords license location message name note notes output path phone price
    ps re reply-to see severe source status subject summary tags time title to todo trace type url usage value version warn warning
    """.split()
)


@dataclass(frozen=True, slots=True)
class _Opening:
    """The beginning of a message: who, when, and where on the line the words start."""

    speaker: str
    stamp: Stamp | None
    words_from: int


def conversation(text: str, *, asked: bool = False) -> Conversation | None:
    r"""Return a transcript as a conversation, or nothing if the text is something else.

    A header that tells when it was held, or that a conversation was `asked` for, settles that names
    before colons speak.

    >>> [turn.speaker for turn in conversation("Ada: Hello.\nBob: Good day.\nAda: Is it?").turns]
    ['Ada', 'Bob', 'Ada']
    >>> conversation("Name: Ada\nCity: London\nPhone: 12 34") is None
    True
    """
    lines = text.split("\n")
    head = header(lines)
    lines = lines[head.lines :]
    found = _timed(lines) or _named(lines) or (_few(lines) if asked or head.exact else None)
    if found is None or not head.lines:
        return found
    return replace(found, title=head.title, time=head.time, notes=(*head.notes, *found.notes))


def _few(lines: Sequence[str]) -> Conversation | None:
    """Return what begins with a name as a conversation, however short it is."""
    openings = [_by_name(line) for line in lines]
    first = next(
        (opening for line, opening in zip(lines, openings, strict=True) if line.strip()), None
    )
    return _conversation(lines, openings) if first else None


def _timed(lines: Sequence[str]) -> Conversation | None:
    openings = [_after_stamp(line) for line in lines]
    written = sum(1 for line in lines if line.strip())
    spoken = sum(1 for opening in openings if opening and opening.speaker)
    if spoken < 2 or spoken < STAMPED_SHARE * written:
        return None
    dated = any(opening.stamp and opening.stamp.numbers for opening in openings if opening)
    # "10:00 Lunch: soup"
    if not dated and not _talk(
        [opening.speaker for opening in openings if opening and opening.speaker]
    ):
        return None
    return _conversation(lines, openings)


def _after_stamp(line: str) -> _Opening | None:
    """Return the message that begins here; one without a speaker is the program's own news."""
    found = stamped(line)
    if found is None:
        return None
    stamp, rest_from = found
    named = stamp.name.match(line, rest_from)
    if named is None:
        return _Opening("", stamp, rest_from)
    speaker = named.group(1).strip("\u200e\u202a\u202c ~")
    words = speaker.casefold().split()
    if any(word.strip("[]") in _FIELDS for word in words):  # "2024-03-01 10:00 ERROR: …" is a log
        return None
    return _Opening(speaker, stamp, named.end())


def _named(lines: Sequence[str]) -> Conversation | None:
    openings = [_by_name(line) for line in lines]
    starts = [
        index
        for index, line in enumerate(lines)
        if line.strip() and (index == 0 or not lines[index - 1].strip())
    ]
    known = {opening.speaker for index in starts if (opening := openings[index])}
    by_paragraph = len(starts) >= MIN_TURNS and sum(
        1 for index in starts if openings[index]
    ) >= NAMED_SHARE * len(starts)
    written = sum(1 for line in lines if line.strip())
    by_line = sum(1 for opening in openings if opening) >= NAMED_SHARE * max(1, written)
    if not by_paragraph and not by_line:
        return None
    if not by_line:  # inside a paragraph only somebody who also begins one takes the word
        openings = [
            opening if opening and opening.speaker in known else None for opening in openings
        ]
    return (
        _conversation(lines, openings)
        if _talk([opening.speaker for opening in openings if opening])
        else None
    )


def _by_name(line: str) -> _Opening | None:
    found = _BOLD.match(line) if line.startswith("**") else _NAMED.match(line)
    if found is None or found.group(1).casefold() in _FIELDS:
        return None
    return _Opening(found.group(1), None, found.end())


def _talk(speakers: Sequence[str]) -> bool:
    """Tell people who take turns from a list of things with colons, where hardly a name comes twice."""
    different = len(set(speakers))
    return len(speakers) >= MIN_TURNS and 2 <= different <= max(2, len(speakers) // 2)


def _conversation(lines: Sequence[str], openings: Sequence[_Opening | None]) -> Conversation:
    first = next(index for index, opening in enumerate(openings) if opening)
    groups = list(_grouped(lines, openings, first))
    times, notes = moments([opening.stamp for opening, _ in groups])
    turns = [
        Turn(opening.speaker, words, time)
        for (opening, words), time in zip(groups, times, strict=True)
        if opening.speaker
    ]
    left_out = {
        "lines before the first message": sum(1 for line in lines[:first] if line.strip()),
        "lines without a speaker": len(groups) - len(turns),
    }
    return Conversation(
        turns=turns, metadata={"original_format": "transcript"}, left_out=left_out, notes=notes
    )


def _grouped(
    lines: Sequence[str], openings: Sequence[_Opening | None], first: int
) -> Iterator[tuple[_Opening, str]]:
    """Yield each message with its words; lines that begin none belong to the one before."""
    current, words = openings[first], [""]
    for line, opening in zip(lines[first:], openings[first:], strict=True):
        if opening is None:
            words.append(line)
            continue
        if current is not opening and current is not None:
            yield current, "\n".join(words)
        current, words = opening, [line[opening.words_from :]]
    if current is not None:
        yield current, "\n".join(words)
