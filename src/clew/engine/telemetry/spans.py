"""Operations as spans and metrics of OpenTelemetry.

`clew.recall` and the other spans carry one attribute for each fact. Metrics are counted by recipe,
preset, operation and outcome, never by what a caller wrote, such as a space: their number stays
small and they tell nothing about anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from time import time_ns

from opentelemetry.metrics import Histogram, Meter
from opentelemetry.trace import Status, StatusCode, Tracer

from clew.engine.telemetry.operation import ERROR, Operation

RECALL = "recall"
# a stage takes a fraction of one, an import seconds
BOUNDS_MS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000)


class OpenTelemetry:
    """Hands operations to a tracer and a meter, whoever set them up."""

    def __init__(
        self, tracer: Tracer, meter: Meter, *, close: Callable[[], None] = lambda: None
    ) -> None:
        self._tracer = tracer
        self._close = close

        def durations(name: str, about: str) -> Histogram:
            return meter.create_histogram(
                name, "ms", about, explicit_bucket_boundaries_advisory=BOUNDS_MS
            )

        self._recalls = meter.create_counter(
            "clew.recalls", description="Recalls by recipe, preset and outcome."
        )
        self._tokens = meter.create_counter(
            "clew.search.tokens_returned", description="Tokens of the texts that recalls returned."
        )
        self._recall_duration = durations("clew.search.duration", "How long recalls took.")
        self._stage_duration = durations(
            "clew.search.stage.duration", "How long the stages of recalls took."
        )
        self._writes = meter.create_counter(
            "clew.writes", description="Memories and files by operation and what became of them."
        )
        self._write_duration = durations("clew.write.duration", "How long writes took.")
        self._calls = meter.create_counter(
            "clew.embedding.calls", description="Calls of the embedding model by role."
        )
        self._texts = meter.create_counter(
            "clew.embedding.texts", description="Texts that were embedded by role."
        )
        self._call_duration = durations(
            "clew.embedding.duration", "How long calls of the embedding model took."
        )

    def listens(self, *, failed: bool) -> bool:  # noqa: ARG002 - the port's signature
        """Take everything."""
        return True

    def record(self, done: Operation) -> None:
        """Make the span of an operation that is over, inside whatever span is current, and count it."""
        ended = time_ns()
        attributes = {
            **{f"clew.{name}": value for name, value in done.facts.items()},
            **{f"clew.stage.{name}.milliseconds": value for name, value in done.stages.items()},
            **{f"clew.count.{name}": value for name, value in done.counts.items()},
            "clew.outcome": done.outcome,
            **({"clew.request_id": done.request_id} if done.request_id else {}),
        }
        span = self._tracer.start_span(
            f"clew.{done.name}", start_time=ended - round(done.seconds * 1e9), attributes=attributes
        )
        if done.outcome == ERROR:
            span.set_status(Status(StatusCode.ERROR, str(done.facts.get("error", ERROR))))
        span.end(ended)
        (self._count_recall if done.name == RECALL else self._count_write)(done)

    def _count_recall(self, done: Operation) -> None:
        # neither for a refused question
        asked = {name: done.facts[name] for name in ("recipe", "preset") if name in done.facts}
        self._recalls.add(1, {**asked, "outcome": done.outcome})
        self._recall_duration.record(done.milliseconds, {**asked, "outcome": done.outcome})
        self._tokens.add(int(done.facts.get("tokens_returned", 0)))
        for stage, milliseconds in done.stages.items():
            self._stage_duration.record(milliseconds, {"stage": stage})

    def _count_write(self, done: Operation) -> None:
        for outcome, count in (done.counts or {done.outcome: 1}).items():
            self._writes.add(count, {"operation": done.name, "outcome": outcome})
        self._write_duration.record(
            done.milliseconds, {"operation": done.name, "outcome": done.outcome}
        )

    def embedded(self, role: str, texts: int, seconds: float) -> None:
        """Count a call of the model."""
        self._calls.add(1, {"role": role})
        self._texts.add(texts, {"role": role})
        self._call_duration.record(seconds * 1e3, {"role": role})

    def close(self) -> None:
        """Send what is waiting, where Clew itself set up the sending."""
        self._close()
