"""The whole design in one run: datasets × chunkers × embedders × policies.

`clew eval sweep` is this.

Every cell (a dataset cut by a chunker and embedded by a model) is measured by itself and kept in
the cache, so a sweep that was interrupted goes on where it stopped. Each policy meets one search
twice:

    equal   both examine the budget and return all of it
    1.5x    both return the same slots (budget / 1.5); the policy examines the whole budget for them

Both rankings come from the same scorer against the original question (`Searcher.order`).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

from clew.errors import InputError
from clew.evaluate import chunkers
from clew.evaluate.answering import code_hash
from clew.evaluate.comparing import Contest, contest_answers, policy_samples
from clew.evaluate.data import Dataset
from clew.evaluate.datasets import card
from clew.evaluate.measures import Measure, column, measures, overall, score
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import PolicySample, dumps, loads
from clew.evaluate.running import Prepared, part_of, prepared
from clew.evaluate.samples import mean_cost
from clew.evaluate.significance import saturation
from clew.evaluate.sweep_model import Cell, CellRecord, SweepResult, SystemScore
from clew.evaluate.sweep_table import table_of
from clew.evaluate.tables import hops_of, intervals, versions
from clew.text.words import token_estimate

AS_PUBLISHED = "as published"
"""The chunker of a set that has passages of its own."""
MEASURES = ("recall@5", "recall@10", "hit@5", "all@10", "nDCG@10")
SPANS = ("token-recall", "token-IoU")
CELL_BYTES = 2_000_000_000  # memory that one cell may need: model, vectors and token codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What a sweep crosses; `base` holds what all cells share."""

    datasets: Mapping[str, Path]
    base: Plan
    contest: Contest
    chunkers: tuple[str, ...] = ("code", "fixed", "recursive", "semantic", "chonkie-code")
    embedders: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """What the loaders take, by dataset."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Another part than the base's, by dataset."""
    corpus_tokens: Mapping[str, int] = field(default_factory=dict)
    """Another size of corpus than the base's, by dataset."""
    samples: Mapping[str, int] = field(default_factory=dict)
    """Another number of questions than the base's, by dataset."""
    jobs: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be crossed."""
        if not self.datasets:
            raise InputError("datasets", "", "names none", "Use for example swe-qa,semble.")
        for name in self.chunkers:
            if name not in chunkers.NAMES:
                known = ", ".join(chunkers.NAMES)
                raise InputError("chunkers", name, "is not a chunker", f"Use some of {known}.")
        for name in self.datasets:
            card(name)  # an unknown name is refused before anything is loaded
        if not 1 <= self.jobs <= 64:
            raise InputError("jobs", self.jobs, "must lie between 1 and 64", "The default is 1.")

    @property
    def models(self) -> tuple[str, ...]:
        """The embedders; the configured one where none was named."""
        return self.embedders or (self.base.loaded().settings.model.embedder,)

    def plans(self) -> Iterator[Plan]:
        """Yield the plan of every cell."""
        for name, chunker, model in product(self.datasets, self.chunkers, self.models):
            yield replace(
                self.base,
                dataset=name,
                path=self.datasets[name],
                part=self.parts.get(name, self.base.part),
                chunker=chunker,
                k=self.contest.budget,
                options=self.options.get(name, {}),
                corpus_tokens=self.corpus_tokens.get(name, self.base.corpus_tokens),
                sample=self.samples.get(name, self.base.sample),
                settings={**self.base.settings, "model.embedder": model},
            )


def sweep(axes: Axes, watch: Watch) -> tuple[SweepResult, tuple[PolicySample, ...]]:
    """Measure every cell that the cache does not hold, and return the whole table and its rows."""
    for name, part in {
        name: axes.parts.get(name, axes.base.part) for name in axes.datasets
    }.items():
        if part not in card(name).parts:
            known = " or ".join(card(name).parts)
            raise InputError("part", part, f"is not a part of {name}", f"Use {name}={known}.")
    records = _measured(axes, watch)
    # A set with passages of its own is the same for every chunker.
    distinct = {
        (each.cell.dataset, each.cell.chunker, each.cell.embedder): each for each in records
    }
    return table_of(axes_of(axes), list(distinct.values()))


def axes_of(axes: Axes) -> SweepResult:
    """Return a result without rows that says what was crossed."""
    contest, plan = axes.contest, axes.base
    return SweepResult(
        datasets=tuple(axes.datasets),
        chunkers=axes.chunkers,
        embedders=axes.models,
        policies=contest.several,
        budget=contest.budget,
        slots=contest.slots,
        hops=contest.hops,
        chunks_per_hop=contest.chunks_per_hop,
        chunk_size=plan.chunk_size,
        cells=(),
        deltas=(),
        seed=plan.seed,
        resamples=plan.resamples,
    )


def _measured(axes: Axes, watch: Watch) -> list[CellRecord]:
    plans = list(axes.plans())
    work = partial(cell_record, contest=axes.contest)
    found: dict[int, CellRecord] = {}
    began = time.monotonic()

    def done(number: int, record: CellRecord) -> None:
        found[number] = record
        left = (time.monotonic() - began) / len(found) * (len(plans) - len(found))
        if watch.announce is not None:
            cell = record.cell
            watch.announce(
                f"cell {len(found)} of {len(plans)}: {cell.dataset}, {cell.chunker}, "
                f"{cell.embedder}; about {left / 60:.0f} min left"
            )

    jobs = min(axes.jobs, len(plans), max(1, free_memory() // CELL_BYTES))
    if jobs == 1:
        for number, plan in enumerate(plans):
            done(number, work(plan, watch=watch))
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            waiting = {pool.submit(work, plan): number for number, plan in enumerate(plans)}
            for each in as_completed(waiting):
                done(waiting[each], each.result())
    return [found[number] for number in range(len(plans))]


def free_memory() -> int:
    """Return the bytes of memory that are not in use; where nobody tells, enough for one cell."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return CELL_BYTES


