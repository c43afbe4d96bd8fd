"""What a chunk is about to write, seen together with what the store holds already.

Nodes are collected and written at once: one call instead of hundreds, and the store's vectors do
not change under the searches for near duplicates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from clew.graph.mentions import mentions
from clew.memories.conflicts.judging import LEAST_SHARE
from clew.memories.draft import Draft
from clew.memories.duplicates import holds, is_near_duplicate, lasts, near_threshold, same_context
from clew.ports import Background, Store
from clew.settings import Settings
from clew.text.words import content_hash, query_terms
from clew.types import (
    COSINE,
    RELATED,
    Edge,
    Embedding,
    Event,
    Filter,
    Kind,
    Match,
    Node,
    NodeId,
    Ranking,
    Role,
    Vectors,
    ranked,
)

# neighbours asked for first: most texts have no near duplicate, and fifty cost several times as
# much to rescore
PROBED = 4
WORDS_SOUGHT = 16  # of a text without a vector, to find what it may contradict
MOST_SIMILAR = 3  # memories listed beside an inserted text: enough to notice what it may replace


class Near(NamedTuple):
    """What lies near a text.

    The live memory that says the same, the nearest ones, and those of them above the threshold.
    """

    alike: Match | None
    nearest: Ranking
    similar: tuple[tuple[Node, float], ...] = ()
    """The nearest memories above the threshold with their cosines; empty where one of them says the
    same.
    """
    compared: tuple[tuple[Node, float | None], ...] = ()
    """The nearest memories that may contradict the text, with their cosines; None where they were
    found by words.
    """


class Pending:
    """The nodes and events of one chunk; lives inside one transaction, used by one thread."""

    def __init__(self, store: Store, settings: Settings, background: Background) -> None:
        """Begin with nothing to write."""
        self._store = store
        self._settings = settings.duplicates
        self._related = settings.related
        self._conflicts = settings.conflicts
        self._background = background
        self._entities = settings.entities
        self._similar: list[tuple[Node, Match]] = []
        self._nodes: dict[NodeId, Node] = {}
        self._vectors: dict[str, dict[NodeId, Vectors]] = defaultdict(dict)  # by space
        self._codes: dict[NodeId, bytes | None] = {}
        self._texts: dict[tuple[str, str], list[Node]] = defaultdict(list)
        # looked up once: nobody else writes meanwhile
        self._stored_texts: dict[tuple[str, str], list[Node]] = {}
        self._keys: dict[tuple[str, str], Node] = {}
        self._claims: dict[tuple[str, str], NodeId] = {}
        self._events: list[Event] = []
        self._questions: list[Embedding] = []

    def add(
        self,
        node: Node,
        vector: Vectors | None,
        questions: Sequence[Embedding] = (),
        *,
        codes: bytes | None = None,
    ) -> None:
        """Take a new node with its token codes and the vectors of its questions.

        The lookups see it from now on.
        """
        self._questions += questions
        self._nodes[node.id] = node
        self._texts[node.space, node.content_hash].append(node)
        if vector is not None:
            self._vectors[node.space][node.id] = vector
            self._codes[node.id] = codes
        if node.idempotency_key is not None:
            self._keys[node.space, node.idempotency_key] = node

    def remove(self, node: Node) -> None:
        """Delete a node with its versions, stored or about to be; the lookups no longer see it."""
        if self._nodes.pop(node.id, None) is None:
            self._store.delete(self._store.family([node.id]))
            self._stored_texts.clear()
            return
        self._vectors[node.space].pop(node.id, None)
        self._codes.pop(node.id, None)
        self._texts[node.space, node.content_hash].remove(node)
        self._keys = {key: each for key, each in self._keys.items() if each.id != node.id}
        self._events = [event for event in self._events if event.node != node.id]
        self._questions = [each for each in self._questions if each.node != node.id]

    def note(self, event: Event) -> None:
        """Take an event."""
        self._events.append(event)

    def write(self) -> None:
        """Hand everything to the store."""
        made = [
            Embedding(
                node=id,
                role=Role.CONTENT,
                text_hash=self._nodes[id].content_hash,
                vector=vector,
                tokens=self._codes[id],
            )
            for space in self._vectors.values()
            for id, vector in space.items()
        ]
        if self._nodes:
            nodes = list(self._nodes.values())
            self._store.insert(nodes, made + self._questions, self._events)
            self._store.mention(
                [mention for said in mentions(nodes, settings=self._entities) for mention in said]
            )
        elif self._events:
            self._store.append(self._events)
        if edges := list(self._links()):
            self._store.link(edges)
        for (_, key), id in self._claims.items():
            self._store.claim(id, key)

    def node(self, id: NodeId) -> Node | None:
        """Return a node that is stored or about to be."""
        return self._stored(id)

    def by_key(self, offered: Draft) -> Node | None:
        """Return the node that was written under the draft's idempotency key."""
        if offered.idempotency_key is None:
            return None
        found = self._store.find_key(offered.space, offered.idempotency_key) or self._claims.get(
            (offered.space, offered.idempotency_key)
        )
        return self._stored(found) or self._keys.get((offered.space, offered.idempotency_key))

    def claim(self, offered: Draft, id: NodeId) -> None:
        """Let the draft's idempotency key stand for the memory that says it already."""
        if offered.idempotency_key is not None:
            self._claims[offered.space, offered.idempotency_key] = id

    def by_text(self, offered: Draft, *, at: datetime) -> Node | None:
        """Return the live memory with the same text that is true all the time that the offered one is."""
        return next(
            (node for node in self._same_text(offered) if holds(node, offered, at=at)), None
        )

    def goes_on(self, offered: Draft, *, at: datetime) -> Node | None:
        """Return the first live memory with the same text that begins while the offered one is true, and lasts as long."""
        begins = offered.valid_from or at
        later = [
            node
            for node in self._same_text(offered)
            if begins < node.t_valid
            and (offered.valid_to is None or node.t_valid < offered.valid_to)
            and lasts(node, offered, at=at)
        ]
        return min(later, key=lambda node: (node.t_valid, node.id), default=None)

    def _same_text(self, offered: Draft) -> list[Node]:
        key = offered.space, content_hash(offered.text)
        stored = self._stored_texts.get(key)
        if stored is None:
            ids = self._store.find_hash(*key)
            nodes = self._store.get(ids) if ids else {}
            stored = self._stored_texts[key] = [nodes[id] for id in ids if id in nodes]
        return [node for node in (*stored, *self._texts[key]) if same_context(node, offered)]

    def near(self, offered: Draft, vector: Vectors, *, at: datetime) -> Near:
        """Return the nearest live memory that says the same, with its cosine, and those that the first look has found."""
        least = self._background.passage_cosine_at(near_threshold(offered, self._settings))
        probed = max(PROBED, self._related.most) if self._related.enabled else PROBED
        first = self._nearest(offered, vector, at, probed)
        for limit in (probed, self._settings.near_neighbours):
            nearest = first if limit == probed else self._nearest(offered, vector, at, limit)
            if found := self._accepted(
                [match for match in nearest if match.score >= least], offered, at
            ):
                return Near(found, first)
            # no further one can reach the threshold
            if len(nearest) < limit or nearest[-1].score < least:
                break
        close = [match for match in first if match.score >= least][:MOST_SIMILAR]
        compared = self._comparable(first)
        nodes = self._nodes_of(list(dict.fromkeys((*close, *compared))))
        similar = tuple((nodes[match.id], match.score) for match in close if match.id in nodes)
        return Near(
            None,
            first,
            similar,
            tuple((nodes[match.id], match.score) for match in compared if match.id in nodes),
        )

    def by_words(self, offered: Draft, *, at: datetime) -> Near:
        """Return the stored memories that share most words with a text that has no vector."""
        if not self._conflicts.on_remember:
            return Near(None, ())
        where = Filter(space=offered.space, kinds=(Kind.MEMORY,), now=offered.valid_from or at)
        found = self._store.sparse(query_terms(offered.text)[:WORDS_SOUGHT], where, limit=PROBED)
        nodes = self._nodes_of(found)
        return Near(
            None, (), (), tuple((nodes[match.id], None) for match in found if match.id in nodes)
        )

    def _comparable(self, nearest: Ranking) -> list[Match]:
        if not self._conflicts.on_remember:
            return []
        least = self._background.passage_cosine_at(LEAST_SHARE)
        return [match for match in nearest if match.score >= least][:PROBED]

    def relate(self, node: Node, nearest: Ranking) -> None:
        """Link a new node to the strongest of those that say similar things."""
        if self._related.enabled:
            least = self._background.passage_cosine_at(self._related.least)
            self._similar += [
                (node, match) for match in nearest[: self._related.most] if match.score >= least
            ]

    def _links(self) -> Iterator[Edge]:
        """Yield the RELATED edges of the new nodes, but none to a node that enough are linked to already."""
        if not self._similar:
            return
        there = self._store.evidence(list(dict.fromkeys(match.id for _, match in self._similar)))
        reached = Counter({id: evidence.related for id, evidence in there.items()})
        for node, match in self._similar:
            if reached[match.id] < self._related.most:
                reached[match.id] += 1
                weight = min(1.0, match.score)
                yield Edge(
                    source=node.id,
                    target=match.id,
                    kind=RELATED,
                    weight=weight,
                    evidence=COSINE,
                    t_created=node.t_created,
                )

    def _nearest(self, offered: Draft, vector: Vectors, at: datetime, limit: int) -> Ranking:
        where = Filter(space=offered.space, kinds=(Kind.MEMORY,), now=offered.valid_from or at)
        ours = {
            id: each
            for id, each in self._vectors[offered.space].items()
            if holds(self._nodes[id], offered, at=at)
        }
        cosines = (np.stack(list(ours.values())) @ vector).tolist() if ours else []
        return ranked([*self._store.dense(vector, where, limit=limit), *map(Match, ours, cosines)])[
            :limit
        ]

    def _accepted(self, near: list[Match], offered: Draft, at: datetime) -> Match | None:
        """Return the nearest to which the offered text adds nothing."""
        nodes = self._nodes_of(near)
        return next(
            (
                match
                for match in near
                if match.id in nodes and is_near_duplicate(nodes[match.id], offered, at=at)
            ),
            None,
        )

    def _nodes_of(self, matches: Sequence[Match]) -> dict[NodeId, Node]:
        return (
            {**self._store.get([match.id for match in matches]), **self._nodes} if matches else {}
        )

    def _stored(self, id: NodeId | None) -> Node | None:
        return self._nodes.get(id) or self._store.get([id]).get(id) if id else None
