"""Forgetting, protecting, verifying, repairing, copying, and many threads at once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import clew
from clew.errors import InputError, NotFoundError, ProtectedError, StoreError
from clew.store.sqlite.rows import CHECKSUM
from clew.testing import FixedClock
from clew.types import EventKind
from tests.conftest import Open

NOTES = [
    "The ladder stands in the garage",
    "The printer needs a new toner",
    "The projector was lent to Maria",
    "The kettle whistles when it boils",
]


def raw(path: Path, *statements: str) -> None:
    """Change the file behind Clew's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


# --- forget, protect, history ---


def test_what_is_forgotten_is_gone_from_both_channels_and_leaves_one_event(
    memory: clew.Clew,
) -> None:
    outcomes = memory.remember_many(NOTES)
    id = str(outcomes[0].id)
    memory.link(id, str(outcomes[1].id))
    memory.recall("ladder")
    assert memory.forget(id).ids == (id,)
    for recipe in ("lexical", "dense", "balanced"):
        assert id not in {
            hit.id
            for hit in memory.recall(
                "ladder in the garage", recipe=recipe, min_similarity=-1.0
            ).hits
        }
    assert memory.get(id) is None
    assert [event.kind for event in memory.history(id)] == [EventKind.FORGET]
    assert memory.history(id)[0].detail == {"space": "default"}, (
        "whose space it was, so that nobody else is told"
    )
    assert (memory.stats()["nodes"], memory.stats()["edges"], memory.stats()["vectors"]) == (
        3,
        0,
        3,
    )
    assert memory.verify() == ()
    assert memory.remember(NOTES[0], force=True).outcome == "inserted"


def test_forgetting_is_seen_by_another_handle_at_once(memory: clew.Clew, open_clew: Open) -> None:
    ids = [str(outcome.id) for outcome in memory.remember_many(NOTES)]
    other = open_clew()
    assert len(other.recall("the printer and the kettle", recipe="dense").hits) >= 2
    memory.forget(ids[1])
    for recipe in ("lexical", "dense"):
        assert ids[1] not in {
            hit.id for hit in other.recall("the printer and the kettle", recipe=recipe).hits
        }


def test_a_protected_memory_is_not_forgotten_unless_forced(memory: clew.Clew) -> None:
    id = str(memory.remember(NOTES[0]).id)
    assert memory.protect(id).protected
    with pytest.raises(ProtectedError, match=r"--off.*--force"):
        memory.forget(id)
    assert memory.protect(id, False).protected is False
    memory.protect(id)
    assert memory.forget(id, force=True).ids == (id,)
    assert [event.kind for event in memory.history(id)] == [EventKind.FORGET]


def test_history_is_in_order_with_its_details(memory: clew.Clew, clock: FixedClock) -> None:
    id = str(memory.remember(NOTES[0], source="chat:1").id)
    clock.advance(hours=1)
    memory.recall("ladder")
    memory.stats()
    clock.advance(hours=1)
    memory.protect(id)
    memory.remember(NOTES[0])
    events = memory.history(id)
    assert [event.kind.value for event in events] == ["ADD", "ACCESS", "UPDATE", "REINFORCE_EXACT"]
    assert events[0].detail == {"source": "chat:1"}
    assert events[2].detail == {"protected": True}
    assert [event.at for event in events] == sorted(event.at for event in events)


@pytest.mark.parametrize("act", ["history", "forget", "protect"])
def test_an_unknown_memory_is_not_found(memory: clew.Clew, act: str) -> None:
    with pytest.raises(NotFoundError, match="clew list"):
        getattr(memory, act)("01unknown")
    assert memory.get("01unknown") is None
    assert memory.stats()["events"] == 0


def test_a_link_to_an_unknown_memory_is_refused(memory: clew.Clew) -> None:
    id = str(memory.remember(NOTES[0]).id)
    with pytest.raises(NotFoundError):
        memory.link(id, "01unknown")
    assert memory.stats()["edges"] == 0


# --- verify and repair ---


def damage(path: Path, *statements: str) -> Callable[[], None]:
    return lambda: raw(path, *statements)


@pytest.fixture
def segmented(memory: clew.Clew, monkeypatch: pytest.MonkeyPatch) -> clew.Clew:
    memory.remember_many(NOTES)
    memory.compact()  # writes the segments
    assert memory.verify() == ()
    return memory


