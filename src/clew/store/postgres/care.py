"""Looking after a store.

Counts, checks of everything derived, rebuilding it, and giving room back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
from psycopg import sql

from clew.errors import CorruptStoreError, clipped
from clew.ports import Problem, Repaired
from clew.store.name_index import parts_of
from clew.store.postgres import blocks
from clew.store.postgres.database import (
    STATE,
    WHOLE_TABLES,
    Database,
    Rows,
    Session,
    State,
    Statement,
    model_of,
    state_of,
)
from clew.store.postgres.schema import MIGRATIONS, SPLIT_TABLES
from clew.store.postgres.spaces import NODE, VECTORS, WORDS, vector_blocks, word_block
from clew.store.postgres.where import label_code
from clew.store.postgres.writing import insert_labels, put_state
from clew.store.sqlite import segments
from clew.store.sqlite.rows import READ, SEALED, labels_of, node_of, vector_checksum
from clew.store.sqlite.segments import FORMAT
from clew.token_codes import CODED_KINDS
from clew.types import FileCheck

REPAIR = "Run: clew verify --repair"
SELECTED = ", ".join(f'n."{column}"' for column in (*SEALED, "checksum")) + ", n.accesses"
LIVE = "n.t_expired IS NULL AND n.archived = 0"
PAGE = 1000
VACUUMED = ("node", "event", "embedding", "token_code", "label", "mention", "name", "edge", "block")


# --- counts ---

_COUNTS = f"""
SELECT count(*), count(*) FILTER (WHERE {LIVE}), count(*) FILTER (WHERE t_expired IS NOT NULL), count(*) FILTER (WHERE archived = 1),
       count(*) FILTER (WHERE protected = 1), count(*) FILTER (WHERE kind = 'memory' AND root IS NULL),
       count(*) FILTER (WHERE kind = 'memory' AND root IS NOT NULL),
       count(*) FILTER (WHERE kind = 'memory' AND root IS NULL AND {LIVE} AND t_invalid IS NOT NULL) FROM node n WHERE {{n}}
"""
_MODEL = "(SELECT mid FROM model WHERE active)"
_EVENTS = (
    "SELECT kind, count(*) FROM (SELECT e.kind FROM event e WHERE {e} UNION ALL "
    "SELECT 'ADD' FROM node n WHERE {n} AND n.added_at IS NOT NULL) x GROUP BY kind ORDER BY kind"
)
_LEVELS = f"""
SELECT n.kind, count(*), count(c.eid), count(nullif(n.context, '')), count(k.eid) FROM node n
LEFT JOIN embedding c ON c.space = n.space AND c.nid = n.nid AND c.role = 'content' AND c.model = {_MODEL}
LEFT JOIN embedding k ON k.space = n.space AND k.nid = n.nid AND k.role = 'context' AND k.model = {_MODEL}
WHERE {LIVE} AND {{n}} GROUP BY n.kind ORDER BY n.kind
"""
_UNEMBEDDED = f"""
SELECT count(*) FROM node n WHERE {LIVE} AND {{n}} AND NOT EXISTS (
    SELECT 1 FROM embedding e WHERE e.space = n.space AND e.nid = n.nid AND e.role = 'content' AND e.text_hash = n.content_hash
    AND e.model = {_MODEL} AND (n.context = '' OR EXISTS (SELECT 1 FROM embedding c WHERE c.space = n.space AND c.nid = n.nid
    AND c.role = 'context' AND c.model = e.model)))
"""
_CODED = f"({', '.join(map(repr, map(str, CODED_KINDS)))})"
_CODES = f"""
SELECT count(size), count(*) - count(size), coalesce(sum(size), 0)::bigint FROM (
    SELECT (SELECT octet_length(t.codes) FROM token_code t WHERE t.space = n.space AND t.nid = n.nid AND t.model = {_MODEL}
        ORDER BY t.role DESC LIMIT 1) AS size
    FROM node n WHERE {LIVE} AND n.kind IN {_CODED} AND {{n}}) x
