"""Collect candidates from the BM25 and vector channels concurrently, each under the whole filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, runtime_checkable

from clew.ports import Coverage, Store
from clew.search.query_language import is_foreign
from clew.search.state import (
    CONTEXT,
    DENSE,
    QUESTION,
    SPARSE,
    QueryVectors,
    Recall,
    Rejection,
    space_coverage,
)
from clew.search.word_search import has_no_words, search_symbols, search_words
from clew.text.words import idf, query_weight
from clew.types import QUESTIONS, Filter, Kind, Match, NodeId, Ranking, Role, Vectors, ranked

EmbedQuery: TypeAlias = Callable[[str], QueryVectors]
"""Embed a question. Without a vector the notes say why, except where the store has no vectors yet."""
NO_VECTORS = "Recall is by words alone: there are no vectors yet. Make them with: clew reembed"

FOREIGN = (
    "The question does not seem to be in {language}, the only language that the embedding model reads: it is answered by its words alone, "
    "so only memories that share a word with it are found. Ask in {language}, or set model.embedder to a multilingual model."
)
LANGUAGES = {"en": "English"}  # of models that read one language


def never_quick() -> bool:
    """Return False: assume that embedding a question is slower than starting a thread."""
    return False


@runtime_checkable
class SupportsTransactions(Protocol):
    """A store that knows whether the calling thread is inside a transaction, whose writes only that thread sees."""

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside a transaction."""


@runtime_checkable
class SupportsBackgroundDense(Protocol):
    """A store that can run a vector search in the background."""

    def begin_dense(self, vector: Vectors, where: Filter, *, limit: int) -> Callable[[], Ranking]:
        """Start `dense` on the current snapshot and return a function that waits for its result.

        Call it from the same thread.
        """


