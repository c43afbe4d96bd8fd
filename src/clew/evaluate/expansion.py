"""What to search for next, from raw text alone, so that every chunker is treated alike.

Terms are taken by rarity in the corpus, not by where they stand: the first five identifiers of the
first chunk are its licence header and its logger. What is already in view or in the question is no
lead.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Protocol

from clew.evaluate.data import Passage
from clew.text.words import STOP_WORDS, fold, terms, words

MAX_QUERIES = 5  # searches of one hop
MIN_SYMBOL = 3
BEST_HITS = 3  # whose names are followed: as many as a walk starts from
SHORT_QUESTION_WORDS = 32  # beside a longer question a name would not change what is found

_IMPORTED = re.compile(
    r"^(?:from\s([\w.]++)\s)?import\s\{?([\w.*,\s{}]+?)(?:\}?\sfrom\s['\"]([^'\"]++)['\"])?\s?;?$",
    re.MULTILINE,
)
_INCLUDED = re.compile(r"(?:#\s*include\s*[<\"]|\brequire\(['\"]|^use\s+)([\w./:-]+)", re.MULTILINE)
_CALLED = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(")
_CLASS = re.compile(r"\b([A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z][a-z]{3,})\b")
_DEFINED = re.compile(
    r"\b(?:def|class|func|fn|function|struct|interface|trait|enum|type)\s+([A-Za-z_]\w*)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_WORD = r"(?:[A-Z]\.)+|[A-Z][\w'’-]*"  # initials keep their full stops, other words end before one
_NAME = re.compile(rf"\b(?:{_WORD})(?:\s+(?:(?:of|the|de|van|von|and|&)\s+)*(?:{_WORD}))*")
BUILTIN = frozenset(
    {
        *dir(builtins),
        *keyword.kwlist,
        "self",
        "cls",
        "super",
        "assert",
        "require",
        "console",
        "return",
        "switch",
        "sizeof",
        "printf",
    }
)


class Expander(Protocol):
    """Names what to search for after having read something."""

    def queries(
        self, question: str, space: str, texts: Sequence[str], *, view: Sequence[str] = ()
    ) -> list[str]:
        """Return at most MAX_QUERIES search texts from what was just read, the rarest first.

        `view` is all that was read so far.
        """


def frequencies(passages: Iterable[Passage]) -> dict[str, Counter[str]]:
    """Return for each space in how many passages every term stands."""
    counts: dict[str, Counter[str]] = {}
    for passage in passages:
        counts.setdefault(passage.space, Counter()).update(
            set(terms(f"{passage.title} {passage.text}"))
        )
    return counts


def rarity(phrase: str, counts: Mapping[str, int]) -> int:
    """Return the document frequency of a phrase's rarest known term; 0 when none is known.

    >>> rarity("Flask App", {"flask": 7, "app": 90})
    7
    """
    known = [counts[term] for term in terms(phrase) if counts.get(term)]
    return min(known, default=0)


def rarest(candidates: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    """Return the rarest candidates that the corpus knows beside where they were read, each once."""
    known = {candidate: rarity(candidate, counts) for candidate in dict.fromkeys(candidates)}
    return sorted((c for c in known if known[c] > 1), key=lambda c: (known[c], c))[:MAX_QUERIES]


@dataclass(frozen=True, slots=True)
class CodeExpander:
    """Follows imports, calls and class names that are not defined in view."""

    counts: Mapping[str, Mapping[str, int]] = field(repr=False)  # follows from the corpus

    def queries(
        self, question: str, space: str, texts: Sequence[str], *, view: Sequence[str] = ()
    ) -> list[str]:
        """Return symbols to search for."""
        defined = {name.casefold() for text in (*view, *texts) for name in _DEFINED.findall(text)}
        known = {name.casefold() for name in _IDENTIFIER.findall(question)} | defined
        symbols = [
            symbol for symbol in symbols_of("\n".join(texts)) if symbol.casefold() not in known
        ]
        return rarest(symbols, self.counts.get(space, {}))


def symbols_of(text: str) -> list[str]:
    r"""Return imported names and modules, called functions and class names, in order, builtins left out.

    >>> symbols_of("from flask.app import Flask, g\nprint(make_response(x))")
    ['app', 'Flask', 'make_response']
    """
    text = "\n".join(
        " ".join(line.split()) for line in text.split("\n") if line.strip()
    )  # the pattern below takes one blank
    found: list[str] = []
    for module, names, origin in _IMPORTED.findall(text):
        found += [part for path in (module, origin) for part in re.split(r"[./:]", path)[-1:]]
        found += _IDENTIFIER.findall(names)
    found += [re.split(r"[./:]+", path)[-1] for path in _INCLUDED.findall(text)]
    found += _CALLED.findall(text) + _CLASS.findall(text)
    return [
        name for name in dict.fromkeys(found) if len(name) >= MIN_SYMBOL and name not in BUILTIN
    ]


@dataclass(frozen=True, slots=True)
class ProseExpander:
    """Follows names and rare words that the question does not hold."""

    counts: Mapping[str, Mapping[str, int]] = field(repr=False)  # follows from the corpus

    def queries(
        self,
        question: str,
        space: str,
        texts: Sequence[str],
        *,
        view: Sequence[str] = (),  # noqa: ARG002 - a name in view is still a lead
    ) -> list[str]:
        """Return names to search for; rare words where there are too few names."""
        asked = {fold(word) for word in words(question)}
        counts = self.counts.get(space, {})
        names = [
            name
            for text in texts
            for name in names_of(text)
            if not {fold(word) for word in words(name)} <= asked | STOP_WORDS
        ]
        chosen = rarest(names, counts)
        if len(chosen) < MAX_QUERIES:
            rare = [
                word
                for text in texts
                for word in words(text)
                if fold(word) not in asked | STOP_WORDS and len(word) > MIN_SYMBOL
            ]
            chosen += [
                word for word in rarest(rare, counts) if not any(word in name for name in chosen)
            ]
        return chosen[:MAX_QUERIES]


@dataclass(frozen=True, slots=True)
class FollowNames:
    """Follows the names in the best hits, hit by hit, each beside the question.

    The other expanders take the rarest names of all that was read; this one reads the best hits
    only and stays near the question, so that a second search for "Jane Doe" is one about her
    birthplace.
    """

    counts: Mapping[str, Mapping[str, int]] = field(repr=False)  # follows from the corpus
    code: bool = False

    def queries(
        self, question: str, space: str, texts: Sequence[str], *, view: Sequence[str] = ()
    ) -> list[str]:
        """Return search texts, the rarest name of each of the best hits first."""
        counts = self.counts.get(space, {})
        asked = {fold(word) for word in words(question)} | STOP_WORDS
        defined = {name for text in (*view, *texts) if self.code for name in _DEFINED.findall(text)}
        columns = []
        for text in texts[:BEST_HITS]:
            found = symbols_of(text) if self.code else names_of(text)
            fresh = [
                name
                for name in found
                if name not in defined and not {fold(word) for word in words(name)} <= asked
            ]
            columns.append(rarest(fresh, counts))
        turns = (name for row in zip_longest(*columns) for name in row if name is not None)
        chosen = list(dict.fromkeys(turns))[:MAX_QUERIES]
        short = len(question.split()) <= SHORT_QUESTION_WORDS
        return [f"{name} {question}" if short else name for name in chosen]


def names_of(text: str) -> list[str]:
    """Return capitalised spans, in order; a single capitalised word only where no sentence begins.

    >>> names_of("The film was made by Jane Doe. She met Henrik in Lund.")
    ['Jane Doe', 'Henrik', 'Lund']
    """
    found = []
    for match in _NAME.finditer(text):
        name = match.group().strip(" .,'’-")
        if (
            len(name) >= MIN_SYMBOL
            and fold(name) not in STOP_WORDS
            and (" " in name or not _begins(text, match.start()))
        ):
            found.append(name)
    return list(dict.fromkeys(found))


def _begins(text: str, start: int) -> bool:
    """Tell whether a sentence begins at a place.

    Only the blanks before it are looked at, so that long texts stay cheap.
    """
    at = start
    while at and text[at - 1].isspace():
        at -= 1
    return start == 0 or (at > 0 and text[at - 1] in ".!?:")