"""
_SIZE = (
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace "
    "WHERE s.nspname = %s AND c.relkind = 'r'"
)


def statistics(database: Database, space: str | None) -> dict[str, Any]:
    """Return what `clew stats` shows; of a space nothing that another one changes."""
    own = [] if space is None else [space]

    def over(query: str) -> tuple[str, list[Any]]:
        clauses = {name: "true" if space is None else f"{name}.space = %s" for name in "ne"}
        return query.format(**clauses), own * (query.count("{n}") + query.count("{e}"))

    # An edge between spaces stands in both, and belongs to neither.
    edges = "SELECT count(*) FROM edge n WHERE {n} AND " + (
        "NOT n.mirror" if space is None else "n.other = n.space"
    )
    (
        _,
        counts,
        kinds,
        categories,
        spaces,
        events,
        links,
        vectors,
        levels,
        unembedded,
        codes,
        model,
    ) = database.ask_all(
        space,
        WHOLE_TABLES,
        over(_COUNTS),
        over(
            "SELECT kind, sum(nodes)::bigint FROM counted n WHERE {n} AND nodes > 0 GROUP BY kind ORDER BY kind"
        ),
        over(
            "SELECT n.category, count(*) FROM node n WHERE {n} GROUP BY n.category ORDER BY n.category"
        ),
        over(
            "SELECT n.space, sum(nodes)::bigint FROM counted n WHERE {n} AND nodes > 0 GROUP BY n.space ORDER BY n.space"
        ),
        over(_EVENTS),
        over(edges),
        over(f"SELECT count(*) FROM embedding n WHERE {{n}} AND n.model = {_MODEL}"),
        over(_LEVELS),
        over(_UNEMBEDDED),
        over(_CODES),
        ("SELECT name, dimension FROM model WHERE active", []),
    )
    names = ("nodes", "live", "expired", "archived", "protected", "memories", "versions", "ending")
    return {
        **dict(zip(names, counts[0], strict=True)),
        "by_kind": dict(kinds),
        "by_category": dict(categories),
        "by_space": dict(spaces),
        "events": sum(count for _, count in events),
        "by_event": dict(events),
        "edges": links[0][0],
        "vectors": vectors[0][0],
        "coverage": {
            kind: {
                "nodes": nodes,
                "vectors": content,
                "context_keys": keys,
                "context_vectors": contexts,
            }
            for kind, nodes, content, keys, contexts in levels
        },
        "unembedded": unembedded[0][0],
        "token_codes": dict(zip(("nodes", "missing", "bytes"), codes[0], strict=True)),
        **({} if space is not None else _whole(database)),
        "model": model[0][0] if model else None,
        "dimension": model[0][1] if model else None,
        "schema": len(MIGRATIONS),
    }


def _whole(database: Database) -> dict[str, Any]:
    rejected, size = database.ask_all(
        None, ("SELECT rule, count FROM rejection ORDER BY rule", []), (_SIZE, [database.schema])
    )
    return {"rejected": dict(rejected), "bytes": size[0][0]}


# --- checks ---


def verify(database: Database) -> tuple[Problem, ...]:
    """Return what is wrong with the store, space by space, each as of one moment."""
    spaces = database.ask(
        None,
        "SELECT space FROM space UNION SELECT space FROM place UNION SELECT space FROM counted ORDER BY 1",
    )
    found: list[Problem] = []
    for (space,) in spaces:
        with database.reading() as session:
            database.secure(session, space)
            _, told = session.run(space, WHOLE_TABLES, (STATE, [space]))
            rows = _check_rows(session, space)
            found += rows
            if not rows:  # derived from damaged rows everything differs
                found += _check_derived(session, space, state_of(told[0]), model_of(told[0]))
    return tuple(Problem(each.check, clipped(each.detail), each.way_out) for each in found)


def _pages(session: Session, space: str) -> Iterator[Rows]:
    after = 0
    query = f"SELECT n.nid, {SELECTED} FROM node n WHERE n.space = %s AND n.nid > %s ORDER BY n.nid LIMIT {PAGE}"
    while rows := session.run(space, (query, [space, after]))[0]:
        yield rows
        after = rows[-1][0]


def _check_rows(session: Session, space: str) -> list[Problem]:
    found = []
    for rows in _pages(session, space):
        for _, *row in rows:
            try:
                node_of(tuple(row))
            except CorruptStoreError as error:
                found.append(Problem("nodes", error.message, REPAIR))
    query = "SELECT nid, role, text_hash, vector, checksum FROM embedding WHERE space = %s AND eid > %s ORDER BY eid LIMIT 10000"
    after = 0
    while True:
        (rows,) = session.run(space, (query.replace("nid,", "nid, eid,", 1), [space, after]))
        if not rows:
            return found
        for nid, _, role, text_hash, vector, total in rows:
            if vector_checksum(text_hash, bytes(vector)) != total:
                found.append(
                    Problem(
                        "vectors",
                        f"the {role} vector of memory number {nid} in space {space!r} was changed",
                        REPAIR,
                    )
                )
        after = rows[-1][1]


_CHECKS = {
    "counts": (
        "SELECT 1 FROM (SELECT kind, count(*) AS nodes, count(*) FILTER (WHERE t_expired IS NULL AND archived = 0) AS live, "
        "count(*) FILTER (WHERE t_expired IS NULL AND archived = 0 AND context <> '') AS keyed FROM node WHERE space = %s GROUP BY kind) a "
        "FULL JOIN (SELECT * FROM counted WHERE space = %s AND nodes <> 0) b USING (kind) "
        "WHERE (a.nodes, a.live, a.keyed) IS DISTINCT FROM (b.nodes, b.live, b.keyed) LIMIT 1",
        2,
        "the counts of its nodes are wrong",
    ),
    "places": (
        "SELECT 1 FROM (SELECT id FROM node WHERE space = %s) n FULL JOIN (SELECT id FROM place WHERE space = %s) p USING (id) "
        "WHERE n.* IS NULL OR p.* IS NULL LIMIT 1",
        2,
        "not every node is found by its id",
    ),
    "references": (
        "SELECT 1 FROM embedding e WHERE e.space = %s AND NOT EXISTS (SELECT 1 FROM node n WHERE n.space = %s AND n.nid = e.nid) "
        "UNION ALL SELECT 1 FROM token_code t WHERE t.space = %s AND NOT EXISTS (SELECT 1 FROM embedding e WHERE e.space = %s "
        "AND (e.nid, e.model, e.role) = (t.nid, t.model, t.role)) "
        "UNION ALL SELECT 1 FROM claim c WHERE c.space = %s AND NOT EXISTS "
        "(SELECT 1 FROM node n WHERE n.space = %s AND n.nid = c.nid) LIMIT 1",
        6,
        "vectors, token codes or keys belong to no node",
    ),
    "numbers": (
        "SELECT 1 FROM space s WHERE s.space = %s AND (s.nid < coalesce((SELECT max(nid) FROM node WHERE space = %s), 0) "
        "OR s.eid < coalesce((SELECT max(eid) FROM embedding WHERE space = %s), 0)) LIMIT 1",
        3,
        "numbers were given out that it does not know of",
    ),
    "names": (
        "SELECT 1 FROM name k WHERE k.space = %s AND (k.holders <> (SELECT count(*) FROM mention m JOIN node n ON n.space = %s "
        "AND n.nid = m.nid WHERE m.space = %s AND m.key = k.key AND n.t_expired IS NULL) "
        "OR NOT EXISTS (SELECT 1 FROM mention m WHERE m.space = %s AND m.key = k.key)) "
        "UNION ALL SELECT 1 FROM mention m WHERE m.space = %s AND NOT EXISTS "
        "(SELECT 1 FROM name k WHERE k.space = %s AND k.key = m.key) LIMIT 1",
        6,
        "names, their counts or their mentions do not agree",
    ),
}


def _check_derived(
    session: Session, space: str, state: State, model: tuple[int, str, int] | None
) -> Iterator[Problem]:
    for check, (query, places, fault) in _CHECKS.items():
        if session.run(space, (query, [space] * places))[0]:
            yield Problem(check, f"space {space!r}: {fault}", REPAIR)
    yield from _check_labels(session, space)
    yield from _check_aliases(session, space)
    yield from _check_blocks(session, space, state, model)


def _check_labels(session: Session, space: str) -> Iterator[Problem]:
    (kept,) = session.run(space, ("SELECT label, nid FROM label WHERE space = %s", [space]))
    if set(kept) != set(_labels(session, space)):
        yield Problem(
            "labels",
            f"space {space!r}: labels of tags and metadata are not those of the nodes",
            REPAIR,
        )


def _labels(session: Session, space: str) -> Iterator[tuple[Any, int]]:
    query = "SELECT nid, tags, metadata FROM node WHERE space = %s AND (tags <> '[]' OR metadata <> '{}')"
    for nid, tags, metadata in session.run(space, (query, [space]))[0]:
        yield from (
            (label_code(label), nid)
            for label in labels_of(READ["tags"](tags), READ["metadata"](metadata))
        )


def _check_aliases(session: Session, space: str) -> Iterator[Problem]:
    keys, kept = session.run(
        space,
        ("SELECT key FROM name WHERE space = %s", [space]),
        ("SELECT part, key FROM alias WHERE space = %s", [space]),
    )
    if set(kept) != {(part, key) for (key,) in keys for part in parts_of(key)}:
        yield Problem(
            "names",
            f"space {space!r}: the parts of people's names are not those of the names",
            REPAIR,
        )


def _check_blocks(
    session: Session, space: str, state: State, model: tuple[int, str, int] | None
) -> Iterator[Problem]:
    """Yield what is wrong with stored blocks.

    Nodes that changed since they were written are in the log.
    """
    (changed, words, vectors) = session.run(
        space,
        (
            "SELECT DISTINCT nid FROM change WHERE space = %s AND version > %s",
            [space, min(state.words_version, state.vectors_version)],
        ),
        (
            "SELECT number, checksum, parts FROM block WHERE space = %s AND kind = %s ORDER BY number",
            [space, WORDS],
        ),
        (
            "SELECT number, checksum, parts FROM block WHERE space = %s AND kind = %s ORDER BY number",
            [space, VECTORS],
        ),
    )
    moved = {nid for (nid,) in changed}
    for number, total, parts in words if state.words_format == FORMAT else ():
        segment = word_block(total, parts)
        first = number * blocks.BLOCK_ROWS
        query = f"{NODE} AND n.nid >= %s AND n.nid < %s AND n.nid <= %s ORDER BY 1"
        (rows,) = session.run(
            space, (query, [space, first, first + blocks.BLOCK_ROWS, state.words_nid])
        )
        sound = None if moved else blocks.words_block(rows, None, set())
        if segment is None or (sound is not None and segments.blobs(segment) != sound):
            yield Problem(
                "words",
                f"space {space!r}: block {number} of the words is not what its texts give",
                REPAIR,
            )
    if (
        model is not None
        and state.vectors_model == model[0]
        and vector_blocks(vectors, model[2]) is None
    ):
        yield Problem("vectors", f"space {space!r}: a block of the vectors is damaged", REPAIR)


# --- repair ---


def repair(database: Database, session: Session) -> Repaired:
    """Rebuild everything derived from the truth.

    A row that cannot be read is taken out of its table and told with its id.
    """
    quarantined: list[Problem] = []
    _, spaces = session.run(
        None,
        WHOLE_TABLES,
        (
            "SELECT space FROM space UNION SELECT space FROM place UNION SELECT space FROM counted ORDER BY 1",
            [],
        ),
    )
    for (space,) in spaces:
        database.secure(session, space)
        quarantined += _set_aside(session, space)
        _rebuild(session, space)
    return Repaired(tuple(quarantined))


def _set_aside(session: Session, space: str) -> list[Problem]:
    """Move rows that cannot be read into the store's records, and drop vectors that were changed."""
    found: list[Problem] = []
    for rows in list(_pages(session, space)):
        for nid, *row in rows:
            try:
                node_of(tuple(row))
            except CorruptStoreError as error:
                found.append(
                    Problem(
                        "nodes",
                        error.message,
                        "Its row was moved to the records of the kind 'quarantine'.",
                    )
                )
                body = json.dumps(
                    {"space": space, "number": nid, "row": [str(value) for value in row]},
                    ensure_ascii=False,
                )
                session.run(
                    space,
                    (
                        "INSERT INTO record VALUES ('quarantine', %s, %s) ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body",
                        [f"{space}/{nid}", body],
                    ),
                    *(
                        (f"DELETE FROM {table} WHERE space = %s AND nid = %s", [space, nid])
                        for table in ("node", "embedding", "token_code", "claim", "mention")
                    ),
                )
    (vectors,) = session.run(
        space, ("SELECT eid, text_hash, vector, checksum FROM embedding WHERE space = %s", [space])
    )
    bad = [
        eid
        for eid, text_hash, vector, total in vectors
        if vector_checksum(text_hash, bytes(vector)) != total
    ]
    if bad:
        session.run(
            space,
            ("DELETE FROM embedding WHERE space = %s AND eid = ANY(%s::bigint[])", [space, bad]),
        )
        found.append(
            Problem(
                "vectors",
                f"space {space!r}: {len(bad)} vectors were changed and dropped",
                "Run: clew reembed",
            )
        )
    return found


