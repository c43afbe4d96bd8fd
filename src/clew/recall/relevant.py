"""Does the best that was found answer the question at all? A calibrated guess from words and meaning together (mission X7).

Six signs cost little: how near the best memory is and how far it stands out, how many of the question's telling words one of the
best hits holds, which names and which other words the whole space has never heard, and whether words and meaning find the same.
Where they leave a doubt, the best hits are read closely: what of the question do they take up, by the sense of their words
(`kindred`)? What a space cannot be expected to know, having said little, is held against it less, and a small space is doubted
less altogether. `calibration.toml` weighs the signs for each embedding model whose cosines were measured; for any other model the
words alone are weighed, and doubted less readily. `benchmarks/calibrate_relevance.py` wrote the weights.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from clew.gist import headed
from clew.ports import Store
from clew.recall.fetch import covered, fetched
from clew.recall.kindred import READ, Told, WordVectors, taken_up, wordless
from clew.recall.state import DENSE, SPARSE, LazyHits, Recall, Rejection, Relevance
from clew.recall.telling import NAME, RARE, Word, codes, heard, rarity, telling
from clew.types import Filter, Kind, Ranking
from clew.words import terms

STAGE, REASON = "relevant", "not_relevant"
ON, FLAG, OFF = "on", "flag", "off"
WORDS_ALONE = "words alone"  # the calibration for models that have none
BEST = 5  # hits looked at: an answer beyond them is not what makes a question answerable
CROWD = 20  # the rank that the nearest is compared with: 20 and 50 did alike, and every recipe has 20 candidates
SERVED = frozenset((Kind.MEMORY, Kind.CHUNK))  # what is seen where nobody asks for a kind: all that holds a word of its own
UNEXPECTED = 0.3  # of a word that the space cannot be expected to know, as if a hit held that much of it; chosen of 0.3 to 0.85
MUCH = 1.5  # weight of held words that is half of all that can be held, however long the question: 0.75 to 1.5 did alike
FEW = 8  # memories that may all be expired or archived; of more that hold a word some pass where nothing is filtered
# Probabilities beyond which no hit is read closely: 0.9 to 1 and 0 to 0.02 did alike when left-out sets were judged.
SURE, HOPELESS = 0.95, 0.01
LITTLE = 500  # words at which a space is doubted half as readily as a large one; chosen of 200 to 2,000
LEAST_DOUBT = 0.2  # of a space that says next to nothing: without it nothing was doubted in a store of four memories


class Evidence(NamedTuple):
    """What speaks for the best hits and against them, each from 0 to 1, and how much the space says."""

    cosine: float
    """Of the nearest memory."""
    lead: float
    """How much nearer it is than the memory at rank 20."""
    covered: float
    """The largest share of the question's telling words that one of the best hits holds; of a long question a few are enough."""
    strange: float
    """The share of names that no memory of the space holds, by how much such a space has heard."""
    unheard: float
    """The same of its other words."""
    agreed: float
    """One over the rank that the nearest memory has by words; 0 where they do not find it."""
    said: float = math.inf
    """About how many words the space says."""
    grasped: float = math.nan
    """As `covered`, where hits were read closely: what one of them takes up, by the sense of its words."""
    met: float = math.nan
    """The same of all of them together."""
    nameless: float = math.nan
    """How telling the most telling name is that none of them holds."""
    least: float = math.nan
    """How much they take up of the rare word that they take up least: what is asked for may be one word, and all others a common frame."""


