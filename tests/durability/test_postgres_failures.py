"""A server that restarts or is killed, and writers that are.

What was acknowledged is there, what was not is told.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.errors import StoreBusyError, StoreError
from clew.testing import MODEL, added, filled, node, where
from tests.postgres_fixtures import Database
from tests.postgres_server import Server

pytest.importorskip("psycopg", reason="psycopg is not installed (extra postgres)")

from clew.store.postgres import PostgresStore

WRITER = """
import sys
from clew.store.postgres import PostgresStore
from clew.testing import MODEL, added, node
store = PostgresStore.open(sys.argv[1])
for number in range(10_000):
    id = f"{sys.argv[2]}-{number:05}"
    added(store, [node(id, f"apple {number}")])
    print(id, flush=True)
"""


@pytest.fixture(scope="module")
def own_server(postgres_server: Server) -> Iterator[Server]:
    """A server of this module alone, which flushes what it commits."""
    server = Server.make(durable=True)
    try:
        server.start()
        server.run("postgres", "CREATE ROLE clew LOGIN", "CREATE DATABASE app OWNER clew")
        PostgresStore.open(server.url("app", user="clew"), partitions=1).close()
        yield server
    finally:
        server.stop()


def test_a_store_goes_on_after_its_server_was_killed(own_server: Server) -> None:
    with PostgresStore.open(own_server.url("app", user="clew")) as store:
        filled(store, [node("before", "apple")])
        own_server.kill()
        restarting = threading.Thread(target=own_server.start)
        restarting.start()
        added(store, [node("after", "apple")])  # waits for the server
        restarting.join()
        assert {match.id for match in store.sparse(["appl"], where(), limit=9)} == {
            "before",
            "after",
        }
        with pytest.raises(StoreError) as lost, store.transaction():
            store.insert([node("half", "apple")])
            own_server.kill()
            own_server.start()
            store.insert([node("other half", "apple")])
        assert "nothing of it was written" in str(lost.value) or isinstance(
            lost.value, StoreBusyError
        )
        assert list(store.get(["half", "other half"])) == []
        store.delete(["before", "after"])
        assert store.verify() == ()


def test_what_killed_writers_acknowledged_is_there(postgres: Database) -> None:
    with PostgresStore.open(postgres.url) as store:
        store.activate(MODEL)
        acknowledged = []
        for round_number in range(3):
            writers = [
                subprocess.Popen(
                    [sys.executable, "-c", WRITER, postgres.url, f"r{round_number}w{number}"],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for number in range(2)
            ]
            for writer in writers:
                assert writer.stdout is not None
                acknowledged += [writer.stdout.readline().strip() for _ in range(5)]
            for writer in writers:
                writer.send_signal(signal.SIGKILL)
            for writer in writers:
                assert writer.stdout is not None
                acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
                writer.wait()
                writer.stdout.close()
        assert set(acknowledged) <= set(store.get(acknowledged))
        assert {match.id for match in store.sparse(["appl"], where(), limit=100_000)} >= set(
            acknowledged
        )
        assert store.verify() == ()


def test_the_command_line_opens_a_store_by_its_url(postgres: Database, home: Path) -> None:
    def run(*words: str) -> str:
        command = [sys.executable, "-m", "clew", *words, "--store", postgres.url]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env={"HOME": str(home), "CLEW_MODEL__EMBEDDER": "hashing"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("add", "The staging database listens on port 5433.")
    assert "5433" in run("recall", "Where does the staging database listen?")
    assert '"nodes": 1' in run("stats", "--json")
    assert json.loads(run("verify", "--json"))["problems"] == []
