"""Are texts cut where their subject changes, and does that find more?

    python -m benchmarks.chunk_quality boundaries --data FOLDER [--out FILE.json]
    python -m benchmarks.chunk_quality retrieval --data FOLDER [--set chroma|legal] [--out
    FILE.json]

`boundaries` joins excerpts of different conversations (LoCoMo, speakers renamed), of different
sessions of one conversation, and beginnings of different abstracts (SciFact), so that the places
where the subject changes are known, and compares the boundaries that semantic chunkers find: Pk
(lower is better), F1 within one unit, and the coherence of the pieces. `retrieval` imports whole
documents into a store by each strategy and asks through the public API: the share of the answer's
characters among the first 500, 1,000 and 2,000 retrieved tokens, and their intersection over union.
Settings were chosen on the dev parts alone; run with --part test for the published numbers.
"""

from __future__ import annotations  # noqa: I001

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import clew
from clew.documents.chunkers.recursive import Recursive
from clew.documents.chunkers.port import (
    DEFAULT_OPTIONS,
    Chunk,
    Chunker,
    ChunkOptions,
    estimate,
)
from clew.documents.chunkers.topic_shifts import topic_shifts
from clew.documents.importing import Importer
from clew.engine import chunking, importing
from clew.evaluate.data import Dataset, Query
from clew.evaluate.datasets import load as load_set
from clew.ids import new_id
from clew.models.library import DEFAULT
from clew.models.loading import load as load_model
from clew.ports import Embedder, EmbedRole
from clew.text.sentences import sentences
from clew.types import Vectors

BUDGETS = (500, 1000, 2000)
STRATEGIES = ("recursive", "semantic", "fixed", "chonkie-semantic")
DOCUMENTS, SEED = 40, 7
THRESHOLDS = (0.0, 0.35, 1.0)
OLD_DISTANCE = 0.35  # an absolute distance between neighbours, for comparison


class Joined(NamedTuple):
    """Units in order, and the numbers of those that begin a new subject."""

    units: list[str]
    starts: list[int]


# --- boundaries ---


def joined(parts: Sequence[Sequence[str]]) -> Joined:
    """Return excerpts put together.

    >>> joined([["a", "b"], ["c"]])
    Joined(units=['a', 'b', 'c'], starts=[2])
    """
    ends = np.cumsum([len(part) for part in parts])
    return Joined([unit for part in parts for unit in part], [int(end) for end in ends[:-1]])


def conversations(folder: Path, part: str, rng: random.Random, *, same: bool) -> Iterator[Joined]:
    """Yield chats out of excerpts of different conversations, or of different sessions of the same people."""
    told = json.loads((folder / "locomo" / "locomo10.json").read_text())
    told = told[:4] if part == "dev" else told[4:]
    for _ in range(DOCUMENTS):
        chosen = (
            [rng.choice(told)] * 5 if same else [rng.choice(told) for _ in range(rng.randint(4, 7))]
        )
        sessions = [
            [turns for turns in _sessions(each["conversation"]) if len(turns) > 11]
            for each in chosen
        ]
        picked = rng.sample(sessions[0], 5) if same else [rng.choice(each) for each in sessions]
        yield joined([_excerpt(turns, rng) for turns in picked])


def _sessions(conversation: dict[str, Any]) -> Iterator[list[str]]:
    names = {conversation["speaker_a"]: "Sam", conversation["speaker_b"]: "Kim"}
    for key, turns in conversation.items():
        if key.startswith("session_") and isinstance(turns, list):
            yield [_renamed(f"{turn['speaker']}: {turn['text']}", names) for turn in turns]