@dataclass(frozen=True, slots=True)
class Candidates:
    """Collect the best candidates of each channel.

    The word search runs while the question is being embedded.
    """

    limit: int
    channels: tuple[str, ...]
    dense_floor: float
    store: Store = field(repr=False, compare=False)
    embed: EmbedQuery = field(repr=False, compare=False)
    executor: Executor = field(repr=False, compare=False)
    quick: Callable[[], bool] = field(default=never_quick, repr=False, compare=False)
    """Whether embedding a question is faster than starting a thread."""

    def __call__(self, recall: Recall) -> Recall:
        """Set the channels, and for each the cutoff.

        An upper bound on the score of any memory outside the channel.
        """
        if has_no_words(recall.question.text):
            matches, note = search_symbols(recall, store=self.store, limit=self.limit)
            return self._with_channels(
                replace(recall, notes=(*recall.notes, note)), {SPARSE: matches}
            )
        if DENSE not in self.channels:
            return self._with_channels(recall, {SPARSE: self._sparse(recall)})
        if SPARSE in self.channels and (language := self._unread(recall.question.text)):
            notes = (*recall.notes, FOREIGN.format(language=language))
            return self._with_channels(
                replace(recall, vector=None, query=None, notes=notes),
                {SPARSE: self._sparse(recall)},
            )
        waiting = recall.vector is None and not self.quick()
        words = self._start_sparse(recall) if waiting and SPARSE in self.channels else None
        known = QueryVectors(recall.vector, (), recall.query) if recall.vector is not None else None
        vector, notes, tokens = known or self.embed(
            recall.text_without_times or recall.question.text
        )
        if (
            vector is None and not notes and self.store.coverage(recall.question.where.space).nodes
        ):  # of this space only: a missing vector in another space would reveal that it has memories
            notes = (NO_VECTORS,)
        # an earlier stage may have failed to embed the question already
        fresh = tuple(note for note in notes if note not in recall.notes)
        recall = replace(recall, vector=vector, query=tokens, notes=recall.notes + fresh)
        nearest = self._start_dense(recall, vector) if vector is not None else tuple
        found: dict[str, Ranking] = {}
        if SPARSE in self.channels:
            # Not started yet, so embedding was fast or the machine is busy: faster to run it here
            # than to wait.
            found[SPARSE] = (
                self._sparse(recall) if words is None or words.cancel() else words.result()
            )
        if vector is not None:
            found[DENSE] = nearest()
            coverage = space_coverage(recall, store=self.store)
            if coverage.contexts and CONTEXT in self.channels:
                found[CONTEXT] = self.store.dense(
                    vector, recall.question.where, limit=self.limit, role=Role.CONTEXT
                )
            if coverage.questions and QUESTION in self.channels:
                found[QUESTION] = self._search_questions(recall, vector)
            recall = replace(
                recall, coverage=coverage, notes=recall.notes + _coverage_notes(coverage)
            )
        return self._with_channels(recall, found)

    def _unread(self, text: str) -> str:
        """Return the only language that the embedding model reads if the question is not in it.

        Vectors would be noise.
        """
        if not is_foreign(text) or (model := self.store.model()) is None:
            return ""
        # Word lists that only a foreign question needs
        from clew.search.confidence import WORDS_ONLY, models  # noqa: PLC0415

        return LANGUAGES.get(models().get(model.id, models()[WORDS_ONLY]).language, "")

    def _start_sparse(self, recall: Recall) -> Future[Ranking]:
        """Start the word search in another thread.

        Inside a transaction run it in this one, so that both channels see the same data.
        """
        if isinstance(self.store, SupportsTransactions) and self.store.in_transaction:
            done: Future[Ranking] = Future()
            done.set_result(self._sparse(recall))
            return done
        return self.executor.submit(self._sparse, recall)

    def _start_dense(self, recall: Recall, vector: Vectors) -> Callable[[], Ranking]:
        """Start the vector search in the background if the store supports that.

        Return a function that gets its result.
        """
        if isinstance(self.store, SupportsBackgroundDense):
            return self.store.begin_dense(vector, recall.question.where, limit=self.limit)
        return lambda: self.store.dense(vector, recall.question.where, limit=self.limit)

    def _sparse(self, recall: Recall) -> Ranking:
        return search_words(recall, store=self.store, limit=self.limit)

    def _search_questions(self, recall: Recall, vector: Vectors) -> Ranking:
        """Return nodes ranked by the best cosine among their hypothetical questions."""
        ways = [
            self.store.dense(vector, recall.question.where, limit=self.limit, role=role)
            for role in QUESTIONS
        ]
        return _best(*ways)[: self.limit]

    def _with_channels(self, recall: Recall, found: dict[str, Ranking]) -> Recall:
        """Set the channels without candidates below the similarity floors.

        The dense list is sorted, so they are its tail.
        """
        cutoffs = {name: self._cutoff(name, ranking) for name, ranking in found.items()}
        complete = {
            name: len(ranking) for name, ranking in found.items() if len(ranking) < self.limit
        }
        floor, reason = max(
            (self.dense_floor, "dense_floor"), (recall.question.min_similarity, "min_similarity")
        )
        far = [
            _rejection(match, reason, floor)
            for match in found.get(DENSE, ())
            if match.score < floor
        ]
        if far:
            found[DENSE] = found[DENSE][: -len(far)]
        for name in found.keys() & {CONTEXT, QUESTION}:
            found[name] = tuple(match for match in found[name] if match.score >= self.dense_floor)
        found, dissimilar, notes = self._apply_min_similarity(recall, found)
        rejected = {rejection.id: rejection for rejection in (*dissimilar, *far)}
        if rejected:
            kept = {
                match.id for name, ranking in found.items() if name != DENSE for match in ranking
            }
            rejected = {id: rejection for id, rejection in rejected.items() if id not in kept}
        if QUESTION in found and recall.vector is not None:
            found[QUESTION] = self._score_other_questions(found, recall.vector)
        far_off, more = recall.rejected + tuple(rejected.values()), recall.notes + notes
        return replace(
            recall, channels=found, cutoffs=cutoffs, complete=complete, rejected=far_off, notes=more
        )

    def _score_other_questions(self, found: dict[str, Ranking], vector: Vectors) -> Ranking:
        """Extend the question channel by candidates of other channels whose questions scored below its limit."""
        known = {match.id for match in found[QUESTION]}
        others = list(
            dict.fromkeys(
                match.id for ranking in found.values() for match in ranking if match.id not in known
            )
        )
        further = (
            [self.store.cosines(vector, others, role=role) for role in QUESTIONS] if others else []
        )
        return (
            *found[QUESTION],
            *_best(*(tuple(map(Match, cosines, cosines.values())) for cosines in further)),
        )

    def _cutoff(self, name: str, ranking: Ranking) -> float:
        """Return the last score of a full list, or the lowest possible score if the list holds every match."""
        least = 0.0 if name == SPARSE else self.dense_floor
        return max(least, ranking[-1].score) if len(ranking) == self.limit else least

    def _apply_min_similarity(
        self, recall: Recall, found: dict[str, Ranking]
    ) -> tuple[dict[str, Ranking], list[Rejection], tuple[str, ...]]:
        """Apply `min_similarity` to candidates of the other channels too, by the exact cosine of their own vector."""
        least = recall.question.min_similarity
        others = (
            {
                match.id: None
                for name, ranking in found.items()
                if name != DENSE
                for match in ranking
            }
            if least > 0
            else {}
        )
        if not others:
            return found, [], ()
        if recall.vector is None:
            return (
                found,
                [],
                (
                    "min_similarity was not applied: without a vector of the question there is no similarity to compare.",
                ),
            )
        cosines = self.store.cosines(recall.vector, list(others))
        far = {id: cosines[id] for id in others if cosines.get(id, least) < least}
        near = {
            name: tuple(match for match in ranking if match.id not in far)
            for name, ranking in found.items()
        }
        return (
            near,
            [_rejection(Match(id, cosine), "min_similarity", least) for id, cosine in far.items()],
            (),
        )


