"""Find the stage that dropped a memory, with its value and the threshold, or the rank it had."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from clew.ports import Store
from clew.search.pack import Pack, overlap_share
from clew.search.recipes import Recipe
from clew.search.state import CONTEXT, DENSE, QUESTION, SPARSE, Hit, Recall, Rejection, Stage
from clew.search.word_search import search_words
from clew.text.words import sentence_list, terms
from clew.times import iso
from clew.types import QUESTIONS, Filter, Match, Node, NodeId, Ranking, Role, Vectors, ranked

# Find the filter condition that excludes a node, by testing each condition alone.

Passes: TypeAlias = Callable[[Node, Filter], bool]
"""Return whether a node passes a filter."""

# Conditions that every filter has by default, and the node field that decides each.
DEFAULT_CONDITIONS = {"known_at": "t_expired", "as_of": "t_invalid", "archived": "archived"}
NAMES = {"kinds": "kind", "categories": "category", "tags": "tag"}


class Exclusion(NamedTuple):
    """A condition that a node fails: the node's value, and the value required."""

    reason: str
    value: Any
    threshold: Any


def excluded(node: Node, where: Filter, passes: Passes) -> Exclusion | None:
    """Return the first condition, in field order, that excludes a node; None if it passes."""
    if passes(node, where):
        return None
    asked = (each.name for each in fields(where) if each.name not in ("space", "now"))
    condition = next((name for name in asked if not _passes_alone(node, where, name, passes)), None)
    return (
        Exclusion("filter", None, None) if condition is None else _exclusion(node, where, condition)
    )


def _passes_alone(node: Node, where: Filter, name: str, passes: Passes) -> bool:
    """Return whether a node passes a filter with this condition alone."""
    otherwise: dict[str, Any] = {"t_expired": None, "t_invalid": None, "archived": False}
    otherwise.pop(DEFAULT_CONDITIONS.get(name, ""), None)
    asked = {
        name: getattr(where, name),
        **({"recorded_until": where.recorded_until} if name == "as_of" else {}),
    }
    return passes(replace(node, **otherwise), Filter(space=node.space, now=where.now, **asked))


def _exclusion(node: Node, where: Filter, condition: str) -> Exclusion:
    asked = getattr(where, condition)
    reason = NAMES.get(condition, condition)
    if condition in ("as_of", "known_at") and asked is None:
        ended = node.t_invalid if condition == "as_of" else node.t_expired
        return Exclusion(
            "invalid" if condition == "as_of" else "expired", _plain(ended), _plain(where.now)
        )
    return Exclusion(reason, _plain(_actual_value(node, where, condition)), _plain(asked))


def _actual_value(node: Node, where: Filter, condition: str) -> Any:
    """Return the value of the node that a condition is compared with."""
    if condition == "as_of":
        return (
            node.t_valid
            if where.as_of is not None and node.t_valid > where.as_of
            else node.t_invalid
        )
    if condition == "known_at":
        return (
            node.t_created
            if where.known_at is not None and node.t_created > where.known_at
            else node.t_expired
        )
    if condition == "metadata":
        return {key: node.metadata[key] for key in where.metadata if key in node.metadata}
    sources = {
        "kinds": "kind",
        "categories": "category",
        "tags": "tags",
        "since": "t_valid",
        "until": "t_valid",
        "within": "parent",
    }
    return getattr(node, sources.get(condition, condition), None)


def _plain(value: Any) -> Any:
    """Convert a value for JSON."""
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return (
        dict(value)
        if isinstance(value, Mapping)
        else str(value)
        if isinstance(value, str)
        else value
    )


# Describe in a sentence why a memory is not in the answer.

HOW = {
    DENSE: "by meaning",
    CONTEXT: "by meaning amid its neighbours",
    QUESTION: "by what it answers",
    SPARSE: "by words",
}
MEASURE = {
    DENSE: "cosine",
    CONTEXT: "cosine amid its neighbours",
    QUESTION: "best question's cosine",
    SPARSE: "BM25",
}


def sentence(found: WhyNot) -> str:
    """Return the explanation as a sentence."""
    if found.stage == "candidates" and found.channels:
        return f"No channel proposed it: {'; '.join(_standing(*each) for each in sorted(found.channels.items()))}{_sentences_floor(found)}."
    made = SENTENCES.get(found.reason)
    if made is not None:
        return made(found)
    if found.reason.startswith("stub:"):
        return f"The gate turned it away: it is no text of its own but a stub ({found.reason.removeprefix('stub:')})."
    return f"The stage {found.stage} turned it away: {found.reason}, {_shown(found.value)} against {_shown(found.threshold)}."


