"""Clew: a memory and retrieval engine for agents. `clew.open(path)` is the way in.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.client import AsyncClient, Client
    from clew.engine import AsyncClew, Clew, restore_backup
    from clew.errors import ClewError

    # `clew.open` mirrors the builtin on purpose
    from clew.opening import open_memory as open  # noqa: A004
    from clew.search.state import Hit, Recall
    from clew.types import ConversationOutcome, Event, Filter, Message, Node, Outcome, Receipt

__version__ = "0.2.0"
__all__ = [
    "AsyncClew",
    "AsyncClient",
    "Clew",
    "ClewError",
    "Client",
    "ConversationOutcome",
    "Event",
    "Filter",
    "Hit",
    "Message",
    "Node",
    "Outcome",
    "Recall",
    "Receipt",
    "__version__",
    "open",
    "restore_backup",
]

_HOMES = {
    "AsyncClew": "clew.engine",
    "AsyncClient": "clew.client",
    "Client": "clew.client",
    "Clew": "clew.engine",
    "ClewError": "clew.errors",
    "ConversationOutcome": "clew.types",
    "Event": "clew.types",
    "Filter": "clew.types",
    "Hit": "clew.search.state",
    "Message": "clew.types",
    "Node": "clew.types",
    "Outcome": "clew.types",
    "Recall": "clew.search.state",
    "Receipt": "clew.types",
    "open": "clew.opening",
    "restore_backup": "clew.engine",
}

_NAMES = {"open": "open_memory"}


if not TYPE_CHECKING:  # a type checker knows the names, and no others

    def __getattr__(name: str) -> Any:
        """Load a public name from where it lives."""
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), _NAMES.get(name, name))
        raise AttributeError(f"module 'clew' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
