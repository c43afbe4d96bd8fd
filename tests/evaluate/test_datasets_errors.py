"""Bad, partial and missing files: the error names file, line and field, and the way out."""

from __future__ import annotations

import gzip
import json
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
    ("lihua", "lihua", "chats.jsonl", "Time: 20260105_09:00", "Soon", r"chats\.jsonl:1 text"),
    (
        "lihua",
        "lihua",
        "query_set.json",
        '"type": "Null"',
        '"kind": "Null"',
        r"query_set\.json:\d+ 2\.type",
    ),
    (
        "locomo",
        "locomo",
        "locomo10.json",
        '"category": 5',
        '"category": 9',
        r"locomo10\.json:\d+ qa\[4\]\.category",
    ),
    (
        "locomo",
        "locomo",
        "locomo10.json",
        '"evidence": [\n          "D1:1"\n        ]',
        '"evidence": [7]',
        r"locomo10\.json:\d+ qa\[4\]\.evidence\[0\]",
    ),
    (
        "locomo",
        "locomo",
        "locomo10.json",
        "9:00 am on 4 March, 2024",
        "soon",
        r"locomo10\.json:\d+ conversation\.session_2_date_time",
    ),
    (
        "locomo",
        "locomo",
        "locomo10.json",
        '"dia_id": "D2:1",',
        "",
        r"locomo10\.json:\d+ conversation\.session_2\[0\]\.dia_id",
    ),
    (
        "locomo",
        "locomo",
        "locomo10.json",
        '"category": 5',
        '"category": 5 5',
        r"locomo10\.json:\d+",
    ),
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
    (
        "longmemeval",
        "longmemeval",
        "longmemeval_oracle.jsonl",
        "2024/05/28 (Tue) 19:47",
        "2024-05-28",
        r".*:3 question_date",
    ),
    (
        "longmemeval",
        "longmemeval",
        "longmemeval_oracle.jsonl",
        '"role": "user", ',
        "",
        r".*:3 haystack_sessions\[1\]\[0\]\.role",
    ),
    (
        "longmemeval",
        "longmemeval",
        "longmemeval_oracle.jsonl",
        '"answer_session_ids": ["s4"]}',
        '"answer_',
        r"longmemeval_oracle\.jsonl:3",
    ),
    ("beir", "beir", "corpus.jsonl", '"_id": "d3"', '"id": "d3"', r"corpus\.jsonl:3 _id"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "77\tgone\t1", r"qrels/test\.tsv:5 query-id"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "1\tgone", r"qrels/test\.tsv:5 score"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "1\tgone\thigh", r"qrels/test\.tsv:5 score"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "1\tgone\t²", r"qrels/test\.tsv:5 score"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "1\tgone\t--1", r"qrels/test\.tsv:5 score"),
    ("beir", "beir", "qrels/test.tsv", "1\tgone\t1", "1\tgone\t1\tmore", r"qrels/test\.tsv:5"),
    ("beir", "beir", "corpus.jsonl", '"_id": "d3"', '"_id": "d1"', r"corpus\.jsonl:3 _id"),
    (
        "beir",
        "beir",
        "corpus.jsonl",
        '"_id": "d3"',
        f'"n": {"9" * 5000}, "_id": "d3"',
        r"corpus\.jsonl:3",
    ),
    (
        "beir",
        "beir",
        "corpus.jsonl",
        '"_id": "d3"',
        f'"n": {"[" * 100_000}, "_id": "d3"',
        r"corpus\.jsonl:3",
    ),
    ("hotpotqa", "hipporag_hotpot", "hotpotqa.json", "]", "] rest", r"hotpotqa\.json:\d+"),
    ("hotpotqa", "hipporag_hotpot", "hotpotqa.json", "]", ",]", r"hotpotqa\.json:\d+"),
    (
        "2wiki",
        "hipporag_derived",
        "queries_gold.jsonl",
        "[0, 1]",
        "[0, 4]",
        r"queries_gold\.jsonl:1 gold_idx",
    ),
    (
        "hotpotqa",
        "hipporag_hotpot",
        "hotpotqa.json",
        '"Lost",',
        "",
        r"hotpotqa\.json:2 context\[3\]",
    ),
    (
        "musique",
        "hipporag_musique",
        "musique.json",
        '"paragraphs"',
        '"paragraph"',
        r"musique\.json:2 contexts",
    ),
    (
        "chroma-chunking",
        "chroma",
        "questions_df.csv",
        '""end_index"": 23',
        '""end_index"": 24',
        r"questions_df\.csv:3 references\[1\]\.start_index",
    ),
    (
        "chroma-chunking",
        "chroma",
        "questions_df.csv",
        "finance",
        "weather",
        r"questions_df\.csv:3 corpus_id",
    ),
    ("chroma-chunking", "chroma", "questions_df.csv", "}]", "}", r"questions_df\.csv:3 references"),
    (
        "legalbench-rag",
        "legal",
        "benchmarks/privacy_qa.json",
        "18",
        "99",
        r"benchmarks/privacy_qa\.json:1 tests\[0\]\.snippets\[0\]\.span",
    ),
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
    (folder / "queries.jsonl").write_bytes(
        b'{"_id": "1", "text": "a"}\n{"_id": "2", "text": "\xff"}\n'
    )
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
def test_what_cannot_be_asked_for_is_refused_by_name(
    name: str, options: dict[str, Any], field: str
) -> None:
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


