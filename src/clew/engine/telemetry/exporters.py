"""From the settings to whoever is told.

Nobody, the program's own OpenTelemetry, a terminal, or a collector.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from clew import __version__
from clew.engine.telemetry.operation import Telemetry
from clew.errors import SettingError
from clew.settings import TelemetrySettings

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace.export import SpanExporter

NAME = "clew"
EXTRA = "Install it with: pip install 'clew[telemetry]'"
SEND_SECONDS = 2.0  # then a collector that does not answer is given up
# how long closing waits, and with it every command: the SDK tries again what was not sent
CLOSE_SECONDS = 3.0


def open_telemetry(settings: TelemetrySettings) -> Telemetry | None:
    """Return who is told by these settings, None for nobody."""
    if not settings.enabled:
        return None
    try:
        return _given() if settings.exporter == "none" else _own(settings)
    except ImportError as error:
        raise SettingError(
            "telemetry.enabled", True, f"needs the extra telemetry: {error}", EXTRA
        ) from error


def _given() -> Telemetry:
    """Use what the program that Clew runs in has set up; without that it goes nowhere."""
    from opentelemetry import metrics, trace  # noqa: PLC0415 - an extra, and slow to load

    from clew.engine.telemetry.spans import OpenTelemetry  # noqa: PLC0415

    return OpenTelemetry(trace.get_tracer(NAME, __version__), metrics.get_meter(NAME, __version__))


def _own(settings: TelemetrySettings) -> Telemetry:
    """Set up sending for this Clew alone: the program's own OpenTelemetry stays as it is."""
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415 - as above
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    from clew.engine.telemetry.spans import OpenTelemetry  # noqa: PLC0415

    spans, metrics = (_console if settings.exporter == "console" else _collector)(settings)
    resource = Resource.create(
        {
            "service.name": os.environ.get("OTEL_SERVICE_NAME") or NAME,
            "service.version": __version__,
        }
    )
    tracing = TracerProvider(resource=resource)
    tracing.add_span_processor(
        BatchSpanProcessor(spans, schedule_delay_millis=settings.export_seconds * 1e3)
    )
    metering = MeterProvider(
        [
            PeriodicExportingMetricReader(
                metrics, export_interval_millis=settings.export_seconds * 1e3
            )
        ],
        resource,
    )
    close = together(tracing.shutdown, metering.shutdown, seconds=CLOSE_SECONDS)
    return OpenTelemetry(
        tracing.get_tracer(NAME, __version__), metering.get_meter(NAME, __version__), close=close
    )


# The same as below
def _console(settings: TelemetrySettings) -> tuple[SpanExporter, MetricExporter]:  # noqa: ARG001
    from opentelemetry.sdk.metrics.export import ConsoleMetricExporter  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter  # noqa: PLC0415

    # stdout holds answers
    return ConsoleSpanExporter(out=sys.stderr), ConsoleMetricExporter(out=sys.stderr)


def _collector(settings: TelemetrySettings) -> tuple[SpanExporter, MetricExporter]:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415 - as above
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

    base = endpoint(settings.endpoint)
    spans = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=SEND_SECONDS)
    return spans, OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=SEND_SECONDS)


def endpoint(given: str) -> str:
    """Return the address of a collector without a slash at its end.

    >>> endpoint("http://127.0.0.1:4318/")
    'http://127.0.0.1:4318'
    """
    try:
        parts = urlsplit(given)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise SettingError(
            "telemetry.endpoint",
            given,
            "is no address of a collector",
            "Write it as http://127.0.0.1:4318.",
        )
    return given.rstrip("/")


def together(*steps: Callable[[], object], seconds: float) -> Callable[[], None]:
    """Return a function that takes the steps side by side the first time that it is called, and waits no longer than this for them."""
    left = list(steps)

    def run() -> None:
        threads = [
            threading.Thread(target=left.pop(), name="clew-telemetry", daemon=True)
            for _ in range(len(left))
        ]
        for thread in threads:
            thread.start()
        until = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    return run