def _renamed(text: str, names: dict[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return text


def _excerpt(units: Sequence[str], rng: random.Random) -> list[str]:
    size = rng.randint(5, 11)
    start = rng.randint(0, len(units) - size)
    return list(units[start : start + size])


def abstracts(folder: Path, part: str, rng: random.Random) -> Iterator[Joined]:
    """Yield texts out of the beginnings of several abstracts, sentence by sentence."""
    lines = next((folder / "beir_scifact").rglob("corpus.jsonl")).read_text().splitlines()
    texts = [json.loads(line)["text"] for line in (lines[:1500] if part == "dev" else lines[1500:])]
    for _ in range(DOCUMENTS):
        chosen = [rng.choice(texts) for _ in range(rng.randint(4, 8))]
        split = [
            [text[start:end].strip() for start, end in sentences(text, 0, len(text))]
            for text in chosen
        ]
        yield joined([[unit for unit in units if unit][: rng.randint(3, 11)] for units in split])


def boundary_rows(folder: Path, part: str, embedder: Embedder) -> list[dict[str, Any]]:
    """Return Pk, F1 and coherence of each way to find boundaries on each set."""
    rng = random.Random(SEED)
    sets = {
        "conversations": list(conversations(folder, part, rng, same=False)),
        "sessions of two people": list(conversations(folder, part, rng, same=True)),
        "abstracts": list(abstracts(folder, part, rng)),
    }
    rows = []
    for name, texts in sets.items():
        embedded = [(text, embedder.embed(text.units, role=EmbedRole.PASSAGE)) for text in texts]
        for label, find in _finders(embedder):
            found = [(text, find(text, vectors), vectors) for text, vectors in embedded]
            rows.append(
                {
                    "set": name,
                    "by": label,
                    "Pk": _mean(
                        [pk(text.starts, starts, len(text.units)) for text, starts, _ in found]
                    ),
                    "F1": _mean([boundary_f1(text.starts, starts) for text, starts, _ in found]),
                    "coherence": _mean(
                        [coherence(starts, vectors) for _, starts, vectors in found]
                    ),
                }
            )
            print(rows[-1], flush=True)
    return rows


def _finders(embedder: Embedder) -> Iterator[tuple[str, Callable[[Joined, Vectors], list[int]]]]:
    yield "even pieces", lambda text, _: list(range(8, len(text.units) - 2, 8))
    yield f"distance over {OLD_DISTANCE}", lambda _, vectors: _neighbours(vectors, OLD_DISTANCE)
    yield "distance over 0.2", lambda _, vectors: _neighbours(vectors, 0.2)
    for threshold in THRESHOLDS:
        yield f"semantic_threshold {threshold:g}", partial(_by_depth, threshold)
    yield "chonkie semantic", lambda text, _: _by_chonkie(embedder, text)


def _neighbours(vectors: Vectors, limit: float) -> list[int]:
    return [at for at in range(1, len(vectors)) if 1 - float(vectors[at] @ vectors[at - 1]) > limit]


def _by_depth(threshold: float, text: Joined, vectors: Vectors) -> list[int]:
    """Return the boundaries as pieces of at least three units would have them."""
    shifts = topic_shifts(vectors, threshold=threshold)
    kept: list[int] = []
    for at in sorted(
        (at for at, shift in enumerate(shifts) if shift > 0), key=lambda at: -shifts[at]
    ):
        if 3 <= at <= len(text.units) - 3 and all(abs(at - other) >= 3 for other in kept):
            kept.append(at)
    return sorted(kept)


def _by_chonkie(embedder: Embedder, text: Joined) -> list[int]:
    whole = "\n".join(unit.replace("\n", " ") for unit in text.units)
    places = np.cumsum([0, *(len(unit) + 1 for unit in text.units)])
    starts = {
        int(np.searchsorted(places, start)) for start, _ in _chonkie_spans(embedder, whole, 2000)
    }
    return sorted(starts - {0, len(text.units)})


def pk(reference: Sequence[int], found: Sequence[int], units: int) -> float:
    """Return how often two units half a segment apart are wrongly told to be of one subject, or of two.

    >>> pk([4], [4], 8), pk([4], [], 8)
    (0.0, 0.333)
    """
    of = [np.cumsum([at in set(starts) for at in range(units)]) for starts in (reference, found)]
    apart = max(1, round(units / (len(reference) + 1) / 2))
    wrong = [
        (of[0][at] == of[0][at + apart]) != (of[1][at] == of[1][at + apart])
        for at in range(units - apart)
    ]
    return round(float(np.mean(wrong)), 3)


def boundary_f1(reference: Sequence[int], found: Sequence[int], *, within: int = 1) -> float:
    """Return the F1 of boundaries, one unit of difference allowed.

    >>> boundary_f1([4, 8], [5])
    0.667
    """
    if not found:
        return 0.0
    right = sum(any(abs(each - other) <= within for other in reference) for each in found) / len(
        found
    )
    held = sum(any(abs(each - other) <= within for other in found) for each in reference) / max(
        1, len(reference)
    )
    return round(2 * right * held / (right + held), 3) if right + held else 0.0


def coherence(starts: Sequence[int], vectors: Vectors) -> float:
    """Return the mean cosine between a unit and the mean of its piece."""
    pieces = [
        vectors[first:last] for first, last in pairwise([0, *starts, len(vectors)]) if last > first
    ]
    cosines = [float(cosine) for piece in pieces for cosine in piece @ _unit(piece.mean(axis=0))]
    return float(np.mean(cosines))


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), np.float32)


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 3)


