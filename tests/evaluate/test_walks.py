"""Evidence that hangs together.

Clew's own hops and paths against the known ones, from the loader to the report.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from clew.evaluate.answering import Ledger
from clew.evaluate.data import Answer, Cost, Query
from clew.evaluate.datasets import load
from clew.evaluate.datasets.multihop import LONGEST_CHAIN, MOST_CHAINS, chains
from clew.evaluate.measures import Walk, mean_walk, walk_of
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import Report, dumps, loads, render_markdown
from clew.evaluate.report.model import Result
from clew.evaluate.running import run

PEOPLE = ("Ada Holm", "Bo Lind", "Cy Marsh", "Di Nord", "Ed Orre", "Fay Pell")
FILMS = ("Salt Meadow", "Blue Harbour", "Cold Orchard", "Long Winter", "Red Quarry", "Tall Grass")
FILLER = (
    "A village lies by the sea and has one mill",
    "The mill was built of stone by three brothers",
    "Rain fell on the village",
)


def questions() -> list[dict[str, Any]]:
    """One film and its director each.

    Only the film's text names the director, whose text has no word of the question.
    """
    return [
        {
            "id": f"q{n}",
            "type": "compositional",
            "question": f"Which place does the director of {film} come from?",
            "gold_idx": [2 * n, 2 * n + 1],
            "evidence": [
                [film, "director", person],
                [person, "home", "Velt"],
                ["broken"],
                [film, "year", 1950],
            ],
        }
        for n, (film, person) in enumerate(zip(FILMS, PEOPLE, strict=True))
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus = []
    for film, person in zip(FILMS, PEOPLE, strict=True):
        corpus.append({"title": film, "text": f"{film} is a film whose director was {person}."})
        corpus.append({"title": person, "text": "Grew up in Velt as the third child of a miller."})
    corpus += [
        {"title": f"Note {n}", "text": f"{text}, which somebody wrote down {n} times."}
        for n, text in enumerate(FILLER * 12)
    ]
    made = tmp_path / "set"
    made.mkdir()
    (made / "2wikimultihopqa_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    (made / "queries_gold.jsonl").write_text(
        "\n".join(map(json.dumps, questions())), encoding="utf-8"
    )
    return made


@pytest.fixture
def report(folder: Path, tmp_path: Path) -> Report:
    plan = Plan(
        dataset="2wiki",
        path=folder,
        part="dev",
        resamples=50,
        cache=tmp_path / "cache",
        settings={"model.embedder": "hashing-64"},
    )
    return run(plan, watch=Watch())


def test_the_facts_of_a_question_are_its_known_paths(folder: Path) -> None:
    assert [query.paths for query in load("2wiki", folder, part="dev").queries] == [
        ((str(2 * n), str(2 * n + 1)),) for n in range(6)
    ]


def test_steps_are_joined_in_order_and_a_ring_ends() -> None:
    assert chains([]) == ()
    assert chains([("b", "c"), ("a", "b"), ("a", "d"), ("a", "b")]) == (("a", "b", "c"), ("a", "d"))
    assert chains([("a", "b"), ("b", "a")]) == (("a", "b"),)


def test_a_run_tells_what_each_hop_and_each_path_found(report: Report) -> None:
    hops = {each.hop: each for each in report.result.hopwise if each.system == "clew"}
    assert sorted(hops)[:2] == [1, 2]
    assert hops[1].recall < hops[2].recall == 1.0
    (walked,) = report.result.walked
    assert (walked.system, walked.questions, walked.walked, walked.complete) == (
        "clew",
        6,
        1.0,
        1.0,
    )
    assert 0 < walked.right <= 1
    rows = {row.system: row.measures for row in report.result.rows}
    assert rows["clew"]["path@10"] == 1.0 > rows["bm25"]["path@10"]


def test_the_report_shows_paths_and_reads_them_back(report: Report) -> None:
    page = render_markdown(report.result)
    assert "## Paths" in page
    assert "## Hop by hop" in page
    assert loads(Result, dumps(report.result)).walked[0].system == "clew"


def test_an_answer_keeps_its_links_on_disk(tmp_path: Path) -> None:
    cost = Cost(embedding_calls=0, chunks_examined=1, passes=1, tokens_returned=1, milliseconds=0.0)
    answer = Answer(ranking=("a", "b"), hops={"a": 1, "b": 2}, cost=cost, links=(("a", "b"),))
    for _ in range(2):
        ledger = Ledger(tmp_path, {"system": "x"})
        if ledger.get(Query(id="q", text="?")) is None:
            ledger.write(Query(id="q", text="?"), answer)
        assert ledger.get(Query(id="q", text="?")) == answer
        ledger.close()


def test_questions_that_show_no_link_do_not_count_for_how_right_links_are() -> None:
    none, half = (
        walk_of([], ["a"], [["a", "b"]]),
        walk_of([("a", "b"), ("a", "x")], ["a", "b"], [["a", "b"]]),
    )
    assert none == Walk(walked=0.0, right=0.0, shown=0.0, found=0.5, complete=0.0)
    assert mean_walk([none, half]) == Walk(
        walked=0.5, right=0.5, shown=1.0, found=0.75, complete=0.5
    )


def test_facts_that_all_lead_to_one_another_do_not_make_chains_without_end() -> None:
    names = [f"{n:03d}" for n in range(60)]
    found = chains((one, other) for one in names for other in names if one < other)
    assert len(found) == MOST_CHAINS
    assert max(map(len, found)) == LONGEST_CHAIN
    assert found == chains((one, other) for one in names for other in names if one < other)
    line = chains(itertools.pairwise(str(n) for n in range(5_000)))
    assert [len(chain) for chain in line] == [LONGEST_CHAIN]
