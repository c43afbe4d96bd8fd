"""What nodes name and are about.

Names by space and key, who mentions them, and which parts stand for people's names.

`name.holders` counts the mentions of nodes that are not expired; whoever takes mentions away or
lets a node expire counts anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from clew.store.name_index import each_once, parts_of
from clew.store.postgres.database import Session, Statement
from clew.store.postgres.where import condition
from clew.store.sqlite.names import ABOUT, MOST_LOOKED_AT, NAMING, OPENING, _joined, _mention
from clew.types import Filter, Mention, Named, NodeId

_COUNT = (
    "SELECT count(*) FROM mention m JOIN node n ON n.space = %s AND n.nid = m.nid WHERE m.space = %s AND m.key = k.key "
    "AND n.t_expired IS NULL"
)
_ASKED = "SELECT a.key, a.place FROM unnest(%s::text[]) WITH ORDINALITY a (key, place)"
_MEANT = f"""
WITH asked AS ({_ASKED}),
     whole AS (SELECT place, coalesce(
        (SELECT max(x.key) FROM (SELECT o.key FROM alias o WHERE o.space = %s AND o.part = asked.key LIMIT 2) x HAVING count(*) = 1),
        (SELECT k.key FROM name k WHERE k.space = %s AND k.key = asked.key)) AS key FROM asked),
     meant AS (
        SELECT place, key AS whole, key FROM whole WHERE key IS NOT NULL
        UNION ALL
        SELECT w.place, w.key, p.key FROM whole w JOIN alias a ON a.space = %s AND a.key = w.key
        JOIN name p ON p.space = %s AND p.key = a.part
        WHERE (SELECT count(*) FROM (SELECT 1 FROM alias b WHERE b.space = %s AND b.part = a.part LIMIT 2) x) = 1)
"""
_ITSELF = f"WITH asked AS ({_ASKED}), meant AS (SELECT place, k.key AS whole, k.key FROM asked JOIN name k ON k.space = %s AND k.key = asked.key)"  # noqa: E501


def named(keys: Sequence[str], where: Filter, *, limit: int, parts: bool) -> Statement:
    """Return the query for where the filter's space speaks of each key."""
    clause, values = condition(where)
    space, columns, bound = where.space, [], []
    for way in (ABOUT, NAMING, OPENING):
        theirs = f"SELECT nid FROM mention WHERE space = %s AND key = k.key AND way = {way} ORDER BY nid DESC LIMIT {MOST_LOOKED_AT}"
        columns.append(
            "(SELECT coalesce(json_agg(json_build_array(t.nid, t.id)), '[]')::text FROM (SELECT n.nid, n.id "
            f"FROM ({theirs}) h JOIN node n ON n.space = %s AND n.nid = h.nid WHERE {clause} ORDER BY n.nid DESC "
            f"LIMIT {max(0, int(limit))}) t)"
        )
        bound += [space, space, *values]
    query = (
        f"{_MEANT if parts else _ITSELF} SELECT m.place, w.name, w.type, k.holders, {', '.join(columns)} FROM meant m "
        "JOIN name k ON k.space = %s AND k.key = m.key JOIN name w ON w.space = %s AND w.key = m.whole ORDER BY m.place"
    )
    return query, [list(keys), *([space] * (5 if parts else 1)), *bound, space, space]


def named_of(keys: Sequence[str], rows: Sequence[tuple[Any, ...]], limit: int) -> dict[str, Named]:
    """Return what the rows of `named` tell of each key."""
    return {
        keys[place - 1]: _joined(list(group), limit)
        for place, group in groupby(rows, key=itemgetter(0))
    }


MENTIONS = (
    'SELECT n.id, k.key, coalesce(m.spelled, k.name), coalesce(m.type, k.type), m.confidence, m.way::int8, m.start, m."end" '
    "FROM node n JOIN mention m ON m.space = n.space AND m.nid = n.nid JOIN name k ON k.space = m.space AND k.key = m.key "
    "WHERE n.space = ANY(%s::text[]) AND n.id = ANY(%s::text[]) AND m.space = ANY(%s::text[]) AND k.space = ANY(%s::text[]) "
    "ORDER BY n.id, m.way = 1 DESC, m.confidence DESC, k.key"
)


def mentions_of(rows: Sequence[tuple[Any, ...]]) -> dict[NodeId, tuple[Mention, ...]]:
    """Return what the rows of MENTIONS tell of each node."""
    return {
        id: tuple(group)
        for id, group in groupby(map(_mention, rows), key=lambda mention: mention.node)
    }


