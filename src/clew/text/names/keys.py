"""One key for all the ways to write a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from clew.text.names.lexicon import (
    DEMONYMS,
    GIVEN,
    ORG_ENDS,
    ORG_HEADS,
    ORGS,
    PARTICLES,
    PLACE_ENDS,
    PLACE_HEADS,
    PLACES,
    TITLES,
    TOOLS,
    is_common,
)
from clew.text.words import STOP_WORDS, WORD_CACHE_SIZE, fold

# words of a title that may be called by what is before its comma: a longer one is a sentence
MAX_HEAD_WORDS = 8
MAX_KEY = 120  # characters: a longer name is a blob, and its start identifies it well enough
_ARTICLES = frozenset(("the", "a", "an"))
_PARENTHESIS = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+$")
_POSSESSIVE = re.compile(r"['’]s?(?=\s|$)")
_APOSTROPHES = re.compile(r"['’‘`]")
_PUNCTUATION = re.compile(r"[^\w+#@/]+")  # C++, C#, @handle and a/path keep what tells them apart
_MARKED = re.compile(r"[^a-z0-9 ]")


@lru_cache(maxsize=WORD_CACHE_SIZE)
def entity_key(name: str) -> str:
    """Return what joins the ways to write a name.

    No case, accents, possessive, article, punctuation, closing parenthesis.

    >>> entity_key("The Beatles'"), entity_key("José Müller’s"), entity_key("Titanic (1997 film)"), entity_key("C++")
    ('beatles', 'jose muller', 'titanic', 'c++')
    >>> entity_key("U.S.A."), entity_key("The The"), entity_key("#launch"), entity_key("src/a.py")
    ('usa', 'the', '#launch', 'src/a py')
    """
    if name.isascii() and name.isalpha():  # one word, as most are
        return name.lower()[:MAX_KEY]
    return _normalise_name(_PARENTHESIS.sub("", name[: 2 * MAX_KEY]) or name)


def title_keys(title: str) -> tuple[str, ...]:
    """Return the key of a title and its further ones.

    With the parenthesis, and without what follows a comma.

    Also without a person's title ("Princess Yolanda of Savoy"). One word of a longer title
    ("Lambert, Margrave of Tuscany") names too many to be a key.

    >>> title_keys("Titanic (1997 film)"), title_keys("Boso, Duke"), title_keys("Anna Maria Sforza, Duchess")
    (('titanic', 'titanic 1997 film'), ('boso duke',), ('anna maria sforza duchess', 'anna maria sforza'))
    """
    whole = entity_key(title)
    head = entity_key(title.partition(",")[0]) if whole.count(" ") < MAX_HEAD_WORDS else ""
    shorter = [key for key in (head, _without_title(whole)) if " " in key]
    return tuple(dict.fromkeys(key for key in (whole, _normalise_name(title), *shorter) if key))


MAX_SHORTENED_WORDS = 7  # words of a name that is also known by its first words


def key_beginnings(key: str) -> tuple[str, ...]:
    """Return what a longer name is often called by.

    Its key without the last one or two words, two words at least.

    >>> key_beginnings("nottingham forest fc"), key_beginnings("marie curie"), key_beginnings("battle of trasimene")
    (('nottingham forest',), (), ())
    """
    words = key.split()
    if not 2 < len(words) <= MAX_SHORTENED_WORDS or words[0] in STOP_WORDS:
        return ()
    parts = (words[:-1], words[:-2])
    return tuple(" ".join(part) for part in parts if len(part) > 1 and part[-1] not in STOP_WORDS)


def _without_title(key: str) -> str:
    first, _, rest = key.partition(" ")
    named = (
        first in TITLES and not rest.startswith("of ") and rest.rpartition(" ")[2] not in ORG_ENDS
    )
    return rest if named else key


def _normalise_name(name: str) -> str:
    plain = name.casefold()
    if _MARKED.search(plain):
        plain = fold(_POSSESSIVE.sub("", plain))
        plain = _PUNCTUATION.sub(" ", _join_initials(_APOSTROPHES.sub("", plain)))
    parts = plain.split()
    first = next((at for at, part in enumerate(parts) if part not in _ARTICLES), len(parts) - 1)
    return " ".join(parts[max(0, first) :])[:MAX_KEY].strip()


_INITIALS = re.compile(r"(?<![\w.])(?:[^\W\d_]\.)+[^\W\d_](?!\w)\.?")


def _join_initials(plain: str) -> str:
    """Write "u.s.a." as one word; a lone initial stays by itself."""
    return _INITIALS.sub(lambda found: found[0].replace(".", ""), plain) if "." in plain else plain


MAX_OWNERS = 8  # full names remembered for a part: more of them would not make it less ambiguous
MAX_PERSON_WORDS = 6  # of a person's name
_NO_PERSONS = ORG_ENDS | ORG_HEADS | PLACE_ENDS | PLACE_HEADS | PLACES | ORGS | TOOLS | DEMONYMS
_JOINTS = PARTICLES - {"of"}


@dataclass(frozen=True, slots=True)
class Aliases:
    """Known names, and which longer names each part of them could stand for.

    Adding names makes a new value.

    Only parts of people's names stand for the whole: "Oxford" is not the University of Oxford, nor
    "York" New York.

    >>> known = Aliases().adding(["Matt Joyce", "University of Oxford"])
    >>> dict(known.resolve(["Matt", "Oxford"]))
    {'matt': 'matt joyce', 'oxford': 'oxford'}
    >>> dict(known.adding(["Matt Smith"]).resolve(["Matt", "Joyce"]))
    {'matt': 'matt', 'joyce': 'matt joyce'}
    """

    owners: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))

    def adding(self, names: Iterable[str]) -> Aliases:
        """Return the aliases with further names known.

        One copy of the index for each call, so add in batches.
        """
        owners = dict(self.owners)
        for key in dict.fromkeys(map(entity_key, names)):
            for part in person_name_parts(key):
                known = owners.get(part, frozenset())
                if len(known) < MAX_OWNERS:
                    owners[part] = known | {key}
        return Aliases(MappingProxyType(owners))

    def resolve(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return for the key of each name the key that it stands for.

        Its own, unless exactly one longer name is meant.
        """
        return MappingProxyType({key: self.canonical(key) for key in map(entity_key, names) if key})

    def canonical(self, key: str) -> str:
        """Return the key that a key stands for.

        "matt" by way of "matt joyce" may be "matt joyce miller".
        """
        known = self.owners.get(key, frozenset())
        if not known or len(known) >= MAX_OWNERS:
            return key
        # owners are longer than their parts, so this comes to an end
        meant = {self.canonical(owner) for owner in known}
        return meant.pop() if len(meant) == 1 else key


