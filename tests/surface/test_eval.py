"""`clew eval` as people and programs use it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evaluate.sample import beir_folder, documents, questions
from tests.evaluate.test_sweep import planted
from tests.fork_server import ForkedPython, run_forked
from tests.surface.conftest import Cli, Process
from tests.surface.test_process import imported_by, in_terminal
from tests.waiting import wait_until

CONTRACT = {"dataset", "part", "questions", "rows", "data_hash", "config_hash", "seed", "versions"}
ROW = {"system", "measures", "ci", "p_vs_bm25", "by_category", "cost"}


@pytest.fixture
def options(cli: Cli, tmp_path: Path) -> tuple[str, ...]:
    folder = beir_folder(tmp_path)
    return (
        "--dataset",
        "beir",
        "--path",
        str(folder),
        "--cache",
        str(tmp_path / "cache"),
        "--resamples",
        "100",
    )


def test_a_run_prints_a_table_with_every_row(cli: Cli, options: tuple[str, ...]) -> None:
    shown = cli("eval", "run", *options).stdout
    for word in (
        "bm25",
        "dense",
        "rrf",
        "clew",
        "nDCG@10",
        "p vs bm25",
        "Comparisons",
        "Cost of a question",
        "Timings",
    ):
        assert word in shown
    assert f"{len(questions())} questions" in shown
    on_screen = in_terminal("eval", "run", *options, NO_COLOR="1")[1].decode()
    assert "Cost of a question" in on_screen
    assert all(len(line) <= 80 for line in on_screen.splitlines())


def test_the_json_of_a_run_keeps_the_contract_and_is_the_same_twice(
    cli: Cli, options: tuple[str, ...]
) -> None:
    first, second = (cli("eval", "run", *options, "--json").stdout for _ in range(2))
    assert first == second
    document = json.loads(first)
    assert document.keys() >= CONTRACT
    assert [row["system"] for row in document["rows"]] == ["bm25", "dense", "rrf", "clew"]
    for row in document["rows"]:
        assert row.keys() >= ROW
        assert all(low <= row["measures"][name] <= high for name, (low, high) in row["ci"].items())
    assert "timings" not in document
    assert (
        "latency_ms_p50"
        in cli.json("eval", "run", *options, "--timings")["timings"]["systems"]["clew"]
    )


def test_settings_model_and_systems_can_be_chosen(cli: Cli, options: tuple[str, ...]) -> None:
    chosen = (
        "--systems",
        "fast, thorough",
        "--model",
        "hashing-32",
        "--set",
        "recall.fusion=rrf",
        "--measures",
        "MRR,recall@3",
        "--k",
        "3",
    )
    document = cli.json("eval", "run", *options, *chosen)
    assert [row["system"] for row in document["rows"]] == ["bm25", "fast", "thorough"]
    assert document["versions"]["model"] == "hashing-32"
    assert document["measure"] == "MRR"


def test_a_report_is_written_and_drawn_again(
    cli: Cli, options: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shown = cli("eval", "run", *options, "--output", str(out)).stdout
    assert shown.count("wrote ") == 5
    pages = {name: (out / name).read_bytes() for name in ("report.md", "report.html")}
    for name in pages:
        (out / name).unlink()
    assert len(cli.json("eval", "report", str(out))["written"]) == 2
    assert pages == {name: (out / name).read_bytes() for name in pages}
    cli("eval", "report", str(out), "--timings")
    assert "Timings" in (out / "report.md").read_text(encoding="utf-8")
    assert cli.json("eval", "report", str(tmp_path), code=2)["error"]["field"] == "folder"


def test_a_missing_peer_has_a_row_and_the_exit_code_tells(
    cli: Cli, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)  # as if it were not installed
    document = cli.json("eval", "run", *options, "--peers", "bm25s", code=1)
    assert document["rows"][-1]["error"] == "not installed: pip install bm25s PyStemmer"
    assert (
        "error: bm25s: not installed"
        in cli("eval", "run", *options, "--peers", "bm25s", code=1).stdout
    )


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("--dataset", "magic"), "dataset"),
        (("--path", "/nowhere"), "path"),
        (("--part", "dev"), None),
        (("--systems", "magic"), "systems"),
        (("--peers", "magic"), "peers"),
        (("--set", "recall.k"), "set"),
        (("--set", "recall.kk=3"), "recall.kk"),
        (("--option", "unit"), "option"),
        (("--option", "unit=turn"), "unit"),
        (("--measures", "recall"), "measure"),
        (("--k", "0"), "k"),
        (("--limit", "0"), "limit"),
        (("--chunker", "x", "--dataset", "beir"), None),
    ],
)
def test_bad_options_are_usage_errors(
    cli: Cli, options: tuple[str, ...], arguments: tuple[str, ...], field: str | None
) -> None:
    result = cli("eval", "run", *options, *arguments, "--json", code=None)
    document = json.loads(result.stdout)
    if field is not None:
        assert result.exit_code == 2
        assert document["error"]["field"] == field


def test_policies_are_compared_on_one_budget(
    cli: Cli, options: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = (
        "eval",
        "compare",
        *options,
        "--policies",
        "single-hop,multi-hop",
        "--budget",
        "8",
        "--output",
        str(out),
    )
    document = cli.json(*command)
    assert [row["system"] for row in document["rows"]][-4:] == [
        "single-hop@5",
        "single-hop@8",
        "multi-hop@8",
        "multi-hop@8, first 5",
    ]
    assert (document["kind"], document["format"]) == ("compare", 1)
    samples = [
        json.loads(line)
        for line in (out / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(samples) == 2 * len(questions())
    for sample in samples:
        assert sample.keys() >= {
            "query_id",
            "category",
            "policy",
            "budget",
            "single",
            "multi",
            "delta",
            "percent",
            "cost",
            "cost_ratios",
        }
        assert sample["cost"]["multi"]["chunks_examined"] <= 8
    assert "Cost of one policy by another" in cli(*command).stdout
    assert (
        cli.json("eval", "compare", *options, "--policies", "magic", code=2)["error"]["field"]
        == "policies"
    )


def test_an_ablation_with_an_inert_variant_exits_with_one(
    cli: Cli, options: tuple[str, ...]
) -> None:
    command = ("eval", "ablate", *options, "--no-usual", "--variant", "words:recipe=lexical")
    assert cli.json(*command)["ablations"][0]["changed"] > 0
    inert = (*command, "--variant", "inert:recall.max_query_characters=500")
    assert "changed no ranking" in cli.json(*inert, code=1)["ablations"][1]["error"]
    assert "error: inert: changed no ranking" in " ".join(
        cli(*inert, "--keep-going").stdout.split()
    )


def test_no_number_is_cut_off_on_a_narrow_screen(
    cli: Cli, options: tuple[str, ...], tmp_path: Path
) -> None:
    beir_folder(tmp_path, asked=questions()[:10])  # every variant asks them all
    command = ("eval", "ablate", *options, "--keep-going")
    changed = {each["variant"]: each["changed"] for each in cli.json(*command)["ablations"]}
    shown = cli(*command).stdout.partition("Ablations")[2]
    for name, count in changed.items():
        row = next(line for line in shown.splitlines() if line.startswith(f"{name} "))
        assert row.split()[-1] == str(count), row


def test_a_saturated_set_is_refused_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    folder = beir_folder(
        tmp_path,
        asked=[
            (f"q{n}", document["text"], [document["_id"]])
            for n, document in enumerate(documents()[:9])
        ],
    )
    for name in ("run", "ablate"):
        arguments = (
            "--dataset",
            "beir",
            "--path",
            str(folder),
            "--cache",
            str(tmp_path / "c"),
            "--resamples",
            "50",
        )
        error = cli.json("eval", name, *arguments, "--model", "hashing-1024", code=1)["error"]
        assert error["code"] == "refused"
        assert "saturated" in error["message"]


def test_the_sets_are_listed_with_what_is_here(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "data" / "locomo").mkdir(parents=True)
    (tmp_path / "data" / "locomo" / "locomo10.json").write_text("[]", encoding="utf-8")
    listed = {
        each["name"]: each
        for each in cli.json("eval", "datasets", "--path", str(tmp_path / "data"))["datasets"]
    }
    assert listed["locomo"]["here"] == {"complete": True, "present": 1, "missing": []}
    assert listed["scifact"]["here"]["missing"]
    assert all(each["licence"] and each["source"] and each["parts"] for each in listed.values())
    assert cli.json("eval", "datasets")["datasets"][0]["here"] is None
    shown = cli("eval", "datasets", "--path", str(tmp_path / "data")).stdout
    assert "here: locomo, 1 file" in shown
    assert "not here: beir_scifact" in shown
    assert cli.json("eval", "datasets", "--path", "/nowhere", code=2)["error"]["field"] == "path"


def test_only_what_can_be_fetched_is(cli: Cli, tmp_path: Path) -> None:
    assert cli.json("eval", "fetch", "locomo", str(tmp_path), code=2)["error"]["field"] == "name"
    # offline
    assert (
        cli.json("eval", "fetch", "swe-qa", str(tmp_path), code=3)["error"]["code"]
        == "model.download"
    )


def test_an_interrupted_run_says_that_nothing_is_lost(
    cli: Cli, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.evaluate import running

    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "prepared", interrupted)
    result = cli("eval", "run", *options, code=130)
    assert "goes on from here" in result.stderr


def test_a_run_that_is_interrupted_by_the_terminal_goes_on(
    cli: Cli, options: tuple[str, ...], tmp_path: Path
) -> None:
    command = ["-m", "clew", "eval", "run", *options, "--json"]
    child = ForkedPython(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ledgers = tmp_path / "cache"
    wait_until(
        lambda: (
            child.poll() is not None
            or any(path.stat().st_size for path in ledgers.glob("*.answers.jsonl"))
        )
    )
    child.send_signal(signal.SIGINT)
    child.communicate()
    assert child.returncode in {130, 0}  # a quick machine may have been done
    done = run_forked(command)
    fresh = cli.json("eval", "run", *options, "--cache", str(tmp_path / "other"))
    assert json.loads(done.stdout) == fresh


@pytest.mark.parametrize(
    "arguments", [("--help",), ("recall", "--help"), ("eval", "--help"), ("eval", "run", "--help")]
)
def test_evaluation_is_loaded_by_evaluations_only(cli: Cli, arguments: tuple[str, ...]) -> None:
    modules = imported_by(*arguments)
    assert not any(
        name.startswith(("clew.evaluate", "clew.engine", "numpy", "rich", "ir_measures"))
        for name in modules
    )


def test_a_recall_loads_nothing_of_the_evaluation(process: Process, cli: Cli) -> None:
    cli("add", "The staging database listens on port 5433")
    assert not any(name.startswith("clew.evaluate") for name in imported_by("recall", "staging"))


def test_an_evaluation_file_is_made_accepted_measured_and_watched(cli: Cli, tmp_path: Path) -> None:
    store, out = ("--store", str(tmp_path / "own.clew")), str(tmp_path / "own")
    for text in (
        "The staging database is pg-stage-3.",
        "Marit prefers trains for long ways.",
        "The oven of the bakery was rebuilt in May.",
    ):
        cli("add", *store, text)
    shown = cli(
        "eval", "init", *store, "--out", out, stdin="\nWhich host do we stage on?\n-\n"
    ).stdout
    assert "2 questions" in shown
    assert "Which host do we stage on?" in (tmp_path / "own" / "memories.yaml").read_text(
        encoding="utf-8"
    )
    options = (
        "--dataset",
        "mine",
        "--path",
        out,
        "--cache",
        str(tmp_path / "cache"),
        "--resamples",
        "100",
    )
    base = str(tmp_path / "base")
    assert {"ablations", "missed"} <= cli.json("eval", "run", *options, "--output", base).keys()
    found = cli.json("eval", "watch", *options, "--baseline", base)
    assert (found["kind"], found["lost"], found["n"]) == ("watch", False, 2)
    assert cli(
        "eval", "watch", *options, "--baseline", base, "--against", "recall.k=5", code=2
    ).stderr
    assert "leaves nobody to ask" in cli("eval", "init", *store, "--json", code=2).output


def test_a_sweep_writes_its_table_and_prints_its_findings(cli: Cli, tmp_path: Path) -> None:
    planted(tmp_path / "swe_qa")
    options = (
        "--datasets",
        "swe-qa",
        "--path",
        str(tmp_path),
        "--chunkers",
        "fixed,recursive",
        "--budget",
        "3",
        "--chunks-per-hop",
        "1",
    )
    rest = (
        "--chunk-size",
        "60",
        "--resamples",
        "100",
        "--cache",
        str(tmp_path / "cache"),
        "--out",
        str(tmp_path / "out"),
    )
    shown = cli("eval", "sweep", *options, *rest).stdout
    assert "multi-hop, the same 3 chunks examined" in shown
    document = cli.json("eval", "sweep", *options, *rest)
    assert document == json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert (document["kind"], document["format"], len(document["cells"])) == ("sweep", 1, 2)
    assert (
        "is not a number"
        in cli("eval", "sweep", *options, *rest, "--sample", "swe-qa=many", code=2).stderr
    )
    assert (
        "does not name a set"
        in cli("eval", "sweep", *options, *rest, "--option", "semble:whole=true", code=2).stderr
    )
