"""What a filter asks of a node, as columns in memory: one definition for the vectors and for the words."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.store.sqlite.database import space_code
from clew.store.sqlite.rows import micros
from clew.types import Filter, Kind

SELECTED = "n.space, n.category, n.kind, n.archived, n.t_valid, n.t_invalid, n.t_created, n.t_expired"
FOREVER = np.iinfo(np.int64).max
KINDS = {kind: code for code, kind in enumerate(Kind)}

Records = npt.NDArray[np.void]
Mask = npt.NDArray[np.bool_]


def category_code(category: str) -> int:
    """Return a 32-bit number for a category; a collision only costs a candidate that the last look at the row drops."""
    return zlib.crc32(category.encode())


def fill(records: Records, values: Sequence[Sequence[Any]]) -> None:
    """Write the columns of nodes selected as SELECTED into records that have fields of these names."""
    space, category, kind, archived, t_valid, t_invalid, t_created, t_expired = values
    codes_of_space = {name: space_code(name) for name in set(space)}
    records["space"] = [codes_of_space[name] for name in space]
    records["category"] = [category_code(name) for name in category]
    records["kind"] = [KINDS[Kind(name)] for name in kind]
    records["archived"], records["t_valid"], records["t_created"] = archived, t_valid, t_created
    records["t_invalid"] = [FOREVER if at is None else at for at in t_invalid]
    records["t_expired"] = [FOREVER if at is None else at for at in t_expired]


def passing(column: Callable[[str], npt.NDArray[Any]], where: Filter) -> Mask:
    """Apply `clew.store.filters.passes` to whole columns, less what only labels know."""
    mask: Mask = column("space") == np.uint64(space_code(where.space))
    if where.kinds:
        mask &= np.isin(column("kind"), [KINDS[kind] for kind in where.kinds])
    if where.categories:
        mask &= np.isin(column("category"), np.array([category_code(name) for name in where.categories], np.uint32))
    if where.since is not None:
        mask &= column("t_valid") >= micros(where.since)
    if where.until is not None:
        mask &= column("t_valid") <= micros(where.until)
    if where.known_at is None:
        mask &= column("t_expired") == FOREVER
    else:
        mask &= (column("t_created") <= micros(where.known_at)) & (column("t_expired") > micros(where.known_at))
    if where.as_of is None:
        mask &= column("t_invalid") > micros(where.now)
    else:
        mask &= (column("t_valid") <= micros(where.as_of)) & (column("t_invalid") > micros(where.as_of))
    if not where.archived:
        mask &= column("archived") == 0
    return mask
