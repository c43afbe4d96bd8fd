"""What one stretch between two spaces adds to a text, remembered: a text repeats most of its stretches."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from clew.ingest.idle import telling_words, tells
from clew.ingest.quality.lexicon import FUNCTION_WORDS, VERBS
from clew.words import REMEMBERED, STOP_WORDS, folded, words

BINDING = STOP_WORDS | FUNCTION_WORDS | VERBS
LONG = 0.5  # how much a rare word pins down
LONG_LETTERS = 9  # from here on a word is rare: of running English, under a tenth of the words
_AROUND = ".,;:!?…\"'“”‘’«»"
_LAST = frozenset(".!?…。！？؟।:\"'”’»)]*_")  # what a sentence or a label may end with
MAX_REMEMBERED = 64  # characters: longer stretches are links, blobs and unspaced sentences, which do not come again
_WIDE = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
WIDE = re.compile(f"[{_WIDE}]+")
"""Scripts that write no spaces between words, and Korean, which writes several as one."""
_ADDRESSED = re.compile(r"[:.]")
_LINK = re.compile(r"(?:https?://|www\.|ftp://|mailto:)\S+", re.IGNORECASE)
_BLOB = re.compile(r"[A-Za-z0-9+/=]{24,}")
SHORTEST_BLOB = 24  # characters
_SAME_CLASS = re.compile(r"[a-z]+|[A-Z]+|\d+|[+/=]+")
BLOB_TURNS = 0.4  # turns between letter cases and digits a character: random base64 has 0.6, hex 0.5, camelCase 0.3
_MOJIBAKE = re.compile(
    "[ÃÅÄ][\u0080-\u00bf\u0152-\u0178\u2013-\u203a€ƒˆ]|â[€\u0080-\u009f‚™œ]|Â[\u00a0-\u00bf]|ï¿½|ðŸ|[ÐÑ][\u0080-\u00bf]|\ufffd|[\u0080-\u009f]"
)
_IDENTIFIER = re.compile(r"\d|[a-z][A-Z]|\w_\w|\w\.\w|\w::\w|\w@\w|\w/\w|\w\(|\w-\d|--\w|#\w|`")
_ACRONYM = re.compile(r"(?<![^\W\d_])[A-Z]{2,}s?(?![^\W\d_])")
_STOPS = frozenset(".!?…。！？؟।")
_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]*_]*+$")
_ABBREVIATION = re.compile(r"(?:[A-Z]|[Mm]rs?|[Dd]r|[Ss]t|[Ff]ig|[Nn]o|[Vv]ol|pp?|cf|vs|e\.g|i\.e|etc|al|ca|approx|z\.B|Nr|Art|Abs)\.$")


class Piece(NamedTuple):
    """The words of a stretch, what is specific in it, how much of it can be read, and how it stands in a sentence.

    `amid` is what is specific where no sentence begins: there a capital makes a name.
    """

    core: str
    words: int
    telling: tuple[str, ...]
    specific: float
    damaged: int
    amid: float
    binding: bool
    ends: bool = False
    label: bool = False


def pieces(stretches: list[str]) -> list[tuple[int, Piece]]:
    """Return what each stretch without white space adds to a text, with its place; but for plain words in small letters, as most are.

    >>> port, toby = pieces(["db-3", "the", "Toby!"])
    >>> port[0], port[1].specific, toby[0], toby[1].telling, toby[1].ends
    (0, 1.0, 2, ('toby',), True)
    >>> [found.damaged for _, found in pieces(["Ã¼ber", "aGVsbG8gd29ybGQ5IHRoaXMgaXMg"])]
    [5, 28]
    """
    return [
        (place, _remembered(stretch) if len(stretch) <= MAX_REMEMBERED else _piece(stretch))
        for place, stretch in enumerate(stretches)
        if not (stretch.isalpha() and stretch.islower() and stretch.isascii() and len(stretch) < SHORTEST_BLOB)
    ]


def _piece(stretch: str) -> Piece:
    if _is_plain(stretch):
        return _word(stretch)
    core = stretch.strip(_AROUND)
    again = core != stretch and len(core) <= MAX_REMEMBERED  # by itself it is remembered already
    found = _word(core) if _is_plain(core) else _core(core) if again else _read(core)
    last = stretch[-1]
    if last not in _LAST:
        return found
    ends = (last in _STOPS or _END.search(stretch[-8:]) is not None) and _ABBREVIATION.match(stretch) is None
    return Piece(*found[:7], ends, last == ":")


_remembered = lru_cache(maxsize=REMEMBERED)(_piece)


def _read(core: str) -> Piece:
    """Return what a stretch is without the signs around it."""
    bad = damaged(core)
    found = () if bad or (_ADDRESSED.search(core) and _LINK.search(core)) else words(core)
    telling = _telling(core, found)
    specific = 0.0 if bad else _specific(core, found)
    return Piece(
        core,
        words=sum(map(_size, found)),
        telling=telling,
        specific=specific,
        damaged=bad,
        amid=1.0 if telling and found[0][0].isupper() else specific,
        binding=any(_binds(folded(word)) for word in found),
    )


def _is_plain(stretch: str) -> bool:
    """Tell whether there is nothing in a stretch to look for but a word, as in most."""
    return stretch.isascii() and stretch.isalpha() and len(stretch) < SHORTEST_BLOB


def _word(word: str) -> Piece:
    plain = word.lower()
    telling = (plain,) if plain not in FUNCTION_WORDS and tells(plain) else ()
    odd = not (word.islower() or word.istitle()) and (_ACRONYM.fullmatch(word) or _IDENTIFIER.search(word))
    specific = 1.0 if odd else LONG if len(word) >= LONG_LETTERS else 0.0
    return Piece(word, 1, telling, specific, 0, 1.0 if telling and word[0].isupper() else specific, _binds(plain))


_core = lru_cache(maxsize=REMEMBERED)(_read)


def _binds(word: str) -> bool:
    return word in BINDING


def damaged(stretch: str) -> int:
    """Return how many characters of a stretch nobody can read: blobs, and letters of a wrong encoding."""
    if not stretch.isascii() and _MOJIBAKE.search(stretch):
        return len(stretch)
    if len(stretch) < SHORTEST_BLOB or _LINK.match(stretch):
        return 0
    return sum(len(blob) for blob in _BLOB.findall(stretch) if len(_SAME_CLASS.findall(blob)) >= BLOB_TURNS * len(blob))


def _size(word: str) -> int:
    """Count the words of a stretch of letters: two characters make a word where no spaces are written."""
    if word.isascii() or not (wide := sum(map(len, WIDE.findall(word)))):
        return 1
    return -(-wide // 2) + (wide < len(word))


def _telling(stretch: str, found: tuple[str, ...]) -> tuple[str, ...]:
    if not found:
        return ()
    if stretch.isascii() or not WIDE.search(stretch):
        return tuple(sorted(telling_words(stretch) - FUNCTION_WORDS))
    pairs = (run[at : at + 2] for run in WIDE.findall(stretch) for at in range(0, len(run), 2))
    rest = telling_words(WIDE.sub(" ", stretch))
    return tuple(sorted({*rest, *pairs} - FUNCTION_WORDS))


def _specific(stretch: str, found: tuple[str, ...]) -> float:
    """Weigh what pins a stretch down: numbers, identifiers and acronyms fully, long words half."""
    if _LINK.match(stretch):
        return 0.5
    if _IDENTIFIER.search(stretch) or _ACRONYM.search(stretch):
        return 1.0
    if found and not stretch.isascii() and not (found[0][0].isupper() or found[0][0].islower()):
        return 0.25 * sum(map(_size, found))
    return LONG if any(len(word) >= LONG_LETTERS for word in found) else 0.0
