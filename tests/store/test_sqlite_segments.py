"""A store that grows gets segments of words.

What that changes for write transactions, other handles, older files and the store's care.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from clew.errors import StoreError
from clew.store.sqlite import SqliteStore, lexical, schema, segments
from clew.store.sqlite.word_index import words_of
from clew.testing import added, node, raises, where
from tests.store.test_sqlite_postings import Texts, answers, compare, opened, questions, small
from tests.store.unsealed import unsealed

THRESHOLD = 60


@pytest.fixture
def threshold() -> Iterator[None]:
    """Let stores get postings from a few dozen nodes on, written now and then."""
    with small(checkpoint=25), patch.object(segments, "POSTINGS_FROM", THRESHOLD):
        yield


pytestmark = pytest.mark.usefixtures("threshold")


@pytest.fixture
def texts() -> Texts:
    return Texts()


@pytest.fixture
def large(tmp_path: Path, texts: Texts) -> Iterator[SqliteStore]:
    with closing(opened(tmp_path, texts.nodes(2 * THRESHOLD))) as store:
        assert stored(store)
        yield store


def stored(store: SqliteStore) -> int:
    """Return how many segments of words the file holds."""
    (count,) = store._database.connection.execute("SELECT count(*) FROM posting").fetchone()
    return int(count)


def shake(store: SqliteStore, texts: Texts) -> None:
    """Add, change and delete a few nodes."""
    added(store, texts.nodes(7))
    ids = [each.id for each in store.nodes()]
    for id in texts.draw.sample(ids, 9):
        store.update(id, **texts.change())
    store.delete(texts.draw.sample(ids, 5))


# --- growing ---


def test_segments_are_written_in_the_commit_that_brings_the_store_over_the_threshold(
    tmp_path: Path, texts: Texts
) -> None:
    with closing(opened(tmp_path, texts.nodes(THRESHOLD - 1))) as store:
        compare(store, texts)
        assert stored(store) == 0
        added(store, texts.nodes(1))
        assert stored(store)
        compare(store, texts)
        assert store.verify() == ()


def test_after_a_rolled_back_crossing_the_next_commit_looks_again(
    tmp_path: Path, texts: Texts
) -> None:
    with closing(opened(tmp_path, texts.nodes(THRESHOLD - 1))) as store:
        with (
            patch.object(segments, "note", side_effect=ZeroDivisionError),
            raises(ZeroDivisionError),
        ):
            added(store, texts.nodes(5))
        assert stored(store) == 0
        compare(store, texts)
        added(store, texts.nodes(1))
        assert stored(store)
        compare(store, texts)


def test_a_commit_that_failed_leaves_the_words_as_they_were_until_one_succeeds(
    tmp_path: Path, texts: Texts
) -> None:
    def authorised(action: int, operation: str | None, *_: object) -> int:
        return (
            sqlite3.SQLITE_DENY
            if (action, operation) == (sqlite3.SQLITE_TRANSACTION, "COMMIT")
            else sqlite3.SQLITE_OK
        )

    with closing(opened(tmp_path, texts.nodes(THRESHOLD - 1))) as store:
        store._database.connection.set_authorizer(authorised)
        with raises(StoreError):
            added(store, texts.nodes(1))
        store._database.connection.set_authorizer(None)
        assert stored(store) == 0
        compare(store, texts)
        added(store, texts.nodes(1))
        assert stored(store)
        compare(store, texts)


def test_one_transaction_may_cross_the_threshold_and_search_on_both_sides(
    tmp_path: Path, texts: Texts
) -> None:
    with closing(opened(tmp_path, texts.nodes(5))) as store:
        asked = questions(texts, 4)
        with store.transaction():
            added(store, texts.nodes(3 * THRESHOLD))
            inside = answers(store, asked)
        assert stored(store)
        assert inside == answers(store, asked)
        compare(store, texts)


def test_a_store_that_shrinks_keeps_its_segments(large: SqliteStore, texts: Texts) -> None:
    large.delete([each.id for each in large.nodes()][3:])
    added(large, texts.nodes(2))
    assert segments.kept(large._database.connection)
    compare(large, texts)
    assert large.verify() == ()


def test_other_handles_and_processes_follow_the_crossing(tmp_path: Path, texts: Texts) -> None:
    with (
        closing(opened(tmp_path, texts.nodes(THRESHOLD - 1))) as store,
        closing(opened(tmp_path)) as other,
    ):
        compare(other, texts, count=1)
        added(store, texts.nodes(20))
        compare(other, texts, count=3)
        added(other, [node("far", "kumquat")])
        asked = "from clew.testing import where; print([m.id for m in s.sparse(['kumquat'], where(), limit=5)])"
        script = f"import sys; from clew.store.sqlite import SqliteStore; s = SqliteStore.open(sys.argv[1]); {asked}"
        answer = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "store")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.strip() == "['far']"
        assert [match.id for match in store.sparse(["kumquat"], where(), limit=5)] == ["far"]


def test_a_process_that_opens_a_small_store_reads_few_texts(tmp_path: Path, texts: Texts) -> None:
    with patch.multiple(segments, CHECKPOINT_CHANGES=1024, SEGMENT_CHANGES=8):
        store = opened(tmp_path, texts.nodes(THRESHOLD))
        for _ in range(100):
            added(store, texts.nodes(1))
            with (
                patch("clew.store.sqlite.segments.words_of", wraps=words_of) as analysed,
                closing(opened(tmp_path)) as fresh,
            ):
                fresh.sparse(["bab"], where(), limit=1)
            assert analysed.call_count <= 1 + texts.made // segments.CHANGES_SHARE
        store.close()


# --- older files ---


@pytest.mark.parametrize("count", [3, 2 * THRESHOLD])
def test_a_file_with_words_in_fts5_is_backed_up_and_has_them_in_postings_after(
    tmp_path: Path, texts: Texts, count: int
) -> None:
    path, nodes = tmp_path / "store", texts.nodes(count)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name, arguments in (("clew_terms", 1), ("clew_body", 2), ("clew_facet", 1)):
            connection.create_function(name, arguments, lambda *given: str(given[-1]))
        schema.migrate(connection, path, migrations=schema.MIGRATIONS[:3])
        for each in nodes:
            connection.execute(*unsealed(each))
            connection.execute(
                "INSERT INTO event (node, kind, at, detail) VALUES (?, 'ADD', 0, '{}')", (each.id,)
            )
        (held,) = connection.execute("SELECT count(*) FROM word_index_docsize").fetchone()
        assert held == count
    with closing(opened(tmp_path)) as store:
        compare(store, texts)
        assert bool(stored(store)) is (count >= THRESHOLD)
        left = store._database.connection.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'word%' OR instr(sql, 'clew_')"
        )
        assert left.fetchall() == []
        assert store.verify() == ()
    assert (tmp_path / "store.v3.backup").exists()


# --- inside a write transaction ---


def test_a_transaction_finds_what_everyone_finds_after_it(large: SqliteStore, texts: Texts) -> None:
    asked = questions(texts, 5)
    for _ in range(4):
        with large.transaction():
            shake(large, texts)
            first = answers(large, asked)
            shake(large, texts)
            second = answers(large, asked)
        assert first != second
        assert second == answers(large, asked)
        compare(large, texts, count=2)


def test_a_rolled_back_part_of_a_transaction_is_not_found(large: SqliteStore, texts: Texts) -> None:
    asked = questions(texts, 5)
    before = answers(large, asked)
    with raises(ZeroDivisionError), large.transaction():
        shake(large, texts)
        inside = answers(large, asked)
        with raises(ZeroDivisionError), large.transaction():
            shake(large, texts)
            assert answers(large, asked) != inside
            raise ZeroDivisionError
        assert answers(large, asked) == inside
        shake(large, texts)  # takes the same places in the log as what was rolled back
        assert answers(large, asked) != inside
        raise ZeroDivisionError
    assert answers(large, asked) == before
    compare(large, texts)


def test_the_words_are_read_once_in_a_transaction_however_often_it_searches(
    large: SqliteStore, texts: Texts
) -> None:
    with patch.object(lexical, "_loaded", wraps=lexical._loaded) as loaded:
        with large.transaction():
            for _ in range(5):
                added(large, texts.nodes(1))
                assert len(answers(large, questions(texts, 2))) == 30
        assert loaded.call_count == 1
        with large.transaction():
            added(large, texts.nodes(1))
        assert loaded.call_count == 1


def test_another_handle_never_finds_what_is_uncommitted(large: SqliteStore, tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as other, raises(ZeroDivisionError), large.transaction():
        added(large, [node("secret", "kumquat")])
        assert [match.id for match in large.sparse(["kumquat"], where(), limit=5)] == ["secret"]
        assert other.sparse(["kumquat"], where(), limit=5) == ()
        raise ZeroDivisionError
    assert large.sparse(["kumquat"], where(), limit=5) == ()


# --- care ---


def test_repair_and_compact_leave_a_large_store_as_it_was(large: SqliteStore, texts: Texts) -> None:
    asked = questions(texts, 5)
    before = answers(large, asked)
    for care in (large.repair, large.compact, large.repair):
        care()
        assert (answers(large, asked), large.verify()) == (before, ())


def first_word(text: str) -> list[str]:
    return text.split()[:1]


def test_a_large_store_follows_another_analysis(tmp_path: Path, texts: Texts) -> None:
    opened(tmp_path, texts.nodes(2 * THRESHOLD)).close()
    version, analysis = (
        patch("clew.store.sqlite.store.ANALYSER_VERSION", 99),
        patch("clew.store.sqlite.word_index.terms", first_word),
    )
    with version, analysis, closing(opened(tmp_path)) as changed:
        known = list(changed.nodes("work"))
        (asked,) = first_word(known[0].text)
        expected = {each.id for each in known if first_word(each.text) == [asked]}
        found = changed.sparse([asked], where(space="work", archived=True), limit=500)
        assert expected <= {match.id for match in found}
    with closing(opened(tmp_path)) as back:
        compare(back, texts)
        assert back.verify() == ()
