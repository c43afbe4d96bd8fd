"""Is Clew's word search as good as a plain BM25? nDCG@10 of the recipe `lexical` beside bm25s, in percent.

    python -m benchmarks.words [--data FOLDER] [--sets cacm,cosqa]

Every passage is stored through the public API, as a memory of its own with its title above the
text, and every question is asked through it, with default settings but without a model. bm25s
(https://github.com/xhluca/bm25s) is set up as its manual says: Lucene's variant, PyStemmer's
English stemmer, English stop words. Needs `pip install bm25s`.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import clew
from clew.evaluate import peers
from clew.evaluate.data import Dataset, Passage
from clew.evaluate.datasets import load

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TOP = 10


class Chosen(NamedTuple):
    """One part of a set in a folder."""

    loader: str
    folder: str
    part: str
    options: Mapping[str, Any] = {}


SETS = {
    "cacm": Chosen("beir", "cacm", "test"),
    "scifact": Chosen("scifact", "beir_scifact", "test"),
    "cosqa": Chosen("beir", "cosqa_dev", "dev"),
    "2wiki": Chosen("2wiki", "2wiki_hipporag", "all", {"titles": "none"}),
    "hotpotqa": Chosen("hotpotqa", "hotpot_200", "all", {"titles": "none"}),
    "locomo": Chosen("locomo", "locomo", "dev"),
}


class Scores(NamedTuple):
    """Mean nDCG@10 in percent."""

    questions: int
    clew: float
    bm25s: float


def compared(name: str, data: Path = DATA) -> Scores:
    """Return the scores of both on one of the sets; bm25s must be installed."""
    chosen = SETS[name]
    dataset = load(chosen.loader, data / chosen.folder, part=chosen.part, **chosen.options)
    with tempfile.TemporaryDirectory(prefix="clew-words-") as folder:
        return Scores(
            len(_judged(dataset)),
            _measured(dataset, *_clew(dataset, Path(folder))),
            _measured(dataset, *_bm25s(dataset)),
        )


Search = Callable[[str, str], Sequence[str]]
"""Returns the ids of the best passages for a question in a space."""


def _clew(dataset: Dataset, folder: Path) -> tuple[Search, Callable[[], None]]:
    settings: dict[str, Any] = {"model.embedder": "none"}
    memory = clew.open(folder / "words.clew", **settings)
    outcomes = memory.remember_many(
        {"text": _text(each), "space": each.space} for each in dataset.passages
    )
    passages: dict[str, list[str]] = defaultdict(list)  # several where texts are equal
    for passage, outcome in zip(dataset.passages, outcomes, strict=True):
        if (kept := outcome.id or outcome.canonical_id) is not None:
            passages[kept].append(passage.id)

    def search(text: str, space: str) -> Sequence[str]:
        hits = memory.recall(
            text, k=TOP, recipe="lexical", where={"space": space}, track=False
        ).hits
        return [id for hit in hits for id in passages[hit.id]][:TOP]

    return search, memory.close


def _bm25s(dataset: Dataset) -> tuple[Search, Callable[[], None]]:
    texts, spaces = (
        [_text(each) for each in dataset.passages],
        [each.space for each in dataset.passages],
    )
    peer = peers.peer("bm25s")
    peer.open(peers.Corpus(texts, spaces, None), Path())
    return lambda text, space: [
        dataset.passages[place].id for place in peer.search(text, None, space, TOP)
    ], peer.close


def _text(passage: Passage) -> str:
    return f"{passage.title}\n{passage.text}".strip()


def _judged(dataset: Dataset) -> list[tuple[str, str, Mapping[str, int]]]:
    level = dataset.levels[0]
    return [
        (each.text, each.space, each.relevant[level])
        for each in dataset.queries
        if each.relevant.get(level)
    ]


def _measured(dataset: Dataset, search: Search, close: Callable[[], None]) -> float:
    key = {each.id: each.keys[dataset.levels[0]] for each in dataset.passages}
    judged = _judged(dataset)
    try:
        values = [
            ndcg([key[id] for id in search(text, space)], relevant)
            for text, space, relevant in judged
        ]
    finally:
        close()
    return 100 * math.fsum(values) / len(values)


def ndcg(found: Iterable[str], relevant: Mapping[str, int]) -> float:
    """Return nDCG@10 against the ideal order of all that is relevant.

    >>> ndcg(["a", "x"], {"a": 1}), round(ndcg(["x", "a"], {"a": 1, "b": 1}), 3)
    (1.0, 0.387)
    """
    ideal = sorted(relevant.values(), reverse=True)
    return _gain(relevant.get(id, 0) for id in found) / _gain(ideal)


def _gain(grades: Iterable[int]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades) if place < TOP)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.words", description="nDCG@10 of word search beside bm25s."
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help=f"the folder of the sets (default: {DATA})"
    )
    parser.add_argument("--sets", default=",".join(SETS), help="which, by commas")
    options = parser.parse_args()
    print("| set | questions | bm25s | Clew, `lexical` |\n|---|--:|--:|--:|")
    for name in options.sets.split(","):
        scores = compared(name, options.data)
        print(
            f"| {name} | {scores.questions} | {scores.bm25s:.1f} | {scores.clew:.1f} |", flush=True
        )


if __name__ == "__main__":
    main()
