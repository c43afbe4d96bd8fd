"""Random damage: whatever happens to a store's files, every operation answers or raises a Clew error.

A small store with something of everything is damaged in its main file, in its journal or in a
single cell, and then opened, read, written, verified and repaired. A raw Python exception is a
fault, and so is a crash, a hang, and a store that is not sound after a repair that could be done.
Mutations are drawn from a seed. The benchmark runs them in processes of their own; the tests run a
hundred in theirs.
"""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import clew
from clew.errors import ClewError, CorruptStoreError

PAGE = 4096
_PER_PROCESS = 50
_PATIENCE_SECONDS = 300.0  # a mutation that takes longer hangs, on however busy a machine
_WORDS = "ladder printer kettle piano tent cellar kitchen garage Postgres staging Ada Lovelace Berlin Lisbon March invoice".split()
_OPTIONS: dict[str, Any] = {
    "model": {"embedder": "hashing-64"},
    "duplicates": {"near": False},
    "store": {"synchronous": "NORMAL"},
}
_QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("where is the ladder", {}),
    ("what do we know about Berlin in March", {"recipe": "agent"}),
    ("kettle", {"as_of": "2026-01-01"}),
)
_NOTES = 70  # from 64 on a store has postings


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What many mutations came to; sound when there are no faults."""

    mutations: int
    seed: int
    refused: int
    """Stores that could not be opened."""
    found: int
    """Stores in which `verify` found damage."""
    repaired: int
    """Of these the ones that were sound after `verify --repair`."""
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Original:
    """A sound store: its files while it is open, so with a journal, and its ids."""

    files: dict[str, bytes]
    ids: tuple[str, ...]


@dataclass
class Result:
    """What became of one damaged store."""

    mutation: str
    opened: bool = False
    damaged: bool = False
    repaired: bool = False
    faults: list[str] = field(default_factory=list)


# --- a store to damage ---


def make_original(folder: Path, *, seed: int, notes: int = _NOTES) -> Original:
    """Make a store with something of everything in it, and return its files as they are while it is open."""
    draw = random.Random(seed)
    path = folder / "original.clew"
    with clew.open(path, **_OPTIONS) as memory:
        ids = [
            str(
                memory.remember(
                    f"Note {n}: the {draw.choice(_WORDS)} of {draw.choice(_WORDS)} is near the {draw.choice(_WORDS)}.",
                    tags=["home"] if n % 3 else [],
                    metadata={"n": n, "where": draw.choice(_WORDS)} if n % 2 else {},
                    title=draw.choice(_WORDS) if n % 5 == 0 else None,
                    importance=draw.random(),
                    idempotency_key=f"key-{n}" if n % 7 == 0 else None,
                ).id
            )
            for n in range(notes)
        ]
        memory.import_data(
            "# Guide\n\nThe kettle is old.\n\n## Cellar\n\nThe ladder stands in the cellar.\n",
            name="guide.md",
        )
        memory.compact()
        memory.supersede(ids[0], "Note 0 says that the ladder was sold.")
        memory.invalidate(ids[1])
        memory.expire(ids[2])
        memory.protect(ids[3])
        memory.link(ids[4], ids[5], evidence="seen together")
        memory.update(ids[6], title="Another title", tags=["changed"])
        memory.remember("Note 3 is told of again in other words.", source="again")
        memory.forget(ids[7])
        memory.store.keep("token", "t1", {"name": "agent", "spaces": ["default"]})
        memory.recall("where is the ladder")
        memory.stats()  # writes the accesses
        files = {suffix: Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal")}
    return Original(files, tuple(ids))


# --- damage ---


def mutate(original: Original, path: Path, draw: random.Random) -> str:
    """Write a damaged copy of the store to a path; return what was done to it."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    if draw.random() < 0.5:
        _write(path, original.files)
        return _changed_cell(path, draw)
    suffix = draw.choice(["", "", "-wal"])
    content = original.files[suffix]
    damage = draw.choice(_DAMAGES)
    _write(path, {**original.files, suffix: damage(content, draw)})
    return f"{damage.__name__.strip('_')} in {'the journal' if suffix else 'the main file'}"


def _write(path: Path, files: dict[str, bytes]) -> None:
    for suffix, content in files.items():
        Path(f"{path}{suffix}").write_bytes(content)


def _flipped_bits(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 8, 64))):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _random_bytes(content: bytes, draw: random.Random) -> bytes:
    at, size = draw.randrange(len(content)), draw.choice((1, 4, 64, PAGE))
    return (content[:at] + draw.randbytes(size) + content[at + size :])[: len(content)]


def _zeroed_page(content: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(content)) // PAGE * PAGE
    return content[:at] + bytes(min(PAGE, len(content) - at)) + content[at + PAGE :]


