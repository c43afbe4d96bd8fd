"""Read the time that a query names, relative to a clock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from clew.errors import InputError
from clew.text.dates.values import Clock, When
from clew.text.dates.vocabulary import (
    CENTURIES,
    DECADES,
    MONTHS,
    PARTS_OF_DAY,
    SEASONS,
    SHORT_MONTHS,
    UNITS,
    WEEKDAYS,
)

_WORD_OR_DIGIT = re.compile(r"[a-z]+|[0-9]")
_TIME_WORDS = frozenset(
    (
        *MONTHS,
        *SHORT_MONTHS,
        *WEEKDAYS,
        *SEASONS,
        *DECADES,
        *CENTURIES,
        *PARTS_OF_DAY,
        *UNITS,
        *(f"{unit}s" for unit in UNITS),
        *"0123456789",
        *"today tonight yesterday tomorrow weekend recent recently lately now nowadays current "
        "currently present presently".split(),
        *"latest newest earliest oldest last first initially originally moment date when ago "
        "long time".split(),
        *"before after since until till during prior".split(),
        *"christmas xmas easter thanksgiving halloween hallowe valentine valentines patrick "
        "patricks boxing".split(),
        *"independence labor labour black century season".split(),
    )
)
"""Every way to name a time holds one of these; that much is proven by test."""


def may_name_a_time(text: str) -> bool:
    """Return whether a text holds any word or figure that a time is named with.

    >>> may_name_a_time("Which port does the server use?"), may_name_a_time("Which port did it use last week?")
    (False, True)
    """
    return not _TIME_WORDS.isdisjoint(_WORD_OR_DIGIT.findall(text.lower()))


LANGUAGES = ("en",)
_WEEK_STARTS = {"monday": 0, "sunday": 6}
_FUTURE = re.compile(
    r"\bwill\b|['’]ll\b|\bshall\b|\b[Gg]oing to\b|\b[Uu]pcoming\b|\b[Ss]cheduled\b|\bdue\b|"
    r"\b[Tt]omorrow\b|\bnext\b"
)


def when(
    text: str,
    *,
    now: datetime,
    languages: Sequence[str] = LANGUAGES,
    day_first: bool | None = None,
    week_starts: str = "monday",
) -> When:
    """Return the time that a question speaks of, resolved against the clock `now`.

    One without a zone is UTC.

    >>> found = when("What did we decide last week?", now=datetime(2026, 3, 11))
    >>> found.spans[0].start.date().isoformat(), found.spans[0].end.date().isoformat(), found.rest
    ('2026-03-02', '2026-03-08', 'What did we decide?')
    >>> when("What is the latest plan, from before we moved?", now=datetime(2026, 3, 11)).unresolved
    ('before we moved',)
    """
    _check_options(languages, week_starts)
    ahead = bool(languages) and _FUTURE.search(text) is not None
    if not languages or not may_name_a_time(text):
        return When(rest=text, ahead=ahead)
    # The rules take longer to load than most questions need them
    from clew.text.dates.reading import read_times  # noqa: PLC0415

    moment = (now if now.tzinfo else now.replace(tzinfo=UTC)).astimezone(UTC)
    return read_times(text, Clock(moment, ahead, day_first, _WEEK_STARTS[week_starts]))


def _check_options(languages: Sequence[str], week_starts: str) -> None:
    for language in languages:
        if language not in LANGUAGES:
            raise InputError(
                "languages",
                language,
                "is not a language whose words for time are known",
                f"Use {', '.join(LANGUAGES)}, or none.",
            )
    if week_starts not in _WEEK_STARTS:
        raise InputError(
            "week_starts", week_starts, "is not a day that weeks start on", "Use monday or sunday."
        )
