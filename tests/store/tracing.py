"""What SQLite is asked while something runs."""

from __future__ import annotations

from collections.abc import Callable

from clew.store.sqlite import SqliteStore


def statements(store: SqliteStore, run: Callable[[], object]) -> list[str]:
    """Return what SQLite is asked meanwhile, by this thread."""
    asked: list[str] = []
    connection = store._database.connection
    connection.set_trace_callback(asked.append)
    run()
    connection.set_trace_callback(None)
    return asked
