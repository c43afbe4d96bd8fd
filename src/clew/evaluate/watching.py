"""Did recall get worse? Two versions or two settings on the same questions.

`clew eval watch` is this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clew.errors import InputError
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import Interval, Report, RunSample, load
from clew.evaluate.report.files import settled
from clew.evaluate.running import run
from clew.evaluate.significance import compare

SYSTEM = "clew"
LEVEL = 0.05
WAY_OUT = "Make the baseline again with: clew eval run … --output DIR."


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How the present differs from a baseline by one measure, and whether that is a loss."""

    kind: str = "watch"
    format: int = 1
    dataset: str
    measure: str
    before: float
    now: float
    delta: float
    ci: Interval
    p: float
    n: int
    wins: int
    losses: int
    lost: bool
    """Whether the loss is beyond chance: the mean fell and p is below the level."""
    level: float
    worse: tuple[str, ...] = ()
    """The questions that lost the most."""
    versions: Mapping[str, Mapping[str, str]]


def watch_settings(
    plan: Plan, against: Mapping[str, Any], watch: Watch, *, level: float = LEVEL
) -> Verdict:
    """Compare the configuration in force with one that has these settings as the baseline."""
    other = replace(plan, settings={**plan.settings, **against})
    return verdict(_report(other, watch), _report(plan, watch), level=level)


def watch_baseline(plan: Plan, folder: Path, watch: Watch, *, level: float = LEVEL) -> Verdict:
    """Compare the present with the report that an earlier version wrote into a folder."""
    before = load(folder)
    if not before.samples:
        raise InputError("baseline", str(folder), "holds no samples.jsonl", WAY_OUT)
    return verdict(before, _report(plan, watch), level=level)


def _report(plan: Plan, watch: Watch) -> Report:
    return run(plan, systems=(SYSTEM,), watch=watch, saturated=True)


def verdict(before: Report, now: Report, *, level: float = LEVEL) -> Verdict:
    """Return how two reports on the same questions differ by the headline measure."""
    before, now = settled(before), settled(now)  # a report from a file has six digits
    old, new = before.result, now.result
    for name in ("dataset", "part", "level", "measure", "data_hash"):
        if getattr(old, name) != getattr(new, name):
            problem = f"has another {name.replace('_', ' ')} ({getattr(old, name)})"
            raise InputError("baseline", name, problem, WAY_OUT)
    baseline, present = _values(before), _values(now)
    met = compare(baseline, present, seed=new.seed, resamples=new.resamples)
    fell = sorted((present[id] - baseline[id], id) for id in present)
    return Verdict(
        dataset=new.dataset,
        measure=new.measure,
        before=sum(baseline.values()) / met.n,
        now=sum(present.values()) / met.n,
        delta=met.mean_difference,
        ci=met.ci,
        p=met.p,
        n=met.n,
        wins=met.wins,
        losses=met.losses,
        lost=met.mean_difference < 0 and met.p < level,
        level=level,
        worse=tuple(id for change, id in fell[:10] if change < 0),
        versions={"before": old.versions, "now": new.versions},
    )


def _values(report: Report) -> dict[str, float]:
    measure = report.result.measure
    return {
        each.query_id: each.measures[measure]
        for each in report.samples
        if isinstance(each, RunSample) and each.system == SYSTEM and measure in each.measures
    }
