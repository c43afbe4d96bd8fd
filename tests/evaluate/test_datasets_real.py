"""The real files, where they lie beside the repository: the counts that benchmarks.md gives."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clew.evaluate.chunkers import CHUNK, Recursive, cut
from clew.evaluate.data import Dataset
from clew.evaluate.datasets import card, load

DATA = Path(__file__).parents[2].parent / "shared/data"
SOURCES = os.environ.get("CLEW_SWE_QA_SOURCES", "")  # a folder that fetch_sources has filled


def real(name: str, part: str = "all", **options: Any) -> Dataset:
    folder = DATA / card(name).folder
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return load(name, folder, part=part, **options)


def test_locomo_has_5882_turns_and_1986_questions() -> None:
    dataset = real("locomo")
    assert (len(dataset.passages), len(dataset.queries)) == (5882, 1986)
    categories = {
        "single-hop": 841,
        "adversarial": 446,
        "temporal": 321,
        "multi-hop": 282,
        "open": 96,
    }
    assert Counter(query.category for query in dataset.queries) == categories
    assert all(passage.time is not None for passage in dataset.passages)


def test_locomo_parts_add_up_and_the_audit_drops_156() -> None:
    dev, test = real("locomo", "dev"), real("locomo", "test")
    assert len(dev.queries) + len(test.queries) == 1986
    assert not {query.space for query in dev.queries} & {query.space for query in test.queries}
    assert len(real("locomo", audit=True).queries) == 1986 - 156
    assert [len(real("locomo", part, pairs=True).queries) for part in ("dev", "test")] == [114, 140]


def test_longmemeval_has_940_sessions_and_500_questions_of_which_30_abstain() -> None:
    dataset = real("longmemeval")
    assert (len(dataset.passages), len(dataset.queries)) == (940, 500)
    assert (
        sum(query.id.endswith("_abs") for query in dataset.queries)
        == sum(not query.relevant for query in dataset.queries)
        == 30
    )
    assert len(real("longmemeval", "dev").queries) == 150
    turns = real("longmemeval", unit="turn")
    assert {passage.keys["session"] for passage in turns.passages} == {
        passage.id for passage in dataset.passages
    }


def test_lihua_has_442_chats_and_637_questions_of_which_65_have_no_answer() -> None:
    dataset = real("lihua")
    assert (len(dataset.passages), len(dataset.queries)) == (442, 637)
    assert Counter(query.category for query in dataset.queries) == {
        "Single": 506,
        "Multi": 66,
        "Null": 65,
    }
    assert len(real("lihua", "dev").queries) == 300


def test_2wiki_has_6119_passages_and_991_questions() -> None:
    dataset = real("2wiki")
    assert (len(dataset.passages), len(dataset.queries)) == (6119, 991)
    assert all(query.relevant["passage"] for query in dataset.queries)
    assert len(real("2wiki", "dev").queries) == 200


def test_scifact_has_5183_abstracts_and_300_test_claims() -> None:
    dataset = real("scifact", "test")
    assert (len(dataset.passages), len(dataset.queries), dataset.notes) == (5183, 300, ())
    assert len(real("scifact", "dev").queries) == 809


def test_chroma_has_472_questions_and_790_spans() -> None:
    dataset = real("chroma-chunking")
    assert (
        len(dataset.documents),
        len(dataset.queries),
        sum(len(query.spans) for query in dataset.queries),
    ) == (5, 472, 790)


def test_every_chroma_answer_lies_in_some_chunk() -> None:
    dataset = cut(real("chroma-chunking", "dev"), Recursive(200))
    assert all(query.relevant[CHUNK] for query in dataset.queries)


def test_legalbench_has_1171_questions_on_102_documents() -> None:
    dataset = real("legalbench-rag")
    assert (len(dataset.documents), len(dataset.queries)) == (102, 1171)


def test_swe_qa_has_219_questions_and_every_gold_file_is_in_the_sources() -> None:
    if not Path(SOURCES).is_dir() or not SOURCES:
        pytest.skip(
            "CLEW_SWE_QA_SOURCES names no folder of sources; fetch_sources(folder) of clew.evaluate.datasets fills one"
        )
    dataset = real("swe-qa", sources=SOURCES)
    assert (len(dataset.queries), dataset.notes) == (219, ())
    assert sum(len(query.relevant["file"]) > 1 for query in dataset.queries) == 108
    assert {document.space for document in real("swe-qa", "dev", sources=SOURCES).documents} == {
        "pallets/flask",
        "psf/requests",
    }
