"""The words in memory answer as FTS5 would for each space, whatever happened to the store.

Small numbers force every path.
"""

from __future__ import annotations

import math
import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

from clew.ports import Store
from clew.store import bm25
from clew.store.filters import passes
from clew.store.sqlite import SqliteStore, segments
from clew.store.sqlite import lexical as topwords
from clew.store.sqlite import word_index as wordindex
from clew.testing import MODEL, NOW, added, later, node, raises, where
from clew.testing.chapters.admin import Sharing
from clew.testing.chapters.events import Transacting
from clew.testing.chapters.filters import Filtering
from clew.testing.chapters.isolation import Isolating
from clew.testing.chapters.records import Keeping
from clew.testing.chapters.vectors import Searching
from clew.testing.chapters.words import Placing, Speaking
from clew.text.gist import searched_text
from clew.text.words import idf, query_weight, terms
from clew.types import Filter, Match, Node, Ranking, ranked
from tests.properties.test_store_oracle import SideBySide

EXACT = 1e-12  # FTS5 adds up in another order


def small(*, checkpoint: int = 16, segment: int = 8, tail: int = 4) -> ExitStack:
    """Give every store postings, however small it is, with many segments and a tail that fills soon, until the stack is closed."""
    sizes: dict[str, Any] = {
        "POSTINGS_FROM": 0,
        "CHECKPOINT_CHANGES": checkpoint,
        "SEGMENT_NODES": segment,
        "SEGMENT_CHANGES": 1,
        "CHANGES_KEPT": 40,
    }
    stack = ExitStack()
    stack.enter_context(patch.multiple(segments, **sizes))
    stack.enter_context(patch.object(wordindex, "TAIL_ROWS", tail))
    stack.enter_context(patch.object(topwords, "WORTH_ASKING", 1 << 40))
    return stack


# and now and then in SideBySideWithPostings
@pytest.fixture(params=[1, 1000], ids=["written at once", "written once"])
def sizes(request: pytest.FixtureRequest) -> Iterator[None]:
    with small(checkpoint=request.param):
        yield


@pytest.mark.usefixtures("sizes")
class TestSqliteStoreWithPostings(
    Keeping, Searching, Placing, Speaking, Filtering, Transacting, Sharing, Isolating
):
    """The chapters that search by words."""

    path: Path

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SqliteStore]:
        self.path = tmp_path / "memory.clew"
        store = SqliteStore.open(self.path, synchronous="OFF")
        yield store
        store.close()

    def second_handle(self, store: Store) -> SqliteStore:
        return SqliteStore.open(self.path, synchronous="OFF")

    def reopen(self, store: Store) -> SqliteStore:
        store.close()
        return SqliteStore.open(self.path, synchronous="OFF")


class SideBySideWithPostings(SideBySide):
    """The same steps, with postings."""

    def __init__(self) -> None:
        self.sizes = small(checkpoint=7)
        super().__init__()

    def teardown(self) -> None:
        super().teardown()
        self.sizes.close()


