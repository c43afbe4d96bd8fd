"""One phase of one peer, in a process of its own and in the peer's environment.

`python -m benchmarks.worker PEER PHASE …` prints one JSON line per measurement on standard output;
whatever a library prints goes to standard error.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import TOP, WARM_UP, Batch, Data, Question
from benchmarks.peers import (
    NAMES,
    Hit,
    Peer,
    SupportsBareAdd,
    SupportsCheckedAdd,
    SupportsHurry,
    SupportsScan,
    peer,
)

_MIN_SAMPLES = 20  # taken even when the time limit has passed, if the driver lets the process live
_VISIBLE = 20  # fresh writes that are looked for

Emit = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one process is to do."""

    peer: Peer
    data: Data
    store: Path
    samples: int
    limit_seconds: float
    emit: Emit


def ingest(task: Task) -> None:
    """Fill an empty store."""
    task.peer.load()
    feed = _Feed(task)
    task.peer.open(task.store)
    task.peer.ingest(feed)
    task.peer.close()
    items, wall, cpu = feed.measured or (feed.items, *feed.spent())
    task.emit("ingest", items=items, seconds=wall, cpu_seconds=cpu, per_second=items / wall)
    task.emit("ingest_memory", peak_mb=_peak_mb())
    task.emit("disk", mb=_disk_mb(task.store))


def cold(task: Task) -> None:
    """Open in a fresh process and answer one question."""
    question = task.data.questions()[0]
    marks = [time.perf_counter()]
    cpu = time.process_time()
    task.peer.load()
    marks.append(time.perf_counter())
    task.peer.open(task.store)
    marks.append(time.perf_counter())
    _first_answer(task.peer, question)
    marks.append(time.perf_counter())
    load, opened, first = (1000 * (after - before) for before, after in pairwise(marks))
    task.emit(
        "cold",
        import_ms=load,
        open_ms=opened,
        first_ms=first,
        total_ms=opened + first,
        cpu_ms=1000 * (time.process_time() - cpu),
    )
    task.peer.close()


def query(task: Task) -> None:
    """Ask by vector, by vector within one bucket, and by vector and words."""
    task.peer.load()
    task.peer.open(task.store)
    ask = task.peer
    questions = task.data.questions()[: task.samples + WARM_UP]

    def dense(question: Question) -> list[Hit]:
        return ask.dense(question.vector, TOP, None)

    def filtered(question: Question) -> list[Hit]:
        return ask.dense(question.vector, TOP, question.bucket)

    def hybrid(question: Question) -> list[Hit]:
        return ask.hybrid(question.vector, question.text, TOP, None)

    answers = _measure(task, "dense", dense, questions)
    task.emit("dense_recall", value=_recall(answers, task.data.truth(filtered=False)))
    answers = _measure(task, "filtered", filtered, questions)
    task.emit("filtered_recall", value=_recall(answers, task.data.truth(filtered=True)))
    if not ask.facts.no_hybrid:
        answers = _measure(task, "hybrid", hybrid, questions)
        found = [
            question.source in _ids(answer)
            for question, answer in zip(questions[WARM_UP:], answers, strict=False)
        ]
        task.emit("hybrid_hit", value=sum(found) / len(found))
    task.emit("query_memory", peak_mb=_peak_mb())
    ask.close()


def add(task: Task) -> None:
    """Write one item after another, each acknowledged before the next, and see whether they are found."""
    task.peer.load()
    task.peer.open(task.store)
    items = task.data.adds()
    # whatever is loaded on first use is not the first write's doing
    task.peer.dense(items[0].vector, TOP, None)
    warm, measured, more = (
        items[:10],
        items[10 : 10 + task.samples],
        items[10 + task.samples : 10 + 2 * task.samples],
    )
    _timed(task, task.peer.add, warm)
    syncs = _syncs()
    timing, _ = _timed(task, task.peer.add, measured)
    task.emit("add", **timing)
    done = timing["count"]
    task.emit("syncs_per_add", value=None if syncs is None else ((_syncs() or 0) - syncs) / done)
    fresh = measured[:done][-_VISIBLE:]
    seen = [item.id in _ids(task.peer.dense(item.vector, TOP, None)) for item in fresh]
    task.emit("visible_at_once", value=sum(seen) / len(seen))
    if isinstance(task.peer, SupportsCheckedAdd):
        timing, _ = _timed(task, task.peer.add_checked, more)
        task.emit("add_checked", **timing)
    if isinstance(task.peer, SupportsBareAdd):  # last: what it writes is a copy
        with task.peer.bare_add() as bare:
            _timed(task, bare, warm)
            timing, _ = _timed(task, bare, measured)
        task.emit("add_floor", **timing)
    task.peer.close()


