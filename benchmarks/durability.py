"""Kill −9 rounds: what was acknowledged before the kill must be there after it, whole.

A child writes memories through the public interface (one by one, several at once, and forgets some)
and reports each acknowledged one on a pipe. The parent kills it with SIGKILL after a drawn number of
reports and a drawn pause, opens the store again, and looks for everything. A store lives through
several rounds, so that recovery from a recovered store is seen too. SIGKILL ends a process, not the
machine: this says nothing about a power cut, for which Clew relies on SQLite and synchronous=FULL.

Only the standard library and Clew are needed; the tests run a few rounds of it.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

import clew
from clew.ports import EmbedRole
from clew.types import Vectors

_ROUNDS_PER_STORE = 10
_MAX_REPORTS = 40  # the kill comes after this many at most
_MAX_PAUSE_SECONDS = 0.03  # and this much later at most
_EARLY_KILLS = 0.1  # share of rounds killed while the child is still opening the store
_MAX_EARLY_SECONDS = 0.8  # importing and opening take about half of it on a quiet machine
_PATIENCE_SECONDS = 120.0  # a child that takes longer hangs
_BATCH = 8
_SAMPLE = 25  # older memories that are looked for by their words each round


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What many rounds came to; sound when there are no faults."""

    rounds: int
    seed: int
    acknowledged: int
    forgotten: int
    unacknowledged: int
    """Writes that were found whole though the kill came before the child could report them."""
    faults: tuple[str, ...]


class SeededEmbedder:
    """Unrelated unit vectors from the hash of a text: nothing to load, nothing near a duplicate."""

    id = "benchmark/seeded-64"
    dimension = 64
    max_tokens = 10_000

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:  # noqa: ARG002 - both sides alike
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = np.random.default_rng(list(hashlib.sha256(text.encode()).digest())).standard_normal(self.dimension)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32) if len(texts) else rows


