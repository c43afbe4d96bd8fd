"""Find memories of one space that contradict each other, without a language model.

Each of the latest memories is compared with few others: its nearest by vector, those that share a
rare name with it, and those that share most words. Which of these pairs contradict each other is
decided by words (`clew.memories.conflicts`); vectors only tell whether both are about the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from clew.engine.request import unknown_conflict
from clew.memories.conflicts import DifferenceKind, Overlap, explanation, judged, overlap, pair_id
from clew.memories.conflicts.judging import JOINT
from clew.ports import Background, Sort, Store
from clew.settings import ConflictSettings
from clew.text.words import query_terms
from clew.times import iso
from clew.types import Filter, Kind, Node, NodeId, Role, Vectors

DISMISSED = "dismissed_conflict"
"""The kind of the records of pairs that both stay."""
RARE = 20  # memories: a name that more of them share says little about their subject
PAGE = 256  # memories whose vectors and names are read in one call
WORDS_SOUGHT = 16
# places at which an id of a pair is taken apart: ids of memories hold the joint rarely, and never
# often
MOST_SPLIT = 8
KINDS = tuple(str(kind) for kind in DifferenceKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two live memories about the same subject that cannot both be true of the same time, as far as rules can tell."""

    id: str
    """Stable for the pair."""
    kind: str
    """In what they differ: value, number, negation or state."""
    explanation: str
    """One sentence that names the differing pieces, those of `first` first."""
    score: float
    """How sure it is, from 0 to 1."""
    first: Node
    """The one that was true earlier; if both began together, the one recorded earlier."""
    second: Node
    overlap: Overlap
    """The time for which both are said to be true."""


class Conflicts(tuple[Conflict, ...]):
    """Conflicts, the surest first, with what a reader should know about how they were found."""

    notes: tuple[str, ...] = ()
    examined: int = 0
    """How many memories were compared with their neighbours."""


