"""A whole run: the table, its terms, and that nothing is done or said twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clew.engine.clew import silent
from clew.errors import InputError, RefusedError
from clew.evaluate.answering import answers_of, cut
from clew.evaluate.data import Answer, Cost, Passage, Query
from clew.evaluate.index import indexed
from clew.evaluate.plan import Plan, Watch, default_cache
from clew.evaluate.report import Report
from clew.evaluate.report.files import load, write
from clew.evaluate.running import DEEP, dataset_of, depth_of, run
from clew.evaluate.searcher import Searcher
from clew.evaluate.systems import NAMES, system
from clew.evaluate.tables import headline, wanted_measures
from clew.text.words import token_estimate
from tests.evaluate.sample import beir_folder, documents, questions
from tests.evaluate.sample import dataset_of as dataset_from

FIXTURES = Path(__file__).parent / "fixtures"
SETTINGS = {"model.embedder": "hashing-64"}


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(
        dataset="beir",
        path=beir_folder(tmp_path),
        resamples=200,
        cache=tmp_path / "cache",
        settings=SETTINGS,
    )


def measured(plan: Plan, **options: Any) -> Report:
    return run(plan, watch=Watch(), **options)


def test_the_table_has_the_floor_the_baselines_and_clew(plan: Plan) -> None:
    result = measured(plan).result
    assert [row.system for row in result.rows] == ["bm25", "dense", "rrf", "clew"]
    assert result.questions == len(questions())
    for row in result.rows:
        low, high = row.ci[result.measure]
        assert 0 <= low <= row.measures[result.measure] <= high <= 1
        assert row.cost["chunks_examined"] <= 10
    assert result.rows[0].p_vs_bm25 is None
    assert all(row.p_vs_bm25 is not None for row in result.rows[1:])
    assert {each.variant for each in result.comparisons} == {"dense", "rrf", "clew"}
    assert result.data_hash
    assert result.config_hash
    assert {"clew", "numpy", "model"} <= result.versions.keys()


def test_bm25_is_in_every_table(plan: Plan) -> None:
    assert [row.system for row in measured(plan, systems=("clew",)).result.rows] == ["bm25", "clew"]


def test_baselines_stay_what_they_are_whatever_clew_is_set_to(plan: Plan) -> None:
    altered = replace(
        plan,
        settings={
            **SETTINGS,
            "recall.candidates": 5,
            "recall.preset": "recent",
            "recall.min_similarity": 0.9,
        },
    )
    rows = {row.system: row for row in measured(plan).result.rows}
    again = {row.system: row for row in measured(altered).result.rows}
    assert {name: rows[name] for name in ("bm25", "dense", "rrf")} == {
        name: again[name] for name in ("bm25", "dense", "rrf")
    }
    assert rows["clew"] != again["clew"]


def test_every_system_can_be_made_and_an_unknown_one_is_refused() -> None:
    assert [system(name, depth=5).name for name in NAMES] == list(NAMES)
    with pytest.raises(InputError, match="Use some of"):
        system("magic", depth=5)


def test_without_a_model_the_rows_that_need_one_say_so(plan: Plan) -> None:
    rows = {
        row.system: row
        for row in measured(replace(plan, settings={"model.embedder": "none"})).result.rows
    }
    assert "needs a model" in rows["dense"].error
    assert "needs a model" in rows["rrf"].error
    assert rows["clew"].measures == pytest.approx(rows["bm25"].measures)


def test_systems_that_answer_alike_are_shown_with_a_warning(plan: Plan) -> None:
    result = measured(
        replace(plan, settings={"model.embedder": "none"}), systems=("lexical",)
    ).result
    assert any("no evidence" in note for note in result.notes)


def test_a_set_that_every_system_solves_is_refused(tmp_path: Path) -> None:
    easy = [
        (f"q{n}", document["text"], [document["_id"]])
        for n, document in enumerate(documents()[:20])
    ]
    plan = Plan(
        dataset="beir",
        path=beir_folder(tmp_path, asked=easy),
        resamples=50,
        cache=tmp_path / "cache",
        settings=SETTINGS,
    )
    with pytest.raises(RefusedError, match="no evidence"):
        measured(plan, systems=("bm25", "rrf"))


@pytest.mark.parametrize("name", ["file-recall@10", "token-recall", "path@5"])
def test_a_measure_that_the_set_cannot_have_is_refused_and_not_left_out(
    plan: Plan, name: str
) -> None:
    with pytest.raises(InputError, match=name) as caught:
        measured(replace(plan, measures=("recall@5", name)))
    assert caught.value.field == "measures"


def test_the_folder_of_the_sources_is_no_note(tmp_path: Path) -> None:
    (tmp_path / "code" / "flask").mkdir(parents=True)
    (tmp_path / "code" / "flask" / "a.py").write_text("print(1)", encoding="utf-8")
    asked = {"id": "1", "repo": "flask", "question": "where?", "gold_files": ["a.py"]}
    (tmp_path / "questions_gold.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    plan = Plan(
        dataset="swe-qa",
        path=tmp_path,
        part="all",
        cache=tmp_path,
        options={"sources": str(tmp_path / "code")},
    )
    assert not [note for note in dataset_of(plan)[1] if note.startswith("Loaded with")]
    longer = Plan(
        dataset="repobench-r",
        path=FIXTURES / "repobench",
        part="all",
        cache=tmp_path,
        options={"lines": 2},
    )
    assert "Loaded with lines=2." in dataset_of(longer)[1]


def test_a_set_with_few_candidates_has_a_headline_that_they_cannot_all_reach(
    tmp_path: Path,
) -> None:
    dataset, _ = dataset_of(
        Plan(dataset="repobench-r", path=FIXTURES / "repobench", part="all", cache=tmp_path)
    )
    assert headline(dataset, wanted_measures(dataset, k=10)) == "hit@1"


def test_who_is_shown_a_chunk_of_a_long_passage_has_not_read_the_whole() -> None:
    dataset = dataset_from([" ".join(f"Word{n} stands here." for n in range(3_000)), "a short one"])
    with indexed(dataset, None, progress=silent) as index:
        chunks = {
            id: passage for id, passage in index.nodes.items() if passage.id == "p0" and "." in id
        }
        assert len(chunks) > 2
        assert all(len(passage.text) < len(dataset.passages[0].text) for passage in chunks.values())
        found = Searcher(index.structured, index.nodes)
        (shown,) = found.search("Word7", "default", count=1)
        assert found.account([shown], 0.0).tokens_returned < token_estimate(
            dataset.passages[0].text
        )


def test_conversations_are_kept_by_the_public_api_and_baselines_see_the_same_texts() -> None:
    dataset, _ = dataset_of(Plan(dataset="locomo", path=FIXTURES / "locomo", part="all"))
    with indexed(dataset, None, progress=silent) as index:
        nodes = index.structured.store.get(list(index.nodes))
        assert {index.nodes[id].id for id in nodes} == {passage.id for passage in dataset.passages}
        assert all(
            node.text == index.nodes[id].text and node.parent and node.metadata["speaker"]
            for id, node in nodes.items()
        )
        sessions = {(node.space, node.metadata["session"]) for node in nodes.values()}
        assert sessions == {(passage.space, passage.section) for passage in dataset.passages}
        flat = index.memory.store.get(list(index.nodes))
        assert sorted(node.text for node in flat.values()) == sorted(
            node.text for node in nodes.values()
        )


def test_a_session_that_is_one_passage_is_found_by_each_of_its_messages(tmp_path: Path) -> None:
    plan = Plan(
        dataset="lihua",
        path=FIXTURES / "lihua",
        part="dev",
        cache=tmp_path,
        settings=SETTINGS,
        resamples=50,
    )
    found = {
        row.system: row.measures["recall@1"]
        for row in measured(replace(plan, measures=("recall@1",)), systems=("clew",)).result.rows
    }
    assert found["clew"] == pytest.approx((1 / 2 + 1 + 1) / 3)


def test_passages_have_their_quality_as_an_import_notes_it_so_that_a_gate_is_measured() -> None:
    dataset = dataset_from(["Haha yeah totally!", "Postgres on db-3 listens on port 6543"])
    with indexed(dataset, None, progress=silent) as index:
        idle, telling = (
            node.quality for node in index.memory.store.get(sorted(index.nodes)).values()
        )
    assert idle is not None and telling is not None
    assert idle.overall < 0.4 <= telling.overall


def test_what_was_said_after_the_question_is_not_there_to_be_found_but_for_baselines(
    tmp_path: Path,
) -> None:
    said = [datetime(2024, month, 1, tzinfo=UTC) for month in (3, 6)]
    dataset = dataset_from(
        ["the harbour was dredged in spring", "the harbour was dredged in summer"]
    )
    passages = [
        replace(passage, time=time) for passage, time in zip(dataset.passages, said, strict=True)
    ]
    query = Query(
        id="q", text="when was the harbour dredged?", asked_at=datetime(2024, 5, 1, tzinfo=UTC)
    )
    dataset = replace(dataset, passages=tuple(passages), queries=(query,))
    with indexed(dataset, None, progress=silent) as index:
        found = {
            name: answers_of(index, system(name, depth=5), cache=tmp_path, jobs=1, progress=silent)[
                "q"
            ].ranking
            for name in ("bm25", "clew")
        }
    assert set(found["bm25"]) == {"p0", "p1"}
    assert found["clew"] == ("p0",)


def test_measures_may_be_chosen_and_the_first_is_the_headline(plan: Plan) -> None:
    result = measured(replace(plan, measures=("MRR", "recall@3"))).result
    assert result.measure == "MRR"
    assert result.rows[0].measures.keys() == {"MRR", "recall@3"}


def test_a_measure_deeper_than_the_results_is_refused(plan: Plan) -> None:
    with pytest.raises(InputError, match="Use --k 50"):
        measured(replace(plan, measures=("recall@50",)))
    assert "recall@10" not in measured(replace(plan, k=5)).result.rows[0].measures


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 0}, "k"),
        ({"jobs": 0}, "jobs"),
        ({"resamples": 0}, "resamples"),
        ({"seed": -1}, "seed"),
        ({"k": 1001}, "k"),
    ],
)
def test_numbers_that_no_run_can_use_are_refused(
    plan: Plan, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        replace(plan, **changes)


def test_an_unknown_level_or_setting_is_refused(plan: Plan) -> None:
    with pytest.raises(InputError, match="Use document"):
        measured(replace(plan, level="session"))
    with pytest.raises(InputError, match="nearest"):
        measured(replace(plan, settings={"recall.kk": 3}))


def test_documents_are_cut_and_the_chunk_level_is_judged(tmp_path: Path) -> None:
    plan = Plan(
        dataset="chroma-chunking",
        path=FIXTURES / "chroma",
        part="all",
        chunk_size=8,
        cache=tmp_path,
        settings=SETTINGS,
    )
    dataset, notes = dataset_of(plan)
    assert dataset.levels[0] == "chunk"
    assert any("recursive-8" in note for note in notes)
    rows = measured(
        replace(plan, measures=("recall@1", "token-recall")), systems=("bm25", "clew", "lexical")
    ).result.rows
    assert any(row.measures["recall@1"] for row in rows)  # chunks are known by their own ids


def test_where_passages_share_a_key_systems_are_asked_deeper(tmp_path: Path) -> None:
    plan = Plan(
        dataset="locomo",
        path=FIXTURES / "locomo",
        part="all",
        cache=tmp_path,
        settings=SETTINGS,
        resamples=50,
    )
    dataset, _ = dataset_of(plan)
    assert depth_of(dataset, ("turn",), 10) == 10
    assert depth_of(dataset, ("session",), 10) == DEEP
    assert depth_of(dataset, ("turn", "session"), 200) == 200


def test_a_ranking_is_cut_at_the_kth_different_key_and_costs_what_is_left() -> None:
    keys = {"a": "s1", "b": "s1", "c": "s2", "d": "s3", "e": "s2"}
    passages = {
        id: Passage(id=id, text="five words stand right here", keys={"session": key})
        for id, key in keys.items()
    }
    cost = Cost(
        embedding_calls=1, chunks_examined=5, passes=1, tokens_returned=99, milliseconds=1.0
    )
    answers = {"q": Answer(ranking=tuple(keys), hops=dict.fromkeys(keys, 1), cost=cost)}
    two = cut(answers, passages, levels=("session",), k=2)["q"]
    assert two.ranking == ("a", "b", "c")
    assert two.hops.keys() == {"a", "b", "c"}
    assert (two.cost.chunks_examined, two.cost.embedding_calls) == (3, 1)
    assert two.cost.tokens_returned < 99
    # no key at the level: each is its own
    assert cut(answers, passages, levels=("turn",), k=2)["q"].ranking == ("a", "b")
    assert cut(answers, passages, levels=("turn", "session"), k=2)["q"].ranking == ("a", "b", "c")
    assert cut(answers, passages, levels=("session",), k=9)["q"].ranking == tuple(keys)


def test_the_cache_is_the_users_unless_the_path_is_relative(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "clew" / "eval"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_cache() == Path.home() / ".cache" / "clew" / "eval"


# --- two runs are one run ---

DRIVER = """
import json, os, signal, sys
from pathlib import Path
import clew.evaluate.policies as policies
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report.files import write
from clew.evaluate.running import run
from clew.models.vectors import HashingEmbedder

