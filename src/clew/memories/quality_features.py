"""Extract the features of a text that the quality score and the gates share."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from clew.memories.small_talk import content_words, is_content_word
from clew.text.words import STOP_WORDS, WORD_CACHE_SIZE, fold, words

_LISTS = tomllib.loads(files("clew.memories").joinpath("quality.toml").read_text(encoding="utf-8"))
FUNCTION_WORDS, VERBS, NAVIGATION, POINTERS, STRONG_POINTERS, CONTENTS, MEDIA = (
    frozenset(_LISTS[name].split())
    for name in (
        "function_words",
        "verbs",
        "navigation",
        "pointers",
        "strong_pointers",
        "contents",
        "media",
    )
)


BINDING = STOP_WORDS | FUNCTION_WORDS | VERBS
RARE_WORD_WEIGHT = 0.5  # how much a rare word pins down
RARE_WORD_LETTERS = 9  # from here on a word is rare: of running English, under a tenth of the words
_AROUND = ".,;:!?…\"'“”‘’«»"
_LAST = frozenset(".!?…。！？؟।:\"'”’»)]*_")  # what a sentence or a label may end with
# characters: longer stretches are links, blobs and unspaced sentences, which do not come again
MAX_CACHED_PIECE = 64
_UNSPACED_RANGES = (
    r"\u0"
    r"e"
    r"0"
    r"0"
    r"-"
    r"\u0"
    r"e"
    r"f"
    r"f"
    r"\u1"
    r"0"
    r"0"
    r"0"
    r"-"
    r"\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
UNSPACED = re.compile(f"[{_UNSPACED_RANGES}]+")
"""Scripts that write no spaces between words, and Korean, which writes several as one."""
_ADDRESSED = re.compile(r"[:.]")
_LINK = re.compile(r"(?:https?://|www\.|ftp://|mailto:)\S+", re.IGNORECASE)
_BLOB = re.compile(r"[A-Za-z0-9+/=]{24,}")
MIN_BLOB = 24  # characters
_SAME_CLASS = re.compile(r"[a-z]+|[A-Z]+|\d+|[+/=]+")
# turns between letter cases and digits a character: random base64 has 0.6, hex 0.5, camelCase 0.3
BLOB_TURNS = 0.4
_MOJIBAKE = re.compile(
    "[ÃÅÄ][\u0080-\u00bf\u0152-\u0178\u2013-\u203a€ƒˆ]|â[€\u0080-\u009f‚™œ]|Â[\u00a0-\u00bf]|"
    "ï¿½|ðŸ|[ÐÑ][\u0080-\u00bf]|\ufffd|[\u0080-\u009f]"
)
_IDENTIFIER = re.compile(r"\d|[a-z][A-Z]|\w_\w|\w\.\w|\w::\w|\w@\w|\w/\w|\w\(|\w-\d|--\w|#\w|`")
_ACRONYM = re.compile(r"(?<![^\W\d_])[A-Z]{2,}s?(?![^\W\d_])")
_STOPS = frozenset(".!?…。！？؟।")
_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]*_]*+$")
_ABBREVIATION = re.compile(
    r"(?:[A-Z]|[Mm]rs?|[Dd]r|[Ss]t|[Ff]ig|[Nn]o|[Vv]ol|pp?|cf|vs|e\.g|i\.e|etc|al|ca|approx|"
    r"z\.B|Nr|Art|Abs)\.$"
)


class Piece(NamedTuple):
    """The words of a token, what is specific or damaged in it, and its role in the sentence.

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
    """Return what each stretch without white space adds to a text, with its place.

    But for plain words in small letters, as most are.

    >>> port, toby = pieces(["db-3", "the", "Toby!"])
    >>> port[0], port[1].specific, toby[0], toby[1].telling, toby[1].ends
    (0, 1.0, 2, ('toby',), True)
    >>> [found.damaged for _, found in pieces(["Ã¼ber", "aGVsbG8gd29ybGQ5IHRoaXMgaXMg"])]
    [5, 28]
    """
    return [
        (place, _piece_cached(stretch) if len(stretch) <= MAX_CACHED_PIECE else _piece(stretch))
        for place, stretch in enumerate(stretches)
        if not (
            stretch.isalpha()
            and stretch.islower()
            and stretch.isascii()
            and len(stretch) < MIN_BLOB
        )
    ]


