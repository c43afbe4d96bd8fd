"""Reject low-quality chunks, after their context was added."""

from __future__ import annotations

from dataclasses import dataclass

from clew.recall.state import Hit, Rejection
from clew.types import Kind
from clew.words import words

STAGE = "gate"


@dataclass(frozen=True, slots=True)
class Gate:
    """Rejects chunks of low quality, stubs, and chunks too short to be understood alone; memories always pass."""

    min_quality: float
    min_words: int
    excluded_stubs: tuple[str, ...]

    def __call__(self, hit: Hit) -> Rejection | None:
        """Return why a hit is rejected, or None."""
        node = hit.node
        if node is None or node.kind is not Kind.CHUNK:
            return None
        quality = node.quality
        if quality is not None and quality.stub in self.excluded_stubs:
            return Rejection(id=hit.id, stage=STAGE, reason=f"stub:{quality.stub}", value=quality.overall, limit=self.min_quality)
        if quality is not None and quality.overall < self.min_quality:
            return Rejection(id=hit.id, stage=STAGE, reason="quality", value=quality.overall, limit=self.min_quality)
        count = len(words(hit.context or node.text))
        if not hit.context and count < self.min_words:
            return Rejection(id=hit.id, stage=STAGE, reason="too_short", value=float(count), limit=float(self.min_words))
        return None
