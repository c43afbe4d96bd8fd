"""What a filter asks of a node, as columns in memory: one definition for the vectors and for the words."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.store.sqlite.database import space_code
from clew.store.sqlite.rows import micros
from clew.types import Filter, Kind

SELECTED = "n.space, n.category, n.kind, n.archived, n.parent, n.t_valid, n.t_invalid, n.t_created, n.t_expired"
FOREVER = np.iinfo(np.int64).max
KINDS: dict[str, int] = {kind: code for code, kind in enumerate(Kind)}

Records = npt.NDArray[np.void]
Mask = npt.NDArray[np.bool_]


def name_code(name: str) -> int:
    """Return a 32-bit number for a category or a parent; a collision only costs a candidate that the last look at the row drops.

    Never 0, which stands for none.
    """
    return zlib.crc32(name.encode()) or 1


def fill(records: Records, values: Sequence[Sequence[Any]]) -> None:
    """Write the columns of nodes selected as SELECTED into records that have fields of these names."""
    space, category, kind, archived, parent, t_valid, t_invalid, t_created, t_expired = values
    spaces = {name: space_code(name) for name in set(space)}
    categories = {name: name_code(name) for name in set(category)}
    records["space"] = [spaces[name] for name in space]
    records["category"] = [categories[name] for name in category]
    records["kind"] = [KINDS[name] for name in kind]
    records["parent"] = [0 if id is None else name_code(id) for id in parent]
    records["archived"], records["t_valid"], records["t_created"] = archived, t_valid, t_created
    records["t_invalid"] = [FOREVER if at is None else at for at in t_invalid]
    records["t_expired"] = [FOREVER if at is None else at for at in t_expired]


def among(values: npt.NDArray[np.int64], ascending: npt.NDArray[np.int64]) -> Mask:
    """Tell of each value whether it is among others, which ascend.

    >>> among(np.array([7, 1, 3]), np.array([1, 2, 3])).tolist()
    [False, True, True]
    """
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    places = ascending.searchsorted(values)
    places[places == len(ascending)] = 0
    found: Mask = ascending[places] == values
    return found


@lru_cache(maxsize=64)
def _wanted(kinds: tuple[Kind, ...]) -> Mask:
    """Return for every code of a kind whether it is one of these: looking it up takes a tenth of the time of `isin`."""
    wanted = np.zeros(256, np.bool_)
    wanted[[KINDS[kind] for kind in kinds]] = True
    return wanted


def passing(column: Callable[[str], npt.NDArray[Any]], where: Filter) -> Mask:
    """Apply `clew.store.filters.passes` to whole columns, less what only labels know."""
    mask: Mask = column("space") == np.uint64(space_code(where.space))
    if where.kinds:
        mask &= _wanted(where.kinds).take(column("kind"))
    if where.categories:
        mask &= np.isin(column("category"), np.array([name_code(name) for name in where.categories], np.uint32))
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
        begun: Mask = column("t_valid") <= micros(where.as_of)
        if where.recorded_until is not None:
            begun |= (column("t_valid") == column("t_created")) & (column("t_valid") <= micros(where.recorded_until))
        mask &= begun & (column("t_invalid") > micros(where.as_of))
    if where.within:
        mask &= np.isin(column("parent"), np.array([0, *map(name_code, where.within)], np.uint32))
    if not where.archived:
        mask &= column("archived") == 0
    return mask
