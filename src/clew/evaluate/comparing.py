"""Does a second hop pay? Policies on the same store, question by question.

`clew eval compare` is this.

    equal   both examine the budget and return all of it
    1.5x    both return the same slots (budget / 1.5); the policy examines the whole budget for them

Both rankings come from the same scorer against the original question (`Searcher.order`). A budget
counts chunks shown to the policy, so nothing is asked deeper than the policy asks: at the level of
files or sessions a policy has as many keys as its chunks bring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from clew.errors import InputError
from clew.evaluate.answering import Answers, answers_of
from clew.evaluate.data import CODE_SETS, Answer, Dataset
from clew.evaluate.expansion import CodeExpander, Expander, FollowNames, ProseExpander, frequencies
from clew.evaluate.measures import Measure, column
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.policies import MultiHop, SingleHop
from clew.evaluate.report import BASELINE, PolicySample, Report, Result, Versus
from clew.evaluate.running import Prepared, prepared
from clew.evaluate.samples import counted_cost, mean_cost, timings_of
from clew.evaluate.significance import compare, holm
from clew.evaluate.systems import System, system
from clew.evaluate.tables import Terms, result_of, scores_of
from clew.search.recipes import NAMES as RECIPES

SINGLE = "single-hop"
POLICIES = (SINGLE, "multi-hop", "follow-names")
EQUAL, LARGER = "equal", "1.5x"
BUDGETS = (EQUAL, LARGER)
EXTRA = 1.5  # how much more a policy may examine than one search for the same number of hits
EXPANDERS: Mapping[str, Callable[[Mapping[str, Mapping[str, int]]], Expander]] = {
    "code": CodeExpander,
    "prose": ProseExpander,
}
LIMITS = (("budget", 500), ("hops", 10), ("chunks_per_hop", 500))

Scores = Mapping[str, Mapping[str, Mapping[str, float]]]
"""For each system and question the value of each measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Which policies meet one search, and on what budget of chunks.

    `recipe` is how each searches (empty: as configured), `expander` what multi-hop follows (empty:
    symbols in sets of code, names elsewhere).
    """

    policies: tuple[str, ...] = POLICIES[:2]
    budget: int = 15
    hops: int = 2
    chunks_per_hop: int = 5
    early_stop: bool = True
    expander: str = ""
    recipe: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be compared."""
        if not self.several or not set(self.policies) <= set(POLICIES):
            named, known = ",".join(self.policies), ",".join(POLICIES)
            raise InputError("policies", named, "cannot be compared", f"Use {known}.")
        for name, most in LIMITS:
            if not 1 <= getattr(self, name) <= most:
                way_out = f"The default is {getattr(Contest(), name)}."
                problem = f"must lie between 1 and {most}"
                raise InputError(name, getattr(self, name), problem, way_out)
        if self.expander and self.expander not in EXPANDERS:
            way_out = f"Use {' or '.join(EXPANDERS)}."
            raise InputError("expander", self.expander, "is not an expander", way_out)
        if self.recipe and self.recipe not in RECIPES:
            way_out = f"Use one of {', '.join(RECIPES)}."
            raise InputError("recipe", self.recipe, "is not a recipe", way_out)

    @property
    def several(self) -> tuple[str, ...]:
        """The policies of several hops."""
        return tuple(name for name in self.policies if name != SINGLE)

    @property
    def slots(self) -> int:
        """How many hits are returned where a policy may examine half as many chunks more."""
        return max(1, round(self.budget / EXTRA))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many hits single searches are asked for."""
        return tuple(dict.fromkeys((self.slots, self.budget)))

    def expander_of(self, dataset: Dataset) -> str:
        """Return which way to expand a set: by its symbols or by its names."""
        return self.expander or ("code" if dataset.name in CODE_SETS else "prose")

    def sides(self, policy: str, budget: str) -> tuple[str, str]:
        """Return the names of the two systems that meet under a budget."""
        if budget == EQUAL:
            return f"{SINGLE}@{self.budget}", f"{policy}@{self.budget}"
        return f"{SINGLE}@{self.slots}", f"{policy}@{self.budget}, first {self.slots}"


def policy(name: str, contest: Contest, dataset: Dataset) -> MultiHop:
    """Return a policy of several hops by its name, with what it follows in a dataset."""
    kind, counts = contest.expander_of(dataset), frequencies(dataset.passages)
    follow = FollowNames(counts, code=kind == "code")
    return MultiHop(
        name=name,
        expander=follow if name == "follow-names" else EXPANDERS[kind](counts),
        k=contest.budget,
        hops=contest.hops,
        chunks_per_hop=contest.chunks_per_hop,
        budget=contest.budget,
        early_stop=contest.early_stop,
    )


def contest_answers(ready: Prepared, contest: Contest, watch: Watch) -> dict[str, Answers]:
    """Let the floors, the single searches and every policy answer every question."""
    plan, index, budget = ready.plan, ready.index, contest.budget
    ask = partial(answers_of, index, cache=plan.cache, jobs=plan.jobs, progress=watch.progress)
    recipe = contest.recipe or None
    floors = (BASELINE, "dense") if index.embedder is not None else (BASELINE,)
    answers = {name: ask(system(name, depth=budget)) for name in floors}
    for size in contest.sizes:
        name = f"{SINGLE}@{size}"
        once = SingleHop(k=size, rescored=True)
        answers[name] = ask(System(name=name, policy=once, recipe=recipe))
    for name in contest.several:
        whole = contest.sides(name, EQUAL)[1]
        hopping = policy(name, contest, index.dataset)
        answers[whole] = ask(System(name=whole, policy=hopping, recipe=recipe))
        answers[contest.sides(name, LARGER)[1]] = first(answers[whole], contest.slots)
    return answers


def first(answers: Answers, slots: int) -> dict[str, Answer]:
    """Return the answers with only so many hits each; what was examined stays on the account."""
    return {id: replace(one, ranking=one.ranking[:slots]) for id, one in answers.items()}


def compare_policies(plan: Plan, contest: Contest, watch: Watch) -> Report:
    """Compare every policy with one search under both budgets."""
    with prepared(replace(plan, k=contest.budget), watch) as ready:
        terms = _with_budget(ready.terms, plan, contest)
        answers = contest_answers(ready, contest, watch)
        scores = scores_of(ready.index, answers, terms)
        samples = tuple(policy_samples(ready, answers, scores, contest, terms.headline))
        result = _compared(result_of(ready.index, answers, terms), answers, scores, terms, contest)
        return Report(result, samples, timings_of(answers, jobs=plan.jobs))


def policy_samples(
    ready: Prepared,
    answers: Mapping[str, Answers],
    scores: Scores,
    contest: Contest,
    headline: str,
) -> Iterator[PolicySample]:
    """Yield one sample for each question, policy and budget."""
    dataset, plan = ready.index.dataset, ready.plan
    for name in contest.several:
        for budget in BUDGETS:
            one, other = contest.sides(name, budget)
            for query in dataset.queries:
                if headline not in scores[one][query.id]:
                    continue
                yield PolicySample.of(
                    dataset=dataset.name,
                    part=dataset.part,
                    chunker=plan.chunker,
                    embedder=plan.loaded().settings.model.embedder,
                    policy=name,
                    budget=budget,
                    query_id=query.id,
                    category=query.category,
                    single=scores[one][query.id],
                    multi=scores[other][query.id],
                    cost={
                        "single": counted_cost(answers[one][query.id]),
                        "multi": counted_cost(answers[other][query.id]),
                    },
                    hops_used=answers[other][query.id].hops_used,
                    stopped=answers[other][query.id].stopped,
                )


def _with_budget(terms: Terms, plan: Plan, contest: Contest) -> Terms:
    """Measure also how much of the evidence is among all that the budget allowed to see."""
    whole = (Measure("recall", contest.budget), Measure("all", contest.budget))
    expander = contest.expander or "as the set asks for"
    note = (
        f"Budget {contest.budget} chunks, {contest.slots} slots, {contest.hops} hops, "
        f"{contest.chunks_per_hop} chunks per hop, expanded by {expander}; recipe "
        f"{contest.recipe or 'as configured'}; all ordered by the same scorer."
    )
    measured = tuple(dict.fromkeys((*terms.measured, *(() if plan.measures else whole))))
    return replace(terms, measured=measured, notes=(*terms.notes, note))


def _compared(
    result: Result,
    answers: Mapping[str, Answers],
    scores: Scores,
    terms: Terms,
    contest: Contest,
) -> Result:
    """Add every policy against one search by the headline and by all that was seen, and costs."""
    whole = f"recall@{contest.budget}"
    names = [terms.headline] + [whole] * (whole in {str(each) for each in terms.measured})
    pairs = [
        (*contest.sides(name, budget), measure)
        for name in contest.several
        for budget in BUDGETS
        for measure in dict.fromkeys(names if budget == EQUAL else names[:1])
    ]
    met = {
        (one, other, name): compare(
            column(scores[one], name),
            column(scores[other], name),
            seed=terms.seed,
            resamples=terms.resamples,
        )
        for one, other, name in pairs
    }
    corrected = holm({"\0".join(pair): each.p for pair, each in met.items()})
    versus = tuple(
        Versus.of(
            each,
            baseline=one,
            variant=other,
            measure=name,
            p_holm=corrected[f"{one}\0{other}\0{name}"],
        )
        for (one, other, name), each in met.items()
    )
    ratios = {
        f"{other} / {one}": cost_ratios(answers[other], answers[one]) for one, other, _ in pairs
    }
    comparisons = (*result.comparisons, *versus)
    return replace(result, kind="compare", comparisons=comparisons, ratios=ratios)


def cost_ratios(one: Answers, other: Answers) -> dict[str, float]:
    """Return how many times each mean cost of the other the one spends, where the other has it."""
    spent, base = mean_cost(one), mean_cost(other)
    return {name: spent[name] / base[name] for name in spent if base.get(name)}
