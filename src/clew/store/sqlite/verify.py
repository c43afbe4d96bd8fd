"""Checks of a store: the file, its objects, every row, and everything derived against the truth."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace

from clew.errors import CorruptStoreError, clipped
from clew.ports import Problem
from clew.store.sqlite import database, names, segments
from clew.store.sqlite import rows as labels
from clew.store.sqlite.dense import ROWS, SEGMENT_ROWS, changed, records_of
from clew.store.sqlite.row_checks import MAX_NUMBER, NUMBERED, bad_rows
from clew.store.sqlite.rows import UNREADABLE, WAY_OUT, damaged, snapshot
from clew.store.sqlite.schema import TOMBSTONE_KEY, unexpected_objects
from clew.store.sqlite.vector_index import RECORD
from clew.store.tombstones import key_fault

COUNTED = """
SELECT space, kind, count(*), count(*) FILTER (WHERE t_expired IS NULL AND archived = 0),
       count(*) FILTER (WHERE t_expired IS NULL AND archived = 0 AND context <> '') FROM node GROUP BY space, kind
"""
"""What the view `counted` must say."""
WITHOUT_ADD = (
    "added_at IS NULL AND NOT EXISTS (SELECT 1 FROM event WHERE node = n.id AND kind = 'ADD')"
)
REPAIR = "Run: clew verify --repair"
RESTORE = "Put a backup in its place: clew restore BACKUP; or save what can still be read: clew export FILE"
MOST_ROWS_NAMED = 100  # of a table that is damaged throughout, the first tell enough

# Of what integrity_check finds, what repairing puts right: indexes are made anew, bad values are
# set aside with their rows.
IN_INDEXES = (" missing from index ", "wrong # of entries in index ", "non-unique entry in index ")
IN_VALUES = ("NULL value in ", "NUMERIC value in ", "TEXT value in ")


def problems(connection: sqlite3.Connection) -> tuple[Problem, ...]:
    """Return what is wrong with the store, most fundamental first."""
    pages, indexes = file_faults(connection)
    if pages:  # the rest would only repeat that the file is damaged
        return _told(
            [
                Problem("file", fault, REPAIR if are_of_free_pages(pages) else RESTORE)
                for fault in pages
            ]
        )
    found = [Problem("indexes", fault, REPAIR) for fault in indexes]
    with snapshot(connection):  # others may write meanwhile
        for check in (_objects, _rows, _references, _sequences, _tombstones):
            found += check(connection)
        if not found:  # derived from damaged rows everything differs
            found += _derived(connection)
    return _told(found)


def _told(found: list[Problem]) -> tuple[Problem, ...]:
    """Return problems that repeat little of what the file holds."""
    return tuple(replace(problem, detail=clipped(problem.detail)) for problem in found)


def first_damage(connection: sqlite3.Connection) -> CorruptStoreError | None:
    """Return the error that names the first thing that is damaged; None for a sound store."""
    pages, _ = file_faults(connection)
    if not pages:
        with snapshot(connection), closing(bad_rows(connection)) as rows:
            row = next(rows, None)
        if row is not None:
            return damaged(
                row.name[:1].upper() + row.name[1:],
                row.reason,
                table=row.table,
                **({"id": row.id} if row.id else {}),
            )
    found = problems(connection)
    if not found:
        return None
    return CorruptStoreError(
        f"The store is damaged: {found[0].check}: {found[0].detail}. {found[0].way_out}",
        check=found[0].check,
    )


def file_faults(connection: sqlite3.Connection) -> tuple[list[str], list[str]]:
    """Return what is wrong with the pages of the file, and what is wrong with its indexes only."""
    try:
        rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    except database.SQLITE_ERRORS as error:
        return [clipped(str(error))], []
    faults = [str(text) for (text,) in rows if text != "ok" and not str(text).startswith(IN_VALUES)]
    indexes = [fault for fault in faults if any(sign in fault for sign in IN_INDEXES)]
    return [fault for fault in faults if fault not in indexes], indexes


def are_of_free_pages(faults: list[str]) -> bool:
    """Tell whether faults of the file are of its free pages alone, which rewriting it puts right."""
    lines = [
        line
        for fault in faults
        for line in fault.splitlines()
        if not line.startswith("*** in database")
    ]
    return all(
        line.startswith("Main freelist: ") or line.endswith(" is never used") for line in lines
    )


def _objects(connection: sqlite3.Connection) -> list[Problem]:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    foreign, missing = unexpected_objects(connection, database.migrations()[:version])
    return [
        *(
            Problem(
                "objects", f"the {name} was not made by Clew", "Drop it with the sqlite3 program."
            )
            for name in foreign
        ),
        *(Problem("objects", f"the {name} is missing", RESTORE) for name in missing),
    ]


def _rows(connection: sqlite3.Connection) -> list[Problem]:
    found: list[Problem] = []
    more = 0
    for row in bad_rows(connection):
        if len(found) < MOST_ROWS_NAMED:
            found.append(Problem("rows", f"{row.name}: {row.reason}", _mending(row.table)))
        else:
            more += 1
    return [*found, Problem("rows", f"{more} more rows are damaged", REPAIR)] if more else found


def _mending(table: str) -> str:
    return (
        f"{REPAIR}, then: clew reembed"
        if table in ("embedding", "token_code")
        else WAY_OUT
        if table == "node"
        else REPAIR
    )


def _references(connection: sqlite3.Connection) -> list[Problem]:
    dangling = connection.execute("PRAGMA foreign_key_check").fetchmany(MOST_ROWS_NAMED)
    lost = connection.execute(
        "SELECT 1 FROM meta WHERE key = 'model' AND value NOT IN (SELECT mid FROM model)"
    ).fetchall()
    return [
        *(
            Problem("references", f"a row of {table} belongs to no {parent}", REPAIR)
            for table, _, parent, _ in dangling
        ),
        *(Problem("references", "the model of the store is not known", REPAIR) for _ in lost),
    ]


def _sequences(connection: sqlite3.Connection) -> list[Problem]:
    return [
        Problem("numbers", f"the highest number of {table} is not known", REPAIR)
        for table, _ in wrong_sequences(connection)
    ]


def wrong_sequences(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return the tables whose highest number is kept wrongly, each with the highest that a row has."""
    found = []
    for table in NUMBERED:
        kept = connection.execute(
            "SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)
        ).fetchall()
        (highest,) = connection.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()
        right = len(kept) <= 1 and all(
            type(seq) is int and highest <= seq <= MAX_NUMBER for (seq,) in kept
        )
        if not right or (not kept and highest):
            found.append((table, highest))
    return found


