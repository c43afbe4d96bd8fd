"""What nothing can beat: reading a matrix once for a scan, and for an add its statements alone."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.data import DIMENSION


def compare(
    scan: Callable[[], object], search: Callable[[], object], size: int, *, rounds: int
) -> dict[str, Any]:
    """Time a scan over `size` int8 vectors, a whole search and plain reads of as many bytes, by turns, and return the medians.

    By turns, because what else the machine does then slows all alike, and because each evicts the
    others from the cache, so that none is flattered by finding its matrix there.
    """
    rng = np.random.default_rng(0)
    matrix = rng.integers(-127, 128, size=(size, DIMENSION), dtype=np.int8)
    contenders = readers(matrix)
    ours = {"scan": scan, "search": search}
    taken: dict[str, list[float]] = {name: [] for name in (*ours, *contenders)}
    for _ in range(rounds):
        for name, read in contenders.items():
            for mine, run in ours.items():
                taken[mine].append(_seconds(run))
                taken[name].append(_seconds(read))
    medians = {name: 1000 * float(np.median(seconds)) for name, seconds in taken.items()}
    fastest = min(contenders, key=lambda name: medians[name])
    floor = medians[fastest]
    return {
        "scan_p50_ms": medians["scan"],
        "search_p50_ms": medians["search"],
        "floor_p50_ms": floor,
        "floor_by": fastest,
        "scan_ratio": medians["scan"] / floor,
        "search_ratio": medians["search"] / floor,
        "gb_per_second": matrix.nbytes / floor / 1e6,
        "readers_p50_ms": {name: medians[name] for name in contenders},
        "rounds": rounds,
    }


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def readers(matrix: npt.NDArray[np.int8]) -> dict[str, Callable[[], object]]:
    """Return ways to read every byte once, on every core: the fastest is the floor."""
    threads = os.cpu_count() or 1
    pool = ThreadPoolExecutor(threads)
    parts = np.array_split(matrix.reshape(-1).view(np.int64), threads)
    found: dict[str, Callable[[], object]] = {
        "numpy max": lambda: list(pool.map(np.max, parts)),
        "numpy or": lambda: list(pool.map(np.bitwise_or.reduce, parts)),
    }
    try:
        import simsimd  # noqa: PLC0415 - only where Clew is installed
    except ImportError:
        return found
    question = matrix[:1].copy()
    rows = np.array_split(matrix, threads)
    outs = [np.empty((1, len(part)), dtype=np.float32) for part in rows]

    def dots(part: npt.NDArray[np.int8], out: npt.NDArray[np.float32]) -> None:
        simsimd.cdist(question, part, metric="dot", out=out, out_dtype="float32")

    found["simsimd dot"] = lambda: list(pool.map(dots, rows, outs))
    return found


class Statements:
    """What an add tells SQLite, through Python's own `sqlite3` and with nothing before it.

    No checks, no hash, no vector to convert.

    Rows like the newest, each under an id and a hash of its own, in the same tables and indexes and
    with the same flush.
    """

    def __init__(self, path: Path, *, checkpoint_pages: int) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "foreign_keys = ON",
            f"wal_autocheckpoint = {checkpoint_pages}",
        ):
            self._connection.execute(f"PRAGMA {pragma}")
        self._node, self._vector, self._label = (
            self._newest("node", "nid"),
            self._newest("embedding", "eid"),
            self._newest("label", "nid"),
        )
        del self._node["nid"], self._vector["eid"]  # given anew

    def add(self, _: object = None) -> None:
        """Write a row like the newest."""
        fresh = uuid.uuid4().hex
        self._connection.execute("BEGIN IMMEDIATE")
        nid = self._insert("node", {**self._node, "id": fresh, "content_hash": fresh})
        self._insert("embedding", {**self._vector, "nid": nid})
        self._insert("label", {**self._label, "nid": nid})
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()

    def _newest(self, table: str, key: str) -> dict[str, Any]:
        found = self._connection.execute(f"SELECT * FROM {table} ORDER BY {key} DESC LIMIT 1")
        return dict(zip((name for name, *_ in found.description), found.fetchone(), strict=True))

    def _insert(self, table: str, values: dict[str, Any]) -> int | None:
        columns = ", ".join(f'"{name}"' for name in values)
        return self._connection.execute(
            f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(values))})",
            [*values.values()],
        ).lastrowid
