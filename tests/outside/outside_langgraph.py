"""The tests of LangGraph's store in memory, with Clew in its place."""

from __future__ import annotations

from typing import Any

import langgraph.store.memory as framework
from outside_common import leave_out, open_memory

from clew.integrations.langgraph import ClewStore


class Store(ClewStore):
    def __init__(self, *, index: Any = None) -> None:
        if index is None:
            super().__init__(open_memory())
            return
        opened = ClewStore.open(":memory:", index=index)
        super().__init__(opened.memory, fields=index.get("fields"))
        self.index_config = opened.index_config


framework.InMemoryStore = Store


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    leave_out(config, items, {}, needs=("InMemoryStore", "MockAsyncBatchedStore"))