@pytest.mark.parametrize(
    ("check", "statement"),
    [
        ("segments", "UPDATE segment SET codes = zeroblob(length(codes))"),
        ("segments", "UPDATE segment SET columns = zeroblob(length(columns))"),
        ("segments", "UPDATE segment SET codes = substr(codes, 1, 10)"),
        ("segments", "DELETE FROM segment"),
        ("spaces", "UPDATE space SET nodes = 7"),
        ("spaces", "DELETE FROM space"),
        ("spaces", "INSERT INTO space VALUES ('ghost', 'memory', 1, 1, 0)"),
        ("rows", "UPDATE embedding SET vector = zeroblob(length(vector)) WHERE eid = 1"),
        ("rows", "UPDATE embedding SET vector = x'00ff' WHERE eid = 1"),
    ],
)
def test_planted_damage_is_found_and_repaired(
    segmented: clew.Clew, open_clew: Open, path: Path, check: str, statement: str
) -> None:
    segmented.close()
    raw(path, statement)
    memory = open_clew()
    problems = memory.verify()
    assert {problem.check for problem in problems} >= {check}
    assert all(
        "clew verify --repair" in problem.way_out for problem in problems if problem.check == check
    )
    assert memory.verify(repair=True) == ()
    memory.reembed()  # makes the vectors anew that the repair dropped
    assert (memory.stats()["vectors"], memory.stats()["unembedded"]) == (4, 0)
    for text in NOTES:
        for recipe in ("lexical", "dense"):
            assert memory.recall(text, recipe=recipe, k=1).hits[0].text == text
    assert memory.verify() == ()


@pytest.mark.parametrize("value", ["0", "x'00'", "NULL", "''"])
@pytest.mark.parametrize("column", ["codes", "columns"])
def test_forgetting_beside_a_damaged_segment_loses_no_other_vector(
    segmented: clew.Clew, open_clew: Open, path: Path, column: str, value: str
) -> None:
    segmented.close()
    raw(path, f"UPDATE OR IGNORE segment SET {column} = {value}")
    open_clew().forget(str(open_clew().recall(NOTES[0], k=1).hits[0].id))
    for text in NOTES[1:]:
        assert open_clew().recall(text, recipe="dense", k=1).hits[0].text == text
    assert open_clew().verify() == ()


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("rows", "added_at = NULL"),
        ("rows", "added_at = NULL, added = NULL"),
        ("events", f"added_at = NULL, added = NULL, {CHECKSUM} = NULL"),
    ],
)
def test_a_memory_without_its_first_event_is_a_half_write(
    memory: clew.Clew, path: Path, check: str, changes: str
) -> None:
    memory.remember_many(NOTES)
    memory.close()
    raw(path, f"UPDATE node SET {changes} WHERE nid = 2")
    with clew.open(path, model={"embedder": "hashing"}) as reopened:
        (problem,) = reopened.verify()
    assert problem.check == check


def test_a_damaged_vector_is_an_error_that_says_what_to_do_and_does_not_stop_the_repair(
    memory: clew.Clew, path: Path
) -> None:
    ids = [str(outcome.id) for outcome in memory.remember_many(NOTES)]
    memory.recall("ladder")
    raw(path, "UPDATE embedding SET vector = x'00ff' WHERE eid = 2")
    with pytest.raises(clew.ClewError, match="clew verify --repair"):
        memory.recall("ladder")
    by_words = memory.recall("ladder", recipe="lexical")
    assert [hit.confidence for hit in by_words.hits] == [None]
    assert any("clew verify --repair" in note for note in by_words.notes)
    memory.protect(ids[0])
    assert memory.verify(repair=True) == ()
    assert memory.reembed().embedded == 1
    assert memory.recall("printer toner", recipe="dense", k=1).hits[0].id == ids[1]


def test_verify_is_quiet_while_others_write(open_clew: Open) -> None:
    memory = open_clew(duplicates={"near": False})
    memory.remember_many(NOTES)
    memory.compact()
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            memory.remember(f"Entry {number} about the matter {number * 31}")

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            other = open_clew()
            found = [other.verify() for _ in range(10)]
        finally:
            stop.set()
        writing.result()
    assert found == [()] * 10