def scan(task: Task) -> None:
    """Compare the bare scan with the time to read as many bytes."""
    if not isinstance(task.peer, SupportsScan):
        return
    task.peer.load()
    task.peer.open(task.store)
    task.emit("scan", **task.peer.scan(task.data))
    task.peer.close()


PHASES: dict[str, Callable[[Task], None]] = {
    "ingest": ingest,
    "cold": cold,
    "query": query,
    "add": add,
    "scan": scan,
}


class _Feed:
    """Hands out batches, keeps the time spent reading them out of the account, and tells a slow peer to hurry at the limit."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        self.items = 0
        self.measured: tuple[int, float, float] | None = None

    def spent(self) -> tuple[float, float]:
        """Return the wall and the CPU seconds that are the peer's."""
        return time.perf_counter() - self._wall, time.process_time() - self._cpu

    def __call__(self, size: int) -> Iterator[Batch]:
        batches = self._task.data.batches(size)
        while True:
            if (
                self.measured is None
                and isinstance(self._task.peer, SupportsHurry)
                and self.spent()[0] > self._task.limit_seconds
            ):
                self.measured = (self.items, *self.spent())
                self._task.peer.hurry()
            wall, cpu = time.perf_counter(), time.thread_time()
            batch = next(batches, None)
            self._wall += time.perf_counter() - wall
            self._cpu += time.thread_time() - cpu
            if batch is None:
                return
            self.items += len(batch.ids)
            yield batch


def _measure(
    task: Task, name: str, ask: Callable[[Question], list[Hit]], questions: Sequence[Question]
) -> list[list[Hit]]:
    for question in questions[:WARM_UP]:
        ask(question)
    timing, answers = _timed(task, ask, questions[WARM_UP:])
    task.emit(name, **timing)
    return answers


def _timed(
    task: Task, call: Callable[[Any], Any], arguments: Sequence[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Call with each argument; return the spread of wall and CPU time, and the answers."""
    walls: list[float] = []
    cpus: list[float] = []
    answers: list[Any] = []
    start = time.perf_counter()
    for argument in arguments:
        if len(walls) >= _MIN_SAMPLES and time.perf_counter() - start > task.limit_seconds:
            break
        wall, cpu = time.perf_counter(), time.process_time()
        answers.append(call(argument))
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"count": len(walls), **spread(walls), **spread(cpus, prefix="cpu_")}, answers


def spread(seconds: Sequence[float], *, prefix: str = "") -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds."""
    p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95]).tolist() if seconds else (0.0, 0.0)
    return {f"{prefix}p50_ms": p50, f"{prefix}p95_ms": p95}


def _first_answer(ask: Peer, question: Question) -> None:
    if ask.facts.no_hybrid:
        ask.dense(question.vector, TOP, None)
    else:
        ask.hybrid(question.vector, question.text, TOP, None)


def _recall(answers: Sequence[list[Hit]], truth: Sequence[set[int]]) -> float:
    """Return the mean share of the exact nearest that was found; where fewer exist, of those."""
    shares = []
    for answer, wanted in zip(answers, truth[WARM_UP:], strict=False):
        exact = wanted - {-1}
        shares.append(len(exact & _ids(answer)) / len(exact) if exact else 1.0)
    return sum(shares) / len(shares)


def _ids(answer: list[Hit]) -> set[int]:
    return {id for id, _ in answer[:TOP]}


def _peak_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss survives exec: a child would inherit its parent's peak
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _disk_mb(folder: Path) -> float:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 1e6


def _syncs() -> int | None:
    """Return how often the process has asked for a flush to disk, where the driver put the counter in."""
    library = os.environ.get("BENCH_SYNC_COUNTER")
    return int(ctypes.CDLL(library).bench_syncs()) if library else None


def main() -> None:
    """Run one phase."""
    parser = argparse.ArgumentParser(description="one phase of one peer, for the driver")
    parser.add_argument("peer", choices=NAMES)
    parser.add_argument("phase", choices=PHASES)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--limit-seconds", type=float, required=True)
    options = parser.parse_args()
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # a library that prints must not spoil the lines

    def emit(name: str, **values: Any) -> None:
        out.write(json.dumps({"measure": name, **values}) + "\n")

    subject = peer(options.peer)
    task = Task(
        peer=subject,
        data=Data(options.data),
        store=options.store,
        samples=options.samples,
        limit_seconds=options.limit_seconds,
        emit=emit,
    )
    PHASES[options.phase](task)
    emit(
        "versions",
        **{package: metadata.version(package) for package in subject.facts.packages},
        python=sys.version.split()[0],
    )


if __name__ == "__main__":
    main()
