"""SWE-bench: issues of Python projects, and the files that the fixing patch changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clew.errors import InputError
from clew.evaluate.data import Dataset, Document, Query
from clew.evaluate.datasets import trees
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record, distinct

CARD = Card(
    name="swe-bench",
    title="SWE-bench (Lite, Verified or full)",
    licence="MIT (set); each project's own (sources)",
    source=(
        "write the rows of https://huggingface.co/datasets/SWE-bench/SWE-bench_Lite as JSON "
        "lines to <any name>test<any name>.jsonl "
        "(dev: …dev….jsonl); clone the projects, or check out each base commit, into one folder "
        "and give it as the option sources."
    ),
    folder="swe_bench",
    files=("*test*.jsonl | *test*.json | *dev*.jsonl | *dev*.json", "sources/*"),
    levels=("file",),
    parts={
        "dev": "the published dev split",
        "test": "the published test split",
        "all": "every file in the folder",
    },
    options={
        "sources": "folder with <instance_id>/ (a checkout at the base commit), <owner>__<name>/ "
        "(a git clone), or, where a row has the "
        "field sdist, <project>-<version>/ (clew eval fetch swe-bench FOLDER brings those of 35 "
        "instances); default: sources"
    },
)
SPLITS = {part: f"*{part}*.jsonl | *{part}*.json" for part in ("dev", "test")} | {
    EVERYTHING: "*.jsonl | *.json"
}
# The file as it was before the patch; a file that the patch creates (/dev/null) cannot be found at
# the base commit.
_BEFORE = re.compile(r"^--- a/(?P<path>[^\t\n]+?)\r?(?:\t.*)?$", re.MULTILINE)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_CREATED = re.compile(r"^--- /dev/null\r?\n\+\+\+ b/(?P<path>[^\t\n]+?)\r?(?:\t.*)?$", re.MULTILINE)


def load(asked: Asked, *, sources: Path | str | None = None) -> Dataset:
    """Return the Python files at each base commit as documents, one space for each commit.

    Only the commits of the asked questions are read: no question can see another commit's files.
    """
    root = Path(sources) if sources is not None else asked.folder.path / "sources"
    instances = asked.first(
        [
            record
            for path in asked.folder.all(SPLITS[asked.part])
            for record in asked.folder.records(path)
        ]
    )
    distinct(instances, "instance_id")
    documents: dict[str, Document] = {}
    for space, record in sorted({_space(record): record for record in instances}.items()):
        documents |= {
            document.id: document
            for document in trees.documents(_files(asked, root, record), space=space)
        }
    absent: list[str] = []
    queries = [_query(record, documents, absent) for record in instances]
    notes = counted(
        len(absent), "patched files not among the sources (created, or not Python)", absent
    )
    return asked.dataset(queries, documents=documents.values(), notes=notes)


def _space(record: Record) -> str:
    return f"{record.text('repo')}@{record.text('base_commit')}"


def _files(asked: Asked, root: Path, record: Record) -> Iterator[tuple[str, bytes]]:
    repo = record.below("repo")
    checkout = root / record.below("instance_id")
    if checkout.is_dir():
        return trees.tree(asked.folder, checkout)
    released = _release(root, record)
    if released is not None:
        return trees.tree(asked.folder, released)
    for clone in (root / repo.replace("/", "__"), root / repo, root / repo.rsplit("/", 1)[-1]):
        if clone.is_dir() and trees.is_clone(clone):
            return trees.commit(asked.folder, clone, record.text("base_commit"))
    way_out = f"git clone https://github.com/{repo} {root / repo.replace('/', '__')}, or check out the base commit there."
    raise InputError(
        "sources", str(root), f"holds neither {checkout.name}/ nor a clone of {repo}", way_out
    )


def _release(root: Path, record: Record) -> Path | None:
    """Return the source distribution that stands in for the base commit, where the row names one that is here."""
    project, equals, version = (record.text("sdist") if "sdist" in record else "").partition("==")
    name = f"{project}-{version}"
    if not equals or not _PLAIN_NAME.fullmatch(name):
        return None
    return next((path for path in (root / name, root / f"{name}.tar.gz") if path.exists()), None)


def _query(record: Record, documents: dict[str, Document], absent: list[str]) -> Query:
    id, space, patch = record.text("instance_id"), _space(record), record.text("patch")
    changed = [found["path"] for found in _BEFORE.finditer(patch)]
    if not changed and not _CREATED.search(patch):
        raise record.wrong("patch", "names no file")
    gold = {path: 1 for path in changed if f"{space}/{path}" in documents}
    absent += [f"{path} ({id})" for path in changed if path not in gold] + [
        f"{found['path']} ({id})" for found in _CREATED.finditer(patch)
    ]
    text = record.text("problem_statement")
    return Query(
        id=id, text=text, space=space, category=record.text("repo"), relevant={"file": gold}
    )
