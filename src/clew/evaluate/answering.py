"""Runs systems over the questions of a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from clew.engine import Clew
from clew.evaluate.data import Query
from clew.evaluate.index import Index
from clew.evaluate.ledger import Ledger
from clew.evaluate.policies import Answer, Searcher
from clew.evaluate.systems import System
from clew.ports import Progress
from clew.settings import config_hash

Answers = Mapping[str, Answer]
WAVE = 32  # questions answered between two looks at the progress bar


def answers_of(index: Index, system: System, *, cache: Path, jobs: int, progress: Progress) -> Answers:
    """Return the system's answer to every question, from the ledger where it is there."""
    queries = index.dataset.queries
    with closing(index.memory.variant(**system.settings)) as memory:
        ledger = Ledger(cache, identity(index, system, memory))
        with closing(ledger), ThreadPoolExecutor(max_workers=jobs) as pool:
            waiting = [query for query in queries if query.id not in ledger.answers]
            for at in range(0, len(waiting), WAVE):
                wave = waiting[at : at + WAVE]
                for query, answer in zip(wave, pool.map(lambda query: _answer(index, memory, system, query), wave), strict=True):
                    ledger.write(query.id, answer)
                progress(f"asking {system.name}", len(queries) - len(waiting) + at + len(wave), len(queries))
        return {query.id: ledger.answers[query.id] for query in queries}


def identity(index: Index, system: System, memory: Clew) -> dict[str, object]:
    """Return all that an answer depends on."""
    dataset, model = index.dataset, memory.store.model()
    return {
        "dataset": (dataset.name, dataset.part, dataset.data_hash, len(dataset.passages), dataset.notes),
        "chunks": sorted({passage.id.partition("#")[0] for passage in dataset.passages[:50]}),
        "model": model.id if model else None,
        "policy": repr(system.policy) if not hasattr(system.policy, "expander") else _policy_name(system),
        "recipe": system.recipe,
        "config": config_hash(memory.settings),
    }


def _policy_name(system: System) -> str:
    """Return a multi-hop policy's options; its expander is told by kind, its counts follow from the dataset."""
    policy = system.policy
    options = {name: getattr(policy, name) for name in ("k", "hops", "chunks_per_hop", "budget")}
    return f"{policy.name} {options} {type(getattr(policy, 'expander', None)).__name__}"


def _answer(index: Index, memory: Clew, system: System, query: Query) -> Answer:
    return system.policy.answer(Searcher(memory, index.passages, recipe=system.recipe), query)


def runs(answers: Mapping[str, Answers]) -> dict[str, dict[str, Sequence[str]]]:
    """Return each system's rankings by question."""
    return {name: {query: answer.ranking for query, answer in by_query.items()} for name, by_query in answers.items()}
