"""Escape characters that hide or reorder text, so that people and models see what is there.

Imports nothing else of Clew.
"""

from __future__ import annotations

import re
from typing import Any

# Controls but for tab and newline, line and paragraph separators, signs that turn the writing
# direction, blank fillers, what has no
# width, the tag alphabet and supplementary selectors in which whole texts can be hidden, and halves
# of characters.
_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000110bd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Persian, Indic scripts and emoji need a single joiner or selector after a letter or sign of their
# own. After a Latin letter, a
# digit or a space, and in runs, they only carry hidden text; the selector \ufe0f may follow the
# digits and signs of emoji.
_RUNS = "[\u200c\u200d\ufe00-\ufe0f]{3,}|[\u200c\u200d]{2,}|[\ufe00-\ufe0f]{2,}"
_JOINERS = "(?<![\u0250-\U0010ffff])[\u200c\u200d]"
_SELECTORS = "(?:(?<![\u00a9\u00ae\u0250-\U0010ffff])[\ufe00-\ufe0e]|(?<=[\\sA-Za-z])\ufe0f)"
_HIDDEN = re.compile(f"[{_ALWAYS}]|{_RUNS}|{_JOINERS}|{_SELECTORS}")
_HIDDEN_IN_LINE = re.compile(f"[\t\n{_ALWAYS}]|{_RUNS}|{_JOINERS}|{_SELECTORS}")


def escape_hidden(text: str) -> str:
    r"""Return the text with every character that hides or reorders it written out.

    Tabs and newlines stay.

    >>> print(escape_hidden("two\nlines, \u202eturned, pay\u200bment, \U000e0041 tag"))
    two
    lines, \u202eturned, pay\u200bment, \U000e0041 tag
    """
    return text if text.isprintable() and text.isascii() else _HIDDEN.sub(_escaped, text)


def escape_line(text: str) -> str:
    r"""Return the text as `escape_hidden` does, with tabs and newlines written out too.

    On one line.

    >>> escape_line("two\nlines")
    'two\\nlines'
    """
    return text if text.isprintable() and text.isascii() else _HIDDEN_IN_LINE.sub(_escaped, text)


def escape_values(value: Any) -> Any:
    r"""Return a value of any shape with all texts in it escaped, keys too.

    >>> escape_values({"tags": ["a\u2060b"], "rank": 1})
    {'tags': ['a\\u2060b'], 'rank': 1}
    """
    if isinstance(value, str):
        return escape_hidden(value)
    if isinstance(value, dict):
        return {escape_values(key): escape_values(each) for key, each in value.items()}
    return [escape_values(each) for each in value] if isinstance(value, list | tuple) else value


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
