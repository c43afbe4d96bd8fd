"""What a sweep is made of: plain values that go to JSON and come back the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clew.evaluate.report import PolicySample
from clew.evaluate.significance import CONFIDENCE, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScore:
    """The means of one system in one cell: measures, cost, and recall after each hop."""

    system: str
    measures: Mapping[str, float]
    ci: Mapping[str, Interval] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    hop_recall: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One dataset cut by one chunker and embedded by one model, with every policy on it."""

    dataset: str
    part: str
    chunker: str
    embedder: str
    level: str
    measure: str
    questions: int
    passages: int
    tokens: int
    """Tokens in all passages, in the chunkers' unit."""
    systems: tuple[SystemScore, ...]
    saturated: str = ""
    """Why this cell is no evidence; its deltas have no p value."""
    notes: tuple[str, ...] = ()
    data_hash: str
    config_hash: str
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What a policy changed against one search in one cell, by the headline measure."""

    dataset: str
    chunker: str
    embedder: str
    policy: str
    budget: str
    measure: str
    single: float
    multi: float
    delta: float
    ci: Interval
    percent: float | None = None
    p: float | None = None
    p_holm: float | None = None
    n: int
    wins: int
    losses: int
    ties: int
    hops_used: float
    stopped: Mapping[str, int] = field(default_factory=dict)
    cost_ratios: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """How much more a policy gains with one chunker than with another, on the same questions."""

    datasets: tuple[str, ...]
    embedder: str
    policy: str
    budget: str
    chunker: str
    against: str
    difference: float
    ci: Interval
    p: float
    p_holm: float | None = None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """The table of a sweep and everything needed to make it again."""

    kind: str = "sweep"
    format: int = 1
    datasets: tuple[str, ...]
    chunkers: tuple[str, ...]
    embedders: tuple[str, ...]
    policies: tuple[str, ...]
    budget: int
    slots: int
    hops: int
    chunks_per_hop: int
    chunk_size: int
    cells: tuple[Cell, ...]
    deltas: tuple[Delta, ...]
    pooled: tuple[Delta, ...] = ()
    """Over all datasets that are cut, and over all chunkers: `dataset` or `chunker` is "all"."""
    interactions: tuple[Interaction, ...] = ()
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seed: int
    resamples: int
    confidence: float = CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRecord:
    """A finished cell with its samples, as it is kept until the sweep is complete."""

    cell: Cell
    samples: tuple[PolicySample, ...]
