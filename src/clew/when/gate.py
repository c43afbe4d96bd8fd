"""Can there be a time in this text at all? Most questions name none, and should not pay for it."""

from __future__ import annotations

import re

from clew.when.vocabulary import CENTURIES, DECADES, MONTHS, PARTS, SEASONS, SHORT_MONTHS, UNITS, WEEKDAYS

_PIECE = re.compile(r"[a-z]+|[0-9]")
_TELLING = frozenset(
    (
        *MONTHS,
        *SHORT_MONTHS,
        *WEEKDAYS,
        *SEASONS,
        *DECADES,
        *CENTURIES,
        *PARTS,
        *UNITS,
        *(f"{unit}s" for unit in UNITS),
        *"0123456789",
        *"today tonight yesterday tomorrow weekend recent recently lately now nowadays current currently present presently".split(),
        *"latest newest earliest oldest last first initially originally moment date when ago long time".split(),
        *"before after since until till during prior".split(),
        *"christmas xmas easter thanksgiving halloween hallowe valentine valentines patrick patricks boxing".split(),
        *"independence labor labour black century season".split(),
    )
)
"""Every way to name a time holds one of these; that much is proven by test."""


def may_name_a_time(text: str) -> bool:
    """Return whether a text holds any word or figure that a time is named with.

    >>> may_name_a_time("Which port does the server use?"), may_name_a_time("Which port did it use last week?")
    (False, True)
    """
    return not _TELLING.isdisjoint(_PIECE.findall(text.lower()))
