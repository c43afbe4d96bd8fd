"""Does a turn answer the turn before it? Then what was asked there counts for it; and to ask is not to tell.

"Where did you go on holiday?" holds the words of most questions about that holiday, and "To Lisbon, it was lovely!" the answer.
A turn that follows a question gets a share of the question's relevance, and the question pays for as much of it as only asks.
Only units that are found amid their neighbours, by a context key, do either: of other texts none replies to the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from clew.ports import Store
from clew.recall.state import Component, Hit, LazyHits, Question, Recall
from clew.recall.talk import asking
from clew.recall.turns import Turns, moved, with_parts
from clew.types import NodeId
from clew.words import folded, words

REPLY, ASKING, SEMANTIC = "reply", "asking", "semantic"
LOOKED_AT = 4  # times as many hits as are asked for: six or eight find hardly more on the dev part of LoCoMo
ABOUT_QUESTIONS = frozenset({"ask", "asks", "asked", "asking", "question", "questions", "wonder", "wonders", "wondered"})


@dataclass(frozen=True, slots=True)
class Reply:
    """Let a turn share in the relevance of the question that it follows, and let questions cost what they do not tell."""

    weight: float
    asking_weight: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the components `reply` and `asking` to the hits, and put them in the order of their scores."""
        return moved(recall, partial(self._moved, recall.question), store=self.store, looked_at=LOOKED_AT)

    def _moved(self, question: Question, hits: LazyHits, first: Sequence[Hit], turns: Turns) -> LazyHits:
        asked = {id: share for id, node in turns.items() if (share := asking(node.text))}
        if not asked:
            return hits
        found = {hit.id: hit for hit in first}
        worth = {reply: found[id].components[SEMANTIC].value for id, reply in replies(turns).items() if id in asked}
        semantic, cost = question.weights.semantic, self._cost(question)

        def with_both(id: NodeId) -> Hit:
            parts = {REPLY: Component(worth.get(id, 0.0), self.weight * semantic), ASKING: Component(-asked.get(id, 0.0), cost)}
            return with_parts(found[id], parts)

        return hits.exchanged({id: with_both(id) for id in asked.keys() | worth.keys()})

    def _cost(self, question: Question) -> float:
        """Return what it costs to ask: nothing where the question is about questions."""
        about = ABOUT_QUESTIONS & set(map(folded, words(question.text)))
        return 0.0 if about else self.asking_weight * question.weights.semantic


def replies(turns: Turns) -> dict[NodeId, NodeId]:
    """Return for each turn the one that follows it in its section, where that is there too."""
    at = {(node.parent, node.position): id for id, node in turns.items()}
    after = {id: at.get((node.parent, node.position + 1)) for id, node in turns.items() if node.parent and node.position is not None}
    return {id: reply for id, reply in after.items() if reply is not None}
