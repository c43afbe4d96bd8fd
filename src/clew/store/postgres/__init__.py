"""The scale-out store; see `clew.ports.Store`."""

from clew.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
