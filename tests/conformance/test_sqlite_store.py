"""The conformance suite of the Store port, for the SQLite store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.ports import Store
from clew.store.sqlite import SqliteStore
from clew.testing import StoreConformance


class TestSqliteStore(StoreConformance):
    path: Path

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SqliteStore]:
        self.path = tmp_path / "memory.clew"
        store = SqliteStore.open(self.path)
        yield store
        store.close()

    def second_handle(self, store: Store) -> SqliteStore:
        return SqliteStore.open(self.path)

    def reopen(self, store: Store) -> SqliteStore:
        store.close()
        return SqliteStore.open(self.path)