def mention(session: Session, space: str, noted: Sequence[Mention]) -> None:
    """Note what nodes of a space name in place of what was noted of them before.

    Nodes that are gone are passed over.
    """
    noted = each_once(noted)
    ids, keys = (
        list(dict.fromkeys(each.node for each in noted)),
        list(dict.fromkeys(each.key for each in noted)),
    )
    (nodes,) = session.run(
        space,
        (
            "SELECT n.id, n.nid, n.t_expired IS NULL, EXISTS (SELECT 1 FROM mention m WHERE m.space = %s AND m.nid = n.nid) "
            "FROM node n WHERE n.space = %s AND n.id = ANY(%s::text[])",
            [space, space, ids],
        ),
    )
    named_before = [nid for _, nid, _, mentions in nodes if mentions]
    known = "SELECT key, name, type FROM name WHERE space = %s AND key = ANY(%s::text[])"
    if named_before:
        (before,) = session.run(space, mentioned(space, named_before))
        session.run(space, *unmention(space, named_before, [key for (key,) in before]))
    (names,) = session.run(space, (known, [space, keys]))
    numbers = {id: (nid, believed) for id, nid, believed, _ in nodes}
    spelled = {key: (name, type_) for key, name, type_ in names}
    there = [each for each in noted if each.node in numbers]
    fresh: dict[str, tuple[str, str]] = {}
    for each in there:
        if each.key not in spelled:
            fresh.setdefault(each.key, (each.name, str(each.type)))
    spelled |= fresh
    believed = Counter(each.key for each in there if numbers[each.node][1])
    statements = _insert_names(space, fresh)
    if there:
        rows = [_row(each, numbers[each.node][0], *spelled[each.key]) for each in there]
        statements.append(
            (
                "INSERT INTO mention SELECT %s, u.* FROM unnest(%s::text[], %s::smallint[], %s::bigint[], %s::float8[], %s::bigint[], "
                "%s::bigint[], %s::text[], %s::text[]) u ON CONFLICT DO NOTHING",
                [space, *map(list, zip(*rows, strict=True))],
            )
        )
    if believed:
        statements.append(
            (
                "UPDATE name SET holders = holders + u.count FROM unnest(%s::text[], %s::bigint[]) u (key, count) "
                "WHERE name.space = %s AND name.key = u.key",
                [list(believed), list(believed.values()), space],
            )
        )
    if statements:
        session.run(space, *statements)


def _insert_names(space: str, fresh: dict[str, tuple[str, str]]) -> list[Statement]:
    if not fresh:
        return []
    parts = [(part, key) for key in fresh for part in parts_of(key)]
    names = "INSERT INTO name SELECT %s, u.*, 0 FROM unnest(%s::text[], %s::text[], %s::text[]) u"
    statements: list[Statement] = [
        (
            names,
            [
                space,
                list(fresh),
                [name for name, _ in fresh.values()],
                [type_ for _, type_ in fresh.values()],
            ],
        )
    ]
    if parts:
        aliases = "INSERT INTO alias SELECT %s, u.* FROM unnest(%s::text[], %s::text[]) u ON CONFLICT DO NOTHING"
        statements.append((aliases, [space, *map(list, zip(*parts, strict=True))]))
    return statements


def _row(each: Mention, nid: int, name: str, type_: str) -> tuple[Any, ...]:
    way = ABOUT if each.subject else OPENING if each.opens else NAMING
    spelled, own = (
        None if name == each.name else each.name,
        None if type_ == each.type else str(each.type),
    )
    return each.key, way, nid, each.confidence, each.start, each.end, spelled, own


def mentioned(space: str, nids: Sequence[int]) -> Statement:
    """Return the query for the names that nodes mention."""
    return "SELECT DISTINCT key FROM mention WHERE space = %s AND nid = ANY(%s::bigint[])", [
        space,
        list(nids),
    ]


def unmention(space: str, nids: Sequence[int], keys: Sequence[str]) -> list[Statement]:
    """Return the statements that forget what nodes named, and those of the names that nobody mentions any more."""
    lost = "key = ANY(%s::text[]) AND NOT EXISTS (SELECT 1 FROM mention m WHERE m.space = %s AND m.key = k.key)"
    return [
        ("DELETE FROM mention WHERE space = %s AND nid = ANY(%s::bigint[])", [space, list(nids)]),
        (f"DELETE FROM alias k WHERE k.space = %s AND k.{lost}", [space, list(keys), space]),
        (f"DELETE FROM name k WHERE k.space = %s AND k.{lost}", [space, list(keys), space]),
        (
            f"UPDATE name k SET holders = ({_COUNT}) WHERE k.space = %s AND k.key = ANY(%s::text[])",
            [space, space, space, list(keys)],
        ),
    ]


def recount(space: str, nids: Sequence[int]) -> Statement:
    """Return the statement that counts the holders of what nodes name anew, after they expired or came back."""
    return (
        f"UPDATE name k SET holders = ({_COUNT}) WHERE k.space = %s AND k.key IN "
        "(SELECT key FROM mention WHERE space = %s AND nid = ANY(%s::bigint[]))",
        [space, space, space, space, list(nids)],
    )


def respell(space: str, keys: Sequence[str]) -> Statement:
    """Return the statement that writes names as the first node does that still mentions them, where nobody spells them as they are."""
    return (
        "UPDATE name k SET name = (SELECT m.spelled FROM mention m WHERE m.space = %s AND m.key = k.key ORDER BY m.nid LIMIT 1) "
        "WHERE k.space = %s AND k.key = ANY(%s::text[]) AND EXISTS (SELECT 1 FROM mention m WHERE m.space = %s AND m.key = k.key) "
        "AND NOT EXISTS (SELECT 1 FROM mention m WHERE m.space = %s AND m.key = k.key AND coalesce(m.spelled, k.name) = k.name)",
        [space, space, list(keys), space, space],
    )
