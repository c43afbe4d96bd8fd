"""From a clause to a question: the verb goes to the front, and what only points elsewhere is not asked about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from clew.graph.entities.lexicon import is_common
from clew.ingest.questions.verbs import AUXILIARIES, BASE_OF_PAST, BASE_OF_THIRD, NEGATED
from clew.words import folded

SUBJECT_WORDS = 10  # a longer subject holds a clause of its own
_END = re.compile(r"[;:] | [-–—] |, (?:so|which|but|and then|then|and) | until |, ?(?=\w+ing )")
_WHEN = re.compile(r",? (?:when|after|until|unless|once) ")
_POINTERS = frozenset("it this that these those they he she there which what who one some both each all everything nothing".split())
_SURE = AUXILIARIES | NEGATED.keys() | BASE_OF_PAST.keys()


def lowered(text: str) -> str:
    """Return a phrase as it stands within a sentence; what may be a name keeps its capital.

    >>> lowered("The build on Jenkins"), lowered("Jenkins")
    ('the build on Jenkins', 'Jenkins')
    """
    first, space, rest = text.partition(" ")
    usual = first.istitle() and first != "I" and is_common(folded(first))
    return f"{first.lower()}{space}{rest}" if usual else text


def clause(text: str) -> str:
    """Return the first clause of a sentence.

    >>> clause("the stuck queue; nobody knows why.")
    'the stuck queue'
    """
    return _END.split(text.strip(), maxsplit=1)[0].strip(" ,.;:!").removesuffix(" and").strip()


def statement(text: str) -> str:
    """Return the first clause of a sentence without its circumstances.

    >>> statement("Customers were charged twice when the call timed out.")
    'Customers were charged twice'
    """
    return _WHEN.split(clause(text), maxsplit=1)[0]


def points(text: str) -> bool:
    """Tell whether a phrase only points to something said before: nobody could ask by it.

    >>> points("it"), points("This"), points("this build")
    (True, True, False)
    """
    return not text or text.lower() in _POINTERS


def why(said: str) -> str | None:
    """Return the question for the reason of what a clause says.

    >>> why("The nightly build failed on Windows")
    'Why did the nightly build fail on Windows?'
    >>> why("Containers could not resolve hosts"), why("the cache doesn't expire")
    ('Why could containers not resolve hosts?', 'Why does the cache not expire?')
    >>> why("Tests passed alone and failed together"), why("It failed again"), why("A green field")
    ('Why did tests pass alone and fail together?', None, None)
    """
    words = said.split()
    at = _verb_at(words)
    if at is None or points(" ".join(words[:at])) or "it" in words[at:]:
        return None
    verb, rest = _inverted(words[at].lower(), words[at + 1 :])
    return f"Why {verb} {lowered(' '.join(words[:at]))} {' '.join(rest)}?" if rest else None


def _verb_at(words: Sequence[str]) -> int | None:
    """Return where the verb of a clause stands; a word in -s may be a plural, so it is the verb only where there is no other."""
    said = [word.lower().rstrip(",") for word in words[: SUBJECT_WORDS + 1]]
    places = (at for verbs in (_SURE, BASE_OF_THIRD.keys()) for at, word in enumerate(said) if at and word in verbs)
    return next(places, None)


def _inverted(verb: str, rest: Sequence[str]) -> tuple[str, list[str]]:
    """Return the verb that a question begins with, and what is left for behind the subject."""
    if verb in NEGATED or verb == "cannot":
        return NEGATED.get(verb, "can"), ["not", *rest]
    if verb in BASE_OF_PAST:
        return "did", _bared([verb, *rest], BASE_OF_PAST)
    if verb in BASE_OF_THIRD:
        return "does", _bared([verb, *rest], BASE_OF_THIRD)
    return verb, list(rest)


def _bared(words: Sequence[str], bases: Mapping[str, str]) -> list[str]:
    """Return the words with the first verb, and one that "and" joins to it, as they stand beside "did" and "does"."""
    return [bases.get(word, word) if not at or words[at - 1] in ("and", "never") else word for at, word in enumerate(words)]
