"""Decide when a memory may stand for an offered text.

By its words, its speaker, its title and its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from itertools import zip_longest
from typing import Any, NamedTuple

from clew.memories.draft import Draft
from clew.memories.validation import SPEAKERS
from clew.settings import DuplicateSettings
from clew.text.words import query_terms, terms
from clew.types import Node

# Decide from their words whether two texts that lie near each other say the same.
#
# Vectors hardly see what an addition or a contradiction changes: the default model gives "takes
# metformin every morning" and "takes metformin every morning and omeprazole" a cosine above 0.92,
# and
# so it does for "prefers tea to coffee" and "prefers coffee to tea". Here two texts say the same
# only
# if they have the same words and punctuation in the same order, apart from "the", the mark at the
# end
# of a sentence, the style of quotation marks, contractions and the progressive form ("runs", "is
# running"). Anything else may add or change something, and in doubt both are kept: a needless
# memory
# costs a little room, a missing one costs the answer.
#
# The rule is measured on tests/ingest/fixtures/duplicate_pairs.yaml.

# Not "a": "has few friends" is not "has a few friends", and in other languages "a" and "an" are
# prepositions and verbs.
_IGNORED = frozenset("the also actually please".split())
# "has the most books" is not "has most books"
_QUANTIFIERS = frozenset("few little most least".split())
_CONTRACTIONS = {"cannot": ("can", "not"), "can't": ("can", "not"), "won't": ("will", "not")}
_NOT = "n't"
_PROGRESSIVE = "is "
_ING = "ing"
_STRAIGHT_QUOTES = str.maketrans("“”„«»‘’", '"""""' + "''")
_ENDS = ".;:!…。！"
_QUESTION_MARKS = "?？؟"
_COMMAS = ",，、"
_MARKS = _ENDS + _QUESTION_MARKS + _COMMAS
_END, _QUESTION, _COMMA = " .", " ?", " ,"  # no word has a space in it


class _Word(NamedTuple):
    """A word or a mark; `capital` is None for the first word of a text, where a capital says nothing, and for a mark."""

    text: str
    capital: bool | None

    def matches(self, other: _Word) -> bool:
        """Tell whether both are the same word; "us" and "US" are not."""
        if self.capital is not None and other.capital is not None and self.capital != other.capital:
            return False
        return (
            self.text == other.text
            or _is_form_of(self.text, other.text)
            or _is_form_of(other.text, self.text)
        )


def says_the_same(kept: str, offered: str) -> bool:
    """Tell whether a text has the words and punctuation of another in the same order, and no others.

    >>> says_the_same("The server runs Postgres 16.", "Server is running Postgres 16")
    True
    >>> says_the_same("Ann likes tea", "Ann likes green tea"), says_the_same("Ann pays Ben", "Ben pays Ann")
    (False, False)
    """
    mine, theirs = _words(kept), _words(offered)
    return len(mine) == len(theirs) and all(map(_Word.matches, mine, theirs))


def contains(offered: str, kept: str) -> bool:
    """Tell whether a text has all content words of another, by their stems, and more.

    >>> contains("Ann likes green tea", "Ann likes tea"), contains("Ben pays Ann", "Ann pays Ben")
    (True, False)
    """
    return set(query_terms(kept)) < set(query_terms(offered))


@lru_cache(maxsize=64)  # one offered text is compared with several
def _words(text: str) -> tuple[_Word, ...]:
    read = tuple(_read(text.translate(_STRAIGHT_QUOTES)))
    found: list[_Word] = []
    for word, following in zip_longest(read, read[1:]):
        if (
            word.text in _IGNORED
            and not word.capital
            and not (following and following.text in _QUANTIFIERS)
        ):
            continue
        if _is_progressive(found, word):
            found[-1] = _Word(_PROGRESSIVE + word.text, False)
        else:
            found.append(word)
    while found and found[-1].text == _END:
        found.pop()
    return tuple(found)


clear_text_caches = _words.cache_clear


def _read(text: str) -> Iterator[_Word]:
    """Yield the words of a text and the marks that end a sentence or a clause."""
    starts = True
    for line in filter(str.strip, text.splitlines()):
        after = ""
        for piece in line.split():
            core, after = _stripped(piece)
            for part in _parts(core):
                yield _word(part, starts=starts)
                starts = False
            if after:
                yield _Word(_mark(core, after), None)
        if not after:
            yield _Word(_END, None)  # what one line says is no part of what the next says


def _stripped(piece: str) -> tuple[str, str]:
    """Return a word without the marks behind it, and these marks.

    A mark that belongs to the word stays: the factorial of "5!", and the folder that "." and ".."
    are.
    """
    core = piece.rstrip(_MARKS)
    if not core:
        return (piece, "") if not piece.strip(".") else ("", piece)
    if piece[len(core) :].startswith("!") and (core[-1].isdigit() or len(core) == 1):
        core += "!"
    return core, piece[len(core) :]


def _parts(core: str) -> Iterator[str]:
    if (parts := _CONTRACTIONS.get(core.lower())) is not None:
        yield from parts
    elif core.endswith(_NOT) and len(core) > len(_NOT):
        yield from (core.removesuffix(_NOT), "not")
    elif core:
        yield core


def _word(core: str, *, starts: bool) -> _Word:
    if any(map(str.isupper, core[1:])):  # an identifier or an abbreviation: every capital counts
        return _Word(core, True)
    is_plain = core.isalpha() and len(core) > 1  # "K1" and "M" are symbols, also at the start
    return _Word(core.lower(), None if starts and is_plain else core[:1].isupper())


