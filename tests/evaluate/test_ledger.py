"""Answers kept on disk."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from clew.evaluate.answering import Ledger, code_hash, question_key
from clew.evaluate.data import Answer, Cost, Query

COST = Cost(embedding_calls=1, chunks_examined=2, passes=1, tokens_returned=9, milliseconds=0.5)
ANSWER = Answer(ranking=("a", "b\u2028"), hops={"a": 1, "b\u2028": 2}, cost=COST)
QUERY = Query(id="q", text="what")


def filled(folder: Path) -> Path:
    with closing(Ledger(folder, {"x": 1})) as ledger:
        ledger.write(QUERY, ANSWER)
    (file,) = folder.glob("*.answers.jsonl")
    return file


def test_an_answer_is_read_back_as_it_was(tmp_path: Path) -> None:
    filled(tmp_path)
    with closing(Ledger(tmp_path, {"x": 1})) as ledger:
        assert ledger.get(QUERY) == ANSWER


def test_a_half_line_left_by_a_kill_costs_only_itself(tmp_path: Path) -> None:
    file = filled(tmp_path)
    other = replace(QUERY, id="r")
    file.write_bytes(file.read_bytes() + b'\n{"key": "half", "rank')
    with closing(Ledger(tmp_path, {"x": 1})) as ledger:
        assert ledger.get(QUERY) == ANSWER
        assert ledger.get(other) is None
        ledger.write(other, ANSWER)
    with closing(Ledger(tmp_path, {"x": 1})) as ledger:
        assert ledger.get(other) == ANSWER


def test_bytes_that_are_no_text_cost_only_their_line(tmp_path: Path) -> None:
    file = filled(tmp_path)
    file.write_bytes(b"\xff\xfe\n" + file.read_bytes() + b'\n{"key": 1}\n[]\n')
    with closing(Ledger(tmp_path, {"x": 1})) as ledger:
        assert ledger.get(QUERY) == ANSWER


def test_another_configuration_has_another_ledger(tmp_path: Path) -> None:
    filled(tmp_path)
    with closing(Ledger(tmp_path, {"x": 2})) as ledger:
        assert ledger.get(QUERY) is None


def test_a_question_that_asks_something_else_is_another_question() -> None:
    others = [replace(QUERY, text="why"), replace(QUERY, space="b"), replace(QUERY, id="r")]
    assert len({question_key(query) for query in (QUERY, *others)}) == 4
    judged = replace(QUERY, relevant={"turn": {"a": 1}}, category="x")
    assert question_key(judged) == question_key(QUERY)  # what is relevant has no part in an answer


def test_the_state_of_the_code_has_one_name_in_a_process() -> None:
    assert code_hash() == code_hash()
    assert len(code_hash()) == 64
