"""Where does a sentence end? After its sign and a space, or right after the sign in scripts that write no spaces."""

from __future__ import annotations

import re

# From the last sign of a row on: what began at the first would look at the rest of the row from each of its signs.
SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*+(?=\s)|[。！？｡]++[”’」』）]*+|[؟।](?=\s)")
CLAUSE_END = re.compile(r"[,;:–—،](?=\s)|[，、；：]++")


def sentence_count(text: str) -> int:
    """Return how many sentences a text holds; a rest without an end is one too.

    >>> sentence_count("One. Two?! And three"), sentence_count("一。二。"), sentence_count("v1.2 of it"), sentence_count("")
    (3, 2, 1, 0)
    """
    last, found = 0, 0
    for end in SENTENCE_END.finditer(text):
        found, last = found + 1, end.end()
    return found + bool(text[last:].strip())
