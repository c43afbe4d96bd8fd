"""What is told of an operation.

Numbers and names of Clew's own, and what people wrote only where that was asked for.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from clew.errors import ClewError, clipped
from clew.search.state import Recall
from clew.types import ConversationOutcome, Outcome

Fact: TypeAlias = str | int | float | bool

# of an import's totals; the others say what became of its files
MADE = ("files", "nodes", "vectors")
DONE, HITS, NOTHING_RELEVANT, ERROR = "done", "hits", "nothing_relevant", "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One recall or write, after it is over."""

    name: str
    seconds: float
    outcome: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    stages: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds of each stage of a recall."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many memories or files of a write had each outcome."""
    request_id: str = ""

    @property
    def milliseconds(self) -> float:
        """How long it took."""
        return round(self.seconds * 1e3, 3)


def operation(
    name: str, result: object, seconds: float, *, include_text: bool = False, request_id: str = ""
) -> Operation:
    """Return what is to be told of an operation by what it returned or raised.

    An error is told by its code, for its message quotes.
    """
    outcome, facts = _told(result, include_text)
    stages = _stages(result) if isinstance(result, Recall) else {}
    return Operation(
        name=name,
        seconds=seconds,
        outcome=outcome,
        facts=facts,
        stages=stages,
        counts=counts_of(name, result),
        request_id=request_id,
    )


def counts_of(name: str, result: object) -> dict[str, int]:
    """Return how many memories or files of a write had each outcome.

    A change without one counts under its own name.

    >>> counts_of("forget", None), counts_of("remember", ValueError())
    ({'forget': 1}, {})
    """
    if isinstance(result, Outcome):  # first, as most are
        return {str(result.outcome): 1}
    if isinstance(result, (Recall, BaseException)):
        return {}
    if isinstance(result, ConversationOutcome):
        result = list(result.outcomes)
    if isinstance(result, list):
        return dict(
            sorted(
                Counter(str(each.outcome) for each in result if isinstance(each, Outcome)).items()
            )
        )
    if (totals := getattr(result, "totals", None)) is not None:
        return {name: count for name, count in totals.items() if name not in MADE and count}
    return {name: 1}


def _told(result: object, include_text: bool) -> tuple[str, dict[str, Fact]]:
    if isinstance(result, Recall):
        return NOTHING_RELEVANT if result.nothing_relevant else HITS, _recalled(
            result, include_text
        )
    if isinstance(result, BaseException):
        return ERROR, _error(result, include_text)
    if isinstance(result, Outcome):
        return str(result.outcome), {"rule": result.rule} if result.rule else {}
    if (totals := getattr(result, "totals", None)) is not None:
        return DONE, {name: totals[name] for name in MADE}
    return DONE, {}


def _recalled(answer: Recall, include_text: bool) -> dict[str, Fact]:
    asked = answer.question
    written = {
        "query": asked.text,
        "space": asked.where.space,
        "note_texts": "\n".join(answer.notes),
    }
    return {
        "recall_id": answer.id,
        "recipe": asked.recipe,
        "preset": asked.preset,
        "k": asked.k,
        "returned": len(answer.hits),
        "filtered": answer.filtered_count,
        "nothing_relevant": answer.nothing_relevant,
        "tokens_returned": answer.tokens_returned,
        "embedding_calls": answer.embedding_calls,
        "reranked": answer.reranked,
        # not the notes: one may quote what a model's server said, and that the question
        "notes": len(answer.notes),
        **{f"candidates.{name}": len(ranking) for name, ranking in sorted(answer.channels.items())},
        **(written if include_text else {}),
    }


def _stages(answer: Recall) -> dict[str, float]:
    sums: Counter[str] = Counter()
    for step in answer.steps:
        # Counters count in floats as well
        sums[step.stage] += step.milliseconds  # type: ignore[assignment]
    return {stage: round(milliseconds, 3) for stage, milliseconds in sums.items()}


def _error(error: BaseException, include_text: bool) -> dict[str, Fact]:
    code = error.code if isinstance(error, ClewError) else "bug"
    return {
        "error": code,
        "error_type": type(error).__name__,
        **({"error_message": clipped(str(error))} if include_text else {}),
    }


# What the engine asks of whoever wants to know what it does.


class Telemetry(Protocol):
    """Takes note of operations. Called after each, in its thread: it must be quick."""

    def listens(self, *, failed: bool) -> bool:
        """Tell whether anybody would see the record of an operation that succeeded or failed.

        Else none is made.
        """

    def record(self, done: Operation) -> None:
        """Take note of one operation."""

    def embedded(self, role: str, texts: int, seconds: float) -> None:
        """Take note that a model embedded texts."""

    def close(self) -> None:
        """Hand on what is waiting."""


# The name of the request that is being served, for everything that is logged on its behalf.

ID_BYTES = 12
# what can neither break a line nor pass for another field
_SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_CURRENT: ContextVar[str] = ContextVar("clew_request_id", default="")


def current_request_id() -> str:
    """Return the id of the request in whose context this runs; empty outside of one."""
    return _CURRENT.get()


@contextmanager
def requested(id: str | None = None) -> Iterator[str]:
    """Serve a request under its id; a new one where none is given, or one that is unfit for a log.

    A thread of a pool sees it if its work is run in a copy of the context
    (`contextvars.copy_context().run`).

    >>> with requested("job-7") as id:
    ...     id, current_request_id()
    ('job-7', 'job-7')
    """
    chosen = id if id is not None and _SAFE.fullmatch(id) else os.urandom(ID_BYTES).hex()
    token = _CURRENT.set(chosen)
    try:
        yield chosen
    finally:
        _CURRENT.reset(token)
