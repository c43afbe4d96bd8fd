"""A scan over int8 rows at memory bandwidth, and the best of its scores.

Rows are kept as unsigned bytes, each number 128 more than its code: where processors have no
instruction for int8 products, the products of unsigned bytes take three quarters of the time. What
the shift adds is known and taken off again.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

# Work in parts for several threads: whoever is free takes the next, and nobody waits for a part
# that no thread has begun.

T = TypeVar("T")

# parts of the smallest size for each thread: the last to finish is waited for no longer than one of
# them takes
SMALLEST = 4


def portions(size: int, *, threads: int) -> list[slice]:
    """Return cuts that begin with one thread's fair share and become smaller, each a fair share of what is left.

    Large ones first, for between two parts a thread must wait for Python's lock; small ones last,
    so that all finish together (Polychronopoulos and Kuck, Guided self-scheduling, 1987).

    >>> [cut.stop - cut.start for cut in portions(800, threads=2)]
    [400, 200, 100, 100]
    """
    least = -(-size // (SMALLEST * threads))
    cuts: list[slice] = []
    at = 0
    while at < size:
        end = min(size, at + max(least, -(-(size - at) // threads)))
        cuts.append(slice(at, end))
        at = end
    return cuts


class Work(Generic[T]):
    """Parts that need no Python while they run.

    Threads do them from the first on, and whoever needs them all from the last.
    """

    __slots__ = ("_do", "_done", "_finished", "_found", "_left", "_parts", "_process")

    def __init__(self, do: Callable[[slice], T], parts: Sequence[slice]) -> None:
        self._do = do
        self._parts = parts
        # taken from either end in one step, so by one thread only
        self._left = deque(enumerate(parts))
        self._found: dict[int, T] = {}
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        self._process = os.getpid()
        self._finished: list[T] | None = None

    def offer(self, *, threads: int) -> None:
        """Let up to so many threads begin."""
        helpers().offer(self._help, threads=threads)

    def finish(self) -> list[T]:
        """Do what nobody has begun, wait for the rest, and return what came of each part.

        An error that a thread met is raised here.
        """
        if self._finished is None:
            self._finished = (
                self._waited() if os.getpid() == self._process else [*map(self._do, self._parts)]
            )  # a child has no such threads
        return self._finished

    def _waited(self) -> list[T]:
        mine = 0
        while part := _taken(self._left.pop):
            self._found[part[0]] = self._do(part[1])
            mine += 1
        for _ in range(len(self._parts) - mine):
            if (error := self._done.get()) is not None:
                raise error
        return [self._found[number] for number in range(len(self._parts))]

    def _help(self) -> None:
        while part := _taken(self._left.popleft):
            try:
                self._found[part[0]] = self._do(part[1])
            except BaseException as error:  # told to the one who waits
                self._done.put(error)
            else:
                self._done.put(None)


def _taken(take: Callable[[], tuple[int, slice]]) -> tuple[int, slice] | None:
    try:
        return take()
    except IndexError:
        return None


class Helpers:
    """Threads that wait for work. Not an executor's.

    To begin in one of those takes twice as long.
    """

    def __init__(self) -> None:
        self._offers: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0

    def offer(self, help: Callable[[], None], *, threads: int) -> None:
        """Let up to so many of them do it as soon as they are free."""
        if self._count < threads:
            self._begin(threads)
        for _ in range(min(threads, self._count)):
            self._offers.put(help)

    def _begin(self, threads: int) -> None:
        # no further thread may be begun: then fewer help, or nobody
        with self._lock, suppress(RuntimeError):
            while self._count < threads:
                threading.Thread(
                    target=self._run, name=f"clew-scan-{self._count}", daemon=True
                ).start()
                self._count += 1

    def _run(self) -> None:
        while True:
            self._offers.get()()


_helpers: dict[int, Helpers] = {}


def helpers() -> Helpers:
    """Return the threads of this process.

    A forked child, which has none of its parent's, gets its own.
    """
    process = os.getpid()
    found = _helpers.get(process)
    # in one step: they are the same for all
    return found if found is not None else _helpers.setdefault(process, Helpers())


cdist: Callable[..., Any] | None
try:
    from simsimd import cdist
except ImportError:  # a platform without the wheel: slower, same answers
    cdist = None

# the scan is bound by memory bandwidth, which few cores exhaust
THREADS = min(4, os.cpu_count() or 1)
# below this the scan takes 1 ms at most, and waiting for a second thread on a busy machine costs
# more
THREADED_ROWS = 32768
GROUP = 64  # rows whose best score stands for them when the top is sought among many
# rows for each one wanted that a filter is asked about, the more where too few of the fewer pass
LOOKED_AT = (1.25, 4)
LEAST = float(np.finfo(np.float32).min)  # never -inf: those are filtered out
FALLBACK_ROWS = 16384  # rows converted at a time without simsimd
SHIFT = 128

Codes = npt.NDArray[np.int8]
Bytes = npt.NDArray[np.uint8]
Scores = npt.NDArray[np.floating[Any]]
Rows = npt.NDArray[np.intp]
Passes = Callable[[Rows], npt.NDArray[np.bool_]]


def quantise(vectors: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[np.float32]]:
    """Return int8 codes and the scale of each row: vector ≈ codes · scale."""
    rows = np.asarray(vectors, dtype=np.float32)
    peaks = np.abs(rows).max(axis=1, initial=0.0)
    scales = np.where(peaks > 0, peaks / 127.0, 1.0).astype(np.float32)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def quantised(query: npt.NDArray[np.float32]) -> tuple[Codes, float]:
    """Return what `quantise` gives for a single vector, in a third of the time.

    Every question waits for it.

    >>> codes, scale = quantised(np.array([0.6, -0.8], np.float32))
    >>> codes.tolist(), round(scale, 6)
    ([95, -127], 0.006299)
    """
    peak = np.abs(query).max(initial=0.0)
    scale = np.float32(peak / np.float32(127.0)) if peak > 0 else np.float32(1.0)
    return np.rint(query / scale).astype(np.int8), float(scale)


def raised(codes: Codes) -> Bytes:
    """Return codes as unsigned bytes, each 128 more.

    >>> raised(np.array([-127, 0, 127], np.int8)).tolist()
    [1, 128, 255]
    """
    return codes.view(np.uint8) ^ np.uint8(SHIFT)


def excess(rows: Bytes) -> npt.NDArray[np.float32]:
    """Return 128 times the sum of each row's codes.

    By this, and by what the query alone adds, products of raised rows are too large.
    """
    sums = _products(rows, np.ones(rows.shape[1], np.uint8))
    return (sums - np.float32(SHIFT * rows.shape[1])) * np.float32(SHIFT)


def dots(rows: Bytes, over: npt.NDArray[np.float32], query: Codes) -> npt.NDArray[np.float32]:
    """Return the dot product of every row's codes with the query's.

    Whole numbers, rounded to float32 where those are too large for it.

    `rows` are raised, and `over` is their excess.
    """
    return begun(rows, over, query)()


def begun(
    rows: Bytes, over: npt.NDArray[np.float32], query: Codes
) -> Callable[[], npt.NDArray[np.float32]]:
    """Begin what `dots` does, if the rows are many, and return what waits for it.

    They are shared out between threads of our own: simsimd's go on spinning after their work is
    done and take the second core from whatever comes next.
    """
    lifted, more = (
        raised(query),
        np.float32(SHIFT * (int(query.sum(dtype=np.int64)) + SHIFT * len(query))),
    )
    shared = THREADS > 1 and len(rows) >= THREADED_ROWS
    cuts = portions(len(rows), threads=THREADS) if shared else [slice(len(rows))]
    work = Work(lambda cut: _products(rows[cut], lifted), cuts)
    if shared:
        work.offer(threads=THREADS - 1)

    def finished() -> npt.NDArray[np.float32]:
        found = np.empty(len(rows), np.float32)
        # Here, not part by part in the threads: they would wait for Python's lock after every step.
        for cut, products in zip(cuts, work.finish(), strict=True):
            np.subtract(products, over[cut], out=found[cut])
        found -= more
        return found

    return finished


def _products(rows: Bytes, query: Bytes) -> npt.NDArray[np.float32]:
    if cdist is not None and len(rows):
        # Not by its `out`: simsimd 6.5 then returns a None that it does not own, and after enough
        # searches Python dies of it.
        products: npt.NDArray[np.float32] = np.asarray(
            cdist(query[None], rows, metric="dot", threads=1, out_dtype="float32")
        )[0]
        return products
    found, wide = np.empty(len(rows), np.float32), query.astype(np.float32)
    for at in range(0, len(rows), FALLBACK_ROWS):
        np.matmul(
            rows[at : at + FALLBACK_ROWS].astype(np.float32),
            wide,
            out=found[at : at + FALLBACK_ROWS],
        )
    return found


def top(scores: Scores, count: int, *, least: float = LEAST) -> Rows:
    """Return the positions of the `count` best scores, and of all that tie with the last of them.

    None below `least`.

    >>> top(np.array([1, 3, 2, 3, 0], np.float32), 1).tolist()
    [1, 3]
    """
    near: Rows = _reaching(scores, count, least)
    if len(near) <= count:
        return near
    reached = scores[near]
    kept: npt.NDArray[np.bool_] = reached >= np.partition(reached, -count)[-count]
    return near[kept]


def _reaching(scores: Scores, count: int, least: float) -> Rows:
    """Return the positions of the `count` best scores and of few others, in order.

    None below `least`.

    Where there are more groups than are wanted, as many groups, so as many scores, reach the
    count-th best of their maxima, and only in those has anybody to be looked for.
    """
    groups = len(scores) // GROUP
    if groups <= count:
        return np.flatnonzero(scores >= least)
    grouped = scores[: groups * GROUP].reshape(GROUP, groups)
    maxima = grouped.max(axis=0)
    least = max(least, float(np.partition(maxima, -count)[-count]))
    best = np.flatnonzero(maxima >= least)
    places, members = np.nonzero(grouped.take(best, axis=1) >= least)
    behind = np.flatnonzero(scores[groups * GROUP :] >= least)
    return np.concatenate((places * groups + best[members], behind + groups * GROUP))


def leading(scores: Scores, count: int, passes: Passes, *, least: float = LEAST) -> Rows:
    """Return positions that pass, among them the `count` best that do.

    Fewer only when there are no more.

    Where most pass, few are asked about.

    >>> leading(np.array([1, 3, 2, 4, 0], np.float32), 1, lambda rows: rows != 3).tolist()
    [0, 1, 2]
    """
    for looked_at in LOOKED_AT:
        wanted = int(looked_at * count)
        found = top(scores, wanted, least=least)
        rows = found[passes(found)]
        if len(rows) >= count or len(found) < wanted:
            return rows
    rows = np.flatnonzero(scores >= least)
    return rows[passes(rows)]
