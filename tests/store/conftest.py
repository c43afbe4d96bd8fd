"""What most tests of the SQLite store need.

A file of their own, and a store on it that has a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clew.store.sqlite import SqliteStore
from clew.testing import MODEL


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.clew"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path)) as opened:
        opened.activate(MODEL)
        yield opened