def _is_form_of(verb: str, progressive: str) -> bool:
    """Tell whether a verb is the third person of the one in a progressive form.

    >>> _is_form_of("runs", "is running"), _is_form_of("makes", "is making"), _is_form_of("studies", "is studying")
    (True, True, True)
    >>> _is_form_of("hops", "is hoping"), _is_form_of("origins", "is originating")
    (False, False)
    """
    if not (progressive.startswith(_PROGRESSIVE) and verb.endswith("s")):
        return False
    base = progressive.removeprefix(_PROGRESSIVE).removesuffix(_ING)
    forms = {base + "s", base + "es"}
    if base[-1] == base[-2] != "s":
        forms.add(base[:-1] + "s")
    if base.endswith("y"):
        forms.add(base[:-1] + "ies")
    return verb in forms and terms(verb) == terms(base + _ING)


def _is_progressive(before: list[_Word], word: _Word) -> bool:
    """Tell whether a word is a verb behind "is", as in "is running"."""
    ing = (
        word.capital is False
        and word.text.endswith(_ING)
        and word.text.isascii()
        and word.text.isalpha()
    )
    return ing and len(word.text) > 5 and bool(before) and before[-1].text == "is"


def _mark(core: str, after: str) -> str:
    """Return what the marks behind a word stand for.

    A question is no statement, and a comma may change who is meant.
    """
    is_greek = "\u0370" <= core[-1:] <= "\u03ff"  # where ";" asks a question
    if any(map(after.__contains__, _QUESTION_MARKS)) or (is_greek and ";" in after):
        return _QUESTION
    return _END if any(map(after.__contains__, _ENDS)) else _COMMA


CODE = "code"
# Keys of metadata that name who said or wrote something, beside those of chat messages.
_AUTHORS = frozenset(SPEAKERS) | frozenset(
    "participant agent actor person nick nickname handle who by said_by sent_by spoken_by written_by created_by".split()
)
_SUFFIXES = ("id", "name")


def near_threshold(offered: Draft, settings: DuplicateSettings) -> float:
    """Return from where on a memory of this category counts as near, between unrelated (0) and equal (1)."""
    return settings.near_threshold_by_category.get(offered.category, settings.near_threshold)


def same_context(node: Node, offered: Draft) -> bool:
    """Tell whether a memory with the words of an offered text means the same.

    They must have one speaker and no two titles; line breaks and indentation count in chat turns,
    code and nested lists.
    """
    same_title = node.title == offered.title or not (node.title and offered.title)
    return (
        same_speaker(node, offered)
        and same_title
        and (node.text == offered.text or not _has_layout(node, offered))
    )


def is_near_duplicate(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether an offered text adds nothing to a memory.

    No word, speaker, title or time of its own.

    Chat turns and code are never merged unless they are equal: there every sign counts.
    """
    return (
        offered.title in ("", node.title)
        and same_speaker(node, offered)
        and same_times(node, offered)
        and holds(node, offered, at=at)
        and says_the_same(node.text, offered.text)
        and not (_is_verbatim(node) or _is_verbatim(offered))
    )


def extends(offered: Draft, node: Node) -> bool:
    """Tell whether an offered text says all that a memory says and more, so that it could take its place."""
    return (
        node.title == offered.title
        and contains(offered.text, node.text)
        and not (_is_verbatim(node) or _is_verbatim(offered))
    )


def same_speaker(node: Node, offered: Draft) -> bool:
    """Tell whether the metadata of both name the same speaker, or none."""
    return speaker_of(node.metadata) == speaker_of(offered.metadata)


def same_times(node: Node, offered: Draft) -> bool:
    """Tell whether the times that somebody gave with an offered text are those of the memory."""
    return offered.valid_from in (None, node.t_valid) and offered.valid_to in (None, node.t_invalid)


def speaker_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what metadata tells of who speaks, by the lower-case keys.

    >>> speaker_of({"Speaker": "Ann", "userId": 7, "topic": "tea"})
    {'speaker': 'Ann', 'userid': 7}
    """
    return {key.lower(): value for key, value in metadata.items() if _names_speaker(key.lower())}


def _names_speaker(key: str) -> bool:
    plain = key.replace("-", "_").replace(" ", "_")
    return plain in _AUTHORS or any(
        plain.removesuffix(suffix).rstrip("_") in _AUTHORS for suffix in _SUFFIXES
    )


def _has_layout(node: Node, offered: Draft) -> bool:
    indented = any(f"\n{blank}" in text for text in (node.text, offered.text) for blank in " \t")
    return indented or _is_verbatim(node) or _is_verbatim(offered)


def _is_verbatim(text: Draft | Node) -> bool:
    """Tell whether a text is a chat turn or code."""
    if text.category == CODE or any(key.lower() in SPEAKERS for key in text.metadata):
        return True
    # Only near duplicates are looked at so closely; a command that stores nothing need not load
    # them.
    from clew.memories.quality_features import is_code  # noqa: PLC0415
    from clew.text.speakers import speaker_labels  # noqa: PLC0415

    return any(speaker_labels(text.text)) or is_code(tuple(text.text.splitlines()))


def holds(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether a memory is true all the time that the offered one is said to be.

    Up to its end, or without one up to now.

    What begins later, or has ended, leaves a time of which only the offered one speaks.
    """
    begins = offered.valid_from or at
    return node.t_valid <= begins and lasts(node, offered, at=at)


def lasts(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether a memory is true as long as the offered one."""
    if node.t_invalid is None:
        return True
    return (
        offered.valid_to <= node.t_invalid
        if offered.valid_to
        else max(offered.valid_from or at, at) < node.t_invalid
    )
