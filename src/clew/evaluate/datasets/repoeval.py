"""RepoEval: unfinished code, and the lines of the same repository that were taken out of it.

**The question does not contain its answer.** A question is the last lines *before* the missing ones
(RepoCoder's window of 20), so the missing lines are not in it; a question that still repeats them
word for word is left out and counted in the notes. The other way round, the corpus does not contain
the question: a published file holds the window right above the missing lines, so that every chunk
with both would be found by plain repetition. The windows of all questions of a repository are
therefore blanked in its files (spaces for letters, so that offsets and line numbers hold), except
for lines that are some question's missing ones. What is left to be found is the missing lines, and
everything in them counts by overlap of lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path

from clew.errors import InputError
from clew.evaluate.data import Dataset, Document, Query, Span
from clew.evaluate.datasets import trees
from clew.evaluate.datasets.card import Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record

CARD = Card(
    name="repoeval",
    title="RepoEval",
    licence="MIT (set); each project's own (sources)",
    source=(
        "unpack datasets/datasets.zip into datasets/, and repositories/line_and_api_level.zip "
        "(for the task function: function_level.zip) "
        "into repositories/, all from https://github.com/microsoft/CodeT/tree/main/RepoCoder."
    ),
    folder="repoeval",
    files=("datasets/*_level_completion_*.test.jsonl", "repositories/* | sources/*"),
    levels=("file",),
    parts={"test": "all questions: the set has no dev part", "all": "all questions"},
    options={
        "task": "line (default), api or function",
        "window": "how many lines before the gap are the question (20)",
        "sources": "folder with releases of the projects instead of their repositories; projects "
        "without one are left out",
    },
)
TASKS = ("line", "api", "function")
WINDOW = 20  # lines: RepoCoder's window size
_INK = re.compile(r"[^\s]")


@dataclass(frozen=True, slots=True)
class Gap:
    """The missing lines of one question, as a range of lines of a document."""

    id: str
    document: str
    question: str
    first: int
    last: int
    window: int

    @property
    def asked_lines(self) -> range:
        """The lines that the question shows."""
        return range(max(0, self.first - self.window), self.first)


# How a project is called in the package index, where its repository is called otherwise.
RELEASED = {"leopard-ai_betty": "betty-ml", "google_lightweight_mmm": "lightweight_mmm"}


def load(
    asked: Asked, *, task: str = "line", window: int = WINDOW, sources: Path | str | None = None
) -> Dataset:
    """Return the repositories' files as documents, one space each, with the missing lines of each question as its span."""
    if task not in TASKS:
        raise InputError("task", task, "is not a task of RepoEval", "Use line, api or function.")
    if window < 1:
        raise InputError("window", window, "leaves no question", "Use 1 or more.")
    file = f"{task}_level_completion"
    records = list(
        asked.folder.records(
            asked.folder.one(
                f"datasets/{file}_2k_context_codex.test.jsonl | datasets/{file}*.test.jsonl"
            )
        )
    )
    documents: dict[str, Document] = {}
    unplaced: list[str] = []
    for repo in sorted({_path(record)[0] for record in records}):
        try:
            root = (
                _repository(asked, repo, task)
                if sources is None
                else _released(Path(sources), repo)
            )
        except trees.MissingTreeError:
            unplaced.append(repo)
            continue
        files = trees.tree(asked.folder, root)
        documents |= {document.id: document for document in trees.documents(files, space=repo)}
    records = [record for record in records if _path(record)[0] not in unplaced]
    gaps, lost = _gaps(records, documents, window)
    leaking = [gap.id for gap in gaps if _missing(gap, documents) in gap.question]
    kept = [gap for gap in gaps if gap.id not in set(leaking)]
    notes = counted(len(unplaced), "projects without sources left out", unplaced)
    notes += counted(len(lost), "questions whose missing lines are not in the sources", lost)
    notes += counted(len(leaking), "questions left out because they repeat their answer", leaking)
    return asked.dataset(
        [_query(gap, documents) for gap in kept], documents=_blanked(documents, kept), notes=notes
    )


def _path(record: Record) -> tuple[str, ...]:
    path = record.record("metadata").texts("fpath_tuple")
    if len(path) < 2 or any(part in {"", ".", ".."} or "/" in part for part in path):
        raise record.record("metadata").wrong("fpath_tuple", "is not a repository and a path in it")
    return path


def _released(root: Path, repo: str) -> Path:
    return trees.find_tree(root, RELEASED.get(repo) or repo.partition("_")[2], fetch=CARD.name)


def _repository(asked: Asked, repo: str, task: str) -> Path:
    level = "function_level" if task == "function" else "line_and_api_level"
    name = escape(repo)  # it is a name, whatever signs of a pattern it holds
    return asked.folder.one(
        f"repositories/{level}/{name} | repositories/{name} | repositories/*/{name}"
    )


def _gaps(
    records: Sequence[Record], documents: dict[str, Document], window: int
) -> tuple[list[Gap], list[str]]:
    gaps, lost = [], []
    for n, record in enumerate(records):
        about, path = record.record("metadata"), _path(record)
        id = f"{about.text('task_id')}#{n}"  # function-level files repeat one task_id
        document = f"{path[0]}/{'/'.join(path[1:])}"
        near = about.number("line_no" if "line_no" in about else "lineno")
        truth = [line.rstrip() for line in about.text("ground_truth").strip("\n").splitlines()]
        lines = documents[document].text.splitlines() if document in documents else []
        first = _found(lines, truth, near)
        if first is None:
            lost.append(id)
        else:
            question = "\n".join(record.text("prompt").rstrip("\n").splitlines()[-window:])
            gaps.append(Gap(id, document, question, first, first + len(truth), window))
    return gaps, lost


def _found(lines: Sequence[str], truth: Sequence[str], near: int) -> int | None:
    """Return where the missing lines begin, nearest to the published number (which counts from 0 or from 1)."""
    stripped = [line.rstrip() for line in lines]
    places = [
        n
        for n, line in enumerate(stripped)
        if truth and line == truth[0] and stripped[n : n + len(truth)] == truth
    ]
    return min(places, key=lambda n: (abs(n - near), n), default=None)


def _missing(gap: Gap, documents: dict[str, Document]) -> str:
    return "\n".join(documents[gap.document].text.splitlines()[gap.first : gap.last]).strip()


def _query(gap: Gap, documents: dict[str, Document]) -> Query:
    document = documents[gap.document]
    lines = document.text.splitlines(keepends=True)
    start = sum(map(len, lines[: gap.first]))
    end = start + len("".join(lines[gap.first : gap.last]).rstrip())
    relevant = {"file": {document.keys["file"]: 1}}
    return Query(
        id=gap.id,
        text=gap.question,
        space=document.space,
        relevant=relevant,
        spans=(Span(document.id, start, end),),
    )


def _blanked(documents: dict[str, Document], gaps: Sequence[Gap]) -> list[Document]:
    """Return the documents with every line blanked that a question shows and no question asks for."""
    shown: dict[str, set[int]] = {}
    missing: dict[str, set[int]] = {}
    for gap in gaps:
        shown.setdefault(gap.document, set()).update(gap.asked_lines)
        missing.setdefault(gap.document, set()).update(range(gap.first, gap.last))
    return [
        _without(document, shown.get(id, set()) - missing.get(id, set()))
        for id, document in documents.items()
    ]


def _without(document: Document, blank: set[int]) -> Document:
    lines = document.text.splitlines(keepends=True)
    return (
        replace(
            document,
            text="".join(
                _INK.sub(" ", line) if n in blank else line for n, line in enumerate(lines)
            ),
        )
        if blank
        else document
    )
