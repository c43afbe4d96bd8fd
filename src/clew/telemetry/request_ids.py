"""The name of the request that is being served, for everything that is logged on its behalf."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ID_BYTES = 12
_SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}")  # what can neither break a line nor pass for another field
_CURRENT: ContextVar[str] = ContextVar("clew_request_id", default="")


def current_request_id() -> str:
    """Return the id of the request in whose context this runs; empty outside of one."""
    return _CURRENT.get()


@contextmanager
def requested(id: str | None = None) -> Iterator[str]:
    """Serve a request under its id; a new one where none is given, or one that is unfit for a log.

    A thread of a pool sees it if its work is run in a copy of the context (`contextvars.copy_context().run`).

    >>> with requested("job-7") as id:
    ...     id, current_request_id()
    ('job-7', 'job-7')
    """
    chosen = id if id is not None and _SAFE.fullmatch(id) else os.urandom(ID_BYTES).hex()
    token = _CURRENT.set(chosen)
    try:
        yield chosen
    finally:
        _CURRENT.reset(token)
