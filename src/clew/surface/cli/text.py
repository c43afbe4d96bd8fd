"""Text that others wrote, made safe for a terminal. Loads nothing."""

from __future__ import annotations

from clew.surface.escaping import escape_hidden

clean = escape_hidden


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
