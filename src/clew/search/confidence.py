"""Confidence: a calibrated probability that a hit answers the question, comparable between questions and stores.

A logistic model over a few absolute features of question and hit. `confidence.toml` has its
weights: one entry for each calibrated embedding model, and one for words alone, used with every
other model. `benchmarks/calibrate_confidence.py` fits them. On held-out sets, late interaction
features (MaxSim of the question, of its least covered word, of each word relative to other hits)
added nothing to the cosine.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from clew.errors import CorruptStoreError
from clew.graph.links import BY_NAME
from clew.ports import Background, Store
from clew.search.state import (
    CONTEXT,
    DENSE,
    NAMED,
    PATH,
    BestConfidence,
    Hit,
    LazyHits,
    Recall,
    Rejection,
    space_coverage,
    with_nodes,
)
from clew.text.names.lexicon import COMMON as COMMON_WORDS
from clew.text.names.lexicon import DATES, DEMONYMS, ORGS, PLACES, TITLES, TOOLS, is_common
from clew.text.words import STOP_WORDS, fold, idf, query_terms, terms, words
from clew.types import Node, NodeId, Vectors

# Classify the content words of a question as names, rare words or common words.

MAX_TERMS = 32  # of a question; a longer one is a text, whose beginning is representative
MIN_WORDS = 4  # fewest words needed to guess the language
LAST_LATIN = "\u024f"
# "INC-4999", "plover-08", "RFC 2119"; a word and a number with a space between them are one only in
# capitals.
_CODE = re.compile(r"\b(?:([^\W\d_]{2,})[-_]|([A-Z]{2,}) )(\d{2,})\b")
_COUNT = re.compile(r"\d{1,2}|\d+[a-z]|(?:19|20)\d\d")  # also "8k" and a year
_YEAR = re.compile(r"(?:19|20)\d\d")
# a text may answer without them: "abroad" for "Portugal"
_FAMOUS = DEMONYMS | PLACES | ORGS | TOOLS


class Salience(StrEnum):
    """The class of a content word; a number or code counts as a name."""

    NAME = "name"
    RARE = "rare"
    COMMON = "common"


NAME, RARE, COMMON = Salience


def content_terms(text: str) -> dict[str, Salience]:
    """Return the index terms of content words with their class.

    Stop words, dates, years and counts are skipped.

    >>> content_terms("Which iguana did Svetlana describe in May 2023?") == {"iguana": RARE, "svetlana": NAME, "describ": COMMON}
    True
    >>> content_terms("Who fixed INC-4999 in 10 days?") == {"fix": COMMON, "inc": RARE, "4999": NAME, "day": COMMON}
    True
    """
    found: dict[str, Salience] = {}
    codes, before = joined_codes(text), ""
    for word in words(text):
        # A lone combining mark is a word without an index term.
        if (salience := _salience(word, before, codes)) is not None and (
            terms := query_terms(word)
        ):
            found.setdefault(terms[0], salience)
        if len(found) == MAX_TERMS:
            break
        before = word
    return found


def joined_codes(text: str) -> dict[str, str]:
    """Map the number of each code in a text to the code written as one word.

    >>> joined_codes("INC-4999, RFC 2119, mid-2023 and 12 others")
    {'4999': 'inc4999', '2119': 'rfc2119'}
    """
    if not any(map(str.isdigit, text)):
        return {}
    found = ((hyphenated or spaced, number) for hyphenated, spaced, number in _CODE.findall(text))
    return {number: fold(word + number) for word, number in found if not _YEAR.fullmatch(number)}


def is_english(text: str) -> bool:
    """Return whether a question may be English.

    Latin letters with a stop word or enough common words, or too short to decide.

    >>> is_english("plum cake oven temperature"), is_english("Wann läuft der Vertrag ab?"), is_english("谁发明了印刷术")
    (True, False, False)
    """
    letters = [letter for letter in text if letter.isalpha()]
    if 2 * sum(letter > LAST_LATIN for letter in letters) > len(letters):
        return False
    plain = [fold(word) for word in words(text) if word.isalpha()]
    if len(plain) < MIN_WORDS or any(word in STOP_WORDS for word in plain):
        return True
    # Short words may be common in several languages: German has "der" and "ab".
    return 3 * sum(len(word) > 3 and word in COMMON_WORDS for word in plain) >= len(plain)


def _salience(word: str, before: str, codes: Mapping[str, str]) -> Salience | None:
    """Return the class of a word given the word before it; None if it is not a content word."""
    plain = fold(word)
    if plain in STOP_WORDS or plain in DATES or (len(plain) == 1 and plain.isascii()):
        return None
    if any(map(str.isdigit, plain)):
        return None if plain not in codes and _COUNT.fullmatch(plain) else NAME
    # A character bigram from a script without spaces is not a word, so it cannot be rare.
    if not plain.isascii() or is_common(plain):
        return COMMON
    # a text about "President X" may use the title alone
    titled = before[:1].isupper() and fold(before) in TITLES
    named = (
        before and plain not in _FAMOUS and word[:1].isupper() and not word.isupper() and not titled
    )
    return NAME if named else RARE


STAGE, REASON = "confidence", "not_relevant"
ON, FLAG, OFF = "on", "flag", "off"
WORDS_ONLY = "words"
JUDGED = 3  # top hits whose highest confidence is compared with the threshold, independent of k
LARGE = 1000  # nodes at which an unknown word has half the weight that it has in a very large space


class Features(NamedTuple):
    """The features of a hit, each from 0 to 1."""

    vector: float
    """The cosine, rescaled so that the model's background (unrelated texts) is 0."""
    coverage: float
    """The IDF-weighted share of the question's content words that occur in the hit."""
    links: float
    """The contribution of links and names to its relevance."""
    missing_name: float
    """The weight of the rarest name, number or code of the question that does not occur in the hit."""
    unknown_word: float
    """The weight of the rarest name or rare word of the question that occurs nowhere in the space."""
    unknown: float
    """The IDF-weighted share of the question's content words that occur nowhere in the space,
    scaled by the size of the space.
    """


