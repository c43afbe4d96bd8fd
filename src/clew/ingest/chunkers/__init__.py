"""How is a long text cut? One port, one way to count, and a chunker for each kind of structure."""

from __future__ import annotations

from clew.ingest.chunkers.code import Code
from clew.ingest.chunkers.conversation import Conversation
from clew.ingest.chunkers.fixed import Fixed
from clew.ingest.chunkers.html import Html
from clew.ingest.chunkers.markdown import Markdown
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Boundary, Chunk, Chunker, ChunkOptions, Embed, TokenCounter, Unit
from clew.ingest.chunkers.recursive import Recursive
from clew.ingest.chunkers.semantic import Semantic
from clew.ingest.chunkers.structural import Structural, chunker_for
from clew.ingest.chunkers.tokens import RunCounts, estimate

__all__ = [
    "DEFAULT_OPTIONS",
    "Boundary",
    "Chunk",
    "ChunkOptions",
    "Chunker",
    "Code",
    "Conversation",
    "Embed",
    "Fixed",
    "Html",
    "Markdown",
    "Recursive",
    "RunCounts",
    "Semantic",
    "Structural",
    "TokenCounter",
    "Unit",
    "chunker_for",
    "estimate",
]