def _piece(stretch: str) -> Piece:
    if _is_plain(stretch):
        return _word_piece(stretch)
    core = stretch.strip(_AROUND)
    # by itself it is remembered already
    again = core != stretch and len(core) <= MAX_CACHED_PIECE
    found = (
        _word_piece(core)
        if _is_plain(core)
        else _core_piece_cached(core)
        if again
        else _core_piece(core)
    )
    last = stretch[-1]
    if last not in _LAST:
        return found
    ends = (last in _STOPS or _END.search(stretch[-8:]) is not None) and _ABBREVIATION.match(
        stretch
    ) is None
    return Piece(*found[:7], ends, last == ":")


_piece_cached = lru_cache(maxsize=WORD_CACHE_SIZE)(_piece)


def _core_piece(core: str) -> Piece:
    """Return what a stretch is without the signs around it."""
    bad = damaged_characters(core)
    found = () if bad or (_ADDRESSED.search(core) and _LINK.search(core)) else words(core)
    telling = _content_words(core, found)
    specific = 0.0 if bad else _specificity(core, found)
    return Piece(
        core,
        words=sum(map(_size, found)),
        telling=telling,
        specific=specific,
        damaged=bad,
        amid=1.0 if telling and found[0][0].isupper() else specific,
        binding=any(_binds(fold(word)) for word in found),
    )


def _is_plain(stretch: str) -> bool:
    """Tell whether there is nothing in a stretch to look for but a word, as in most."""
    return stretch.isascii() and stretch.isalpha() and len(stretch) < MIN_BLOB


def _word_piece(word: str) -> Piece:
    plain = word.lower()
    telling = (plain,) if plain not in FUNCTION_WORDS and is_content_word(plain) else ()
    odd = not (word.islower() or word.istitle()) and (
        _ACRONYM.fullmatch(word) or _IDENTIFIER.search(word)
    )
    specific = 1.0 if odd else RARE_WORD_WEIGHT if len(word) >= RARE_WORD_LETTERS else 0.0
    return Piece(
        word,
        1,
        telling,
        specific,
        0,
        1.0 if telling and word[0].isupper() else specific,
        _binds(plain),
    )


_core_piece_cached = lru_cache(maxsize=WORD_CACHE_SIZE)(_core_piece)


def _binds(word: str) -> bool:
    return word in BINDING


def damaged_characters(stretch: str) -> int:
    """Return how many characters of a stretch nobody can read.

    Blobs, and letters of a wrong encoding.
    """
    if not stretch.isascii() and _MOJIBAKE.search(stretch):
        return len(stretch)
    if len(stretch) < MIN_BLOB or _LINK.match(stretch):
        return 0
    return sum(
        len(blob)
        for blob in _BLOB.findall(stretch)
        if len(_SAME_CLASS.findall(blob)) >= BLOB_TURNS * len(blob)
    )


