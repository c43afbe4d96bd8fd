"""The words of the nodes as stored.

Segments of 4,096 node numbers, a cache that makes opening quick.

Each is true as of one place in the log of changed nodes, carries a checksum, and is made anew from
the texts where it is missing or damaged. Stores of a few dozen nodes have none: their texts are
read as quickly.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from clew.store.bm25 import CONTEXT_WEIGHT, FACET_TOKENS, TEXT_WEIGHT, TITLE_WEIGHT
from clew.store.sqlite.stats import newest
from clew.store.sqlite.vector_index import SELECTED, Records, fill
from clew.store.sqlite.word_index import RECORD, Postings, Words, words_of
from clew.text.gist import searched_text
from clew.text.words import ANALYSER_VERSION

SEGMENT_NODES = 4096
POSTINGS_FROM = 64  # nodes: fewer are analysed in 3 ms
CHECKPOINT_CHANGES = 1024  # what an opening process may have to analyse itself, 40 ms
CHANGES_SHARE = 4  # but of a small store no more than a quarter
SEGMENT_CHANGES = 64  # changes that pay for rewriting a segment, 15 ms
CHECKPOINT_SHARE = 16  # but when a sixteenth of the nodes has changed, all are written
CHANGES_KEPT = 16384  # for other processes to catch up from; one that is further behind reloads
FORMAT = f"2 analyser {ANALYSER_VERSION} title {TITLE_WEIGHT} text {TEXT_WEIGHT} context {CONTEXT_WEIGHT} facet {FACET_TOKENS}"

Segment = tuple[Records, Postings]


def log_end(connection: sqlite3.Connection) -> int:
    """Return the place of the last change of a node.

    How many were added and how many logged, ever.
    """
    (seq,) = connection.execute(
        "SELECT coalesce(sum(seq), 0) FROM sqlite_sequence WHERE name IN ('node', 'node_change')"
    ).fetchone()
    return int(seq)


def changed(connection: sqlite3.Connection, seq: int, newest: int) -> dict[int, int]:
    """Return the nodes that changed after a place in the log, by number, each with whether its words did; `newest` is as of then."""
    query = (
        "SELECT nid, max(reworded) FROM (SELECT nid, reworded FROM node_change WHERE seq > ? "
        "UNION ALL SELECT nid, 1 FROM node WHERE nid > ?) GROUP BY nid ORDER BY nid"
    )
    return dict(connection.execute(query, (seq - newest, newest)).fetchall())


def state(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return what is noted about the segments.

    Format, seq, newest, segments (how many), due, floor (in the log alone).
    """
    rows = connection.execute(
        "SELECT substr(key, 9), value FROM meta WHERE key >= 'posting_' AND key < 'posting`'"
    )
    found = dict(rows.fetchall())
    if not all(isinstance(found.get(name), int) for name in ("seq", "newest", "segments")):
        # without their place in the log segments tell nothing: the texts are read
        found.pop("format", None)
    if not isinstance(found.get("floor", 0), int):
        raise TypeError("where the log of changed nodes begins is damaged")
    return found


def note(connection: sqlite3.Connection, **values: Any) -> None:
    """Set what is noted about the segments."""
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES ('posting_' || ?, ?)", values.items()
    )


def drop(connection: sqlite3.Connection) -> None:
    """Forget the segments; the end of the transaction writes them anew where they are needed."""
    connection.execute("DELETE FROM posting")
    connection.execute("DELETE FROM meta WHERE key = 'posting_due'")
    connection.execute("UPDATE meta SET value = '' WHERE key = 'posting_format'")


# --- when to write ---


def kept(connection: sqlite3.Connection) -> bool:
    """Tell whether the store has postings, whatever their state."""
    return (
        connection.execute("SELECT 1 FROM meta WHERE key = 'posting_format'").fetchone() is not None
    )


def needed(connection: sqlite3.Connection) -> bool:
    """Tell whether the store is large enough for postings, or was when it got them."""
    return kept(connection) or _nodes(connection) >= POSTINGS_FROM


def missing(connection: sqlite3.Connection) -> bool:
    """Tell whether the store should have postings and has none of this form."""
    return needed(connection) and state(connection).get("format") != FORMAT


