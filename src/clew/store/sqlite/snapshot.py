"""Several reads of one moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read everything inside as of one moment."""
    begun = not connection.in_transaction
    if begun:
        connection.execute("BEGIN")
    try:
        yield
    finally:
        if begun and connection.in_transaction:  # an error may have ended it
            connection.execute("COMMIT")
