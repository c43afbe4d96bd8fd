"""Functions and classes stay whole where they fit; a large one is cut between its methods, then between statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.ingest.chunkers.languages import GRAMMARS, kinds_of, parser_of
from clew.ingest.chunkers.packing import as_one, chunks_of, pack
from clew.ingest.chunkers.plausible import is_plausible
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Chunk, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.recursive import Recursive
from clew.ingest.chunkers.scopes import Names, context_of
from clew.ingest.chunkers.tokens import estimate
from clew.ingest.chunkers.walk import CHARACTERS_A_TOKEN, Walk

MOST_ERRORS = 0.5  # a larger part of a file that does not parse says that it is something else


@dataclass(frozen=True, slots=True)
class Code:
    """Cuts along the syntax tree; the scopes around a chunk and the imports it uses are its context."""

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "code"

    @property
    def formats(self) -> frozenset[str]:
        """The languages with a grammar; any other text is cut as plain text, and so is one that does not parse."""
        return frozenset(GRAMMARS)

    def chunk(
        self, text: str, *, format: str = "text", options: ChunkOptions = DEFAULT_OPTIONS, units: Sequence[Unit] | None = None
    ) -> tuple[Chunk, ...]:
        """Return runs of whole definitions, and parts of those that are too large."""
        whole = as_one(text, count=self.count, options=options)
        if whole is not None:
            return whole
        source = text.encode(errors="surrogatepass")
        tree = _parsed(text, source, format) if format in GRAMMARS and not self._is_small(text, options) else None
        if tree is None:
            return Recursive(self.count).chunk(text, format=format, options=options, units=units)
        root = tree.root_node
        kinds = kinds_of(format)
        walk = Walk(text, source, root, kinds=kinds, count=self.count, options=options)
        names = Names(root, format, kinds=kinds)
        spans = pack(walk.row)
        texts = iter([text[span.start : span.end] for span in spans])

        def describe(owners: Sequence[int]) -> tuple[str, tuple[str, ...]]:
            scopes = walk.around(owners)
            return context_of(scopes, names.used(next(texts))), tuple(scope.name for scope in scopes)

        return chunks_of(walk.row, spans, describe)

    def _is_small(self, text: str, options: ChunkOptions) -> bool:
        """Tell whether a text is within the largest size, so that there is little to gain from parsing it."""
        return len(text) <= options.max_tokens * CHARACTERS_A_TOKEN and self.count(text) <= options.max_tokens


def _parsed(text: str, source: bytes, format: str) -> Any | None:
    """Return the syntax tree, if the text is a program for the most part."""
    parser = parser_of(format)
    if not is_plausible(text, format):
        return None
    tree = parser.parse(source)
    root = tree.root_node
    if not root.has_error:
        return tree
    wrong = sum(node.end_byte - node.start_byte for node in root.children if node.type == "ERROR")
    return None if root.type == "ERROR" or wrong > MOST_ERRORS * root.end_byte else tree