def _tombstones(connection: sqlite3.Connection) -> list[Problem]:
    """Tombstones are digests under one key.

    With another key, or without one, they recognise nothing.
    """
    fault = tombstone_fault(connection)
    return (
        [Problem("tombstones", f"the key of the tombstones is damaged: {fault}", REPAIR)]
        if fault
        else []
    )


def tombstone_fault(connection: sqlite3.Connection) -> str | None:
    """Return why forgotten texts are not recognised any more; None if they are."""
    row = connection.execute(TOMBSTONE_KEY).fetchone()
    if row is not None:
        return key_fault(*row)
    return "it is missing" if connection.execute("SELECT 1 FROM tombstone").fetchone() else None


def _derived(connection: sqlite3.Connection) -> Iterator[Problem]:
    checks: tuple[Callable[[sqlite3.Connection], Iterable[Problem]], ...] = (
        _spaces,
        _events,
        _segments,
        _postings,
        labels.wrong,
        names.wrong,
    )
    for check in checks:
        try:
            yield from check(connection)
        except (*UNREADABLE, CorruptStoreError) as error:
            yield Problem(
                check.__name__.strip("_"),
                f"it cannot be checked ({error or type(error).__name__})",
                REPAIR,
            )


def _spaces(connection: sqlite3.Connection) -> list[Problem]:
    kept = "SELECT name, kind, nodes, live, keyed FROM counted"
    wrong = connection.execute(
        f"SELECT DISTINCT space FROM (SELECT * FROM ({COUNTED} EXCEPT {kept}) UNION SELECT * FROM ({kept} EXCEPT {COUNTED})) ORDER BY 1"
    )
    return [Problem("spaces", f"the count of space {name!r} is wrong", REPAIR) for (name,) in wrong]


def _events(connection: sqlite3.Connection) -> list[Problem]:
    """Every node and its ADD event are written together: one without the other is a half write."""
    rows = connection.execute(f"SELECT id FROM node n WHERE {WITHOUT_ADD} LIMIT 20").fetchall()
    return [Problem("events", f"memory {id} has no ADD event", REPAIR) for (id,) in rows]


def _segments(connection: sqlite3.Connection) -> list[Problem]:
    """Rebuild every segment that no later change touches and compare it with what is stored."""
    saved = dict(
        connection.execute(
            "SELECT key, value FROM meta WHERE key LIKE 'segment%' OR key = 'model'"
        ).fetchall()
    )
    if saved.get("segment_model") is None or saved["segment_model"] != saved.get("model"):
        return []
    (dimension,) = connection.execute(
        "SELECT dimension FROM model WHERE mid = ?", (saved["model"],)
    ).fetchone()
    later = {
        eid // SEGMENT_ROWS
        for eid in changed(connection, saved["segment_seq"], saved["segment_newest"])
    }
    wrong = []
    wanted = connection.execute(
        "SELECT DISTINCT eid / ? FROM embedding WHERE model = ?", (SEGMENT_ROWS, saved["model"])
    ).fetchall()
    there = connection.execute("SELECT segment FROM segment").fetchall()
    for (segment,) in sorted({*wanted, *there} - {(touched,) for touched in later}):
        codes, columns = connection.execute(
            "SELECT codes, columns FROM segment WHERE segment = ?", (segment,)
        ).fetchone() or (b"", b"")
        first = segment * SEGMENT_ROWS
        rows = connection.execute(
            ROWS + "e.eid >= ? AND e.eid < ? ORDER BY e.eid",
            (saved["model"], first, first + SEGMENT_ROWS),
        ).fetchall()
        records, expected = records_of(rows, dimension)
        if (
            expected.tobytes() != codes
            or records.tobytes() != columns
            or len(columns) % RECORD.itemsize
        ):
            wrong.append(Problem("segments", f"segment {segment} differs from its vectors", REPAIR))
    return wrong


def _postings(connection: sqlite3.Connection) -> list[Problem]:
    """Make every segment of words that no later change touches anew and compare it with what is stored."""
    saved = segments.state(connection)
    if saved.get("format") != segments.FORMAT:
        return []
    later = segments.stale(connection, saved)
    there = [number for (number,) in connection.execute("SELECT segment FROM posting")]
    return [
        Problem("postings", f"the words of segment {number} differ from its texts", REPAIR)
        for number in sorted({*segments.wanted(connection), *there} - later.keys())
        if not segments.sound(connection, number)
    ]