class Look(NamedTuple):
    """What the signs are read from."""

    asked: Mapping[str, Word]
    weights: Mapping[str, float]
    """Of the question's terms, by how rare they are in the space."""
    unknown: Sequence[str]
    """The terms that no memory holds."""
    told: Sequence[Told]
    """What the best hits say, best first."""
    said: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Weights of the signs, and the probability below which the best hit of a large space is held to answer nothing."""

    weights: Mapping[str, float]
    bias: float
    threshold: float
    calibrated: bool
    enough: Mapping[str, float] = field(default_factory=dict)
    """From where on more of a sign tells no more."""
    closer: Calibration | None = None
    """What weighs the signs of hits that were read closely."""


def probability(evidence: Evidence, calibration: Calibration) -> float:
    """Return how likely it is that the best hits answer: a logistic function of the signs that the calibration weighs.

    >>> plain = Calibration(weights={"covered": 4.0, "unheard": -4.0}, bias=0.0, threshold=0.1, calibrated=False)
    >>> known, foreign = Evidence(0.8, 0.1, 1.0, 0.0, 0.0, 1.0), Evidence(0.5, 0.0, 0.0, 0.0, 1.0, 0.0)
    >>> round(probability(known, plain), 3), round(probability(foreign, plain), 3)
    (0.982, 0.018)
    """
    signs, enough = evidence._asdict(), calibration.enough
    weighed = (weight * min(signs[name], enough.get(name, math.inf)) for name, weight in sorted(calibration.weights.items()))
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, calibration.bias + sum(weighed)))))


def doubt(evidence: Evidence) -> float:
    """Return the share of a large space's threshold below which the best hits of this one are doubted.

    >>> doubt(Evidence(0.6, 0.1, 1.0, 0.0, 0.0, 1.0, said=500)), doubt(Evidence(0.6, 0.1, 1.0, 0.0, 0.0, 1.0))
    (0.5, 1.0)
    """
    return 1.0 if evidence.said == math.inf else max(LEAST_DOUBT, evidence.said / (evidence.said + LITTLE))


def in_doubt(evidence: Evidence, calibration: Calibration) -> bool:
    """Tell whether the signs that cost little leave a doubt that is worth reading the best hits closely.

    >>> plain = Calibration(weights={"covered": 9.0}, bias=-4.5, threshold=0.1, calibrated=True)
    >>> in_doubt(Evidence(0.8, 0.1, 1.0, 0.0, 0.0, 1.0), plain), in_doubt(Evidence(0.6, 0.0, 0.5, 0.0, 0.0, 1.0), plain)
    (False, True)
    """
    return HOPELESS * doubt(evidence) <= probability(evidence, calibration) < SURE


def coverage(held: float, whole: float) -> float:
    """Return the share that is held of the whole weight, or how much is held by itself, as it is more.

    >>> coverage(1.0, 2.0), coverage(3.0, 12.0), coverage(0.0, 2.0)
    (0.5, 0.6666666666666666, 0.0)
    """
    return max(held / whole, held / (held + MUCH))


def agreement(dense: Ranking, sparse: Ranking) -> float:
    """Return one over the rank that the nearest memory has by words.

    >>> from clew.types import Match
    >>> agreement((Match("a", 0.9),), (Match("b", 7.0), Match("a", 3.0))), agreement((Match("a", 0.9),), ())
    (0.5, 0.0)
    """
    nearest = dense[0].id if dense else None
    return next((1.0 / rank for rank, match in enumerate(sparse, start=1) if match.id == nearest), 0.0)


def closely(look: Look, taken: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the signs of what the hits that were read closely take up; a name is taken up by a hit that holds it.

    >>> look = Look({"gina": NAME, "heat": RARE}, {"gina": 2.0, "heat": 2.0}, ["gina"], [Told("The boiler is warm", ())], 1e6)
    >>> closely(look, [{"gina": 0.9, "heat": 0.75}])
    {'grasped': 0.5, 'met': 0.5, 'nameless': 1.0, 'least': 0.75}
    """
    whole, names = sum(look.weights.values()), {term for term, word in look.asked.items() if word.name}
    parts = [
        {term: float(term in each.held) if term in names else said.get(term, 0.0) for term in look.asked}
        for each, said in zip(look.told, taken, strict=False)
    ]
    best = {term: max((each[term] for each in parts), default=0.0) for term in look.asked}
    grasped, met = (max((_weighed(look, each) for each in some), default=0.0) for some in (parts, [best]))
    nameless = max((look.weights[term] * (1.0 - best[term]) for term in names), default=0.0) / NAME.weight
    least = min((best[term] for term, word in look.asked.items() if word.weight >= RARE.weight and not word.name), default=1.0)
    return {"grasped": coverage(grasped, whole), "met": coverage(met, whole), "nameless": nameless, "least": least}


