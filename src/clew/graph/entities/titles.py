"""What the title of a node names: nearly always the node's subject."""

from __future__ import annotations

import re
from typing import NamedTuple

from clew.graph.entities.guessing import guess
from clew.graph.entities.key import title_keys
from clew.graph.entities.lexicon import ORG_ENDS, PLACE_ENDS, RELATIONS, WORK_WORDS
from clew.graph.entities.reading import Run, read
from clew.graph.entities.unspaced import RUN
from clew.graph.entities.value import Entity, EntityType
from clew.words import folded, words

CONFIDENCE = 0.99
MAX_TITLE = 200  # characters: a longer one is a first line, which names nothing as a whole
_PARENTHESIS = re.compile(r"^(.*\S)\s*\(([^()]*)\)\s*$", re.DOTALL)


class _Sense(NamedTuple):
    words: frozenset[str]
    type: EntityType


# What a parenthesis says a title is: "(1997 film)", "(politician)".
_SENSES = (
    _Sense(WORK_WORDS, EntityType.CONCEPT),
    _Sense(ORG_ENDS | {"band", "magazine", "newspaper"}, EntityType.ORG),
    _Sense(frozenset(("software", "library", "framework", "tool", "program")), EntityType.TOOL),
    _Sense(frozenset(("language",)), EntityType.SKILL),
    _Sense(RELATIONS | {"artist", "musician", "bishop", "king", "queen", "born", "cricketer", "footballer", "officer"}, EntityType.PERSON),
    _Sense(PLACE_ENDS, EntityType.PLACE),
)


def titled(title: str, text: str) -> Entity | None:
    """Return the entity that a title names, found in the text where the text has it as written.

    >>> film = titled("Titanic (1997 film)", "Titanic is a film.")
    >>> film.name, film.key, film.aliases, str(film.type), film.start, film.end
    ('Titanic', 'titanic', ('titanic 1997 film',), 'CONCEPT', 0, 7)
    """
    if not title:
        return None
    title = " ".join(title.split())
    keys = title_keys(title) if len(title) <= MAX_TITLE else ()
    if not keys:
        return None
    split = _PARENTHESIS.match(title)
    name, sense = (split[1], split[2]) if split else (title, "")
    start = _found(name, text)
    place = (name, start, start + len(name)) if start >= 0 else (title, 0, 0)
    return Entity(place[0], keys[0], _type(name, sense), CONFIDENCE, *place[1:], keys[1:])


def _found(name: str, text: str) -> int:
    """Return where a text has a name as a whole word, or -1; where no spaces are written, anywhere.

    >>> _found("Anna", "Annabel saw Anna"), _found("東京タワー", "昨日東京タワーへ行った"), _found("Redis", "我们用Redis")
    (12, 2, 3)
    """
    start, size = text.find(name), len(name)
    while start >= 0 and (_same_word(text[start - 1 : start], name[0]) or _same_word(text[start + size : start + size + 1], name[-1])):
        start = text.find(name, start + size)
    return start


def _same_word(neighbour: str, edge: str) -> bool:
    if not neighbour.isascii() and (RUN.match(neighbour) or RUN.match(edge)):
        return False
    return neighbour.isalnum() or neighbour == "_"


def _type(name: str, sense: str) -> EntityType:
    said = {folded(word) for word in words(sense)}
    for meant in _SENSES:
        if said & meant.words:
            return meant.type
    reading = read(name.partition(",")[0])
    if not reading.stretches:
        return EntityType.CONCEPT
    if len(reading.stretches) == 1 and (code := reading.stretches[0].code):
        return code.type
    return guess(reading, Run(0, len(reading.stretches) - 1, opening=False)).type
