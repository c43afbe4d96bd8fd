"""Who is meant by half a name: "Matt" is "Matt Joyce" as long as there is only one Matt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from clew.graph.entities.key import entity_key
from clew.graph.entities.lexicon import (
    DEMONYMS,
    GIVEN,
    ORG_ENDS,
    ORG_HEADS,
    ORGS,
    PARTICLES,
    PLACE_ENDS,
    PLACE_HEADS,
    PLACES,
    TOOLS,
    is_common,
)

MAX_OWNERS = 8  # full names remembered for a part: more of them would not make it less ambiguous
MOST_WORDS = 6  # of a person's name
_NO_PERSONS = ORG_ENDS | ORG_HEADS | PLACE_ENDS | PLACE_HEADS | PLACES | ORGS | TOOLS | DEMONYMS
_JOINTS = PARTICLES - {"of"}


@dataclass(frozen=True, slots=True)
class Aliases:
    """Known names, and which longer names each part of them could stand for; adding names makes a new value.

    Only parts of people's names stand for the whole: "Oxford" is not the University of Oxford, nor "York" New York.

    >>> known = Aliases().adding(["Matt Joyce", "University of Oxford"])
    >>> dict(known.resolve(["Matt", "Oxford"]))
    {'matt': 'matt joyce', 'oxford': 'oxford'}
    >>> dict(known.adding(["Matt Smith"]).resolve(["Matt", "Joyce"]))
    {'matt': 'matt', 'joyce': 'matt joyce'}
    """

    owners: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))

    def adding(self, names: Iterable[str]) -> Aliases:
        """Return the aliases with further names known: one copy of the index for each call, so add in batches."""
        owners = dict(self.owners)
        for key in dict.fromkeys(map(entity_key, names)):
            for part in parts(key):
                known = owners.get(part, frozenset())
                if len(known) < MAX_OWNERS:
                    owners[part] = known | {key}
        return Aliases(MappingProxyType(owners))

    def resolve(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return for the key of each name the key that it stands for: its own, unless exactly one longer name is meant."""
        return MappingProxyType({key: self.canonical(key) for key in map(entity_key, names) if key})

    def canonical(self, key: str) -> str:
        """Return the key that a key stands for; "matt" by way of "matt joyce" may be "matt joyce miller"."""
        known = self.owners.get(key, frozenset())
        if not known or len(known) >= MAX_OWNERS:
            return key
        meant = {self.canonical(owner) for owner in known}  # owners are longer than their parts, so this comes to an end
        return meant.pop() if len(meant) == 1 else key


def resolve(names: Iterable[str]) -> Mapping[str, str]:
    """Return the key that each name stands for among these names.

    >>> dict(resolve(["Matt", "Matt Joyce"]))
    {'matt': 'matt joyce', 'matt joyce': 'matt joyce'}
    """
    known = list(names)
    return Aliases().adding(known).resolve(known)


def parts(key: str) -> tuple[str, ...]:
    """Return what may stand for a person's name: its beginnings and endings, but no bare particle; a place gives none.

    >>> parts("ludwig van beethoven"), parts("paris hilton"), parts("new york")
    (('ludwig', 'van beethoven', 'beethoven'), (), ())
    """
    words = key.split()
    if not 1 < len(words) <= MOST_WORDS or not _is_person(words):
        return ()
    beginnings = (words[:i] for i in range(1, len(words)))
    endings = (words[i:] for i in range(1, len(words)))
    found = (" ".join(piece) for piece in (*beginnings, *endings) if piece[-1] not in _JOINTS and len(piece[0]) > 1)
    return tuple(dict.fromkeys(part for part in found if part not in PLACES))


def _is_person(words: list[str]) -> bool:
    """Tell whether a name reads like a person's; a given name at its beginning leaves only its last word to object."""
    if words[0] in GIVEN:
        return words[-1] not in ORG_ENDS and "of" not in words
    return not any(word in _NO_PERSONS or is_common(word) or not word.isalpha() for word in words if word not in _JOINTS)
