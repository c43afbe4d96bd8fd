"""A small set of our own in BEIR's layout.

Some questions are easy, some only by meaning, some not at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from clew.evaluate.data import Dataset, Passage, Query

PLACES = "Lund Bergen Porto Gdansk Split Turku Ghent Cadiz Bremen Varna".split()
THINGS = "harbour kiln orchard archive observatory foundry".split()
PEOPLE = ("Jane Doe", "Henrik Holm", "Ana Prado", "Piet Maas")


def documents() -> list[dict[str, str]]:
    made = []
    for number, place in enumerate(PLACES):
        for count, thing in enumerate(THINGS):
            keeper = PEOPLE[(number + count) % len(PEOPLE)]
            text = f"The {thing} of {place} was built in {1800 + 7 * number + count}. Its keeper was {keeper} for {count + 2} years."
            made.append(
                {"_id": f"d{number}-{count}", "title": f"{thing.title()} of {place}", "text": text}
            )
    return made


def questions() -> list[tuple[str, str, list[str]]]:
    """Return id, text and what is relevant.

    Every third question names only half of what it asks for.
    """
    made = []
    for number, place in enumerate(PLACES):
        for count, thing in enumerate(THINGS[:4]):
            text = (
                f"who was the keeper of the {thing} in {place}"
                if (number + count) % 3
                else f"which {thing} is the oldest of the north"
            )
            made.append((f"q{number}-{count}", text, [f"d{number}-{count}"]))
    return made


def beir_folder(root: Path, *, asked: Sequence[tuple[str, str, list[str]]] | None = None) -> Path:
    folder = root / "beir"
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    chosen = questions() if asked is None else asked
    _lines(folder / "corpus.jsonl", documents())
    _lines(folder / "queries.jsonl", [{"_id": id, "text": text} for id, text, _ in chosen])
    judged = [f"{id}\t{document}\t1" for id, _, relevant in chosen for document in relevant]
    (folder / "qrels" / "test.tsv").write_text(
        "\n".join(["query-id\tcorpus-id\tscore", *judged]) + "\n", encoding="utf-8"
    )
    return folder


def _lines(path: Path, records: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def dataset_of(texts: Sequence[str], asked: Sequence[str] = (), *, name: str = "own") -> Dataset:
    passages = tuple(
        Passage(id=f"p{number}", text=text, keys={"passage": f"p{number}"})
        for number, text in enumerate(texts)
    )
    queries = tuple(Query(id=f"q{number}", text=text) for number, text in enumerate(asked))
    return Dataset(
        name=name,
        part="test",
        queries=queries,
        passages=passages,
        levels=("passage",),
        licence="ours",
        data_hash="0",
    )
