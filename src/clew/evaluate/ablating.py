"""What is each stage worth? One stage or setting altered at a time. `clew eval ablate` is this.

A variant that changes no ranking is an error and not a result: its setting did not take effect, or
the set cannot show it. A set on which everything is right is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from clew.errors import InputError, RefusedError
from clew.evaluate.answering import Answers, answers_of, cut, runs
from clew.evaluate.data import Dataset
from clew.evaluate.measures import column
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.policies import SingleHop
from clew.evaluate.report import Ablation, Report
from clew.evaluate.running import Prepared, asked, depth_note, prepared
from clew.evaluate.samples import samples_of, timings_of
from clew.evaluate.significance import compare, holm, require_change
from clew.evaluate.systems import RELEVANCE_ONLY, System
from clew.evaluate.tables import Terms, result_of, scores_of
from clew.ports import Progress
from clew.settings import Settings, as_dict
from clew.settings import load as load_settings

FULL = "clew"
NO_EFFECT = "changed no ranking"
SYSTEMS = ("bm25", "dense", FULL)
FACTORS = ("reinforcement", "graph", "temporal")
META_WEIGHT = (
    0.2  # where it is off: enough to be seen, and a third of what an earlier design lost by
)
FEWER, MORE = 0.3, 3  # of the configured candidates, as the recipes fast and thorough


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The configuration with something altered; `recipe` None is the configured one.

    `needs` says what a set must have to show it.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    recipe: str | None = None
    needs: str = ""
    ignores: tuple[str, ...] = ()
    decayed: bool = False


def usual_variants(settings: Settings) -> Iterator[Variant]:
    """Yield what can be taken away from or altered in a configuration, one thing at a time."""
    recall = settings.recall
    fusion = "rrf" if recall.fusion == "weighted" else "weighted"
    yield Variant(name=f"fusion-{fusion}", settings={"recall.fusion": fusion}, needs="vectors")
    yield Variant(name="no-dense", recipe="lexical", needs="vectors")
    yield Variant(name="no-sparse", recipe="dense", needs="vectors")
    yield Variant(name="relevance-only", settings=RELEVANCE_ONLY, needs="dates")
    yield from (
        Variant(name=f"preset-{name}", settings={"recall.preset": name}, needs="dates")
        for name in ("balanced", "recent")
        if name in settings.score.presets and name != recall.preset
    )
    for count in (max(1, round(recall.candidates * FEWER)), recall.candidates * MORE):
        yield Variant(name=f"candidates-{count}", settings={"recall.candidates": count})
    yield Variant(name="no-dense-floor", settings={"recall.dense_floor": -1.0}, needs="vectors")
    yield Variant(name="decay", needs="history", decayed=True)
    yield from (
        Variant(name=f"no-{name.replace('_', '-')}", needs="history", ignores=(name,))
        for name in ("as_of", "known_at")
    )
    yield from _switches(settings)
    yield from _links(settings)
    yield from _history(settings)


def _without(settings: Settings, name: str, needs: str, *keys: str) -> Iterator[Variant]:
    """Yield recall with these feature weights set to 0; nothing where all are 0 already."""
    if any(settings.recall.weights[key] for key in keys):
        yield Variant(
            name=f"no-{name}", settings={"recall.weights": dict.fromkeys(keys, 0.0)}, needs=needs
        )


def _switches(settings: Settings) -> Iterator[Variant]:
    """Yield one variant for every switch of recall.

    A stage that can be turned off is ablated without being named here.
    """
    for name, value in as_dict(settings)["recall"].items():
        if isinstance(value, bool):
            yield Variant(
                name=f"{name.replace('_', '-')}-{'off' if value else 'on'}",
                settings={f"recall.{name}": not value},
            )


def _links(settings: Settings) -> Iterator[Variant]:
    """Yield the spread along links taken away, by its parts and in its other modes.

    And times that questions name left alone.
    """
    yield from _without(settings, "period", "dates", "period")
    yield from _without(settings, "repeat", "", "repeat")
    yield from _without(settings, "sections", "sections", "section", "section_long")
    yield from _without(settings, "names-in-question", "", "named")
    yield from _without(settings, "paths", "", "path")
    if not settings.spread.enabled:
        yield Variant(name="spread", settings={"spread.enabled": True})
        return
    yield Variant(name="no-spread", settings={"spread.enabled": False})
    yield Variant(
        name=f"hops-{1 if settings.spread.hops > 1 else 2}",
        settings={"spread.hops": 1 if settings.spread.hops > 1 else 2},
    )
    yield from (
        Variant(
            name=f"no-links-{kind.lower().replace('_', '-')}",
            settings={"spread.weights": {kind: 0.0}},
        )
        for kind, weight in sorted(settings.spread.weights.items())
        if weight
    )
    yield from (
        Variant(name=f"spread-{mode}", settings={"spread.mode": mode})
        for mode in ("expected", "sampled", "pagerank")
        if mode != settings.spread.mode
    )


def _history(settings: Settings) -> Iterator[Variant]:
    """Yield TraceRank whole and factor by factor, and the metadata score.

    Turned on where they are off, and off where they are on.
    """
    on = settings.tracerank.enabled
    yield Variant(
        name="no-tracerank" if on else "tracerank", settings={"tracerank.enabled": not on}
    )
    for factor in FACTORS:
        if on:
            counts = getattr(settings.tracerank, factor)
            yield Variant(
                name=f"no-tracerank-{factor}" if counts else f"tracerank-{factor}",
                settings={f"tracerank.{factor}": not counts},
            )
        if not on:
            alone = {f"tracerank.{each}": each == factor for each in FACTORS}
            yield Variant(name=f"tracerank-{factor}", settings={"tracerank.enabled": True, **alone})
    weight = settings.score.meta_weight
    yield Variant(
        name="no-meta" if weight else "meta",
        settings={"score.meta_weight": 0.0 if weight else META_WEIGHT},
    )


def variant_of(text: str) -> Variant:
    """Read a variant written as name:key=value,key=value; the key recipe names a recipe.

    >>> made = variant_of("wide:recall.candidates=500,recipe=fast")
    >>> made.name, made.settings, made.recipe
    ('wide', {'recall.candidates': '500'}, 'fast')
    """
    name, colon, rest = text.partition(":")
    pairs = [part.partition("=") for part in rest.split(",")]
    if not colon or not name.strip() or not all(key.strip() and equals for key, equals, _ in pairs):
        raise InputError(
            "variant",
            text,
            "is not NAME:KEY=VALUE[,KEY=VALUE]",
            "Write it as --variant wide:recall.candidates=500.",
        )
    given: dict[str, Any] = {key.strip(): value.strip() for key, _, value in pairs}
    recipe = given.pop("recipe", None)
    return Variant(name=name.strip(), settings=given, recipe=recipe)


def ablate(
    plan: Plan,
    *,
    variants: Sequence[Variant] = (),
    usual: bool = True,
    only: Sequence[str] = (),
    watch: Watch,
) -> Report:
    """Ask the configuration and every variant every question, and say what each alteration did to the headline measure."""
    chosen = _chosen(plan, variants, usual=usual, only=only)
    with prepared(plan, watch) as ready:
        fitting, notes = _fitting(chosen, ready)
        depth = ready.depth
        answers, errors = asked(ready, SYSTEMS, (), depth=depth, progress=watch.progress)
        terms = replace(
            ready.terms,
            notes=(*ready.terms.notes, *depth_note(ready, depth), *notes),
            errors=errors,
        )
        result = result_of(
            ready.index, answers, terms
        )  # refuses a set that cannot tell systems apart
        altered = {
            each.name: variant_answers(ready, each, depth=depth, progress=watch.progress)
            for each in fitting
        }
        ablations = ablations_of(ready, answers[FULL], altered, terms)
        samples = samples_of(
            ready.index, {**answers, **altered}, level=terms.level, measured=terms.measured
        )
        return Report(
            replace(result, kind="ablate", ablations=ablations),
            samples,
            timings_of({**answers, **altered}, jobs=plan.jobs),
        )


def _chosen(
    plan: Plan, variants: Sequence[Variant], *, usual: bool, only: Sequence[str]
) -> list[Variant]:
    """Return the variants by name, each checked against the settings before anything is loaded."""
    settings = plan.loaded().settings
    known = {each.name: each for each in usual_variants(settings)} if usual else {}
    for name in only:
        if name not in known:
            way_out = f"Use some of {', '.join(known)}." if known else "Leave out --no-usual."
            raise InputError("only", name, "is not a usual variant", way_out)
    chosen = [*(each for each in known.values() if not only or each.name in only), *variants]
    names = [each.name for each in chosen]
    for name in names:
        if names.count(name) > 1 or name in SYSTEMS:
            raise InputError(
                "variant", name, "is the name of two rows", "Give every variant a name of its own."
            )
    if not chosen:
        raise InputError(
            "variant",
            "",
            "there is none to try",
            "Name one with --variant, or leave out --no-usual.",
        )
    for each in chosen:
        recipe = {"recall.recipe": each.recipe} if each.recipe is not None else {}
        load_settings(plan.config, overrides={**as_dict(settings), **each.settings, **recipe})
    return chosen


def _fitting(variants: Sequence[Variant], ready: Prepared) -> tuple[list[Variant], tuple[str, ...]]:
    """Return the variants that a set can show, and a note on each that it cannot."""
    dataset, vectors = ready.index.dataset, ready.index.embedder is not None
    has = {
        "": True,
        "vectors": vectors,
        "dates": _dated(dataset),
        "history": bool(dataset.history),
        "sections": any(passage.section or passage.messages for passage in dataset.passages),
    }
    reasons = {
        "vectors": "there is no model",
        "dates": "the texts do not differ in date",
        "sections": "the texts have no neighbours",
        "history": "nothing happened to the texts",
    }
    # Of a history nobody has to be told that a set does not have one.
    left = [
        f"Left out, as {reasons[each.needs]}: {each.name}."
        for each in variants
        if not has[each.needs] and each.needs != "history"
    ]
    return [each for each in variants if has[each.needs]], tuple(left)


def _dated(dataset: Dataset) -> bool:
    return len({passage.time for passage in dataset.passages}) > 1


def variant_answers(
    ready: Prepared, variant: Variant, *, depth: int, progress: Progress
) -> Answers:
    """Return the answers of the configuration with something altered."""
    plan = ready.plan
    system = System(
        name=variant.name,
        policy=SingleHop(k=depth),
        recipe=variant.recipe,
        settings=variant.settings,
        ignores=variant.ignores,
        decayed=variant.decayed,
    )
    answers = answers_of(ready.index, system, cache=plan.cache, jobs=plan.jobs, progress=progress)
    return cut(answers, ready.index.passages, levels=ready.levels, k=plan.k)


def ablations_of(
    ready: Prepared, full: Answers, altered: Mapping[str, Answers], terms: Terms
) -> tuple[Ablation, ...]:
    """Compare every variant with the full configuration, corrected for how many there are.

    One that changed nothing is an error.
    """
    rankings = runs({FULL: full, **altered})
    changed = {name: _changed(name, rankings[FULL], rankings[name]) for name in altered}
    columns = {
        name: column(values, terms.headline)
        for name, values in scores_of(ready.index, {FULL: full, **altered}, terms).items()
    }
    met = {
        name: compare(columns[FULL], columns[name], seed=terms.seed, resamples=terms.resamples)
        for name, count in changed.items()
        if isinstance(count, int)
    }
    corrected = holm({name: each.p for name, each in met.items()})
    return tuple(
        Ablation(variant=name, measure=terms.headline, changed=0, error=str(count))
        if not isinstance(count, int)
        else Ablation(
            variant=name,
            measure=terms.headline,
            value=sum(columns[name].values()) / len(columns[name]),
            delta=met[name].mean_difference,
            ci=met[name].ci,
            p=met[name].p,
            p_holm=corrected[name],
            changed=count,
            by_category=_category_deltas(ready.index.dataset, columns[FULL], columns[name]),
        )
        for name, count in changed.items()
    )


def _category_deltas(
    dataset: Dataset, full: Mapping[str, float], altered: Mapping[str, float]
) -> dict[str, float]:
    """Return the mean change of each category."""
    found: dict[str, list[float]] = {}
    for query in dataset.queries:
        if query.category and query.id in full:
            found.setdefault(query.category, []).append(altered[query.id] - full[query.id])
    return {category: fmean(deltas) for category, deltas in sorted(found.items())}


def _changed(
    name: str, full: Mapping[str, Sequence[str]], altered: Mapping[str, Sequence[str]]
) -> int | str:
    try:
        return require_change(name, full, altered)
    except RefusedError:
        return NO_EFFECT
