"""Look at a space as a whole.

How much became true, ended and was recorded when, what differs between two moments, how good it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from clew.engine.request import filter_of, stand, whole
from clew.errors import InputError
from clew.ports import Store
from clew.store.overview import Assessed, Densities, Span, counting
from clew.times import Moment, parse_time
from clew.types import BEGINNING, SUPERSEDES, Filter, Kind, Node, NodeId

if TYPE_CHECKING:
    from clew.engine.clew import Clew

MAX_BUCKETS = 1000
MAX_DIFFERENCES = 1000
LOWEST = 10  # texts of the lowest quality that are named
BINS = 10
OUTLIERS = 0.01  # of valid times at each end that do not stretch the axis
STANDING = (Kind.MEMORY, Kind.DOCUMENT, Kind.SECTION, Kind.CHUNK)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """When the memories of a space began and ended to be true, and when they were recorded."""

    span: Span
    densities: Densities
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """What is seen at one moment and not at another.

    A memory that both see in other words is in `changed`.
    """

    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    changed: tuple[tuple[Node, Node], ...]
    only_after: int
    """How many rows the second moment alone sees, named or not."""
    only_before: int


def timeline(
    clew: Clew,
    *,
    space: str,
    known_at: Moment | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    buckets: int = 100,
) -> Timeline:
    """Return densities over time of what is believed, now or at `known_at`.

    By default from the first memory to now.
    """
    now = clew.now()
    known = None if known_at is None else stand(known_at, "known_at")
    # The year 1: what ended counts too, for that is what the answer tells.
    where = Filter(space=space, kinds=STANDING, within=("",), known_at=known, now=BEGINNING)
    count = whole("buckets", buckets, 1, MAX_BUCKETS)
    start, end = _extent(clew.store, where, now)
    start = start if since is None else parse_time(since, "since")
    end = end if until is None else parse_time(until, "until", end_of_day=True)
    if end <= start:
        raise InputError("until", until, "is not after `since`", "Name a later time.")
    width = max(MICROSECOND, -((start - end) // count))
    span = Span(start, width, count)
    return Timeline(span=span, densities=counting(clew.store).densities(where, span), space=space)


def _extent(store: Store, where: Filter, now: datetime) -> tuple[datetime, datetime]:
    found = counting(store).extent(where, outliers=OUTLIERS)
    start, end = found or (now - timedelta(days=1), now)
    return min(start, now - timedelta(hours=1)), max(end, now)


def differences(
    clew: Clew,
    *,
    where: Filter | Mapping[str, object] | None,
    before: tuple[Moment | None, Moment | None],
    after: tuple[Moment | None, Moment | None],
    limit: int = 100,
) -> Differences:
    """Return what differs between two moments, each a pair of `as_of` and `known_at`.

    None is now.
    """
    now, most = clew.now(), whole("limit", limit, 1, MAX_DIFFERENCES)
    seen = [
        replace(
            filter_of(where, settings=clew.settings, now=now, as_of=as_of, known_at=known_at),
            kinds=STANDING,
            within=("",),
        )
        for as_of, known_at in (before, after)
    ]
    only_after, added = counting(clew.store).differing(seen[1], seen[0], limit=most)
    only_before, removed = counting(clew.store).differing(seen[0], seen[1], limit=most)
    changed = _pairs(clew.store, removed, added)
    paired = {node.id for pair in changed for node in pair}
    return Differences(
        added=tuple(node for node in added if node.id not in paired),
        removed=tuple(node for node in removed if node.id not in paired),
        changed=changed,
        only_after=only_after,
        only_before=only_before,
    )


def _pairs(
    store: Store, removed: Iterable[Node], added: Sequence[Node]
) -> tuple[tuple[Node, Node], ...]:
    """Return what stands in the place of what.

    Another version of the same memory, or the one that superseded it.
    """
    old = {_own(node): node for node in removed}
    replaced = {
        edge.source: edge.target
        for edge in store.edges([_own(node) for node in added])
        if edge.kind == SUPERSEDES
    }
    pairs = []
    for node in added:
        own = _own(node)
        other = old.pop(own, None) or old.pop(replaced.get(own, ""), None)
        if other is not None:
            pairs.append((other, node))
    return tuple(pairs)


def _own(node: Node) -> NodeId:
    return node.root if node.kind is Kind.MEMORY and node.root else node.id


def quality(clew: Clew, *, space: str) -> Assessed:
    """Return how good the live texts of a space are, and which are the poorest."""
    where = Filter(space=space, kinds=(Kind.MEMORY, Kind.CHUNK), now=clew.now())
    return counting(clew.store).assessed(where, bins=BINS, lowest=LOWEST)
