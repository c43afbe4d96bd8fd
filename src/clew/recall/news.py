"""Does a turn tell what happened? In a talk most turns only answer to one that does.

"I joined a gym last week" is what is asked for later, and "That's great, keep it up!" is as near to most questions about it. A
turn that says when has news more often than others, so it gains a little, whatever the question is. Only what somebody is quoted
as saying, and is found amid its neighbours, by a context key, does: any other text may say when on every page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from clew.ports import Store
from clew.recall.state import Component, Hit, LazyHits, Question, Recall
from clew.recall.talk import speaker, tells_of_a_time
from clew.recall.turns import Turns, moved, with_parts

NEWS = "news"
LOOKED_AT = 4  # times as many hits as are asked for, as where replies are looked for


@dataclass(frozen=True, slots=True)
class News:
    """Let a turn gain that tells of a time."""

    weight: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the component `news` to the hits, and put them in the order of their scores."""
        return moved(recall, partial(self._moved, recall.question), store=self.store, looked_at=LOOKED_AT)

    def _moved(self, question: Question, hits: LazyHits, first: Sequence[Hit], turns: Turns) -> LazyHits:
        part = {NEWS: Component(1.0, self.weight * question.weights.semantic)}
        told = {id for id, node in turns.items() if tells_of_a_time(node.text) and speaker(node.text)}
        return hits.exchanged({hit.id: with_parts(hit, part) for hit in first if hit.id in told}) if told else hits
