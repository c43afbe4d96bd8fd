"""Does the question set two or more things side by side? Then each is a question of its own.

"How many days passed between the day I got the keys and the day I moved in?" is about two days, which two texts tell of. The
whole of it lies between both and is near to neither, and most of its words ask how, not what.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from clew.words import folded, query_terms, words

MOST = 4  # things side by side
MOST_WORDS = 64  # of a question: a longer one is a text
WHOLE = 2  # terms of a clause that says by itself what it is about
COMPARED = frozenset(
    "first last earlier later earliest latest sooner before after older younger oldest newer longer shorter bigger smaller larger"
    " more most less fewer cheaper better".split()
)
SPANS = frozenset("second seconds minute minutes hour hours day days week weeks month months year years time".split())
BOUNDS = frozenset("before after since when until from".split())
LISTED = frozenset("order sequence total altogether combined".split())
SUPPOSED = frozenset("would could should might".split())  # what stands side by side has not happened, and nothing tells of it
ASKING = frozenset(
    "how many much long often which what who whom whose where when did do does was were is are had has have be been it its the a an of"
    " or in for to event events thing things happened happen came come occurred took take taken passed pass elapsed order sequence these"
    " following them total number amount difference altogether combined there ago by each".split()
) | (COMPARED | SPANS | LISTED)
_JOINED = r"[,;:?] (?:(?:and|or) )?| (?:and|or|when|while|before|after|since|until|between|versus|vs\.?{}) "
_CUT, _CUT_TIME = (re.compile(_JOINED.format(more), re.IGNORECASE) for more in ("", "|did"))  # "how long before X did I Y"


def clauses(text: str) -> tuple[str, ...]:
    """Return the things that a question sets side by side; nothing where it asks about one.

    >>> clauses("How many days passed between the day I got the keys and the day I moved into the flat?")
    ('I got the keys', 'I moved into the flat')
    >>> clauses("Which device did I set up first, the thermostat or the router?")
    ('device did I set up first thermostat', 'device did I set up first router')
    >>> clauses("Who painted the lake and the bridge?")
    ()
    """
    asked = [folded(word) for word in words(text)[: MOST_WORDS + 1]]
    if len(asked) > MOST_WORDS or not ((measured := _measured(asked)) or _side_by_side(asked)):
        return ()
    head, *rest = [_bare(piece) for piece in (_CUT_TIME if measured else _CUT).split(" ".join(text.split()))]
    of_head = [f"{head} {piece}" for piece in rest if query_terms(piece)] if query_terms(head) else []
    found = of_head if len(of_head) > 1 else [piece for piece in (head, *rest) if len(set(query_terms(piece))) >= WHOLE]
    return tuple(dict.fromkeys(found))[:MOST] if len(set(found)) > 1 else ()


def _measured(asked: Sequence[str]) -> bool:
    """Tell whether a question asks for the time from one thing to another."""
    how = any(word == "how" and {"long", *SPANS} & set(asked[at + 1 : at + 3]) for at, word in enumerate(asked))
    return how and bool(BOUNDS & set(asked) or {"between", "and"} <= set(asked))


def _side_by_side(asked: Sequence[str]) -> bool:
    """Tell whether a question compares things or lists them, by its words."""
    said, after = set(asked), list(pairwise([*asked, ""]))
    if SUPPOSED & said or ("yes", "or") in after:
        return False
    listed = any(word in LISTED and following != "to" for word, following in after)  # "in order to" is not
    return bool("or" in said and COMPARED & said) or ("and" in said and (listed or {"difference", "between"} <= said))


def _bare(piece: str) -> str:
    """Return a piece of a question less the words at its beginning that only ask."""
    left = piece.split()
    while left and (not words(left[0]) or folded(words(left[0])[0]) in ASKING):
        left.pop(0)
    return " ".join(left).rstrip("?!.,;: ")
