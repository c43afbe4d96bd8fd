"""Kill −9 rounds: what was acknowledged before the kill must be there after it, whole.

A child uses a store through the public interface (remembers one or several, supersedes,
invalidates, updates, links, imports, forgets, compacts) and reports each acknowledged operation on
a pipe. The parent kills it with SIGKILL after a drawn number of reports and a drawn pause, opens
the store again, and looks for everything. A store lives through several rounds, so that recovery
from a recovered store is seen too. SIGKILL ends a process, not the machine: this says nothing about
a power cut, for which Clew relies on SQLite and synchronous=FULL.

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
from clew.types import Kind, Vectors

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

    # Both sides alike
    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:  # noqa: ARG002
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = np.random.default_rng(
                list(hashlib.sha256(text.encode()).digest())
            ).standard_normal(self.dimension)
        return (
            rows / np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32)
            if len(texts)
            else rows
        )


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
                progress(
                    f"  round {number + 1}: {ledger.acknowledged:,} acknowledged, {len(ledger.faults)} faults"
                )
    return Report(
        rounds=count,
        seed=seed,
        acknowledged=ledger.acknowledged,
        forgotten=ledger.forgotten,
        unacknowledged=ledger.unacknowledged,
        faults=tuple(ledger.faults),
    )


def text_of(key: str) -> str:
    """Return the text that belongs to a key.

    Its end is a checksum of the rest, so that half a text shows.
    """
    draw = random.Random(key)
    words = " ".join(
        "".join(draw.choices("abdefgiklmnoprstuvz", k=draw.randint(3, 9)))
        for _ in range(draw.randint(8, 120))
    )
    body = f"The note {key} says {words}"
    return f"{body} and its checksum is {hashlib.sha256(body.encode()).hexdigest()[:16]}"


def _killed(path: Path, name: str, draw: random.Random) -> list[str]:
    """Let a child write, kill it, and return the lines it got out."""
    wanted = draw.randint(1, _MAX_REPORTS)
    pause = draw.random() * _MAX_PAUSE_SECONDS
    early = draw.random() < _EARLY_KILLS
    child = subprocess.Popen(
        [sys.executable, __file__, str(path), name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
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
        raise RuntimeError(
            f"the writer {'ended by itself' if in_time else 'hung'} (code {code}): {complaint[-2000:]}"
        )
    return [line.rstrip("\n") for line in lines if line.endswith("\n")]


@dataclass
class _Ledger:
    """What the children said they did, and where the store disagrees."""

    keys: dict[str, str] = field(default_factory=dict)  # by id, what must be there
    # ids that may have stopped being true: kept, and not recalled
    ended: set[str] = field(default_factory=set)
    # by id, the last acknowledged title and one that was begun
    titles: dict[str, set[str]] = field(default_factory=dict)
    # by the key of a successor, the titles that it may have taken over
    inherited: dict[str, set[str]] = field(default_factory=dict)
    links: set[tuple[str, str]] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)  # keys of documents that were acknowledged
    leaving: set[str] = field(default_factory=set)  # ids that may be gone: forgetting was begun
    gone: set[str] = field(default_factory=set)
    acknowledged: int = 0
    forgotten: int = 0
    unacknowledged: int = 0
    faults: list[str] = field(default_factory=list)
    _fresh: list[str] = field(default_factory=list)

    def start_store(self) -> None:
        self.keys, self.leaving, self.gone = {}, set(), set()
        self.ended, self.titles, self.inherited, self.links, self.imports = (
            set(),
            {},
            {},
            set(),
            set(),
        )

    def read(self, lines: Sequence[str]) -> None:
        self._fresh = []
        for line in lines:
            sign, id, rest = line.split(" ")
            _SIGNS[sign](self, id, rest)
            self.acknowledged += sign not in _UNCOUNTED

    def inserted(self, id: str, key: str) -> None:
        self._keep(id, key)
        self._fresh.append(id)

    def _keep(self, id: str, key: str) -> None:
        self.keys[id] = key
        self.titles.setdefault(id, {*self.inherited.get(key, {""})})

    def forgetting(self, id: str, _: str) -> None:
        self.leaving.add(id)

    def forgot(self, id: str, _: str) -> None:
        self.keys.pop(id, None)
        self.gone.add(id)
        self.forgotten += 1

    def ending(self, id: str, successor: str) -> None:
        self.ended.add(id)
        self.inherited[successor] = {*self.titles.get(id, {""})}

    def titling(self, id: str, title: str) -> None:
        self.titles.setdefault(id, {""}).add(title)

    def titled(self, id: str, title: str) -> None:
        self.titles[id] = {title}

    def linked(self, source: str, target: str) -> None:
        self.links.add((source, target))

    def imported(self, key: str, _: str) -> None:
        self.imports.add(key)

    def done(self, *_: str) -> None:
        """Take note of what leaves no trace that could be looked for."""

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
            elif node.title not in self.titles.get(id, {""}):
                yield f"acknowledged title of {id} ({key}) is lost"
        yield from (f"forgotten {id} is back" for id in self.gone if store.get(id) is not None)
        yield from self._unlinked(store)
        yield from self._not_imported(store)
        yield from self._not_found(store, draw)
        yield from self._strangers(store)
        yield from self._without_vectors(store)
        yield from (f"verify: {problem.check}: {problem.detail}" for problem in store.verify())

    def _without_vectors(self, store: clew.Clew) -> Iterator[str]:
        """Only an import that was not acknowledged may lack vectors, and `reembed` must make them all."""
        bare = store.store.unembedded(SeededEmbedder.id, limit=10_000)
        for node in bare:
            if (node.root is None and node.kind is Kind.MEMORY) or Path(
                node.source
            ).stem in self.imports:
                yield f"half a write: {node.kind} {node.id} of {node.source!r} has no vector"
        if bare:
            store.reembed()
            left = store.store.unembedded(SeededEmbedder.id, limit=10)
            yield from (
                f"{node.kind} {node.id} of {node.source!r} has no vector after reembed"
                for node in left
            )

    def _unlinked(self, store: clew.Clew) -> Iterator[str]:
        ends = [
            pair
            for pair in self.links
            if self.keys.keys() >= {*pair} and not self.leaving & {*pair}
        ]
        there = {
            (edge.source, edge.target) for edge in store.store.edges([source for source, _ in ends])
        }
        yield from (f"acknowledged link {pair} is lost" for pair in ends if pair not in there)

    def _not_imported(self, store: clew.Clew) -> Iterator[str]:
        there = (
            {node.text.strip() for node in store.store.nodes() if node.kind is not Kind.MEMORY}
            if self.imports
            else set()
        )
        yield from (
            f"acknowledged import {key} is lost"
            for key in self.imports
            if text_of(key) not in there
        )

    def _not_found(self, store: clew.Clew, draw: random.Random) -> Iterator[str]:
        fresh = [id for id in self._fresh if id in self.keys]
        for id in fresh + draw.sample(sorted(self.keys), min(_SAMPLE, len(self.keys))):
            hits = store.recall(self.keys[id], k=3, recipe="lexical", track=False).hits
            if id not in self.ended and id not in {hit.id for hit in hits}:
                yield f"acknowledged write {id} ({self.keys[id]}) is not found by its words"
            if not store.store.events(id):
                yield f"acknowledged write {id} ({self.keys[id]}) has no event"

    def _strangers(self, store: clew.Clew) -> Iterator[str]:
        """Unreported writes are allowed, if they are whole; from now on they must stay."""
        for node in store.store.nodes():
            # known, imported, or an earlier version
            if node.id in self.keys or node.kind is not Kind.MEMORY or node.root is not None:
                continue
            key = node.text.split(" ")[2] if node.text.startswith("The note ") else ""
            if node.text != text_of(key):
                yield f"half a write: {node.id}: {node.text[:80]!r}"
            self._keep(node.id, key)
            self.unacknowledged += 1


_SIGNS: dict[str, Callable[[_Ledger, str, str], None]] = {
    "+": _Ledger.inserted,
    "?": _Ledger.forgetting,
    "-": _Ledger.forgot,
    "~": _Ledger.ending,
    "^": _Ledger.titling,
    "=": _Ledger.titled,
    "&": _Ledger.linked,
    "i": _Ledger.imported,
    "!": _Ledger.done,
}
"""What the first character of a reported line says."""
# what is told before an operation begins, for a kill may come in its middle, and what is counted by
# itself
_UNCOUNTED = "?~^-"


def _say(*parts: str) -> None:
    print(*parts, flush=True)


@dataclass
class _Writer:
    """Uses a store until killed; a line on the pipe means.

    Acknowledged, but for those that say what is begun.
    """

    store: clew.Clew
    name: str
    draw: random.Random
    kept: list[str] = field(default_factory=list)  # ids that were neither superseded nor forgotten
    number: int = 0

    def key(self) -> str:
        self.number += 1
        return f"{self.name}n{self.number}"

    def some(self) -> str:
        return self.draw.choice(self.kept)

    def remember(self) -> None:
        keys = [self.key() for _ in range(self.draw.choice((1, 1, 1, _BATCH)))]
        texts = [text_of(key) for key in keys]
        outcomes = (
            [self.store.remember(texts[0])] if len(texts) == 1 else self.store.remember_many(texts)
        )
        for key, outcome in zip(keys, outcomes, strict=True):
            self.kept.append(self._inserted(key, outcome))

    def _inserted(self, key: str, outcome: clew.Outcome) -> str:
        if outcome.outcome != "inserted" or outcome.id is None:
            raise RuntimeError(f"{key} was not inserted: {outcome}")
        _say("+", outcome.id, key)
        return outcome.id

    def forget(self) -> None:
        id = self.kept.pop(self.draw.randrange(len(self.kept)))
        _say("?", id, "-")
        self.store.forget(id)
        _say("-", id, "-")

    def supersede(self) -> None:
        id = self.kept.pop(self.draw.randrange(len(self.kept)))
        key = self.key()
        _say("~", id, key)
        self._inserted(key, self.store.supersede(id, text_of(key)))

    def invalidate(self) -> None:
        id = self.kept.pop(self.draw.randrange(len(self.kept)))
        _say("~", id, "-")
        self.store.invalidate(id)
        _say("!", id, "-")

    def update(self) -> None:
        id, title = self.some(), f"title-{self.key()}"
        _say("^", id, title)
        self.store.update(id, title=title, tags=[title])
        _say("=", id, title)

    def link(self) -> None:
        source, target = self.some(), self.some()
        if source != target:
            self.store.link(source, target, kind="SEEN")
            _say("&", source, target)

    def bring_in(self) -> None:
        key = self.key()
        self.store.import_data(text_of(key), name=f"{key}.txt")
        _say("i", key, "-")

    def compact(self) -> None:
        self.store.compact()
        _say("!", "-", "-")


_ACTS: tuple[tuple[Callable[[_Writer], None], int], ...] = (
    (_Writer.remember, 12),
    (_Writer.forget, 3),
    (_Writer.supersede, 2),
    (_Writer.invalidate, 2),
    (_Writer.update, 2),
    (_Writer.link, 2),
    (_Writer.bring_in, 2),
    (_Writer.compact, 1),
)


def _child(path: Path, name: str) -> None:
    """Write until killed."""
    draw = random.Random(name)
    acts, weights = zip(*_ACTS, strict=True)
    with clew.open(path, embedder=SeededEmbedder()) as store:
        writer = _Writer(store, name, draw)
        while True:
            act = draw.choices(acts, weights)[0] if len(writer.kept) > _BATCH else _Writer.remember
            act(writer)


if __name__ == "__main__":
    _child(Path(sys.argv[1]), sys.argv[2])