@dataclass(frozen=True, slots=True)
class Finder:
    """Looks for conflicts in one store at one moment."""

    store: Store
    settings: ConflictSettings
    background: Background
    now: datetime

    def conflicts(self, space: str, *, limit: int, kinds: Collection[str] = KINDS) -> Conflicts:
        """Return the conflicts of a space that nobody dismissed, the surest first, ties by id."""
        where = Filter(space=space, kinds=(Kind.MEMORY,), now=self.now)
        listed = self.store.listing(where, sort=Sort.RECENT, limit=self.settings.examined + 1)
        nodes = {node.id: node for node in listed[: self.settings.examined]}
        dismissed = self.store.kept(DISMISSED)
        found: dict[str, Conflict] = {}
        seen: set[str] = set()
        vectors = 0
        for page in _pages(list(nodes.values())):
            known = self._vectors(page)
            vectors += len(known)
            for one, other, share in self._pairs(page, known, where, nodes):
                if (pair := pair_id(one.id, other.id)) in seen:
                    continue
                seen.add(pair)
                conflict = self._judged(one, other, share)
                if conflict and conflict.kind in kinds and not _is_dismissed(conflict, dismissed):
                    found[pair] = conflict
        best = sorted(found.values(), key=lambda each: (-each.score, each.id))[:limit]
        return self._noted(best, len(nodes), vectors, len(listed) > len(nodes))

    def conflict(self, id: str) -> Conflict:
        """Return the conflict of a pair, dismissed or not, or raise if the two do not contradict each other."""
        where = Filter(now=self.now)
        for first, second in _ends(id):
            nodes = self.store.get([first, second])
            if len(nodes) < 2 or nodes[first].space != nodes[second].space:
                continue
            here = replace(where, space=nodes[first].space, kinds=(Kind.MEMORY,))
            if len(self.store.visible([first, second], here)) == 2 and (
                found := self._judged(nodes[first], nodes[second], None)
            ):
                return found
        raise unknown_conflict(id)

    def dismiss(self, id: str) -> Conflict:
        """Keep both memories of a pair and list it no more, until one of their texts changes."""
        with self.store.transaction():
            found = self.conflict(id)
            body = {
                "first": found.first.id,
                "second": found.second.id,
                "texts": _state(found),
                "at": iso(self.now),
            }
            self.store.keep(DISMISSED, found.id, body)
        return found

    # --- candidates ---

    def _pairs(
        self,
        page: Sequence[Node],
        vectors: dict[NodeId, Vectors],
        where: Filter,
        nodes: dict[NodeId, Node],
    ) -> Iterator[tuple[Node, Node, float | None]]:
        """Yield each memory of a page with the few that may contradict it, and how near both lie in meaning."""
        named = self._named(page, where)
        wanted = {
            node.id: self._neighbours(node, vectors.get(node.id), named.get(node.id, ()), where)
            for node in page
        }
        missing = {id for near in wanted.values() for id in near if id not in nodes}
        nodes_ = {**nodes, **self.store.get(sorted(missing))} if missing else nodes
        for node in page:
            for id, share in wanted[node.id].items():
                if (
                    id in nodes_
                    and nodes_[id].root != node.id
                    and node.root not in (id, nodes_[id].root or "")
                ):
                    yield node, nodes_[id], share

    def _neighbours(
        self, node: Node, vector: Vectors | None, named: Iterable[NodeId], where: Filter
    ) -> dict[NodeId, float | None]:
        """Return the ids of few memories beside which one is laid, each with its share of nearness if both have vectors."""
        limit = self.settings.neighbours + 1  # it finds itself
        near = () if vector is None else self.store.dense(vector, where, limit=limit)
        found: dict[NodeId, float | None] = {
            each.id: self.background.passage_share(each.score) for each in near
        }
        alike = self.store.sparse(query_terms(node.text)[:WORDS_SOUGHT], where, limit=limit)
        others = [
            id for id in dict.fromkeys((*named, *(each.id for each in alike))) if id not in found
        ]
        cosines = {} if vector is None or not others else self.store.cosines(vector, others)
        found |= {
            id: self.background.passage_share(cosines[id]) if id in cosines else None
            for id in others
        }
        found.pop(node.id, None)
        return found

    def _named(self, page: Sequence[Node], where: Filter) -> dict[NodeId, tuple[NodeId, ...]]:
        """Return for each memory those that name or are about the same, where few do."""
        said = self.store.mentions([node.id for node in page])
        keys = list(
            dict.fromkeys(mention.key for mentions in said.values() for mention in mentions)
        )
        known = self.store.named(keys, where, limit=RARE) if keys else {}
        rare = {
            key: (*each.subjects, *each.openers, *each.holders)
            for key, each in known.items()
            if each.nodes <= RARE
        }
        return {
            id: tuple(
                dict.fromkeys(other for mention in mentions for other in rare.get(mention.key, ()))
            )[:RARE]
            for id, mentions in said.items()
        }

    def _vectors(self, page: Sequence[Node]) -> dict[NodeId, Vectors]:
        if self.store.model() is None:
            return {}
        return {
            each.node: each.vector
            for each in self.store.embeddings([node.id for node in page])
            if each.role is Role.CONTENT
        }

    # --- pairs ---

    def _judged(self, one: Node, other: Node, share: float | None) -> Conflict | None:
        first, second = sorted(
            (one, other), key=lambda node: (node.t_valid, node.t_created, node.id)
        )
        found = judged(first, second, share=share, least_score=self.settings.least_score)
        both = overlap(first, second)
        if found is None or both is None:
            return None
        return Conflict(
            id=pair_id(first.id, second.id),
            kind=str(found.kind),
            explanation=explanation(found),
            score=found.score,
            first=first,
            second=second,
            overlap=both,
        )

    def _noted(
        self, best: Iterable[Conflict], examined: int, vectors: int, more: bool
    ) -> Conflicts:
        answer = Conflicts(best)
        answer.examined = examined
        notes = []
        if more:
            notes.append(
                f"Only the latest {examined} memories were compared with others; raise conflicts.examined to look at more."
            )
        if examined and not vectors:
            notes.append(
                "Compared by names and words alone: the space has no vectors. Install a model and run clew reembed to add them."
            )
        elif vectors < examined:
            notes.append(
                f"{examined - vectors} of {examined} memories have no vector and were compared by names and words alone."
            )
        answer.notes = tuple(notes)
        return answer


def drop_dismissed(store: Store, ids: Collection[NodeId]) -> None:
    """Remove what was kept of pairs with these memories: they are forgotten."""
    for id, body in store.kept(DISMISSED).items():
        if body.get("first") in ids or body.get("second") in ids:
            store.drop(DISMISSED, id)


def _is_dismissed(conflict: Conflict, dismissed: dict[str, dict[str, object]]) -> bool:
    return conflict.id in dismissed and dismissed[conflict.id].get("texts") == _state(conflict)


def _state(conflict: Conflict) -> str:
    """Return a digest of what both say: a dismissal holds as long as that stays."""
    said = sorted(
        (node.id, node.title, node.content_hash) for node in (conflict.first, conflict.second)
    )
    return hashlib.sha256(repr(said).encode()).hexdigest()[:32]


def _ends(id: str) -> Iterator[tuple[NodeId, NodeId]]:
    """Yield the ids that the id of a pair may be made of."""
    place = -1
    for _ in range(MOST_SPLIT):
        if (place := id.find(JOINT, place + 1)) < 0:
            return
        if 0 < place < len(id) - 1:
            yield id[:place], id[place + 1 :]


def _pages(nodes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    return (nodes[start : start + PAGE] for start in range(0, len(nodes), PAGE))