def _standing(name: str, standing: Standing) -> str:
    if standing.score is None:
        if name == QUESTION:
            return "it has no question that it is known to answer"
        if name != SPARSE:
            return f"it has no vector to be found {HOW[name]}"
        return (
            "it shares no word with the question"
            if not standing.shared
            else "its words are far too common"
        )
    place = "" if standing.rank is None else f", rank {standing.rank:,},"
    end = f"{standing.threshold:.3f}, where the {standing.cut:,} {HOW[name]} end"
    return f"its {MEASURE[name]} of {standing.score:.3f}{place} is not above {end}"


def _sentences_floor(found: WhyNot) -> str:
    return (
        ""
        if found.reason == "not_a_candidate"
        else f"; {found.reason} is {_shown(found.threshold)}"
    )


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return sentence_list([str(each) for each in value]) or "none"
    return "nothing" if value in (None, {}) else str(value)


def _filter(what: str) -> Callable[[WhyNot], str]:
    def made(found: WhyNot) -> str:
        later = f"; {found.by} took its place" if found.by else ""
        return f"The filter leaves it out: {what.format(value=_shown(found.value), threshold=_shown(found.threshold))}{later}."

    return made


SENTENCES: dict[str, Callable[[WhyNot], str]] = {
    "unknown_id": lambda found: f"There is no memory {found.id} in this space.",
    "found": lambda found: (
        f"It is in the answer, at rank {found.rank} with a score of {_shown(found.value)}."
    ),
    "beyond_k": lambda found: (
        f"It was ranked {found.rank:,} with a score of {_shown(found.value)}; the answer was full at {_shown(found.threshold)}."
    ),
    "dropped": lambda found: (
        f"It was lost in the stage {found.stage}, without having been turned away: it may have gone meanwhile."
    ),
    "overlap": lambda found: (
        f"{found.by} says it already: {_shown(found.value)} of the shorter one is in both, {_shown(found.threshold)} is enough."
    ),
    "budget_tokens": lambda found: (
        f"It was ranked {found.rank:,}, but with it the answer would have {found.value:,.0f} tokens; the budget is {found.threshold:,.0f}."
    ),
    "quality": lambda found: (
        f"The gate turned it away: its quality is {_shown(found.value)}, the least is {_shown(found.threshold)}."
    ),
    "too_short": lambda found: (
        f"The gate turned it away: it has {found.value:.0f} words, the fewest are {found.threshold:.0f}."
    ),
    "not_relevant": lambda found: (
        f"All hits were held back: the best confidence is {_shown(found.value)}, the least is {_shown(found.threshold)}."
    ),
    "min_similarity": lambda found: (
        f"Its cosine of {_shown(found.value)} is below min_similarity, {_shown(found.threshold)}."
    ),
    "dense_floor": lambda found: (
        f"Its cosine of {_shown(found.value)} is below recall.dense_floor, {_shown(found.threshold)}."
    ),
    "kind": _filter("it is of the kind {value}, asked for are {threshold}"),
    "category": _filter("its category is {value}, asked for is {threshold}"),
    "tag": _filter("its tags are {value}, asked for are {threshold}"),
    "metadata": _filter("its metadata has {value}, asked for is {threshold}"),
    "since": _filter("it became true on {value}, before {threshold}"),
    "until": _filter("it became true on {value}, after {threshold}"),
    "as_of": _filter("at {threshold} it was not true ({value})"),
    "invalid": _filter("it stopped being true on {value}"),
    "known_at": _filter("at {threshold} it was not believed ({value})"),
    "expired": _filter("it is no longer believed since {value}"),
    "archived": _filter("it is archived"),
    "filter": _filter("its conditions together are not met"),
    "period": lambda _: "The question asks about nothing but a time, and it is not of that time.",
    "within": lambda found: (
        f"Its section {_shown(found.value)} is not among those looked into ({_shown(found.threshold)})."
    ),
}


# Compare the score of a node that no channel proposed with the cutoff of each channel.

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
    """Return the standing of a node in each channel that searched for candidates.

    Unknown channels are skipped.
    """
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
    """Return the standing by the best of a node's vectors in the channel.

    It may have several questions.
    """
    own = [store.cosines(vector, [node.id], role=role).get(node.id) for role in ROLES[name]]
    cosine = max((each for each in own if each is not None), default=None)
    found = (
        [
            store.dense(vector, recall.question.where, limit=RANK_DEPTH, role=role)
            for role in ROLES[name]
        ]
        if cosine is not None
        else []
    )
    best: dict[NodeId, float] = {}
    for match in (match for ranking in found for match in ranking):
        best[match.id] = max(match.score, best.get(match.id, match.score))
    rank = _place(node.id, ranked(map(Match, best, best.values())))[0]
    # The question channel also scores candidates of other channels, which it did not propose.
    proposed = [
        match for match in recall.channels[name] if match.score >= recall.cutoffs.get(name, 0.0)
    ]
    return Standing(cosine, recall.cutoffs.get(name, 0.0), rank, len(proposed))


