"""Archive memories whose decay score fell below the limit; protected ones stay.

The days run from a memory's last use: its commit, a reinforcement, or a recall that returned it.
From its commit alone a memory of the usual importance would go after 16 days however often it is
used; importance and use move that date, and `unarchive` counts as a use, so that what was brought
back does not go again with the next run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import nsmallest
from itertools import islice
from typing import NamedTuple

from clew.errors import InputError
from clew.ports import Evidence, Store
from clew.settings.sections import DecaySettings
from clew.times import Moment, iso, parse_time
from clew.types import Event, EventKind, Kind, Node, NodeId

DAY = timedelta(days=1)
RULE = "decay"
MAX_UPCOMING = 10  # of those that go next are told


class Fading(NamedTuple):
    """A memory with its decay score, and when that falls below the limit: None is never."""

    id: NodeId
    score: float
    forgotten_at: datetime | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decayed:
    """What a run did, or on a dry run would do: the weakest first, then those that go next."""

    at: datetime
    dry_run: bool
    examined: int
    protected: int
    """How many are below the limit and stay because they are protected."""
    archived: tuple[Fading, ...]
    upcoming: tuple[Fading, ...]


def access_factor(accesses: int, *, access_gain: float) -> float:
    """Return 1 + gain·ln(1 + accesses).

    >>> access_factor(0, access_gain=0.1), round(access_factor(9, access_gain=0.1), 6)
    (1.0, 1.230259)
    """
    return 1.0 + access_gain * math.log1p(accesses)


def decay_score(importance: float, *, days: float, accesses: int, settings: DecaySettings) -> float:
    """Return min(1, importance·e^(−λ·days)·(1 + 0.1·ln(1 + accesses))).

    >>> round(decay_score(0.5, days=10, accesses=9, settings=DecaySettings()), 6)  # 0.5·e⁻¹·1.230259
    0.226293
    >>> decay_score(1.0, days=-1, accesses=100, settings=DecaySettings())
    1.0
    """
    strength = importance * access_factor(accesses, access_gain=settings.access_gain)
    return min(1.0, strength * math.exp(-settings.rate_per_day * max(0.0, days)))


def days_to_live(importance: float, *, accesses: int, settings: DecaySettings) -> float:
    """Return after how many days without use the score is at the limit.

    Ln(importance·gain/limit)/λ; infinite is never.

    >>> round(days_to_live(0.5, accesses=0, settings=DecaySettings()), 4), round(days_to_live(1.0, accesses=9, settings=DecaySettings()), 4)
    (16.0944, 25.0981)
    >>> days_to_live(0.05, accesses=0, settings=DecaySettings())
    0.0
    """
    limit, rate = settings.archive_below, settings.rate_per_day
    strength = importance * access_factor(accesses, access_gain=settings.access_gain)
    if strength < limit:
        return 0.0
    return math.log(strength / limit) / rate if limit and rate else math.inf


def last_use(node: Node, evidence: Evidence) -> datetime:
    """Return when a memory was last committed, reinforced or returned by a recall."""
    return max((node.t_created, *evidence.reinforced[-1:], evidence.accessed or node.t_created))


def fading(node: Node, evidence: Evidence, *, now: datetime, settings: DecaySettings) -> Fading:
    """Return where a memory stands, and when it goes if nobody uses it."""
    used = last_use(node, evidence)
    score = decay_score(
        node.importance, days=(now - used) / DAY, accesses=node.accesses, settings=settings
    )
    lives = days_to_live(node.importance, accesses=node.accesses, settings=settings)
    return Fading(node.id, score, None if node.protected else _after(used, lives), node.text)


def _after(moment: datetime, days: float) -> datetime | None:
    try:
        return moment + timedelta(days=days)
    except OverflowError:  # infinite, or beyond the calendar
        return None


def parse_run_time(now: Moment, *, clock: datetime, ahead: bool) -> datetime:
    """Return the time that a run goes by.

    One that is still to come is for looking ahead, not for archiving what is in use until then.
    """
    chosen = parse_time(now, "now")
    if chosen > clock and not ahead:
        raise InputError(
            "now",
            iso(chosen),
            "is still to come",
            "Look ahead with a dry run, or leave it out to archive what has faded by now.",
        )
    return chosen


def decay(
    store: Store,
    *,
    now: datetime,
    settings: DecaySettings,
    space: str | None,
    dry_run: bool,
    batch_size: int,
) -> Decayed:
    """Archive the live memories whose score is below the limit, batch by batch.

    A dry run only tells.
    """
    run = _Run(store, now, settings, dry_run)
    for batch in _batches(store.nodes(space), batch_size):
        run.look_at(batch)
    return Decayed(
        at=now,
        dry_run=dry_run,
        examined=run.examined,
        protected=run.protected,
        archived=tuple(sorted(run.archived, key=lambda each: (each.score, each.id))),
        upcoming=tuple(run.upcoming),
    )


class _Run:
    """One pass over a store, a batch at a time."""

    def __init__(self, store: Store, now: datetime, settings: DecaySettings, dry_run: bool) -> None:
        self._store, self._now, self._settings, self._dry_run = store, now, settings, dry_run
        self.examined = self.protected = 0
        self.archived: list[Fading] = []
        self.upcoming: list[Fading] = []

    def look_at(self, nodes: list[Node]) -> None:
        standing = self._standing(nodes)
        faded = [
            id for id, (node, each) in standing.items() if self._faded(each) and not node.protected
        ]
        self.examined += len(standing)
        self.protected += sum(
            self._faded(each) and node.protected for node, each in standing.values()
        )
        self.archived += (
            [standing[id][1] for id in faded] if self._dry_run else self._archive(faded)
        )
        staying = (
            each
            for _, each in standing.values()
            if each.forgotten_at is not None and not self._faded(each)
        )
        self.upcoming = nsmallest(MAX_UPCOMING, [*self.upcoming, *staying], key=_forgotten_at)

    def _standing(self, nodes: Iterable[Node]) -> dict[NodeId, tuple[Node, Fading]]:
        live = [node for node in nodes if _fades(node)]
        known = self._store.evidence([node.id for node in live])
        return {
            node.id: (node, fading(node, known[node.id], now=self._now, settings=self._settings))
            for node in live
            if node.id in known
        }

    def _faded(self, each: Fading) -> bool:
        return each.score < self._settings.archive_below

    def _archive(self, ids: list[NodeId]) -> list[Fading]:
        """Archive what still is to go.

        Somebody may have used, protected or forgotten it since it was read.
        """
        if not ids:
            return []
        with self._store.transaction():
            standing = self._standing(self._store.get(ids).values())
            gone = [
                each for node, each in standing.values() if self._faded(each) and not node.protected
            ]
            for each in gone:
                self._store.update(each.id, archived=True)
            self._store.append([self._event(each) for each in gone])
        return gone

    def _event(self, each: Fading) -> Event:
        detail = {
            "archived": True,
            "rule": RULE,
            "value": each.score,
            "limit": self._settings.archive_below,
        }
        return Event(node=each.id, kind=EventKind.UPDATE, at=self._now, detail=detail)


def _fades(node: Node) -> bool:
    """Tell whether a node is a live memory.

    A document is there or not, and has no holes where a chunk has faded.
    """
    return (
        node.kind is Kind.MEMORY
        and node.root is None
        and node.t_expired is None
        and not node.archived
    )  # versions stay with their memory


def _forgotten_at(each: Fading) -> tuple[datetime, NodeId]:
    return each.forgotten_at or datetime.max.replace(tzinfo=UTC), each.id


def _batches(nodes: Iterator[Node], size: int) -> Iterator[list[Node]]:
    while batch := list(islice(nodes, size)):
        yield batch
