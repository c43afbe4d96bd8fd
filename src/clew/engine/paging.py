"""Lists page by page: a cursor is where the page before was left off, so that what is written meanwhile neither repeats nor hides a row."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass

from clew.errors import InputError
from clew.ingest.fields import MAX_NAME_CHARACTERS, line
from clew.parsing import parse_json
from clew.ports import Sort
from clew.times import iso, parse_time
from clew.types import Node, Spot

WAY_OUT = "Pass the cursor of the page before as it came, with the same sort, or none for the first page."


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a list, and where it goes on; no cursor at its end."""

    nodes: tuple[Node, ...]
    cursor: str | None


def page_of(listed: tuple[Node, ...], *, sort: Sort, limit: int) -> Page:
    """Return the first `limit` of a list that was asked for one more, which tells whether it goes on."""
    shown = listed[:limit]
    return Page(shown, cursor_at(shown[-1], sort) if len(listed) > limit else None)


def cursor_at(last: Node, sort: Sort) -> str:
    """Return the cursor behind a node: opaque, and nothing in it that the node does not say."""
    value = {Sort.RECENT: 0, Sort.IMPORTANT: last.importance, Sort.POPULAR: last.accesses}[sort]
    told = json.dumps([sort, value, iso(last.t_valid), last.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def spot_at(cursor: object, sort: Sort) -> Spot:
    """Return where a cursor points, or raise an InputError."""
    if not isinstance(cursor, str):
        raise InputError("cursor", cursor, "must be text", WAY_OUT)
    try:
        told = parse_json(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
        other, value, t_valid, id = told
        spot = Spot(float(value), parse_time(t_valid, "cursor"), line("cursor", id, limit=MAX_NAME_CHARACTERS))
    except (binascii.Error, ValueError, TypeError, OverflowError, InputError) as error:
        raise InputError("cursor", cursor, "is not one that Clew gave", WAY_OUT) from error
    if other != sort:
        raise InputError("cursor", cursor, f"belongs to the order {other!s}, not to {sort}", WAY_OUT)
    return spot