def rounds(count: int, seed: int, *, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Run `count` rounds; the kills are drawn from `seed`, though where they fall also depends on the machine."""
    draw = random.Random(seed)
    ledger = _Ledger()
    with tempfile.TemporaryDirectory(prefix="clew-durability-") as folder:
        for number in range(count):
            if number % _ROUNDS_PER_STORE == 0:
                ledger.start_store()
                shutil.rmtree(Path(folder) / "store", ignore_errors=True)
                (Path(folder) / "store").mkdir()
            path = Path(folder) / "store" / "memories.clew"
            ledger.read(_killed(path, f"r{number}s{seed}", draw))
            before = len(ledger.faults)
            ledger.check(path, number, draw)
            if (number + 1) % 20 == 0 or len(ledger.faults) > before:
                progress(f"  round {number + 1}: {ledger.acknowledged:,} acknowledged, {len(ledger.faults)} faults")
    return Report(
        rounds=count,
        seed=seed,
        acknowledged=ledger.acknowledged,
        forgotten=ledger.forgotten,
        unacknowledged=ledger.unacknowledged,
        faults=tuple(ledger.faults),
    )


def text_of(key: str) -> str:
    """Return the text that belongs to a key: its end is a checksum of the rest, so that half a text shows."""
    draw = random.Random(key)
    words = " ".join("".join(draw.choices("abdefgiklmnoprstuvz", k=draw.randint(3, 9))) for _ in range(draw.randint(8, 120)))
    body = f"The note {key} says {words}"
    return f"{body} and its checksum is {hashlib.sha256(body.encode()).hexdigest()[:16]}"


def _killed(path: Path, name: str, draw: random.Random) -> list[str]:
    """Let a child write, kill it, and return the lines it got out."""
    wanted = draw.randint(1, _MAX_REPORTS)
    pause = draw.random() * _MAX_PAUSE_SECONDS
    early = draw.random() < _EARLY_KILLS
    child = subprocess.Popen([sys.executable, __file__, str(path), name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stdout, stderr = child.stdout, child.stderr
    if stdout is None or stderr is None:
        raise RuntimeError("the child has no pipes")
    watchdog = threading.Timer(_PATIENCE_SECONDS, child.kill)
    watchdog.start()
    lines: list[str] = []
    with stdout, stderr:
        if early:
            time.sleep(draw.random() * _MAX_EARLY_SECONDS)
        else:
            lines += islice(stdout, wanted)
            time.sleep(pause)
        in_time = watchdog.is_alive()
        watchdog.cancel()
        child.send_signal(signal.SIGKILL)
        lines += stdout
        complaint = stderr.read().strip()
    code = child.wait()
    if code != -signal.SIGKILL or not in_time:
        raise RuntimeError(f"the writer {'ended by itself' if in_time else 'hung'} (code {code}): {complaint[-2000:]}")
    return [line.rstrip("\n") for line in lines if line.endswith("\n")]


@dataclass
class _Ledger:
    """What the children said they did, and where the store disagrees."""

    keys: dict[str, str] = field(default_factory=dict)  # by id, what must be there
    leaving: set[str] = field(default_factory=set)  # ids that may be gone: forgetting was begun
    gone: set[str] = field(default_factory=set)
    acknowledged: int = 0
    forgotten: int = 0
    unacknowledged: int = 0
    faults: list[str] = field(default_factory=list)
    _fresh: list[str] = field(default_factory=list)

    def start_store(self) -> None:
        self.keys, self.leaving, self.gone = {}, set(), set()

    def read(self, lines: Sequence[str]) -> None:
        self._fresh = []
        for line in lines:
            sign, id, key = line.split(" ")
            if sign == "+":
                self.keys[id] = key
                self._fresh.append(id)
                self.acknowledged += 1
            elif sign == "?":
                self.leaving.add(id)
            else:
                self.keys.pop(id, None)
                self.gone.add(id)
                self.forgotten += 1

    def check(self, path: Path, number: int, draw: random.Random) -> None:
        """Open the store as a user would and compare it with the ledger."""
        if not path.exists() and not self.keys:
            return
        with clew.open(path, embedder=SeededEmbedder()) as store:
            for fault in self._differences(store, draw):
                self.faults.append(f"round {number}: {fault}")

    def _differences(self, store: clew.Clew, draw: random.Random) -> Iterator[str]:
        for id, key in list(self.keys.items()):
            node = store.get(id)
            if node is None and id in self.leaving:
                del self.keys[id]
            elif node is None:
                yield f"acknowledged write {id} ({key}) is lost"
            elif node.text != text_of(key):
                yield f"acknowledged write {id} ({key}) has another text"
        yield from (f"forgotten {id} is back" for id in self.gone if store.get(id) is not None)
        yield from self._not_found(store, draw)
        yield from self._strangers(store)
        yield from (f"half a write: {node.id} has no vector" for node in store.store.unembedded(SeededEmbedder.id, limit=10))
        yield from (f"verify: {problem.check}: {problem.detail}" for problem in store.verify())

    def _not_found(self, store: clew.Clew, draw: random.Random) -> Iterator[str]:
        fresh = [id for id in self._fresh if id in self.keys]
        for id in fresh + draw.sample(sorted(self.keys), min(_SAMPLE, len(self.keys))):
            hits = store.recall(self.keys[id], k=1, recipe="lexical", track=False).hits
            if id not in {hit.id for hit in hits}:
                yield f"acknowledged write {id} ({self.keys[id]}) is not found by its words"
            if not store.store.events(id):
                yield f"acknowledged write {id} ({self.keys[id]}) has no event"

    def _strangers(self, store: clew.Clew) -> Iterator[str]:
        """Unreported writes are allowed, if they are whole; from now on they must stay."""
        for node in store.store.nodes():
            if node.id in self.keys:
                continue
            key = node.text.split(" ")[2] if node.text.startswith("The note ") else ""
            if node.text != text_of(key):
                yield f"half a write: {node.id}: {node.text[:80]!r}"
            self.keys[node.id] = key
            self.unacknowledged += 1


def _child(path: Path, name: str) -> None:
    """Write until killed; a line on the pipe means: acknowledged."""
    draw = random.Random(name)
    kept: list[str] = []
    number = 0
    with clew.open(path, embedder=SeededEmbedder()) as store:
        while True:
            size = draw.choice((1, 1, 1, 1, _BATCH))
            keys = [f"{name}n{number + offset}" for offset in range(size)]
            number += size
            texts = [text_of(key) for key in keys]
            outcomes = [store.remember(texts[0])] if size == 1 else store.remember_many(texts)
            for key, outcome in zip(keys, outcomes, strict=True):
                if outcome.outcome != "inserted" or outcome.id is None:
                    raise RuntimeError(f"{key} was not inserted: {outcome}")
                print("+", outcome.id, key, flush=True)
                kept.append(outcome.id)
            if draw.random() < 0.15:
                id = kept.pop(draw.randrange(len(kept)))
                print("?", id, "-", flush=True)
                store.forget(id)
                print("-", id, "-", flush=True)


if __name__ == "__main__":
    _child(Path(sys.argv[1]), sys.argv[2])
