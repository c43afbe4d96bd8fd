"""Something expensive, made on first use and only once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calls a function when its result is first wanted; several threads wait for one call.

    A call that raises is not remembered: the next one tries again.

    >>> answer = Lazy(lambda: print("made") or 42)
    >>> answer(), answer()
    made
    (42, 42)
    """

    def __init__(self, make: Callable[[], T]) -> None:
        """Take the function; it is not called yet."""
        self._make = make
        self._lock = Lock()
        self._made: tuple[T] | None = None  # a tuple, so that None is a result too

    def __call__(self) -> T:
        """Return the result, making it first if need be."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = (self._make(),)
        return self._made[0]