def _best(*rankings: Ranking) -> Ranking:
    """Merge rankings, keeping the best score of each node.

    >>> _best((Match("a", 0.9), Match("b", 0.5)), (Match("b", 0.7),))
    (Match(id='a', score=0.9), Match(id='b', score=0.7))
    """
    best: dict[NodeId, float] = {}
    for match in (match for ranking in rankings for match in ranking):
        best[match.id] = max(match.score, best.get(match.id, match.score))
    return ranked(map(Match, best, best.values()))


def _coverage_notes(coverage: Coverage) -> tuple[str, ...]:
    notes = []
    if (missing := coverage.nodes - coverage.vectors) > 0:
        notes.append(
            f"{missing} of {coverage.nodes} memories have no vector and are found by words only: run clew reembed."
        )
    if (missing := coverage.keyed - coverage.contexts) > 0:
        notes.append(
            f"{missing} of {coverage.keyed} small chunks have no vector of their context: run clew reembed."
        )
    return tuple(notes)


def _rejection(match: Match, reason: str, limit: float) -> Rejection:
    return Rejection(id=match.id, stage="candidates", reason=reason, value=match.score, limit=limit)


# Search sections by BM25, on the scale of the relevance.

# Compared with no limit: CACM +2.2 points of nDCG@10, HotpotQA +0.5, household +0.6, LoCoMo turns
# and desk unchanged.
MAX_TERMS = 6


def sections(store: Store, where: Filter, *, terms: Sequence[str], limit: int) -> Ranking:
    """Return the sections that pass the filter, best first, each with BM25 relative to `best_words`."""
    # Drop the time filter: a chunk in the period may belong to a section that began earlier. Drop
    # `within` too: it selects
    # chunks by section, and sections are not nested.
    here = replace(where, kinds=(Kind.SECTION,), since=None, until=None, within=())
    found = store.sparse(terms, here, limit=limit) if terms else ()
    whole = (
        best_words(
            terms, store.holding(terms, where.space), nodes=store.coverage(where.space).nodes
        )
        if found
        else 0.0
    )
    return tuple(
        Match(match.id, min(1.0, match.score / (whole or match.score or 1.0))) for match in found
    )


def best_words(terms: Sequence[str], frequencies: Mapping[str, int], *, nodes: int) -> float:
    """Return the BM25 of a text of average length that contains every query term once.

    `frequencies` are document frequencies.

    Even the best text contains only a part of a long query, so at most MAX_TERMS terms of average
    IDF are counted.

    >>> best_words(["boiler", "the"], {"boiler": 1, "the": 100}, nodes=100) < best_words(["boiler", "ghost"], {"boiler": 1}, nodes=100)
    True
    """
    counts = Counter(terms)
    whole = sum(
        query_weight(said) * idf(max(nodes, frequencies.get(term, 0)), frequencies.get(term, 0))
        for term, said in counts.items()
    )
    return whole * min(1.0, MAX_TERMS / max(1, len(terms)))


# Search sections first, then only the chunks inside the best of them.

MAX_SECTIONS = 20  # sections whose chunks are searched
FLAT = "The store has no sections, so all of it was searched at once."


@dataclass(frozen=True, slots=True)
class Narrow:
    """Restrict the search to chunks of the best sections and to nodes without a section.

    Add a note if there are no sections.
    """

    store: Store = field(repr=False, compare=False)
    embed: EmbedQuery = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Restrict the filter of the question."""
        if not self.store.coverage(recall.question.where.space).sections:
            return replace(recall, notes=(*recall.notes, FLAT))
        vector, notes, tokens = self.embed(recall.text_without_times or recall.question.text)
        where = recall.question.where
        found = sections(self.store, where, terms=recall.terms, limit=MAX_SECTIONS)
        within = replace(where, within=tuple(match.id for match in found) or ("",))
        more = tuple(note for note in notes if note not in recall.notes)
        return replace(
            recall,
            vector=vector,
            query=tokens,
            notes=recall.notes + more,
            question=replace(recall.question, where=within),
        )
