"""Decide from CPU time, not from wall-clock time, whether work grows in proportion to its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TIMES = 8
MOST = 24  # for eight times the input: linear work takes 8 times as long, quadratic work 64 times
FLOOR_SECONDS = 0.002  # faster work is not judged: noise would decide
TRIES = 3


def check_linear(work: Callable[[int], object], size: int) -> None:
    """Fail if the CPU time of `work(8 * size)` shows more than linear growth from that of `work(size)`."""
    work(max(1, size // TIMES))  # what is loaded or compiled on first use
    short = max(FLOOR_SECONDS, min(_cpu_seconds(work, size) for _ in range(TRIES)))
    long = [_cpu_seconds(work, TIMES * size)]
    while min(long) >= MOST * short and len(long) < TRIES:
        long.append(_cpu_seconds(work, TIMES * size))
    assert min(long) < MOST * short, (short, long)


def _cpu_seconds(work: Callable[[int], object], size: int) -> float:
    """Measure this thread without the garbage collector, which would look at the objects of all tests before."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        began = time.thread_time()
        work(size)
        return time.thread_time() - began
    finally:
        if collecting:
            gc.enable()