def cell_record(plan: Plan, *, contest: Contest, watch: Watch | None = None) -> CellRecord:
    """Return one cell with its samples, from the cache where it is there."""
    watch = watch or Watch()
    loaded = part_of(plan)
    if not loaded[0].documents:
        plan = replace(plan, chunker=AS_PUBLISHED)
    path = plan.cache / "sweep" / f"{_identity(plan, contest, loaded[0])}.json"
    if path.is_file():
        return loads(CellRecord, path.read_text(encoding="utf-8"), source=str(path))
    with prepared(plan, watch, loaded=loaded) as ready:
        text = dumps(_record(ready, contest, watch), indent=None)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8", errors="backslashreplace")
    draft.replace(path)
    return loads(CellRecord, text, source=str(path))  # the numbers as files hold them


def _identity(plan: Plan, contest: Contest, dataset: Dataset) -> str:
    """Return a name for all that a cell depends on."""
    parts = [code_hash(whole=True), repr(contest), dataset.data_hash, dataset.name, dataset.part]
    fields = ("level", "chunker", "chunk_size", "overlap", "seed", "resamples", "measures")
    parts += [f"{name}={getattr(plan, name)!r}" for name in fields]
    parts += [json.dumps(sorted(plan.options.items()), default=str)]
    parts += [json.dumps([plan.loaded().settings], default=repr, sort_keys=True)]
    parts += [query.id for query in dataset.queries]
    parts += [document.id for document in dataset.documents]
    parts += [passage.id for passage in dataset.passages]
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:24]


def _record(ready: Prepared, contest: Contest, watch: Watch) -> CellRecord:
    plan, index = ready.plan, ready.index
    answers = contest_answers(ready, contest, watch)
    wanted = _measures(ready)
    level, headline = ready.terms.level, str(wanted[0])
    runs = {name: {id: one.ranking for id, one in by.items()} for name, by in answers.items()}
    scores = {
        name: score(index.dataset.queries, run, index.passages, level=level, measures=wanted)
        for name, run in runs.items()
    }
    hops = hops_of(index, answers, level=level)
    columns = {name: column(values, headline) for name, values in scores.items()}
    systems = tuple(
        SystemScore(
            system=name,
            measures=overall(values),
            ci=intervals(values, seed=plan.seed, resamples=plan.resamples),
            cost=mean_cost(answers[name]),
            hop_recall=tuple(each.recall for each in hops if each.system == name),
        )
        for name, values in scores.items()
    )
    chunker = plan.chunker
    cell = Cell(
        dataset=index.dataset.name,
        part=index.dataset.part,
        chunker=chunker,
        embedder=plan.loaded().settings.model.embedder,
        level=level,
        measure=headline,
        questions=len(columns["bm25"]),
        passages=len(index.dataset.passages),
        tokens=sum(token_estimate(each.text) for each in index.dataset.passages),
        systems=systems,
        saturated=_saturated(columns),
        notes=(*index.dataset.notes, *ready.terms.notes),
        data_hash=index.dataset.data_hash,
        config_hash=ready.terms.config_hash,
        versions=versions(index),
    )
    return CellRecord(
        cell=cell, samples=tuple(policy_samples(ready, answers, scores, contest, headline))
    )


def _measures(ready: Prepared) -> tuple[Measure, ...]:
    """Return what a cell is judged by, the headline first."""
    if ready.plan.measures:
        return measures(ready.plan.measures)
    queries = ready.index.dataset.queries
    spans = SPANS if any(query.spans for query in queries) else ()
    paths = ("path@10",) if any(query.paths for query in queries) else ()
    head = spans[0] if spans else "recall@10"
    return measures(dict.fromkeys((head, *MEASURES, *spans, *paths)))


def _saturated(columns: Mapping[str, Mapping[str, float]]) -> str:
    """Return why a cell cannot tell systems apart, where every one of them solves it."""
    if all(saturation({name: values}) for name, values in columns.items()):
        return saturation(columns) or ""
    return ""
