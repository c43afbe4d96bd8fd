"""Detect who says what in a plain transcript.

Recognised are `Alice: …`, `User:` and `**Alice**: …`, each also after a time such as `[2024-03-01
10:00]` or `2024-03-01 10:00 -`. Everything up to the next speaker is the message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from clew.times import parse_time

ROLES = frozenset(
    {"user", "assistant", "system", "human", "ai", "bot", "tool", "developer", "model"}
)
NOT_SPEAKERS = frozenset(
    """
    note notes ps warning todo tip example update edit summary subject re http https
    """.split()
)
"""What stands before a colon in a message without being a speaker."""

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:Z| ?[AaPp][Mm])?"
_TIME = (
    rf"(?P<open>\[|\()?(?P<time>\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}[T, "
    rf"]{{1,2}}{_CLOCK})(?(open)[\])]) ?[-–—]? ?"
)
_NAME = r"[^\W\d_][^\n\r:*\[\]{}<>|`\"]{0,39}"
_LABEL = re.compile(
    rf"(?m)^[ \t]{{0,3}}(?:{_TIME})?(?:(?P<mark>\*\*|__)(?P<bold>{_NAME}?)(?::(?P=mark)|"
    rf"(?P=mark):)|(?P<plain>{_NAME}?):)(?=\s|\Z)"
)
_MAX_NAME_WORDS = 4


def speaker_labels(text: str) -> Iterator[tuple[int, str, datetime | None]]:
    """Yield the start of each message, its speaker and its time."""
    found = [
        match
        for match in _LABEL.finditer(text.replace("\r", "\n"))
        if len(_name(match).split()) <= _MAX_NAME_WORDS
    ]
    often = Counter(map(_name, found))
    # "Note: …" inside a message looks like a speaker; where two others come again and again, it is
    # none.
    settled = sum(times > 1 for times in often.values()) > 1
    for match in found:
        name = _name(match)
        if (
            match["time"]
            or match["bold"]
            or name.lower() in ROLES
            or often[name] > 1
            or not (settled or name.lower() in NOT_SPEAKERS)
        ):
            yield match.start(), name, _parse_time(match["time"])


def _name(match: re.Match[str]) -> str:
    return str(match["bold"] or match["plain"] or "").strip()


def _parse_time(written: str | None) -> datetime | None:
    """Return a time that can be read in one way only; 03/04/24 is left alone."""
    with suppress(ValueError):
        return parse_time(" ".join(written.replace(",", " ").split()), "time") if written else None
    return None
