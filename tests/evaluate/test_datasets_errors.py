"""Bad, partial and missing files: the error names file, line and field, and the way out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from clew.errors import InputError
from clew.evaluate.datasets import catalogue, load

FIXTURES = Path(__file__).parent / "fixtures"


def spoiled(tmp_path: Path, fixture: str, file: str, old: str, new: str) -> Path:
    """Copy a fixture and replace the last place of some text in one of its files."""
    folder = tmp_path / fixture
    shutil.copytree(FIXTURES / fixture, folder)
    path = folder / file
    before, found, after = path.read_bytes().decode("utf-8").rpartition(old)
    assert found, f"{file} does not hold {old!r}"
    path.write_bytes((before + new + after).encode("utf-8"))
    return folder


# dataset, fixture, file, what is there, what is put in its place, what the error's field must be
BROKEN = [
    ("locomo", "locomo", "locomo10.json", '"category": 5', '"category": 9', r"locomo10\.json:\d+ qa\[4\]\.category"),
    (
        "locomo",
        "locomo",
        "locomo10.json",
        '"evidence": [\n          "D1:1"\n        ]',
        '"evidence": [7]',
        r"locomo10\.json:\d+ qa\[4\]\.evidence\[0\]",
    ),
    ("locomo", "locomo", "locomo10.json", "9:00 am on 4 March, 2024", "soon", r"locomo10\.json:\d+ conversation\.session_2_date_time"),
    ("locomo", "locomo", "locomo10.json", '"dia_id": "D2:1",', "", r"locomo10\.json:\d+ conversation\.session_2\[0\]\.dia_id"),
    ("locomo", "locomo", "locomo10.json", '"category": 5', '"category": 5 5', r"locomo10\.json:\d+"),
    (
        "longmemeval",
        "longmemeval",
        "longmemeval_oracle.jsonl",
        '["s4", "s1"]',
        '["s4"]',
        r"longmemeval_oracle\.jsonl:3 haystack_session_ids",
    ),
    (
        "longmemeval",
        "longmemeval",
        "longmemeval_oracle.jsonl",
        '"answer_session_ids": ["s4"]',
        '"answer_session_ids": ["s9"]',
        r".*:3 answer_session_ids",
    ),
    ("longmemeval", "longmemeval", "longmemeval_oracle.jsonl", "2024/05/28 (Tue) 19:47", "2024-05-28", r".*:3 question_date"),
    ("longmemeval", "longmemeval", "longmemeval_oracle.jsonl", '"role": "user", ', "", r".*:3 haystack_sessions\[1\]\[0\]\.role"),
    ("longmemeval", "longmemeval", "longmemeval_oracle.jsonl", '"answer_session_ids": ["s4"]}', '"answer_', r"longmemeval_oracle\.jsonl:3"),
    ("beir", "beir", "corpus.jsonl", '"_id": "d3"', '"id": "d3"', r"corpus\.jsonl:3 _id"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "77\tgone\t1", r"qrels/test\.tsv:5 query-id"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "1\tgone", r"qrels/test\.tsv:5 score"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "1\tgone\thigh", r"qrels/test\.tsv:5 score"),
    ("2wiki", "hipporag_derived", "queries_gold.jsonl", "[0, 1]", "[0, 4]", r"queries_gold\.jsonl:1 gold_idx"),
    ("hotpotqa", "hipporag_hotpot", "hotpotqa.json", '"Lost",', "", r"hotpotqa\.json:2 context\[3\]"),
    ("musique", "hipporag_musique", "musique.json", '"paragraphs"', '"paragraph"', r"musique\.json:2 contexts"),
    (
        "chroma-chunking",
        "chroma",
        "questions_df.csv",
        '""end_index"": 23',
        '""end_index"": 24',
        r"questions_df\.csv:3 references\[1\]\.start_index",
    ),
    ("chroma-chunking", "chroma", "questions_df.csv", "finance", "weather", r"questions_df\.csv:3 corpus_id"),
    ("chroma-chunking", "chroma", "questions_df.csv", "}]", "}", r"questions_df\.csv:3 references"),
    ("legalbench-rag", "legal", "benchmarks/privacy_qa.json", "18", "99", r"benchmarks/privacy_qa\.json:1 tests\[0\]\.snippets\[0\]\.span"),
    (
        "legalbench-rag",
        "legal",
        "benchmarks/privacy_qa.json",
        "Shop",
        "Shed",
        r"benchmarks/privacy_qa\.json:1 tests\[0\]\.snippets\[0\]\.file_path",
    ),
    (
        "repobench-r",
        "repobench",
        "python_cff.test_easy.jsonl",
        '"gold_snippet_index": 0',
        '"gold_snippet_index": 3',
        r".*:2 gold_snippet_index",
    ),
]


@pytest.mark.parametrize(("name", "fixture", "file", "old", "new", "field"), BROKEN)
def test_a_broken_file_is_named_with_line_and_field(
    tmp_path: Path, *, name: str, fixture: str, file: str, old: str, new: str, field: str
) -> None:
    folder = spoiled(tmp_path, fixture, file, old, new)
    with pytest.raises(InputError) as caught:
        load(name, folder, part="all")
    assert re.fullmatch(field, caught.value.field), caught.value.field
    assert "How to get" in caught.value.message


def test_the_line_of_a_record_in_a_list_is_where_it_begins(tmp_path: Path) -> None:
    folder = spoiled(tmp_path, "locomo", "locomo10.json", '"category": 5', '"category": 9')
    lines = (folder / "locomo10.json").read_text(encoding="utf-8").splitlines()
    with pytest.raises(InputError) as caught:
        load("locomo", folder)
    begins = [n for n, line in enumerate(lines, start=1) if line == "  {"][-1]
    assert caught.value.field.startswith(f"locomo10.json:{begins} ")


def test_bytes_that_are_not_utf_8_are_named_with_their_line(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    shutil.copytree(FIXTURES / "beir", folder)
    (folder / "queries.jsonl").write_bytes(b'{"_id": "1", "text": "a"}\n{"_id": "2", "text": "\xff"}\n')
    with pytest.raises(InputError, match=r"queries\.jsonl:2: is not UTF-8"):
        load("beir", folder)


def test_a_file_cut_off_in_a_list_is_an_error_and_not_a_shorter_set(tmp_path: Path) -> None:
    folder = tmp_path / "locomo"
    shutil.copytree(FIXTURES / "locomo", folder)
    whole = (folder / "locomo10.json").read_bytes()
    for length in (1, len(whole) // 2, len(whole.rstrip()) - 1):
        (folder / "locomo10.json").write_bytes(whole[:length])
        with pytest.raises(InputError, match="is not JSON"):
            load("locomo", folder)


@pytest.mark.parametrize("name", [entry.name for entry in catalogue()])
def test_a_missing_set_says_how_to_get_it(tmp_path: Path, name: str) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="How to get"):
            load(name, folder)


@pytest.mark.parametrize(
    ("name", "options", "field"),
    [
        ("nothing", {}, "dataset"),
        ("locomo", {"part": "train"}, "part"),
        ("legalbench-rag", {"part": "dev"}, "part"),
        ("locomo", {"limit": 0}, "limit"),
        ("locomo", {"audits": True}, "audits"),
        ("longmemeval", {"unit": "word"}, "unit"),
        ("repoeval", {"task": "poem"}, "task"),
        ("repoeval", {"window": 0}, "window"),
        ("repobench-r", {"lines": 0}, "lines"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_name(name: str, options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        load(name, FIXTURES, **options)
    assert caught.value.field == field


def test_the_audit_without_its_file_says_what_is_missing(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "locomo/locomo10.json", tmp_path)
    with pytest.raises(InputError, match=r"audit_errors\.json"):
        load("locomo", tmp_path, audit=True)


def test_a_part_without_questions_is_an_error_and_not_an_empty_table() -> None:
    with pytest.raises(InputError, match="holds no questions"):
        load("longmemeval", FIXTURES / "longmemeval")  # three questions: all of them dev
