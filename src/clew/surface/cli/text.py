"""Text that others wrote, made safe for a terminal. Loads nothing."""

from __future__ import annotations

import re

# Control characters but for tab and newline, the signs that turn the writing direction, and halves of characters:
# a memory must not be able to move the cursor, recolour the screen or show its words in another order.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    r"""Return the text with everything a terminal would obey written out.

    >>> clean("red \x1b[31m, over\rwrite, \u202edrow")
    'red \\x1b[31m, over\\rwrite, \\u202edrow'
    """
    return _UNSAFE.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def one_line(text: str) -> str:
    """Return the text cleaned, on a single line."""
    return clean(" ".join(text.split()))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "memory"), counted(2, "memory"), counted(0, "hit")
    ('1 memory', '2 memories', '0 hits')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def size(byte_count: float) -> str:
    """Return a size for people.

    >>> size(512), size(34_757_443)
    ('512 B', '34.8 MB')
    """
    for unit in ("B", "kB", "MB"):
        if byte_count < 1000:
            return f"{byte_count:.0f} {unit}" if unit == "B" else f"{byte_count:.1f} {unit}"
        byte_count /= 1000
    return f"{byte_count:.1f} GB"
