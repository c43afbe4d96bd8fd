"""The whole design in one run.

One table, one correction, and the right answer where it is planted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from clew.errors import InputError
from clew.evaluate import comparing, sweep
from clew.evaluate.comparing import Contest
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import PolicySample, dumps, loads
from clew.evaluate.running import part_of
from clew.evaluate.sweep import Axes
from clew.evaluate.sweep_findings import findings
from clew.evaluate.sweep_model import SweepResult
from clew.evaluate.sweep_report import sweep_markdown, write_sweep

COUNT = 12
TREES = "alder birch cedar dogwood elm fir ginkgo hazel ilex juniper kauri larch".split()
METALS = "antimony barium cobalt dysprosium erbium francium gallium hafnium indium lithium nickel osmium".split()


def planted(root: Path) -> Path:
    """A project in which a tree's module calls what a metal's module defines.

    Every question needs both.
    """
    project = root / "sources" / "toy"
    project.mkdir(parents=True)
    questions = []
    for tree, metal in zip(TREES, METALS, strict=True):
        text = f"def grow_{tree}(soil):\n    # the {tree} grows\n    return smelt_{metal}(soil)\n"
        (project / f"{tree}.py").write_text(text, encoding="utf-8")
        (project / f"{metal}.py").write_text(
            f"def smelt_{metal}(ore):\n    return ore * 2\n", encoding="utf-8"
        )
        questions.append(
            {
                "id": tree,
                "repo": "toy",
                "question": f"how {tree} thrives",
                "gold_files": [f"{tree}.py", f"{metal}.py"],
            }
        )
    (root / "questions_gold.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in questions), encoding="utf-8"
    )
    return root


def axes_in(folder: Path, **changes: object) -> Axes:
    plan = Plan(
        dataset="swe-qa",
        path=folder,
        part="test",
        chunk_size=60,
        resamples=300,
        cache=folder / "cache",
        settings={"model.embedder": "hashing-64"},
    )
    contest = Contest(
        budget=3, chunks_per_hop=1, recipe="lexical", policies=("single-hop", "multi-hop")
    )
    made = Axes(
        datasets={"swe-qa": folder}, base=plan, contest=contest, chunkers=("fixed", "recursive")
    )
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def made(folder: Path) -> tuple[SweepResult, tuple[PolicySample, ...]]:
    return sweep.sweep(axes_in(folder), Watch())


def test_a_planted_better_policy_is_told_with_sign_and_significance(
    made: tuple[SweepResult, tuple[PolicySample, ...]],
) -> None:
    result, _ = made
    equal = [row for row in result.deltas if row.budget == "equal"]
    assert [row.chunker for row in equal] == ["fixed", "recursive"]
    for row in equal:
        assert row.delta > 0.3
        assert row.ci.low > 0
        assert row.p_holm is not None
        assert row.p_holm < 0.05
        assert row.wins > row.losses
    assert any(
        each.startswith("multi-hop, the same 3 chunks examined: +") and "2 gain and 0 lose" in each
        for each in result.findings
    )


def test_a_planted_worse_policy_is_told_with_sign_and_significance(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Astray:
        def __init__(self, counts: object) -> None:
            pass

        def __repr__(self) -> str:
            return "Astray()"

        def queries(
            self, question: str, space: str, texts: Sequence[str], *, view: Sequence[str] = ()
        ) -> list[str]:
            number = TREES.index(question.split()[1])
            return [f"smelt_{METALS[(number + 5) % COUNT]}", f"grow_{TREES[(number + 7) % COUNT]}"]

    monkeypatch.setattr(comparing, "EXPANDERS", {"code": Astray, "prose": Astray})
    trees_only = folder / "worse"
    planted(trees_only)
    rows = [
        json.loads(line)
        for line in (trees_only / "questions_gold.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for each in rows:  # one search finds both: the metal's module is named in the question
        each["question"] += f" smelt_{METALS[TREES.index(each['id'])]}"
    (trees_only / "questions_gold.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8"
    )
    result, _ = sweep.sweep(axes_in(trees_only, chunkers=("fixed",)), Watch())
    (row,) = (row for row in result.deltas if row.budget == "equal")
    assert row.delta < -0.3
    assert row.ci.high < 0
    assert row.p_holm is not None
    assert row.p_holm < 0.05
    assert any("0 gain and 1 lose" in each for each in result.findings)


def test_two_runs_with_one_seed_are_the_same_bytes(
    folder: Path, made: tuple[SweepResult, tuple[PolicySample, ...]], tmp_path: Path
) -> None:
    again = sweep.sweep(
        axes_in(folder, base=replace(axes_in(folder).base, cache=tmp_path / "other")), Watch()
    )
    first, second = write_sweep(tmp_path / "a", *made), write_sweep(tmp_path / "b", *again)
    assert [path.name for path in first] == ["result.json", "samples.jsonl", "report.md"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_cells_at_the_same_time_give_the_same_bytes(
    folder: Path, made: tuple[SweepResult, tuple[PolicySample, ...]], tmp_path: Path
) -> None:
    axes = axes_in(folder, jobs=2, base=replace(axes_in(folder).base, cache=tmp_path / "other"))
    assert [dumps(each) for each in sweep.sweep(axes, Watch())] == [dumps(each) for each in made]


def test_what_was_finished_is_not_done_again(
    folder: Path, made: tuple[SweepResult, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a finished cell was begun again")

    monkeypatch.setattr(sweep, "prepared", never)
    said: list[str] = []
    assert sweep.sweep(axes_in(folder), Watch(announce=said.append))[0] == made[0]
    assert said[-1] == "cell 2 of 2: swe-qa, recursive, hashing-64; about 0 min left"


def test_every_row_says_what_it_is_of(made: tuple[SweepResult, tuple[PolicySample, ...]]) -> None:
    result, samples = made
    assert len(samples) == 2 * 2 * COUNT
    assert {(each.dataset, each.part, each.embedder, each.policy) for each in samples} == {
        ("swe-qa", "test", "hashing-64", "multi-hop")
    }
    assert {each.chunker for each in samples} == {"fixed", "recursive"}
    for each in samples:
        assert each.cost["multi"]["chunks_examined"] <= 3
        assert each.hops_used == 2
        assert each.percent["recall@10"] == pytest.approx(
            100 * each.delta["recall@10"] / each.single["recall@10"], abs=1e-3
        )
    assert result.kind == "sweep"
    assert loads(SweepResult, dumps(result)) == result


def test_one_correction_counts_every_comparison(made: tuple[SweepResult, object]) -> None:
    result, _ = made
    rows = [
        *((row.p, row.p_holm) for row in (*result.deltas, *result.pooled)),
        *((row.p, row.p_holm) for row in result.interactions),
    ]
    known = [p for p, _ in rows if p is not None]
    assert result.notes == (f"Holm's correction counts {len(known)} comparisons.",)
    smallest = min(known)
    corrected = [p_holm for p, p_holm in rows if p == smallest]
    assert corrected[0] == pytest.approx(min(1.0, smallest * len(known)), abs=1e-5)
    assert {row.chunker for row in result.interactions} == {"recursive"}
    assert all(row.against == "fixed" for row in result.interactions)


def test_findings_are_made_from_the_table(made: tuple[SweepResult, object]) -> None:
    result, _ = made
    turned = replace(result, deltas=tuple(replace(row, delta=-row.delta) for row in result.deltas))
    assert findings(result) == result.findings
    assert any("0 gain and 2 lose" in each for each in findings(turned))
    page = sweep_markdown(result)
    assert all(f"- {each}" in page for each in result.findings)


def test_a_cell_that_every_system_solves_is_no_evidence(tmp_path: Path) -> None:
    easy = planted(tmp_path / "easy")
    rows = [
        json.loads(line)
        for line in (easy / "questions_gold.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for each in rows:
        each["gold_files"] = each["gold_files"][:1]
    (easy / "questions_gold.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8"
    )
    settings = {"model.embedder": "none"}
    axes = axes_in(easy, chunkers=("fixed",))
    result, _ = sweep.sweep(replace(axes, base=replace(axes.base, settings=settings)), Watch())
    assert result.cells[0].saturated
    assert all(row.p is None and row.p_holm is None for row in result.deltas)
    assert any("is no evidence" in each for each in result.findings)


def test_a_sample_depends_on_the_seed_alone(folder: Path) -> None:
    plan = replace(axes_in(folder).base, sample=4, chunker="fixed")
    one, other = (part_of(replace(plan, seed=seed))[0] for seed in (0, 0))
    assert one == other
    assert len(one.queries) == 4
    different = part_of(replace(plan, seed=1))[0]
    assert [query.id for query in different.queries] != [query.id for query in one.queries]
    assert any("A sample with seed 0: 4 of 12 questions" in note for note in one.notes)


def test_a_smaller_corpus_keeps_what_answers(folder: Path) -> None:
    small = part_of(replace(axes_in(folder).base, sample=2, corpus_tokens=40))[0]
    files = {document.keys["file"] for document in small.documents}
    assert {file for query in small.queries for file in query.relevant["file"]} <= files
    assert len(files) < 2 * COUNT


@pytest.mark.parametrize(
    ("change", "field"),
    [({"chunkers": ("magic",)}, "chunkers"), ({"jobs": 0}, "jobs"), ({"datasets": {}}, "datasets")],
)
def test_what_cannot_be_crossed_is_refused(
    folder: Path, change: dict[str, object], field: str
) -> None:
    with pytest.raises(InputError, match=field):
        axes_in(folder, **change)


def test_a_part_that_a_set_does_not_have_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="part"):
        sweep.sweep(axes_in(folder, parts={"swe-qa": "train"}), Watch())
