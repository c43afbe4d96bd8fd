"""A scan over int8 rows at memory bandwidth, and the best of its scores.

Rows are kept as unsigned bytes, each number 128 more than its code: where processors have no instruction for int8
products, the products of unsigned bytes take three quarters of the time. What the shift adds is known and taken off again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

cdist: Callable[..., Any] | None
try:
    from simsimd import cdist
except ImportError:  # a platform without the wheel: slower, same answers
    cdist = None

THREADS = min(4, os.cpu_count() or 1)  # the scan is bound by memory bandwidth, which few cores exhaust
THREADED_ROWS = 65536  # below this the scan takes 2 ms at most, and waiting for a second thread on a busy machine costs more
PARTS = 2  # for each thread: the last to finish is waited for half as long, and offering one costs 15 µs
GROUP = 64  # rows whose best score stands for them when the top is sought among many
LEAST = float(np.finfo(np.float32).min)  # never -inf: those are filtered out
FALLBACK_ROWS = 16384  # rows converted at a time without simsimd
SHIFT = 128

Codes = npt.NDArray[np.int8]
Bytes = npt.NDArray[np.uint8]
Scores = npt.NDArray[np.floating[Any]]


def quantise(vectors: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[np.float32]]:
    """Return int8 codes and the scale of each row: vector ≈ codes · scale."""
    rows = np.asarray(vectors, dtype=np.float32)
    peaks = np.abs(rows).max(axis=1, initial=0.0)
    scales = np.where(peaks > 0, peaks / 127.0, 1.0).astype(np.float32)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def raised(codes: Codes) -> Bytes:
    """Return codes as unsigned bytes, each 128 more.

    >>> raised(np.array([-127, 0, 127], np.int8)).tolist()
    [1, 128, 255]
    """
    return codes.view(np.uint8) ^ np.uint8(SHIFT)


def excess(rows: Bytes) -> npt.NDArray[np.float32]:
    """Return 128 times the sum of each row's codes: by this, and by what the query alone adds, products of raised rows are too large."""
    sums = np.empty(len(rows), np.float32)
    _products(rows, np.ones(rows.shape[1], np.uint8), sums)
    return (sums - np.float32(SHIFT * rows.shape[1])) * np.float32(SHIFT)


def dots(rows: Bytes, over: npt.NDArray[np.float32], query: Codes) -> npt.NDArray[np.float32]:
    """Return the dot product of every row's codes with the query's: whole numbers, rounded to float32 where those are too large for it.

    `rows` are raised, and `over` is their excess. Many rows are shared out between threads of our own: simsimd's go on
    spinning after their work is done and take the second core from whatever comes next. A part that no thread has begun is
    taken back and done here, from the last, so that nobody waits for a thread that a busy machine does not run.
    """
    found = np.empty(len(rows), np.float32)
    if len(rows) < THREADED_ROWS or THREADS == 1:
        _multiply(rows, over, query, found)
        return found
    share = -(-len(rows) // (THREADS * PARTS))
    cuts = [slice(at, at + share) for at in range(0, len(rows), share)]
    parts = [(rows[cut], over[cut], query, found[cut]) for cut in cuts]
    offered = [_threads(os.getpid()).submit(_multiply, *part) for part in parts[:-1]]
    _multiply(*parts[-1])
    for part, taken in zip(reversed(parts[:-1]), reversed(offered), strict=True):
        if taken.cancel():
            _multiply(*part)
        else:
            taken.result()
    return found


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Return the scanning threads of a process; a forked child, which has none of its parent's, gets its own."""
    return ThreadPoolExecutor(max_workers=THREADS - 1, thread_name_prefix=f"clew-scan-{process}")


def _multiply(rows: Bytes, over: npt.NDArray[np.float32], query: Codes, out: npt.NDArray[np.float32]) -> None:
    _products(rows, raised(query), out)
    out -= over
    out -= np.float32(SHIFT * (int(query.sum(dtype=np.int64)) + SHIFT * len(query)))


def _products(rows: Bytes, query: Bytes, out: npt.NDArray[np.float32]) -> None:
    if cdist is not None and len(rows):
        # Not by its `out`: simsimd 6.5 then returns a None that it does not own, and after enough searches Python dies of it.
        out[:] = np.asarray(cdist(query[None], rows, metric="dot", threads=1, out_dtype="float32"))[0]
        return
    wide = query.astype(np.float32)
    for at in range(0, len(rows), FALLBACK_ROWS):
        np.matmul(rows[at : at + FALLBACK_ROWS].astype(np.float32), wide, out=out[at : at + FALLBACK_ROWS])


def top(scores: Scores, count: int, *, least: float = LEAST) -> npt.NDArray[np.intp]:
    """Return the positions of the `count` best scores, and of all that tie with the last of them; none below `least`.

    >>> top(np.array([1, 3, 2, 3, 0], np.float32), 1).tolist()
    [1, 3]
    """
    groups = len(scores) // GROUP
    if groups > count:  # as many groups, so as many scores, reach the count-th best of their maxima
        maxima = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
        least = max(least, float(np.partition(maxima, -count)[-count]))
    near: npt.NDArray[np.intp] = np.flatnonzero(scores >= least)
    if len(near) <= count:
        return near
    reached = scores[near]
    kept: npt.NDArray[np.bool_] = reached >= np.partition(reached, -count)[-count]
    return near[kept]
