"""Small spaces of our own, as sets.

The memories of `clew demo`, the golden corpus of the tests, and stores as assistants keep them.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from clew.evaluate.data import Dataset, Passage, Query
from clew.evaluate.datasets import load
from clew.evaluate.datasets.memories import LEVEL

HERE = Path(__file__).parent
ASKED_OF_DEMO = HERE / "asked_of_demo.yaml"
GOLDEN = HERE.parent / "tests" / "golden" / "corpus.yaml"
MEMORIES = HERE / "memories"
# the day that the demo's ages count back from: any day serves
TOLD = datetime(2026, 3, 1, tzinfo=UTC)


def small_set(name: str) -> Dataset:
    """Return the set of this name: `demo`, `golden`, or a folder of `memories/`."""
    if (MEMORIES / name).is_dir():
        return load("memories", MEMORIES / name)
    passages, queries = _demo() if name == "demo" else _golden()
    return Dataset(
        name=name,
        part="dev",
        queries=queries,
        passages=passages,
        levels=(LEVEL,),
        licence="Clew's own",
        data_hash="",
    )


def _demo() -> tuple[tuple[Passage, ...], tuple[Query, ...]]:
    memories = yaml.safe_load(
        files("clew.surface.cli").joinpath("demo_memories.yaml").read_text(encoding="utf-8")
    )
    passages = tuple(
        _passage(
            f"m{number}", each, each.get("space", "default"), TOLD - timedelta(days=each["age"])
        )
        for number, each in enumerate(memories)
    )
    asked = [(space, each) for space, listed in _read(ASKED_OF_DEMO).items() for each in listed]
    queries = tuple(
        _query(number, each["ask"], space, _holding(each["answer"], passages))
        for number, (space, each) in enumerate(asked)
    )
    return passages, queries


def _golden() -> tuple[tuple[Passage, ...], tuple[Query, ...]]:
    corpus = _read(GOLDEN)
    gone = {each["supersedes"] for each in corpus["memories"] if "supersedes" in each}
    passages = tuple(
        _passage(each["key"], each, "default", datetime.combine(each["at"], time(12), UTC))
        for each in corpus["memories"]
        if each["key"] not in gone
    )
    queries = tuple(
        _query(number, each["ask"], "default", each["needs"])
        for number, each in enumerate(corpus["questions"])
    )
    return passages, queries


def _passage(id: str, memory: dict[str, Any], space: str, told: datetime) -> Passage:
    return Passage(
        id=id,
        text=memory["text"],
        title=memory.get("title", ""),
        space=space,
        time=told,
        keys={LEVEL: id},
    )


def _query(number: int, ask: str, space: str, needs: list[str]) -> Query:
    return Query(id=f"q{number}", text=ask, space=space, relevant={LEVEL: dict.fromkeys(needs, 1)})


def _holding(words: str, passages: tuple[Passage, ...]) -> list[str]:
    found = [passage.id for passage in passages if words in passage.text]
    if len(found) != 1:
        raise SystemExit(f"{words!r} stands in {len(found)} memories of the demo, not in one.")
    return found


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
