"""By which words can a question be told from others, and how much does it tell that a space does not know one of them?

Three sorts: names, rare words and everyday ones. Whoever asks about somebody by name expects the name in the answer; an everyday
word may stand for another ("pay" for "cash"), and a space must have said much before it tells that this one never occurred.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

from clew.graph.entities.lexicon import COMMON, DATES, DEMONYMS, KNOWN, TITLES, is_common
from clew.words import STOP_WORDS, folded, query_terms, terms, words

MOST_TERMS = 32  # of a question: a longer one is a text, and its beginning says what it is about
LEAST_RARITY = 0.05  # of a word that every memory holds: it still tells a little


class Word(NamedTuple):
    """What a word of a question counts."""

    weight: float
    heard_at: int
    """How many words a space says when not knowing this one tells half of what it can tell."""
    name: bool = False


# Chosen when left-out sets were judged, of 300 to 30,000 words for names and rare words and 3,000 to 300,000 for everyday ones.
NAME, RARE, EVERYDAY = Word(2.0, 10_000, name=True), Word(2.0, 10_000), Word(1.0, 30_000)
CODE = Word(2.0, 0, name=True)  # the number of a code: no space has said too little to know one that it could answer for

# What questions ask with and answers need not say: kinds of answers, verbs of asking and reporting, words that compare or point.
_ASKING = """
    according achieve action activity actual address advise affect aim allow amount announce answer appear approach area argue arrive
    aspect attempt attend attitude aware base basis become begin believe benefit bring call category cause certain change characteristic
    choose choice city claim come common compare comparison concern condition consider contain continue contribute country create
    current date day deal decide decision define definition describe description detail determine develop difference different difficult
    discover discuss discussion done duration effect element emphasise emphasize enable encounter end ensure event eventually exact
    example exist expect experience explain express fact factor feature feel feeling find first focus follow frequently gain general get
    give given go goal going good great happen help highlight hold hope idea identify illustrate impact importance important improve
    include indicate influence inform information initial inspire instance intend interest introduce involve issue item join keep key
    kind know known last late later latest lead length like likely list location long look lot made main major make manner many matter
    mean meaning measure mention method month motivate motivation much name nature need new next notable note number object obtain
    occasion occur offer often old opinion option origin original outcome outline overall part partake participate particular pass
    people perform period person personal piece place plan point possible potential prefer present previous primary prior problem
    process prompt propose provide purpose put quantity question rate react reaction reason receive recent recommend reduce refer
    reference reflect regard relate relation relationship remain remind reply represent require respond response result reveal role
    said say see seem sense several show significance significant similar situation size sort speak special specific specify start state
    statement status stay step still subject suggest symbolise symbolize take talk thing think thought time title today together told
    topic town true try turn type typical undergo unique use usual value various view visit want way week went wish word year yesterday
    yet
