"""RepoBench-R: code up to a line, and the snippet of another file, among a few, that the next line uses."""

from __future__ import annotations

import gzip
import io
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clew.errors import InputError, clipped
from clew.evaluate.data import Dataset, Passage, Query
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Asked
from clew.evaluate.datasets.record import Place, Record, storable
from clew.evaluate.systems import jaccard


class NotPlainError(Exception):
    """The bytes are no gzipped pickle of plain values."""


class _Plain(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Refuse every name.

        Texts, numbers, lists and dicts need none, and code cannot run without one.
        """
        raise NotPlainError(
            f"it asks for {module_name}.{global_name}, which plain data does not need"
        )


def plain(content: bytes) -> Any:
    """Return the texts, numbers, lists and dicts in a gzipped pickle, or raise NotPlainError."""
    try:
        return _Plain(io.BytesIO(gzip.decompress(content))).load()
    except NotPlainError:
        raise
    except Exception as error:  # damaged bytes make the unpickler raise almost anything
        raise NotPlainError(str(error) or type(error).__name__) from error


CARD = Card(
    name="repobench-r",
    title="RepoBench-R",
    licence="CC BY-NC-ND 4.0: measure only",
    source=(
        "put python_cff.gz or python_cfr.gz of "
        "https://huggingface.co/datasets/tianyang/repobench-r (folder data) into a folder, "
        "or its rows as JSON lines in <any name>test<any name>.jsonl (dev: …dev… or …train…)."
    ),
    folder="repobench_r",
    files=("*.gz | *.jsonl",),
    levels=("snippet",),
    parts={
        "dev": "the published dev split, else train",
        "test": "the published test split",
        "all": "every split",
    },
    options={
        "lines": "how many lines of the code before the gap are the question (3, as in the paper)",
        "rule": "index: the gold snippet alone counts; jaccard: also snippets that share half of "
        "its words (index)",
    },
)
INDEX, JACCARD = "index", "jaccard"
ALIKE = 0.5  # Jaccard similarity from which a snippet counts as the gold one
LINES = 3  # keep_lines of the authors' run_repobench_r.py
SPLITS = {"dev": ("dev", "train"), "test": ("test",), EVERYTHING: ("train", "dev", "test")}


def load(asked: Asked, *, lines: int = LINES, rule: str = INDEX) -> Dataset:
    """Return each question's candidate snippets in a space of its own.

    The gold one is given by its place.

    The question is the code *before* the line to be written, from which the authors took the line
    itself: neither that line nor the gold snippet, which lies in another file, is part of it. Only
    asked questions are kept.
    """
    if lines < 1:
        raise InputError("lines", lines, "leaves no question", "Use 1 or more.")
    if rule not in (INDEX, JACCARD):
        raise InputError("rule", rule, "is not a rule of RepoBench-R", f"Use {INDEX} or {JACCARD}.")
    queries: list[Query] = []
    passages: list[Passage] = []
    for n, (category, record) in enumerate(asked.first([*_rows(asked)])):
        query, candidates = _question(f"{category}/{n}", record, category, lines, rule)
        queries.append(query)
        passages += candidates
    return asked.dataset(queries, passages=passages)


def _rows(asked: Asked) -> Iterator[tuple[str, Record]]:
    for path in asked.folder.all(CARD.files[0]):
        yield from _pickled(asked, path) if path.suffix == ".gz" else _listed(asked, path)


def _listed(asked: Asked, path: Path) -> Iterator[tuple[str, Record]]:
    if asked.part == EVERYTHING or any(split in path.stem for split in SPLITS[asked.part]):
        for record in asked.folder.records(path):
            yield record.text("level") if "level" in record else path.stem, record


def _pickled(asked: Asked, path: Path) -> Iterator[tuple[str, Record]]:
    """Yield the rows of {split: {level: [row]}}.

    A row's place is its number, as a pickle has no lines.
    """
    try:
        whole = Record.of(plain(asked.folder.content(path)), asked.folder.place(path))
    except NotPlainError as error:
        raise asked.folder.place(path).wrong(
            "", path.name, f"is not a gzipped pickle of plain data: {clipped(str(error))}"
        ) from error
    splits = [split for split in SPLITS[asked.part] if split in whole]
    for split in splits if asked.part == EVERYTHING else splits[:1]:
        levels = whole.record(split)
        for level in levels.value:
            for n, row in enumerate(levels.values(level), start=1):
                yield (
                    f"{path.stem}/{level}",
                    Record.of(
                        row, Place(f"{path.name}[{split}][{level}]", n, levels.place.way_out)
                    ),
                )


def _question(
    id: str, record: Record, category: str, lines: int, rule: str
) -> tuple[Query, list[Passage]]:
    texts = [_snippet(record, n, candidate) for n, candidate in enumerate(record.values("context"))]
    gold = record.number("gold_snippet_index")
    if not 0 <= gold < len(texts):
        raise record.wrong(
            "gold_snippet_index", f"points outside the {len(texts)} snippets of context"
        )
    ids = [f"{id}/{n}" for n in range(len(texts))]
    code = record.text("code" if "code" in record else "cropped_code").split("\n")
    counted = [
        n
        for n, text in enumerate(texts)
        if n == gold or (rule == JACCARD and jaccard(text, texts[gold]) >= ALIKE)
    ]
    relevant = {"snippet": dict.fromkeys((ids[n] for n in counted), 1)}
    query = Query(
        id=id, text="\n".join(code[-lines:]), space=id, category=category, relevant=relevant
    )
    return query, [
        Passage(id=key, text=text, space=id, keys={"snippet": key})
        for key, text in zip(ids, texts, strict=True)
    ]


def _snippet(record: Record, n: int, candidate: object) -> str:
    """Return a candidate's text.

    A plain text in version 1.0, an object with path and snippet since 1.1.
    """
    if isinstance(candidate, str):
        return storable(candidate)
    return Record.of(candidate, record.place, f"{record.path}context[{n}].").text("snippet")
