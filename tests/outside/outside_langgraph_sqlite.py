"""The tests of LangGraph's store in SQLite, with Clew in its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import langgraph.store.sqlite as framework
from outside_common import leave_out, open_memory

from clew.integrations.langgraph import ClewStore

INSIDE = "looks at the tables or the SQL of the other store"
LEFT_OUT = {
    "test_vector_store_initialization": INSIDE,
    "test_nonnull_migrations": INSIDE,
    "test_escape_glob_literal": INSIDE,
    "test_namespace_match_pattern": INSIDE,
    "test_list_namespaces_prefix_uses_indexable_condition": INSIDE,
    "test_sql_injection_vulnerability": "wants keys that are no SQL names refused; here no key becomes SQL",
}


class Store(ClewStore):
    @classmethod
    @contextmanager
    def from_conn_string(cls, path: str, *, index: Any = None) -> Iterator[ClewStore]:
        place = path if path == ":memory:" else f"{path}.clew"
        if index is None:
            with ClewStore(open_memory(place)) as store:
                yield store
            return
        with ClewStore.open(place, index={**index, "fields": index.get("text_fields")}) as store:
            yield store


ClewStore.setup = lambda self: None  # type: ignore[attr-defined]
framework.SqliteStore = Store


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    leave_out(config, items, LEFT_OUT)
