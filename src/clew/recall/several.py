"""Does the question ask for several things? Then they come from several places.

"What books has Melanie read?" is answered by one turn in each of four sessions, and the turns around the first of them must
not fill the answer. Each further turn of a section costs a little more than the one before. Where the question names one of
those who talk, what she says herself gains: others mostly say what they think of it.
All this is for units that are found amid their neighbours, by a context key: of a long text two chunks of one section say two
things, and a memory stands alone. A question for one thing passes untouched, for its answer often lies in two turns side by side.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

from clew.ports import Store
from clew.recall.fetch import covered
from clew.recall.state import Component, Hit, LazyHits, Question, Recall
from clew.recall.talk import speakers
from clew.recall.turns import Turns, moved, with_parts
from clew.types import NodeId
from clew.words import STOP_WORDS, folded, words

SAID, AGAIN = "said", "again"
ASKING = frozenset({"what", "which", "whose", "who", "whom", "where"})
OF_THINGS = frozenset({"what", "which", "whose"})
COUNTED = frozenset({"many", "often"})  # after "how"
SINGULAR = frozenset({"is", "was", "does", "has", "this", "his", "us", "its", "yes", "always", "as", "gas", "christmas", "canvas"})
NOT_PLURAL = ("ss", "us", "is")
SHORTEST_PLURAL = 4
NOUN_WITHIN = 3  # words after "what": "what recent art shows"
HAVE_WITHIN = 5  # words after "what": "what kind of art has she made"
LOOKED_AT = 6  # times as many hits as are asked for: what lies behind them does not come into the answer
MOST_WORDS = 64  # of a question: a longer one is a text, and its beginning says what it asks


def asks_for_several(text: str) -> bool:
    """Tell whether a question asks for more than one thing: by a plural, a number, or what somebody has done so far.

    >>> asks_for_several("What books has Melanie read?"), asks_for_several("Where has she camped?"), asks_for_several("How many cats?")
    (True, True, True)
    >>> asks_for_several("When is the stand-up?"), asks_for_several("What is the name of her cat?")
    (False, False)
    """
    asked = [folded(word) for word in words(text)[:MOST_WORDS]]
    return any(_several(word, asked[at + 1 :]) for at, word in enumerate(asked))


def _several(word: str, after: Sequence[str]) -> bool:
    if word == "how":
        return bool(COUNTED & set(after[:1]))
    if word not in ASKING:
        return False
    have = bool({"has", "have"} & set(after[:HAVE_WITHIN]))
    return have or bool({"are", "were"} & set(after[:1])) or (word in OF_THINGS and any(map(plural, after[:NOUN_WITHIN])))


def plural(word: str) -> bool:
    """Tell whether a folded English word looks like a plural.

    >>> [word for word in ("books", "glass", "does", "cat", "activities") if plural(word)]
    ['books', 'activities']
    """
    return len(word) >= SHORTEST_PLURAL and word.endswith("s") and not word.endswith(NOT_PLURAL) and word not in SINGULAR


def places(parents: Sequence[NodeId | None]) -> list[int]:
    """Return for each hit how many before it stand in its section.

    >>> places(["a", "b", "a", None, "a", None])
    [0, 0, 1, 0, 2, 0]
    """
    seen: dict[NodeId, int] = {}
    found = []
    for parent in parents:
        found.append(seen.get(parent, 0) if parent else 0)
        if parent:
            seen[parent] = found[-1] + 1
    return found


@dataclass(frozen=True, slots=True)
class Several:
    """Where several things are asked for, let each further hit of one section cost `weight` more than the one before it.

    Before that, where the question names one of those who talk, what that one says gains `speaker_weight`.
    """

    weight: float
    speaker_weight: float = 0.0
    store: Store = field(repr=False, compare=False, kw_only=True)

    def __call__(self, recall: Recall) -> Recall:
        """Add the components `said` and `again` to the hits, and put them in the order of their scores."""
        if not asks_for_several(recall.question.text) or not covered(recall, store=self.store).sections:
            return recall
        return moved(recall, partial(self._moved, recall.question), store=self.store, looked_at=LOOKED_AT)

    def _moved(self, question: Question, hits: LazyHits, first: Sequence[Hit], turns: Turns) -> LazyHits:
        said = hits.exchanged(self._said(first, turns, question))
        found = [hit for hit in said[: len(first)] if hit.id in turns]
        again = places([turns[hit.id].parent for hit in found])
        costs = {hit.id: with_parts(hit, {AGAIN: Component(-float(count), self.weight)}) for hit, count in zip(found, again, strict=True)}
        return said.exchanged(costs)

    def _said(self, hits: Sequence[Hit], turns: Turns, question: Question) -> dict[NodeId, Hit]:
        """Return the hits that the one speaker says whom the question names, with what that is worth."""
        told = {id: speakers(node.text) for id, node in turns.items()}
        one = asked_about(question.text, frozenset().union(*told.values()))
        part = {SAID: Component(1.0, self.speaker_weight * question.weights.semantic)}
        return {hit.id: with_parts(hit, part) for hit in hits if one is not None and one in told.get(hit.id, ())}


def asked_about(text: str, everyone: Collection[str]) -> str | None:
    """Return the one of several speakers whom a question names; None where it names none or more, or where only one speaks.

    >>> asked_about("What books has Ann read?", ["ann lee", "bob"]), asked_about("What have Ann and Bob read?", ["ann lee", "bob"])
    ('ann lee', None)
    """
    asked = set(map(folded, words(text))) - STOP_WORDS
    named = [person for person in everyone if asked & set(person.split())]
    return named[0] if len(named) == 1 and len(everyone) > 1 else None
