"""Who may do what, and where: one predicate, asked before anything is read, written or told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Right(StrEnum):
    """What a caller may do in a space; none of them holds another."""

    READ = "read"
    """Recall, look at and explain what is there."""
    WRITE = "write"
    """Remember, import, change and forget."""
    ADMIN = "admin"
    """Export, archive what faded, and, of the whole store, back up, check, load and count."""


EVERY_RIGHT = frozenset(Right)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a caller may do."""

    name: str
    rights: frozenset[Right]
    spaces: frozenset[str] | None = frozenset()
    """The spaces it holds for; None for every space and the store as a whole."""


OWNER = Grant(name="owner", rights=EVERY_RIGHT, spaces=None)
"""Whoever can open the file can do everything with it."""


def may(grant: Grant, right: Right, space: str | None) -> bool:
    """Tell whether a grant covers a right in a space, or in the store as a whole (None).

    >>> reader = Grant(name="bot", rights=frozenset({Right.READ}), spaces=frozenset({"team"}))
    >>> may(reader, Right.READ, "team"), may(reader, Right.WRITE, "team"), may(reader, Right.READ, "hr"), may(reader, Right.READ, None)
    (True, False, False, False)
    """
    return right in grant.rights and (grant.spaces is None or (space is not None and space in grant.spaces))


def known_to(grant: Grant, space: str) -> bool:
    """Tell whether a grant may know at all that something is in a space: then a lacking right is named, else nothing is there."""
    return any(may(grant, right, space) for right in Right)
