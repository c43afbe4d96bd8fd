"""Read the labelled pairs, and ask a Clew about each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import clew

HERE = Path(__file__).parent
STORES = HERE.parent / "memories"
PARTS = ("tuning", "held_out")
CONFLICTING = ("value", "number", "negation", "state")


class Pair(NamedTuple):
    """Two memories, as the fields of `remember`, and what they are to each other."""

    label: str
    first: Mapping[str, Any]
    second: Mapping[str, Any]


class Figures(NamedTuple):
    """How many pairs of each label there are, and how many of these were reported."""

    pairs: Mapping[str, int]
    reported: Mapping[str, int]

    @property
    def precision(self) -> float:
        """Return the share of reported pairs that contradict each other."""
        return self._right / sum(self.reported.values())

    @property
    def recall(self) -> float:
        """Return the share of contradicting pairs that were reported."""
        return self._right / sum(self.pairs[label] for label in CONFLICTING)

    @property
    def _right(self) -> int:
        return sum(self.reported[label] for label in CONFLICTING)


def labelled(part: str) -> list[Pair]:
    """Return the pairs of one part."""
    listed = yaml.safe_load((HERE / f"{part}.yaml").read_text(encoding="utf-8"))
    return [
        Pair(label, _fields(first), _fields(second))
        for label, pairs in listed.items()
        for first, second in pairs
    ]


def _fields(written: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"text": written} if isinstance(written, str) else written


def measured(pairs: Sequence[Pair], opened: Callable[[], clew.Clew]) -> Figures:
    """Return for each label how many pairs a Clew lists as conflicts, each pair alone in a store."""
    count = dict.fromkeys((pair.label for pair in pairs), 0)
    reported = dict(count)
    for pair in pairs:
        count[pair.label] += 1
        with opened() as memory:
            memory.remember_many([pair.first, pair.second], on_duplicate="insert")
            reported[pair.label] += bool(memory.conflicts())
    return Figures(count, reported)


def stores() -> Iterator[tuple[str, list[str]]]:
    """Yield each store of memories under benchmarks/memories with its texts."""
    for path in sorted(STORES.glob("*/memories.yaml")):
        for name, store in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            yield f"{path.parent.name}/{name}", [each["text"] for each in store["memories"]]
