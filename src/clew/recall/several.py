"""Does the question ask for several things? Then they come from several places.

"What books has Melanie read?" is answered by one turn in each of four sessions, and the turns around the first of them must
not fill the answer. Each further turn of a section costs a little more than the one before. Only units that are found amid
their neighbours, by a context key, cost anything: of a long text two chunks of one section say two things, and a memory stands
alone. A question for one thing passes untouched, for its answer often lies in two turns side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.recall.score import total
from clew.recall.state import Component, Hit, Recall
from clew.types import NodeId
from clew.words import folded, words

AGAIN = "again"
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
    """Where several things are asked for, let each further hit of one section cost `weight` more than the one before it."""

    weight: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the component `again` to the hits, and put them in the order of their scores."""
        if not asks_for_several(recall.question.text) or not self.store.coverage(recall.question.where.space).sections:
            return recall
        hits = list(recall.hits)
        if not all(hit.components for hit in hits):  # not scored: there is nothing to add a cost to
            return recall
        again = places(self._sections(hits, LOOKED_AT * recall.question.k))
        costly = [_with(hit, count, self.weight) for hit, count in zip(hits, again, strict=True)]
        return replace(recall, hits=tuple(sorted(costly, key=lambda hit: (-hit.score, hit.id))))

    def _sections(self, hits: Sequence[Hit], count: int) -> list[NodeId | None]:
        """Return the section of each of the first hits that is found amid its neighbours."""
        nodes = self.store.get([hit.id for hit in hits[:count]])
        sections = {id: node.parent for id, node in nodes.items() if node.context}
        return [sections.get(hit.id) for hit in hits]


def _with(hit: Hit, count: int, weight: float) -> Hit:
    if not count:
        return hit
    components = {**hit.components, AGAIN: Component(-float(count), weight)}
    return hit._replace(score=total(components), components=components)
