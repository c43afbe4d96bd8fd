"""What the plug-ins share: a memory that needs no model, and tests left out with a reason."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import clew

HASHING: dict[str, Any] = {"model": {"embedder": "hashing"}}


def open_memory(path: Any = ":memory:") -> clew.Clew:
    """Return a memory without a model."""
    return clew.open(path, **HASHING)


def leave_out(
    config: Any, items: list[Any], reasons: Mapping[str, str], *, needs: Sequence[str] = ()
) -> None:
    """Deselect tests by their names, and those whose source does not name what was put in place."""
    kept, out = [], []
    for item in items:
        function = getattr(item, "originalname", item.name)
        source = inspect.getsource(item.function)
        concerned = (
            not needs
            or item.module.__name__.startswith("outside_")
            or any(name in source for name in needs)
        )
        (out if function in reasons or not concerned else kept).append(item)
    config.hook.pytest_deselected(items=out)
    items[:] = kept
