"""A question and a clock: the way in, which turns back at once where no time is named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from clew.errors import InputError
from clew.when.gate import may_name_a_time
from clew.when.values import Clock, When

LANGUAGES = ("en",)
_WEEK_STARTS = {"monday": 0, "sunday": 6}
_AHEAD = re.compile(r"\bwill\b|['’]ll\b|\bshall\b|\b[Gg]oing to\b|\b[Uu]pcoming\b|\b[Ss]cheduled\b|\bdue\b|\b[Tt]omorrow\b|\bnext\b")


def when(
    text: str, *, now: datetime, languages: Sequence[str] = LANGUAGES, day_first: bool | None = None, week_starts: str = "monday"
) -> When:
    """Return the time that a question speaks of, resolved against the clock `now`; one without a zone is UTC.

    >>> found = when("What did we decide last week?", now=datetime(2026, 3, 11))
    >>> found.spans[0].start.date().isoformat(), found.spans[0].end.date().isoformat(), found.rest
    ('2026-03-02', '2026-03-08', 'What did we decide?')
    >>> when("What is the latest plan, from before we moved?", now=datetime(2026, 3, 11)).unresolved
    ('before we moved',)
    """
    _check(languages, week_starts)
    ahead = bool(languages) and _AHEAD.search(text) is not None
    if not languages or not may_name_a_time(text):
        return When(rest=text, ahead=ahead)
    from clew.when.reading import read  # noqa: PLC0415 - the rules take longer to load than most questions need them

    moment = (now if now.tzinfo else now.replace(tzinfo=UTC)).astimezone(UTC)
    return read(text, Clock(moment, ahead, day_first, _WEEK_STARTS[week_starts]))


def _check(languages: Sequence[str], week_starts: str) -> None:
    for language in languages:
        if language not in LANGUAGES:
            raise InputError(
                "languages", language, "is not a language whose words for time are known", f"Use {', '.join(LANGUAGES)}, or none."
            )
    if week_starts not in _WEEK_STARTS:
        raise InputError("week_starts", week_starts, "is not a day that weeks start on", "Use monday or sunday.")