# --- retrieval ---


def retrieval_rows(
    folder: Path,
    name: str,
    part: str,
    embedder: Embedder,
    *,
    strategies: Sequence[str],
    letters: int,
) -> list[dict[str, Any]]:
    """Return token recall and IoU at equal retrieved tokens for each strategy, asked through the public API."""
    dataset = _within(_dataset(folder, name, part), letters)
    asked = dataset.queries
    rows = []
    for strategy in strategies:
        with clew.open(":memory:") as memory:
            began = time.process_time()
            chunks = _import(memory, dataset, strategy, embedder)
            spent = time.process_time() - began
            measured = [
                _measured(memory, query, recipe) for query in asked for recipe in ("balanced",)
            ]
            staged = [_measured(memory, query, "staged") for query in asked]
        row: dict[str, Any] = {
            "set": f"{name} {part}",
            "strategy": strategy,
            "questions": len(asked),
            "chunks": chunks,
        }
        for at, budget in enumerate(BUDGETS):
            row |= {
                f"recall@{budget}": _mean([each[at][0] for each in measured]),
                f"IoU@{budget}": _mean([each[at][1] for each in measured]),
            }
        row |= {
            "staged recall@2000": _mean([each[-1][0] for each in staged]),
            "cpu_s": round(spent),
        }
        rows.append(row)
        print(row, flush=True)
    return rows


