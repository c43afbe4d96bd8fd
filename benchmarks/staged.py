"""Does it pay to look for sections first? CPU milliseconds of the recipes `balanced` and `staged`, and what each finds.

    python -m benchmarks.staged [--sections 2000] [--chunks 50] [--questions 200] [--out FILE.json]

The texts are made up: a section has forty words of its own, and its chunks say mostly those. A
question is four words of a chunk, and that chunk is what should be found. Both recipes are asked
every question by turns, on the same store.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import clew
from benchmarks.machine import facts
from benchmarks.worker import spread
from clew.engine import Clew
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole, ModelInfo, Store
from clew.text.words import content_hash
from clew.types import Embedding, Kind, Node, Role

SEED = 11
NOW = datetime(2026, 3, 1, tzinfo=UTC)
EMBEDDER = HashingEmbedder(384)
WORDS = 10_000
OWN_WORDS, CHUNK_WORDS, OWN_SHARE = 40, 30, 0.6
ASKED_WORDS = 4
WARM_UP = 10
RECIPES = ("balanced", "staged")


class World:
    """Makes up sections and questions, the same in every run."""

    def __init__(self) -> None:
        """Make up the words, the first of them in most chunks."""
        self._chance = np.random.default_rng(SEED)
        syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
        self._words = np.array(
            ["".join(self._chance.choice(syllables, 3).tolist()) for _ in range(WORDS)]
        )
        weights = 1.0 / np.arange(1, WORDS + 1)
        self._common = weights / weights.sum()

    def section(self, chunks: int) -> list[str]:
        """Return the chunks of a new section."""
        own = self._chance.choice(self._words, OWN_WORDS)
        return [self._chunk(own) for _ in range(chunks)]

    def question(self, chunk: str) -> str:
        """Return some words of a chunk."""
        return " ".join(self._chance.choice(chunk.split(), ASKED_WORDS, replace=False).tolist())

    def _chunk(self, own: Any) -> str:
        count = int(CHUNK_WORDS * OWN_SHARE)
        said = [
            *self._chance.choice(own, count),
            *self._chance.choice(self._words, CHUNK_WORDS - count, p=self._common),
        ]
        self._chance.shuffle(said)
        return " ".join(map(str, said))


def fill(store: Store, world: World, *, sections: int, chunks: int) -> list[tuple[str, str]]:
    """Write the sections with their chunks; return the id and the text of every chunk."""
    store.activate(ModelInfo(EMBEDDER.id, EMBEDDER.dimension))
    written: list[tuple[str, str]] = []
    for number in range(sections):
        nodes = list(_placed(number, world.section(chunks)))
        vectors = EMBEDDER.embed([node.text for node in nodes], role=EmbedRole.PASSAGE)
        store.insert(
            nodes, [_embedding(node, vector) for node, vector in zip(nodes, vectors, strict=True)]
        )
        written += [(node.id, node.text) for node in nodes[1:]]
        print(f"\rwriting section {number + 1:,} of {sections:,}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return written


def _placed(number: int, chunks: list[str]) -> Iterator[Node]:
    id = f"{number:08d}"
    yield _node(id, "\n".join(chunks), kind=Kind.SECTION)
    for place, text in enumerate(chunks):
        yield _node(f"{id}.{place:04d}", text, kind=Kind.CHUNK, parent=id, root=id, position=place)


def _node(id: str, text: str, **more: Any) -> Node:
    return Node(
        id=id, text=text, t_created=NOW, t_valid=NOW, content_hash=content_hash(text), **more
    )


def _embedding(node: Node, vector: Any) -> Embedding:
    return Embedding(node=node.id, role=Role.CONTENT, text_hash=node.content_hash, vector=vector)


def compared(memory: Clew, asked: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the CPU and clock time of both recipes, and the share of questions whose chunk each has among its first ten."""
    cpu: dict[str, list[float]] = {recipe: [] for recipe in RECIPES}
    clock: dict[str, list[float]] = {recipe: [] for recipe in RECIPES}
    found = dict.fromkeys(RECIPES, 0)
    for number, (id, question) in enumerate(asked):
        for recipe in RECIPES[:: 1 if number % 2 else -1]:  # who is second finds warm caches
            ids, spent, waited = _timed(partial(_ids, memory, question, recipe))
            if number >= WARM_UP:
                cpu[recipe].append(spent)
                clock[recipe].append(waited)
                found[recipe] += id in ids
    count = len(asked) - WARM_UP
    return {
        recipe: {
            "questions": count,
            **spread(clock[recipe]),
            **spread(cpu[recipe], prefix="cpu_"),
            "recall_at_10": found[recipe] / count,
        }
        for recipe in RECIPES
    }


def _ids(memory: Clew, question: str, recipe: str) -> list[str]:
    return [hit.id for hit in memory.recall(question, k=10, recipe=recipe, track=False).hits]


def _timed(call: Callable[[], list[str]]) -> tuple[list[str], float, float]:
    cpu, clock = time.process_time(), time.perf_counter()
    answer = call()
    return answer, time.process_time() - cpu, time.perf_counter() - clock


def main() -> None:
    """Fill a store, ask, and print what came out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sections", type=int, default=2_000)
    parser.add_argument("--chunks", type=int, default=50, help="of each section")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="clew-staged-") as folder,
        clew.open(Path(folder) / "memory.clew", embedder=EMBEDDER) as memory,
    ):
        world = World()
        chunks = fill(memory.store, world, sections=options.sections, chunks=options.chunks)
        drawn = (
            np.random.default_rng(SEED + 1)
            .integers(0, len(chunks), options.questions + WARM_UP)
            .tolist()
        )
        asked = [(chunks[each][0], world.question(chunks[each][1])) for each in drawn]
        result = {
            "machine": facts(),
            "sections": options.sections,
            "chunks": len(chunks),
            **compared(memory, asked),
        }
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