def _place(id: NodeId, everyone: Ranking) -> tuple[int | None, float | None]:
    return next(
        ((rank, match.score) for rank, match in enumerate(everyone, start=1) if match.id == id),
        (None, None),
    )


# Run a recipe stage by stage, keeping the state before and after each stage.


@dataclass(frozen=True, slots=True)
class StageRun:
    """One stage with its input and output."""

    stage: Stage
    before: Recall
    after: Recall

    @property
    def name(self) -> str:
        """The name of the stage, as in the statistics of an answer."""
        return type(self.stage).__name__.lower()

    def rejection(self, id: NodeId) -> Rejection | None:
        """Return the rejection of a candidate by this stage, or None."""
        fresh = self.after.rejected[len(self.before.rejected) :]  # stages only append
        return next((rejection for rejection in fresh if rejection.id == id), None)


@dataclass(frozen=True, slots=True)
class RecipeRun:
    """All stage runs of a recall."""

    stages: tuple[StageRun, ...]

    @property
    def answer(self) -> Recall:
        """The output of the last stage."""
        return self.stages[-1].after

    @property
    def ranking(self) -> Sequence[Hit]:
        """All scored hits, best first, before Pack or a low confidence cuts them."""
        for stage_run in self.stages:
            if isinstance(stage_run.stage, Pack) or (
                stage_run.name == "confidence" and not stage_run.after.hits
            ):
                return stage_run.before.hits
        return self.answer.hits

    def confidence(self, hit: Hit) -> float | None:
        """Return the confidence of a hit with a loaded node, in the answer or not."""
        judge = next(
            (
                stage_run.before.judge
                for stage_run in reversed(self.stages)
                if stage_run.before.judge is not None
            ),
            None,
        )
        return None if judge is None or hit.node is None else judge([hit])[0]

    def seen(self, id: NodeId) -> int:
        """Return the number of the last stage that has the node.

        Among the candidates before fusion, among the hits after it.
        """
        last, fused = 0, False
        for number, stage_run in enumerate(self.stages, start=1):
            fused = fused or bool(stage_run.after.hits)
            if (
                rank_of(id, stage_run.after.hits) is not None
                if fused
                else _proposed(id, stage_run.after)
            ):
                last = number
        return last


def run_recipe(recipe: Recipe, recall: Recall) -> RecipeRun:
    """Run a recipe one stage at a time and keep every intermediate state."""
    stages = []
    for stage in recipe.stages:
        after = replace(recipe, stages=(stage,)).run(recall)
        stages.append(StageRun(stage, recall, after))
        recall = after
    return RecipeRun(tuple(stages))


def _proposed(id: NodeId, recall: Recall) -> bool:
    return any(match.id == id for ranking in recall.channels.values() for match in ranking)


def rank_of(id: NodeId, hits: Sequence[Hit]) -> int | None:
    """Return the rank of a node among hits, from 1, or None.

    >>> rank_of("b", (Hit("a", 0.9, {}), Hit("b", 0.8, {}))), rank_of("c", ())
    (2, None)
    """
    return next((rank for rank, hit in enumerate(hits, start=1) if hit.id == id), None)


# steps of a recall that are not classes, except the last
ANSWER, STORE, FILTER, CANDIDATES = "answer", "store", "filter", "candidates"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """Where and why a node was dropped from an answer."""

    id: NodeId
    stage: str
    reason: str
    value: Any = None
    threshold: Any = None
    rank: int | None = None
    """The rank before it was dropped, or its rank in the answer."""
    by: NodeId | None = None
    """The hit that overlaps it, or the memory that superseded it."""
    channels: Mapping[str, Standing] = field(default_factory=dict)
    """For a node that no channel proposed: its standing in each channel."""
    sentence: str = ""

    @property
    def found(self) -> bool:
        """Whether it is in the answer."""
        return self.stage == ANSWER


def unknown(id: NodeId) -> WhyNot:
    """Return the answer for an id that is not in the space, whether or not another space has it."""
    return with_sentence(WhyNot(id=id, stage=STORE, reason="unknown_id"))