TestSideBySideWithPostings = SideBySideWithPostings.TestCase
TestSideBySideWithPostings.settings = settings(
    max_examples=15,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def opened(folder: Path, nodes: Sequence[Node] = ()) -> SqliteStore:
    """Return the store of a folder, with nodes added to it."""
    store = SqliteStore.open(folder / "store", synchronous="OFF")
    if nodes:
        store.activate(MODEL)
        added(store, nodes)
    return store


# --- the same scores as FTS5 ---

VOCABULARY = [f"{a}{b}{c}" for a in "bdgkmptv" for b in "aeiou" for c in "bdgklmnprst"]
SPACES = ("default", "default", "default", "work")


class Texts:
    """Nodes of Zipf text, the same in every run."""

    def __init__(self, seed: int = 0) -> None:
        self.draw = random.Random(seed)
        self.weights = [1 / rank for rank in range(1, len(VOCABULARY) + 1)]
        self.made = 0

    def text(self, *, most: int = 30) -> str:
        return " ".join(self.draw.choices(VOCABULARY, self.weights, k=self.draw.randint(1, most)))

    def nodes(self, count: int) -> list[Node]:
        self.made += count
        return [self.node(number) for number in range(self.made - count, self.made)]

    def node(self, number: int) -> Node:
        draw = self.draw
        fields = {
            "space": draw.choice(SPACES),
            "category": draw.choice(["fact", "observation"]),
            "title": self.text(most=4),
        }
        return node(
            f"n{number:05}",
            self.text(),
            **fields,
            archived=draw.random() < 0.1,
            t_valid=later(-draw.randint(0, 9)),
        )

    def change(self) -> dict[str, Any]:
        return self.draw.choice(
            [{"text": self.text()}, {"title": self.text(most=3)}, {"archived": True}]
        )

    def question(self) -> list[str]:
        return terms(self.text(most=6))


FILTERS = (
    where(),
    where(space="work"),
    where(categories=("fact",)),
    where(archived=True, since=later(-3)),
    where(space="none"),
)


Asked = tuple[list[str], Filter, int]


def by_fts5(store: SqliteStore, asked: Sequence[Asked]) -> list[Ranking]:
    """Answer from SQLite's own full-text search: an index for each space, made for the moment."""
    spaces = {
        space: Fts5(list(store.nodes(space))) for space in {filter.space for _, filter, _ in asked}
    }
    return [spaces[filter.space].search(words, filter)[:limit] for words, filter, limit in asked]


class Fts5:
    """Some nodes in an FTS5 index, found by its own bm25(), one term at a time and weighed by Lucene's IDF."""

    COLUMNS = "title, text, context, facet"

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = dict(enumerate(nodes))
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute(
            f"CREATE VIRTUAL TABLE words USING fts5 ({self.COLUMNS}, tokenize='ascii')"
        )
        rows = [
            (
                number,
                *(
                    " ".join(terms(column))
                    for column in (each.title, searched_text(each.kind, each.text), each.context)
                ),
                "spacetoken",
            )
            for number, each in self.nodes.items()
        ]
        self.connection.executemany(
            f"INSERT INTO words (rowid, {self.COLUMNS}) VALUES (?, ?, ?, ?, ?)", rows
        )

    def search(self, asked: Sequence[str], filter: Filter) -> Ranking:
        if not asked:
            return ()
        weights = f"{bm25.TITLE_WEIGHT}, {bm25.TEXT_WEIGHT}, {bm25.CONTEXT_WEIGHT}, 0.0"
        scores: dict[int, float] = {}
        for term, said in sorted(Counter(asked).items()):
            found = f"SELECT rowid, bm25(words, {weights}) FROM words WHERE words MATCH ?"
            with closing(self.connection.execute(found, (f'"{term}"',))) as rows:
                ranks = dict(rows)
            # as FTS5 has it
            fts5_idf = max(
                math.log((len(self.nodes) - len(ranks) + 0.5) / (len(ranks) + 0.5)), 1e-6
            )
            weight = query_weight(said) * idf(len(self.nodes), len(ranks)) / fts5_idf
            for number, rank in ranks.items():
                scores[number] = scores.get(number, 0.0) - rank * weight
        return ranked(
            Match(self.nodes[number].id, score)
            for number, score in scores.items()
            if passes(self.nodes[number], filter)
        )


def agree(found: Ranking, expected: Ranking) -> None:
    """Check that two rankings are one, but for the order of scores that differ by rounding alone."""
    assert len(found) == len(expected)
    scores = {match.id: match.score for match in found}
    for one, other in zip(found, expected, strict=True):
        assert math.isclose(one.score, other.score, rel_tol=EXACT)
        assert math.isclose(scores.get(other.id, one.score), other.score, rel_tol=EXACT)


def questions(texts: Texts, count: int) -> list[Asked]:
    drawn = [texts.question() for _ in range(count)]
    return [
        (words, filter, limit) for words in drawn for filter in FILTERS for limit in (1, 10, 5000)
    ]


def answers(store: SqliteStore, asked: Sequence[Asked]) -> list[Ranking]:
    return [store.sparse(words, filter, limit=limit) for words, filter, limit in asked]


def compare(store: SqliteStore, texts: Texts, *, count: int = 10) -> None:
    asked = questions(texts, count)
    for found, expected in zip(answers(store, asked), by_fts5(store, asked), strict=True):
        agree(found, expected)


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_fts5_through_updates_deletions_and_reopening(
    tmp_path: Path, seed: int
) -> None:
    texts = Texts(seed)
    with small(checkpoint=150, segment=64, tail=32):
        store = opened(tmp_path, texts.nodes(300))
        compare(store, texts)
        for round in range(5):
            ids = [each.id for each in store.nodes()]
            for id in texts.draw.sample(ids, 12):
                store.update(id, **texts.change())
            compare(store, texts, count=3)
            store.delete(texts.draw.sample(ids, 15))
            added(store, texts.nodes(texts.draw.choice([1, 5, 90])))
            if round % 2:
                store.close()
                store = opened(tmp_path)
            compare(store, texts, count=3)
            assert store.verify() == ()
        store.close()


def test_a_word_that_occurs_very_often_and_a_very_long_text_are_counted_exactly(
    tmp_path: Path,
) -> None:
    with small():
        crowds = [
            node(f"n{count}", "apple " * count + "pear " * (count % 7))
            for count in (1, 255, 256, 70_000)
        ]
        store = opened(tmp_path, [*crowds, *(node(f"m{i}", "plum fig") for i in range(9))])
        for _ in range(2):
            (expected,) = by_fts5(store, [(["appl", "pear"], where(), 9)])
            agree(store.sparse(["appl", "pear"], where(), limit=9), expected)
            store.close()
            store = opened(tmp_path)
        store.close()


# --- in step ---


@pytest.mark.usefixtures("sizes")
def test_what_a_transaction_wrote_is_seen_inside_it_and_gone_after_a_rollback(
    tmp_path: Path,
) -> None:
    store = opened(tmp_path, [node("a", "apple"), node("b", "pear")])
    before = store.sparse(["appl"], where(), limit=5)
    with raises(ZeroDivisionError), store.transaction():
        added(store, [node(f"c{i}", "apple plum") for i in range(40)])
        assert len(store.sparse(["appl"], where(), limit=50)) == 41
        raise ZeroDivisionError
    assert store.sparse(["appl"], where(), limit=50) == before
    assert store.verify() == ()
    store.close()


@pytest.mark.usefixtures("sizes")
def test_a_handle_that_fell_far_behind_reads_the_words_anew(tmp_path: Path) -> None:
    texts = Texts()
    store = opened(tmp_path, texts.nodes(20))
    other = opened(tmp_path)
    compare(other, texts, count=1)
    for _ in range(12):
        added(store, texts.nodes(20))
    store.delete([f"n{number:05}" for number in range(0, 200, 2)])
    compare(other, texts, count=3)
    compare(store, texts, count=3)
    other.close()
    store.close()


def test_searches_beside_a_writer_in_another_thread_see_whole_commits(tmp_path: Path) -> None:
    with small(checkpoint=50, segment=32, tail=8):
        store = opened(tmp_path, [node(f"n{i:03}", f"apple word{i}") for i in range(100)])
        failures: list[object] = []
        done = threading.Event()

        def ask() -> None:
            while not done.is_set():
                found = store.sparse(["appl"], where(archived=True), limit=1000)
                if len(found) < 100:
                    failures.append(found)

        readers = [threading.Thread(target=ask) for _ in range(2)]
        for reader in readers:
            reader.start()
        for i in range(60):
            store.update(f"n{i:03}", archived=bool(i % 2), category="fact")
            store.update(f"n{i:03}", text=f"apple other{i}")
            added(store, [node(f"m{i:03}", "pear")])
        done.set()
        for reader in readers:
            reader.join()
        assert failures == []
        store.close()


def test_rows_that_the_last_look_drops_never_leave_the_list_short(tmp_path: Path) -> None:
    with small():
        nodes = [
            node(f"n{i:03}", "apple " * (30 - i) + "pear", category=f"c{i}") for i in range(30)
        ]
        store = opened(tmp_path, nodes)
        # every category collides
        with patch("clew.store.sqlite.vector_index.name_code", lambda name: 7):
            store.update("n000", importance=0.1)
            store._words.forget()
            store.repair()
            found = store.sparse(["appl"], where(categories=("c25", "c26", "c29")), limit=2)
        assert [match.id for match in found] == ["n025", "n026"]
        store.close()


# --- damage ---

DAMAGE = (
    "UPDATE posting SET rows = zeroblob(length(rows))",
    "UPDATE posting SET counts = x'00'",
    "UPDATE posting SET columns = 'text'",
    "UPDATE posting SET terms = zeroblob(8), checksum = 1 WHERE segment = 1",
    "DELETE FROM posting WHERE segment = 2",
    "DELETE FROM posting",
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_segments_are_noticed_answered_around_and_repaired(
    tmp_path: Path, damage: str
) -> None:
    texts = Texts()
    with small(checkpoint=30, segment=16):
        opened(tmp_path, texts.nodes(80)).close()
        store = opened(tmp_path)
        assert store.verify() == ()
        store._database.connection.execute(damage)
        assert {problem.check for problem in store.verify()} == {"postings"}
        compare(store, texts)
        added(store, texts.nodes(3))
        compare(store, texts)
        store.repair()
        assert store.verify() == ()
        compare(store, texts)
        store.close()


def test_words_of_another_analysis_are_not_used(tmp_path: Path) -> None:
    texts = Texts()
    with small(checkpoint=1000):
        opened(tmp_path, texts.nodes(40)).close()
        with patch.object(segments, "FORMAT", "another"):
            store = opened(tmp_path)
            assert segments.state(store._database.connection)["format"] == "another"
            compare(store, texts)
            assert store.verify() == ()
            store.close()


def test_the_log_of_changes_does_not_grow_without_end(tmp_path: Path) -> None:
    texts = Texts()
    store = opened(tmp_path, texts.nodes(10))
    for _ in range(3):
        with store.transaction():
            for day in range(1100):
                store.update("n00001", t_valid=later(-day), t_created=NOW)
    (kept,) = store._database.connection.execute("SELECT count(*) FROM node_change").fetchone()
    assert kept == 0
    with small(checkpoint=16):
        store.compact()
        for day in range(100):
            store.update("n00001", t_valid=later(-day))
        (kept,) = store._database.connection.execute("SELECT count(*) FROM node_change").fetchone()
    assert kept < 40 + 16
    store.close()
