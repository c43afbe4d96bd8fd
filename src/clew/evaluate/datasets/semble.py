"""semble's code search questions: what a developer asks of a project, and the files that answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clew.evaluate.data import Dataset, Document, Query
from clew.evaluate.datasets import trees
from clew.evaluate.datasets.card import Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record, storable
from clew.file_formats import FORMATS

CARD = Card(
    name="semble",
    title="semble code search",
    licence="MIT",
    source=(
        "put repos.json and annotations/ of github.com/MinishLab/semble (folder benchmarks) into "
        "a folder, and the projects' sources under "
        "its folder sources/ or where the option sources points; clew eval fetch semble FOLDER "
        "brings the pinned releases."
    ),
    folder="semble",
    files=("repos.json", "annotations/*.json", "sources/*"),
    levels=("file",),
    parts={
        "dev": "the first five projects of repos.json",
        "test": "the other projects",
        "all": "all projects",
    },
    options={
        "sources": "folder with <project>/, <project>-<version>/ or <project>-<version>.tar.gz "
        "(default: sources in the set's folder)",
        "whole": "take the whole source tree, with tests and documentation, instead of the "
        "folder that the set names (off)",
    },
)
DEV_PROJECTS = 5
TEXTS = (".md", ".rst")  # beside the code, where the whole tree is taken


def load(asked: Asked, *, sources: Path | str | None = None, whole: bool = False) -> Dataset:
    """Return source files as documents, one space for each project.

    Projects without sources and missing gold files are reported.
    """
    folder = asked.folder
    root = Path(sources) if sources is not None else folder.path / "sources"
    documents: list[Document] = []
    queries: list[Query] = []
    absent: list[str] = []
    lost: list[str] = []
    for repo in asked.split(list(folder.records(folder.one("repos.json"))), dev=DEV_PROJECTS):
        name = repo.below("name")
        try:
            tree = trees.find_tree(root, name, fetch=CARD.name)
        except trees.MissingTreeError:
            lost.append(name)
            continue
        documents += _documents(asked, repo, tree, whole=whole)
        known = {document.keys["file"] for document in documents if document.space == name}
        rows = folder.records(folder.one(f"annotations/{name}.json"))
        queries += [_query(row, name, number, known, absent) for number, row in enumerate(rows)]
    notes = (
        *counted(len(lost), "projects without sources left out", lost),
        *counted(len(absent), "gold files not in the sources", absent),
    )
    return asked.dataset(queries, documents=documents, notes=notes)


def _documents(asked: Asked, repo: Record, tree: Path, *, whole: bool) -> Iterator[Document]:
    """Yield the files of a project in its language, by default those below the folder that the benchmark indexes."""
    language, top = (
        repo.text("language"),
        f"{repo.text('benchmark_root').strip('/')}/" if repo.text("benchmark_root") else "",
    )
    suffixes = FORMATS.get(language)
    if suffixes is None:
        raise repo.wrong("language", "is not a language that can be read")
    files = trees.tree(asked.folder, tree, suffix=(*suffixes, *TEXTS) if whole else suffixes)
    chosen = files if whole else (file for file in files if file[0].startswith(top))
    return trees.documents(chosen, space=repo.text("name"))


def _query(row: Record, project: str, number: int, known: set[str], absent: list[str]) -> Query:
    id = f"{project}/{number}"
    files = dict.fromkeys((*_files(row, "relevant"), *_files(row, "secondary")))
    absent += [f"{file} ({id})" for file in files if file not in known]
    gold = {file: 1 for file in files if file in known}
    return Query(
        id=id,
        text=row.text("query"),
        space=project,
        category=row.text("category"),
        relevant={"file": gold},
    )


def _files(row: Record, field: str) -> Iterator[str]:
    """Yield the files of a list.

    Some stand with the lines that answer, which are not judged here.
    """
    for number, value in enumerate(row.values(field)):
        yield (
            storable(value)
            if isinstance(value, str)
            else Record.of(value, row.place, f"{field}[{number}].").text("path")
        )
