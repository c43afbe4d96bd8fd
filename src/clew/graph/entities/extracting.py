"""From a text to its entities: read it once, collect mentions, join them by key, keep the surest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from clew.errors import InputError
from clew.graph.entities.beginning import merely_begins
from clew.graph.entities.guessing import Guess, guess
from clew.graph.entities.joining import Mention, joined, kept
from clew.graph.entities.marked import marked
from clew.graph.entities.ranks import rank_end
from clew.graph.entities.reading import Reading, Run, read
from clew.graph.entities.runs import listed, runs
from clew.graph.entities.stretch import SMALL
from clew.graph.entities.titles import titled
from clew.graph.entities.unspaced import standing
from clew.graph.entities.value import Entity, EntityType
from clew.graph.entities.weighing import confidence

MAX_ENTITIES = 10  # of a memory (mission V8)
LEAST_CONFIDENCE = 0.75  # (mission V8)
_PROSE = frozenset(("text", "markdown", "html", "conversation"))


def entities(
    text: str, *, title: str = "", format: str = "text", limit: int = MAX_ENTITIES, least: float = LEAST_CONFIDENCE
) -> tuple[Entity, ...]:
    """Return what a text names, surest first, then in reading order: at most `limit`, each at least `least` sure.

    `format` is text, markdown, html or conversation; any other name is taken for a language of code.

    >>> [(entity.name, str(entity.type)) for entity in entities("Matt moved to Lisbon on Monday; see docs/plan.md")]
    [('docs/plan.md', 'FILE'), ('Matt', 'PERSON'), ('Lisbon', 'PLACE')]
    """
    check_limits(limit=limit, least=least)
    reading = read(text, format=format)
    found = joined(text, _mentions(reading, code=format not in _PROSE, least=least), least=least)
    subject = titled(title, text) if title else None
    if subject and subject.confidence >= least:
        found = [subject, *(entity for entity in found if entity.key != subject.key)]
    return kept(found, limit=limit)


def check_limits(*, limit: int, least: float) -> None:
    """Refuse limits that cannot be meant."""
    if limit < 0:
        raise InputError("limit", limit, "must not be negative", "Give how many entities a text may have, such as 10.")
    if not 0 <= least <= 1:
        raise InputError("least", least, "must lie between 0 and 1", "Give the lowest confidence to keep, such as 0.75.")


def _mentions(reading: Reading, *, code: bool, least: float) -> Iterator[Mention]:
    """Yield every mention, but for a lone one that is not sure enough; what lies inside a marked term is part of it."""
    terms = [Mention(*term) for term in marked(reading.text, code=code)]
    if not terms and merely_begins(reading, least=least):
        return
    yield from terms
    inside = _covered(terms)
    apart = () if reading.text.isascii() else (Mention(*each) for each in standing(reading.text))
    for mention in chain(_named(reading), _spelled(reading), apart):
        if mention.start not in inside:
            yield mention


def _covered(terms: Iterable[Mention]) -> frozenset[int]:
    return frozenset(position for term in terms for position in range(term.start, term.end))


def _named(reading: Reading) -> Iterator[Mention]:
    before: tuple[Run, Guess] | None = None
    for run in runs(reading):
        found = guess(reading, run)
        if found.usual and run.first == run.last and before and listed(reading, before[0], run):
            found = found._replace(type=before[1].type)
        before = run, found
        start = reading.starts[run.first] + reading.stretches[run.first].first
        end = (
            reading.ends[run.last] if reading.stretches[run.last] is SMALL else reading.starts[run.last] + reading.stretches[run.last].last
        )
        sure = confidence(reading, run, found)
        yield Mention(start, end, found.type, sure)
        if found.type is EntityType.PERSON and (behind := rank_end(reading.text, end)) > end:
            yield Mention(start, behind, EntityType.PERSON, sure)


def _spelled(reading: Reading) -> Iterator[Mention]:
    for i in reading.telling:
        piece = reading.stretches[i]
        if piece.code:
            start = reading.starts[i] + piece.first
            yield Mention(start + piece.code.start, start + piece.code.end, piece.code.type, piece.code.confidence)
