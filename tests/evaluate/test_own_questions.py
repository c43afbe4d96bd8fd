"""Questions of one's own: made from a store, measured, explained, and watched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import clew
from clew.errors import InputError
from clew.evaluate.own_advice import run_mine
from clew.evaluate.own_questions import EvaluationFile, memories_of, proposals, propose
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import RunSample
from clew.evaluate.report.files import write
from clew.evaluate.running import run
from clew.evaluate.watching import verdict, watch_baseline, watch_settings
from tests.evaluate.sample import documents


def made(folder: Path, *, count: int = 30) -> Path:
    with clew.open(folder / "s.clew", model={"embedder": "none"}) as memory:
        memory.remember_many([each["text"] for each in documents()])
        found = EvaluationFile({"default": memories_of(memory, "default")})
    for proposal in proposals(found.memories, count=count, seed=0):
        found.accept(proposal, proposal.question)
    found.write(folder / "clew-eval")
    return folder / "clew-eval"


def plan_of(folder: Path) -> Plan:
    settings = {"model.embedder": "hashing-64"}
    return Plan(
        dataset="mine", path=folder, resamples=300, cache=folder / "cache", settings=settings
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("own"))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The staging database is pg-stage-3 on port 5433.", "What is the staging database?"),
        ("Marit's dentist is Dr Amrani at the Griftpark practice.", "Who is Marit's dentist?"),
        ("Marit prefers trains for anything beyond two hours.", "What does Marit prefer?"),
        ("Siebe plays the trombone in the attic.", "What does Siebe play?"),
        (
            "Groceries are ordered from Picnic for Tuesday evening.",
            "What is known about Groceries and ordered?",
        ),
        ("ok then", ""),
    ],
)
def test_a_question_is_proposed_by_the_first_rule_that_fits(text: str, question: str) -> None:
    assert propose(text, {}) == question


def test_rare_words_are_asked_for_and_the_rest_is_left_to_be_found() -> None:
    counts = {"harbour": 9, "gantry": 1, "crane": 2, "paint": 9, "night": 9}
    assert (
        propose("At night they paint the gantry crane.", counts)
        == "What is known about gantry and crane?"
    )


def test_which_memories_are_drawn_depends_on_the_seed_alone(tmp_path: Path) -> None:
    with clew.open(tmp_path / "s.clew", model={"embedder": "none"}) as memory:
        memory.remember_many([each["text"] for each in documents()])
        spaces = {"default": memories_of(memory, "default")}
    first, again, other = (
        [each.node.id for each in proposals(spaces, count=9, seed=seed)] for seed in (3, 3, 4)
    )
    assert first == again != other
    assert len(set(first)) == 9


def test_the_file_is_not_written_over(folder: Path) -> None:
    with pytest.raises(InputError, match="is there already"):
        EvaluationFile({}, {}).write(folder)


def test_what_was_missed_is_told_with_its_reason(folder: Path) -> None:
    report = run_mine(
        replace(
            plan_of(folder),
            k=1,
            settings={"model.embedder": "hashing-64", "recall.recipe": "dense"},
            measures=("hit@1",),
        ),
        Watch(),
    )
    clew_row = {
        each.query_id: each.measures["hit@1"]
        for each in report.samples
        if isinstance(each, RunSample) and each.system == "clew"
    }
    assert {each.query_id for each in report.result.missed} == {
        id for id, hit in clew_row.items() if not hit
    }
    for each in report.result.missed:
        assert each.sentence
        assert each.stage
        assert each.text


def test_settings_that_are_better_beyond_chance_are_told_with_their_key(folder: Path) -> None:
    poor = replace(
        plan_of(folder), settings={"model.embedder": "hashing-64", "recall.recipe": "dense"}
    )
    result = run_mine(poor, Watch()).result
    better = [note for note in result.notes if "better by" in note]
    assert any("set recall.recipe to lexical" in note for note in better)
    lexical = next(each for each in result.ablations if each.variant == "recipe-lexical")
    assert lexical.delta is not None
    assert lexical.ci is not None
    assert lexical.ci.low > 0
    assert any("None of" in note for note in run_mine(plan_of(folder), Watch()).result.notes)


def test_a_loss_is_told_and_a_gain_is_not_one(folder: Path) -> None:
    plan = plan_of(folder)
    poor = {"recall.recipe": "dense"}
    gain = watch_settings(plan, poor, Watch())
    assert gain.delta > 0
    assert not gain.lost
    loss = watch_settings(
        replace(plan, settings={**plan.settings, **poor}), {"recall.recipe": "balanced"}, Watch()
    )
    assert loss.lost
    assert loss.delta == pytest.approx(-gain.delta)
    assert loss.worse
    assert loss.ci.high < 0


def test_a_version_is_compared_with_the_report_of_an_earlier_one(
    folder: Path, tmp_path: Path
) -> None:
    plan = plan_of(folder)
    write(tmp_path / "base", run(plan, systems=("clew",), watch=Watch(), saturated=True))
    same = watch_baseline(plan, tmp_path / "base", Watch())
    assert (same.delta, same.lost, same.p) == (0.0, False, 1.0)
    worse = replace(plan, settings={**plan.settings, "recall.recipe": "dense"})
    assert watch_baseline(worse, tmp_path / "base", Watch()).lost


def test_a_baseline_on_other_data_is_refused(folder: Path, tmp_path: Path) -> None:
    report = run(plan_of(folder), systems=("clew",), watch=Watch(), saturated=True)
    other = replace(report, result=replace(report.result, data_hash="other"))
    with pytest.raises(InputError, match="another data hash"):
        verdict(other, report)
