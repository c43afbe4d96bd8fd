"""What is forgotten is gone from every file of the store, does not come back by itself, and the receipt says so."""

from __future__ import annotations

import base64
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.engine.auth import Grant, Right
from clew.engine.authorised import Guarded
from clew.engine.forgetting import JOB_KIND, REPORT_KIND
from clew.errors import ForbiddenError, InputError, NotFoundError, ProtectedError, StoreBusyError
from clew.store.memory import MemoryStore
from clew.surface.http import jobs as job
from clew.testing import FixedClock
from clew.types import EventKind, OutcomeKind, Receipt
from tests.conftest import Open

CANARY = "xyzzyplugh47"
TEXT = f"The vault opens with the word {CANARY} on weekdays."
OTHERS = [
    f"The crane on pier {number} is inspected every {number + 3} weeks." for number in range(80)
]


def bytes_left(path: Path, needle: str = CANARY) -> dict[str, int]:
    """Count a text in every file beside the store.

    Only after closing, for reading drops this process's locks.
    """
    found = {
        each.name: each.read_bytes().count(needle.encode())
        for each in path.parent.iterdir()
        if each.name.startswith(path.name)
    }
    return {name: count for name, count in found.items() if count}


def everywhere(memory: clew.Clew, folder: Path, clock: FixedClock) -> list[str]:
    """Put the canary wherever a memory can have it, and return the ids that have it."""
    memory.remember_many(OTHERS, near=False)
    fields: dict[str, Any] = {
        "title": f"Title {CANARY}",
        "tags": [f"tag-{CANARY}", "shared-tag"],
        "metadata": {f"key-{CANARY}": {"inner": [f"value {CANARY}"]}},
        "source": f"source {CANARY}",
        "idempotency_key": f"key {CANARY}",
        "trigger": "problem-solution",
    }
    one = str(memory.remember(TEXT, **fields).id)
    memory.remember(TEXT, source=f"told again {CANARY}")
    edited = str(
        memory.remember("The ferry to the island leaves at nine.", title=f"Old {CANARY} title").id
    )
    memory.update(edited, title="A harmless title", tags=["shared-tag"])
    old = str(memory.remember(f"Agnes {CANARY} runs the archive in Bergen.", near=False).id)
    clock.advance(days=1)
    new = str(memory.supersede(old, f"Boris {CANARY} runs the archive in Bergen.").id)
    linked = [
        str(memory.remember(text, near=False).id)
        for text in ("The lamp in hall nine is broken.", "Hall nine has no window.")
    ]
    memory.link(*linked, evidence=f"both told by {CANARY}")
    book = folder / "book.md"
    book.write_text(
        "\n\n".join(
            f"# Part {n}\n\n{CANARY} stands here. " + f"A sentence about subject {n}. " * 60
            for n in range(8)
        )
    )
    memory.import_path(book)
    book.write_text(book.read_text() + "\n\nOne more line at the end of it.\n")
    memory.import_path(book)
    (document,) = memory.recent(where={"kind": "document"})
    memory.trace(memory.recall(f"what is {CANARY}?", track=True))
    memory.remember(f"Somebody said: {TEXT}")  # an echo
    assert new
    return [one, edited, old, *linked, document.id]


@pytest.mark.parametrize("check", [True, False])
def test_no_file_of_the_store_holds_a_forgotten_text(
    open_clew: Open, path: Path, clock: FixedClock, tmp_path: Path, check: bool
) -> None:
    memory = open_clew(questions={"enabled": True})
    ids = everywhere(memory, tmp_path, clock)
    assert sum(each.found for each in memory.search_files(CANARY)) > 0
    receipt = memory.forget(ids, check=check)
    assert (receipt.found, receipt.remains, receipt.dry_run) == (0, (), False)
    assert [each.file for each in receipt.files] == (
        [path.name, f"{path.name}-wal"] if check else []
    )
    assert receipt.removed["document"] == 2, "the state of the file before it changed goes too"
    assert (receipt.removed["memory"], receipt.removed["version"]) == (6, 1)
    assert memory.verify() == ()
    if not check:  # only the search finds what SQLite left in unused parts of pages
        memory.compact()
    memory.close()
    (tmp_path / "book.md").unlink()
    assert bytes_left(path) == {}


