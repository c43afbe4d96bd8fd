"""BEIR folders: a corpus, queries, and graded judgements for each split."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from clew.evaluate.data import Dataset, Passage, Query
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record

FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv | qrels/*.tsv")
PARTS = {
    "dev": "qrels/dev.tsv, or qrels/train.tsv where there is none",
    "test": "qrels/test.tsv",
    "all": "every file in qrels",
}
SPLITS = {
    "dev": "qrels/dev.tsv | qrels/train.tsv",
    "test": "qrels/test.tsv",
    EVERYTHING: "qrels/*.tsv",
}
_URL = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets"
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")

CARD = Card(
    name="beir",
    title="a BEIR folder",
    licence="that of the set",
    source=f"unpack the set's zip file from {_URL}/ (or any folder of that layout).",
    folder="beir",
    files=FILES,
    levels=("document",),
    parts=PARTS,
)
SCIFACT = Card(
    name="scifact",
    title="BEIR SciFact",
    licence="CC BY 4.0 (claims), ODC-By (abstracts)",
    source=f"unpack {_URL}/scifact.zip.",
    folder="beir_scifact",
    files=FILES,
    levels=("document",),
    parts=PARTS,
)


def load(asked: Asked) -> Dataset:
    """Return the corpus as passages and the judged queries of a split.

    Judgements of zero or less are not relevant.
    """
    folder = asked.folder
    known: set[str] = set()
    passages = {
        record.new("_id", known): _passage(record)
        for record in folder.records(folder.one("corpus.jsonl"))
    }
    asking: set[str] = set()
    texts = {
        record.new("_id", asking): record.text("text")
        for record in folder.records(folder.one("queries.jsonl"))
    }
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    unknown: list[str] = []
    for path in folder.all(SPLITS[asked.part]):
        for query, document, grade in _judgements(asked, path, texts):
            if document not in passages:
                unknown.append(f"{document} ({query})")
            elif grade > 0:
                judged[query][document] = grade
    queries = [
        Query(id=id, text=text, relevant={"document": judged[id]})
        for id, text in texts.items()
        if id in judged
    ]
    return asked.dataset(
        queries,
        passages=passages.values(),
        notes=counted(len(unknown), "judged documents not in the corpus", unknown),
    )


def _passage(record: Record) -> Passage:
    id = record.text("_id")
    return Passage(
        id=id,
        text=record.text("text"),
        title=record.text("title") if "title" in record else "",
        keys={"document": id},
    )


def _judgements(asked: Asked, path: Path, texts: dict[str, str]) -> list[tuple[str, str, int]]:
    judgements = []
    for row in asked.folder.rows(path, delimiter="\t"):
        query, document, score = row.text("query-id"), row.text("corpus-id"), row.text("score")
        if query not in texts:
            raise row.wrong("query-id", "is not in queries.jsonl")
        if not _WHOLE.fullmatch(score.strip()):
            raise row.wrong("score", "is not a whole number")
        judgements.append((query, document, int(score)))
    return judgements
