"""What `/metrics` tells: how many requests there were and how long they took. No space, no text, no id is ever in it."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prometheus_client.core import Metric

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
UNROUTED = "unrouted"  # one name for all paths that nothing is served under: a caller must not be able to make names


class Meter:
    """Counts requests; written by the event loop and read by whoever asks."""

    def __init__(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        """Take what is measured at the moment of asking: a description and a function by name."""
        self._gauges = gauges
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._durations: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Note one finished request."""
        with self._lock:
            self._requests[method, route, str(status)] += 1
            self._durations[route][bisect_left(BOUNDS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]  # a Counter of floats

    def exposition(self) -> bytes:
        """Return everything in the text format of Prometheus."""
        from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415 - 50 ms that only this needs

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        """Yield the families, as prometheus_client asks a collector for them."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily  # noqa: PLC0415 - as above

        with self._lock:
            requests, durations, seconds = (
                dict(self._requests),
                {key: list(each) for key, each in self._durations.items()},
                dict(self._seconds),
            )
        answered = CounterMetricFamily("clew_http_requests", "Requests that were answered.", labels=("method", "route", "status"))
        for labels, count in sorted(requests.items()):
            answered.add_metric(labels, count)
        yield answered
        took = HistogramMetricFamily("clew_http_request_seconds", "How long answers took.", labels=("route",))
        for route, counts in sorted(durations.items()):
            took.add_metric((route,), _cumulated(counts), sum_value=seconds[route])
        yield took
        for name, (about, measured) in self._gauges.items():
            yield GaugeMetricFamily(name, about, value=measured())

    def describe(self) -> list[Any]:
        """Say that what is told is known only when it is asked for."""
        return []


def _cumulated(counts: list[int]) -> list[tuple[str, float]]:
    bounds = (*map(str, BOUNDS), "+Inf")
    return [(bound, float(sum(counts[: place + 1]))) for place, bound in enumerate(bounds)]
