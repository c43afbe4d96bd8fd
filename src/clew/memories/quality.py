"""Assess the quality of a text from substance, specificity, coherence and clarity."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from operator import mul
from types import MappingProxyType

from clew.memories.quality_features import (
    ASCII_WORDS_AND_SPACES,
    CONTENTS,
    MEDIA,
    NAVIGATION,
    POINTERS,
    STRONG_POINTERS,
    TextFeatures,
    Unit,
    read_features,
    strip_tags,
)
from clew.memories.small_talk import is_chatter
from clew.memories.substance import (
    MAX_PERIOD,
    idle_talk,
    keyboard_mash,
    no_words,
    placeholder,
    repeated,
)
from clew.text.words import fold, words
from clew.types import Quality, Stub

# raise it with any change that moves a number: stored assessments of another version are stale
ANALYSER_VERSION = 1


# different words; idle talk with more of them has not been seen, and long texts need not be read
# again
MAX_IDLE_WORDS = 12
MIN_CHARACTERS = 6  # a shorter text has few letters without being noise: "Why?"
MAX_IDLE_DETAILS = 2.5  # idle talk names nobody but the speaker and one other
_SPEAKER = re.compile(r"^[ \t]*[^\W\d_][\w .'’-]{0,30}:\s+", re.MULTILINE)
_OPENING = 40  # characters: enough to see a placeholder


def is_noise(reading: TextFeatures) -> bool:
    """Tell whether there is nothing to read at all.

    No words, the same over and over, runs of keys, broken letters.

    >>> from clew.memories.quality_features import read_features
    >>> is_noise(read_features("asdf jkl asdf jkl asdf jkl")), is_noise(read_features("Haha yeah totally!"))
    (True, False)
    """
    if len(reading.telling) > MAX_IDLE_WORDS or reading.code:
        return False
    if 2 * reading.damaged > reading.characters:
        return len(reading.telling) < MAX_PERIOD  # a sentence about a hash is short beside it
    if len(reading.telling) > MAX_PERIOD and any(unit.binding for unit in reading.units):
        # no rule can object: one looks for up to three words, the others for none and for runs of
        # keys
        return False
    if no_words(reading.plain):
        return True
    return reading.characters >= MIN_CHARACTERS and any(
        rule(reading.plain) is not None for rule in (repeated, keyboard_mash)
    )


def is_idle(reading: TextFeatures) -> bool:
    """Tell whether a text holds nothing that someone could want to recall, however well it is put.

    >>> from clew.memories.quality_features import read_features
    >>> is_idle(read_features("Anna: Haha yeah totally!")), is_idle(read_features("Anna: Haha, Toby ate the cake!"))
    (True, False)
    """
    if not reading.telling or placeholder(reading.plain[:_OPENING]) is not None:
        return True
    if len(reading.telling) > MAX_IDLE_WORDS or reading.specific > MAX_IDLE_DETAILS or reading.code:
        return False
    said = _SPEAKER.sub("", reading.plain)
    return is_chatter(said) or idle_talk(said) is not None


# different telling words at which substance is a half: "Postgres listens on port 6543" has four
HALF_SUBSTANCE = 3
WORDS_PER_DETAIL = 20  # one detail in twenty words makes a text half specific
MIN_UNIT_WORDS = 3  # shorter units are headings, menu entries, exclamations
FRAGMENT_WORDS = 5  # shorter units without a full stop or a binding word are fragments
# words: plain-language guides ask for 15 to 25 on average; statutes reach 60 and can still be read
LONG_SENTENCE_WORDS = 40
CONNECTION_WEIGHT = 0.3  # how much of coherence is connection; the rest is whole sentences
# share of letters and digits from which a text is plain; prose has 0.95, a list of prices 0.8
PLAIN_LETTER_SHARE = 0.7
MIN_SIGN_SHARE = (
    0.1  # share from which runs of one sign are looked for; they count twice: "!!!!", "-----"
)
_RUN = re.compile(r"([^\w\s])\1{3,}")
# vowel signs are no signs
_SIGN = re.compile(r"[^\w\s\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e30-\u0e4f]")


def substance(reading: TextFeatures) -> float:
    """Return how much is told.

    Different telling words, less where a text says the same over and over.

    By Heaps' law (Heaps 1978) n words of a natural text hold at least about the root of n different
    ones.
    """
    told = len(reading.telling)
    if not told:
        return 0.0
    return told**2 / (told**2 + HALF_SUBSTANCE**2) * min(1.0, told / math.sqrt(reading.told))


def specificity(reading: TextFeatures, *, title: TextFeatures | None = None) -> float:
    """Return how much is pinned down.

    Names, numbers, identifiers and rare words for the length of the text.

    A title names what its text is about, so its details count, not its length.
    """
    details = reading.specific + (title.specific if title else 0.0)
    return details / (details + 1 + reading.words / WORDS_PER_DETAIL)


def coherence(reading: TextFeatures) -> float:
    """Return how far a text hangs together: whole sentences, connected, not repeated.

    Neighbours are connected when they share a telling word, the simplest form of the entity grid
    (Barzilay & Lapata 2008), or when the second takes up the first by a word that binds. Code is
    judged by repetition alone.
    """
    if not reading.units:
        return 0.0
    fresh = _fresh_share(reading)
    if reading.code:
        return fresh
    whole = sum(unit.words for unit in reading.units if is_whole(unit)) / max(1, reading.words)
    return fresh * (
        (1 - CONNECTION_WEIGHT) * whole + CONNECTION_WEIGHT * _connected_share(reading.units)
    )


def clarity(reading: TextFeatures) -> float:
    """Return how well a text can be read.

    No blobs or broken letters, words rather than signs, sentences that end.

    Code is full of signs and has no sentences: there only what is damaged counts.
    """
    if not reading.characters:
        return 0.0
    readable = 1 - reading.damaged / reading.characters
    if reading.code:
        return readable
    signs = _signs(reading.plain)
    runs = (
        sum(len(run[0]) for run in _RUN.finditer(reading.plain))
        if signs >= MIN_SIGN_SHARE * reading.characters
        else 0
    )
    letters = 1 - min(reading.characters, signs + runs) / reading.characters
    longest = reading.words / max(1, len(reading.units)) / LONG_SENTENCE_WORDS
    return readable * min(1.0, letters / PLAIN_LETTER_SHARE) * (1 / max(1.0, longest))


def _signs(text: str) -> int:
    """Count the characters that are neither words nor white space."""
    return (
        len(text.encode().translate(None, ASCII_WORDS_AND_SPACES + b"_"))
        if text.isascii()
        else len(_SIGN.findall(text))
    )


def is_whole(unit: Unit) -> bool:
    """Tell a sentence from a fragment.

    Enough words, and an end, or length, or a word that binds.
    """
    return unit.words >= MIN_UNIT_WORDS and (
        unit.closed or unit.words >= FRAGMENT_WORDS or unit.binding
    )


def _connected_share(units: tuple[Unit, ...]) -> float:
    pairs = [
        not before.telling.isdisjoint(after.telling) or after.binding
        for before, after in pairwise(units)
    ]
    return sum(pairs) / len(pairs) if pairs else 1.0


def _fresh_share(reading: TextFeatures) -> float:
    """Return the share of units that were not said before."""
    said = [unit.telling for unit in reading.units if unit.telling]
    return len(set(said)) / len(said) if said else 0.0


STUB_WORDS = 120  # a longer text is none of these but a list of references
SENTENCE_WORDS = 15  # a longer sentence stands by itself; half of English sentences are shorter
NOTE_WORDS = 12
ENTRY_WORDS = 4  # a menu entry is rarely longer
MIN_ENTRIES = 3
LIST_SHARE = 0.8  # share of lines that make a list of literature or contents: the rest are headings
_LINE = 400  # characters of a line that are looked at
_KINDS = r"png|jpe?g|gif|webp|svg|bmp|tiff?|heic|mp4|mov|avi|mkv|webm|mp3|wav|ogg|m4a|flac"
# Neither reaches beyond where the next one begins, so that a text of openings without an end is
# looked at once.
_BRACKETED = r"\[[^\[\]\n]*+\]"
_TARGET = r"\((?:[^)\]\n]|\](?!\())*+\)"
_MEDIA = re.compile(
    rf"!{_BRACKETED}{_TARGET}|!\[{_BRACKETED}\]|</?(?:img|video|audio|iframe|source|figure|"
    rf"picture|embed)\b[^<>]*>"
    rf"|[\[(<](?:image|img|photo|picture|video|audio|gif|sticker|voice|media|attachment|图片|视频|"
    rf"画像|写真|фото|صورة|bild|foto)\b[^\])>\n]{{0,300}}+[\])>]"
    rf"|(?<!\S)\S+\.(?:{_KINDS})\b\S*|https?://(?:www\.)?(?:youtu\.be|youtube\.com|vimeo\.com|"
    rf"soundcloud\.com|imgur\.com)\S*"
    rf"|\b(?:image|photo|video|audio|gif|sticker|media) omitted\b",
    re.IGNORECASE,
)
# What each picture, each link or citation, and each trail has in it: looked for first, as it is
# cheap.
_BRACKETS = frozenset("[(<")
_DOTTED = re.compile(r"\.\w")
# some letters beyond ASCII are taken for an i as well
_OMITTED = re.compile("omitted", re.IGNORECASE)
_PLAIN_SIGNS = frozenset(".,!?;'")
_TRAIL_SIGNS = frozenset(">»›→/·•|\\")
_LINKS = re.compile(
    rf"{_BRACKETED}(?:{_TARGET}|{_BRACKETED})|<a\b[^<>]*+>[^<>]*+</a>|https?://\S+|www\.\S+|"
    rf"\bdoi:\s?\S+|\barXiv:\s?\S+|\[{_BRACKETED}\]"
)
_CITATIONS = re.compile(
    r"\[\^?\w{1,4}(?:[,–-]\s?\w{1,4})*\]:?|\((?:[^()\n]{0,60}\b(?:1[89]|"
    r"20)\d\d[a-z]?[^()\n]{0,20})\)|(?<!§)§++\s?[\d.]++"
    r"|\b\w+ et al\.,?(?: \d{4})?|(?:详见|参见|参照|见)第?[\d一二三四五六七八九十]+[章节節図图表页頁]"
)
# one line of a list of literature; its beginning is looked at first, as few lines begin so
_ENTRY = re.compile(
    r"(?=\s*(?:\[\w{1,8}\]|\(?\d{1,3}[.)]|[-*•]|\w[\w'’-]+,? [A-Z]\b))(?=.*\b(?:1[89]|20)\d\d\b)"
    r".*(?:\bdoi\b|\bpp?\.|\bvol\.|\d\(\d+\)|\d\s?[–-]\s?\d+\.?$|Proceedings|Journal|Press|"
    r"Conference|arXiv|https?:|\bet al\.)"
)
_LEADER = re.compile(r"(?:\.{3}|\. \. \.|…)\s*\d+$")
_TRAIL = re.compile(r"\s(?:>|»|›|→|/|::|·|•|\||\\)\s|(?<=\w)[>»›](?=\w)|\s?[»›]\s?")
_PATH = re.compile(r"\s*(?:[A-Za-z]:)?[\\/~.]?(?:[\w.@ -]{1,60}[\\/]){2,}[\w.@ -]{0,60}\s*")
_SENTENCE_SIGN = re.compile(r"[.!?;。！？]\s|[.!?。！？]$|,")


def stub_type(reading: TextFeatures) -> Stub:
    """Return which kind of stub a text is, if it is one.

    >>> from clew.memories.quality_features import read_features
    >>> texts = ("![a cat](cat.png)", "See also section 3.", "Home > Docs > API", "milk, eggs, bread", "Toby is my dog.")
    >>> [str(stub_type(read_features(text))) for text in texts]
    ['media', 'reference', 'breadcrumb', 'note', 'sentence']
    """
    if _is_plain_sentence(reading):
        return Stub.NONE if reading.words > STUB_WORDS else _short_stub(reading)
    if is_literature(reading) or is_contents(reading):
        return Stub.REFERENCE
    if reading.words > STUB_WORDS or len(reading.text) > 20 * STUB_WORDS:
        return Stub.NONE
    for kind, belongs in (
        (Stub.MEDIA, is_media),
        (Stub.REFERENCE, is_reference),
        (Stub.BREADCRUMB, is_breadcrumb),
    ):
        if belongs(reading):
            return kind
    return _short_stub(reading)


def _is_plain_sentence(reading: TextFeatures) -> bool:
    """Tell whether a text is one plain sentence that no stub rule but `_short_stub` can match."""
    text = reading.text
    if (
        len(reading.lines) != 1
        or not reading.signs <= _PLAIN_SIGNS
        or "." in text[:-1]
        or not text.isascii()
    ):
        return False
    if "18" in text or "19" in text or "20" in text or "omitted" in text.lower():
        return False
    return len(text) <= 20 * STUB_WORDS and not all(map(_is_pointer, reading.telling))


def is_media(reading: TextFeatures) -> bool:
    """Tell whether nothing but pictures, recordings or films is there."""
    return (
        _may_hold_media(reading)
        and _MEDIA.search(reading.text) is not None
        and all(fold(word) in MEDIA for word in words(strip_tags(_MEDIA.sub(" ", reading.text))))
    )


def _may_hold_media(reading: TextFeatures) -> bool:
    """Tell whether there is anything that a picture has.

    A bracket, a dot inside a word, an address, or that it was left out.
    """
    text = reading.text
    if (
        not reading.signs.isdisjoint(_BRACKETS)
        or "://" in text
        or ("." in text[:-1] and _DOTTED.search(text))
    ):
        return True
    return "omitted" in text.lower() if text.isascii() else _OMITTED.search(text) is not None


def is_reference(reading: TextFeatures) -> bool:
    """Tell whether nothing but links, citations and words that point elsewhere is there."""
    if reading.code or not (_is_marked(reading) or all(map(_is_pointer, reading.telling))):
        return False
    rest = _CITATIONS.sub(" ", _LINKS.sub(" ", reading.text))
    found = [fold(word) for word in words(strip_tags(rest))]
    return all(map(_is_pointer, found)) and (
        rest != reading.text or not STRONG_POINTERS.isdisjoint(found)
    )


def _is_marked(reading: TextFeatures) -> bool:
    """Tell whether there is anything that a link or a citation has."""
    text, signs = reading.text, reading.signs
    if not signs.isdisjoint(_BRACKETS) or (
        ":" in signs and ("://" in text or "doi:" in text or "arXiv:" in text)
    ):
        return True
    return ("." in signs and ("www." in text or "et al." in text)) or (
        not text.isascii() and ("§" in text or "见" in text or "照" in text)
    )


def is_literature(reading: TextFeatures) -> bool:
    """Tell a list of literature.

    Nearly every line an author, a year, and a place of publication.
    """
    plain = reading.plain
    # of the years that an entry names
    if reading.code or not ("18" in plain or "19" in plain or "20" in plain):
        return False
    entries = sum(_ENTRY.match(line[:_LINE]) is not None for line in reading.lines)
    return entries > 0 and entries >= LIST_SHARE * len(reading.lines)


def is_contents(reading: TextFeatures) -> bool:
    """Tell a table of contents.

    Nearly every line ends in a number, and its heading says so, or dots lead to the numbers.
    """
    if (
        reading.code
        or len(reading.lines) < MIN_ENTRIES
        or not reading.lines[-1].rstrip()[-1].isdigit()
    ):
        return False
    named = any(fold(word) in CONTENTS for word in words(reading.lines[0][:_LINE])[-1:])
    lines = [line.rstrip()[-_LINE:] for line in reading.lines[named:]]
    led = sum(_LEADER.search(line) is not None for line in lines)
    return (named or 2 * led > len(lines)) and sum(
        line[-1].isdigit() for line in lines
    ) >= LIST_SHARE * len(lines)


def is_breadcrumb(reading: TextFeatures) -> bool:
    """Tell a menu or the path to a page or file.

    Short entries between separators or on lines, mostly words of menus.
    """
    if (
        len(reading.lines) == 1
        and not reading.signs.isdisjoint("/\\")
        and _PATH.fullmatch(reading.plain)
    ):
        return True
    if reading.code or (len(reading.lines) < MIN_ENTRIES and not _may_hold_trail(reading)):
        return False
    if (
        len(entries := [words(entry) for line in reading.lines for entry in _TRAIL.split(line)])
        < MIN_ENTRIES
    ):
        return False
    found = [fold(word) for entry in entries for word in entry]
    menu = 2 * sum(word in NAVIGATION for word in found) >= len(found)
    if _SENTENCE_SIGN.search(reading.plain):
        return menu and len(entries) - len(reading.lines) >= 2  # the foot of a page
    trail = len(reading.lines) == 1 and not any(
        entry and entry[0][0].islower() for entry in entries
    )
    return (menu or trail) and all(0 < len(entry) <= ENTRY_WORDS for entry in entries)


def _may_hold_trail(reading: TextFeatures) -> bool:
    return not reading.signs.isdisjoint(_TRAIL_SIGNS) or "::" in reading.text


def _short_stub(reading: TextFeatures) -> Stub:
    """Tell a lone sentence from a jotting; code, tables and longer texts are neither."""
    if (
        reading.code
        or reading.words == 0
        or (len(reading.units) > 1 and reading.words > NOTE_WORDS)
    ):
        return Stub.NONE
    if (
        len(reading.units) == 1
        and reading.words <= SENTENCE_WORDS
        and (reading.units[0].closed or _has_binding_unit(reading))
    ):
        return Stub.SENTENCE
    jotted = not any(unit.closed for unit in reading.units) and not _has_binding_unit(reading)
    return Stub.NOTE if jotted and reading.words <= NOTE_WORDS else Stub.NONE


def _has_binding_unit(reading: TextFeatures) -> bool:
    return any(unit.binding and unit.words >= 3 for unit in reading.units)


def _is_pointer(word: str) -> bool:
    return word in POINTERS or word.isdigit() or len(word) == 1


# What a text tells decides; how it is put hardly makes a memory worthless. Set on the calibration
# half of the labelled examples
# in tests/ingest/fixtures/quality, so that three telling words, or two and a detail, reach the
# gate's 0.4.
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"substance": 0.55, "specificity": 0.25, "coherence": 0.1, "clarity": 0.1}
)
_WEIGHTS = tuple(WEIGHTS.values())  # in the order of the parts
CAPS: Mapping[Stub, float] = MappingProxyType(
    {
        Stub.MEDIA: 0.2,
        Stub.REFERENCE: 0.3,
        Stub.BREADCRUMB: 0.3,
        Stub.NOTE: 0.6,
        Stub.SENTENCE: 0.8,
        Stub.NONE: 1.0,
    }
)
HOLLOW_CAP = 0.2
DIGITS = 4  # of a score: the rest is noise of the last bit, and would differ between machines


def assess(text: str, *, title: str = "", format: str = "text") -> Quality:
    """Return how good a text is by itself, with the parts and the kind of stub.

    `overall` is the mean of the parts by WEIGHTS, at most the stub's cap, and at most HOLLOW_CAP
    for idle talk and noise. `format` is text, markdown, html or conversation; any other name is
    taken for a language of code or data.

    >>> assess("Postgres on db-3 listens on port 6543").overall >= 0.4 > assess("Haha yeah totally!").overall
    True
    >>> assess("Home > Docs > API").stub
    <Stub.BREADCRUMB: 'breadcrumb'>
    """
    reading = read_features(text, format=format)
    noise = is_noise(reading)
    hollow = noise or is_idle(reading)
    kind = stub_type(reading)
    if noise and kind in (Stub.SENTENCE, Stub.NOTE):
        kind = Stub.NONE
    parts = (
        0.0 if hollow else substance(reading),
        specificity(reading, title=read_features(title) if title else None),
        coherence(reading),
        clarity(reading),
    )
    mean = sum(map(mul, _WEIGHTS, parts))
    overall = min(mean, CAPS[kind], HOLLOW_CAP if hollow else 1.0)
    total, told, pinned, whole, clear = [round(value, DIGITS) for value in (overall, *parts)]
    return Quality(total, told, pinned, whole, clear, kind, reading.words, ANALYSER_VERSION)
