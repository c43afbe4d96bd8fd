"""Load the word lists for the detection of names: lexicon.toml and common.txt."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files

from clew.text.words import STOP_WORDS, WORD_CACHE_SIZE, fold

_HERE = files("clew.text.names")
_LISTS: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        _HERE.joinpath("lexicon.toml").read_text(encoding="utf-8")
    ).items()
}
COMMON = frozenset(
    word
    for line in _HERE.joinpath("common.txt").read_text(encoding="utf-8").splitlines()
    if line[:1] != "#"
    for word in line.split()
)
FUNCTION_WORDS = STOP_WORDS | _LISTS["openers"]
MONTHS, WEEKDAYS, DEMONYMS, PARTICLES, EPITHETS, TITLES, RELATIONS, DEEDS = (
    _LISTS[name]
    for name in (
        "months",
        "weekdays",
        "demonyms",
        "particles",
        "epithets",
        "titles",
        "relations",
        "deeds",
    )
)
ORG_ENDS, ORG_HEADS, ORG_WORDS, PLACE_ENDS, PLACE_HEADS, PROJECT_WORDS, WORK_WORDS, WORK_ENDS, EVENT_HEADS = (
    _LISTS[name]
    for name in (
        "org_ends", "org_heads", "org_words", "place_ends", "place_heads", "project_words", "work_words", "work_ends", "event_heads",
    )
)  # fmt: skip
PLACE_BEFORE, PERSON_BEFORE = (_LISTS[name] for name in ("place_before", "person_before"))
GIVEN, PLACES, ORGS, TOOLS, SKILLS, PLAIN_TOOLS = (
    _LISTS[name] for name in ("given", "places", "orgs", "tools", "skills", "plain_tools")
)
STANDARDS, SYSTEM_ENDS, DOMAINS, EXTENSIONS, FILE_NAMES = (
    _LISTS[name] for name in ("standards", "system_ends", "domains", "extensions", "file_names")
)
DATES = MONTHS | WEEKDAYS
INNER = PARTICLES | {"the", "and", "for", "in"}
"""Small words that may stand inside a name."""
KNOWN = GIVEN | PLACES | ORGS | TOOLS | SKILLS
NAME_HEADS = (
    EVENT_HEADS
    | PLACE_HEADS
    | PROJECT_WORDS
    | ORG_HEADS
    | WORK_ENDS
    | KNOWN
    | DEMONYMS
    | frozenset(("hurricane", "typhoon", "cyclone"))
)
"""Words that may begin a name though they are common."""
_COMMON_SUFFIXES = (
    "tion", "tions", "ing", "ings", "ness", "ment", "ments", "ably", "ibly", "ously", "ally", "ized", "ised", "able", "ible", "ful",
    "less", "ical", "esis", "ology", "ability", "ives", "ators", "ers",
)  # fmt: skip
_MIN_SUFFIXED = 8  # letters: "Sterling" is a word, "Reading" and "Hastings" may be names


@lru_cache(maxsize=WORD_CACHE_SIZE)
def is_common(word: str) -> bool:
    """Tell whether a folded word is one that English writes in lower case.

    Listed, or built like one.

    >>> is_common("garden"), is_common("photosynthesis"), is_common("kraftwerk")
    (True, True, False)
    """
    if word in COMMON or word in FUNCTION_WORDS or (word.endswith("s") and word[:-1] in COMMON):
        return True
    if word in KNOWN:
        return False
    return len(word) >= _MIN_SUFFIXED and word.isascii() and word.endswith(_COMMON_SUFFIXES)


def plain(word: str) -> str:
    """Return a word as the lists have it."""
    return fold(word)
