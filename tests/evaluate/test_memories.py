"""Memories and questions of one's own as a set: the file that anybody can write."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from clew.errors import InputError
from clew.evaluate.datasets import load

HOME = """
home:
  memories:
  - {key: car, text: "The car is a grey Octavia.", title: Car, time: 2026-03-01}
  - {key: mot, text: "Its test is due in September."}
  questions:
  - {ask: "What do I drive, and when is it due?", needs: [car, mot], category: two}
  - {ask: "colour of the car", needs: [car]}
work:
  memories:
  - {key: car, text: "The pool car is booked by Ann."}
  questions:
  - {ask: "who books cars?", needs: [car]}
"""


def written(folder: Path, text: str) -> Path:
    (folder / "memories.yaml").write_text(text, encoding="utf-8")
    return folder


def test_each_space_is_its_own_and_questions_name_what_they_need(tmp_path: Path) -> None:
    dataset = load("memories", written(tmp_path, HOME))
    assert [passage.id for passage in dataset.passages] == ["home/car", "home/mot", "work/car"]
    assert dataset.passages[0].time == datetime(2026, 3, 1, tzinfo=UTC)
    assert [
        (query.space, query.category, sorted(query.relevant["memory"])) for query in dataset.queries
    ] == [
        ("home", "two", ["home/car", "home/mot"]),
        ("home", "home", ["home/car"]),
        ("work", "work", ["work/car"]),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "home: {memories: [{key: a, text: b}], questions: [{ask: c, needs: [z]}]}",
            "home.questions[0].needs: names 'z'",
        ),
        (
            "home: {memories: [{key: a, text: b}, {key: a, text: c}], questions: []}",
            "home.memories[1].key: stands in an earlier record",
        ),
        (
            "home: {memories: [{key: a, text: b, time: soon}], questions: []}",
            "home.memories[0].time: is not a time",
        ),
        (
            "home: {memories: [{key: 1, text: b}], questions: []}",
            "home.memories[0].key: is not a text",
        ),
        ("home: {questions: []}", "home.memories: is missing"),
        ("home: [1]", "home: is not an object"),
        ("home: {memories: []}\nhome: {memories: []}", "the key 'home' comes twice"),
        (
            "home: {memories: [{key: a, key: b, text: c}], questions: []}",
            "the key 'key' comes twice",
        ),
        (
            "home: {memories: [{key: a, text: b}], questions: [{ask: c, needs: []}]}",
            "home.questions[0].needs: names no memory",
        ),
        (
            "home: {memories: [{key: a, text: ' '}], questions: []}",
            "home.memories[0].text: says nothing",
        ),
        ("a/b: {memories: [], questions: []}", "is no name of a space"),
        ("- 1", "is not an object"),
        ("1: {}", "is not a text; put it in quotes"),
        ("home: {memories: [\n{key: a", "memories.yaml:2"),
        ("home: {memories: [{key: a, text: b}], questions: []}", "holds no questions"),
    ],
)
def test_what_is_wrong_in_it_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load("memories", written(tmp_path, text))
    assert said in str(caught.value)


def test_several_files_are_read_together(tmp_path: Path) -> None:
    (written(tmp_path, HOME) / "more.yml").write_text(
        HOME.replace("home:", "garden:").replace("work:", "shed:"), encoding="utf-8"
    )
    assert {query.space for query in load("memories", tmp_path).queries} == {
        "home",
        "work",
        "garden",
        "shed",
    }


def test_a_space_is_described_in_one_file(tmp_path: Path) -> None:
    (written(tmp_path, HOME) / "more.yml").write_text(HOME, encoding="utf-8")
    with pytest.raises(InputError, match="a second time"):
        load("memories", tmp_path)