QUESTION = {"id": "1", "repo": "flask", "question": "where?", "gold_files": ["a.py"]}
INSTANCE = {
    "instance_id": "a",
    "repo": "o/a",
    "base_commit": "c",
    "patch": "--- a/a.py\n",
    "problem_statement": "wrong",
}


@pytest.mark.parametrize("name", ["", ".", "..", "../..", "/", "a/../../b", "C:\\a", "a\0b"])
def test_no_name_in_a_file_leads_out_of_the_sources(tmp_path: Path, name: str) -> None:
    (tmp_path / "sources" / "a").mkdir(parents=True)
    (tmp_path / "questions_gold.jsonl").write_text(
        json.dumps({**QUESTION, "repo": name}), encoding="utf-8"
    )
    with pytest.raises(
        InputError, match=r"questions_gold\.jsonl:1 repo: does not name something below a folder"
    ):
        load("swe-qa", tmp_path, part="all")
    for field in ("instance_id", "repo"):
        (tmp_path / "test.jsonl").write_text(
            json.dumps({**INSTANCE, field: name}), encoding="utf-8"
        )
        with pytest.raises(
            InputError, match=rf"test\.jsonl:1 {field}: does not name something below a folder"
        ):
            load("swe-bench", tmp_path)


def test_the_name_of_a_repository_is_no_pattern(tmp_path: Path) -> None:
    folder = spoiled(
        tmp_path,
        "repoeval",
        "datasets/line_level_completion_2k_context_codex.test.jsonl",
        '["',
        '["*", "',
    )
    with pytest.raises(InputError, match="holds no such file"):
        load("repoeval", folder)


@pytest.mark.parametrize(
    ("name", "file", "lines", "field"),
    [
        ("swe-qa", "questions_gold.jsonl", [QUESTION, QUESTION], "id"),
        ("swe-bench", "test.jsonl", [INSTANCE, INSTANCE], "instance_id"),
        ("2wiki", "queries_gold.jsonl", [{"id": "q", "question": "?", "gold_idx": [0]}] * 2, "id"),
    ],
)
def test_a_question_that_comes_twice_does_not_hide_the_first(
    tmp_path: Path, *, name: str, file: str, lines: list[Any], field: str
) -> None:
    (tmp_path / "2wikimultihopqa_corpus.json").write_text(
        '[{"title": "a", "text": "b"}]', encoding="utf-8"
    )
    (tmp_path / file).write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(
        InputError, match=rf"{re.escape(file)}:2 {field}: stands in an earlier record too"
    ):
        load(name, tmp_path, part="all")


def test_turns_and_conversations_of_locomo_are_there_once(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"session_2\[0\]\.dia_id: stands in an earlier record too"
    ):
        load(
            "locomo",
            spoiled(
                tmp_path / "turn", "locomo", "locomo10.json", '"dia_id": "D2:1"', '"dia_id": "D1:1"'
            ),
            part="all",
        )


def test_a_title_that_is_no_text_is_named(tmp_path: Path) -> None:
    asked = {"question": "?", "supporting_facts": [[["a"], 0]], "context": [["a", ["b"]]]}
    (tmp_path / "2wikimultihopqa_corpus.json").write_text(
        '[{"title": "a", "text": "b"}]', encoding="utf-8"
    )
    (tmp_path / "2wikimultihopqa.json").write_text(json.dumps([asked]), encoding="utf-8")
    with pytest.raises(
        InputError,
        match=r"2wikimultihopqa\.json:1 supporting_facts\[0\]: does not begin with a title",
    ):
        load("2wiki", tmp_path, part="all")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x05\x95" + b"\xff" * 8 + b".",
        b"\x80\x05X\xff\xff\xff\x7f",
        b"cos\nsystem\n(S'true'\ntR.",
    ],
)
def test_a_damaged_pickle_is_an_error_and_runs_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "python_cff.gz").write_bytes(gzip.compress(content))
    with pytest.raises(
        InputError, match=r"python_cff\.gz:1: is not a gzipped pickle of plain data"
    ):
        load("repobench-r", tmp_path)


def test_half_a_pair_of_surrogates_is_replaced_sign_for_sign(tmp_path: Path) -> None:
    folder = spoiled(
        tmp_path,
        "beir",
        "corpus.jsonl",
        '"_id": "d3", "title": "',
        '"_id": "d3", "title": "\\ud83d',
    )
    titles = {passage.id: passage.title for passage in load("beir", folder).passages}
    assert titles["d3"].startswith("\N{REPLACEMENT CHARACTER}")
    assert all(title.encode() is not None for title in titles.values())
