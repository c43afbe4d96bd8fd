"""What does spreading along links cost where there are many? Milliseconds of a recall's stage `spread`, and of an add with names.

    python -m benchmarks.spreading [--memories 100000] [--questions 200] [--adds 1000] [--profile]
    [--out FILE.json]

The memories are made up: plain words and about five names each, drawn by Zipf's law so that the
first names are hubs which thousands share, a tenth of them with a name for a title. With five
RELATED edges each, a hundred thousand have a million links. Every question is asked with the stage
and without it, by turns, on the same store; adds are one commit each, by turns with names noted and
without. Others may use the machine: processor time stands beside what the clock said.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import clew
from benchmarks.machine import facts
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole, ModelInfo, Store
from clew.search.recipes import Recipe
from clew.search.spread import Spread
from clew.search.state import Question, Recall
from clew.text.words import content_hash
from clew.types import Edge, Embedding, Mention, Node, Role

SEED = 5
NOW = datetime(2026, 3, 1, tzinfo=UTC)
EMBEDDER = HashingEmbedder(64)
# few enough parts and words for the embedder to remember them
NAMES, PARTS, WORDS = 40_000, 3_000, 10_000
# the first name is in one memory of five, the hundredth in one of three hundred, most of them in
# one or two
ZIPF = 0.9
NAMES_EACH, WORDS_EACH, EDGES_EACH = (2, 8), (6, 14), 5
TITLED = 10  # every tenth memory has a title
BATCH = 4096
BLOCK = 50  # adds between two turns
WARM_UP = 20
SHOWN = 25  # lines of a profile


@dataclass(frozen=True, slots=True)
class Memory:
    """A made-up memory."""

    text: str
    title: str
    names: tuple[str, ...]


class World:
    """Makes up memories and questions, the same in every run."""

    def __init__(self) -> None:
        """Make up the names and the words."""
        self._chance = np.random.default_rng(SEED)
        self._words = np.array(_spelled(self._chance, WORDS))
        parts = np.array([part.title() for part in _spelled(self._chance, PARTS)])
        self._names = np.array(
            [" ".join(pair) for pair in self._chance.choice(parts, (NAMES, 2)).tolist()]
        )
        self._reach = np.cumsum(np.arange(1, NAMES + 1) ** -ZIPF)

    def memories(self, count: int) -> Iterator[Memory]:
        """Yield so many memories, every tenth about the name that its number stands for."""
        for number in range(count):
            names = self._drawn(int(self._chance.integers(*NAMES_EACH)))
            words = self._chance.choice(
                self._words, int(self._chance.integers(*WORDS_EACH))
            ).tolist()
            for place, name in enumerate(names):
                words.insert(1 + 3 * place, name)
            title = str(self._names[number // TITLED % NAMES]) if number % TITLED == 0 else ""
            yield Memory(" ".join(words) + ".", title, names)

    def question(self, memory: Memory) -> str:
        """Return a question for a memory.

        A few of its words, and every other time one of its names.
        """
        words = [word for word in memory.text.rstrip(".").split() if word.islower()]
        asked = self._chance.choice(words, min(3, len(words)), replace=False).tolist()
        return " ".join([*asked, *(memory.names[:1] if self._chance.random() < 0.5 else ())]) + "?"

    def _drawn(self, count: int) -> tuple[str, ...]:
        places = np.searchsorted(self._reach, self._chance.random(count) * self._reach[-1])
        return tuple(dict.fromkeys(self._names[places].tolist()))


def _spelled(chance: np.random.Generator, count: int) -> list[str]:
    """Return words of three syllables that nobody has heard."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    return ["".join(chance.choice(syllables, 3).tolist()) for _ in range(count)]


