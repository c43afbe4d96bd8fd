"""Does a second hop pay? Policies on the same store with the same budget, question by question.

`clew eval compare` is this.

    single-hop@K        one search, K chunks                         what a caller gets by default
    single-hop@BUDGET   one search, as many chunks as multi-hop may see: the fair opponent
    multi-hop@BUDGET    search, read, search for what was named; everything seen, ordered by the
                        original question

A budget counts chunks shown to the policy, so nothing is asked deeper here than the policy asks: at
the level of files or sessions a policy has as many keys as its chunks bring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from clew.errors import InputError
from clew.evaluate.answering import Answers, answers_of
from clew.evaluate.data import Dataset
from clew.evaluate.expansion import CodeExpander, Expander, ProseExpander, frequencies
from clew.evaluate.measures import Measure, column
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.policies import MultiHop, SingleHop
from clew.evaluate.report import BASELINE, Report, Result, Versus
from clew.evaluate.running import Prepared, prepared
from clew.evaluate.samples import mean_cost, policy_samples, timings_of
from clew.evaluate.statistics import compare, holm
from clew.evaluate.systems import System, system
from clew.evaluate.tables import Terms, result_of, scores_of
from clew.search.recipes import NAMES as RECIPES

POLICIES = ("single-hop", "multi-hop")
CODE_SETS = frozenset({"swe-qa", "semble", "swe-bench", "repoeval", "repobench-r"})
EXPANDERS: Mapping[str, Callable[[Mapping[str, Mapping[str, int]]], Expander]] = {
    "code": CodeExpander,
    "prose": ProseExpander,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Which policies meet, and on what budget of chunks; `recipe` is how each searches (empty.

    As configured).
    """

    policies: tuple[str, ...] = POLICIES
    budget: int = 15
    hops: int = 2
    chunks_per_hop: int = 5
    expander: str = ""
    recipe: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be compared."""
        if "multi-hop" not in self.policies or not set(self.policies) <= set(POLICIES):
            raise InputError(
                "policies",
                ",".join(self.policies),
                "cannot be compared",
                f"Use {','.join(POLICIES)}.",
            )
        for name, most in (("budget", 500), ("hops", 10), ("chunks_per_hop", 500)):
            if not 1 <= getattr(self, name) <= most:
                raise InputError(
                    name,
                    getattr(self, name),
                    f"must lie between 1 and {most}",
                    f"The default is {getattr(Contest(), name)}.",
                )
        if self.expander and self.expander not in EXPANDERS:
            raise InputError(
                "expander", self.expander, "is not an expander", f"Use {' or '.join(EXPANDERS)}."
            )
        if self.recipe and self.recipe not in RECIPES:
            raise InputError(
                "recipe", self.recipe, "is not a recipe", f"Use one of {', '.join(RECIPES)}."
            )

    def expander_of(self, dataset: Dataset) -> str:
        """Return which way to expand a set: by its symbols or by its names."""
        return self.expander or ("code" if dataset.name in CODE_SETS else "prose")


def compare_policies(plan: Plan, contest: Contest, watch: Watch) -> Report:
    """Let the policies answer every question.

    Each is compared with the same K and with the same budget.
    """
    with prepared(plan, watch) as ready:
        terms = _with_budget(ready.terms, plan, contest)
        answers = {
            each.name: answers_of(
                ready.index, each, cache=plan.cache, jobs=plan.jobs, progress=watch.progress
            )
            for each in contenders(ready, contest)
        }
        single, multi = f"single-hop@{contest.budget}", f"multi-hop@{contest.budget}"
        met = {
            "single": answers[single],
            "multi": answers[multi],
            f"single-hop@{plan.k}": answers[f"single-hop@{plan.k}"],
        }
        samples = policy_samples(ready.index, met, level=terms.level, measured=terms.measured)
        result = _compared(result_of(ready.index, answers, terms), ready, answers, terms, contest)
        return Report(result, samples, timings_of(answers, jobs=plan.jobs))


def contenders(ready: Prepared, contest: Contest) -> list[System]:
    """Return the floor and the policies, each as a system of its own."""
    plan, dataset = ready.plan, ready.index.dataset
    expander = EXPANDERS[contest.expander_of(dataset)](frequencies(dataset.passages))
    recipe = contest.recipe or None
    sizes = dict.fromkeys((plan.k, contest.budget))
    singles = [
        System(name=f"single-hop@{size}", policy=SingleHop(k=size), recipe=recipe) for size in sizes
    ]
    hopping = MultiHop(
        expander=expander,
        k=contest.budget,
        hops=contest.hops,
        chunks_per_hop=contest.chunks_per_hop,
        budget=contest.budget,
    )
    floors = [
        system(name, depth=max(sizes))
        for name in (BASELINE, "dense")
        if name == BASELINE or ready.index.embedder is not None
    ]
    return [
        *floors,
        *singles,
        System(name=f"multi-hop@{contest.budget}", policy=hopping, recipe=recipe),
    ]


def _with_budget(terms: Terms, plan: Plan, contest: Contest) -> Terms:
    """Measure also how much of the evidence is among all that the budget allowed to see."""
    whole = (Measure("recall", contest.budget), Measure("all", contest.budget))
    expander = (
        f"expanded by {contest.expander}" if contest.expander else "expanded as the set asks for"
    )
    note = (
        f"Budget {contest.budget} chunks, {contest.hops} hops, {contest.chunks_per_hop} chunks per hop, {expander}; "
        f"recipe {contest.recipe or 'as configured'}."
    )
    measured = tuple(dict.fromkeys((*terms.measured, *(() if plan.measures else whole))))
    return replace(terms, measured=measured, notes=(*terms.notes, note))


def _compared(
    result: Result, ready: Prepared, answers: Mapping[str, Answers], terms: Terms, contest: Contest
) -> Result:
    """Add multi-hop against each single-hop policy by the headline and by all that was seen, and the ratios of cost."""
    scores = scores_of(ready.index, answers, terms)
    multi = f"multi-hop@{contest.budget}"
    pairs = [
        (single, name)
        for single in answers
        if single.startswith("single-hop@")
        for name in _asked_measures(terms, contest, single)
    ]
    met = {
        pair: compare(
            column(scores[pair[0]], pair[1]),
            column(scores[multi], pair[1]),
            seed=terms.seed,
            resamples=terms.resamples,
        )
        for pair in pairs
    }
    corrected = holm({"\0".join(pair): each.p for pair, each in met.items()})
    versus = tuple(
        Versus.of(
            each,
            baseline=single,
            variant=multi,
            measure=name,
            p_holm=corrected[f"{single}\0{name}"],
        )
        for (single, name), each in met.items()
    )
    ratios = {
        f"{multi} / {single}": cost_ratios(answers[multi], answers[single])
        for single in dict(pairs)
    }
    return replace(result, comparisons=(*result.comparisons, *versus), ratios=ratios)


def _asked_measures(terms: Terms, contest: Contest, single: str) -> Sequence[str]:
    """Return the headline, and against the same budget also what was found in all that was seen."""
    names = [str(each) for each in terms.measured]
    whole = (
        [f"recall@{contest.budget}", f"all@{contest.budget}"]
        if single == f"single-hop@{contest.budget}"
        else []
    )
    return list(dict.fromkeys((terms.headline, *(name for name in whole if name in names))))


def cost_ratios(one: Answers, other: Answers) -> dict[str, float]:
    """Return how many times each mean cost of the other the one spends.

    A cost that the other does not have is left out.
    """
    spent, base = mean_cost(one), mean_cost(other)
    return {name: spent[name] / base[name] for name in spent if base.get(name)}