def _within(dataset: Dataset, letters: int) -> Dataset:
    """Return the part of a set that few letters hold.

    All documents are cut to the same length, or fewer of many are taken.
    """
    held = {query_span.document for query in dataset.queries for query_span in query.spans}
    documents = [document for document in dataset.documents if document.id in held]
    random.Random(SEED).shuffle(documents)
    each = max(letters // len(documents), 20_000)
    kept, total = {}, 0
    for document in documents:
        if total < letters:
            kept[document.id] = replace(document, text=document.text[:each])
            total += len(kept[document.id].text)
    asked = [
        query
        for query in dataset.queries
        if query.spans
        and all(
            span.document in kept and span.end <= len(kept[span.document].text)
            for span in query.spans
        )
    ]
    return replace(dataset, documents=tuple(kept.values()), queries=tuple(asked))


def _dataset(folder: Path, name: str, part: str) -> Dataset:
    if name == "chroma":
        return load_set("chroma-chunking", folder / "chroma_chunking", part=part)
    return load_set("legalbench-rag", folder / "legalbench_rag", part=part)


def _import(memory: clew.Clew, dataset: Dataset, strategy: str, embedder: Embedder) -> int:
    """Bring every document in under its own name, cut by a strategy, and return how many chunks there are."""
    parts = importing.Parts(memory.store, memory._vectors, memory.settings, memory._clock, new_id)
    made = importing.importer(parts, progress=lambda *_: None, metadata={})
    count = importing.counter(memory._vectors.embedder)
    product = chunking.chunkers(memory._vectors, {"default": strategy}, count=count)
    made._chunker = (
        product if not strategy.startswith("chonkie") else lambda _: (_Chonkie(embedder), ())
    )
    chunks = 0
    for document in dataset.documents:
        report = Importer.data(
            made,
            document.text.encode(),
            name=document.id + (".md" if document.format == "markdown" else ".txt"),
        )
        chunks += report.totals["nodes"]
    return chunks


def _measured(memory: clew.Clew, query: Query, recipe: str) -> list[tuple[float, float]]:
    """Return recall and IoU of the answer's characters among the first tokens, for each budget."""
    hits = memory.recall(query.text, k=40, recipe=recipe, track=False).hits
    wanted = {at for span in query.spans for at in _places(span.document, span.start, span.end)}
    found: list[tuple[float, float]] = []
    for budget in BUDGETS:
        seen: set[tuple[str, int]] = set()
        left = budget * 4  # characters: about four a token, the same for all strategies
        for hit in hits:
            node = hit.node
            if node is None or node.start is None or node.end is None or left <= 0:
                continue
            document = (node.source or "").rpartition(".")[0]
            seen.update(_places(document, node.start, min(node.end, node.start + left)))
            left -= node.end - node.start
        common = len(seen & wanted)
        found.append((common / len(wanted), common / len(seen | wanted)))
    return found


def _places(document: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    return ((document, at) for at in range(start, end))


# --- the outside peer ---


class _Chonkie:
    """chonkie's semantic chunker behind the product's port, with the same embedding model."""

    name = "chonkie-semantic"
    formats = frozenset({"text"})

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def chunk(
        self,
        text: str,
        *,
        format: str = "text",
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: object = None,
    ) -> tuple[Chunk, ...]:
        """Return its pieces; one above the largest size is cut further by the product's own."""
        del format, units
        pieces = []
        for start, end in _chonkie_spans(self._embedder, text, options.target_tokens):
            inner: Chunker = Recursive()
            pieces += [
                (start + each.start, start + each.end, each.boundary)
                for each in inner.chunk(text[start:end], options=options)
            ]
        return tuple(
            Chunk(text=text[start:end], start=start, end=end, index=index, boundary=boundary)
            for index, (start, end, boundary) in enumerate(pieces)
        )


def _chonkie_spans(embedder: Embedder, text: str, size: int) -> Iterator[tuple[int, int]]:
    chonkie, base = import_module("chonkie"), import_module("chonkie.embeddings").BaseEmbeddings

    class Ours(base):  # type: ignore[misc, valid-type]
        dimension = embedder.dimension

        def embed(self, text: str) -> Vectors:
            vector: Vectors = embedder.embed([text], role=EmbedRole.PASSAGE)[0]
            return vector

        def embed_batch(self, texts: list[str]) -> list[Vectors]:
            return list(embedder.embed(texts, role=EmbedRole.PASSAGE))

        def get_tokenizer(self) -> Any:
            return estimate

        @classmethod
        def is_available(cls) -> bool:
            return True

    at = 0
    for piece in chonkie.SemanticChunker(embedding_model=Ours(), chunk_size=size).chunk(text):
        start = text.find(piece.text, at)
        if start >= 0 and piece.text.strip():
            at = start + len(piece.text)
            yield start, at


# --- command ---


def main() -> int:
    """Measure, print each row, and write JSON where asked to."""
    options = _parser().parse_args()
    embedder = load_model(DEFAULT)
    if embedder is None:
        raise SystemExit("There is no model: clew models pull")
    if options.what == "boundaries":
        rows = boundary_rows(options.data, options.part, embedder)
    else:
        rows = retrieval_rows(
            options.data,
            options.set,
            options.part,
            embedder,
            strategies=options.strategies.split(","),
            letters=options.letters,
        )
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.chunk_quality",
        description="Are texts cut where their subject changes?",
    )
    parser.add_argument("what", choices=("boundaries", "retrieval"))
    parser.add_argument("--data", type=Path, required=True, help="the folder with the sets")
    parser.add_argument("--set", choices=("chroma", "legal"), default="chroma")
    parser.add_argument("--part", default="test")
    parser.add_argument(
        "--letters", type=int, default=360_000, help="of all documents together (default 360,000)"
    )
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
