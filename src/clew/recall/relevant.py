"""Does the best that was found answer the question at all? A calibrated guess from words and meaning together (mission X7).

Four signs: how near the best memory is, how far it is ahead of the next, how many of the question's telling words one of the
best hits holds, and how many of them the whole space has never heard; names and rare words count twice. A space of a few dozen
memories has not heard of much that it answers in other words ("pay" for "cash"), so that unheard words count by its size.
`calibration.toml` weighs the signs for each embedding model whose cosines were measured; for any other model the words alone
are weighed, and doubted less readily. `benchmarks/calibrate_relevance.py` wrote the weights.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from clew.graph.entities.lexicon import DATES, is_common
from clew.ports import Store
from clew.recall.state import DENSE, Hit, Recall, Rejection, Relevance
from clew.words import STOP_WORDS, folded, query_terms, terms, words

STAGE, REASON = "relevant", "not_relevant"
ON, FLAG, OFF = "on", "flag", "off"
WORDS_ALONE = "words alone"  # the calibration for models that have none
BEST = 5  # hits looked at: an answer beyond them is not what makes a question answerable
HEARD = 400  # memories at which an unheard word counts half: 300 to 600 did alike when left-out sets were judged
RARE_WEIGHT = 2.0  # of a word that is not everyday English: 1, 2 and 3 did alike when left-out sets were judged
MOST_TERMS = 32  # of a question: a longer one is a text, and its beginning says what it is about


class Evidence(NamedTuple):
    """What speaks for the best hits, each from 0 to 1."""

    cosine: float
    """Of the nearest memory."""
    covered: float
    """The largest share of the question's telling words that one of the best hits holds."""
    unknown: float
    """The share that no memory of the space holds, by how much such a space has heard."""
    lead: float
    """How much nearer the nearest memory is than the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Weights of the signs, and the probability below which the best hit is held to answer nothing."""

    weights: Mapping[str, float]
    bias: float
    threshold: float
    calibrated: bool


def probability(evidence: Evidence, calibration: Calibration) -> float:
    """Return how likely it is that the best hits answer: a logistic function of the signs that the calibration weighs.

    >>> plain = Calibration(weights={"covered": 4.0, "unknown": -4.0}, bias=0.0, threshold=0.1, calibrated=False)
    >>> known, foreign = Evidence(0.8, 1.0, 0.0, 0.1), Evidence(0.5, 0.0, 1.0, 0.0)
    >>> round(probability(known, plain), 3), round(probability(foreign, plain), 3)
    (0.982, 0.018)
    """
    signs = evidence._asdict()
    total = calibration.bias + sum(calibration.weights[name] * signs[name] for name in sorted(calibration.weights))
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))


def telling(text: str) -> dict[str, float]:
    """Return the terms by which a question can be told from others, with their weights; dates and numbers are told by time.

    >>> telling("Whose iguana was in Svetlana's garden in May 2023?")
    {'iguana': 2.0, 'svetlana': 2.0, 'garden': 1.0}
    """
    found: dict[str, float] = {}
    for word in words(text):
        plain = folded(word)
        if plain in STOP_WORDS or plain in DATES or plain[:1].isdigit():
            continue
        # A pair of signs cut from a script without spaces is no word that could be rare.
        weight = RARE_WEIGHT if plain.isascii() and not is_common(plain) else 1.0
        for term in query_terms(word):
            found[term] = min(weight, found.get(term, weight))
        if len(found) >= MOST_TERMS:
            break
    return found


def share(weights: Mapping[str, float], held: Collection[str]) -> float:
    """Return what part of the weight the held terms have.

    >>> share({"iguana": 2.0, "buy": 1.0, "blue": 1.0}, {"iguana", "red"})
    0.5
    """
    return sum(weight for term, weight in weights.items() if term in held) / (sum(weights.values()) or 1.0)


def heard(size: int) -> float:
    """Return how much it tells that a space of so many memories does not know a word, from 0 to 1.

    >>> heard(0), heard(400), heard(3600)
    (0.0, 0.5, 0.9)
    """
    return size / (size + HEARD)


@lru_cache(maxsize=1)
def calibrations() -> Mapping[str, Calibration]:
    """Return what is known of each embedding model, by its id, and what holds for all others."""
    text = files("clew.recall").joinpath("calibration.toml").read_text(encoding="utf-8")
    return {
        name: Calibration(weights=each["weights"], bias=each["bias"], threshold=each["threshold"], calibrated=name != WORDS_ALONE)
        for name, each in tomllib.loads(text).items()
    }


@dataclass(frozen=True, slots=True)
class Relevant:
    """Say so where the best hits are unlikely to answer; `on` returns none of them then, `flag` returns them all the same."""

    mode: str
    candidates: int
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the relevance; drop the hits where it is too low and the mode is `on`."""
        weights = telling(recall.question.text)
        # What holds no telling word cannot be doubted, and what was asked for by its time alone is of that time.
        if not recall.hits or not weights or (recall.when is not None and recall.when.alone):
            return recall
        calibration = self._calibration(recall)
        chance = probability(self.evidence(recall, weights), calibration)
        relevance = Relevance(chance, calibration.threshold, calibration.calibrated)
        if not relevance.doubtful:
            return replace(recall, relevance=relevance)
        notes = (*recall.notes, _note(relevance, self.mode))
        if self.mode != ON:
            return replace(recall, relevance=relevance, notes=notes)
        dropped = tuple(Rejection(id=hit.id, stage=STAGE, reason=REASON, value=chance, limit=relevance.threshold) for hit in recall.hits)
        return replace(recall, relevance=relevance, notes=notes, hits=(), rejected=recall.rejected + dropped)

    def evidence(self, recall: Recall, weights: Mapping[str, float]) -> Evidence:
        """Return the signs, from the vectors, the best hits' texts, and a look into the index for words that these do not hold."""
        dense = recall.channels.get(DENSE, ())
        held = self._held(recall.hits[:BEST], weights)
        seen = frozenset().union(*held)
        # One memory is enough to know a word, and most words of an answerable question stand in its best hits.
        unknown = {term for term in weights if term not in seen and not self.store.sparse([term], recall.question.where, limit=1)}
        return Evidence(
            cosine=dense[0].score if dense else 0.0,
            covered=max((share(weights, each) for each in held), default=0.0),
            unknown=share(weights, unknown) * heard(self._size(recall)),
            lead=dense[0].score - dense[1].score if len(dense) > 1 else 0.0,
        )

    def _size(self, recall: Recall) -> int:
        """Return how many memories were asked: all of the space, or those that pass a narrow filter, which the channel then holds."""
        size, found = self.store.coverage(recall.question.where.space).nodes, recall.channels.get(DENSE)
        return size if found is None or len(found) >= self.candidates else min(size, len(found))

    def _held(self, hits: Sequence[Hit], weights: Mapping[str, float]) -> list[frozenset[str]]:
        nodes = self.store.get([hit.id for hit in hits])
        return [frozenset(terms(f"{node.title}\n{node.text}\n{node.context}")) & weights.keys() for node in nodes.values()]

    def _calibration(self, recall: Recall) -> Calibration:
        known, model = calibrations(), self.store.model()
        found = known.get(model.id) if model is not None and recall.vector is not None else None
        return found or known[WORDS_ALONE]


def _note(relevance: Relevance, mode: str) -> str:
    what = "so they are held back" if mode == ON else "so take them with doubt"
    return f"The best hits answer with a probability of {relevance.probability:.3f}, below {relevance.threshold:g}: {what}."