def _rebuild(session: Session, space: str) -> None:
    own = [space]
    session.run(
        space,
        (
            "DELETE FROM embedding e WHERE e.space = %s AND NOT EXISTS (SELECT 1 FROM node n WHERE n.space = %s AND n.nid = e.nid)",
            own * 2,
        ),
        (
            "DELETE FROM token_code t WHERE t.space = %s AND NOT EXISTS (SELECT 1 FROM embedding e WHERE e.space = %s "
            "AND (e.nid, e.model, e.role) = (t.nid, t.model, t.role))",
            own * 2,
        ),
        (
            "DELETE FROM claim c WHERE c.space = %s AND NOT EXISTS (SELECT 1 FROM node n WHERE n.space = %s AND n.nid = c.nid)",
            own * 2,
        ),
        (
            "DELETE FROM mention m WHERE m.space = %s AND NOT EXISTS (SELECT 1 FROM node n WHERE n.space = %s AND n.nid = m.nid)",
            own * 2,
        ),
        (
            "DELETE FROM mention m WHERE m.space = %s AND NOT EXISTS (SELECT 1 FROM name k WHERE k.space = %s AND k.key = m.key)",
            own * 2,
        ),
        (
            "DELETE FROM name k WHERE k.space = %s AND NOT EXISTS (SELECT 1 FROM mention m WHERE m.space = %s AND m.key = k.key)",
            own * 2,
        ),
        (
            "UPDATE name k SET holders = (SELECT count(*) FROM mention m JOIN node n ON n.space = %s AND n.nid = m.nid "
            "WHERE m.space = %s AND m.key = k.key AND n.t_expired IS NULL) WHERE k.space = %s",
            own * 3,
        ),
        ("DELETE FROM alias WHERE space = %s", own),
        (
            "DELETE FROM place p WHERE p.space = %s AND NOT EXISTS (SELECT 1 FROM node n WHERE n.space = %s AND n.id = p.id)",
            own * 2,
        ),
        (
            "INSERT INTO place SELECT id, space FROM node WHERE space = %s ON CONFLICT DO NOTHING",
            own,
        ),
        ("DELETE FROM counted WHERE space = %s", own),
        (
            "INSERT INTO counted SELECT space, kind, count(*), count(*) FILTER (WHERE t_expired IS NULL AND archived = 0), "
            "count(*) FILTER (WHERE t_expired IS NULL AND archived = 0 AND context <> '') FROM node WHERE space = %s GROUP BY space, kind",
            own,
        ),
        ("DELETE FROM label WHERE space = %s", own),
        ("DELETE FROM block WHERE space = %s", own),
    )
    (keys,) = session.run(space, ("SELECT key FROM name WHERE space = %s", own))
    parts = sorted({(part, key) for (key,) in keys for part in parts_of(key)})
    statements: list[Statement] = []
    if parts:
        statements.append(
            (
                "INSERT INTO alias SELECT %s, u.* FROM unnest(%s::text[], %s::text[]) u",
                [space, *map(list, zip(*parts, strict=True))],
            )
        )
    for rows in list(_pages(session, space)):
        statements += insert_labels((node_of(tuple(row)), nid) for nid, *row in rows)
    top = "SELECT coalesce((SELECT max(nid) FROM node WHERE space = %s), 0), coalesce((SELECT max(eid) FROM embedding WHERE space = %s), 0)"
    *_, numbers = session.run(space, *statements, (top, own * 2))
    state = session.states[space]
    nid, eid = max(state.nid, numbers[0][0]), max(state.eid, numbers[0][1])
    # Whoever follows the log reads everything anew: the floor is where the new version begins.
    state = State(version=state.version + 1, nid=nid, eid=eid, floor=state.version + 1)
    session.states[space] = state
    session.dirty.add(space)
    session.run(space, ("DELETE FROM change WHERE space = %s", own))
    state = blocks.seal(session, space, state)
    session.states[space] = state
    session.run(space, put_state(space, state))