folder, cache, output, kill_at = sys.argv[1:5]
embedded, answered = 0, 0
embed, answer = HashingEmbedder.embed, policies.SingleHop.answer

def counted_embed(self, texts, *, role):
    global embedded
    embedded += len(texts)
    return embed(self, texts, role=role)

def counted_answer(self, searcher, query):
    global answered
    answered += 1
    return answer(self, searcher, query)

HashingEmbedder.embed, policies.SingleHop.answer = counted_embed, counted_answer

def progress(what, done, total):
    if what == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)

plan = Plan(dataset="beir", path=Path(folder), resamples=200, cache=Path(cache), settings={"model.embedder": "hashing-64"}, seed=7)
write(Path(output), run(plan, watch=Watch(progress=progress)))
print(json.dumps({"embedded": embedded, "answered": answered}))
"""


def driven(
    folder: Path, cache: Path, output: Path, *, kill_at: str = "", hash_seed: str = "0"
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, str(folder), str(cache), str(output), kill_at]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def held(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if path.name != "timings.json"
    }


def test_two_runs_with_one_seed_write_the_same_bytes(tmp_path: Path) -> None:
    folder = beir_folder(tmp_path)
    for seed in ("1", "2"):
        done = driven(folder, tmp_path / f"cache{seed}", tmp_path / f"out{seed}", hash_seed=seed)
        assert done.returncode == 0, done.stderr
    assert held(tmp_path / "out1") == held(tmp_path / "out2")
    assert set(held(tmp_path / "out1")) == {
        "result.json",
        "samples.jsonl",
        "report.md",
        "report.html",
    }


def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    folder, cache = beir_folder(tmp_path), tmp_path / "cache"
    texts, asked = len(documents()), len(questions())
    distinct = len({text for _, text, _ in questions()})
    first = driven(folder, cache, tmp_path / "out", kill_at="asking rrf")
    assert first.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    second = driven(folder, cache, tmp_path / "out")
    assert second.returncode == 0, second.stderr
    # bm25 and dense were done, and the first wave of rrf; all vectors were there but those of
    # questions without their times.
    fresh = driven(folder, tmp_path / "other", tmp_path / "fresh")
    without_times = json.loads(fresh.stdout)["embedded"] - texts - distinct
    assert 0 <= without_times < distinct / 4
    assert json.loads(second.stdout) == {
        "embedded": without_times,
        "answered": (asked - 32) + asked,
    }
    assert json.loads(fresh.stdout)["answered"] == 4 * asked
    assert held(tmp_path / "out") == held(tmp_path / "fresh")


def test_a_limited_run_leaves_its_answers_to_the_whole_one(plan: Plan) -> None:
    told: list[tuple[str, int, int | None]] = []
    measured(replace(plan, limit=20), systems=("clew",))
    run(plan, systems=("clew",), watch=Watch(progress=lambda *each: told.append(each)))
    assert ("asking clew", len(questions()), len(questions())) in told
    assert not any(what == "asking clew" and done < 20 for what, done, _ in told)


def test_a_report_is_read_back_as_it_was_written(plan: Plan, tmp_path: Path) -> None:
    report = measured(plan, systems=("clew",))
    write(tmp_path / "out", report)
    again = load(tmp_path / "out")
    assert [row.system for row in again.result.rows] == ["bm25", "clew"]
    assert len(again.samples) == 2 * len(questions())
    assert again.timings is not None
    assert again.timings.machine["jobs"] == "1"
