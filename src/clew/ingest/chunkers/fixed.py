"""Windows of equal size: the chunker that every other one must beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.ingest.chunkers.packing import as_one, chunks_of, pack
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Chunk, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.row import Row
from clew.ingest.chunkers.tokens import estimate


@dataclass(frozen=True, slots=True)
class Fixed:
    """Cuts every `target_tokens`, between words; each chunk begins with the last `overlap_tokens` of the one before."""

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "fixed"

    @property
    def formats(self) -> frozenset[str]:
        """Plain text: it knows of no structure."""
        return frozenset({"text"})

    def chunk(
        self,
        text: str,
        *,
        format: str = "text",  # noqa: ARG002 - the same for every format
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,  # noqa: ARG002 - it asks for no structure
    ) -> tuple[Chunk, ...]:
        """Return windows that end between words."""
        whole = as_one(text, count=self.count, options=options)
        if whole is not None:
            return whole
        row = Row(text, count=self.count, options=options)
        row.add_words(0, len(text))
        return chunks_of(row, pack(row))