# --- room ---


def vacuum(
    database: Database, *, full: bool, partitions: Iterable[int] | None = None
) -> tuple[str, ...]:
    """Vacuum the tables, or some of their partitions; return what could not be done and why."""
    mode = "(FULL, ANALYZE)" if full else "(ANALYZE)"
    names = [
        table if partitions is None else f"{table}_{number}"
        for table in VACUUMED
        for number in (partitions or [0])
    ]
    try:
        with psycopg.connect(
            database.conninfo, autocommit=True, prepare_threshold=None, application_name="clew"
        ) as connection:
            for name in names if partitions is not None else [*SPLIT_TABLES, "space", "place"]:
                statement = sql.SQL("VACUUM {} {}").format(
                    sql.SQL(mode), sql.Identifier(database.schema, name)
                )
                connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return (
            "The role may not run VACUUM here; autovacuum will remove the deleted rows. Grant MAINTAIN on the tables to do it at once.",
        )
    except psycopg.Error as error:
        raise database.translation(error) from error
    return ()


def vacuum_spaces(database: Database, spaces: Iterable[str]) -> tuple[str, ...]:
    """Vacuum the partitions that hold some spaces."""
    (kept,) = database.ask("", "SELECT value FROM meta WHERE key = 'partitions'")
    count = int(kept[0])
    numbers = set()
    for space in spaces:
        held = ", ".join(
            f"satisfies_hash_partition(to_regclass(quote_ident(%s) || '.node')::oid, {count}, {number}, %s::text)"
            for number in range(count)
        )
        values = [value for _ in range(count) for value in (database.schema, space)]
        (row,) = database.ask("", f"SELECT ARRAY[{held}]", values)
        numbers.add(row[0].index(True))
    return vacuum(database, full=False, partitions=sorted(numbers))


def search_rows(database: Database, text: str) -> tuple[FileCheck, ...]:
    """Count the rows that hold a text, table by table."""
    if not text or "\0" in text:
        return ()
    queries = {
        "node": "SELECT count(*) FROM node WHERE strpos(text, %s) > 0 OR strpos(title, %s) > 0 OR strpos(context, %s) > 0 "
        "OR strpos(metadata, %s) > 0",
        "event": "SELECT count(*) FROM event WHERE strpos(detail, %s) > 0",
        "edge": "SELECT count(*) FROM edge WHERE strpos(evidence, %s) > 0",
        "mention": "SELECT count(*) FROM mention WHERE strpos(spelled, %s) > 0",
        "name": "SELECT count(*) FROM name WHERE strpos(name, %s) > 0",
        "record": "SELECT count(*) FROM record WHERE strpos(body, %s) > 0",
    }
    found = database.ask_all(
        None, *((query, [text] * query.count("%s")) for query in queries.values())
    )
    return tuple(
        FileCheck(f"table {table}", rows[0][0]) for table, rows in zip(queries, found, strict=True)
    )
