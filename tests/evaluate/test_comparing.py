"""Policies against each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clew.errors import InputError
from clew.evaluate.comparing import Contest, compare_policies, cost_ratios
from clew.evaluate.data import Answer, Cost
from clew.evaluate.datasets import catalogue
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import PolicySample, Report
from clew.evaluate.report.files import load, write
from tests.evaluate.sample import beir_folder, dataset_of, questions


def plan_in(folder: Path) -> Plan:
    settings = {"model.embedder": "hashing-64"}
    return Plan(
        dataset="beir",
        path=beir_folder(folder),
        resamples=200,
        cache=folder / "cache",
        settings=settings,
    )


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_in(tmp_path)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return compare_policies(plan_in(tmp_path_factory.mktemp("report")), Contest(), Watch())


def test_several_hops_meet_one_search_under_both_budgets(report: Report) -> None:
    assert [row.system for row in report.result.rows] == [
        "bm25",
        "dense",
        "single-hop@10",
        "single-hop@15",
        "multi-hop@15",
        "multi-hop@15, first 10",
    ]
    headline = report.result.measure
    pairs = {
        (each.baseline, each.variant, each.measure)
        for each in report.result.comparisons
        if each.baseline != "bm25"
    }
    assert pairs == {
        ("single-hop@15", "multi-hop@15", headline),
        ("single-hop@15", "multi-hop@15", "recall@15"),
        ("single-hop@10", "multi-hop@15, first 10", headline),
    }


def test_every_question_has_single_multi_delta_percent_identity_and_cost(report: Report) -> None:
    assert len(report.samples) == 2 * len(questions())
    for sample in report.samples:
        assert isinstance(sample, PolicySample)
        assert (sample.dataset, sample.part, sample.embedder, sample.policy) == (
            "beir",
            "test",
            "hashing-64",
            "multi-hop",
        )
        assert sample.delta.keys() == sample.single.keys() == sample.multi.keys()
        assert all(
            sample.delta[name] == sample.multi[name] - sample.single[name] for name in sample.delta
        )
        assert sample.percent.keys() == {name for name, value in sample.single.items() if value}
        most = {"equal": (15, 15), "1.5x": (10, 15)}[sample.budget]
        assert sample.cost["single"]["chunks_examined"] <= most[0]
        assert sample.cost["multi"]["chunks_examined"] <= most[1]
        assert (
            sample.cost_ratios["passes"]
            == sample.cost["multi"]["passes"] / sample.cost["single"]["passes"]
        )
        assert 1 <= sample.hops_used <= 2
        assert sample.stopped


def test_more_examined_chunks_never_find_less(report: Report) -> None:
    rows = {row.system: row for row in report.result.rows}
    assert (
        rows["single-hop@15"].measures["recall@15"] >= rows["single-hop@10"].measures["recall@15"]
    )
    assert (
        rows["multi-hop@15"].measures["recall@15"]
        >= rows["multi-hop@15, first 10"].measures["recall@15"]
    )


def test_hops_and_ratios_of_cost_are_told(report: Report) -> None:
    hops = [(each.system, each.hop) for each in report.result.hopwise]
    assert [each for each in hops if each[0] == "multi-hop@15"] == [
        ("multi-hop@15", 1),
        ("multi-hop@15", 2),
    ]
    ratios = report.result.ratios["multi-hop@15, first 10 / single-hop@10"]
    assert ratios["passes"] > 1
    assert 0 < ratios["chunks_examined"] <= 1.5  # less than 1: most searches stop early here
    assert ratios.keys() == {"embedding_calls", "chunks_examined", "passes", "tokens_returned"}


def test_a_comparison_is_written_and_read_back(report: Report, tmp_path: Path) -> None:
    write(tmp_path / "out", report)
    again = load(tmp_path / "out")
    assert again.result.ratios.keys() == report.result.ratios.keys()
    assert all(isinstance(sample, PolicySample) for sample in again.samples)
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "multi-hop@15 / single-hop@15" in page


def test_every_policy_has_its_rows(plan: Plan) -> None:
    contest = Contest(
        policies=("follow-names",), budget=1, expander="code", recipe="lexical", hops=3
    )
    result = compare_policies(plan, contest, Watch()).result
    assert [row.system for row in result.rows] == [
        "bm25",
        "dense",
        "single-hop@1",
        "follow-names@1",
        "follow-names@1, first 1",
    ]
    assert any("expanded by code" in note and "lexical" in note for note in result.notes)


def test_code_is_expanded_by_its_symbols_and_prose_by_its_names() -> None:
    assert Contest().expander_of(dataset_of(["x"], name="swe-qa")) == "code"
    assert Contest().expander_of(dataset_of(["x"], name="2wiki")) == "prose"
    assert Contest(expander="prose").expander_of(dataset_of(["x"], name="swe-qa")) == "prose"


@pytest.mark.parametrize(
    "options",
    [
        {"policies": ("single-hop",)},
        {"policies": ("multi-hop", "magic")},
        {"budget": 0},
        {"budget": 501},
        {"hops": 0},
        {"chunks_per_hop": 0},
        {"expander": "magic"},
        {"recipe": "magic"},
    ],
)
def test_what_cannot_be_compared_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        Contest(**options)  # type: ignore[arg-type]


def test_a_ratio_to_nothing_is_left_out() -> None:
    def answers(calls: int) -> dict[str, Answer]:
        cost = Cost(
            embedding_calls=calls, chunks_examined=3, passes=1, tokens_returned=9, milliseconds=1.0
        )
        return {"q": Answer(ranking=(), hops={}, cost=cost)}

    assert cost_ratios(answers(4), answers(0)) == {
        "chunks_examined": 1.0,
        "passes": 1.0,
        "tokens_returned": 1.0,
    }
    assert cost_ratios(answers(4), answers(2))["embedding_calls"] == 2.0


def test_every_set_of_code_is_expanded_by_its_symbols() -> None:
    chosen = {
        each.name
        for each in catalogue()
        if Contest().expander_of(replace(dataset_of([]), name=each.name)) == "code"
    }
    assert chosen == {"swe-qa", "semble", "swe-bench", "repoeval", "repobench-r", "code-paths"}
