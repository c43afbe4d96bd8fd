"""Ids as people type them: the beginning of one is enough where no other begins so.

Programs give whole ids, for there they are data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.errors import InputError

if TYPE_CHECKING:
    from clew.engine import Clew

LEAST_CHARACTERS = 6  # of an id that is not typed in full: fewer are more likely a slip than an id
WHOLE_CHARACTERS = 26
SHOWN = 5


def whole_id(clew: Clew, typed: str) -> str:
    """Return the one id that begins with what was typed.

    What begins none is returned as it is, and refused as unknown by whoever asks.
    """
    if (
        not LEAST_CHARACTERS <= len(typed) < WHOLE_CHARACTERS
        or not typed.isprintable()
        or clew.store.get([typed])
    ):
        return typed
    found = clew.store.beginning(typed.lower(), limit=SHOWN + 1)
    if len(found) > 1:
        shown = ", ".join(found[:SHOWN]) + (" and more" if len(found) > SHOWN else "")
        raise InputError(
            "id", typed, f"is how several ids begin: {shown}", "Type more of the one that is meant."
        )
    return found[0] if found else typed