"""


# The number of a code: a server "plover-08", an incident "INC-4999", an issue "#1234", a standard "RFC 2119".
_CODE = re.compile(r"(?:\b([^\W\d_]{2,})[-_]|#|\b([A-Z]{2,}) )(\d{2,})(?!\d)")
_COUNTED = frozenset("am pm eur usd gbp chf".split())  # what stands in capitals before a number that is none
_YEAR = re.compile(r"(?:19|20)\d\d")
_ENDS = ("", "e", "s", "es", "d", "ed", "ing", "ion", "al", "ly", "er", "ers", "ment", "ance")  # of other forms of a stem


def telling(text: str) -> dict[str, Word]:
    """Return the terms by which a question can be told from others; dates and numbers are told by time, but for those of a code.

    >>> found = telling("Which iguana did Svetlana describe in May 2023?")
    >>> found == {"iguana": RARE, "svetlana": NAME}
    True
    >>> telling("Who fixed INC-4999?") == {"fix": EVERYDAY, "inc": RARE, "4999": CODE}
    True
    >>> telling("What did President Szymborska say of the garden?") == {"presid": EVERYDAY, "szymborska": EVERYDAY, "garden": EVERYDAY}
    True
    """
    found: dict[str, Word] = {}
    before, numbers = "", codes(text)
    for word in words(text):
        plain = folded(word)
        if plain in numbers:
            found.setdefault(plain, CODE)
        elif plain not in STOP_WORDS and plain not in DATES and not plain[:1].isdigit():
            found |= {term: sort for term, sort in _read(word, before).items() if term not in found}
        if len(found) >= MOST_TERMS:
            break
        before = word
    return found


def codes(text: str) -> dict[str, str]:
    """Return the numbers that are a code's, and how each would be written in one word: whoever names it means no other.

    >>> codes("INC-4999, not plover-08 or #12"), codes("mid-2023, May-2023, COVID-19, 2024-05-07, 10-12 days, top-10, EUR 1200, IN 2023")
    ({'4999': 'inc4999', '08': 'plover08', '12': '12'}, {})
    """
    if not any(map(str.isdigit, text)):
        return {}
    found = ((hyphened or spaced, bool(spaced), number) for hyphened, spaced, number in _CODE.findall(text))
    loud = text.isupper()  # capitals tell nothing where there are no others
    return {folded(number): folded(word + number) for word, apart, number in found if _is_code(word, number, apart=apart, loud=loud)}


def _is_code(word: str, number: str, *, apart: bool, loud: bool) -> bool:
    """Tell a code from a year, a count or a price: by capitals and a number of three figures, or a word that nobody counts with."""
    plain = folded(word)
    if not word:
        return True
    if plain in DATES or plain in STOP_WORDS or plain in _COUNTED or (loud and apart):
        return False
    if any(map(str.isupper, word[1:])) and not loud:
        return len(number) > 2 and not (apart and _YEAR.fullmatch(number))
    return not apart and not word[:1].isupper() and not is_common(plain) and not _YEAR.fullmatch(number)


def rarity(holding: int, nodes: int) -> float:
    """Return how telling a term is that so many of the nodes hold, from almost 0 to 1 for one that none holds.

    >>> rarity(0, 1000), round(rarity(9, 1000), 2), rarity(1000, 1000)
    (1.0, 0.61, 0.05)
    """
    return max(LEAST_RARITY, math.log((nodes + 1) / (holding + 0.5)) / math.log((nodes + 1) / 0.5))


def heard(said: float, word: Word) -> float:
    """Return how much it tells that a space which says so many words does not know this one, from 0 to 1.

    >>> heard(0, NAME), heard(30_000, NAME), heard(30_000, EVERYDAY), heard(0, CODE)
    (0.0, 0.75, 0.5, 1.0)
    """
    return said / (said + word.heard_at) if word.heard_at else 1.0


def _read(word: str, before: str) -> dict[str, Word]:
    """Return the terms of a word, none of one that only asks."""
    plain, found = folded(word), [term for term in query_terms(word) if not term[:1].isdigit()]
    if not found or (plain.isascii() and len(plain) == 1):  # a letter by itself is what a sign cut off
        return {}
    if any(map(str.isdigit, plain)):  # whoever names "TFRC1" means no other of that family
        found = found[:1]
    # A pair of signs cut from a script without spaces is no word that could be rare.
    common = not plain.isascii() or is_common(plain) or plain in DEMONYMS or (plain not in KNOWN and _everyday(found[0]))
    named = bool(before) and word[:1].isupper() and not word.isupper() and plain.isalpha()
    if common or not named:
        return {} if found[0] in _asking() else dict.fromkeys(found, EVERYDAY if common else RARE)
    # Texts of or about a bearer of a title may never name them: "the president".
    titled = before[:1].isupper() and folded(before) in TITLES
    return dict.fromkeys(found, EVERYDAY if titled else NAME)


def _everyday(term: str) -> bool:
    """Tell whether a word of this stem is common in some other form.

    >>> _everyday("duti"), _everyday("explor"), _everyday("svetlana")
    (True, True, False)
    """
    stem = f"{term[:-1]}y" if term.endswith("i") else term
    return any(stem + end in COMMON for end in _ENDS)


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    return frozenset(terms(_ASKING))
