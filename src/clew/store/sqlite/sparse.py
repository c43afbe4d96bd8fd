"""Word search by FTS5, for stores too small to keep postings."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from clew.store.sqlite.database import facet
from clew.store.sqlite.where import condition
from clew.types import Filter, Match, Ranking, ranked

FACET_SHARE = 0.25  # a space smaller than this is found through its token, a larger one by looking at the row
MAX_TERMS = 64  # a pasted page is searched by its 64 rarest words


def search(connection: sqlite3.Connection, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
    """Return the `limit` best nodes that hold any of the terms, which are distinct and indexable."""
    total, in_space = _sizes(connection, where.space)
    if not in_space:
        return ()
    kept = _rarest(connection, terms) if len(terms) > MAX_TERMS else terms
    return _matches(connection, kept, where, limit=limit, by_facet=in_space < total * FACET_SHARE)


def retire(connection: sqlite3.Connection) -> None:
    """Empty the index and write to it no more; postings answer from now on, and there is no way back.

    With the triggers a single memory would cost three times as much to add.
    """
    connection.execute("INSERT INTO word_index (word_index) VALUES ('delete-all')")
    for trigger in ("words_added", "words_removed", "words_changed"):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")


def indexable(term: str) -> bool:
    """Tell whether a term can be in the index; FTS5 would take one with other signs apart and find its pieces.

    >>> indexable("appl"), indexable("appl*"), indexable("Appl"), indexable("数据")
    (True, False, False, True)
    """
    return bool(term) and all(character.islower() or character.isdigit() or not character.isascii() for character in term)


def _sizes(connection: sqlite3.Connection, space: str) -> tuple[int, int]:
    total, in_space = connection.execute(
        "SELECT coalesce(sum(nodes), 0), coalesce(sum(nodes) FILTER (WHERE name = ?), 0) FROM space", (space,)
    ).fetchone()
    return total, in_space


def _rarest(connection: sqlite3.Connection, terms: Sequence[str]) -> list[str]:
    """Return the terms that fewest rows hold, MAX_TERMS of those that occur at all."""
    rows = connection.execute("SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))", (json.dumps(list(terms)),))
    return [term for term, _ in sorted(rows.fetchall(), key=lambda row: (row[1], row[0]))[:MAX_TERMS]]


def expression(terms: Sequence[str], space: str | None) -> str:
    """Return an FTS5 expression in which every term is a quoted string, never syntax.

    >>> expression(['near', 'a"b'], None)
    '{title text context} : ("near" OR "a""b")'
    """
    quoted = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    any_term = f"{{title text context}} : ({quoted})"
    return any_term if space is None else f'facet : "{facet(space)}" AND {any_term}'


def _matches(connection: sqlite3.Connection, terms: Sequence[str], where: Filter, *, limit: int, by_facet: bool) -> Ranking:
    if not terms:
        return ()
    clause, values = condition(where)
    cursor = connection.execute(
        # CROSS JOIN keeps the word index outermost, so that rows arrive by rank and the reading can stop
        f"SELECT n.id, w.rank FROM word_index w CROSS JOIN node n ON n.nid = w.rowid WHERE word_index MATCH ? AND {clause} ORDER BY w.rank",
        (expression(terms, where.space if by_facet else None), *values),
    )
    return ranked(_until_cut(cursor, limit))[:limit]


def _until_cut(cursor: Iterator[tuple[str, float]], limit: int) -> Iterator[Match]:
    """Read `limit` rows and all that tie with the last, so that ids decide who stays."""
    last = 0.0
    for count, (id, rank) in enumerate(cursor):
        if count >= limit and rank != last:
            break
        last = rank
        yield Match(id, -rank)
