"""Which texts are no texts of their own: the place of a picture, a pointer, a menu, a jotting, a lone sentence."""

from __future__ import annotations

import re

from clew.ingest.quality.lexicon import CONTENTS, MEDIA, NAVIGATION, POINTERS, STRONG_POINTERS
from clew.ingest.quality.reading import Reading, untagged
from clew.ingest.quality.value import Stub
from clew.words import folded, words

STUB_WORDS = 120  # a longer text is none of these but a list of references
SENTENCE_WORDS = 15  # a longer sentence stands by itself; half of English sentences are shorter
NOTE_WORDS = 12
ENTRY_WORDS = 4  # a menu entry is rarely longer
FEWEST_ENTRIES = 3
LISTED = 0.8  # share of lines that make a list of literature or contents: the rest are headings
_LINE = 400  # characters of a line that are looked at
_KINDS = r"png|jpe?g|gif|webp|svg|bmp|tiff?|heic|mp4|mov|avi|mkv|webm|mp3|wav|ogg|m4a|flac"
# Neither reaches beyond where the next one begins, so that a text of openings without an end is looked at once.
_BRACKETED = r"\[[^\[\]\n]*+\]"
_TARGET = r"\((?:[^)\]\n]|\](?!\())*+\)"
_MEDIA = re.compile(
    rf"!{_BRACKETED}{_TARGET}|!\[{_BRACKETED}\]|</?(?:img|video|audio|iframe|source|figure|picture|embed)\b[^<>]*>"
    rf"|[\[(<](?:image|img|photo|picture|video|audio|gif|sticker|voice|media|attachment|图片|视频|画像|写真|фото|صورة|bild|foto)\b[^\])>\n]{{0,300}}+[\])>]"
    rf"|(?<!\S)\S+\.(?:{_KINDS})\b\S*|https?://(?:www\.)?(?:youtu\.be|youtube\.com|vimeo\.com|soundcloud\.com|imgur\.com)\S*"
    rf"|\b(?:image|photo|video|audio|gif|sticker|media) omitted\b",
    re.IGNORECASE,
)
# What each picture, each link or citation, and each trail has in it: looked for first, as it is cheap.
_BRACKETS = frozenset("[(<")
_DOTTED = re.compile(r"\.\w")
_OMITTED = re.compile("omitted", re.IGNORECASE)  # some letters beyond ASCII are taken for an i as well
_PLAIN_SIGNS = frozenset(".,!?;'")
_TRAIL_SIGNS = frozenset(">»›→/·•|\\")
_LINKS = re.compile(
    rf"{_BRACKETED}(?:{_TARGET}|{_BRACKETED})|<a\b[^<>]*+>[^<>]*+</a>|https?://\S+|www\.\S+|\bdoi:\s?\S+|\barXiv:\s?\S+|\[{_BRACKETED}\]"
)
_CITATIONS = re.compile(
    r"\[\^?\w{1,4}(?:[,–-]\s?\w{1,4})*\]:?|\((?:[^()\n]{0,60}\b(?:1[89]|20)\d\d[a-z]?[^()\n]{0,20})\)|(?<!§)§++\s?[\d.]++"
    r"|\b\w+ et al\.,?(?: \d{4})?|(?:详见|参见|参照|见)第?[\d一二三四五六七八九十]+[章节節図图表页頁]"
)
_ENTRY = re.compile(  # one line of a list of literature; its beginning is looked at first, as few lines begin so
    r"(?=\s*(?:\[\w{1,8}\]|\(?\d{1,3}[.)]|[-*•]|\w[\w'’-]+,? [A-Z]\b))(?=.*\b(?:1[89]|20)\d\d\b)"
    r".*(?:\bdoi\b|\bpp?\.|\bvol\.|\d\(\d+\)|\d\s?[–-]\s?\d+\.?$|Proceedings|Journal|Press|Conference|arXiv|https?:|\bet al\.)"
)
_LEADER = re.compile(r"(?:\.{3}|\. \. \.|…)\s*\d+$")
_TRAIL = re.compile(r"\s(?:>|»|›|→|/|::|·|•|\||\\)\s|(?<=\w)[>»›](?=\w)|\s?[»›]\s?")
_PATH = re.compile(r"\s*(?:[A-Za-z]:)?[\\/~.]?(?:[\w.@ -]{1,60}[\\/]){2,}[\w.@ -]{0,60}\s*")
_SENTENCE_SIGN = re.compile(r"[.!?;。！？]\s|[.!?。！？]$|,")


def stub(reading: Reading) -> Stub:
    """Return which kind of stub a text is, if it is one.

    >>> from clew.ingest.quality.reading import read
    >>> texts = ("![a cat](cat.png)", "See also section 3.", "Home > Docs > API", "milk, eggs, bread", "Toby is my dog.")
    >>> [str(stub(read(text))) for text in texts]
    ['media', 'reference', 'breadcrumb', 'note', 'sentence']
    """
    if _is_plain_sentence(reading):
        return Stub.NONE if reading.words > STUB_WORDS else _short(reading)
    if is_literature(reading) or is_contents(reading):
        return Stub.REFERENCE
    if reading.words > STUB_WORDS or len(reading.text) > 20 * STUB_WORDS:
        return Stub.NONE
    for kind, belongs in ((Stub.MEDIA, is_media), (Stub.REFERENCE, is_reference), (Stub.BREADCRUMB, is_breadcrumb)):
        if belongs(reading):
            return kind
    return _short(reading)


