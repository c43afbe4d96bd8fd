"""Reject texts without anything worth recalling.

Each rule is a function from a text to the value it objects to, or None. In doubt a text is kept: a
needless memory costs a little space, a missing one costs the answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from clew.memories.draft import rejected
from clew.memories.small_talk import (
    PLACEHOLDERS,
    content_words,
    has_plain_content,
    is_chatter,
    is_meta_talk,
    is_placeholder,
    sentences,
)
from clew.settings import SubstanceSettings
from clew.text.words import plain_words
from clew.types import Outcome

_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "poiuytrewq", "lkjhgfdsa", "mnbvcxz")
# no English word has six in a row and no vowel at all
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{6,}")
MAX_PERIOD = 3  # words: "buy it now buy it now buy it now"
MIN_REPEATS = 3
# a text of 12 and more characters with fewer different letters is noise: "hahahahahaha"
MIN_LETTERS = 3
# a long text is judged by its opening when that is rich: 1 ms instead of 7 for 4,000 characters
OPENING_CHARACTERS = 400
MIN_RICH_WORDS = 20  # different telling words; no noise or idle talk seen has half as many
MIN_MASHED = 4  # shorter runs of neighbouring keys are words: "were", "pop"


def reject_unsubstantial(text: str, *, settings: SubstanceSettings) -> Outcome | None:
    """Return the rejection by the first rule that objects, or None for a text worth keeping."""
    if (
        not settings.enabled
        or _is_rich(text[:OPENING_CHARACTERS])
        or _has_clear_content(text, settings.min_telling_words)
    ):
        return None
    for rule, objection in RULES.items():
        if (value := objection(text)) is not None:
            return rejected(rule, value, LIMITS[rule])
    return _reject_few_content_words(text, settings.min_telling_words)


def no_words(text: str) -> str | None:
    """Object to numbers, signs and links without a word beside them.

    >>> no_words("https://example.com/a 42"), no_words("Port 5432 is Postgres")
    ('no letters outside links', None)
    """
    plain = _LINK.sub("", text) if "://" in text or "www." in text.lower() else text
    return None if any(map(str.isalpha, plain)) else "no letters outside links"


def repeated(text: str) -> str | None:
    """Object to the same few words or letters over and over.

    >>> repeated("asdf asdf asdf"), repeated("aaaaaaaaaaaaaaaa"), repeated("Bora Bora is an island")
    ('asdf', 'a', None)
    """
    said = plain_words(text)
    # as nearly all are, by their first or second word
    if not (text.isascii() and any(map(_is_varied, said))):
        characters = set(text.casefold())
        letters = set(filter(str.isalpha, characters))
        if len(letters) < MIN_LETTERS and not any(map(str.isdigit, characters)):
            return "".join(sorted(letters))
    if len(set(said)) > MAX_PERIOD:
        return None
    period = next(
        (length for length in range(1, MAX_PERIOD + 1) if _has_period(said, length)), None
    )
    return " ".join(said[:period]) if period else None


def keyboard_mash(text: str) -> str | None:
    """Object to text of which every word is a run of keys.

    >>> keyboard_mash("asdfghjkl qwerty"), keyboard_mash("The qwerty layout")
    ('asdfghjkl', None)
    """
    said = plain_words(text)
    return said[0] if said and all(map(_is_mashed, said)) else None


def placeholder(text: str) -> str | None:
    """Object to text that stands where a text should be.

    >>> placeholder("This is just a test message"), placeholder("Replace the lorem ipsum on the landing page")
    ('this is just a test', None)
    """
    said = plain_words(text)
    return " ".join(said[:5]) if said[:2] == ("lorem", "ipsum") or is_placeholder(text) else None


def idle_talk(text: str) -> str | None:
    """Object to text of which no sentence tells anything beyond the conversation itself.

    >>> idle_talk("Sure! Let me know if you have any questions."), idle_talk("Sure! The key is in the vault.")
    ('2 sentences', None)
    """
    if has_plain_content(text):
        return None
    said = sentences(text)
    idle = any(map(is_meta_talk, said)) and all(
        is_meta_talk(each) or is_chatter(each) or not content_words(each) for each in said
    )
    return f"{len(said)} sentence{'s' if len(said) > 1 else ''}" if idle else None


RULES: Mapping[str, Callable[[str], str | None]] = {
    "no_words": no_words,
    "repeated": repeated,
    "keyboard_mash": keyboard_mash,
    "placeholder": placeholder,
    "idle_talk": idle_talk,
}
LIMITS: Mapping[str, str] = {
    "no_words": "at least one word",
    "repeated": f"not {MIN_REPEATS} times the same and nothing else",
    "keyboard_mash": "at least one word that is not a run of keys",
    "placeholder": "a text of its own",
    "idle_talk": "at least one sentence that tells something",
}


def _is_rich(opening: str) -> bool:
    return (
        sum(map(str.isalpha, content_words(opening))) >= MIN_RICH_WORDS
        and placeholder(opening) is None
    )


def _has_clear_content(text: str, least: int) -> bool:
    """Tell whether no rule can object, as to most.

    Enough telling words, one of them plainly so, and one that is a word beyond doubt.
    """
    telling = content_words(text) if text.isascii() else ()
    if (
        len(telling) <= max(MAX_PERIOD, least - 1)
        or "://" in text
        or "www." in text.lower()
        or not has_plain_content(text)
    ):
        return False
    return any(map(_is_word, telling)) and plain_words(text)[:2] != ("lorem", "ipsum")


def _is_word(word: str) -> bool:
    return _is_varied(word) and word not in PLACEHOLDERS and not _is_mashed(word)


def _reject_few_content_words(text: str, least: int) -> Outcome | None:
    """Object to text without telling words; a script without spaces has no words to count."""
    if not text.isascii() and any(map(_is_foreign, text)):
        return None
    found = len(content_words(text))
    return rejected("few_telling_words", found, least) if found < least else None


def _is_foreign(character: str) -> bool:
    return (
        character > "\u024f"
        and character.isalpha()
        and not unicodedata.name(character, "").startswith("LATIN")
    )


def _is_varied(word: str) -> bool:
    return word.isalpha() and len({*word}) >= MIN_LETTERS


def _has_period(said: Sequence[str], length: int) -> bool:
    return len(said) >= length * MIN_REPEATS and all(
        word == said[i % length] for i, word in enumerate(said)
    )


def _is_mashed(word: str) -> bool:
    row = len(word) >= MIN_MASHED and any(word in keys for keys in _KEYBOARD)
    return row or _CONSONANTS.fullmatch(word) is not None