class LogisticModel(NamedTuple):
    """Weights of the features, and the threshold below which the best hit is not an answer."""

    weights: Mapping[str, float]
    bias: float
    threshold: float
    language: str = ""
    """The language of a monolingual embedding model; empty otherwise."""

    def probability(self, features: Features) -> float:
        """Return the probability that a hit with these features answers.

        >>> model = LogisticModel({"coverage": 4.0, "unknown": -4.0}, bias=-2.0, threshold=0.1)
        >>> round(model.probability(Features(0, 1, 0, 0, 0, 0)), 3), round(model.probability(Features(0, 0, 0, 0, 0, 1)), 3)
        (0.881, 0.002)
        """
        logit = self.bias + sum(
            weight * getattr(features, name) for name, weight in sorted(self.weights.items())
        )
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))


@lru_cache(maxsize=1)
def models() -> Mapping[str, LogisticModel]:
    """Load the fitted models, keyed by the id of the embedding model."""
    text = files("clew.search").joinpath("confidence.toml").read_text(encoding="utf-8")
    entries = {name: each for name, each in tomllib.loads(text).items() if name != "provenance"}
    return {
        name: LogisticModel(**{key: each[key] for key in LogisticModel._fields if key in each})
        for name, each in entries.items()
    }


class QuestionTerms(NamedTuple):
    """The content words of a question with their statistics in the space."""

    salience: Mapping[str, Salience]
    weights: Mapping[str, float]
    """IDF, relative to the IDF of a word that occurs nowhere."""
    codes: Mapping[str, str]
    """The number of each code, mapped to the code written as one word."""
    unknown: frozenset[str]
    nodes: int


@dataclass(frozen=True, slots=True)
class Judge:
    """Computes the confidence of hits for one question."""

    asked: QuestionTerms
    model: LogisticModel
    background: Background
    vector: Vectors | None = field(repr=False, compare=False)
    store: Store = field(repr=False, compare=False)

    def __call__(self, hits: Sequence[Hit]) -> list[float]:
        """Return the confidence of each hit; nodes must be loaded.

        A hit without a vector is scored by the words-only model.
        """
        cosines = self._cosines(hits)
        return [self._confidence(hit, cosines.get(hit.id)) for hit in hits]

    def _confidence(self, hit: Hit, cosine: float | None) -> float:
        model = models()[WORDS_ONLY] if cosine is None else self.model
        # Tokenizing a text takes 20 µs, and only coverage and names need it.
        read = "coverage" in model.weights or NAME in self.asked.salience.values()
        return model.probability(
            self._features(
                hit, cosine or 0.0, self._matched_terms(hit.node) if read else self.asked.weights
            )
        )

    def features(self, hits: Sequence[Hit]) -> list[Features]:
        """Return the features of each hit."""
        cosines = self._cosines(hits)
        return [
            self._features(hit, cosines.get(hit.id, 0.0), self._matched_terms(hit.node))
            for hit in hits
        ]

    def _features(self, hit: Hit, cosine: float, held: Collection[str]) -> Features:
        asked, weights = self.asked, self.asked.weights
        whole, missing = sum(weights.values()), [term for term in weights if term not in held]
        unknown = sum(weights[term] for term in asked.unknown)
        return Features(
            vector=min(1.0, max(0.0, self.background.cosine_share(cosine))),
            coverage=1.0 - sum(weights[term] for term in missing) / whole,
            links=sum(
                hit.channels[name].contribution
                for name in (NAMED, PATH)
                if name in hit.channels and _by_name(hit, name)
            ),
            missing_name=max(
                (weights[term] for term in missing if asked.salience[term] == NAME), default=0.0
            ),
            unknown_word=max(
                (weights[term] for term in asked.unknown if asked.salience[term] != COMMON),
                default=0.0,
            ),
            unknown=unknown / whole * asked.nodes / (asked.nodes + LARGE),
        )

    def _matched_terms(self, node: Node | None) -> frozenset[str]:
        """Return the question terms that occur in a hit.

        A code also matches if it is written as one word.
        """
        held = (
            frozenset()
            if node is None
            else frozenset(terms(f"{node.title}\n{node.text}\n{node.context}"))
        )
        return frozenset(
            term
            for term in self.asked.weights
            if term in held or self.asked.codes.get(term) in held
        )

    def _cosines(self, hits: Sequence[Hit]) -> dict[NodeId, float]:
        """Return the cosine of each hit; for one with a context key, the mean of both cosines."""
        if self.vector is None:
            return {}
        found = {
            hit.id: [hit.channels[name].score for name in (DENSE, CONTEXT) if name in hit.channels]
            for hit in hits
        }
        missing = [id for id, scores in found.items() if not scores]
        further = self.store.cosines(self.vector, missing) if missing else {}
        return further | {id: sum(scores) / len(scores) for id, scores in found.items() if scores}