def fill(store: Store, memories: Sequence[Memory]) -> int:
    """Write the memories with vectors, mentions and edges in large transactions, and return how many links that makes."""
    store.activate(ModelInfo(EMBEDDER.id, EMBEDDER.dimension))
    chance, links = np.random.default_rng(SEED + 1), 0
    for start in range(0, len(memories), BATCH):
        part = memories[start : start + BATCH]
        nodes = [_node(start + place, memory) for place, memory in enumerate(part)]
        vectors = EMBEDDER.embed([memory.text for memory in part], role=EmbedRole.PASSAGE)
        made = [
            Embedding(node=node.id, role=Role.CONTENT, text_hash=node.content_hash, vector=vec)
            for node, vec in zip(nodes, vectors, strict=True)
        ]
        said = [
            mention
            for node, memory in zip(nodes, part, strict=True)
            for mention in _mentions(node, memory)
        ]
        ends = chance.integers(0, start + len(part), size=(len(part), EDGES_EACH)).tolist()
        edges = [
            _edge(node.id, _id(end))
            for node, each in zip(nodes, ends, strict=True)
            for end in each
            if _id(end) != node.id
        ]
        with store.transaction():
            store.insert(nodes, made)
            store.mention(said)
            store.link(edges)
        links += len(said) + len(edges)
    return links


def _id(number: int) -> str:
    return f"{number:026d}"


def _node(number: int, memory: Memory) -> Node:
    return Node(
        id=_id(number),
        text=memory.text,
        title=memory.title,
        t_created=NOW,
        t_valid=NOW,
        content_hash=content_hash(memory.text),
    )


def _mentions(node: Node, memory: Memory) -> Iterator[Mention]:
    if memory.title:
        yield Mention(node.id, memory.title.lower(), memory.title, "PERSON", 1.0, True)
    for name in memory.names:
        yield Mention(node.id, name.lower(), name, "PERSON", 0.9)


def _edge(source: str, target: str) -> Edge:
    return Edge(source=source, target=target, kind="RELATED", weight=0.8, t_created=NOW)


@dataclass(frozen=True, slots=True)
class Timed:
    """One recall: of the stage and of the whole, what the clock said and what the processor did."""

    spread_wall: float
    spread_cpu: float
    wall: float
    cpu: float
    arrived: int
    """Hits that a signal reached."""


def timed(recipe: Recipe, asked: Question) -> Timed:
    """Run the stages of a recall, with two clocks on the stage `spread`."""
    spread, recall = (0.0, 0.0), Recall(question=asked)
    began, busy = time.perf_counter(), time.process_time()
    for stage in recipe.stages:
        wall, cpu = time.perf_counter(), time.thread_time()
        recall = stage(recall)
        if isinstance(stage, Spread):
            spread = (time.perf_counter() - wall, time.thread_time() - cpu)
    arrived = sum(bool(hit.path) for hit in recall.hits)
    return Timed(*spread, time.perf_counter() - began, time.process_time() - busy, arrived)


def recalls(opened: clew.Clew, questions: Sequence[str]) -> dict[str, Any]:
    """Ask every question with the stage and without it, whichever comes first by turns."""
    template = opened.recall(questions[0], track=False).question
    full = opened.recipe(template.recipe)
    recipes = {"with": full, "without": full.without(Spread)}
    taken: dict[str, list[Timed]] = {name: [] for name in recipes}
    for turn, text in enumerate(questions):
        for name in sorted(recipes, reverse=bool(turn % 2)):
            taken[name].append(timed(recipes[name], replace(template, text=text)))
    found = taken["with"][WARM_UP:]
    return {
        "questions": len(found),
        "spread_wall_ms": _percentiles([each.spread_wall for each in found]),
        "spread_cpu_ms": _percentiles([each.spread_cpu for each in found]),
        "recall_wall_ms": {
            name: _percentiles([each.wall for each in times[WARM_UP:]])
            for name, times in taken.items()
        },
        "recall_cpu_ms": {
            name: _percentiles([each.cpu for each in times[WARM_UP:]])
            for name, times in taken.items()
        },
        "reached_hits": float(np.mean([each.arrived for each in found])),
    }


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    return {
        f"p{share}": round(1000 * float(np.percentile(seconds, share)), 3) for share in (50, 95, 99)
    }


