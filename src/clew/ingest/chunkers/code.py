"""Functions and classes stay whole where they fit; a large one is cut between its methods, then between statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.ingest.chunkers.languages import GRAMMARS, kinds_of, parser_of, syntax_tree
from clew.ingest.chunkers.packing import as_one, chunks_of, pack
from clew.ingest.chunkers.plausible import is_plausible
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Chunk, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.recursive import cut
from clew.ingest.chunkers.row import Row
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
        self,
        text: str,
        *,
        format: str = "text",
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,  # noqa: ARG002 - the syntax tree knows better
    ) -> tuple[Chunk, ...]:
        """Return runs of whole definitions, and parts of those that are too large."""
        whole = as_one(text, count=self.count, options=options)
        if whole is not None:
            return whole
        row = Row(text, count=self.count, options=options)
        source = text.encode(errors="surrogatepass")
        parsed = _parsed(text, source, format) if format in GRAMMARS and not _is_small(row) else None
        if parsed is None:
            return cut(row)
        (_tree, root), kinds = parsed, kinds_of(format)
        walk = Walk(row, source, root, kinds=kinds)
        names = Names(root, format, kinds=kinds)
        spans = pack(row)
        texts = iter([text[span.start : span.end] for span in spans])

        def describe(owners: Sequence[int]) -> tuple[str, tuple[str, ...]]:
            scopes = walk.around(owners)
            return context_of(scopes, names.used(next(texts))), tuple([scope.name for scope in scopes])

        return chunks_of(row, spans, describe)


def _is_small(row: Row) -> bool:
    """Tell whether a text is within the largest size, so that there is little to gain from parsing it."""
    return len(row.text) <= row.options.max_tokens * CHARACTERS_A_TOKEN and row.fits(0, len(row.text))


def _parsed(text: str, source: bytes, format: str) -> tuple[Any, Any] | None:
    """Return the syntax tree, which its nodes do not keep, and its root, if the text is a program for the most part."""
    parser_of(format)  # complains where the grammar is not installed, whatever the text is
    tree = syntax_tree(format, source) if is_plausible(text, format) else None
    if tree is None:
        return None
    root = tree.root_node
    if root.has_error:
        wrong = sum([node.end_byte - node.start_byte for node in root.children if node.is_error])
        if root.is_error or wrong > MOST_ERRORS * root.end_byte:
            return None
    return tree, root
