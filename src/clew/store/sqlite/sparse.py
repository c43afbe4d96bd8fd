"""Word search: BM25 by FTS5, over the rarest words of the question where a store is large.

FTS5 ranks every row that holds any word, so a frequent word costs as much as it has rows. In a large
store words are taken by ascending document frequency until a budget of rows is spent; if that leaves
a filtered list short, the search runs again with all of them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from clew.store.sqlite.database import facet
from clew.store.sqlite.where import condition
from clew.types import Filter, Match, Ranking, ranked

NEVER_PRUNED = 4_096  # nodes: below this all words together take a few milliseconds
BUDGET_ROWS = 5_000  # what the words of one question may touch in any store, about 3 ms
BUDGET_SHARE = 0.10  # of the nodes: what they may touch in a large one; see benchmarks/results/pruning.md
FACET_SHARE = 0.25  # a space smaller than this is found through its token, a larger one by looking at the row
MAX_TERMS = 64  # a pasted page is searched by its 64 rarest words


def search(connection: sqlite3.Connection, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
    """Return the `limit` best nodes that hold any of the terms."""
    wanted = [term for term in dict.fromkeys(terms) if indexable(term)]
    if not wanted or limit <= 0:
        return ()
    total, in_space = _sizes(connection, where.space)
    if not in_space:
        return ()
    by_facet = in_space < total * FACET_SHARE
    if total < NEVER_PRUNED and len(wanted) <= MAX_TERMS:
        return _matches(connection, wanted, where, limit=limit, by_facet=by_facet)
    frequency = _rarest(connection, wanted)
    kept = _affordable(frequency, total)
    found = _matches(connection, kept, where, limit=limit, by_facet=by_facet)
    if len(found) < limit and len(kept) < len(frequency):
        found = _matches(connection, list(frequency), where, limit=limit, by_facet=by_facet)
    return found


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


def _rarest(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    """Return the terms that occur, MAX_TERMS at most, with the number of rows that hold each, rarest first."""
    rows = connection.execute("SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))", (json.dumps(list(terms)),))
    return dict(sorted(rows.fetchall(), key=lambda row: (row[1], row[0]))[:MAX_TERMS])


def _affordable(frequency: Mapping[str, int], total: int) -> list[str]:
    """Return the terms, in their order, while their rows fit the budget; always the first.

    >>> _affordable({"quokka": 3, "river": 4000, "water": 9000}, 20_000)
    ['quokka', 'river']
    """
    budget = max(BUDGET_ROWS, total * BUDGET_SHARE)
    fitting = sum(spent <= budget for spent in accumulate(frequency.values()))
    return list(frequency)[: max(1, fitting)]


def expression(terms: Sequence[str], space: str | None) -> str:
    """Return an FTS5 expression in which every term is a quoted string, never syntax.

    >>> expression(['near', 'a"b'], None)
    '{title text} : ("near" OR "a""b")'
    """
    quoted = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    any_term = f"{{title text}} : ({quoted})"
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