def adds(path: Path, memories: Sequence[Memory]) -> dict[str, Any]:
    """Add memories one commit at a time, in blocks by turns with names noted and without.

    Milliseconds an add.
    """
    spent: dict[str, list[tuple[float, float]]] = {"entities": [], "no entities": []}
    handles = {
        name: clew.open(path, embedder=EMBEDDER, entities={"enabled": name == "entities"})
        for name in spent
    }
    try:
        for handle in handles.values():
            handle.remember(
                f"The first memory that handle {id(handle)} writes pays for what is loaded."
            )
        for turn, start in enumerate(range(0, len(memories), BLOCK)):
            name = list(handles)[turn % len(handles)]
            for memory in memories[start : start + BLOCK]:
                wall, cpu = time.perf_counter(), time.process_time()
                handles[name].remember(memory.text, title=memory.title)
                spent[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    finally:
        for handle in handles.values():
            handle.close()
    return {name: _per_add(times) for name, times in spent.items()}


def _per_add(times: Sequence[tuple[float, float]]) -> dict[str, Any]:
    walls, busy = zip(*times, strict=True)
    mean = {
        "cpu_ms": round(1000 * float(np.mean(busy)), 3),
        "wall_ms": round(1000 * float(np.mean(walls)), 3),
    }
    return {"adds": len(times), **mean, "cpu": _percentiles(busy), "wall": _percentiles(walls)}


def profile(opened: clew.Clew, questions: Sequence[str]) -> str:
    """Return where the stage spends its time."""
    template = opened.recall(questions[0], track=False).question
    full = opened.recipe(template.recipe)
    watch = cProfile.Profile()
    for text in questions:
        recall = Recall(question=replace(template, text=text))
        for stage in full.stages:
            recall = watch.runcall(stage, recall) if isinstance(stage, Spread) else stage(recall)
            if isinstance(stage, Spread):
                break
    return _shown(watch)


def _shown(watch: cProfile.Profile) -> str:
    rows = sorted(
        pstats.Stats(watch).get_stats_profile().func_profiles.items(),
        key=lambda row: -row[1].cumtime,
    )[:SHOWN]
    lines = [
        f"{each.cumtime * 1e3:9.1f} {each.tottime * 1e3:9.1f} {each.ncalls:>12} {name}"
        for name, each in rows
    ]
    return "\n".join([f"{'total ms':>9} {'own ms':>9} {'calls':>12}", *lines])


def main() -> int:
    """Build, measure, print a line, and write JSON where asked to."""
    options = _parser().parse_args()
    world = World()
    memories = list(world.memories(options.memories))
    chance = np.random.default_rng(SEED + 2)
    questions = [
        world.question(memories[at])
        for at in chance.integers(0, len(memories), options.questions + WARM_UP).tolist()
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spreading.clew"
        report: dict[str, Any] = {"machine": facts(), "memories": len(memories)}
        with clew.open(path, embedder=EMBEDDER, clock=lambda: NOW) as opened:
            began = time.process_time()
            report["links"] = fill(opened.store, memories)
            report["fill_cpu_s"] = round(time.process_time() - began, 1)
            report["recalls"] = recalls(opened, questions)
            if options.profile:
                print(profile(opened, questions), file=sys.stderr)
        if options.adds:
            report["adds"] = adds(path, list(world.memories(options.adds)))
    print(line(report))
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    return 0


def line(report: dict[str, Any]) -> str:
    """Return the measurement in one line."""
    found = report["recalls"]
    spread = f"spread p50 {found['spread_wall_ms']['p50']} ms, p95 {found['spread_wall_ms']['p95']} ms (CPU p95 {found['spread_cpu_ms']['p95']})"  # noqa: E501
    whole = ", ".join(
        f"{name} p50 {each['p50']} p95 {each['p95']}"
        for name, each in found["recall_wall_ms"].items()
    )
    added = "; ".join(
        f"add, {name}: CPU {each['cpu_ms']} ms" for name, each in report.get("adds", {}).items()
    )
    return (
        f"{report['memories']} memories, {report['links']} links: {spread}; recall {whole} ms"
        + (f"; {added}" if added else "")
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.spreading",
        description="Measure what spreading along links costs.",
    )
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--adds", type=int, default=1000, help="0: none")
    parser.add_argument(
        "--profile", action="store_true", help="print where the stage spends its time, too"
    )
    parser.add_argument("--out", type=Path, help="a file for the report as JSON")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