def _weighed(look: Look, shares: Mapping[str, float]) -> float:
    return sum(look.weights[term] * share for term, share in shares.items())


@lru_cache(maxsize=1)
def calibrations() -> Mapping[str, Calibration]:
    """Return what is known of each embedding model, by its id, and what holds for all others."""
    text = files("clew.recall").joinpath("calibration.toml").read_text(encoding="utf-8")
    known = ("weights", "bias", "threshold", "enough")

    def read(name: str, each: Mapping[str, Any]) -> Calibration:
        closer = read(name, each["closer"]) if "closer" in each else None
        return Calibration(**{key: each[key] for key in known if key in each}, calibrated=name != WORDS_ALONE, closer=closer)

    return {name: read(name, each) for name, each in tomllib.loads(text).items()}


@dataclass(frozen=True, slots=True)
class Relevant:
    """Say so where the best hits are unlikely to answer; `on` returns none of them then, `flag` returns them all the same."""

    mode: str
    candidates: int
    store: Store = field(repr=False, compare=False)
    words: WordVectors = field(default=wordless, repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the relevance; drop the hits where it is too low and the mode is `on`."""
        asked = telling(recall.question.text)
        # What holds no telling word cannot be doubted, and what was asked for by its time alone is of that time.
        if not recall.hits or not asked or (recall.when is not None and recall.when.alone):
            return recall
        wanted = max(BEST, recall.question.k)  # all that are likely to be returned, in one question to the store
        recall = fetched(recall, LazyHits.of(recall.hits).ids(wanted), store=self.store)
        relevance = self._relevance(recall, self._look(recall, asked))
        if not relevance.doubtful:
            return replace(recall, relevance=relevance)
        notes = (*recall.notes, _note(relevance, self.mode))
        if self.mode != ON:
            return replace(recall, relevance=relevance, notes=notes)
        dropped = tuple(
            Rejection(id=hit.id, stage=STAGE, reason=REASON, value=relevance.probability, limit=relevance.threshold) for hit in recall.hits
        )
        return replace(recall, relevance=relevance, notes=notes, hits=(), rejected=recall.rejected + dropped)

    def _relevance(self, recall: Recall, look: Look) -> Relevance:
        """Weigh the signs that cost little; where they leave a doubt, read the best hits closely and weigh again."""
        calibration, evidence = self._calibration(recall), self._evidence(recall, look)
        doubted = calibration.closer is not None and in_doubt(evidence, calibration)
        closer = self._closer(recall, look, evidence) if doubted else None
        if calibration.closer is not None and closer is not None:
            calibration, evidence = calibration.closer, closer
        return Relevance(probability(evidence, calibration), calibration.threshold * doubt(evidence), calibration.calibrated)

    def closer(self, recall: Recall, asked: Mapping[str, Word]) -> Evidence | None:
        """Return all signs, those too that take reading the best hits word by word; None where the model cannot."""
        look = self._look(recall, asked)
        return self._closer(recall, look, self._evidence(recall, look))

    def _look(self, recall: Recall, asked: Mapping[str, Word]) -> Look:
        """Look at the best hits' texts, and into the index for how rare the words are."""
        best = LazyHits.of(recall.hits).ids(BEST)
        read = fetched(recall, best, store=self.store).nodes
        nodes = [read[id] for id in best if id in read]
        texts = [terms(node.text) for node in nodes]
        around = [terms(f"{node.title}\n{node.context}") for node in nodes]
        written = codes(recall.question.text)
        held = [_held({*text, *more}, asked, written) for text, more in zip(texts, around, strict=True)]
        told = [Told(headed(node.title, node.text), mine) for node, mine in zip(nodes, held, strict=True)]
        there, dense = covered(recall, store=self.store).nodes, recall.channels.get(DENSE, ())
        length = sum(map(len, texts)) / max(1, len(texts))
        said = length * (there if DENSE not in recall.channels or len(dense) >= self.candidates else min(there, len(dense)))
        counts = self._counts(recall, asked, seen=frozenset().union(*held), written=written)
        weights = {term: word.weight * rarity(counts[term], there) for term, word in asked.items()}
        return Look(asked, weights, [term for term, count in counts.items() if not count], told, said)

    def _evidence(self, recall: Recall, look: Look) -> Evidence:
        """Return the signs that cost little."""
        dense, sparse = recall.channels.get(DENSE, ()), recall.channels.get(SPARSE, ())
        asked, weights, unknown = look.asked, look.weights, look.unknown
        missing = {term: weights[term] * heard(look.said, asked[term]) for term in unknown}
        excused = UNEXPECTED * sum(weights[term] - missing[term] for term in unknown)
        most = max((sum(weights[term] for term in asked if term in each.held) for each in look.told), default=0.0)
        whole = sum(weights.values())
        return Evidence(
            cosine=dense[0].score if dense else 0.0,
            lead=dense[0].score - dense[:CROWD][-1].score if dense else 0.0,
            covered=coverage(most + excused, whole),
            strange=sum(missing[term] for term in unknown if asked[term].name) / whole,
            unheard=sum(missing[term] for term in unknown if not asked[term].name) / whole,
            agreed=agreement(dense, sparse),
            said=look.said,
        )

    def _closer(self, recall: Recall, look: Look, evidence: Evidence) -> Evidence | None:
        taken = taken_up(recall.question.text, look.weights, look.told[:READ], vectors=self.words)
        return None if taken is None else evidence._replace(**closely(look, taken))

    def _counts(self, recall: Recall, asked: Collection[str], *, seen: Collection[str], written: Mapping[str, str]) -> dict[str, int]:
        """Return how many nodes hold each term; none where what passes the filter does not."""
        where = recall.question.where
        known = self.store.holding([*asked, *written.values()], where.space)
        counts = {term: known[term] or known.get(written.get(term, term), 0) for term in asked}
        plain = where == Filter(space=where.space, kinds=where.kinds, now=where.now) and set(where.kinds) >= SERVED

        def passes(term: str) -> bool:
            """One memory is enough to know a word, and most words of an answerable question stand in its best hits."""
            either = [term, written.get(term, term)]
            return term in seen or (plain and counts[term] > FEW) or bool(self.store.sparse(either, where, limit=1))

        return {term: count if count and passes(term) else 0 for term, count in counts.items()}

    def _calibration(self, recall: Recall) -> Calibration:
        known, model = calibrations(), self.store.model()
        found = known.get(model.id) if model is not None and recall.vector is not None else None
        return found or known[WORDS_ALONE]


def _held(said: Collection[str], asked: Collection[str], written: Mapping[str, str]) -> frozenset[str]:
    """Return the terms of a question that a text says; a code also where it is written in one word.

    >>> sorted(_held({"see", "rfc2119"}, ["rfc", "2119", "see"], {"2119": "rfc2119"}))
    ['2119', 'see']
    """
    return frozenset(term for term in asked if term in said or written.get(term) in said)


def _note(relevance: Relevance, mode: str) -> str:
    what = "so they are held back" if mode == ON else "so take them with doubt"
    return f"The best hits answer with a probability of {relevance.probability:.3f}, below {relevance.threshold:.3f}: {what}."
