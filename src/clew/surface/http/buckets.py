"""How often a caller may ask: a bucket of tokens for each, which fills at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_CALLERS = 10_000  # remembered at once; the one not seen for longest is forgotten, and then has a full bucket


class Buckets:
    """A bucket for each caller. Used by one thread: the event loop's."""

    def __init__(self, *, per_second: float, burst: int, timer: Callable[[], float] = time.monotonic) -> None:
        """Take the rate, 0 for no limit, and how many may come at once."""
        self._rate = per_second
        self._burst = float(burst)
        self._timer = timer
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Count one request; return 0 if it may go on, else in how many seconds the next may.

        >>> buckets = Buckets(per_second=2, burst=1, timer=lambda: 0.0)
        >>> buckets.take("a"), buckets.take("a"), buckets.take("b")
        (0.0, 0.5, 0.0)
        """
        wait = self.wait(caller)
        if not wait and self._rate:
            now = self._timer()
            self._levels[caller] = (self._level(caller, now) - 1.0, now)
            self._levels.move_to_end(caller)
            if len(self._levels) > MOST_CALLERS:
                self._levels.popitem(last=False)
        return wait

    def wait(self, caller: str) -> float:
        """Return in how many seconds a request may come; nothing is counted."""
        if not self._rate:
            return 0.0
        return max(0.0, 1.0 - self._level(caller, self._timer())) / self._rate

    def _level(self, caller: str, now: float) -> float:
        level, then = self._levels.get(caller, (self._burst, now))
        return min(self._burst, level + (now - then) * self._rate)
