"""The conformance suite of the Store port, for the PostgreSQL store on a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clew.ports import Store
from clew.testing import StoreConformance
from tests.postgres_fixtures import Database

pytest.importorskip("psycopg", reason="psycopg is not installed (extra postgres)")

from clew.store.postgres import PostgresStore


class TestPostgresStore(StoreConformance):
    url: str

    @pytest.fixture
    def store(self, postgres: Database) -> Iterator[PostgresStore]:
        self.url = postgres.url
        store = PostgresStore.open(self.url)
        yield store
        store.close()

    def second_handle(self, store: Store) -> PostgresStore:
        return PostgresStore.open(self.url)

    def reopen(self, store: Store) -> PostgresStore:
        store.close()
        return PostgresStore.open(self.url)
