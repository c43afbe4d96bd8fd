"""What a report is made of: plain values that go to JSON and come back the same.

A result holds nothing that differs between two runs with one seed on one machine: no clock, no
date, no path. What the clock says is a `Timings`, which is kept in a file of its own and joins a
result only where someone asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.evaluate.significance import CONFIDENCE, RESAMPLES, Comparison, Interval

BASELINE = "bm25"  # the row that every table has (benchmarks.md, rules of measurement)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One system: the mean of each measure, overall and by category, with intervals, and the mean cost of a question.

    `p_vs_bm25` is for the headline measure; the other measures are in the result's comparisons.
    None for BM25 itself. A system that could not be run has no measures, and `error` says why.
    """

    system: str
    measures: Mapping[str, float]
    ci: Mapping[str, Interval] = field(default_factory=dict)
    p_vs_bm25: float | None = None
    by_category: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    by_category_ci: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versus:
    """One system against another by one measure."""

    baseline: str
    variant: str
    measure: str
    mean_difference: float
    ci: Interval
    p: float
    p_holm: float | None = None
    effect: float | None = None
    n: int
    wins: int
    losses: int
    ties: int

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        *,
        baseline: str,
        variant: str,
        measure: str,
        p_holm: float | None = None,
    ) -> Versus:
        """Name the two sides of a comparison."""
        facts = {
            name: getattr(comparison, name)
            for name in ("mean_difference", "ci", "p", "effect", "n", "wins", "losses", "ties")
        }
        return cls(baseline=baseline, variant=variant, measure=measure, p_holm=p_holm, **facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """One stage or setting altered: what it did to a measure, and how many rankings it changed.

    With `changed` 0 it is an error and not a result; `error` says so, and the numbers are left out.
    """

    variant: str
    measure: str
    value: float | None = None
    delta: float | None = None
    ci: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    changed: int
    by_category: Mapping[str, float] = field(default_factory=dict)
    """The change of each category."""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A system's recall after a hop, what the hop added, and how many keys it brought to a question."""

    system: str
    hop: int
    recall: float
    gain: float
    found: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """How a system's own paths agree with the known ones, over the questions that have some.

    See `measures.Walk`.
    """

    system: str
    questions: int
    walked: float
    right: float
    shown: float
    found: float
    complete: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """What a question needed and recall did not bring, and why (`why_not`)."""

    query_id: str
    question: str
    needed: str
    text: str
    stage: str
    reason: str
    rank: int | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One table: the systems on one part of one dataset at one level, and everything needed to make it again."""

    kind: str = "run"
    """`run`, `compare` or `ablate`: which command made it."""
    format: int = 1
    """Rises when a field changes its meaning or goes away."""
    dataset: str
    part: str
    level: str
    measure: str
    questions: int
    rows: tuple[Row, ...]
    categories: Mapping[str, int] = field(default_factory=dict)
    comparisons: tuple[Versus, ...] = ()
    ablations: tuple[Ablation, ...] = ()
    hopwise: tuple[Hop, ...] = ()
    walked: tuple[Walked, ...] = ()
    missed: tuple[Missed, ...] = ()
    """Of one's own questions: what was needed and not found."""
    ratios: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How many times the cost of one policy another one spends, by "one / other" and kind of cost."""
    notes: tuple[str, ...] = ()
    data_hash: str
    config_hash: str
    seed: int
    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """What the clock said, by system (`latency_ms_p50`, `latency_ms_p95`, …), and on which machine.

    Never the same twice.
    """

    systems: Mapping[str, Mapping[str, float]]
    machine: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSample:
    """One question answered by one system."""

    query_id: str
    category: str
    system: str
    ranking: tuple[str, ...]
    measures: Mapping[str, float]
    cost: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySample:
    """One question answered by one search and by one policy of several hops, under one budget."""

    dataset: str
    part: str
    chunker: str
    embedder: str
    policy: str
    budget: str
    """`equal`: both examine and return as much; `1.5x`.

    Both return as much, the policy examines more.
    """
    query_id: str
    category: str
    single: Mapping[str, float]
    multi: Mapping[str, float]
    delta: Mapping[str, float]
    percent: Mapping[str, float]
    """How much more multi has than single, in percent of single; left out where single is 0."""
    cost: Mapping[str, Mapping[str, float]]
    cost_ratios: Mapping[str, float]
    hops_used: int
    stopped: str

    @classmethod
    def of(
        cls,
        *,
        single: Mapping[str, float],
        multi: Mapping[str, float],
        cost: Mapping[str, Mapping[str, float]],
        **identity: Any,
    ) -> PolicySample:
        """Put two answers side by side and take the differences and ratios of what both have."""
        delta = {name: multi[name] - single[name] for name in single.keys() & multi.keys()}
        return cls(
            single=single,
            multi=multi,
            delta=delta,
            percent={name: 100 * delta[name] / single[name] for name in delta if single[name]},
            cost=cost,
            cost_ratios={
                name: cost["multi"][name] / value for name, value in cost["single"].items() if value
            },
            **identity,
        )


Sample = RunSample | PolicySample
