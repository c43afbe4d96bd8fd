"""Question by question: what one system gained over another, from the samples of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.evaluate.report.model import BASELINE, PolicySample, Result, RunSample, Sample

SHOWN_EXTREMES = 5  # at each end: enough to start reading, few enough to stay a table
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Panel:
    """The difference of every question between two systems by the headline measure.

    (question, category, delta), best first.
    """

    baseline: str
    variant: str
    deltas: tuple[tuple[str, str, float], ...]

    @property
    def label(self) -> str:
        """Name the comparison."""
        return f"{self.variant} − {self.baseline}"

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return how many questions were won, tied and lost."""
        won, lost = (
            sum(delta > SAME for *_, delta in self.deltas),
            sum(delta < -SAME for *_, delta in self.deltas),
        )
        return won, len(self.deltas) - won - lost, lost


def panels(result: Result, samples: Sequence[Sample]) -> tuple[Panel, ...]:
    """Return one panel for each system against the baseline, and one for two policies, where the samples have them."""
    policies: dict[str, list[tuple[str, str, float]]] = {}
    for sample in samples:
        if isinstance(sample, PolicySample) and result.measure in sample.delta:
            found = policies.setdefault(f"{sample.policy} ({sample.budget})", [])
            found.append((sample.query_id, sample.category, sample.delta[result.measure]))
    by_system: dict[str, dict[str, tuple[str, float]]] = {}
    for sample in samples:
        if isinstance(sample, RunSample) and result.measure in sample.measures:
            by_system.setdefault(sample.system, {})[sample.query_id] = (
                sample.category,
                sample.measures[result.measure],
            )
    floor = by_system.pop(BASELINE, {})
    order = [row.system for row in result.rows if row.system in by_system]
    made = [_panel("single-hop", name, deltas) for name, deltas in policies.items()]
    for system in order if floor else []:
        shared = [
            (query, category, value - floor[query][1])
            for query, (category, value) in by_system[system].items()
            if query in floor
        ]
        made.append(_panel(BASELINE, system, shared))
    return tuple(made)


def extremes(panel: Panel, *, count: int = SHOWN_EXTREMES) -> list[tuple[str, str, float]]:
    """Return the questions that gained and lost the most, best first; ties are not among them."""
    gains = [each for each in panel.deltas if each[2] > SAME][:count]
    losses = [each for each in panel.deltas if each[2] < -SAME][-count:]
    return gains + losses


def _panel(baseline: str, variant: str, deltas: list[tuple[str, str, float]]) -> Panel:
    return Panel(baseline, variant, tuple(sorted(deltas, key=lambda each: (-each[2], each[0]))))
