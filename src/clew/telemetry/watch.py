"""Sees every operation of a Clew, counts it, and tells whoever listens; what goes wrong in here costs no answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from time import perf_counter
from typing import Any, Protocol, TypeVar, cast

from clew.errors import clipped
from clew.recall.state import Recall
from clew.telemetry.ledger import Ledger
from clew.telemetry.logs import Logged
from clew.telemetry.operation import counts_of, operation
from clew.telemetry.port import Telemetry
from clew.telemetry.request_ids import current_request_id


class Watch:
    """The one place that the engine reports to."""

    def __init__(self, telemetry: Telemetry | None = None, *, include_text: bool = False) -> None:
        self.telemetry = telemetry
        self.include_text = include_text
        self.ledger = Ledger()
        self.failure: str | None = None
        """What went wrong the last time that something was told."""
        self._listeners: Sequence[Telemetry] = (Logged(), *(() if telemetry is None else (telemetry,)))

    def over(self, name: str, result: object, seconds: float) -> None:
        """Take note that an operation returned or raised this."""
        try:
            self._enter(name, result, seconds)
            failed = isinstance(result, Exception)
            listening = [each for each in self._listeners if each.listens(failed=failed)]
            if listening:
                done = operation(name, result, seconds, include_text=self.include_text, request_id=current_request_id())
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