def test_a_receipt_holds_no_text(open_clew: Open, clock: FixedClock, tmp_path: Path) -> None:
    receipt = open_clew().forget(everywhere(open_clew(), tmp_path, clock))
    assert CANARY not in repr(receipt)
    assert any("backups" in each for each in receipt.unchecked)


def test_the_store_in_memory_holds_nothing_of_a_forgotten_text(
    open_clew: Open, clock: FixedClock, tmp_path: Path
) -> None:
    memory = open_clew(":memory:")
    receipt = memory.forget(everywhere(memory, tmp_path, clock))
    assert (receipt.files, receipt.found) == ((), 0)
    assert isinstance(memory.store, MemoryStore)
    assert CANARY not in repr(memory.store._state)


def test_the_segments_and_postings_of_a_large_store_are_rewritten_without_it(
    open_clew: Open, path: Path
) -> None:
    memory = open_clew()
    ids = [str(each.id) for each in memory.remember_many([*OTHERS, TEXT], near=False)]
    memory.compact()  # writes segments and postings

    def stored() -> tuple[int, int, int]:
        with closing(sqlite3.connect(path)) as look:
            (codes,) = look.execute("SELECT sum(length(codes)) FROM segment").fetchone()
            (columns,) = look.execute("SELECT sum(length(columns)) FROM segment").fetchone()
            (words,) = look.execute("SELECT sum(length(columns)) FROM posting").fetchone()
        return codes, columns, words

    before = stored()
    memory.forget(ids[-1])
    after = stored()
    assert [old // 81 for old in before] == [
        old - new for old, new in zip(before, after, strict=True)
    ]
    assert memory.verify() == ()
    memory.close()
    again = open_clew()
    assert ids[-1] not in {
        hit.id for hit in again.recall("vault weekdays", k=50, min_similarity=-1.0).hits
    }
    assert again.verify() == ()


def test_copies_that_sqlite_moved_to_another_page_are_found_and_removed(
    open_clew: Open, path: Path
) -> None:
    """Rows that grow push their neighbours to another page, and the bytes stay behind in the unused part of the old one."""
    memory = open_clew(memory={"batch_size": 32})
    ids = [
        str(each.id)
        for each in memory.remember_many(
            [f"{CANARY}{n} {'pad ' * 60}{n}" for n in range(60)], near=False
        )
    ]
    for id in ids[::2]:
        memory.update(id, metadata={"note": "long enough to move the neighbours " * 20})
    memory.store.erase([])
    doubled = [
        n
        for n in range(60)
        if sum(each.found for each in memory.search_files(f"{CANARY}{n} pad")) > 1
    ]
    assert doubled, "SQLite leaves such copies, or this test shows nothing"
    receipt = memory.forget(ids)
    assert (receipt.found, receipt.remains) == (0, ())
    memory.close()
    assert bytes_left(path) == {}


