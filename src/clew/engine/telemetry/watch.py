"""Sees every operation of a Clew, counts it, and tells whoever listens.

What goes wrong in here costs no answer.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from time import perf_counter
from typing import Any, Protocol, TypeVar, cast

from clew.engine.telemetry.logs import Logged
from clew.engine.telemetry.operation import Telemetry, counts_of, current_request_id, operation
from clew.errors import clipped
from clew.forking import after_fork
from clew.search.state import Recall

# What a process has spent so far: calls, tokens, milliseconds.

COUNTED = (
    "recalls",
    "nothing_relevant",
    "errors",
    "embedding_calls",
    "texts_embedded",
    "texts_reranked",
)
# of UTF-8, about; counting words as a token budget does would cost as much as a recall
BYTES_PER_TOKEN = 4


class Ledger:
    """Running totals since it was made."""

    def __init__(self) -> None:
        self._sums: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._milliseconds = 0.0
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        """Make the lock; in a forked child anew, for another thread of the parent may have held it."""
        self._lock = threading.Lock()

    def recalled(self, answer: Recall, seconds: float) -> None:
        """Add one answer."""
        size = sum(
            len((hit.context or hit.text).encode(errors="surrogatepass")) for hit in answer.hits
        )
        with self._lock:
            self._sums["recalls"] += 1
            self._sums["nothing_relevant"] += answer.nothing_relevant
            self._sums["bytes_returned"] += size
            self._sums["texts_reranked"] += answer.reranked
            self._milliseconds += seconds * 1e3

    def wrote(self, counts: Mapping[str, int]) -> None:
        """Add what became of memories and files that were offered."""
        with self._lock:
            for outcome, count in counts.items():  # a Counter's own way asks what it was given
                self._outcomes[outcome] += count

    def failed(self) -> None:
        """Add one operation that was refused or went wrong."""
        with self._lock:
            self._sums["errors"] += 1

    def embedded(self, texts: int) -> None:
        """Add one call of the model."""
        with self._lock:
            self._sums["embedding_calls"] += 1
            self._sums["texts_embedded"] += texts

    def add(self, totals: Mapping[str, Any]) -> None:
        """Add what another process has written and embedded."""
        self.wrote(totals["writes"])
        with self._lock:
            for name in ("errors", "embedding_calls", "texts_embedded"):
                self._sums[name] += totals[name]

    def totals(self) -> dict[str, Any]:
        """Return the sums: what was recalled, what that cost, and what became of what was written."""
        with self._lock:
            sums = {name: self._sums[name] for name in COUNTED}
            spent = {
                "tokens_returned": self._sums["bytes_returned"] // BYTES_PER_TOKEN,
                "recall_milliseconds": round(self._milliseconds, 3),
            }
            return {**sums, **spent, "writes": dict(sorted(self._outcomes.items()))}


class Watch:
    """The one place that the engine reports to."""

    def __init__(self, telemetry: Telemetry | None = None, *, include_text: bool = False) -> None:
        self.telemetry = telemetry
        self.include_text = include_text
        self.ledger = Ledger()
        self.failure: str | None = None
        """What went wrong the last time that something was told."""
        self._listeners: Sequence[Telemetry] = (
            Logged(),
            *(() if telemetry is None else (telemetry,)),
        )

    def listen(self, listener: Telemetry) -> None:
        """Tell one more of every operation from now on."""
        self._listeners = (*self._listeners, listener)

    def over(self, name: str, result: object, seconds: float) -> None:
        """Take note that an operation returned or raised this."""
        try:
            self._enter(name, result, seconds)
            failed = isinstance(result, Exception)
            listening = [each for each in self._listeners if each.listens(failed=failed)]
            if listening:
                done = operation(
                    name,
                    result,
                    seconds,
                    include_text=self.include_text,
                    request_id=current_request_id(),
                )
                for each in listening:
                    each.record(done)
        except Exception as error:  # whatever it is, the answer is there and must be given
            self.failure = f"{type(error).__name__}: {clipped(str(error))}"

    def _enter(self, name: str, result: object, seconds: float) -> None:
        """Write to the ledger; quick, for it is done for every recall."""
        if isinstance(result, Recall):
            self.ledger.recalled(result, seconds)
        elif isinstance(result, Exception):
            self.ledger.failed()
        else:
            self.ledger.wrote(counts_of(name, result))

    def embedded(self, role: str, texts: int, seconds: float) -> None:
        """Take note that the model embedded texts."""
        self.ledger.embedded(texts)
        try:
            if self.telemetry is not None:
                self.telemetry.embedded(role, texts, seconds)
        except Exception as error:  # as above
            self.failure = f"{type(error).__name__}: {clipped(str(error))}"

    def totals(self) -> dict[str, Any]:
        """Return what was spent so far, and what went wrong in telling it."""
        return {**self.ledger.totals(), "telemetry_failure": self.failure}

    def close(self) -> None:
        """Hand on what is waiting."""
        if self.telemetry is not None:
            self.telemetry.close()


class Watchable(Protocol):
    """An engine with a watch."""

    @property
    def watch(self) -> Watch:
        """Who is told."""


F = TypeVar("F", bound=Callable[..., Any])


def watched(name: str) -> Callable[[F], F]:
    """Have a method's calls told to the watch of its object, under a name."""

    def wrapped(method: F) -> F:
        @wraps(method)
        def run(self: Watchable, /, *args: Any, **options: Any) -> Any:
            began = perf_counter()
            try:
                result = method(self, *args, **options)
            except Exception as error:
                self.watch.over(name, error, perf_counter() - began)
                raise
            self.watch.over(name, result, perf_counter() - began)
            return result

        return cast("F", run)

    return wrapped
