"""Recall from several spaces at once.

Each ranked by its own statistics, then merged by confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from clew.errors import InputError
from clew.memories.validation import MAX_NAME_CHARACTERS, line
from clew.search.state import Hit, Recall
from clew.text.words import token_estimate

MOST_SPACES = 16


def checked_spaces(spaces: object) -> tuple[str, ...]:
    """Return the names of the spaces, each once, or raise an InputError."""
    if isinstance(spaces, str | bytes) or not isinstance(spaces, Sequence) or not spaces:
        raise InputError(
            "spaces",
            spaces,
            "must be a list of spaces",
            'Write spaces=["work", "home"], or space= for one.',
        )
    names = tuple(dict.fromkeys(line("spaces", each, limit=MAX_NAME_CHARACTERS) for each in spaces))
    if len(names) > MOST_SPACES:
        raise InputError("spaces", len(names), f"are more than {MOST_SPACES}", "Ask several times.")
    return names


def recall_spaces(
    ask: Callable[[str], Recall], spaces: Sequence[str], *, k: int, budget_tokens: int
) -> Recall:
    """Ask each space by itself and return one answer with the k most confident hits that fit the token budget.

    Scores of two spaces do not compare, because word statistics are counted per space; the
    calibrated confidence does. Hits without a confidence follow in the order of their scores.
    """
    answers = [ask(space) for space in spaces]
    hits = sorted((hit for answer in answers for hit in answer.hits), key=_order)
    kept = _within(hits[:k], budget_tokens)
    judged = [answer.best_confidence for answer in answers if answer.best_confidence is not None]
    best = next((each for each in judged if not each.too_low), judged[0] if judged else None)
    return replace(
        answers[0],
        hits=kept,
        rejected=tuple(each for answer in answers for each in answer.rejected),
        best_confidence=best,
        notes=tuple(dict.fromkeys(note for answer in answers for note in answer.notes)),
        steps=tuple(step for answer in answers for step in answer.steps),
    )


def _order(hit: Hit) -> tuple[float, float, str]:
    return (-(hit.confidence if hit.confidence is not None else -1.0), -hit.score, hit.id)


def _within(hits: Sequence[Hit], budget_tokens: int) -> list[Hit]:
    """Return the hits that fit the budget, in order; 0 is no limit."""
    kept: list[Hit] = []
    left = budget_tokens
    for hit in hits:
        size = token_estimate(hit.context or hit.text)
        if budget_tokens and size > left:
            continue
        left -= size
        kept.append(hit)
    return kept