@dataclass(frozen=True, slots=True)
class Confidence:
    """Compare the best confidence with the threshold.

    Below it, mode `on` drops all hits and `flag` keeps them with a note.
    """

    mode: str
    background: Background
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the judge that `Pack` calls, and the best confidence."""
        # Hits of a question about a period alone are exact, and a question without content words
        # has no features.
        if not recall.hits or (recall.when is not None and recall.when.alone):
            return recall
        try:
            asked = self._question_terms(recall)
        except (
            CorruptStoreError
        ) as error:  # a word search works without vectors, but counting nodes reads them
            if recall.vector is not None:
                raise
            return replace(recall, notes=(*recall.notes, f"The hits have no confidence: {error}"))
        if not asked.weights:
            return recall
        embedded = self.store.model() if recall.vector is not None else None
        model = models().get(embedded.id if embedded else WORDS_ONLY, models()[WORDS_ONLY])
        judge = Judge(asked, model, self.background, recall.vector, self.store)
        recall = replace(
            recall, judge=judge, notes=(*recall.notes, *_language_notes(recall, judge))
        )
        if self.mode == OFF:
            return recall
        # load all hits that are likely to be returned in one read
        wanted = max(JUDGED, recall.question.k)
        recall = with_nodes(recall, LazyHits.of(recall.hits).ids(wanted), store=self.store)
        best = [
            hit._replace(node=recall.nodes[hit.id])
            for hit in recall.hits[:JUDGED]
            if hit.id in recall.nodes
        ]
        return self._apply_threshold(recall, judge, best) if best else recall

    def _apply_threshold(self, recall: Recall, judge: Judge, best: Sequence[Hit]) -> Recall:
        threshold = judge.model.threshold
        decided = BestConfidence(
            max(judge(best)), threshold, judge.model is not models()[WORDS_ONLY]
        )
        recall = replace(recall, best_confidence=decided)
        if not decided.too_low:
            return recall
        recall = replace(recall, notes=(*recall.notes, _note(decided, self.mode)))
        if self.mode != ON:
            return recall
        dropped = tuple(
            Rejection(id=hit.id, stage=STAGE, reason=REASON, value=decided.value, limit=threshold)
            for hit in recall.hits
        )
        return replace(recall, hits=(), rejected=recall.rejected + dropped)

    def _question_terms(self, recall: Recall) -> QuestionTerms:
        salience, codes = content_terms(recall.question.text), joined_codes(recall.question.text)
        missing = [
            term for term in (*salience, *codes.values()) if term not in recall.document_frequencies
        ]
        held = {
            **recall.document_frequencies,
            **(self.store.holding(missing, recall.question.where.space) if missing else {}),
        }
        nodes = max(1, space_coverage(recall, store=self.store).nodes)
        counts = {term: max(held[term], held.get(codes.get(term, term), 0)) for term in salience}
        whole = idf(nodes, 0)
        weights = {term: idf(max(nodes, count), count) / whole for term, count in counts.items()}
        return QuestionTerms(
            salience,
            weights,
            codes,
            frozenset(term for term, count in counts.items() if not count),
            nodes,
        )


def _by_name(hit: Hit, channel: str) -> bool:
    """Return whether a gain comes from names.

    A link that somebody made does not say that its target answers.
    """
    return channel == NAMED or all(hop.edge in BY_NAME for hop in hit.path)


def _language_notes(recall: Recall, judge: Judge) -> tuple[str, ...]:
    if judge.model.language != "en" or is_english(recall.question.text):
        return ()
    return (
        "The question does not seem to be English, the only language that the embedding model reads: "
        "only memories that share a word with it are found reliably. Ask in English, or set model.embedder to a multilingual model.",
    )


def _note(best: BestConfidence, mode: str) -> str:
    what = "All hits are held back" if mode == ON else "No hit seems to answer the question"
    best_of = (
        f"the best has a confidence of {100 * best.value:.0f} %, below {100 * best.threshold:.0f} %"
    )
    return f"{what}: {best_of}. Ask with other words, or widen the filter."
