"""Rows as a Clew wrote them that knew no checksums."""

from __future__ import annotations

from typing import Any

from clew.store.sqlite.rows import insertion
from clew.types import Node


def unsealed(node: Node) -> tuple[str, tuple[Any, ...]]:
    """Return the statement that inserts a node without a checksum, and its values."""
    statement, values = insertion(node)
    return statement.replace(', "checksum"', "").replace("?, ", "", 1), tuple(values[:-1])
