"""Describe in a sentence why a memory is not in the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clew.recall.state import CONTEXT, DENSE, QUESTION, SPARSE
from clew.words import sentence_list

if TYPE_CHECKING:
    from clew.recall.reasons.standing import Standing
    from clew.recall.reasons.whynot import WhyNot

HOW = {DENSE: "by meaning", CONTEXT: "by meaning amid its neighbours", QUESTION: "by what it answers", SPARSE: "by words"}
MEASURE = {DENSE: "cosine", CONTEXT: "cosine amid its neighbours", QUESTION: "best question's cosine", SPARSE: "BM25"}


def sentence(found: WhyNot) -> str:
    """Return the explanation as a sentence."""
    if found.stage == "candidates" and found.channels:
        return f"No channel proposed it: {'; '.join(_standing(*each) for each in sorted(found.channels.items()))}{_floor(found)}."
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
        return "it shares no word with the question" if not standing.shared else "its words are far too common"
    place = "" if standing.rank is None else f", rank {standing.rank:,},"
    end = f"{standing.threshold:.3f}, where the {standing.cut:,} {HOW[name]} end"
    return f"its {MEASURE[name]} of {standing.score:.3f}{place} is not above {end}"


def _floor(found: WhyNot) -> str:
    return "" if found.reason == "not_a_candidate" else f"; {found.reason} is {_shown(found.threshold)}"


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
    "found": lambda found: f"It is in the answer, at rank {found.rank} with a score of {_shown(found.value)}.",
    "beyond_k": lambda found: (
        f"It was ranked {found.rank:,} with a score of {_shown(found.value)}; the answer was full at {_shown(found.threshold)}."
    ),
    "dropped": lambda found: f"It was lost in the stage {found.stage}, without having been turned away: it may have gone meanwhile.",
    "overlap": lambda found: (
        f"{found.by} says it already: {_shown(found.value)} of the shorter one is in both, {_shown(found.threshold)} is enough."
    ),
    "budget_tokens": lambda found: (
        f"It was ranked {found.rank:,}, but with it the answer would have {found.value:,.0f} tokens; the budget is {found.threshold:,.0f}."
    ),
    "quality": lambda found: f"The gate turned it away: its quality is {_shown(found.value)}, the least is {_shown(found.threshold)}.",
    "too_short": lambda found: f"The gate turned it away: it has {found.value:.0f} words, the fewest are {found.threshold:.0f}.",
    "not_relevant": lambda found: (
        f"All hits were held back: the best confidence is {_shown(found.value)}, the least is {_shown(found.threshold)}."
    ),
    "min_similarity": lambda found: f"Its cosine of {_shown(found.value)} is below min_similarity, {_shown(found.threshold)}.",
    "dense_floor": lambda found: f"Its cosine of {_shown(found.value)} is below recall.dense_floor, {_shown(found.threshold)}.",
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
    "within": lambda found: f"Its section {_shown(found.value)} is not among those looked into ({_shown(found.threshold)}).",
}