def resolve_names(names: Iterable[str]) -> Mapping[str, str]:
    """Return the key that each name stands for among these names.

    >>> dict(resolve_names(["Matt", "Matt Joyce"]))
    {'matt': 'matt joyce', 'matt joyce': 'matt joyce'}
    """
    known = list(names)
    return Aliases().adding(known).resolve(known)


def person_name_parts(key: str) -> tuple[str, ...]:
    """Return what may stand for a person's name: its beginnings and endings, but no bare particle.

    A place gives none.

    >>> person_name_parts("ludwig van beethoven"), person_name_parts("paris hilton"), person_name_parts("new york")
    (('ludwig', 'van beethoven', 'beethoven'), (), ())
    """
    words = key.split()
    if not 1 < len(words) <= MAX_PERSON_WORDS or not _is_person(words):
        return ()
    beginnings = (words[:i] for i in range(1, len(words)))
    endings = (words[i:] for i in range(1, len(words)))
    found = (
        " ".join(piece)
        for piece in (*beginnings, *endings)
        if piece[-1] not in _JOINTS and len(piece[0]) > 1
    )
    return tuple(dict.fromkeys(part for part in found if part not in PLACES))


def _is_person(words: list[str]) -> bool:
    """Tell whether a name reads like a person's.

    A given name at its beginning leaves only its last word to object.
    """
    if words[0] in GIVEN:
        return words[-1] not in ORG_ENDS and "of" not in words
    return not any(
        word in _NO_PERSONS or is_common(word) or not word.isalpha()
        for word in words
        if word not in _JOINTS
    )


class EntityType(StrEnum):
    """The kind of thing that a name stands for."""

    PERSON = "PERSON"
    ORG = "ORG"
    SYSTEM = "SYSTEM"
    PROJECT = "PROJECT"
    PLACE = "PLACE"
    SKILL = "SKILL"
    TOOL = "TOOL"
    FILE = "FILE"
    CONCEPT = "CONCEPT"


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that a text names.

    `text[start:end] == name` where the text itself does, `start == end == 0` where only its title
    does.

    `key` joins what is written in several ways; `aliases` are further keys under which a title may
    be looked for.
    """

    name: str
    key: str
    type: EntityType
    confidence: float
    start: int
    end: int
    aliases: tuple[str, ...] = ()