def test_compacting_gives_back_room_and_changes_no_answer(memory: clew.Clew) -> None:
    outcomes = memory.remember_many(
        [f"Entry {n}: {'the long story of item ' * 40}{n * 7919}" for n in range(200)], near=False
    )
    memory.forget([str(outcome.id) for outcome in outcomes[:180]], check=False)
    before = [(hit.id, hit.score) for hit in memory.recall("item 199", track=False).hits]
    size = memory.stats()["bytes"]
    memory.compact()
    assert memory.stats()["bytes"] < size / 2
    assert [(hit.id, hit.score) for hit in memory.recall("item 199", track=False).hits] == before
    assert memory.verify() == ()


# --- backup ---


def test_a_backup_opens_as_a_store_and_lives_its_own_life(
    memory: clew.Clew, open_clew: Open, tmp_path: Path
) -> None:
    memory.remember_many(NOTES)
    target = memory.backup(tmp_path / "new" / "copy.clew")
    memory.remember("Written after the backup was made")
    copy = open_clew(target)
    assert copy.stats()["nodes"] == 4
    assert copy.recall("ladder", k=1).hits[0].text == NOTES[0]
    assert copy.verify() == ()
    copy.remember("Written into the copy and nowhere else")
    assert memory.stats()["nodes"] == 5
    assert sorted(file.name for file in target.parent.iterdir()) == [
        "copy.clew",
        "copy.clew-shm",
        "copy.clew-wal",
    ]


def test_a_backup_never_overwrites_and_says_when_it_cannot_be_made(
    memory: clew.Clew, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("precious")
    with pytest.raises(InputError, match="never overwrites"):
        memory.backup(taken)
    assert taken.read_text() == "precious"
    with pytest.raises(StoreError, match="cannot be made"):
        memory.backup(taken / "copy.clew")
    assert [file.name for file in tmp_path.iterdir() if "partial" in file.name] == []


# --- threads and closing ---


def test_eight_threads_remember_and_recall_on_one_clew(open_clew: Open) -> None:
    memory = open_clew(duplicates={"near": True})
    start = threading.Barrier(8)

    def work(worker: int) -> list[str]:
        start.wait()
        ids = []
        for n in range(25):
            text = f"Worker {worker} noted that item {worker * 1000 + n} is ready"
            outcome = memory.remember(text)
            assert outcome.outcome == "inserted"
            ids.append(str(outcome.id))
            assert memory.recall(text, k=1, preset="semantic").hits[0].text == text
            if n % 10 == 9:
                memory.forget(ids.pop(0))
        return ids

    with ThreadPoolExecutor(8) as pool:
        kept = [id for ids in pool.map(work, range(8)) for id in ids]
    assert len(kept) == 8 * 23
    assert {node.id for node in memory.recent(1000)} == set(kept)
    assert memory.verify() == ()


def test_the_same_text_from_eight_threads_is_one_memory(memory: clew.Clew) -> None:
    start = threading.Barrier(8)

    def work(_: int) -> str:
        start.wait()
        return memory.remember(NOTES[0]).outcome.value

    with ThreadPoolExecutor(8) as pool:
        outcomes = sorted(pool.map(work, range(8)))
    assert outcomes == ["exact_duplicate"] * 7 + ["inserted"]
    assert memory.stats()["nodes"] == 1


def test_threads_that_ended_leave_no_connection_behind(memory: clew.Clew) -> None:
    memory.remember(NOTES[0])
    for _ in range(30):
        thread = threading.Thread(
            target=lambda: memory.recall("ladder", recipe="lexical", track=False)
        )
        thread.start()
        thread.join()
    assert len(memory.store._database._connections) <= 8  # type: ignore[attr-defined]


def test_a_closed_clew_says_so(memory: clew.Clew) -> None:
    memory.remember(NOTES[0])
    memory.close()
    memory.close()
    acts: list[Callable[[], object]] = [
        lambda: memory.remember(NOTES[1]),
        memory.recent,
        memory.stats,
        memory.verify,
    ]
    for act in acts:
        with pytest.raises(StoreError, match="closed"):
            act()


def test_leaving_the_block_closes(open_clew: Open) -> None:
    with open_clew() as memory:
        memory.remember(NOTES[0])
    with pytest.raises(StoreError, match="closed"):
        memory.get("x")
