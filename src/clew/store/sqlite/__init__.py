"""The default store: one SQLite file, no loadable extension, no server."""

from clew.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