def why_not(
    run: RecipeRun, id: NodeId, node: Node | None, *, store: Store, passes: Passes
) -> WhyNot:
    """Return where a node was dropped in a recall, with a sentence."""
    where = run.stages[0].before.question.where
    if node is None or node.space != where.space:
        return unknown(id)
    if (rank := rank_of(id, run.answer.hits)) is not None:
        hits = run.answer.hits
        return with_sentence(
            WhyNot(
                id=id,
                stage=ANSWER,
                reason="found",
                value=hits[rank - 1].score,
                threshold=hits[-1].score,
                rank=rank,
            )
        )
    if (exclusion := excluded(node, where, passes)) is not None:
        return with_sentence(
            WhyNot(
                id=id,
                stage=FILTER,
                reason=exclusion.reason,
                value=exclusion.value,
                threshold=exclusion.threshold,
            )
        )
    return with_sentence(_narrowed(run, node, passes) or _lost(run, node, store))


def with_sentence(found: WhyNot) -> WhyNot:
    """Return the result with its sentence."""
    return replace(found, sentence=sentence(found))


def _narrowed(run: RecipeRun, node: Node, passes: Passes) -> WhyNot | None:
    """Return the stage that restricted the filter of the question, if that excluded the node."""
    for stage_run in run.stages:
        where = stage_run.after.question.where
        if (
            where != stage_run.before.question.where
            and (exclusion := excluded(node, where, passes)) is not None
        ):
            looked_into = [id for id in where.within if id]
            threshold = len(looked_into) if exclusion.reason == "within" else exclusion.threshold
            return WhyNot(
                id=node.id,
                stage=stage_run.name,
                reason=exclusion.reason,
                value=exclusion.value,
                threshold=threshold,
            )
    return None


def _lost(run: RecipeRun, node: Node, store: Store) -> WhyNot:
    came = run.seen(node.id)
    found = next(
        (
            (stage_run, why)
            for stage_run in run.stages[came:]
            if (why := stage_run.rejection(node.id)) is not None
        ),
        None,
    )
    rank = rank_of(node.id, run.stages[came - 1].after.hits) if came else None
    if found is not None:
        stage_run, why = found
        by = _overlapping_hit(node, stage_run.after) if why.reason == "overlap" else None
        return WhyNot(
            id=node.id,
            stage=why.stage,
            reason=why.reason,
            value=why.value,
            threshold=why.limit,
            rank=rank,
            by=by,
        )
    return _unproposed(run, node, store) if not came else _dropped(run.stages[came], node, rank)


def _overlapping_hit(node: Node, answer: Recall) -> NodeId | None:
    """Return the hit that overlaps the node most."""
    kept = [hit.node for hit in answer.hits if hit.node is not None]
    return max(kept, key=lambda other: overlap_share(node, [other]), default=node).id


def _dropped(stage_run: StageRun, node: Node, rank: int | None) -> WhyNot:
    """Return that a stage dropped the node without a rejection.

    Pack for its rank, others because it was deleted.
    """
    score = None if rank is None else stage_run.before.hits[rank - 1].score
    last = stage_run.after.hits[-1].score if stage_run.after.hits else None
    full = (
        isinstance(stage_run.stage, Pack)
        and len(stage_run.after.hits) == stage_run.after.question.k
    )
    return WhyNot(
        id=node.id,
        stage=stage_run.name,
        reason="beyond_k" if full else "dropped",
        value=score,
        threshold=last,
        rank=rank,
    )


def _unproposed(run: RecipeRun, node: Node, store: Store) -> WhyNot:
    """Return that no channel proposed the node, with its standing in each."""
    stage_run = next(
        (stage_run for stage_run in run.stages if stage_run.after.channels), run.stages[-1]
    )
    standing = standings(store, node, stage_run.after)
    found = WhyNot(id=node.id, stage=CANDIDATES, reason="not_a_candidate", channels=standing)
    nearest = standing.get(DENSE)
    if nearest is None or nearest.score is None:
        words = standing.get(SPARSE)
        return (
            found
            if words is None
            else replace(
                found, value=words.score or 0.0, threshold=words.threshold, rank=words.rank
            )
        )
    reason, threshold = _floor(stage_run.after, nearest)
    return replace(
        found, reason=reason, value=nearest.score, threshold=threshold, rank=nearest.rank
    )


def _floor(recall: Recall, standing: Standing) -> tuple[str, float]:
    """Return whether the list was full before the node, or a similarity floor excluded it."""
    least = recall.question.min_similarity
    if least > standing.threshold and standing.score is not None and standing.score < least:
        return "min_similarity", least
    taken = recall.channels[DENSE]
    full = bool(taken) and taken[-1].score == standing.threshold
    return ("not_a_candidate" if full else "dense_floor"), standing.threshold
