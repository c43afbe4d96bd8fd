"""The conformance suite of the Store port, for the store in memory."""

from __future__ import annotations

import pytest

from clew.store.memory import MemoryStore
from clew.testing import StoreConformance


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()
