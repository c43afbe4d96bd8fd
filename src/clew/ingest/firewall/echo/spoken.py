"""A text as words in order, sentence by sentence: what is compared with what was returned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from clew.words import folded, terms, words

# Where one statement ends and the next begins.
SENTENCES = r"(?<=[.!?…])\s+|(?<=[。\uff01\uff1f])\s*|\n+"
# Within a sentence: where somebody who puts several memories together sets them apart.
CLAUSES = r"[;|•·\"“”„«»]|,\s+(?:and|und|et|y)\s+|\s[-–—]+\s|:\s"


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences("Port 5432.5 is odd. Is it? Yes")
    ['Port 5432.5 is odd.', 'Is it?', 'Yes']
    """
    return [each for each in _compiled(SENTENCES).split(text) if each and not each.isspace()]


def clauses(sentence: str) -> list[str]:
    """Return the parts of a sentence that may come from different memories.

    >>> clauses("From memory: Ann likes tea; Bob likes milk")
    ['From memory', 'Ann likes tea', ' Bob likes milk']
    """
    return [each for each in _compiled(CLAUSES).split(sentence) if each and not each.isspace()]


def spoken(text: str) -> list[str]:
    """Return the words of a text as they are compared; of a script without spaces its pairs of characters.

    >>> spoken("Ann's café, 数据库")
    ['ann', 'cafe', '数据', '据库']
    """
    return list(_spoken(text))


def _spoken(text: str) -> Iterator[str]:
    for word in words(text):
        if word.isascii():
            yield folded(word)
        else:
            yield from terms(word) if len(terms(word)) > 1 else (folded(word),)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
