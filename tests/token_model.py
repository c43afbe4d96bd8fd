"""A model for tests that gives tokens.

One for each word, with a vector that depends on the word and on the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from clew.models.vectors import HashingEmbedder, unit
from clew.ports import EmbedRole, SpannedText, TokenEmbeddings
from clew.token_codes import MAX_TOKENS, pack
from clew.types import Vectors

WORD = re.compile(r"\S+")


class TokenModel(HashingEmbedder):
    """Counts how many texts it was given, by how it was asked."""

    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)
        self.plain: list[str] = []
        self.spanned: list[list[SpannedText]] = []

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        self.plain += texts
        return super().embed(texts, role=role)

    def embed_tokens(self, texts: Sequence[SpannedText], *, role: EmbedRole) -> TokenEmbeddings:
        self.spanned.append(list(texts))
        vectors = super().embed([each.text for each in texts], role=role)
        return TokenEmbeddings(vectors, [self.tokens(each) for each in texts])

    def count(self, text: str) -> int:
        """Return how many words a text has."""
        return len(WORD.findall(text))

    def tokens(self, spanned: SpannedText) -> Vectors:
        """Return the token vectors of a text's spans."""
        words = list(WORD.finditer(spanned.text))
        if not words:
            return np.zeros((0, self.dimension), np.float32)
        said = super().embed([word.group() for word in words], role=EmbedRole.PASSAGE)
        read = said + 0.5 * np.concatenate([said[:1], said[:-1]])
        inside = [
            at
            for at, word in enumerate(words)
            if any(start <= word.start() < end for start, end in spanned.spans)
        ]
        return unit(read)[inside][:MAX_TOKENS]

    def codes(self, text: str, *spans: tuple[int, int]) -> bytes:
        """Return the token codes of a text, or of some spans of it."""
        return pack(self.tokens(SpannedText(text, spans) if spans else SpannedText.whole(text)))
