"""What a process has spent so far: calls, tokens, milliseconds (X9)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from clew.forking import after_fork
from clew.recall.state import Recall
from clew.words import token_estimate

UNCOUNTED = 256  # texts that may wait to be counted: a few milliseconds of work, so seldom that asking for it costs nothing

Later = Callable[[Callable[[], None]], object]
"""Has work done, in another thread if there is one."""


def at_once(work: Callable[[], None]) -> None:
    """Do it here and now."""
    work()


class Ledger:
    """Running totals since it was made. Counting tokens takes longer than a recall may pay, so it waits and is done elsewhere."""

    def __init__(self, later: Later = at_once) -> None:
        self._later = later
        self._sums: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._milliseconds = 0.0
        self._waiting: list[str] = []
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        """Make the locks; in a forked child anew, for another thread of the parent may have held one."""
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._called = False  # whether somebody is on the way to count what is waiting; the parent's is not on its way here

    def recalled(self, answer: Recall, seconds: float) -> None:
        """Add one answer."""
        texts = [hit.context or hit.text for hit in answer.hits]
        with self._lock:
            self._sums["recalls"] += 1
            self._sums["nothing_relevant"] += answer.nothing_relevant
            self._milliseconds += seconds * 1e3
            self._waiting += texts
            due = len(self._waiting) >= UNCOUNTED and not self._called
            self._called = self._called or due
        if due:
            self._later(self._count)

    def wrote(self, counts: Mapping[str, int]) -> None:
        """Add what became of memories and files that were offered."""
        with self._lock:
            self._outcomes.update(counts)

    def failed(self) -> None:
        """Add one operation that was refused or went wrong."""
        with self._lock:
            self._sums["errors"] += 1

    def embedded(self, texts: int) -> None:
        """Add one call of the model."""
        with self._lock:
            self._sums["embedding_calls"] += 1
            self._sums["texts_embedded"] += texts

    def _count(self) -> None:
        """Count what is waiting; who comes meanwhile waits, so that whoever asks for the sums has all of them."""
        with self._counting:
            with self._lock:
                waiting, self._waiting, self._called = self._waiting, [], False
            tokens = sum(map(token_estimate, waiting))
            with self._lock:
                self._sums["tokens_returned"] += tokens

    def totals(self) -> dict[str, Any]:
        """Return the sums: what was recalled, what that cost, and what became of what was written."""
        self._count()
        with self._lock:
            names = ("recalls", "nothing_relevant", "errors", "embedding_calls", "texts_embedded", "tokens_returned")
            sums = {name: self._sums[name] for name in names}
            return {**sums, "recall_milliseconds": round(self._milliseconds, 3), "writes": dict(sorted(self._outcomes.items()))}
