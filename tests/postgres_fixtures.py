"""One PostgreSQL server for a test session, and an empty store in it for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.postgres_server import Server, why_missing

# as many partitions as tell that there are several; each costs every test a table to empty
PARTITIONS = 2


@dataclass(frozen=True, slots=True)
class Database:
    """A database with a role that row-level security binds, and an empty store."""

    server: Server
    url: str
    name: str = "app"

    def empty(self) -> None:
        """Delete all rows, as the superuser, whom no row-level security binds."""
        self.server.run(self.name, EMPTY)


EMPTY = """
DO $$ DECLARE found record; filled boolean; BEGIN
    FOR found IN SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'clew' AND c.relkind = 'r' AND c.relname <> 'meta' LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM clew.%I)', found.relname) INTO filled;
        IF filled THEN EXECUTE format('TRUNCATE clew.%I', found.relname); END IF;
    END LOOP;
    DELETE FROM clew.meta WHERE key = 'tombstone_key';
END $$
"""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A server that flushes nothing, shared by all tests of the session."""
    reason = why_missing()
    if reason is not None:
        assert os.environ.get("CI") != "true", f"{reason}, and CI must run these tests"
        pytest.skip(reason)
    server = Server.make()
    try:
        server.start()
        server.run("postgres", "CREATE ROLE clew LOGIN", "CREATE DATABASE app OWNER clew")
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def _postgres_store(postgres_server: Server) -> Database:
    from clew.store.postgres import PostgresStore

    found = Database(postgres_server, postgres_server.url("app", user="clew"))
    PostgresStore.open(found.url, partitions=PARTITIONS).close()
    return found


@pytest.fixture
def postgres(_postgres_store: Database) -> Database:
    """An empty store on the server of the session."""
    _postgres_store.empty()
    return _postgres_store
