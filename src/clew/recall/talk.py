"""What does a turn of a conversation tell by its form? Who says it, how much of it only asks, and whether it tells of a time."""

from __future__ import annotations

import re

from clew.words import folded, words

LONGEST_NAME = 40  # characters before the colon: longer is a clause, not a speaker
# A sign within a word ends nothing: an address asks nothing by its "?". Possessive, so that a long row of signs costs one look at each.
_END = re.compile(r"(?<![.!?…؟])[.!?…؟]++[\"'”’»)\]]*+(?=\s|$)|[。！？]++|\n")
_ASKED = frozenset("?？؟")
_SPEAKER = re.compile(rf"^[ \t]*([^\W\d_][^\n:]{{0,{LONGEST_NAME - 1}}}):(?=\s)", re.MULTILINE)

_BEGINS = re.compile(rf"\s*([^\W\d_][\w .'’-]{{0,{LONGEST_NAME - 1}}}):[ \t]+\S")
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_SPAN = rf"(?:week|weekend|night|month|year|summer|winter|spring|fall|autumn|morning|evening|{_DAY})s?"
_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|recently|lately|just|finally|(?:last|past|this|next) (?:few |couple of )?{_SPAN})\b",
    re.IGNORECASE,
)


def tells_of_a_time(text: str) -> bool:
    """Tell whether an English text says when, seen from when it was said: it most often has news then.

    >>> tells_of_a_time("I joined a gym last week!"), tells_of_a_time("We just moved"), tells_of_a_time("Wow, that's great!")
    (True, True, False)
    """
    return _TIME.search(text) is not None


def speaker(text: str) -> str:
    r"""Return the folded name that a text begins with as of one who says it; empty where it begins otherwise, as code and prose do.

    >>> speaker("Ann Lee: Hello!"), speaker("else:\n    pass"), speaker("def f(x: int)"), speaker("It was late.")
    ('ann lee', '', '', '')
    """
    found = _BEGINS.match(text)
    return " ".join(map(folded, words(found[1]))) if found else ""


def asking(text: str) -> float:
    """Return the share of a text's words that stand in questions, from 0 to 1; a speaker's name is no part of either.

    >>> asking("Ann: Nice! Where was it?"), asking("By the lake."), asking("Ann: Why?"), asking("")
    (0.75, 0.0, 1.0, 0.0)
    """
    if not any(map(text.__contains__, _ASKED)):
        return 0.0
    said = _SPEAKER.sub("", text)
    asked, last = 0, 0
    for end in _END.finditer(said):
        if _ASKED & set(end.group()):
            asked += len(words(said[last : end.start()]))
        last = end.end()
    return asked / len(words(said)) if asked else 0.0


def speakers(text: str) -> frozenset[str]:
    r"""Return the folded names before a colon at the beginning of lines: who is quoted as saying the text.

    >>> sorted(speakers("Ann Lee: Hello.\nBob: Hi!")), speakers("It was late, at 10:30.")
    (['ann lee', 'bob'], frozenset())
    """
    return frozenset(" ".join(map(folded, words(found))) for found in _SPEAKER.findall(text)) - {""}
