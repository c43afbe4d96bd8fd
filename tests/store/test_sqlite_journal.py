"""Room that is made in the journal ahead of its end costs nothing that was acknowledged, and only who writes much makes it."""

from __future__ import annotations

import shutil
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from clew.store.sqlite import SqliteStore
from clew.store.sqlite.database import (
    CHECKPOINT_PAGES,
    FRAME_BYTES,
    LEAST_BYTES,
    UNSEEN_COMMITS,
    Journal,
)
from clew.testing import MODEL, added, node

# that one memory changes: its row and vector, five indexes, the counters, and what a full page
# makes of them now and then
MOST_PAGES = 10
MANY_PAGES = 120  # for which no room is made yet
MANY = 120  # writes of one node: far more than the journal may hold without room


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _write(store: SqliteStore, path: Path, count: int, first: int = 0) -> list[int]:
    """Write nodes one by one; return how long the journal was after each."""
    sizes = []
    for number in range(first, first + count):
        added(store, [node(f"n{number:04d}", f"note {number} about the harbour")])
        sizes.append(_journal(path).stat().st_size)
    return sizes


def test_most_commits_leave_the_journal_as_long_as_it_was(store: SqliteStore, path: Path) -> None:
    sizes = _write(store, path, MANY)
    grown = [after for before, after in pairwise(sizes) if after > max(before, LEAST_BYTES)]
    assert 0 < len(grown) <= 8 and sizes[-1] <= CHECKPOINT_PAGES * FRAME_BYTES


def test_who_writes_a_memory_or_two_makes_no_room(store: SqliteStore, path: Path) -> None:
    sizes = _write(store, path, 3)
    # nothing but frames behind the head
    assert sizes[-1] < LEAST_BYTES and (sizes[-1] - 32) % FRAME_BYTES == 0


def test_one_more_memory_is_ten_pages_of_the_journal(store: SqliteStore, path: Path) -> None:
    added(
        store,
        [
            node(
                f"m{number:04d}",
                f"note {number} about the tide",
                metadata={"bucket": str(number % 9)},
            )
            for number in range(500)
        ],
    )
    store.compact()  # which leaves the journal empty
    for number in range(MANY_PAGES // MOST_PAGES):
        added(
            store,
            [
                node(
                    f"n{number:04d}",
                    f"note {number} about the harbour",
                    metadata={"bucket": str(number % 9)},
                )
            ],
        )
    assert _journal(path).stat().st_size <= 32 + MANY_PAGES * FRAME_BYTES < LEAST_BYTES


def test_after_a_crash_the_room_is_nothing_and_all_that_was_acknowledged_is_there(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    _write(store, path, MANY)
    left = tmp_path / "left"
    left.mkdir()
    # what a process that was killed leaves: its memory, the index of the journal, is gone
    for file in (path, _journal(path)):
        shutil.copy(file, left)
    with closing(SqliteStore.open(left / path.name)) as again:
        assert [each.id for each in again.nodes()] == [f"n{number:04d}" for number in range(MANY)]
        assert not again.verify()
        added(again, [node("one more")])
        assert "one more" in again.get(["one more"])


def test_two_handles_write_into_one_journal_with_room(store: SqliteStore, path: Path) -> None:
    with closing(SqliteStore.open(path)) as other:
        for first in range(0, MANY, 4):
            _write(store, path, 2, first)
            _write(other, path, 2, first + 2)
        assert len(list(store.nodes())) == len(list(other.nodes())) == MANY
    assert not store.verify()


def test_where_no_commit_waits_for_the_disk_no_room_is_made(path: Path) -> None:
    with closing(SqliteStore.open(path, synchronous="NORMAL")) as store:
        store.activate(MODEL)
        assert all((size - 32) % FRAME_BYTES == 0 for size in _write(store, path, MANY))


def test_a_closed_store_leaves_no_journal(path: Path) -> None:
    with closing(SqliteStore.open(path)) as store:
        store.activate(MODEL)
        _write(store, path, MANY)
    assert not _journal(path).exists()


def test_a_journal_that_cannot_be_lengthened_is_left_to_sqlite(tmp_path: Path) -> None:
    Journal(tmp_path / "missing", most_bytes=LEAST_BYTES).make_room()
    assert not list(tmp_path.iterdir())


def test_a_journal_of_its_full_length_is_looked_at_now_and_then(tmp_path: Path) -> None:
    file = tmp_path / "store.clew-wal"
    file.write_bytes(bytes(LEAST_BYTES))
    journal = Journal(tmp_path / "store.clew", most_bytes=2 * LEAST_BYTES)
    journal.make_room()
    assert file.stat().st_size == 2 * LEAST_BYTES
    file.write_bytes(bytes(LEAST_BYTES))  # another process has cut it
    for _ in range(UNSEEN_COMMITS):
        journal.make_room()
    assert file.stat().st_size == LEAST_BYTES
    journal.make_room()
    assert file.stat().st_size == 2 * LEAST_BYTES
