"""Compare the score of a node that no channel proposed with the cutoff of each channel."""

from __future__ import annotations

from typing import NamedTuple

from clew.ports import Store
from clew.recall.state import CONTEXT, DENSE, QUESTION, SPARSE, Recall
from clew.recall.word_search import search_words
from clew.types import QUESTIONS, Match, Node, NodeId, Ranking, Role, Vectors, ranked
from clew.words import terms

RANK_DEPTH = 10_000  # how far down a channel's ranking a node's rank is looked for
ROLES = {DENSE: (Role.CONTENT,), CONTEXT: (Role.CONTEXT,), QUESTION: QUESTIONS}


class Standing(NamedTuple):
    """Rank and score of a node in a channel that did not propose it, and the cutoff."""

    score: float | None
    """None if it has no vector or no shared term, or is below the search depth."""
    threshold: float
    """The cutoff of the channel."""
    rank: int | None
    cut: int
    """The number of candidates that the channel proposed."""
    shared: tuple[str, ...] = ()
    """The terms shared with the question, for the word channel."""


def standings(store: Store, node: Node, recall: Recall) -> dict[str, Standing]:
    """Return the standing of a node in each channel that searched for candidates; unknown channels are skipped."""
    found = {}
    for name, ranking in sorted(recall.channels.items()):
        if name == SPARSE:
            found[name] = _by_words(store, node, recall, ranking)
        elif name in ROLES and recall.vector is not None:
            found[name] = _by_vector(store, node, recall, recall.vector, name)
    return found


def _by_words(store: Store, node: Node, recall: Recall, ranking: Ranking) -> Standing:
    held = set(terms(f"{node.title}\n{node.text}\n{node.context}"))
    shared = tuple(term for term in dict.fromkeys(recall.terms) if term in held)
    everyone = search_words(recall, store=store, limit=RANK_DEPTH) if shared else ()
    rank, score = _place(node.id, everyone)
    return Standing(score, recall.cutoffs.get(SPARSE, 0.0), rank, len(ranking), shared)


def _by_vector(store: Store, node: Node, recall: Recall, vector: Vectors, name: str) -> Standing:
    """Return the standing by the best of a node's vectors in the channel; it may have several questions."""
    own = [store.cosines(vector, [node.id], role=role).get(node.id) for role in ROLES[name]]
    cosine = max((each for each in own if each is not None), default=None)
    found = [store.dense(vector, recall.question.where, limit=RANK_DEPTH, role=role) for role in ROLES[name]] if cosine is not None else []
    best: dict[NodeId, float] = {}
    for match in (match for ranking in found for match in ranking):
        best[match.id] = max(match.score, best.get(match.id, match.score))
    rank = _place(node.id, ranked(map(Match, best, best.values())))[0]
    # The question channel also scores candidates of other channels, which it did not propose.
    proposed = [match for match in recall.channels[name] if match.score >= recall.cutoffs.get(name, 0.0)]
    return Standing(cosine, recall.cutoffs.get(name, 0.0), rank, len(proposed))


def _place(id: NodeId, everyone: Ranking) -> tuple[int | None, float | None]:
    return next(((rank, match.score) for rank, match in enumerate(everyone, start=1) if match.id == id), (None, None))
