"""The vectors, texts and questions that every peer is given.

Synthetic, seeded, the same bytes on every run.

Vectors are a mixture of anisotropic gaussians around topic centres with a common mean, as sentence
encoders give them: cosine about 0.2 across topics, 0.55 within one. Texts are 12–40 words of a Zipf
vocabulary in which each topic has words of its own; the most frequent words are English function
words, so that peers which drop stop words may, the others are made up. A question is a document's
vector with noise (cosine about 0.8) and 3–8 of its telling words with one or two frequent ones.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int64]

VERSION = 2  # raise it when anything below changes what is generated
SEED = 20_260
DIMENSION = 384
BUCKETS = 100  # a filter on one bucket keeps 1 %
TOP = 10
WARM_UP = 20  # questions before the measured ones
ADDS = 420  # items kept back for the single writes

_CHUNK = 10_000
_TOPICS = 512
_TOPIC_WORDS = 150
_TOPIC_SHARE = 0.35
_VOCABULARY = 30_000
_ZIPF = 1.05
_FREQUENT = 60  # ranks that count as frequent in a question
_WEIGHTS = (0.45, 0.60, 0.66)  # common mean, topic centre, own noise: squares add up to one
_SPECTRUM = -0.35  # how fast the variance of the noise falls from one direction to the next
_QUESTION_NOISE = 0.7
_FUNCTION_WORDS = re.findall(
    r"\w+",
    "the of and to in a is that for it was on are as with they at be this from have or by had not "
    "but what all were when we there can an your which",
)


@dataclass(frozen=True, slots=True)
class Item:
    """One text with its vector."""

    id: int
    text: str
    bucket: str
    vector: Floats


@dataclass(frozen=True, slots=True)
class Batch:
    """Items side by side, as bulk interfaces want them."""

    ids: list[int]
    texts: list[str]
    buckets: list[str]
    vectors: Floats

    def items(self) -> Iterator[Item]:
        """Yield the items one by one."""
        for id, text, bucket, vector in zip(
            self.ids, self.texts, self.buckets, self.vectors, strict=True
        ):
            yield Item(id, text, bucket, vector)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and of which document it was made."""

    text: str
    vector: Floats
    bucket: str
    source: int


