"""What a forked child must renew: locks that another thread held, threads that do not exist there, connections of the parent."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable


def after_fork(renew: Callable[[], None]) -> None:
    """Call a bound method in every child that this process forks from now on, as long as its object lives."""
    if not hasattr(os, "register_at_fork"):  # a system without fork
        return
    reference = weakref.WeakMethod(renew)

    def run() -> None:
        method = reference()
        if method is not None:
            method()

    os.register_at_fork(after_in_child=run)
