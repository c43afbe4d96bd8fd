"""One evaluation from its options to its table: load, cut, embed, index, ask, judge.

`clew eval run` is this.

A run is a list of steps that each keep what they made: vectors in the cache, answers in the
ledgers. So a run that is killed and begun again asks and embeds only what was not yet done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from clew.errors import InputError, RefusedError
from clew.evaluate import chunkers, peers
from clew.evaluate.answering import Answers, answers_of, cut, embed_questions
from clew.evaluate.cache import cached as cached_embedder
from clew.evaluate.data import Dataset
from clew.evaluate.datasets import load
from clew.evaluate.index import Index, indexed
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import BASELINE, Report
from clew.evaluate.samples import samples_of, timings_of
from clew.evaluate.sampling import sampled
from clew.evaluate.systems import DEFAULT_SYSTEMS, NEED_VECTORS, system
from clew.evaluate.tables import Terms, headline, result_of, wanted_measures
from clew.models import load as load_model
from clew.ports import Embedder, EmbedRole, Progress
from clew.settings import config_hash

# passages asked for where several share a key: enough for ten files or sessions in every set
# measured
DEEP = 100
NO_MODEL = "needs a model; model.embedder is none"


@dataclass(frozen=True, slots=True)
class Prepared:
    """An index ready to be asked, and the terms on which its answers will be judged."""

    plan: Plan
    index: Index
    terms: Terms

    @property
    def depth(self) -> int:
        """How many hits to ask for so that k different keys can appear.

        More where several share a key or a passage.
        """
        return (
            max(DEEP, self.plan.k)
            if self.index.split
            else depth_of(self.index.dataset, self.levels, self.plan.k)
        )

    @property
    def levels(self) -> tuple[str, ...]:
        """Every level that some measure reads."""
        return tuple(
            dict.fromkeys(
                (self.terms.level, *(each.level for each in self.terms.measured if each.level))
            )
        )


@contextmanager
def prepared(
    plan: Plan, watch: Watch, *, loaded: tuple[Dataset, tuple[str, ...]] | None = None
) -> Iterator[Prepared]:
    """Load, cut, embed and index what the plan names, and lend it."""
    dataset, notes = loaded if loaded is not None else part_of(plan)
    model = plan.loaded().settings.model
    embedder = load_model(
        model.embedder, auto_pull=model.auto_pull, progress=watch.download, announce=watch.announce
    )
    cached = (
        cached_embedder(embedder, plan.cache, progress=watch.progress)
        if embedder is not None
        else None
    )
    with closing(cached) if cached is not None else nullcontext():
        dataset, notes = _cut(plan, dataset, notes, cached)
        terms = _terms(plan, dataset, notes)
        with indexed(
            dataset, cached, progress=watch.progress, config=plan.config, **plan.settings
        ) as index:
            embed_questions(index)
            yield Prepared(plan, index, terms)


def _terms(plan: Plan, dataset: Dataset, notes: tuple[str, ...]) -> Terms:
    measured = wanted_measures(dataset, k=plan.k, names=plan.measures)
    return Terms(
        level=_level(dataset, plan.level),
        measured=measured,
        headline=headline(dataset, measured) if not plan.measures else plan.measures[0],
        seed=plan.seed,
        resamples=plan.resamples,
        config_hash=config_hash(plan.loaded().settings),
        notes=notes,
    )


def dataset_of(plan: Plan, embedder: Embedder | None = None) -> tuple[Dataset, tuple[str, ...]]:
    """Return the part of the set, its documents cut into passages, and what is to be said about both."""
    return _cut(plan, *part_of(plan), embedder)


def part_of(plan: Plan) -> tuple[Dataset, tuple[str, ...]]:
    """Return the part that a plan names, or the sample of it, and notes on it."""
    dataset = load(plan.dataset, plan.path, part=plan.part, limit=plan.limit, **plan.options)
    notes = [f"The first {plan.limit} questions only."] if plan.limit is not None else []
    options = [
        f"{name}={value}" for name, value in sorted(plan.options.items()) if name != "sources"
    ]
    if options:
        notes.append(f"Loaded with {', '.join(options)}.")
    drawn = sampled(
        dataset, questions=plan.sample, corpus_tokens=plan.corpus_tokens, seed=plan.seed
    )
    return drawn, tuple(notes)


def _cut(
    plan: Plan, dataset: Dataset, notes: tuple[str, ...], embedder: Embedder | None
) -> tuple[Dataset, tuple[str, ...]]:
    """Return the dataset with its documents cut; the semantic chunker asks the embedder where."""
    if not dataset.documents:
        return dataset, notes
    embed = partial(embedder.embed, role=EmbedRole.PASSAGE) if embedder is not None else None
    chosen = chunkers.chunker(plan.chunker, size=plan.chunk_size, overlap=plan.overlap, embed=embed)
    made = chunkers.cut(dataset, chosen)
    return made, (
        *notes,
        f"{len(dataset.documents):,} documents cut into {len(made.passages):,} passages by "
        f"{chosen.name}.",
    )


def _level(dataset: Dataset, asked: str) -> str:
    if asked and asked not in dataset.levels:
        raise InputError(
            "level",
            asked,
            f"{dataset.name} is not judged at it",
            f"Use {' or '.join(dataset.levels)}.",
        )
    return asked or dataset.levels[0]


def depth_of(dataset: Dataset, levels: Sequence[str], k: int) -> int:
    """Return how many passages to ask for so that k different keys can appear at each level."""
    shared = any(
        len({passage.keys.get(level, passage.id) for passage in dataset.passages})
        < len(dataset.passages)
        for level in levels
    )
    return max(DEEP, k) if shared else k


def run(
    plan: Plan,
    *,
    systems: Sequence[str] = DEFAULT_SYSTEMS,
    against: Sequence[str] = (),
    watch: Watch,
    saturated: bool = False,
) -> Report:
    """Ask every system and every peer every question; BM25 is always among them.

    What cannot be run has a row that says why.

    A set that every system solves is refused, unless `saturated` sets are wanted too.
    """
    names = tuple(dict.fromkeys((BASELINE, *systems)))
    for name in names:
        system(name, depth=plan.k)  # unknown names are refused before anything is loaded
    peers.check(against)
    with prepared(plan, watch) as ready:
        depth = ready.depth
        answers, errors = asked(ready, names, against, depth=depth, progress=watch.progress)
        versions = {
            name: peers.peer_version(peers.peer(name)) for name in against if name in answers
        }
        terms = replace(
            ready.terms,
            notes=(*ready.terms.notes, *depth_note(ready, depth)),
            errors=errors,
            versions=versions,
        )
        result = result_of(ready.index, answers, terms, saturated=saturated)
        samples = samples_of(ready.index, answers, level=terms.level, measured=terms.measured)
        return Report(result, samples, timings_of(answers, jobs=plan.jobs))


def asked(
    ready: Prepared, names: Sequence[str], against: Sequence[str], *, depth: int, progress: Progress
) -> tuple[dict[str, Answers], dict[str, str]]:
    """Return the answers of every system and peer that could be run, cut to k keys, and why others could not."""
    plan, index = ready.plan, ready.index
    errors = {name: NO_MODEL for name in names if name in NEED_VECTORS and index.embedder is None}
    answers: dict[str, Answers] = {}
    for name in (name for name in names if name not in errors):
        answers[name] = answers_of(
            index, system(name, depth=depth), cache=plan.cache, jobs=plan.jobs, progress=progress
        )
    for name in dict.fromkeys(against):
        try:
            answers[name] = peers.answers_of(
                index, peers.peer(name), depth=depth, cache=plan.cache, progress=progress
            )
        except RefusedError as error:
            errors[name] = error.message
    return {
        name: cut(given, index.passages, levels=ready.levels, k=plan.k)
        for name, given in answers.items()
    }, errors


def depth_note(ready: Prepared, depth: int) -> tuple[str, ...]:
    """Say how deep systems were asked where that is not k."""
    if depth == ready.plan.k:
        return ()
    where = " and ".join(ready.levels)
    return (
        f"Several passages share a {where}: systems were asked for {depth} passages, read to the "
        f"{ready.plan.k}th different {where}.",
    )
