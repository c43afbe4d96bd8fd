"""Does a text only begin with a capital, as nearly every text does? Then it names nothing, and that is seen quickly."""

from __future__ import annotations

from clew.graph.entities.lexicon import DEEDS, KNOWN, PROJECT_WORDS, WORK_WORDS
from clew.graph.entities.reading import Reading
from clew.graph.entities.stretch import SMALL, Shape
from clew.graph.entities.weighing import OPENING

_CUES = DEEDS | PROJECT_WORDS | WORK_WORDS | {"is", "was", "are", "were", "has"}
"""What may follow the first word of a text and make it more likely a name."""


def merely_begins(reading: Reading, *, least: float) -> bool:
    """Tell whether the one word that could be a name is the first, with no more to say so than its capital: less than is asked for.

    The rules would find the same, each by lists of its own: this is what `guess` and `confidence` come to.

    >>> from clew.graph.entities.reading import read
    >>> texts = ("Deploy the service", "Anna likes it", "Titanic is a film", "Falcon project plans", "Deploy Redis")
    >>> [merely_begins(read(text), least=0.75) for text in texts]
    [True, False, False, False, False]
    """
    if reading.telling != [0] or least <= OPENING or not reading.text.isascii():
        return False
    first = reading.stretches[0]
    if first.shape is not Shape.CAPITAL or first.hump or first.possessive or first.label or reading.words[0] in KNOWN:
        return False
    return len(reading.stretches) == 1 or (reading.stretches[1] is SMALL and reading.words[1] not in _CUES)
