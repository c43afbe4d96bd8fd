"""SWE-QA: questions about source trees, and the files that the reference answers cite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from clew.evaluate.codepaths import code_graphs, query_paths
from clew.evaluate.data import Dataset, Document, Query
from clew.evaluate.datasets import trees
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record, distinct

CARD = Card(
    name="swe-qa",
    title="SWE-QA",
    licence="Apache-2.0",
    source=(
        "put questions_gold.jsonl (question, repo, gold_files) into a folder, and the projects' "
        "sources under its folder sources/ "
        "or where the option sources points; clew eval fetch swe-qa FOLDER brings the pinned "
        "source distributions."
    ),
    folder="swe_qa",
    files=("questions_gold.jsonl", "sources/*"),
    levels=("file",),
    parts={"dev": "flask, requests", "test": "the other projects", "all": "all projects"},
    options={
        "sources": "folder with <project>/, <project>-<version>/ or <project>-<version>.tar.gz "
        "(default: sources in the set's folder)",
        "paths": "read the dependencies between files, so that path@k can be measured; needs "
        "clew[code] (off)",
    },
)
DEV_PROJECTS = frozenset({"flask", "requests"})


def load(asked: Asked, *, sources: Path | str | None = None, paths: bool = False) -> Dataset:
    """Return Python files as documents, one space for each project.

    Gold files that do not exist are reported.
    """
    questions = [
        record
        for record in asked.folder.records(asked.folder.one(CARD.files[0]))
        if _wanted(asked, record)
    ]
    root = Path(sources) if sources is not None else asked.folder.path / "sources"
    documents: list[Document] = []
    distinct(questions, "id")
    for space in sorted({record.below("repo") for record in questions}):
        documents += trees.documents(
            trees.tree(asked.folder, trees.find_tree(root, space, fetch=CARD.name)), space=space
        )
    known = {(document.space, document.keys["file"]) for document in documents}
    absent: list[str] = []
    queries = [_query(record, known, absent) for record in questions]
    if paths:
        chains = query_paths(queries, code_graphs(documents))
        queries = [replace(query, paths=chains.get(query.id, ())) for query in queries]
    return asked.dataset(
        queries,
        documents=documents,
        notes=counted(len(absent), "gold files not in the sources", absent),
    )


def _wanted(asked: Asked, record: Record) -> bool:
    return asked.part == EVERYTHING or (_project(record.text("repo")) in DEV_PROJECTS) == (
        asked.part == "dev"
    )


def _project(repo: str) -> str:
    return repo.rsplit("/", 1)[-1]


def _query(record: Record, known: set[tuple[str, str]], absent: list[str]) -> Query:
    id, space, files = record.text("id"), record.text("repo"), record.texts("gold_files")
    absent += [f"{file} ({id})" for file in files if (space, file) not in known]
    gold = {file: 1 for file in files if (space, file) in known}
    category = "several files" if len(files) > 1 else "one file"
    return Query(
        id=id, text=record.text("question"), space=space, category=category, relevant={"file": gold}
    )
