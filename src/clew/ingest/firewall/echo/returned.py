"""What Clew returned lately: bounded in words and in time, written down by a recall in a microsecond and read by a write.

In this process every hit is noted, with `track=False` too. Other processes learn of the hits whose accesses are counted: the
ids of those, never their texts, are kept beside the memories by the same thread that counts them. Each space has a shelf of
its own: what is returned in one leaves what is known of another as it is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple

from clew.forking import after_fork
from clew.ids import new_id
from clew.ingest.firewall.echo.spoken import spoken
from clew.ports import Store
from clew.times import iso, parse_time
from clew.types import Node, NodeId

GRAM = 3  # words in a row by which a place in a returned text is found
MOST_WORDS = 32_000  # that are remembered in a space: some 300 memories or 60 chunks, about 5 MB
MOST_WAITING = 512  # hits that no write has looked at yet
MOST_RECORDS = 8  # that processes leave for one another, together
MOST_IDS = 32  # in one of them
KIND = "returned"


class Source(NamedTuple):
    """A returned text as it is written, its title, and the words of both."""

    id: NodeId
    space: str
    at: datetime
    title: str
    text: str
    words: tuple[str, ...]

    @property
    def grams(self) -> Iterator[tuple[int, int]]:
        """Every run of a few words, as a number, with its place."""
        return ((_gram(self.space, self.words[at : at + GRAM]), at) for at in range(max(0, len(self.words) - GRAM + 1)))


class Place(NamedTuple):
    """Where a run of words stands in a returned text."""

    source: Source
    at: int


class Returned:
    """What was returned, by space."""

    def __init__(self, store: Store, *, minutes: float) -> None:
        self._store = store
        self._window = timedelta(minutes=minutes)
        self._begin()
        after_fork(self._begin)

    def _begin(self) -> None:
        """Start with nothing: what a forked child returns is its own."""
        self._shelves: dict[str, Shelf] = {}

    def of(self, space: str) -> Shelf:
        """Return the shelf of a space."""
        return self._shelves.get(space) or self._shelves.setdefault(space, Shelf(self._store, space, self._window))

    def note(self, hits: Iterable[tuple[Node, str]], at: datetime) -> None:
        """Take note of what is returned, each memory with its context."""
        for node, context in hits:
            self.of(node.space).note(node, context, at)

    def publish(self, space: str, ids: Sequence[NodeId], at: datetime) -> None:
        """Let other processes know what was returned in a space."""
        self.of(space).publish(ids, at)


class Shelf:
    """Remembers what was returned in a space, and finds where it holds a run of words; who looks for places holds the lock meanwhile."""

    def __init__(self, store: Store, space: str, window: timedelta) -> None:
        self._store = store
        self._kind = f"{KIND} {space}"
        self._window = window
        self.lock = threading.Lock()
        self._waiting: deque[tuple[Node, str, datetime]] = deque(maxlen=MOST_WAITING)
        self._sources: OrderedDict[NodeId, list[Source]] = OrderedDict()
        self._places: dict[int, dict[tuple[NodeId, int, int], None]] = {}
        self._same: dict[NodeId, tuple[str, str, str, str]] = {}
        self._size = 0
        self._read: set[str] = set()
        self._told: dict[NodeId, datetime] = {}

    # --- what a recall does ---

    def note(self, node: Node, context: str, at: datetime) -> None:
        """Take note of a returned memory with its context; read only when something is written."""
        self._waiting.append((node, context, at))

    def publish(self, ids: Sequence[NodeId], at: datetime) -> None:
        """Let other processes know, by records that take the place of the oldest; what was told lately is not told again."""
        fresh = [id for id in ids if id not in self._told or at - self._told[id] > self._window / 2][-MOST_IDS * MOST_RECORDS :]
        if not fresh:
            return
        self._told = {**dict(list(self._told.items())[-MOST_WAITING:]), **dict.fromkeys(fresh, at)}
        records = {new_id(at): fresh[first : first + MOST_IDS] for first in range(0, len(fresh), MOST_IDS)}
        self._read |= records.keys()  # this process knows them already
        with self._store.transaction():
            for name, those in records.items():
                self._store.keep(self._kind, name, {"at": iso(at), "ids": those})
            for old in list(self._store.kept(self._kind))[:-MOST_RECORDS]:
                self._store.drop(self._kind, old)

    # --- what a write does ---

    def refresh(self, now: datetime) -> None:
        """Read what was returned since the last time, here and in other processes, and let go of what is too old."""
        with self.lock:
            for name, record in self._store.kept(self._kind).items():
                if name not in self._read:
                    self._read = {name, *islice(self._read, MOST_WAITING)}
                    self._learn(record, now)
            while self._waiting:
                self._absorb(*self._waiting.popleft())
            self._expire(now)

    def places(self, words: Sequence[str], space: str, without: frozenset[NodeId]) -> Iterator[Place]:
        """Yield where the space's returned texts hold these words, which are as many as `GRAM`, the latest first."""
        for id, number, at in reversed(self._places.get(_gram(space, words), {})):
            if id not in without and (source := self._sources[id][number]).space == space:
                yield Place(source, at)

    def holds_any(self, words: Sequence[str], space: str) -> bool:
        """Tell whether any run of these words was returned in the space."""
        return bool(self._places) and any(_gram(space, words[at : at + GRAM]) in self._places for at in range(len(words) - GRAM + 1))

    def _learn(self, record: Mapping[str, object], now: datetime) -> None:
        at = parse_time(str(record["at"]), "at")
        listed = record["ids"]
        if isinstance(listed, list) and now - at <= self._window:
            nodes = self._store.get([str(each) for each in listed])
            for id in nodes:
                if id not in self._sources:
                    self._absorb(nodes[id], "", at)

    def _absorb(self, node: Node, context: str, at: datetime) -> None:
        """Remember a returned memory, with its title, and the text around it as a second source."""
        same = (node.content_hash, node.title, node.space, context)
        if self._same.get(node.id) == same:  # returned again
            self._sources[node.id] = [each._replace(at=at) for each in self._sources[node.id]]
            self._sources.move_to_end(node.id)
            return
        self._drop(node.id)
        self._same[node.id] = same
        made = [_source(node, node.text, at, title=node.title)]
        made += [_source(node, context, at)] if context else []
        self._sources[node.id] = made
        for number, source in enumerate(made):
            self._size += len(source.words)
            for gram, place in source.grams:
                self._places.setdefault(gram, {})[node.id, number, place] = None

    def forget(self, ids: AbstractSet[NodeId]) -> None:
        """Drop what is remembered of memories that were forgotten."""
        with self.lock:
            for entry in [entry for entry in list(self._waiting) if entry[0].id in ids]:
                self._waiting.remove(entry)
            for id in ids:
                self._drop(id)

    def _expire(self, now: datetime) -> None:
        while self._sources and (self._size > MOST_WORDS or now - next(iter(self._sources.values()))[0].at > self._window):
            self._drop(next(iter(self._sources)))

    def _drop(self, id: NodeId) -> None:
        self._same.pop(id, None)
        for number, source in enumerate(self._sources.pop(id, ())):
            self._size -= len(source.words)
            for gram, place in source.grams:
                places = self._places.get(gram, {})
                places.pop((id, number, place), None)
                if not places:
                    self._places.pop(gram, None)


def _gram(space: str, words: Sequence[str]) -> int:
    return hash((space, *words))


def _source(node: Node, text: str, at: datetime, *, title: str = "") -> Source:
    return Source(node.id, node.space, at, title, text, tuple(spoken(f"{title}\n{text}")[:MOST_WORDS]))
