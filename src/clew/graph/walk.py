"""Spread relevance from a few start nodes along links, strongest signal first.

A link passes on p = weight × signal × μ, so that a signal only ever fades and no p saturates. All
starts share one queue: the strongest signal goes on first, whoever it came from, until the budget
of nodes is spent.

expected   every link is followed; a node keeps its strongest signal. Deterministic.
sampled    each link is followed with probability p, by `seed`; whoever is reached then holds p.
pagerank   for comparison: the share of time that a walk with restarts at the starts spends at each
           node.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from clew.types import NodeId

MODES = ("expected", "sampled", "pagerank")
# nodes whose links are asked for at once: a question to the store costs more than a link
BATCH_SIZE = 8
RESTART = 0.5  # of personalised PageRank, as HippoRAG (Gutiérrez et al., NeurIPS 2024) has it
ROUNDS = 20  # of its power iteration: 0.5 ** 20 is left


class Link(NamedTuple):
    """A way from one node to another; the weight, 0 to 1, has kind, confidence and hubs in it."""

    source: NodeId
    target: NodeId
    kind: str
    weight: float
    evidence: str = ""


class Step(NamedTuple):
    """A link that was followed, and the signal that arrived."""

    link: Link
    signal: float


Path: TypeAlias = tuple[Step, ...]
Links: TypeAlias = Callable[[Sequence[NodeId]], Mapping[NodeId, Sequence[Link]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far, how weak and how many."""

    hops: int
    least: float
    """A weaker signal is not passed on."""
    nodes: int
    """Of how many nodes the links are followed, over all starts together."""
    fade: float
    """The μ in p = weight × signal × μ."""


def walk(
    starts: Mapping[NodeId, float],
    links: Links,
    *,
    limits: Limits,
    mode: str = "expected",
    seed: int = 0,
) -> dict[NodeId, Path]:
    """Return the path along which the strongest signal reached each node.

    A start is reached by another start's signal only.

    >>> ways = {"a": [Link("a", "b", "NAMES", 0.5)], "b": [Link("b", "c", "NAMES", 0.5), Link("b", "a", "NAMES", 1.0)]}
    >>> limits = Limits(hops=2, least=0.01, nodes=10, fade=1.0)
    >>> found = walk({"a": 1.0}, lambda ids: {id: ways.get(id, ()) for id in ids}, limits=limits)
    >>> {id: [step.signal for step in path] for id, path in found.items()}
    {'b': [0.5], 'c': [0.5, 0.25]}
    """
    spread = _Spread(starts, links, limits)
    if mode == "pagerank":
        return spread.ranked()
    # To draw links, not secrets
    choose = _sampler(random.Random(seed)) if mode == "sampled" else _always  # noqa: S311
    return spread.run(choose)


def _always(_probability: float) -> bool:
    return True


def _sampler(chance: random.Random) -> Callable[[float], bool]:
    return lambda probability: chance.random() < probability


class _Spread:
    """One walk under way."""

    def __init__(self, starts: Mapping[NodeId, float], links: Links, limits: Limits) -> None:
        self._starts, self._links, self._limits = starts, links, limits
        self._queue: list[tuple[float, NodeId, Path]] = []
        self._paths: dict[NodeId, Path] = {}

    def run(self, choose: Callable[[float], bool]) -> dict[NodeId, Path]:
        """Follow links from the strongest signal on."""
        queue = self._queue = [(-signal, id, ()) for id, signal in self._starts.items()]
        heapq.heapify(queue)
        paths = self._paths = {}
        visited: set[NodeId] = set()
        while queue and len(visited) < self._limits.nodes:
            going = self._next(queue, visited)
            found = self._links([id for id, _, _ in going])
            # the path by which this signal came: a stronger and longer one may have been found
            # since
            for id, signal, so_far in going:
                self._pass_on(found.get(id, ()), so_far, signal, choose)
        return paths

    def _next(
        self, queue: list[tuple[float, NodeId, Path]], visited: set[NodeId]
    ) -> list[tuple[NodeId, float, Path]]:
        """Take the strongest that have not gone on yet.

        The starts together, and then a few at a time.
        """
        room = min(
            self._limits.nodes - len(visited), max(BATCH_SIZE, len(self._starts) - len(visited))
        )
        going: list[tuple[NodeId, float, Path]] = []
        while queue and len(going) < room:
            negated, id, path = heapq.heappop(queue)
            if id not in visited:
                visited.add(id)
                going.append((id, -negated, path))
        return going

    def _pass_on(
        self, links: Sequence[Link], so_far: Path, signal: float, choose: Callable[[float], bool]
    ) -> None:
        behind = {step.link.source for step in so_far}
        for link in links:
            arriving = link.weight * signal * self._limits.fade
            if arriving < self._limits.least or link.target in behind or link.target == link.source:
                continue
            if not choose(arriving) or arriving <= _signal(self._paths.get(link.target, ())):
                continue
            self._paths[link.target] = (*so_far, Step(link, arriving))
            if len(so_far) + 1 < self._limits.hops and link.target not in self._starts:
                heapq.heappush(self._queue, (-arriving, link.target, self._paths[link.target]))

    def ranked(self) -> dict[NodeId, Path]:
        """Walk once for the links, then let a random walker with restarts visit them.

        The strongest path stays as the reason.
        """
        ways: dict[NodeId, dict[NodeId, float]] = {}

        def noting(ids: Sequence[NodeId]) -> Mapping[NodeId, Sequence[Link]]:
            found = links(ids)
            for id, each in found.items():
                for link in each:
                    ways.setdefault(id, {})[link.target] = max(
                        link.weight, ways.get(id, {}).get(link.target, 0.0)
                    )
            return found

        links, self._links = self._links, noting
        paths = self.run(_always)
        shares = pagerank(self._starts, ways)
        most = max((shares.get(id, 0.0) for id in paths), default=0.0)
        return {
            id: (*path[:-1], path[-1]._replace(signal=shares.get(id, 0.0) / most))
            for id, path in paths.items()
            if most > 0
        }


def _signal(path: Path) -> float:
    return path[-1].signal if path else 0.0


def pagerank(
    starts: Mapping[NodeId, float], ways: Mapping[NodeId, Mapping[NodeId, float]]
) -> dict[NodeId, float]:
    """Return personalised PageRank by power iteration.

    What has no way out gives its share back to the starts.

    >>> shares = pagerank({"a": 1.0}, {"a": {"b": 1.0}})
    >>> round(shares["a"], 3), round(shares["b"], 3)
    (0.667, 0.333)
    """
    whole = sum(starts.values())
    home = {id: signal / whole for id, signal in starts.items()} if whole > 0 else {}
    shares = dict(home)
    for _ in range(ROUNDS):
        moved: dict[NodeId, float] = {}
        stuck = 0.0
        for id in sorted(shares):
            out = ways.get(id, {})
            total = sum(out.values())
            if not total > 0:
                stuck += shares[id]
                continue
            for target, weight in out.items():
                moved[target] = moved.get(target, 0.0) + (1 - RESTART) * shares[id] * weight / total
        back = RESTART + (1 - RESTART) * stuck
        shares = {
            id: moved.get(id, 0.0) + back * home.get(id, 0.0) for id in moved.keys() | home.keys()
        }
    return shares