READER = """
import sqlite3, sys
look = sqlite3.connect(sys.argv[1], isolation_level=None)
look.execute("BEGIN")
look.execute("SELECT count(*) FROM node").fetchone()
print("reading", flush=True)
sys.stdin.readline()
look.execute("COMMIT")
print("done", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def reader(path: Path, open_clew: Open) -> Iterator[subprocess.Popen[str]]:
    """Another process that reads the store: a line ends its transaction, the next the process."""
    open_clew().remember_many([*OTHERS[:5], TEXT], near=False)
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        yield process
        assert process.stdin is not None
        process.stdin.close()


def let_go(reader: subprocess.Popen[str]) -> None:
    assert reader.stdin is not None
    assert reader.stdout is not None
    reader.stdin.write("\n")
    reader.stdin.flush()
    assert reader.stdout.readline() == "done\n"


def canary_id(memory: clew.Clew) -> str:
    return str(memory.recall(f"vault {CANARY}", k=1, track=False).hits[0].id)


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.store.sqlite.store.ERASE_SECONDS", 0.0)


@pytest.mark.usefixtures("no_patience")
def test_a_reader_in_the_way_is_told_and_the_next_write_removes_the_text(
    open_clew: Open, path: Path, reader: subprocess.Popen[str]
) -> None:
    memory = open_clew()
    receipt = memory.forget(canary_id(memory))
    assert receipt.files == ()
    assert "another process is reading" in receipt.remains[0]
    assert path.name in receipt.remains[0]
    assert sum(each.found for each in memory.search_files(CANARY)) > 0
    let_go(reader)
    memory.remember("The pump in the cellar was replaced.")
    assert sum(each.found for each in memory.search_files(CANARY)) == 0


@pytest.mark.usefixtures("no_patience")
def test_another_process_finishes_what_the_forgetting_one_could_not(
    open_clew: Open, path: Path, reader: subprocess.Popen[str]
) -> None:
    memory = open_clew()
    assert memory.forget(canary_id(memory)).remains
    let_go(reader)
    other = open_clew()
    assert sum(each.found for each in other.search_files(CANARY)) == 0


@pytest.mark.usefixtures("no_patience")
def test_compact_with_several_processes_leaves_nothing(
    open_clew: Open, path: Path, reader: subprocess.Popen[str]
) -> None:
    memory = open_clew(store={"busy_timeout_seconds": 0.1})
    assert memory.forget(canary_id(memory)).remains
    with pytest.raises(StoreBusyError, match="clew compact again"):
        memory.compact()
    let_go(reader)  # it keeps the store open
    memory.compact()
    assert [each.found for each in memory.search_files(CANARY)] == [0, 0]
    memory.close()


def test_forgetting_inside_a_transaction_says_that_it_is_not_committed(memory: clew.Clew) -> None:
    id = str(memory.remember(TEXT).id)
    with memory.store.transaction():
        assert "not committed" in memory.forget(id).remains[0]
    assert sum(each.found for each in memory.search_files(CANARY)) == 0


def test_a_search_costs_the_process_none_of_its_locks(open_clew: Open, path: Path) -> None:
    memory = open_clew()
    memory.remember(TEXT)
    memory.search_files(CANARY)
    memory.search_files(CANARY)
    journal = Path(f"{path}-wal").stat().st_ino
    elsewhere = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM node').fetchone(); c.close()"
    subprocess.run([sys.executable, "-c", elsewhere, str(path)], check=True)
    assert Path(f"{path}-wal").stat().st_ino == journal, (
        "the other process took itself for the last one"
    )


class Drawn:
    """Writes at random, some of it with the canary, as the seed says."""

    def __init__(self, memory: clew.Clew, seed: int) -> None:
        self.memory, self.draw, self.ids = (
            memory,
            random.Random(seed),
            [str(memory.remember(OTHERS[0]).id)],
        )
        self.acts = [self.remember] * 4 + [
            self.update,
            self.supersede,
            self.invalidate,
            self.recall,
            self.forget,
            self.link,
        ]

    def step(self, number: int) -> None:
        self.said = f"{CANARY} " if self.draw.random() < 0.3 else ""
        self.text = f"Note {number} {self.said}on {self.draw.choice(['cranes', 'lamps'])}: {self.draw.randrange(10**9)}."
        with suppress(InputError):  # it ended, or has a successor
            self.draw.choice(self.acts)(self.draw.choice(self.ids))

    def remember(self, id: str) -> None:
        del id
        fields: dict[str, Any] = (
            {"tags": [f"tag {self.text}"[:60]], "metadata": {"n": self.text}}
            if self.draw.random() < 0.5
            else {}
        )
        self.ids.append(str(self.memory.remember(self.text, near=False, **fields).id))

    def update(self, id: str) -> None:
        self.memory.update(id, title=f"Title {self.text}")

    def supersede(self, id: str) -> None:
        self.ids.append(str(self.memory.supersede(id, self.text).id))

    def invalidate(self, id: str) -> None:
        self.memory.invalidate(id)

    def recall(self, id: str) -> None:
        del id
        self.memory.recall(self.text)

    def link(self, id: str) -> None:
        self.memory.link(self.ids[0], id, evidence=self.text)

    def forget(self, id: str) -> None:
        if id != self.ids[0]:
            gone = self.memory.forget(id).ids
            self.ids = [each for each in self.ids if each not in gone]

    def holding(self) -> list[str]:
        """Return all that hold the canary in any way."""
        store = self.memory.store
        rows = [(node, store.events(node.id), store.edges([node.id])) for node in store.nodes()]
        return sorted({row[0].root or row[0].id for row in rows if CANARY in repr(row)})


@pytest.mark.parametrize("seed", range(3))
def test_after_random_operations_forgetting_all_with_the_canary_leaves_nothing(
    open_clew: Open, path: Path, clock: FixedClock, seed: int
) -> None:
    memory = open_clew(firewall={"echo": False})
    drawn = Drawn(memory, seed)
    for number in range(120):
        clock.advance(minutes=1)
        drawn.step(number)
    receipt = memory.forget(drawn.holding(), only=True)
    assert (receipt.found, receipt.remains) == (0, ())
    assert memory.verify() == ()
    memory.close()
    assert bytes_left(path) == {}


# --- what goes along ---


def test_forgetting_a_superseded_memory_forgets_what_took_its_place(
    memory: clew.Clew, clock: FixedClock
) -> None:
    old = str(memory.remember("Agnes runs the archive in Bergen.").id)
    clock.advance(days=1)
    middle = str(memory.supersede(old, "Boris runs the archive in Bergen.").id)
    clock.advance(days=1)
    new = str(memory.supersede(middle, "Clara runs the archive in Bergen.").id)
    receipt = memory.forget(old)
    assert receipt.ids == (old, middle, new)
    assert receipt.removed == {"memory": 3, "version": 2}
    assert memory.recall("who runs the archive in Bergen").hits == ()
    assert [memory.history(id)[-1].kind for id in (old, middle, new)] == [EventKind.FORGET] * 3


def test_what_a_forgotten_memory_had_superseded_stays_and_the_receipt_names_it(
    memory: clew.Clew, clock: FixedClock
) -> None:
    old = str(memory.remember("Agnes runs the archive in Bergen.").id)
    clock.advance(days=1)
    new = str(memory.supersede(old, "Boris runs the archive in Bergen.").id)
    receipt = memory.forget(new)
    assert (receipt.ids, receipt.kept) == ((new,), (old,))
    assert memory.get(old) is not None


def test_only_the_named_memory_goes_if_asked(memory: clew.Clew, clock: FixedClock) -> None:
    old = str(memory.remember("Agnes runs the archive in Bergen.").id)
    clock.advance(days=1)
    new = str(memory.supersede(old, "Boris runs the archive in Bergen.").id)
    assert memory.forget(old, only=True).ids == (old,)
    assert memory.get(new) is not None


def test_what_was_asserted_again_goes_without_its_former_successor(
    memory: clew.Clew, clock: FixedClock
) -> None:
    old = str(memory.remember("Agnes runs the archive in Bergen.").id)
    clock.advance(days=1)
    new = str(memory.supersede(old, "Boris runs the archive in Bergen.").id)
    clock.advance(days=1)
    memory.reassert(old)
    assert memory.forget(old).ids == (old,)
    assert memory.get(new) is not None


def test_a_protected_successor_protects_what_it_superseded(
    memory: clew.Clew, clock: FixedClock
) -> None:
    old = str(memory.remember("Agnes runs the archive in Bergen.").id)
    clock.advance(days=1)
    new = str(memory.supersede(old, "Boris runs the archive in Bergen.").id)
    memory.protect(new)
    with pytest.raises(ProtectedError, match=new):
        memory.forget(old)
    assert memory.get(old) is not None
    assert memory.forget(old, force=True).ids == (old, new)


def test_of_several_ids_all_go_or_none(memory: clew.Clew) -> None:
    ids = [str(each.id) for each in memory.remember_many(OTHERS[:3], near=False)]
    with pytest.raises(NotFoundError):
        memory.forget([*ids, "nobody"])
    assert memory.stats()["nodes"] == 3
    assert memory.forget(ids).ids == tuple(ids)


def test_finished_import_jobs_name_a_forgotten_file_no_longer(
    memory: clew.Clew, tmp_path: Path
) -> None:
    assert (JOB_KIND, REPORT_KIND) == (job.KIND, job.REPORT_KIND)
    note = tmp_path / f"{CANARY}.txt"
    note.write_text("The pump in the cellar was replaced in spring, and the pipes with it.")
    memory.import_path(note)
    done = {"state": "done", "source": f"./{CANARY}.txt", "error": None}
    files = [
        {"path": str(note), "status": "imported", "nodes": 1},
        {"path": "other.txt", "status": "imported", "nodes": 1},
    ]
    memory.store.keep(JOB_KIND, "a", done)
    memory.store.keep(REPORT_KIND, "a", {"files": files, "totals": {}})
    memory.store.keep(JOB_KIND, "b", {**done, "state": "waiting"})
    (root,) = memory.recent(where={"kind": "chunk"})
    memory.forget(root.id)
    assert memory.store.record(JOB_KIND, "a") == {**done, "source": "[forgotten]"}
    report = memory.store.record(REPORT_KIND, "a")
    assert report is not None
    assert [each["path"] for each in report["files"]] == ["[forgotten]", "other.txt"]
    assert memory.store.record(JOB_KIND, "b") == {**done, "state": "waiting"}


def test_a_text_that_another_memory_holds_too_is_told_as_shared_and_not_as_left(
    memory: clew.Clew,
) -> None:
    first, second = (str(memory.remember(TEXT, on_duplicate="insert").id) for _ in range(2))
    receipt = memory.forget(first)
    assert receipt.found == 0
    assert receipt.shared
    assert memory.get(second) is not None


# --- tombstones ---


def test_a_forgotten_text_is_rejected_until_forced(memory: clew.Clew) -> None:
    id = str(memory.remember(TEXT).id)
    assert memory.forget(id).tombstones == 1
    refused = memory.remember(f"  {TEXT}\n")
    assert (refused.outcome, refused.rule, refused.id) == (OutcomeKind.REJECTED, "forgotten", None)
    assert "force" in refused.notes[0]
    assert [each.outcome for each in memory.remember_many([TEXT, OTHERS[0]])] == [
        OutcomeKind.REJECTED,
        OutcomeKind.INSERTED,
    ]
    assert memory.remember(TEXT, on_duplicate="insert").rule == "forgotten"
    assert memory.stats()["rejected"] == {"forgotten": 3}
    assert memory.remember(TEXT, space="other").outcome is OutcomeKind.INSERTED
    assert memory.remember(TEXT, force=True).outcome is OutcomeKind.INSERTED
    assert memory.remember(TEXT, on_duplicate="insert").outcome is OutcomeKind.INSERTED, (
        "force has lifted it"
    )


def test_a_text_that_supersedes_is_rejected_if_it_was_forgotten(memory: clew.Clew) -> None:
    memory.forget(str(memory.remember(TEXT).id))
    other = str(memory.remember(OTHERS[0]).id)
    assert memory.supersede(other, TEXT).rule == "forgotten"
    assert memory.supersede(other, TEXT, force=True).outcome is OutcomeKind.INSERTED


def test_without_a_tombstone_nothing_is_left_to_recognise_the_text_by(
    memory: clew.Clew, path: Path
) -> None:
    assert memory.forget(str(memory.remember(TEXT).id), tombstone=False).tombstones == 0
    with closing(sqlite3.connect(path)) as look:
        assert look.execute("SELECT count(*) FROM tombstone").fetchone() == (0,)
    assert memory.remember(TEXT).outcome is OutcomeKind.INSERTED


def test_a_tombstone_cannot_be_compared_between_stores(open_clew: Open, tmp_path: Path) -> None:
    digests = []
    for name in ("one.clew", "two.clew"):
        memory = open_clew(tmp_path / name)
        memory.forget(str(memory.remember(TEXT).id))
        with closing(sqlite3.connect(tmp_path / name)) as look:
            digests.append(look.execute("SELECT digest FROM tombstone").fetchall())
    assert digests[0] != digests[1]


def test_a_forgotten_document_is_not_imported_again_until_forced(
    memory: clew.Clew, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("The pump in the cellar was replaced in spring, and the pipes with it.")
    memory.import_path(note)
    (root,) = memory.recent(where={"kind": "chunk"})
    memory.forget(root.id)
    (refused,) = memory.import_path(note).files
    assert refused.status == "skipped"
    assert refused.reason.startswith("forgotten")
    (forced,) = memory.import_path(note, force=True).files
    assert forced.status == "imported"
    assert memory.import_path(note).files[0].status == "unchanged"


def test_an_export_does_not_bring_back_what_was_forgotten(
    memory: clew.Clew, tmp_path: Path
) -> None:
    book = tmp_path / "book.md"
    book.write_text(
        "\n\n".join(f"# Part {n}\n\n" + f"A sentence about subject {n}. " * 60 for n in range(8))
    )
    memory.import_path(book)
    kept, gone = (str(each.id) for each in memory.remember_many([OTHERS[0], TEXT], near=False))
    (document,) = memory.recent(where={"kind": "document"})
    lines = list(memory.export())
    family = memory.store.family([document.id])
    memory.forget([gone, document.id])
    loaded = memory.load(lines)
    assert (loaded.nodes, loaded.skipped, loaded.forgotten) == (0, 1, len(family) + 1)
    assert [node.id for node in memory.store.nodes()] == [kept]
    assert memory.load(lines, force=True).nodes == len(family) + 1
    assert memory.verify() == ()


# --- by filter ---


@pytest.fixture
def several(memory: clew.Clew, clock: FixedClock) -> dict[str, str]:
    offered: dict[str, tuple[str, dict[str, Any]]] = {
        "tagged": ("The old pump was sold to a museum.", {"tags": ["old", "pump"]}),
        "old": (
            "The old lamp was sold to a museum.",
            {"tags": ["old"], "category": "fact", "valid_from": "2020-01-01"},
        ),
        "sourced": ("The boat was painted blue in March.", {"source": "logbook"}),
        "elsewhere": ("The old crane was sold to a museum.", {"tags": ["old"], "space": "other"}),
    }
    ids = {
        name: str(memory.remember(text, near=False, **fields).id)
        for name, (text, fields) in offered.items()
    }
    clock.advance(days=1)
    return ids


def forgotten(memory: clew.Clew, **filters: Any) -> Receipt:
    planned = memory.forget(**filters, dry_run=True)
    assert planned.dry_run
    assert all(memory.get(id) is not None for id in planned.ids)
    done = memory.forget(**filters, expect=len(planned.ids))
    assert (done.ids, done.removed) == (planned.ids, planned.removed)
    assert all(memory.get(id) is None for id in done.ids)
    return done


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"where": {"tags": ["old"]}}, ["tagged", "old"]),
        ({"where": {"tags": "old", "category": "fact"}}, ["old"]),
        ({"where": {"source": "logbook"}}, ["sourced"]),
        ({"where": {"before": "2021-01-01"}}, ["old"]),
        ({"where": {"space": "other"}}, ["elsewhere"]),
        ({"query": "museum sold"}, ["tagged", "old"]),
        ({"query": "Pumps MUSEUM"}, ["tagged"]),
        ({"query": "museum submarine"}, []),
        ({"query": "sold", "where": {"space": "other"}}, ["elsewhere"]),
    ],
)
def test_a_filter_names_what_goes(
    memory: clew.Clew, several: dict[str, str], filters: dict[str, Any], names: list[str]
) -> None:
    assert forgotten(memory, **filters).ids == tuple(several[name] for name in names)


def test_a_filter_sees_what_is_archived_ended_or_was_otherwise(
    memory: clew.Clew, several: dict[str, str], clock: FixedClock
) -> None:
    memory.store.update(several["tagged"], archived=True)
    memory.invalidate(several["old"])
    memory.expire(several["sourced"])
    assert {*forgotten(memory, where={"space": "default"}).ids} == {
        several[name] for name in ("tagged", "old", "sourced")
    }


def test_a_filter_needs_the_number_of_memories_that_go(
    memory: clew.Clew, several: dict[str, str]
) -> None:
    for wrong in (None, 1, 3):
        with pytest.raises(InputError, match="which is 2"):
            memory.forget(where={"tags": ["old"]}, expect=wrong)
    assert memory.stats()["nodes"] == 4


def test_a_filter_that_names_nothing_is_refused(memory: clew.Clew, several: dict[str, str]) -> None:
    refused: list[dict[str, Any]] = [
        {},
        {"where": {}},
        {"query": "…"},
        {"where": {"colour": "red"}},
        {"where": {"kind": "section"}},
        {"id": ()},
    ]
    for given in refused:
        with pytest.raises(InputError):
            memory.forget(**given, expect=0)
    with pytest.raises(InputError, match="beside a filter"):
        memory.forget(several["old"], where={"tags": ["old"]})
    assert memory.stats()["nodes"] == 4


def test_a_caller_forgets_by_filter_only_where_it_may_write(
    memory: clew.Clew, several: dict[str, str]
) -> None:
    own = Grant(
        name="bot", rights=frozenset({Right.READ, Right.WRITE}), spaces=frozenset({"other"})
    )
    door = Guarded(memory, own)
    assert door.forget(query="museum", dry_run=True).ids == (several["elsewhere"],)
    with pytest.raises(ForbiddenError):
        door.forget(where={"space": "default"}, dry_run=True)
    with pytest.raises(NotFoundError):
        door.forget([several["elsewhere"], several["old"]])
    with pytest.raises(ForbiddenError):
        door.search_files(CANARY)
    receipt = door.forget(query="museum", expect=1)
    assert receipt.shared is None, (
        "whether another space holds the same words is not for this caller"
    )
    assert memory.get(several["old"]) is not None
    reader = Guarded(
        memory, Grant(name="reader", rights=frozenset({Right.READ}), spaces=frozenset({"default"}))
    )
    with pytest.raises(ForbiddenError):
        reader.forget(where={"tags": ["old"]}, dry_run=True)


# --- searching the files ---


def test_a_text_is_found_however_it_is_written_and_backups_are_searched_too(
    memory: clew.Clew, path: Path
) -> None:
    memory.remember(TEXT)
    backup = path.with_name(f"{path.name}.v3.backup")
    for written in (
        CANARY.encode(),
        CANARY.encode("utf-16-le"),
        *(base64.b64encode(b"x" * n + TEXT.encode()) for n in range(3)),
    ):
        backup.write_bytes(b"\0" * 11 + written)
        assert {each.file: each.found > 0 for each in memory.search_files(CANARY)}[backup.name], (
            written
        )
    id = str(memory.recent(1)[0].id)
    assert backup.name in memory.forget(id).unchecked
    assert {each.file: each.found > 0 for each in memory.search_files(CANARY)} == {
        path.name: False,
        f"{path.name}-wal": False,
        backup.name: True,
    }


def test_a_text_too_short_to_be_searched_for_is_refused(memory: clew.Clew) -> None:
    with pytest.raises(InputError, match="too short"):
        memory.search_files("abc")
