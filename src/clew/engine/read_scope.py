"""Let a store on a server answer several reads of one recall as of one look at it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, runtime_checkable

from clew.ports import Store


@runtime_checkable
class SupportsReadScope(Protocol):
    """A store that saves round trips when it knows that several reads belong together."""

    def read_scope(self) -> AbstractContextManager[None]:
        """Answer this thread's reads inside as of the first that asked, where that saves a round trip."""


def read_scope(store: Store) -> AbstractContextManager[None]:
    """Return a context for reads that belong together.

    It does nothing for a store without such a scope.
    """
    return store.read_scope() if isinstance(store, SupportsReadScope) else nullcontext()
