"""Values of 10,000 characters, and how much of them an error may repeat."""

from __future__ import annotations

import re
from urllib.parse import quote

from clew.errors import ECHOED_CHARACTERS

VALUE, NAME, FIELD, DIGIT = "ж", "ф", "ц", "7"
LONG, KEY, UNKNOWN, NUMBER = VALUE * 10_000, NAME * 10_000, FIELD * 10_000, DIGIT * 10_000


def spellings(sign: str) -> set[str]:
    """Return a sign as it is, as JSON escapes it, and as an address does."""
    return {sign, f"\\u{ord(sign):04x}", quote(sign), quote(sign).lower()}


def check_echo(told: str, where: object) -> None:
    """Fail if what is told repeats more than 200 characters of a long value."""
    for sign in (VALUE, NAME, FIELD, DIGIT):
        found = sum(
            len(run[0]) // len(each)
            for each in spellings(sign)
            for run in re.finditer(f"(?:{re.escape(each)}){{3,}}", told)
        )
        assert found <= ECHOED_CHARACTERS, (str(where)[:200], found, told[:700])
