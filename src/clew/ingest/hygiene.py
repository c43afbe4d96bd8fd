"""The first gate (mission V2): white space in order, and only text of a reasonable length that says something at all."""

from __future__ import annotations

from dataclasses import replace

from clew.ingest.idle import is_chatter
from clew.settings import MemorySettings
from clew.types import Outcome, OutcomeKind
from clew.words import apart, tidy

# White space may shrink when it is put in order; a text this many times too long is refused unread.
UNREAD_FACTOR = 4
LONG_TEXTS = "A longer text is a document: import it (clew import, import_path, import_data), which cuts it into passages."
UNSPACED_WORTH = 2  # characters of English: Chinese and Japanese need about half as many signs for the same sentence


def rejected(rule: str, value: float | str, limit: float | str) -> Outcome:
    """Return the outcome of a text that is not kept, by which rule, with its value and the limit."""
    return Outcome(outcome=OutcomeKind.REJECTED, rule=rule, value=value, limit=limit)


def cleaned(text: str, *, limits: MemorySettings) -> str | Outcome:
    """Return the text with white space in order, or why it is rejected."""
    if len(text) > UNREAD_FACTOR * limits.max_characters:
        return _too_long(text, limits)
    if text.isascii() and text.isprintable():  # one line without control characters, as most are
        tidied = " ".join(text.split())
        return _objection(tidied, limits) or tidied
    tidied = tidy(text)
    return _objection(tidied, limits) or tidied


def _too_long(text: str, limits: MemorySettings) -> Outcome:
    return replace(rejected("too_long", len(text), limits.max_characters), notes=(LONG_TEXTS,))


def _objection(text: str, limits: MemorySettings) -> Outcome | None:
    """Return the most telling reason against a tidied text: "ok" is chatter rather than too short."""
    if not text:
        return rejected("empty", 0, limits.min_characters)
    if len(text) > limits.max_characters:
        return _too_long(text, limits)
    if is_chatter(text):
        return rejected("chatter", _beginning(text), "a word that is not chatter")
    if (said := _weight(text)) < limits.min_characters:
        return rejected("too_short", said, limits.min_characters)
    return None


def _weight(text: str) -> int:
    """Return how many characters of English a text is worth: a Chinese sign or Korean syllable is two.

    >>> _weight("a short text"), _weight("会議は月曜の朝十時")
    (12, 18)
    """
    return len(text) + (UNSPACED_WORTH - 1) * sum(map(len, apart(text)[1].split()))


SHOWN_CHARACTERS = 40  # enough to recognise what was rejected


def _beginning(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
