"""Decide from CPU time, not from wall-clock time, whether work grows in proportion to its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TIMES = 8
MOST = 24  # for eight times the input: linear work takes 8 times as long, quadratic work 64 times
FLOOR_SECONDS = 0.002  # faster work is not judged: noise would decide
TRIES = 3
LARGER = 4  # how much larger both sizes are when growth that looked superlinear is measured again


def check_linear(work: Callable[[int], object], size: int) -> None:
    """Fail if the CPU time of `work(8 * size)` shows more than linear growth from that of `work(size)`.

    Linear work can miss the margin at one size: the longer text no longer fits into a cache, or its
    pages are touched for the first time. Growth that misses it is measured again at four times the
    size, where such a step lies behind both texts.
    """
    work(max(1, size // TIMES))  # what is loaded or compiled on first use
    short, long = _short_and_long(work, size)
    if long >= MOST * short:
        short, long = _short_and_long(work, LARGER * size)
    assert long < MOST * short, (short, long)


def _short_and_long(work: Callable[[int], object], size: int) -> tuple[float, float]:
    """Return the least CPU seconds of work on a size and on eight times that size.

    The long one is repeated only if it is slow.
    """
    short = max(FLOOR_SECONDS, min(cpu_seconds(work, size) for _ in range(TRIES)))
    long = cpu_seconds(work, TIMES * size)
    for _ in range(TRIES - 1):
        if long >= MOST * short:
            long = min(long, cpu_seconds(work, TIMES * size))
    return short, long


def cpu_seconds(work: Callable[[int], object], size: int) -> float:
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
