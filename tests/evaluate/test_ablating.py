"""One stage or setting at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clew.errors import InputError, RefusedError
from clew.evaluate.ablating import Variant, ablate, usual_variants, variant_of
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import Ablation, Report
from clew.settings import Settings, load
from tests.evaluate.sample import beir_folder, documents, questions


def plan_in(folder: Path) -> Plan:
    """Plan a run on a part of the questions, of which each kind has some.

    Every variant asks them all again.
    """
    settings = {"model.embedder": "hashing-64"}
    return Plan(
        dataset="beir",
        path=beir_folder(folder, asked=questions()[:12]),
        resamples=200,
        cache=folder / "cache",
        settings=settings,
    )


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_in(tmp_path)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of an ablation with every usual variant, made once.

    It asks each question some forty times.
    """
    return ablate(plan_in(tmp_path_factory.mktemp("usual")), watch=Watch())


def rows(report: Report) -> dict[str, Ablation]:
    return {each.variant: each for each in report.result.ablations}


def test_every_stage_is_taken_away_and_the_change_is_told(usual: Report) -> None:
    found = rows(usual)
    assert {
        "fusion-rrf",
        "no-dense",
        "no-sparse",
        "candidates-30",
        "candidates-300",
    } <= found.keys()
    assert [row.system for row in usual.result.rows] == ["bm25", "dense", "clew"]
    base = next(row for row in usual.result.rows if row.system == "clew").measures[
        usual.result.measure
    ]
    for each in found.values():
        if each.changed:
            assert each.value is not None
            assert each.delta is not None
            assert each.delta == pytest.approx(each.value - base)
            assert each.ci is not None
            assert each.ci.low - 1e-9 <= each.delta <= each.ci.high + 1e-9
            assert each.p is not None
            assert each.p_holm is not None
            assert each.p <= each.p_holm


def test_a_variant_that_changes_no_ranking_is_an_error(plan: Plan) -> None:
    inert = Variant(name="inert", settings={"recall.max_query_characters": 500})
    report = ablate(plan, variants=[inert], usual=False, watch=Watch())
    each = rows(report)["inert"]
    assert (each.changed, each.value, each.delta, each.p) == (0, None, None, None)
    assert "changed no ranking" in each.error


def test_undated_texts_leave_out_what_only_dates_can_show(usual: Report) -> None:
    assert "preset-recent" not in rows(usual)
    assert any("preset-recent" in note and "date" in note for note in usual.result.notes)


def test_without_a_model_only_what_needs_none_is_tried(plan: Plan) -> None:
    own = Variant(name="strict", settings={"recall.budget_tokens": 30})
    report = ablate(
        replace(plan, settings={"model.embedder": "none"}), variants=[own], watch=Watch()
    )
    assert "no-dense" not in rows(report)
    assert rows(report)["strict"].changed


def test_a_saturated_set_is_refused(tmp_path: Path) -> None:
    easy = [
        (f"q{n}", document["text"], [document["_id"]])
        for n, document in enumerate(documents()[:20])
    ]
    folder = beir_folder(tmp_path, asked=easy)
    plan = Plan(
        dataset="beir",
        path=folder,
        cache=tmp_path / "cache",
        settings={"model.embedder": "hashing-256"},
        resamples=50,
    )
    with pytest.raises(RefusedError, match="saturated"):
        ablate(plan, watch=Watch())


def test_the_usual_variants_are_settings_that_there_are_and_all_differ() -> None:
    for fusion in ("weighted", "rrf"):
        settings = load(environ={}, overrides={"recall.fusion": fusion}).settings
        variants = list(usual_variants(settings))
        assert len({each.name for each in variants}) == len(variants)
        for each in variants:
            changed = load(
                environ={}, overrides={"recall.fusion": fusion, **each.settings}
            ).settings
            assert each.recipe or each.ignores or each.decayed or changed != settings, each.name
    assert {each.name for each in usual_variants(Settings())} >= {
        "fusion-rrf",
        "late-interaction-off",
        "relevance-only",
    }


def test_a_variant_is_read_from_a_line() -> None:
    assert variant_of("wide: recall.candidates=500, recall.fusion=rrf").settings == {
        "recall.candidates": "500",
        "recall.fusion": "rrf",
    }
    assert variant_of("words:recipe=lexical") == Variant(name="words", recipe="lexical")
    for wrong in ("", "name", "name:", ":recall.k=1", "name:recall.k", "name:=3"):
        with pytest.raises(InputError, match="NAME:KEY=VALUE"):
            variant_of(wrong)


def test_a_wrong_setting_is_refused_before_anything_is_loaded(plan: Plan) -> None:
    nowhere = replace(plan, path=Path("/nowhere"))
    for wrong, message in (
        ("x:recall.kk=1", "nearest"),
        ("x:recall.candidates=0", "must be"),
        ("x:recipe=magic", "must be one of"),
    ):
        with pytest.raises(InputError, match=message):
            ablate(nowhere, variants=[variant_of(wrong)], watch=Watch())


def test_two_variants_with_one_name_are_refused(plan: Plan) -> None:
    for names in (("a", "a"), ("no-dense",), ("clew",)):
        with pytest.raises(InputError, match="name"):
            ablate(
                plan,
                variants=[Variant(name=name, recipe="lexical") for name in names],
                watch=Watch(),
            )
    with pytest.raises(InputError, match="none to try"):
        ablate(plan, usual=False, watch=Watch())


def test_only_the_named_usual_variants_are_tried_and_a_name_must_be_one(tmp_path: Path) -> None:
    plan = Plan(
        dataset="beir",
        path=beir_folder(tmp_path),
        cache=tmp_path / "cache",
        resamples=50,
        settings={"model.embedder": "hashing-64"},
    )
    result = ablate(plan, only=("no-sparse",), watch=Watch()).result
    assert [each.variant for each in result.ablations] == ["no-sparse"]
    with pytest.raises(InputError, match="only"):
        ablate(plan, only=("magic",), watch=Watch())
