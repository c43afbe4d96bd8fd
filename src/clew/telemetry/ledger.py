"""What a process has spent so far: calls, tokens, milliseconds (X9)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

from clew.forking import after_fork
from clew.recall.state import Recall

COUNTED = ("recalls", "nothing_relevant", "errors", "embedding_calls", "texts_embedded", "texts_reranked")
BYTES_PER_TOKEN = 4  # of UTF-8, about; counting words as a token budget does would cost as much as a recall


class Ledger:
    """Running totals since it was made."""

    def __init__(self) -> None:
        self._sums: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._milliseconds = 0.0
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        """Make the lock; in a forked child anew, for another thread of the parent may have held it."""
        self._lock = threading.Lock()

    def recalled(self, answer: Recall, seconds: float) -> None:
        """Add one answer."""
        size = sum(len((hit.context or hit.text).encode(errors="surrogatepass")) for hit in answer.hits)
        with self._lock:
            self._sums["recalls"] += 1
            self._sums["nothing_relevant"] += answer.nothing_relevant
            self._sums["bytes_returned"] += size
            self._sums["texts_reranked"] += answer.reranked
            self._milliseconds += seconds * 1e3

    def wrote(self, counts: Mapping[str, int]) -> None:
        """Add what became of memories and files that were offered."""
        with self._lock:
            for outcome, count in counts.items():  # a Counter's own way asks what it was given
                self._outcomes[outcome] += count

    def failed(self) -> None:
        """Add one operation that was refused or went wrong."""
        with self._lock:
            self._sums["errors"] += 1

    def embedded(self, texts: int) -> None:
        """Add one call of the model."""
        with self._lock:
            self._sums["embedding_calls"] += 1
            self._sums["texts_embedded"] += texts

    def add(self, totals: Mapping[str, Any]) -> None:
        """Add what another process has written and embedded."""
        self.wrote(totals["writes"])
        with self._lock:
            for name in ("errors", "embedding_calls", "texts_embedded"):
                self._sums[name] += totals[name]

    def totals(self) -> dict[str, Any]:
        """Return the sums: what was recalled, what that cost, and what became of what was written."""
        with self._lock:
            sums = {name: self._sums[name] for name in COUNTED}
            spent = {
                "tokens_returned": self._sums["bytes_returned"] // BYTES_PER_TOKEN,
                "recall_milliseconds": round(self._milliseconds, 3),
            }
            return {**sums, **spent, "writes": dict(sorted(self._outcomes.items()))}
