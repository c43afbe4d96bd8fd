"""How good is recall on a person's own questions, what would be better, and what was missed and why?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clew.evaluate.ablating import FULL, Variant, ablations_of, variant_answers
from clew.evaluate.measures import relevant_at
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import Ablation, Missed, Report
from clew.evaluate.running import Prepared, asked, depth_note, prepared
from clew.evaluate.samples import samples_of, timings_of
from clew.evaluate.tables import result_of
from clew.settings import Settings

LEVEL = 0.05
MOST_MISSED = 50
SYSTEMS = ("bm25", "dense", FULL)


def settings_to_try(settings: Settings) -> tuple[Variant, ...]:
    """Return the choices that a user has, each as one change of the configuration in force."""
    recall = settings.recall
    presets = [name for name in settings.score.presets if name != recall.preset]
    return (
        *(Variant(name=f"preset-{name}", settings={"recall.preset": name}) for name in presets),
        Variant(
            name=f"candidates-{recall.candidates * 3}",
            settings={"recall.candidates": recall.candidates * 3},
        ),
        *(
            Variant(name=f"recipe-{name}", recipe=name)
            for name in ("fast", "thorough", "lexical", "dense")
            if name != recall.recipe
        ),
        Variant(
            name="without-links" if settings.spread.enabled else "with-links",
            settings={"spread.enabled": not settings.spread.enabled},
        ),
        Variant(
            name="without-history" if settings.tracerank.enabled else "with-history",
            settings={"tracerank.enabled": not settings.tracerank.enabled},
        ),
    )


def run_mine(plan: Plan, watch: Watch) -> Report:
    """Measure recall on a person's questions, try other settings, and explain what was missed.

    A set on which everything is right is told as that and not refused: there is nothing to improve.
    """
    variants = settings_to_try(plan.loaded().settings)
    with prepared(plan, watch) as ready:
        depth = ready.depth
        answers, errors = asked(ready, SYSTEMS, (), depth=depth, progress=watch.progress)
        notes = (*ready.terms.notes, *depth_note(ready, depth))
        terms = replace(ready.terms, notes=notes, errors=errors)
        result = result_of(ready.index, answers, terms, saturated=True)
        kept = [each for each in variants if each.recipe != "dense" or ready.index.embedder]
        altered = {
            each.name: variant_answers(ready, each, depth=depth, progress=watch.progress)
            for each in kept
        }
        tried = ablations_of(ready, answers[FULL], altered, terms)
        rankings = {id: answer.ranking for id, answer in answers[FULL].items()}
        missed = missed_by(ready, rankings)
        advice = advice_of(tried, {each.name: each for each in kept})
        made = replace(
            result,
            ablations=tuple(each for each in tried if each.changed),
            missed=missed,
            notes=(*result.notes, *advice),
        )
        samples = samples_of(ready.index, answers, level=terms.level, measured=terms.measured)
        return Report(made, samples, timings_of(answers, jobs=plan.jobs))


def advice_of(tried: tuple[Ablation, ...], variants: Mapping[str, Variant]) -> tuple[str, ...]:
    """Say which settings are better beyond chance, or that none is."""
    better = [
        each
        for each in tried
        if each.delta is not None
        and each.delta > 0
        and each.p_holm is not None
        and each.p_holm < LEVEL
    ]
    if not better:
        return (f"None of {len(tried)} other settings is better beyond chance: keep yours.",)
    return tuple(
        f"{each.variant} is better by {100 * (each.delta or 0):.1f} points of {each.measure} "
        f"(p {each.p_holm:.3f} after Holm): {_how(variants[each.variant])}."
        for each in sorted(better, key=lambda each: -(each.delta or 0))
    )


def _how(variant: Variant) -> str:
    if variant.recipe is not None:
        return f"set recall.recipe to {variant.recipe}"
    return ", ".join(f"set {key} to {value}" for key, value in variant.settings.items())


def missed_by(ready: Prepared, rankings: Mapping[str, tuple[str, ...]]) -> tuple[Missed, ...]:
    """Return what was needed and not found among the k hits, with the reason."""
    index, level = ready.index, ready.terms.level
    found: list[Missed] = []
    nodes = {passage.id: node for node, passage in reversed(list(index.nodes.items()))}
    with index.structured.variant() as memory:
        for query in index.dataset.queries:
            for key in relevant_at(query, level):
                if key in rankings[query.id] or key not in nodes or len(found) == MOST_MISSED:
                    continue
                why = memory.why_not(
                    query.text, nodes[key], k=ready.plan.k, where={"space": query.space}
                )
                found.append(
                    Missed(
                        query_id=query.id,
                        question=query.text,
                        needed=key,
                        text=index.passages[key].text,
                        stage=why.stage,
                        reason=why.reason,
                        rank=why.rank,
                        sentence=why.sentence,
                    )
                )
    return tuple(found)