def _pause(nodes: int) -> int:
    """Return how many changes may come before the segments are looked at again."""
    return min(CHECKPOINT_CHANGES, max(SEGMENT_CHANGES, nodes // CHANGES_SHARE))


def _nodes(connection: sqlite3.Connection) -> int:
    (nodes,) = connection.execute("SELECT coalesce(sum(nodes), 0) FROM counted").fetchone()
    return int(nodes)


def checkpoint_if_due(connection: sqlite3.Connection) -> int:
    """Write the segments when enough nodes changed since they were last written.

    Return how many more may change until then.
    """
    seq = log_end(connection)
    if seq >= _due(connection):
        _come_due(connection, seq)
    return _due(connection) - seq


def _due(connection: sqlite3.Connection) -> int:
    (due,) = connection.execute(
        "SELECT coalesce((SELECT value FROM meta WHERE key = 'posting_due'), 0)"
    ).fetchone()
    return int(due)


def _come_due(connection: sqlite3.Connection, seq: int) -> None:
    saved = state(connection)
    nodes = _nodes(connection)
    if not needed(connection):
        # whoever follows it reads the few nodes there are anew
        connection.execute("DELETE FROM node_change")
        note(
            connection,
            floor=seq - newest(connection),
            due=seq + min(CHECKPOINT_CHANGES, POSTINGS_FROM - nodes),
        )
    elif saved.get("format") != FORMAT or _worthwhile(
        connection, saved, changes=seq - saved["seq"], nodes=nodes
    ):
        checkpoint(connection)
    else:
        note(connection, due=seq + _pause(nodes))


def _worthwhile(
    connection: sqlite3.Connection, saved: Mapping[str, Any], *, changes: int, nodes: int
) -> bool:
    return (
        changes * CHECKPOINT_SHARE >= nodes
        or changes >= len(stale(connection, saved)) * SEGMENT_CHANGES
    )


def checkpoint(connection: sqlite3.Connection) -> None:
    """Write the segments whose nodes changed, and drop the part of the log that nobody needs."""
    seq, saved = log_end(connection), state(connection)
    if saved.get("format") == FORMAT:
        for segment, reworded in stale(connection, saved).items():
            _write(
                connection,
                segment,
                rebuilt(connection, segment, read(connection, segment), reworded),
            )
    else:
        connection.execute("DELETE FROM posting")
        for segment in wanted(connection):
            _write(connection, segment, rebuilt(connection, segment))
    (count,) = connection.execute("SELECT count(*) FROM posting").fetchone()
    known = newest(connection)
    floor = max(saved.get("floor", 0), seq - known - CHANGES_KEPT)
    connection.execute("DELETE FROM node_change WHERE seq <= ?", (floor,))
    note(
        connection,
        format=FORMAT,
        seq=seq,
        newest=known,
        segments=count,
        floor=floor,
        due=seq + _pause(_nodes(connection)),
    )


def strip(connection: sqlite3.Connection, nids: Collection[int]) -> None:
    """Take the words of deleted nodes out of the stored segments.

    The rest of each stays as it is.
    """
    for number in sorted({nid // SEGMENT_NODES for nid in nids}):
        old = read(connection, number)
        if old is None:
            # none, or damaged: made anew from the texts
            connection.execute("DELETE FROM posting WHERE segment = ?", (number,))
            continue
        kept = ~np.isin(old[0]["nid"], np.fromiter(nids, np.int64, len(nids)))
        if not kept.all():
            places = np.where(kept, np.cumsum(kept) - 1, -1)
            _write(connection, number, (old[0][kept], old[1].changed(places, {})))
    if kept_count := connection.execute(
        "SELECT count(*) FROM posting HAVING EXISTS (SELECT 1 FROM meta WHERE key = 'posting_segments')"
    ).fetchone():
        note(connection, segments=kept_count[0])


def stale(connection: sqlite3.Connection, saved: Mapping[str, Any]) -> dict[int, set[int]]:
    """Return the segments with changes since they were saved, each with the nodes whose words changed."""
    found: dict[int, set[int]] = {}
    for nid, reworded in changed(connection, saved["seq"], saved["newest"]).items():
        found.setdefault(nid // SEGMENT_NODES, set()).update((nid,) if reworded else ())
    return found


def wanted(connection: sqlite3.Connection) -> list[int]:
    """Return the segments that have nodes."""
    return [
        segment
        for (segment,) in connection.execute(
            "SELECT DISTINCT nid / ? FROM node ORDER BY 1", (SEGMENT_NODES,)
        )
    ]


# --- from texts ---


def records_of(connection: sqlite3.Connection, condition: str, *values: Any) -> Records:
    """Return the columns of the nodes for which a condition on `node n` holds, by number.

    Lengths are left at none.
    """
    rows = connection.execute(
        f"SELECT n.nid, {SELECTED} FROM node n WHERE {condition} ORDER BY n.nid", values
    ).fetchall()
    records = np.zeros(len(rows), RECORD)
    if rows:
        records["nid"], *columns = zip(*rows, strict=True)
        fill(records, columns)
    return records


def analysed(
    connection: sqlite3.Connection, records: Records, nids: Collection[int]
) -> dict[int, Words]:
    """Return the words of nodes by number, and set their lengths in the records."""
    query = "SELECT n.nid, n.title, n.kind, n.text, n.context FROM json_each(?) j CROSS JOIN node n ON n.nid = j.value"
    found, lengths = {}, {}
    for nid, title, kind, text, context in connection.execute(query, (json.dumps(list(nids)),)):
        found[nid], lengths[nid] = words_of(title, searched_text(kind, text), context)
    places = np.searchsorted(records["nid"], np.fromiter(lengths, np.int64, len(lengths)))
    records["length"][places] = list(lengths.values())
    return found


def rebuilt(
    connection: sqlite3.Connection,
    segment: int,
    old: Segment | None = None,
    reworded: Collection[int] = (),
) -> Segment:
    """Return a segment as it should be now.

    Of an old one the words that were not reworded are taken over.
    """
    first = segment * SEGMENT_NODES
    records = records_of(connection, "n.nid >= ? AND n.nid < ?", first, first + SEGMENT_NODES)
    nids = records["nid"]
    if old is None:
        words = analysed(connection, records, nids.tolist())
        return records, Postings.of(_numbered(words, nids))
    before = old[0]["nid"]
    kept = np.isin(before, nids) & ~np.isin(before, np.fromiter(reworded, np.int64, len(reworded)))
    places = np.where(kept, np.searchsorted(nids, before), -1)
    records["length"][places[kept]] = old[0]["length"][kept]
    words = analysed(connection, records, np.setdiff1d(nids, before[kept]).tolist())
    return records, old[1].changed(places, _numbered(words, nids))


def _numbered(words: Mapping[int, Words], nids: Records) -> dict[int, Words]:
    rows = np.searchsorted(nids, np.fromiter(words, np.int64, len(words))).tolist()
    return dict(zip(rows, words.values(), strict=True))


# --- as stored ---


def blobs(segment: Segment) -> tuple[bytes, ...]:
    """Return the columns of a row of `posting`, without its number and checksum."""
    records, postings = segment
    arrays = (postings.terms, postings.offsets, postings.rows, postings.counts, records)
    return tuple(
        array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays
    )


def _write(connection: sqlite3.Connection, number: int, segment: Segment) -> None:
    if not len(segment[0]):
        connection.execute("DELETE FROM posting WHERE segment = ?", (number,))
        return
    parts = blobs(segment)
    connection.execute(
        "INSERT OR REPLACE INTO posting VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, checksum(parts), *parts),
    )


def checksum(parts: tuple[bytes, ...]) -> int:
    """Return a number that other bytes hardly have."""
    total = 0
    for part in parts:
        total = zlib.crc32(part, total)
    return total


def read(connection: sqlite3.Connection, number: int) -> Segment | None:
    """Return a stored segment; None when it is missing or damaged."""
    row = connection.execute("SELECT * FROM posting WHERE segment = ?", (number,)).fetchone()
    return parsed(row[1], row[2:]) if row else None


def read_all(connection: sqlite3.Connection) -> Iterator[tuple[int, Segment | None]]:
    """Yield every segment with its number, in order; None for one that is missing or damaged."""
    saved = state(connection)
    (count,) = connection.execute("SELECT count(*) FROM posting").fetchone()
    if saved.get("format") != FORMAT:
        yield from ((number, None) for number in wanted(connection))
    elif saved["segments"] != count:
        yield from ((number, read(connection, number)) for number in wanted(connection))
    else:
        for number, total, *parts in connection.execute("SELECT * FROM posting ORDER BY segment"):
            yield number, parsed(total, tuple(parts))


def sound(connection: sqlite3.Connection, number: int) -> bool:
    """Tell whether a stored segment is what its texts give."""
    stored = read(connection, number)
    return stored is not None and blobs(stored) == blobs(rebuilt(connection, number))


def parsed(total: int, parts: tuple[bytes, ...]) -> Segment | None:
    """Return the segment that blobs hold; None when they are not what was written."""
    if not all(isinstance(part, bytes) for part in parts) or checksum(parts) != total:
        return None
    terms, offsets, rows, counts, columns = parts
    try:
        kind = (
            {1: "u1", 2: "<u2", 4: "<f4", 8: "<f8"}[len(counts) * 2 // len(rows)] if rows else "u1"
        )
        arrays = (
            np.frombuffer(terms, "<u8"),
            np.frombuffer(offsets, "<u4"),
            np.frombuffer(rows, "<u2"),
            np.frombuffer(counts, kind),
        )
        return np.frombuffer(columns, RECORD), Postings(*arrays)
    except (KeyError, ValueError):  # somebody made the checksum fit
        return None
