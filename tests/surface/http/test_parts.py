"""The parts by themselves: the queue, the buckets, long answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.surface.http.edge import MOST_CALLERS, Buckets
from clew.surface.http.pool import AHEAD, Pool, StalledError, Stream, chunks
from clew.surface.http.problems import CrowdedError, DrainingError, SlowAnswerError
from tests.waiting import LONG_SECONDS

T = TypeVar("T")


@given(st.lists(st.floats(0, 3), max_size=60), st.floats(0.1, 20), st.integers(1, 10))
def test_no_caller_ever_gets_more_than_burst_and_rate_allow(
    pauses: list[float], rate: float, burst: int
) -> None:
    now = 0.0
    buckets = Buckets(per_second=rate, burst=burst, timer=lambda: now)
    taken: list[float] = []
    for pause in pauses:
        now += pause
        wait = buckets.take("caller")
        if wait == 0:
            taken.append(now)
        else:
            before, now = now, now + wait + 1e-9
            assert buckets.wait("caller") < 1e-6  # what it says is when
            now = before
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            assert last - first + 1 <= burst + rate * (taken[last] - taken[first]) + 1e-6


def test_buckets_are_not_more_than_callers_that_fit() -> None:
    buckets = Buckets(per_second=1, burst=1, timer=lambda: 0.0)
    for number in range(MOST_CALLERS + 500):
        buckets.take(str(number))
    assert len(buckets._levels) == MOST_CALLERS


def test_a_pool_takes_as_many_as_it_has_places_and_frees_them() -> None:
    pool = Pool(threads=2, queue=1, seconds=LONG_SECONDS)
    go_on = threading.Event()
    futures = [pool.submit(go_on.wait) for _ in range(3)]
    with pytest.raises(CrowdedError):
        pool.submit(print)
    go_on.set()
    assert all(future.result() for future in futures)
    assert asyncio.run(pool.run(lambda: 7)) == 7
    pool.close()
    with pytest.raises(DrainingError):
        pool.submit(print)
    pool.open()
    assert asyncio.run(pool.run(lambda: 8)) == 8
    pool.close()


def test_late_work_keeps_its_place_until_it_is_over() -> None:
    pool = Pool(threads=1, queue=0, seconds=0.01)
    go_on = threading.Event()
    with pytest.raises(SlowAnswerError):
        asyncio.run(pool.run(go_on.wait))
    assert pool.taken == 1
    go_on.set()
    pool._executor.shutdown() if pool._executor else None
    assert pool.taken == 0


def test_an_error_of_the_work_is_its_own_also_a_timeout() -> None:
    pool = Pool(threads=1, queue=0, seconds=LONG_SECONDS)

    def failing() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        asyncio.run(pool.run(failing))
    pool.close()


def streamed(pieces: Iterator[bytes], pool: Pool) -> bytes:
    async def read() -> bytes:
        stream = Stream(pool, pieces)
        return b"".join([piece async for piece in stream.rest(await stream.first())])

    return asyncio.run(read())


def test_lines_are_gathered_and_none_is_lost() -> None:
    lines = [f"line {number} " * 50 for number in range(3000)]
    pool = Pool(threads=1, queue=0, seconds=LONG_SECONDS)
    assert streamed(chunks(lines), pool) == "".join(f"{line}\n" for line in lines).encode()
    assert streamed(chunks([]), pool) == b""
    pool.close()


class GatedPool(Pool):
    """A pool whose work is held back when it has done everything but return."""

    def __init__(self) -> None:
        super().__init__(threads=1, queue=0, seconds=LONG_SECONDS)
        self.reached, self.gate = asyncio.Event(), threading.Event()

    def submit(self, work: Callable[..., T], *arguments: Any) -> Future[T]:
        loop = asyncio.get_running_loop()

        def gated() -> T:
            result = work(*arguments)
            loop.call_soon_threadsafe(self.reached.set)
            self.gate.wait()
            return result

        return super().submit(gated)


@pytest.mark.parametrize("failing", [False, True])
def test_a_stream_ends_only_when_its_place_in_the_pool_is_free(failing: bool) -> None:
    """Otherwise a client that asks again as soon as it has read the end is refused."""

    def pieces() -> Iterator[bytes]:
        yield b"only"
        if failing:
            raise KeyError("second")

    async def read(stream: Stream) -> list[bytes]:
        return [piece async for piece in stream.rest(await stream.first())]

    async def run() -> None:
        pool = GatedPool()
        reading = asyncio.ensure_future(read(Stream(pool, pieces())))
        await pool.reached.wait()
        for _ in range(10):
            await asyncio.sleep(0)  # every turn of the loop that the reader could use
        early = reading.done()
        pool.gate.set()
        (answer,) = await asyncio.gather(reading, return_exceptions=True)
        assert pool.taken == 0
        assert (early, repr(answer)) == (False, "KeyError('second')" if failing else "[b'only']")
        pool.close()

    asyncio.run(run())


def test_what_fails_while_it_is_made_fails_where_it_is_read() -> None:
    def failing() -> Iterator[bytes]:
        yield b"first"
        raise KeyError("second")

    pool = Pool(threads=1, queue=0, seconds=LONG_SECONDS)
    with pytest.raises(KeyError):
        streamed(failing(), pool)
    pool.close()


def test_a_reader_who_leaves_or_falls_asleep_frees_the_thread() -> None:
    made: list[int] = []

    def endless() -> Iterator[bytes]:
        while True:
            made.append(1)
            yield b"x"

    async def leave() -> None:
        stream = Stream(pool, endless())
        reading = stream.rest(await stream.first())
        await anext(reading)
        await reading.aclose()  # type: ignore[attr-defined]  # it is a generator
        await asyncio.wrap_future(stream._future)
        assert pool.taken == 0

    async def fall_asleep() -> None:
        stream = Stream(pool, endless(), patience=0.01)
        # from the first piece on, if the loop stands still for so long
        with pytest.raises(StalledError):
            reading = stream.rest(await stream.first())
            await asyncio.wrap_future(stream._future)
            assert pool.taken == 0
            async for _ in reading:
                pass

    pool = Pool(threads=1, queue=0, seconds=LONG_SECONDS)
    asyncio.run(leave())
    assert len(made) < 3 * AHEAD
    asyncio.run(fall_asleep())
    pool.close()
