"""The PostgreSQL store gives the answers of the SQLite store.

The same ids in the same order with the same scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.ports import ModelInfo, Sort, Store
from clew.store.sqlite import SqliteStore
from clew.testing import NOW, node
from clew.text.words import terms
from clew.types import Edge, Embedding, Event, EventKind, Filter, Kind, Mention, Node, Role, Vectors
from tests.postgres_fixtures import Database

pytest.importorskip("psycopg", reason="psycopg is not installed (extra postgres)")

from clew.store.postgres import PostgresStore

NODES, QUESTIONS, DIMENSION = 2000, 500, 32
MODEL = ModelInfo("random", DIMENSION)
SPACES = ("default", "work", "home")
VOCABULARY = [f"word{number}" for number in range(400)]
TAGS = ("red", "green", "blue")


def _unit(random: np.random.Generator) -> Vectors:
    vector = random.normal(size=DIMENSION).astype(np.float32)
    unit: Vectors = vector / np.linalg.norm(vector)
    return unit


def _words(random: np.random.Generator, count: int) -> str:
    # as words are: few frequent, many rare
    ranks = np.minimum(random.zipf(1.3, count), len(VOCABULARY)) - 1
    return " ".join(VOCABULARY[rank] for rank in ranks)


def _node(random: np.random.Generator, number: int) -> Node:
    valid = NOW - timedelta(days=int(random.integers(0, 400)))
    return node(
        f"n{number:04}",
        _words(random, int(random.integers(3, 40))),
        space=SPACES[int(random.choice(3, p=(0.7, 0.2, 0.1)))],
        kind=(Kind.MEMORY, Kind.CHUNK, Kind.SECTION)[int(random.choice(3, p=(0.6, 0.3, 0.1)))],
        title=_words(random, 2) if random.random() < 0.3 else "",
        context=_words(random, 30) if random.random() < 0.2 else "",
        category=("fact", "observation", "preference")[int(random.integers(3))],
        tags=tuple(tag for tag in TAGS if random.random() < 0.3),
        metadata={"page": int(random.integers(5))} if random.random() < 0.5 else {},
        importance=round(float(random.random()), 3),
        accesses=int(random.integers(4)),
        archived=bool(random.random() < 0.05),
        t_valid=valid,
        t_created=valid,
        t_invalid=valid + timedelta(days=int(random.integers(1, 400)))
        if random.random() < 0.2
        else None,
        t_expired=valid + timedelta(days=int(random.integers(1, 200)))
        if random.random() < 0.1
        else None,
    )


def _fill(store: Store) -> None:
    random = np.random.default_rng(7)
    store.activate(MODEL)
    nodes = [_node(random, number) for number in range(NODES)]
    for at in range(0, NODES, 250):
        batch = nodes[at : at + 250]
        vectors = [
            Embedding(node=each.id, role=role, text_hash=each.content_hash, vector=_unit(random))
            for each in batch
            for role in ((Role.CONTENT, Role.CONTEXT) if each.context else (Role.CONTENT,))
        ]
        added = [Event(node=each.id, kind=EventKind.ADD, at=NOW) for each in batch]
        store.insert(batch, vectors, added)
    ids = [each.id for each in nodes]
    for number in range(100):
        id = ids[int(random.integers(NODES))]
        change: dict[str, Any] = (
            {"text": _words(random, 9)},
            {"archived": True},
            {"t_expired": NOW},
            {"context": ""},
        )[number % 4]
        store.update(id, **change)
    store.delete([ids[int(random.integers(NODES))] for _ in range(60)])
    left = [each for each in nodes if store.get([each.id])]
    store.mention(
        [
            Mention(
                each.id, each.text.split()[0], each.text.split()[0], "PERSON", 0.9, number % 3 == 0
            )
            for number, each in enumerate(left)
        ]
    )
    pairs = [(left[int(a)].id, left[int(b)].id) for a, b in random.integers(0, len(left), (300, 2))]
    store.link(
        [Edge(source=a, target=b, kind="RELATED", weight=0.5, t_created=NOW) for a, b in pairs]
    )


def _where(random: np.random.Generator) -> Filter:
    def maybe(share: float, value: Any, otherwise: Any) -> Any:
        return value if random.random() < share else otherwise

    day = NOW - timedelta(days=int(random.integers(0, 400)))
    return Filter(
        space=SPACES[int(random.integers(3))],
        kinds=maybe(0.3, (Kind.MEMORY,), ()),
        categories=maybe(0.2, ("fact", "preference"), ()),
        tags=maybe(0.2, (TAGS[int(random.integers(3))],), ()),
        metadata=maybe(0.2, {"page": float(random.integers(5))}, {}),
        since=maybe(0.2, day - timedelta(days=90), None),
        until=maybe(0.2, day + timedelta(days=90), None),
        as_of=maybe(0.2, day, None),
        known_at=maybe(0.2, day, None),
        recorded_until=maybe(0.1, day, None),
        archived=maybe(0.2, True, False),
        now=NOW,
    )


@pytest.fixture
def both(postgres: Database, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    one, other = SqliteStore.open(tmp_path / "memory.clew"), PostgresStore.open(postgres.url)
    _fill(one)
    _fill(other)
    yield one, other
    one.close()
    other.close()


def test_both_stores_answer_random_questions_alike(both: tuple[Store, Store]) -> None:
    random = np.random.default_rng(11)
    one, other = both
    for number in range(QUESTIONS):
        where, vector, limit = _where(random), _unit(random), int(random.integers(1, 60))
        asked = terms(_words(random, int(random.integers(1, 6))))
        role = (Role.CONTENT, Role.CONTEXT)[number % 2]
        assert other.sparse(asked, where, limit=limit) == one.sparse(asked, where, limit=limit)
        found = one.dense(vector, where, limit=limit, role=role)
        assert other.dense(vector, where, limit=limit, role=role) == found
        if number % 10 == 0:  # what a recall asks of what it found
            ids = [match.id for match in found]
            assert other.signals(ids) == one.signals(ids)
            assert other.cosines(vector, ids, role=role) == one.cosines(vector, ids, role=role)
            assert other.holding(asked, where.space) == one.holding(asked, where.space)
            assert other.coverage(where.space) == one.coverage(where.space)
            assert other.named([*VOCABULARY[:5]], where, limit=5) == one.named(
                [*VOCABULARY[:5]], where, limit=5
            )
            assert other.edges(ids) == one.edges(ids)
            sort = (Sort.RECENT, Sort.IMPORTANT, Sort.POPULAR)[number // 10 % 3]
            assert other.listing(where, sort=sort, limit=limit) == one.listing(
                where, sort=sort, limit=limit
            )
    assert other.verify() == one.verify() == ()
    own = [
        {name: value for name, value in store.stats().items() if name not in ("bytes", "schema")}
        for store in both
    ]
    assert own[0] == own[1]
