"""Run systems over the questions of a dataset and keep every answer on disk.

A ledger belongs to one system on one corpus under one configuration and one state of the code:
change any of them and it is another ledger. Questions may come and go.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import clew
from clew.engine import Clew
from clew.evaluate.data import Answer, Cost, Passage, Query
from clew.evaluate.index import Index
from clew.evaluate.searcher import Searcher
from clew.evaluate.systems import System
from clew.ports import EmbedRole, Progress
from clew.settings import config_hash
from clew.text.words import token_estimate

# What turns answers into numbers, tables and screens has no part in an answer; what it searched is
# hashed by content.
UNANSWERING = (
    "surface/",
    "testing/",
    "integrations/",
    "ingest/readers/",
    *(
        f"evaluate/{name}"
        for name in ("report", "significance", "measures", "datasets", "chunkers", "sweep")
    ),
)


@lru_cache(maxsize=2)
def code_hash(*, whole: bool = False) -> str:
    """Return a name for the state of the code.

    Two runs share answers only if every line that made them is the same.

    `whole` counts also what makes numbers of answers; the surface is never part of it.
    """
    left_out = UNANSWERING[:3] if whole else UNANSWERING
    root = Path(clew.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(left_out):
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def question_key(query: Query) -> str:
    """Return the name of a question in a ledger: whatever an answer can depend on."""
    asked = json.dumps(
        [query.id, query.space, query.text, str(query.asked_at), str(query.known_at)]
    )
    return hashlib.sha256(asked.encode()).hexdigest()[:24]


class Ledger:
    """The answers of one system, by question; every answer is written before the next is begun."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(
            json.dumps({**identity, "code": code_hash()}, sort_keys=True, default=repr).encode()
        ).hexdigest()[:24]
        self._path = folder / f"{name}.answers.jsonl"
        self._answers = dict(self._read())
        self._file = self._path.open("a", encoding="utf-8")

    def _read(self) -> Iterator[tuple[str, Answer]]:
        text = (
            self._path.read_text(encoding="utf-8", errors="replace") if self._path.exists() else ""
        )
        for line in text.split("\n"):
            try:
                raw = json.loads(line)
                links = tuple((source, target) for source, target in raw["links"])
                yield (
                    raw["key"],
                    Answer(
                        ranking=tuple(raw["ranking"]),
                        hops=raw["hops"],
                        cost=Cost(**raw["cost"]),
                        links=links,
                        hops_used=raw["hops_used"],
                        stopped=raw["stopped"],
                    ),
                )
            except (
                ValueError,
                KeyError,
                TypeError,
            ):  # the line that was being written at a kill, or the empty first one
                continue

    def get(self, query: Query) -> Answer | None:
        """Return the answer to a question, if it was given before."""
        return self._answers.get(question_key(query))

    def write(self, query: Query, answer: Answer) -> None:
        """Keep an answer; it survives the death of the process."""
        key = question_key(query)
        self._answers[key] = answer
        line = {"key": key, "query": query.id, **asdict(answer)}
        self._file.write(
            "\n" + json.dumps(line)
        )  # a break in front: a half line left by a kill spoils only itself
        self._file.flush()

    def close(self) -> None:
        """Release the file."""
        self._file.close()


Answers = Mapping[str, Answer]
"""By question; rankings and hops speak of the dataset's own passage ids."""
WAVE = 32  # questions answered between two looks at the progress bar


def embed_questions(index: Index) -> None:
    """Embed all questions at once.

    Faster than one by one, and no latency then holds the model's time.
    """
    if index.embedder is not None:
        index.embedder.embed([query.text for query in index.dataset.queries], role=EmbedRole.QUERY)