def _is_plain_sentence(reading: Reading) -> bool:
    """Tell whether nothing is there that a picture, a link, a year, a menu or a list has, and a word that points nowhere: as of many."""
    text = reading.text
    if len(reading.lines) != 1 or not reading.signs <= _PLAIN_SIGNS or "." in text[:-1] or not text.isascii():
        return False
    if "18" in text or "19" in text or "20" in text or "omitted" in text.lower():
        return False
    return len(text) <= 20 * STUB_WORDS and not all(map(_points, reading.telling))


def is_media(reading: Reading) -> bool:
    """Tell whether nothing but pictures, recordings or films is there."""
    return (
        _may_hold_media(reading)
        and _MEDIA.search(reading.text) is not None
        and all(folded(word) in MEDIA for word in words(untagged(_MEDIA.sub(" ", reading.text))))
    )


def _may_hold_media(reading: Reading) -> bool:
    """Tell whether there is anything that a picture has: a bracket, a dot inside a word, an address, or that it was left out."""
    text = reading.text
    if not reading.signs.isdisjoint(_BRACKETS) or "://" in text or ("." in text[:-1] and _DOTTED.search(text)):
        return True
    return "omitted" in text.lower() if text.isascii() else _OMITTED.search(text) is not None


def is_reference(reading: Reading) -> bool:
    """Tell whether nothing but links, citations and words that point elsewhere is there."""
    if reading.code or not (_is_marked(reading) or all(map(_points, reading.telling))):
        return False
    rest = _CITATIONS.sub(" ", _LINKS.sub(" ", reading.text))
    found = [folded(word) for word in words(untagged(rest))]
    return all(map(_points, found)) and (rest != reading.text or not STRONG_POINTERS.isdisjoint(found))


def _is_marked(reading: Reading) -> bool:
    """Tell whether there is anything that a link or a citation has."""
    text, signs = reading.text, reading.signs
    if not signs.isdisjoint(_BRACKETS) or (":" in signs and ("://" in text or "doi:" in text or "arXiv:" in text)):
        return True
    return ("." in signs and ("www." in text or "et al." in text)) or (not text.isascii() and ("§" in text or "见" in text or "照" in text))


def is_literature(reading: Reading) -> bool:
    """Tell a list of literature: nearly every line an author, a year, and a place of publication."""
    plain = reading.plain
    if reading.code or not ("18" in plain or "19" in plain or "20" in plain):  # of the years that an entry names
        return False
    entries = sum(_ENTRY.match(line[:_LINE]) is not None for line in reading.lines)
    return entries > 0 and entries >= LISTED * len(reading.lines)


def is_contents(reading: Reading) -> bool:
    """Tell a table of contents: nearly every line ends in a number, and its heading says so, or dots lead to the numbers."""
    if reading.code or len(reading.lines) < FEWEST_ENTRIES or not reading.lines[-1].rstrip()[-1].isdigit():
        return False
    named = any(folded(word) in CONTENTS for word in words(reading.lines[0][:_LINE])[-1:])
    lines = [line.rstrip()[-_LINE:] for line in reading.lines[named:]]
    led = sum(_LEADER.search(line) is not None for line in lines)
    return (named or 2 * led > len(lines)) and sum(line[-1].isdigit() for line in lines) >= LISTED * len(lines)


def is_breadcrumb(reading: Reading) -> bool:
    """Tell a menu or the path to a page or file: short entries between separators or on lines, mostly words of menus."""
    if len(reading.lines) == 1 and not reading.signs.isdisjoint("/\\") and _PATH.fullmatch(reading.plain):
        return True
    if reading.code or (len(reading.lines) < FEWEST_ENTRIES and not _may_hold_trail(reading)):
        return False
    if len(entries := [words(entry) for line in reading.lines for entry in _TRAIL.split(line)]) < FEWEST_ENTRIES:
        return False
    found = [folded(word) for entry in entries for word in entry]
    menu = 2 * sum(word in NAVIGATION for word in found) >= len(found)
    if _SENTENCE_SIGN.search(reading.plain):
        return menu and len(entries) - len(reading.lines) >= 2  # the foot of a page
    trail = len(reading.lines) == 1 and not any(entry and entry[0][0].islower() for entry in entries)
    return (menu or trail) and all(0 < len(entry) <= ENTRY_WORDS for entry in entries)


def _may_hold_trail(reading: Reading) -> bool:
    return not reading.signs.isdisjoint(_TRAIL_SIGNS) or "::" in reading.text


def _short(reading: Reading) -> Stub:
    """Tell a lone sentence from a jotting; code, tables and longer texts are neither."""
    if reading.code or reading.words == 0 or (len(reading.units) > 1 and reading.words > NOTE_WORDS):
        return Stub.NONE
    if len(reading.units) == 1 and reading.words <= SENTENCE_WORDS and (reading.units[0].closed or _bound(reading)):
        return Stub.SENTENCE
    jotted = not any(unit.closed for unit in reading.units) and not _bound(reading)
    return Stub.NOTE if jotted and reading.words <= NOTE_WORDS else Stub.NONE


def _bound(reading: Reading) -> bool:
    return any(unit.binding and unit.words >= 3 for unit in reading.units)


def _points(word: str) -> bool:
    return word in POINTERS or word.isdigit() or len(word) == 1