@dataclass(frozen=True)
class Data:
    """One generated set on disk."""

    folder: Path

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Return size, seed and the hash of the files."""
        facts: dict[str, Any] = json.loads((self.folder / "facts.json").read_text())
        return facts

    def batches(self, size: int) -> Iterator[Batch]:
        """Yield the items in order, read piece by piece so that the reader stays small."""
        return _batches(self.folder, "items", size)

    def adds(self) -> list[Item]:
        """Return the items that are written one by one."""
        return [item for batch in _batches(self.folder, "adds", ADDS) for item in batch.items()]

    def questions(self) -> list[Question]:
        """Return the questions; the first `WARM_UP` are not measured."""
        lines = _lines(self.folder / "questions.jsonl")
        vectors: Floats = np.load(self.folder / "questions.npy")
        return [
            Question(line["text"], vector, line["bucket"], line["source"])
            for line, vector in zip(lines, vectors, strict=True)
        ]

    def truth(self, *, filtered: bool) -> list[set[int]]:
        """Return the exact nearest ids of each question."""
        return [
            set(row)
            for row in np.load(
                self.folder / ("truth_filtered.npy" if filtered else "truth.npy")
            ).tolist()
        ]


def prepare(cache: Path, size: int, questions: int) -> Data:
    """Return the set of this size, generating it when the cache has none."""
    folder = cache / "data" / f"v{VERSION}-{size}-{questions}"
    if not (folder / "facts.json").exists():
        unfinished = folder.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        _generate(unfinished, size, questions + WARM_UP)
        unfinished.replace(folder)
    return Data(folder)


def _generate(folder: Path, size: int, questions: int) -> None:
    source = _Source()
    vectors = np.lib.format.open_memmap(
        folder / "items.npy", mode="w+", dtype=np.float32, shape=(size, DIMENSION)
    )
    rng = np.random.default_rng([SEED, size])
    asked = np.sort(rng.choice(size, size=questions, replace=size < questions))
    words_of: dict[int, list[int]] = {}
    buckets = np.empty(size, dtype=np.int64)
    with (folder / "items.jsonl").open("w") as out:
        for start in range(0, size, _CHUNK):
            count = min(_CHUNK, size - start)
            chunk = source.chunk(start // _CHUNK, count)
            vectors[start : start + count] = chunk.vectors
            buckets[start : start + count] = chunk.buckets
            words_of |= {
                int(i): chunk.words[i - start] for i in asked if start <= i < start + count
            }
            _write(out, chunk, source, first_id=start)
    adds = source.chunk(1_000_000, ADDS)
    np.save(folder / "adds.npy", adds.vectors)
    with (folder / "adds.jsonl").open("w") as out:
        _write(out, adds, source, first_id=size)
    order = rng.permutation(asked)
    noisy = vectors[order] + _QUESTION_NOISE * source.noise(rng, len(order))
    asked_vectors = _unit(noisy)
    np.save(folder / "questions.npy", asked_vectors)
    asked_buckets = rng.integers(BUCKETS, size=len(order))
    with (folder / "questions.jsonl").open("w") as out:
        for i, bucket in zip(order.tolist(), asked_buckets.tolist(), strict=True):
            out.write(
                json.dumps(
                    {
                        "text": source.question(rng, words_of[i]),
                        "bucket": _bucket(bucket),
                        "source": i,
                    }
                )
                + "\n"
            )
    np.save(folder / "truth.npy", nearest(vectors, asked_vectors))
    np.save(
        folder / "truth_filtered.npy",
        _nearest_in_bucket(vectors, buckets, asked_vectors, asked_buckets),
    )
    vectors.flush()
    digest = hashlib.sha256()
    for name in ("items.npy", "items.jsonl", "questions.npy", "questions.jsonl"):
        with (folder / name).open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    facts = {
        "version": VERSION,
        "seed": SEED,
        "size": size,
        "dimension": DIMENSION,
        "questions": questions - WARM_UP,
        "sha256": digest.hexdigest(),
    }
    (folder / "facts.json").write_text(json.dumps(facts))


@dataclass(frozen=True, slots=True)
class _Chunk:
    vectors: Floats
    words: list[list[int]]  # ranks in the vocabulary
    buckets: Ints


class _Source:
    """Draws texts and vectors; chunk i is the same whatever the size of the set."""

    def __init__(self) -> None:
        rng = np.random.default_rng(SEED)
        self.vocabulary = _vocabulary(rng)
        self._mean = _unit(rng.standard_normal((1, DIMENSION)))
        self._centres = _unit(rng.standard_normal((_TOPICS, DIMENSION)))
        rotation, _ = np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))
        spectrum = np.arange(1, DIMENSION + 1) ** _SPECTRUM
        self._noise = (rotation * spectrum[:, None] / np.linalg.norm(spectrum)).astype(np.float32)
        self._word_cdf = _cdf(np.arange(1, _VOCABULARY + 1) ** -_ZIPF)
        self._topic_cdf = _cdf((np.arange(_TOPICS) + 10.0) ** -0.7)
        self._topic_words = rng.integers(200, _VOCABULARY, size=(_TOPICS, _TOPIC_WORDS))
        self._topic_word_cdf = _cdf(np.arange(1, _TOPIC_WORDS + 1) ** -1.0)

    def noise(self, rng: np.random.Generator, count: int) -> Floats:
        drawn: Floats = rng.standard_normal((count, DIMENSION), dtype=np.float32) @ self._noise
        return drawn

    def chunk(self, index: int, count: int) -> _Chunk:
        rng = np.random.default_rng([SEED, 1, index])
        topics = np.searchsorted(self._topic_cdf, rng.random(count))
        mean, centre, own = _WEIGHTS
        vectors = _unit(
            mean * self._mean + centre * self._centres[topics] + own * self.noise(rng, count)
        )
        lengths = rng.integers(12, 41, size=count)
        total = int(lengths.sum())
        ranks = np.searchsorted(self._word_cdf, rng.random(total))
        topical = rng.random(total) < _TOPIC_SHARE
        places = np.searchsorted(self._topic_word_cdf, rng.random(total))
        ranks = np.where(topical, self._topic_words[np.repeat(topics, lengths), places], ranks)
        ends = np.cumsum(lengths)
        words = [
            ranks[end - length : end].tolist()
            for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
        ]
        return _Chunk(vectors, words, rng.integers(BUCKETS, size=count))

    def text(self, ranks: list[int]) -> str:
        return " ".join(self.vocabulary[rank] for rank in ranks).capitalize() + "."

    def question(self, rng: np.random.Generator, ranks: list[int]) -> str:
        telling = sorted({rank for rank in ranks if rank >= _FREQUENT}) or ranks
        drawn = rng.choice(
            telling, size=min(len(telling), int(rng.integers(3, 9))), replace=False
        ).tolist()
        drawn += rng.choice(_FREQUENT, size=int(rng.integers(1, 3)), replace=False).tolist()
        return " ".join(self.vocabulary[rank] for rank in rng.permutation(drawn).tolist())


def nearest(vectors: Floats, questions: Floats, *, limit: int = TOP) -> Ints:
    """Return the ids of the exact nearest vectors of each question, best first, block by block."""
    ids = np.empty((len(questions), 0), dtype=np.int64)
    scores = np.empty((len(questions), 0), dtype=np.float32)
    for start in range(0, len(vectors), _CHUNK):
        block = questions @ np.asarray(vectors[start : start + _CHUNK]).T
        ids = np.hstack(
            [ids, np.broadcast_to(np.arange(start, start + block.shape[1]), block.shape)]
        )
        scores = np.hstack([scores, block])
        best = np.argsort(-scores, axis=1, kind="stable")[:, :limit]
        ids, scores = (
            np.take_along_axis(ids, best, axis=1),
            np.take_along_axis(scores, best, axis=1),
        )
    return ids


def _nearest_in_bucket(vectors: Floats, buckets: Ints, questions: Floats, asked: Ints) -> Ints:
    found = np.full((len(questions), TOP), -1, dtype=np.int64)
    for bucket in np.unique(asked):
        members, which = np.flatnonzero(buckets == bucket), np.flatnonzero(asked == bucket)
        if len(members):
            best = members[nearest(vectors[members], questions[which])]
            found[which, : best.shape[1]] = best
    return found


def _vocabulary(rng: np.random.Generator) -> list[str]:
    onsets = re.findall(
        r"\w+", "b br k ch d dr f fl g gr h j kl l m n p pl qu r s sk st t tr v w z"
    )
    nuclei = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
    codas = ["", "", "", "", "l", "m", "n", "r", "t", "nd", "rk"]
    made = dict.fromkeys(_FUNCTION_WORDS)
    while len(made) < _VOCABULARY:
        syllables = 1 + (len(made) > 300) + int(rng.integers(2))  # frequent words are short
        draws = rng.random((syllables, 3))
        made[
            "".join(
                onsets[int(o * len(onsets))]
                + nuclei[int(n * len(nuclei))]
                + codas[int(c * len(codas))]
                for o, n, c in draws
            )
        ] = None
    return list(made)


def _write(out: Any, chunk: _Chunk, source: _Source, *, first_id: int) -> None:
    for offset, (ranks, bucket) in enumerate(zip(chunk.words, chunk.buckets.tolist(), strict=True)):
        out.write(
            json.dumps(
                {"id": first_id + offset, "text": source.text(ranks), "bucket": _bucket(bucket)}
            )
            + "\n"
        )


def _bucket(number: int) -> str:
    return f"b{number:02d}"


def _cdf(weights: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    # the last bound is open: rounding must not fall beyond it
    return np.cumsum(weights / weights.sum())[:-1]


def _unit(rows: npt.NDArray[Any]) -> Floats:
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _batches(folder: Path, name: str, size: int) -> Iterator[Batch]:
    with (folder / f"{name}.npy").open("rb") as numbers, (folder / f"{name}.jsonl").open() as lines:
        np.lib.format.read_magic(numbers)
        (total, width), _, _ = np.lib.format.read_array_header_1_0(numbers)
        for start in range(0, total, size):
            count = min(size, total - start)
            rows = [json.loads(next(lines)) for _ in range(count)]
            # fromfile and no memory map: mapped pages would be counted as the peer's memory.
            vectors = np.fromfile(numbers, dtype=np.float32, count=count * width).reshape(
                count, width
            )
            yield Batch(
                [row["id"] for row in rows],
                [row["text"] for row in rows],
                [row["bucket"] for row in rows],
                vectors,
            )