def answers_of(
    index: Index, system: System, *, cache: Path, jobs: int, progress: Progress
) -> Answers:
    """Return the system's answer to every question, from the ledger where it is there."""
    searched = index.memory if system.flat else index.structured
    with closing(searched.variant(**system.settings)) as memory:
        ledger = Ledger(cache, identity(index, system, memory))

        def answer(query: Query) -> Answer:
            searcher = Searcher(
                memory,
                index.nodes,
                recipe=system.recipe,
                asked_at=None if system.flat or "as_of" in system.ignores else query.asked_at,
                known_at=None if system.flat or "known_at" in system.ignores else query.known_at,
                archived=bool(index.dataset.history) and not system.decayed,
            )
            return named(system.policy.answer(searcher, query), index)

        return through(
            ledger, index.dataset.queries, answer, name=system.name, jobs=jobs, progress=progress
        )


def through(
    ledger: Ledger,
    queries: Sequence[Query],
    answer: Callable[[Query], Answer],
    *,
    name: str,
    jobs: int,
    progress: Progress,
) -> Answers:
    """Answer what the ledger does not hold, write it there, and return all; closes the ledger."""
    with closing(ledger), ThreadPoolExecutor(max_workers=jobs) as pool:
        found = {query.id: kept for query in queries if (kept := ledger.get(query)) is not None}
        waiting = [query for query in queries if query.id not in found]
        for at in range(0, len(waiting), WAVE):
            wave = waiting[at : at + WAVE]
            for query, given in zip(wave, pool.map(answer, wave), strict=True):
                ledger.write(query, given)
                found[query.id] = given
            progress(f"asking {name}", len(queries) - len(waiting) + at + len(wave), len(queries))
    return {query.id: found[query.id] for query in queries}


def identity(index: Index, system: System, memory: Clew) -> dict[str, object]:
    """Return all that an answer depends on, but for the question."""
    model = memory.store.model()
    return {
        "content": index.content,
        "asked at its time": not system.flat,
        "structured": not system.flat and index.structured is not index.memory,
        "model": model.id if model else None,
        "policy": repr(system.policy),
        "recipe": system.recipe,
        "ignores": (*system.ignores, system.decayed),
        "config": config_hash(memory.settings),
    }


def named(answer: Answer, index: Index) -> Answer:
    """Return an answer in the dataset's own ids.

    Of several chunks of one passage the first counts.
    """
    hops: dict[str, int] = {}
    for node in answer.ranking:
        hops.setdefault(index.nodes[node].id, answer.hops[node])
    ends = [
        tuple(index.nodes[end].id for end in link)
        for link in answer.links
        if all(end in index.nodes for end in link)
    ]
    links = dict.fromkeys((source, target) for source, target in ends if source != target)
    return replace(answer, ranking=tuple(hops), hops=hops, links=tuple(links))


def cut(
    answers: Answers, passages: Mapping[str, Passage], *, levels: Iterable[str], k: int
) -> Answers:
    """Cut every ranking where the k-th different key has appeared at each level, and count only what is left as its cost.

    Where several passages share a key (turns of a session, chunks of a file) systems are asked for
    more passages than k, so that k different keys can appear; a caller who wants k keys reads down
    to the k-th and no further.
    """
    wanted = tuple(levels)
    return {query: _cut(answer, passages, wanted, k) for query, answer in answers.items()}


def _cut(answer: Answer, passages: Mapping[str, Passage], levels: Sequence[str], k: int) -> Answer:
    kept = answer.ranking[: max(_reach(answer.ranking, passages, level, k) for level in levels)]
    tokens = sum(token_estimate(passages[id].text) for id in kept)
    cost = replace(answer.cost, chunks_examined=len(kept), tokens_returned=tokens)
    links = tuple(link for link in answer.links if link[1] in kept)
    return replace(
        answer, ranking=kept, hops={id: answer.hops[id] for id in kept}, cost=cost, links=links
    )


def _reach(ranking: Sequence[str], passages: Mapping[str, Passage], level: str, k: int) -> int:
    keys: set[str] = set()
    for place, id in enumerate(ranking, start=1):
        keys.add(passages[id].keys.get(level, id))
        if len(keys) == k:
            return place
    return len(ranking)


def runs(answers: Mapping[str, Answers]) -> dict[str, dict[str, Sequence[str]]]:
    """Return each system's rankings by question."""
    return {
        name: {query: answer.ranking for query, answer in by_query.items()}
        for name, by_query in answers.items()
    }