def _size(word: str) -> int:
    """Count the words of a stretch of letters.

    Two characters make a word where no spaces are written.
    """
    if word.isascii() or not (wide := sum(map(len, UNSPACED.findall(word)))):
        return 1
    return -(-wide // 2) + (wide < len(word))


def _content_words(stretch: str, found: tuple[str, ...]) -> tuple[str, ...]:
    if not found:
        return ()
    if stretch.isascii() or not UNSPACED.search(stretch):
        return tuple(sorted(content_words(stretch) - FUNCTION_WORDS))
    pairs = (run[at : at + 2] for run in UNSPACED.findall(stretch) for at in range(0, len(run), 2))
    rest = content_words(UNSPACED.sub(" ", stretch))
    return tuple(sorted({*rest, *pairs} - FUNCTION_WORDS))


def _specificity(stretch: str, found: tuple[str, ...]) -> float:
    """Weigh what pins a stretch down: numbers, identifiers and acronyms fully, long words half."""
    if _LINK.match(stretch):
        return 0.5
    if _IDENTIFIER.search(stretch) or _ACRONYM.search(stretch):
        return 1.0
    if found and not stretch.isascii() and not (found[0][0].isupper() or found[0][0].islower()):
        return 0.25 * sum(map(_size, found))
    return RARE_WORD_WEIGHT if any(len(word) >= RARE_WORD_LETTERS for word in found) else 0.0


PROSE = frozenset({"", "text", "markdown", "html", "conversation", "pdf", "docx"})
"""Formats of running text; any other name is taken for a language of code or data."""

ASCII_WORDS_AND_SPACES = bytes(
    code for code in range(128) if chr(code).isspace() or chr(code).isalnum()
)
"""The letters, digits and white space of ASCII: what is left without them are signs."""
ASCII_SPACES = bytes(code for code in range(128) if chr(code).isspace())
_TAG = re.compile(r"<[a-zA-Z/!][^<>]{0,400}>")
_ADDRESS = re.compile(r"(?<!\w)\w++://\S++")
_UNSPACED_SENTENCE_END = re.compile("(?<=[。！？])(?=[^。！？」』”’）)\\s])")
_BULLET = re.compile(r"\s*(?:[-*+•·‣◦▪–—>#|]+|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+")
_BEHIND_LETTER = (".", ")")  # a bullet that begins with a letter is one
# A line is code when it begins as no sentence does, or ends with a sign or holds an operator or
# call that no sentence has.
_CODE_START = re.compile(
    r"\s*(?:[}\])]|//|/\*|#!|#include|@\w|\$\s|>>>\s)"
    r"|\s*(?:def|class|fn|func|public|private|static|const|let|var|async|elif|else:|try:|"
    r"except|finally:|return|yield|raise)\b.*[:({;=]"
    r"|\s*(?:import \w[\w.]*(?: as \w+)?|from [\w.]+ import .*|return [\w.]+|package [\w.]+)$"
    r"|(?:sudo |git |docker |kubectl |pip |npm |curl |cd |ls |SELECT |INSERT |UPDATE |DELETE |"
    r"CREATE |ALTER )"
)
# one of these is in all that the next expression finds, and looked for first: it is cheap
_CODE_SIGNS = (*";{}[(=>&|", "::", "</")
# an address has a colon: of texts without one no line holds any
_ALL_CODE_SIGNS = frozenset(";{}[(=>&|:<")
_CODE_INSIDE = re.compile(
    r"[;{}\[(]\s*$|\w\([^()]*\)\s*:?$|[^=!<>]=[^=>\s]|\s[=!:+|&]{1,2}=\s|\s=\s|=>|->|::|&&|"
    r"\|\||</\w|;\s*(?:do|done|then|fi)\b"
)
MAX_CACHED_LINE = 200  # characters of a line that is kept at hand
# as many as a section has: each line is looked at with its document, its section and its chunk
LINE_CACHE_SIZE = 4096
# share of lines from which a text is taken for code: bullet lists of settings have less, code has
# more
CODE_LINES = 0.4


class Unit(NamedTuple):
    """A sentence, or what stands in the place of one: a list item, a heading, a line."""

    words: int
    telling: frozenset[str]
    told: int
    damaged: int
    closed: bool
    binding: bool


class TextFeatures(NamedTuple):
    """What the judgements know of a text."""

    text: str
    plain: str
    """The text without the tags of HTML."""
    signs: frozenset[str]
    """Which characters of the text are neither letters, digits nor white space: most rules need one
    to find anything.
    """
    lines: tuple[str, ...]
    units: tuple[Unit, ...]
    words: int
    telling: frozenset[str]
    told: int
    specific: float
    characters: int
    damaged: int
    code: bool


def read_features(text: str, *, format: str = "text") -> TextFeatures:
    """Return what the judgements need to know of a text, in one pass.

    >>> reading = read_features("Toby is my dog. He likes the park near Lake Merritt.")
    >>> len(reading.units), reading.words, sorted(reading.telling)
    (2, 11, ['dog', 'lake', 'likes', 'merritt', 'near', 'park', 'toby'])
    """
    plain = strip_tags(text) if format == "html" else text
    lines = tuple(line for line in plain.splitlines() if line and not line.isspace())
    signs = _signs(text)
    code = format not in PROSE or is_code(lines, signs)
    specifics: dict[str, float] = {}
    units = tuple(_units(plain, code=code, specifics=specifics))
    sizes, telling, told, damaged, *_ = (
        zip(*units, strict=True) if units else ((),) * len(Unit._fields)
    )
    return TextFeatures(
        text=text,
        plain=plain,
        signs=signs,
        lines=lines,
        units=units,
        words=sum(sizes),
        telling=telling[0] if len(telling) == 1 else frozenset().union(*telling),
        told=sum(told),
        specific=sum(specifics.values()),
        characters=len(plain.encode().translate(None, ASCII_SPACES))
        if plain.isascii()
        else len("".join(plain.split())),
        damaged=sum(damaged),
        code=code,
    )


def _signs(text: str) -> frozenset[str]:
    if text.isascii():
        return frozenset(text.encode().translate(None, ASCII_WORDS_AND_SPACES).decode())
    return frozenset([each for each in set(text) if not (each.isalnum() or each.isspace())])


def strip_tags(text: str) -> str:
    """Return a text with a space for every tag of HTML.

    >>> strip_tags("<li>Home</li>").split()
    ['Home']
    """
    return _TAG.sub(" ", text)


def is_code(lines: tuple[str, ...], signs: frozenset[str] = _ALL_CODE_SIGNS) -> bool:
    """Tell code, shell sessions and data from running text by the form of their lines.

    >>> is_code(("def area(r):", "    return 3.14 * r ** 2")), is_code(("The area is 3.14 r squared.",))
    (True, False)
    """
    looks = _is_code_line if not signs.isdisjoint(_ALL_CODE_SIGNS) else _begins_as_code
    return bool(lines) and sum(map(looks, lines)) >= CODE_LINES * len(lines)


def _begins_as_code(line: str) -> bool:
    return _CODE_START.match(line[:200]) is not None


def _is_code_line(line: str) -> bool:
    """Judge a line by its beginning; an address is full of signs and no code."""
    start = _ADDRESS.sub("", line[:200]) if "://" in line else line[:200]
    if _begins_as_code(start):
        return True
    return any(map(start.__contains__, _CODE_SIGNS)) and _CODE_INSIDE.search(start) is not None


class SentenceParts(NamedTuple):
    """A sentence taken apart.

    Its plain words in small letters, its other pieces, the one it begins with, and whether its end
    is marked.
    """

    words: list[str]
    pieces: list[Piece]
    first: Piece | None
    closed: bool


def _unit(said: SentenceParts, specifics: dict[str, float]) -> Unit:
    """Return the sum of a sentence's stretches, and note what is specific in it.

    A capital makes a name where no sentence begins, and before a colon.
    """
    words, others, first, closed = said
    if first is not None and (weight := first.amid if first.label else first.specific):
        specifics[first.core] = weight
    specifics.update([(word, RARE_WORD_WEIGHT) for word in words if len(word) >= RARE_WORD_LETTERS])
    told = [word for word in words if is_content_word(word) and word not in FUNCTION_WORDS]
    binding = not BINDING.isdisjoint(words)
    if not others:
        return Unit(len(words), frozenset(told), len(told), 0, closed, binding)
    specifics.update([(each.core, each.amid) for each in others[first is not None :] if each.amid])
    further = [word for each in others for word in each.telling]
    return Unit(
        words=len(words) + sum([each.words for each in others]),
        telling=frozenset(told).union(further),
        told=len(told) + len(further),
        damaged=sum([each.damaged for each in others]),
        closed=closed,
        binding=binding or True in [each.binding for each in others],
    )


class _Sentence(NamedTuple):
    """A sentence with what it comes to and what is specific in it.

    No unit as long as further lines may add to it.
    """

    said: SentenceParts
    unit: Unit | None
    details: dict[str, float]


class _Line(NamedTuple):
    """A line's sentences, and whether it starts a new one or continues the one before."""

    begins: bool
    told: list[_Sentence]


def _units(text: str, *, code: bool, specifics: dict[str, float]) -> Iterator[Unit]:
    """Yield the sentences and note what is specific in them.

    A line that goes on in small letters belongs to the one before.

    In code each line is one.
    """
    held: _Sentence | None = None
    for line in (text if text.isascii() else _UNSPACED_SENTENCE_END.sub(" ", text)).splitlines():
        found = _line_cached(line, code) if len(line) <= MAX_CACHED_LINE else _line(line, code)
        if held is not None and found.begins:
            yield _collect(held, specifics)
            held = None
        for told in found.told:
            held = told if held is None else _continue(held, told.said)
            if code or held.said.closed:
                yield _collect(held, specifics)
                held = None
    if held is not None:
        yield _collect(held, specifics)


def _collect(told: _Sentence, specifics: dict[str, float]) -> Unit:
    """Return what a sentence comes to, and note what is specific in it."""
    if told.unit is None:
        return _unit(told.said, specifics)
    specifics.update(told.details)
    return told.unit


def _line(line: str, code: bool) -> _Line:
    bullet = None if line[:1].isalpha() and line[1:2] not in _BEHIND_LETTER else _BULLET.match(line)
    stretches = (line[bullet.end() :] if bullet else line).split()
    begins = bool(bullet) or not stretches or not stretches[0][0].islower()
    return _Line(begins, [_sentence(said) for said in _split_sentences(stretches, whole=code)])


def _sentence(said: SentenceParts) -> _Sentence:
    details: dict[str, float] = {}
    return _Sentence(said, _unit(said, details), details)


_line_cached = lru_cache(maxsize=LINE_CACHE_SIZE)(_line)
clear_line_cache = _line_cached.cache_clear


def _continue(held: _Sentence, said: SentenceParts) -> _Sentence:
    """Return a sentence with what the next line adds to it.

    In lists of its own, for a line may be remembered and go on for long.
    """
    before = held.said
    if held.unit is not None:
        before = SentenceParts([*before.words], [*before.pieces], before.first, before.closed)
    before.words.extend(said.words)
    before.pieces.extend(said.pieces)
    return _Sentence(before._replace(closed=said.closed), None, {})


def _split_sentences(stretches: list[str], *, whole: bool) -> list[SentenceParts]:
    """Return the sentences of a line, the last of them perhaps not at its end.

    A whole line is one.
    """
    said: list[SentenceParts] = []
    words: list[str] = []
    others: list[Piece] = []
    first, after = None, 0
    for place, piece in pieces(stretches):
        words += stretches[after:place]
        after = place + 1
        if not words and not others:
            first = piece
        others.append(piece)
        if piece.ends and not whole:
            said.append(SentenceParts(words, others, first, closed=True))
            words, others, first = [], [], None
    words += stretches[after:]
    if words or others:
        said.append(
            SentenceParts(
                words,
                others,
                first,
                closed=bool(others) and after == len(stretches) and others[-1].ends,
            )
        )
    return said