def _truncated(content: bytes, draw: random.Random) -> bytes:
    return content[
        : draw.choice((draw.randrange(len(content)), draw.randrange(len(content)) // PAGE * PAGE))
    ]


def _inserted_bytes(content: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(content))
    return content[:at] + draw.randbytes(draw.choice((1, 7, PAGE))) + content[at:]


def _duplicated_page(content: bytes, draw: random.Random) -> bytes:
    pages = max(1, len(content) // PAGE)
    source, target = draw.randrange(pages) * PAGE, draw.randrange(pages) * PAGE
    return content[:target] + content[source : source + PAGE] + content[target + PAGE :]


def _appended_bytes(content: bytes, draw: random.Random) -> bytes:
    return content + draw.randbytes(draw.choice((1, PAGE, 3 * PAGE)))


_DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flipped_bits,
    _flipped_bits,
    _random_bytes,
    _zeroed_page,
    _truncated,
    _inserted_bytes,
    _duplicated_page,
    _appended_bytes,
)

_VALUES: tuple[tuple[str, str], ...] = (
    ("a large number", "9223372036854775807"),
    ("a negative number", "-9223372036854775808"),
    ("zero", "0"),
    ("a fraction", "0.25"),
    ("infinity", "9e999"),
    ("a text", "'text'"),
    ("an empty text", "''"),
    ("text that is not UTF-8", "CAST(x'c3285b80ff' AS TEXT)"),
    ("half a JSON list", "'[\"a\", '"),
    ("a JSON number", "'5'"),
    ("half a character in JSON", "'[\"\\ud800\"]'"),
    ("deep JSON", "replace(printf('%5000s', ''), ' ', '[')"),
    ("bytes", "x'00ff00ff'"),
    ("many bytes", "randomblob(4096)"),
    ("nothing", "NULL"),
)


def _changed_cell(path: Path, draw: random.Random) -> str:
    """Give one cell another value, past Clew and as far as SQLite lets it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        rows = connection.execute(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name <> 'sqlite_stat1'"
        ).fetchall()
        filled = [
            (table, column)
            for table, column in rows
            if connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone()
        ]
        table, column = draw.choice(filled)
        name, value = draw.choice(
            (
                *_VALUES,
                ("other text", f'substr("{column}", 1, 3) || \'x\' || substr("{column}", 5)'),
            )
        )
        with suppress(sqlite3.Error):  # what a constraint forbids, or a table without rowid
            (count,) = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()
            (at,) = connection.execute(
                f'SELECT rowid FROM "{table}" LIMIT 1 OFFSET ?', (draw.randrange(count),)
            ).fetchone()
            connection.execute(
                f'UPDATE OR IGNORE "{table}" SET "{column}" = {value} WHERE rowid = ?', (at,)
            )
            return f"{name} in {table}.{column}"
        with suppress(sqlite3.Error):
            connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = {value}')
        return f"{name} in {table}.{column} of all rows"


# --- use ---


def exercise(path: Path, original: Original, mutation: str) -> Result:
    """Use a damaged store in every way; return what went wrong that must not."""
    result = Result(mutation)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        memory = _attempt(result, "open", lambda: clew.open(path, **_OPTIONS))
        if memory is not None:
            result.opened = True
            with memory:
                _use(memory, original, result)
                _repair(memory, original, result)
            _attempt(result, "open again", lambda: clew.open(path, **_OPTIONS).close())
    return result


def _attempt(result: Result, what: str, do: Callable[[], Any]) -> Any:
    """Run something that may answer or raise a Clew error, and nothing else."""
    try:
        return do()
    except CorruptStoreError:
        result.damaged = True
    except ClewError:
        pass
    except Exception as error:  # what must not come out
        result.faults.append(f"{result.mutation}: {what}: {type(error).__name__}: {error}"[:500])
    return None


def _operations(memory: clew.Clew, ids: tuple[str, ...]) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "stats", memory.stats
    yield (
        "list",
        lambda: [memory.recent(200), memory.important(200, least=0), memory.popular(200, least=0)],
    )
    yield "list tagged", lambda: memory.recent(50, where={"tags": ["home"]})
    for id in ids[:9]:
        yield "get", partial(memory.get, id)
    yield "get all", lambda: memory.store.get(ids)
    yield "history", lambda: [memory.history(id) for id in ids[:6]]
    yield "versions", lambda: memory.versions(ids[0])
    yield "related", lambda: memory.related(ids[4])
    yield "export", lambda: list(memory.export())
    yield "decay", memory.decay
    yield "kept", lambda: memory.store.kept("token")
    yield (
        "remember",
        lambda: memory.remember("The damaged store took one more note about the ladder."),
    )
    yield "update", lambda: memory.update(ids[8], title="A title", tags=["x"])
    yield "link", lambda: memory.link(ids[9], ids[10])
    yield "supersede", lambda: memory.supersede(ids[11], "Note 11 says something else now.")
    yield "forget", lambda: memory.forget(ids[12])


def _traced(memory: clew.Clew, answer: clew.Recall) -> str:
    return json.dumps(memory.trace(answer), allow_nan=False)


def _use(memory: clew.Clew, original: Original, result: Result) -> None:
    for query, options in _QUESTIONS:
        answer = _attempt(result, f"recall {query}", partial(memory.recall, query, **options))
        if answer is not None:
            _attempt(result, "trace", partial(_traced, memory, answer))
    for what, do in _operations(memory, original.ids):
        _attempt(result, what, do)


def _repair(memory: clew.Clew, original: Original, result: Result) -> None:
    problems = _attempt(result, "verify", memory.verify)
    result.damaged |= bool(problems)
    if problems == () and not result.damaged:  # the damage fell on bytes that mean nothing
        return
    _salvage(memory, result)
    after = _attempt(result, "repair", lambda: memory.verify(repair=True))
    if after == ():
        result.repaired = True
        _use_repaired(memory, original, result)
    elif after and not any(problem.check in ("file", "objects") for problem in after):
        result.faults.append(f"{result.mutation}: not sound after repair: {after[0]}")


def _salvage(memory: clew.Clew, result: Result) -> None:
    """Export around the damage; what is exported must load."""
    lines = _attempt(
        result, "export what is left", lambda: list(memory.export(on_damage=lambda _: None))
    )
    if lines is not None:
        with clew.open(":memory:", **_OPTIONS) as copy:
            if (
                _attempt(result, "load what is left", lambda: copy.load(lines, skip_invalid=True))
                is None
            ):
                result.faults.append(f"{result.mutation}: what was exported cannot be loaded")


def _use_repaired(memory: clew.Clew, original: Original, result: Result) -> None:
    """Use a store that was repaired; nothing in it may be damaged any more."""
    known = result.damaged
    result.damaged = False
    operations: list[tuple[str, Callable[[], Any]]] = [
        ("reembed", memory.reembed),
        *_operations(memory, original.ids),
    ]
    operations.append(("recall", partial(memory.recall, "the ladder")))
    for what, do in operations:
        _attempt(result, f"{what} after repair", do)
    if result.damaged or _attempt(result, "verify after repair", memory.verify) != ():
        result.faults.append(f"{result.mutation}: damaged after repair")
    result.damaged = known


# --- many of them ---


def run_range(
    first: int, count: int, *, seed: int, folder: Path, notes: int = _NOTES
) -> Iterator[Result]:
    """Damage and use stores in this process, each drawn from the seed and its number."""
    original = make_original(folder, seed=seed, notes=notes)
    for number in range(first, first + count):
        path = folder / "damaged.clew"
        mutation = f"{number}: {mutate(original, path, random.Random(f'{seed}/{number}'))}"
        yield exercise(path, original, mutation)
        for left in folder.glob("damaged.clew*"):
            left.unlink()


def run(count: int, seed: int, *, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Run mutations in processes of their own, so that a crash or a hang is a fault like any other."""
    faults: list[str] = []
    tally: Counter[str] = Counter()
    for first in range(0, count, _PER_PROCESS):
        for line in _process(first, min(_PER_PROCESS, count - first), seed, faults):
            result = json.loads(line)
            tally["refused"] += not result["opened"]
            tally["found"] += result["opened"] and result["damaged"]
            tally["repaired"] += result["repaired"]
            faults += result["faults"]
        progress(f"  {min(first + _PER_PROCESS, count):,} mutations, {len(faults)} faults")
    return Report(
        mutations=count,
        seed=seed,
        refused=tally["refused"],
        found=tally["found"],
        repaired=tally["repaired"],
        faults=tuple(faults),
    )


def _process(first: int, count: int, seed: int, faults: list[str]) -> list[str]:
    """Run some mutations in a process of their own; return a line for each that it finished."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="clew-mutations-") as folder:
        command = [
            sys.executable,
            "-m",
            "benchmarks.mutations",
            str(first),
            str(count),
            str(seed),
            folder,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            if child.stdout is None:
                raise RuntimeError("the child has no pipe")
            while line := _line_in_time(child, child.stdout):
                lines.append(line)
        if child.returncode:
            ended = f"ended with {child.returncode}: a crash, or a hang of {_PATIENCE_SECONDS:g} s"
            faults.append(f"{first + len(lines)}: the process {ended}")
    return lines


def _line_in_time(child: subprocess.Popen[str], stdout: IO[str]) -> str:
    watchdog = threading.Timer(_PATIENCE_SECONDS, child.kill)
    watchdog.start()
    try:
        return stdout.readline()
    finally:
        watchdog.cancel()


def _main() -> None:
    first, count, seed = map(int, sys.argv[1:4])
    for result in run_range(first, count, seed=seed, folder=Path(sys.argv[4])):
        print(json.dumps(asdict(result)), flush=True)


if __name__ == "__main__":
    _main()
