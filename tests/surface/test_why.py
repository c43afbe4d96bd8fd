"""`clew why`, `clew why-not`, `clew replay` and the tree of reasons, for people and for programs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from clew.search.state import Component, Hit, Hop, Place
from clew.surface.cli.views.hits import hit_tree
from clew.surface.cli.views.screen import show
from tests.surface.conftest import TEXTS, Cli, Process
from tests.surface.test_contract import DOCS, HIT

WHY = {
    "id",
    "query",
    "k",
    "rank",
    "ranked",
    "answer_rank",
    "reasons",
    "main_reason",
    "hit",
    "why_not",
}
WHY_NOT = {"id", "stage", "reason", "value", "threshold", "rank", "by", "channels", "sentence"}
REPLAY = {
    "identical",
    "trace_id",
    "query",
    "now",
    "ranking",
    "changes",
    "settings",
    "model",
    "store",
    "sentences",
    "notes",
}
CHANGE = {"id", "change", "rank_before", "rank", "score_before", "score", "components", "reason"}
TRACE = {
    "format",
    "version",
    "clew",
    "id",
    "now",
    "question",
    "recipe",
    "settings",
    "model",
    "store",
    "ranking",
    "notes",
}
ASK = "which port does the staging database use"


def ids(cli: Cli) -> dict[str, str]:
    return {memory["text"]: memory["id"] for memory in cli.json("list")["memories"]}


# --- why ---


def test_why_has_the_keys_of_the_contract_and_numbers_that_add_up(filled: Cli) -> None:
    answer = filled.json("recall", ASK, "--no-track")
    for hit in answer["hits"]:
        why = filled.json("why", ASK, hit["id"])
        assert set(why) == WHY
        assert (why["rank"], why["answer_rank"], why["query"], why["k"]) == (
            hit["rank"],
            hit["rank"],
            ASK,
            10,
        )
        assert set(why["hit"]) == HIT
        assert math.isclose(
            sum(reason["contribution"] for reason in why["reasons"]),
            why["hit"]["score"],
            abs_tol=1e-9,
        )
        assert all(set(reason) == {"kind", "name", "contribution"} for reason in why["reasons"])
        assert set(why["main_reason"]) == {"reasons", "decisive", "rank_without"}
        assert why["why_not"] is None


def test_why_of_one_that_was_not_ranked_exits_with_one_and_says_what_kept_it_out(
    filled: Cli,
) -> None:
    id = ids(filled)[TEXTS[1]]
    why = filled.json("why", ASK, id, "--recipe", "lexical", code=1)
    assert set(why) == WHY
    assert (why["rank"], why["hit"], why["main_reason"], why["reasons"]) == (None, None, None, [])
    assert set(why["why_not"]) == WHY_NOT
    told = filled("why", ASK, id, "--recipe", "lexical", code=1).stdout
    assert "not among the" in told
    assert "it shares no word with the question" in told


def test_why_for_people_names_place_main_reason_and_the_tree(filled: Cli) -> None:
    told = filled("why", ASK, ids(filled)[TEXTS[0]]).stdout
    assert told.startswith(f"{TEXTS[0]}\nRank 1 of ")
    assert "Main reason: " in told
    assert "├── semantic" in told
    assert "│   ├── words" in told
    assert all(line == line.rstrip() for line in told.splitlines())


# --- why-not ---


@pytest.mark.parametrize(
    ("text", "options", "stage", "reason"),
    [
        (TEXTS[0], (), "answer", "found"),
        (TEXTS[0], ("--category", "fact"), "filter", "category"),
        (TEXTS[0], ("--tag", "x"), "filter", "tag"),
        (TEXTS[0], ("--until", "2020-01-01"), "filter", "until"),
        (TEXTS[0], ("--min-similarity", "0.99"), "candidates", "min_similarity"),
        (TEXTS[1], ("--recipe", "lexical"), "candidates", "not_a_candidate"),
        (TEXTS[0], ("--budget-tokens", "1"), "pack", "budget_tokens"),
        (TEXTS[0], ("--space", "elsewhere"), "store", "unknown_id"),
    ],
)
def test_why_not_names_stage_and_reason(
    filled: Cli, text: str, options: tuple[str, ...], stage: str, reason: str
) -> None:
    code = 1 if reason == "unknown_id" else 0
    id = ids(filled)[text]
    found = filled.json("why-not", ASK, id, *options, code=code)
    assert set(found) == WHY_NOT
    assert (found["id"], found["stage"], found["reason"]) == (id, stage, reason)
    assert (
        filled("why-not", ASK, id, *options, code=code).stdout == f"{stage}: {found['sentence']}\n"
    )


def test_why_not_reads_its_question_from_stdin(filled: Cli) -> None:
    assert (
        filled.json("why-not", "-", ids(filled)[TEXTS[0]], stdin="staging port\n")["stage"]
        == "answer"
    )


# --- replay ---


def test_a_saved_trace_replays_identically_and_then_tells_what_changed(
    filled: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "a trace.json"
    answer = filled.json("recall", ASK, "--save-trace", str(file))
    trace = json.loads(file.read_text(encoding="utf-8"))
    assert set(trace) == TRACE
    assert trace["id"] == answer["trace_id"]
    assert [(each["id"], each["score"]) for each in trace["ranking"]] == [
        (hit["id"], hit["score"]) for hit in answer["hits"]
    ]
    same = filled.json("replay", str(file))
    assert set(same) == REPLAY
    assert (same["identical"], same["changes"], same["settings"], same["store"]) == (
        True,
        [],
        {},
        {},
    )
    assert filled("replay", "-", stdin=file.read_bytes()).stdout.startswith("identical\n")
    filled("forget", answer["hits"][0]["id"], "--yes")
    other = filled.json("replay", str(file), code=1)
    assert other["identical"] is False
    assert set(other["changes"][0]) == CHANGE
    assert (other["changes"][0]["id"], other["changes"][0]["change"]) == (
        answer["hits"][0]["id"],
        "gone",
    )
    assert filled("replay", str(file), code=1).stdout.startswith("not identical\n")


def test_a_changed_setting_is_named_by_the_command_too(
    filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "trace.json"
    filled("recall", ASK, "--save-trace", str(file))
    monkeypatch.setenv("CLEW_RECALL__CANDIDATES", "90")
    found = filled.json("replay", str(file), code=None)
    assert found["settings"] == {"recall.candidates": {"before": 100, "after": 90}}


def test_a_trace_is_not_written_over_a_file_or_into_no_folder(filled: Cli, tmp_path: Path) -> None:
    taken = tmp_path / "taken.json"
    taken.write_text("mine", encoding="utf-8")
    for path in (taken, tmp_path / "nowhere" / "trace.json"):
        assert (
            filled.json("recall", ASK, "--save-trace", str(path), code=2)["error"]["field"]
            == "save_trace"
        )
    assert taken.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"format": "clew-trace", "version": 1}', "\x00"]
)
def test_what_is_no_trace_is_a_usage_error(filled: Cli, text: str) -> None:
    error = filled.json("replay", "-", stdin=text, code=2)["error"]
    assert error["code"] == "input.invalid"
    assert error["field"].startswith("trace")


# --- the tree ---


def linked(**fields: Any) -> Hit:
    hop = Hop("start", "NAMES", 0.5, "end", 0.25, "Dana \x1b[31mFox")
    channels = {"path": Place(None, 0.25, 0.25, 0.4), "sparse": Place(3, 2.5, 0.5, 0.6)}
    components = {
        "semantic": Component(0.4, 0.8),
        "recency": Component(0.5, 0.1),
        "tracerank": Component(-0.1, 0.5),
    }
    return Hit(
        "end",
        0.32,
        channels,
        components,
        method="traversal",
        explanation="Found along links.",
        path=(hop,),
        **fields,
    )


def test_the_tree_shows_method_sentence_channels_components_and_the_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(hit_tree(linked()))
    drawn = capsys.readouterr().out
    assert drawn == (
        "score 0.3200 = 0.3200 + 0.0500 - 0.0500\n"
        "├── method     traversal\n"
        "├── Found along links.\n"
        "├── semantic   0.4000 × 0.8 = 0.3200\n"
        "│   ├── links    0.2500 × 0.4 = 0.1000  not proposed, signal 0.250\n"
        "│   └── words    0.5000 × 0.6 = 0.3000  rank 3, BM25 2.500\n"
        "├── recency    0.5000 × 0.1 = 0.0500\n"
        "├── tracerank  -0.1000 × 0.5 = -0.0500\n"
        "└── path       1 × linked, signal 0.2500\n"
        "    └── start –NAMES→ end (Dana \\x1b[31mFox)  weight 0.500, signal 0.2500\n"
    )


def test_a_pipe_gets_no_colours(process: Process) -> None:
    process("add", TEXTS[0])
    for arguments in (("recall", "staging", "--explain"), ("why-not", "staging", "01nobody")):
        assert b"\x1b" not in process(*arguments).stdout
        assert b"\x1b" in process(*arguments, FORCE_COLOR="1").stdout


def test_the_contract_is_documented() -> None:
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    for key in WHY | WHY_NOT | REPLAY | CHANGE:
        assert f'"{key}"' in page, key
    for key in TRACE:
        assert f"`{key}`" in page, key


def test_a_recall_that_is_saved_counts_no_access_so_that_its_replay_is_the_same(
    filled: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "trace.json"
    filled("recall", ASK, "--preset", "popular", "--save-trace", str(file))
    assert filled.json("replay", str(file))["identical"]
