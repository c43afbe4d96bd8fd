"""Check that an echo repeats returned texts in full, sign by sign, with nothing but wrapping around them.

Words alone do not tell "-20" from "20", "C#" from "C", or "Tom thinks the roof is safe" from "The roof
is safe", and a part may say something else than the whole. A text that differs in anything but white
space, the style of quotation marks and the marks at its end says something new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clew.ingest.firewall.echo.returned import Source
from clew.ingest.firewall.echo.spoken import spoken
from clew.ingest.firewall.echo.wrapping import TURNING, WRAPPING, served_text, unwrapped
from clew.ingest.paraphrase_guard import says_the_same
from clew.words import STOP_WORDS, tidy

_STRAIGHT_QUOTES = str.maketrans("“”„«»‘’", '"""""' + "''")
_OPENING = "([{\"':：，、"  # what may stand right before a repeated text
_WIDE_CLOSING = "。！？，、；：|"  # what may stand right behind it, without a space before the next word
_CLOSING = ".,;:!?…)]}\"'" + _WIDE_CLOSING
_ENCLOSING = "()[]{}\"'|"
_PUNCTUATION = _OPENING + _CLOSING
_ENDS = ".,;:!?…。！？"
_ARTICLES = ("the ", "a ", "an ")
_LONGEST_ARTICLE = 4
MOST_PLACES = 16  # where the same text is looked for in another: each is compared word by word
_SEPARATORS = frozenset("- – — -- --- | • · * → ▸ > /".split())
_ROLES = frozenset("user assistant system human ai bot tool developer model q a".split())
_WRAPPING = WRAPPING | (STOP_WORDS - TURNING)


def repeated(text: str, bare: str, sources: Iterable[Source], *, added: Iterable[str] = ()) -> list[Source] | None:
    """Return which returned texts a text repeats in full; None if it says anything besides.

    `bare` is the text without what Clew draws around a hit, and `added` are words of its own that it may have.
    """
    whole, rest = served_text(text), _joined(bare)
    found = [(source, span) for source in sources if (span := _span(source.text, whole, rest))]
    titles = [span for source, _ in found if source.title and (span := _span(source.title, whole, rest))]
    allowed = _WRAPPING | frozenset(added)
    others = _outside(rest, [*(span for _, span in found), *titles])
    return [source for source, _ in found] if all(_is_wrapping(piece, allowed) for piece in others) else None


def _span(source: str, whole: str, bare: str) -> tuple[int, int] | None:
    """Return where a returned text stands in a bare one; None unless the whole text has its numbers, bullets and lines too."""
    tidied = tidy(source)
    kept = tidied in whole if "\n" in tidied else _find(_joined(tidied), _joined(whole))
    return _find(_joined(unwrapped(tidied)[0]), bare) if kept else None


def _joined(text: str) -> str:
    return " ".join(text.translate(_STRAIGHT_QUOTES).split())


def _find(said: str, text: str) -> tuple[int, int] | None:
    """Return where one text stands in another with the marks behind it, whatever the case of its first letter.

    >>> _find("The door is locked.", "You said: the door is locked!")
    (10, 29)
    >>> _find("The dose is 5", "The dose is 5.5"), _find("It is on.", "It is on?")
    (None, None)
    """
    core = said.rstrip(_ENDS) or said
    at = 0
    for _ in range(MOST_PLACES):
        at = text.find(core[1:], at + 1)
        if at < 0:
            break
        begin, end = at - 1, at - 1 + len(core)
        stop, after = _end_of(_ENDS, text, end), _end_of(_CLOSING, text, end)
        bounded = after == len(text) or text[after].isspace() or text[after - 1] in _WIDE_CLOSING
        if bounded and _may_begin(text, begin) and says_the_same(said, text[begin:stop]):
            return begin, after
    return None


def _may_begin(text: str, at: int) -> bool:
    """Tell whether a repeated text may begin at a place: not inside a word, and not behind an article, which would belong to it."""
    before = text[max(0, at - _LONGEST_ARTICLE) : at]
    return not before or (before[-1].isspace() and not before.casefold().endswith(_ARTICLES)) or before[-1] in _OPENING


def _end_of(marks: str, text: str, at: int) -> int:
    while at < len(text) and text[at] in marks:
        at += 1
    return at


def _outside(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield the pieces of a text between spaces that no span covers."""
    at = 0
    for begin, end in (*sorted(spans), (len(text), len(text))):
        yield from text[at:begin].split()
        at = max(at, end)


def _is_wrapping(piece: str, allowed: frozenset[str]) -> bool:
    """Tell whether a piece says nothing: a word of wrapping, a bullet or a quotation mark; but no symbol, option or role.

    >>> [_is_wrapping(each, _WRAPPING) for each in ("told", "me:", "•", "-i", ".", "🔥", "US", "assistant:")]
    [True, True, True, False, False, False, False, False]
    """
    core = piece.strip(_PUNCTUATION)
    if not core:
        return all(map(_ENCLOSING.__contains__, piece))
    if core in _SEPARATORS:
        return True
    if (core.isupper() and len(core) > 1) or not (core[0].isalnum() and core[-1].isalnum()):
        return False
    is_turn = core.casefold() in _ROLES and piece.endswith(":")
    return not is_turn and all(word in allowed for word in spoken(core))
