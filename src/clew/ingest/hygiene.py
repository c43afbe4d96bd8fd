"""The first gate (mission V2): white space in order, and only text of a reasonable length that says something at all."""

from __future__ import annotations

import re

from clew.ingest.idle import is_chatter
from clew.settings import MemorySettings
from clew.types import Outcome, OutcomeKind
from clew.words import tidy

# White space may shrink when it is put in order; a text this many times too long is refused unread.
UNREAD_FACTOR = 4
# The control characters that are no white space, and halves of surrogate pairs, which no encoding can write.
_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


def rejected(rule: str, value: float | str, limit: float | str) -> Outcome:
    """Return the outcome of a text that is not kept, by which rule, with its value and the limit."""
    return Outcome(outcome=OutcomeKind.REJECTED, rule=rule, value=value, limit=limit)


def cleaned(text: str, *, limits: MemorySettings) -> str | Outcome:
    """Return the text with white space in order, or why it is rejected."""
    if len(text) > UNREAD_FACTOR * limits.max_characters:
        return rejected("too_long", len(text), limits.max_characters)
    if text.isascii() and text.isprintable():  # one line without control characters, as most are
        tidied = " ".join(text.split())
        return _objection(tidied, limits) or tidied
    if found := _NOT_TEXT.search(text):
        return rejected("not_text", f"U+{ord(found.group()):04X} at {found.start()}", "text without control characters or lone surrogates")
    tidied = tidy(text)
    return _objection(tidied, limits) or tidied


def _objection(text: str, limits: MemorySettings) -> Outcome | None:
    """Return the most telling reason against a tidied text: "ok" is chatter rather than too short."""
    if not text:
        return rejected("empty", 0, limits.min_characters)
    if len(text) > limits.max_characters:
        return rejected("too_long", len(text), limits.max_characters)
    if is_chatter(text):
        return rejected("chatter", _beginning(text), "a word that is not chatter")
    if len(text) < limits.min_characters:
        return rejected("too_short", len(text), limits.min_characters)
    return None


SHOWN_CHARACTERS = 40  # enough to recognise what was rejected


def _beginning(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
