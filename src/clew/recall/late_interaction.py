"""Late interaction: compare the query's tokens with the token codes of the best candidates (MaxSim)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from clew.ports import Store
from clew.recall.read_cache import space_coverage
from clew.recall.state import Recall
from clew.token_codes import maxsim
from clew.types import NodeId, Vectors
from clew.words import STOP_WORDS, folded, idf, terms, words

FLOOR = 0.1  # weight of a stop word relative to the rarest word: 0 and 0.2 ranked worse in the mean of five sets


def weighted_maxsim(recall: Recall, ids: Sequence[NodeId], *, store: Store) -> dict[NodeId, float]:
    """Return MaxSim of each node that has token codes, with query tokens weighted by the IDF of their words."""
    if recall.query is None or not len(recall.query.tokens):
        return {}
    codes = {id: code for id, code in store.token_codes(ids).items() if code}
    if not codes:
        return {}
    weights = token_weights(recall.query.pieces, recall.document_frequencies, nodes=space_coverage(recall, store=store).nodes)
    weights = weights[: len(recall.query.tokens)]
    best = maxsim(recall.query.tokens, list(codes.values()))
    scores = (weights @ best.astype(np.float64)) / weights.sum()
    return dict(zip(codes, scores.tolist(), strict=True))


def unweighted_maxsim(recall: Recall, ids: Sequence[NodeId], *, store: Store) -> dict[NodeId, float]:
    """Return MaxSim of each node that has token codes: the mean over query tokens of the best dot product with a token of the node."""
    if recall.query is None or not len(recall.query.tokens):
        return {}
    codes = {id: code for id, code in store.token_codes(ids).items() if code}
    means = maxsim(recall.query.tokens, list(codes.values())).astype(np.float64).mean(axis=0)
    return dict(zip(codes, means.tolist(), strict=True))


def token_weights(pieces: Sequence[tuple[str, int]], frequencies: Mapping[str, int], *, nodes: int) -> Vectors:
    """Return the weight of each query token: the IDF of its word relative to the highest, plus FLOOR.

    >>> token_weights([("the", 1), ("boiler", 2)], {"boiler": 1}, nodes=10).tolist()
    [0.1, 1.1, 1.1]
    """
    rarities = [max(_rarities(word, frequencies, nodes), default=0.0) for word, _ in pieces]
    highest = max(rarities, default=0.0) or 1.0
    counts = [count for _, count in pieces]
    return np.repeat([rarity / highest + FLOOR for rarity in rarities], counts)


def _rarities(text: str, frequencies: Mapping[str, int], nodes: int) -> Iterator[float]:
    for word in words(text):
        if folded(word) not in STOP_WORDS:
            yield from (idf(max(nodes, frequencies.get(term, 0)), frequencies.get(term, 0)) for term in terms(word))
