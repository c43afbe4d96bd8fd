"""Classify the content words of a question as names, rare words or common words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from clew.graph.entities.lexicon import COMMON as COMMON_WORDS
from clew.graph.entities.lexicon import DATES, DEMONYMS, ORGS, PLACES, TITLES, TOOLS, is_common
from clew.words import STOP_WORDS, folded, query_terms, words

MAX_TERMS = 32  # of a question; a longer one is a text, whose beginning is representative
MIN_WORDS = 4  # fewest words needed to guess the language
LAST_LATIN = "\u024f"
# "INC-4999", "plover-08", "RFC 2119"; a word and a number with a space between them are one only in capitals.
_CODE = re.compile(r"\b(?:([^\W\d_]{2,})[-_]|([A-Z]{2,}) )(\d{2,})\b")
_COUNT = re.compile(r"\d{1,2}|\d+[a-z]|(?:19|20)\d\d")  # also "8k" and a year
_YEAR = re.compile(r"(?:19|20)\d\d")
_FAMOUS = DEMONYMS | PLACES | ORGS | TOOLS  # a text may answer without them: "abroad" for "Portugal"


class Salience(StrEnum):
    """The class of a content word; a number or code counts as a name."""

    NAME = "name"
    RARE = "rare"
    COMMON = "common"


NAME, RARE, COMMON = Salience


def content_terms(text: str) -> dict[str, Salience]:
    """Return the index terms of content words with their class; stop words, dates, years and counts are skipped.

    >>> content_terms("Which iguana did Svetlana describe in May 2023?") == {"iguana": RARE, "svetlana": NAME, "describ": COMMON}
    True
    >>> content_terms("Who fixed INC-4999 in 10 days?") == {"fix": COMMON, "inc": RARE, "4999": NAME, "day": COMMON}
    True
    """
    found: dict[str, Salience] = {}
    codes, before = joined_codes(text), ""
    for word in words(text):
        # A lone combining mark is a word without an index term.
        if (salience := _salience(word, before, codes)) is not None and (terms := query_terms(word)):
            found.setdefault(terms[0], salience)
        if len(found) == MAX_TERMS:
            break
        before = word
    return found


def joined_codes(text: str) -> dict[str, str]:
    """Map the number of each code in a text to the code written as one word.

    >>> joined_codes("INC-4999, RFC 2119, mid-2023 and 12 others")
    {'4999': 'inc4999', '2119': 'rfc2119'}
    """
    if not any(map(str.isdigit, text)):
        return {}
    found = ((hyphenated or spaced, number) for hyphenated, spaced, number in _CODE.findall(text))
    return {number: folded(word + number) for word, number in found if not _YEAR.fullmatch(number)}


def is_english(text: str) -> bool:
    """Return whether a question may be English: Latin letters with a stop word or enough common words, or too short to decide.

    >>> is_english("plum cake oven temperature"), is_english("Wann läuft der Vertrag ab?"), is_english("谁发明了印刷术")
    (True, False, False)
    """
    letters = [letter for letter in text if letter.isalpha()]
    if 2 * sum(letter > LAST_LATIN for letter in letters) > len(letters):
        return False
    plain = [folded(word) for word in words(text) if word.isalpha()]
    if len(plain) < MIN_WORDS or any(word in STOP_WORDS for word in plain):
        return True
    # Short words may be common in several languages: German has "der" and "ab".
    return 3 * sum(len(word) > 3 and word in COMMON_WORDS for word in plain) >= len(plain)


def _salience(word: str, before: str, codes: Mapping[str, str]) -> Salience | None:
    """Return the class of a word given the word before it; None if it is not a content word."""
    plain = folded(word)
    if plain in STOP_WORDS or plain in DATES or (len(plain) == 1 and plain.isascii()):
        return None
    if any(map(str.isdigit, plain)):
        return None if plain not in codes and _COUNT.fullmatch(plain) else NAME
    # A character bigram from a script without spaces is not a word, so it cannot be rare.
    if not plain.isascii() or is_common(plain):
        return COMMON
    titled = before[:1].isupper() and folded(before) in TITLES  # a text about "President X" may use the title alone
    named = before and plain not in _FAMOUS and word[:1].isupper() and not word.isupper() and not titled
    return NAME if named else RARE
