"""What a fork must leave in order.

Locks that another thread held, threads that do not exist in the child, connections.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable


def after_fork(renew: Callable[[], None]) -> None:
    """Call a bound method in every child that this process forks from now on, as long as its object lives."""
    around_fork(child=renew)


def around_fork(
    *,
    child: Callable[[], None],
    before: Callable[[], None] | None = None,
    parent: Callable[[], None] | None = None,
) -> None:
    """Call bound methods before each fork of this process and on either side after it, as long as their object lives."""
    if not hasattr(os, "register_at_fork"):  # a system without fork
        return
    handlers = {"after_in_child": _weakly(child)}
    if before is not None:
        handlers["before"] = _weakly(before)
    if parent is not None:
        handlers["after_in_parent"] = _weakly(parent)
    os.register_at_fork(**handlers)


def _weakly(method: Callable[[], None]) -> Callable[[], None]:
    reference = weakref.WeakMethod(method)

    def run() -> None:
        living = reference()
        if living is not None:
            living()

    return run
