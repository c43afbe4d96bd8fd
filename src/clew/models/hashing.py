"""An embedder that needs no model: words and character n-grams hashed into signed buckets.

For tests and for trying things out. Texts that share words or parts of words are similar; it knows
nothing of meaning, so it is no substitute for a model and never a default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice

import numpy as np

from clew.errors import InputError
from clew.models.vectors import unit
from clew.ports import Background, EmbedRole
from clew.types import Vectors

DEFAULT_DIMENSION = 256
SMALLEST, LARGEST = 16, 4096
MAX_WORDS = 8192
MAX_WORD_CHARACTERS = 64  # the n-grams of a longer "word" are noise
WORD = re.compile(r"\w+")
NGRAM_LENGTHS = (3, 4)
NGRAM_WEIGHT = 0.35  # a whole word counts about as much as the n-grams of a middling one together
REMEMBERED_WORDS = 20_000


class HashingEmbedder:
    """Gives the same vector for the same text, on every machine, without loading anything."""

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        """Take the length of the vectors."""
        if not SMALLEST <= dimension <= LARGEST:
            raise InputError("model", f"hashing-{dimension}", f"the dimension must lie in {SMALLEST}..{LARGEST}", "Try hashing-256.")
        self._dimension = dimension
        self._word = lru_cache(REMEMBERED_WORDS)(self._word_vector)

    @property
    def id(self) -> str:
        """The name under which vectors are stored."""
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        return self._dimension

    @property
    def background(self) -> Background:
        """The mean cosine of unrelated texts, which share stop words: queries and texts of four public sets."""
        return Background(cosine=0.08, passages=0.1)

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut to this many words."""
        return MAX_WORDS

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:  # noqa: ARG002 - the two sides are embedded alike
        """Return one unit vector per text, in order."""
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return unit(np.stack([self._text(text) for text in texts]))

    def _text(self, text: str) -> Vectors:
        words = (match[0].casefold() for match in islice(WORD.finditer(text), MAX_WORDS))
        total = np.zeros(self._dimension, dtype=np.float32)
        for word in words:
            total += self._word(word[:MAX_WORD_CHARACTERS])
        return total

    def _word_vector(self, word: str) -> Vectors:
        vector = np.zeros(self._dimension, dtype=np.float32)
        for feature, weight in _features(word):
            # "surrogatepass": text may hold anything a Python string can.
            number = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
            vector[(number >> 1) % self._dimension] += weight if number & 1 else -weight
        return vector


def _features(word: str) -> Iterator[tuple[str, float]]:
    yield word, 1.0
    framed = f"<{word}>"  # so that a beginning differs from a middle
    for length in NGRAM_LENGTHS:
        for start in range(len(framed) - length + 1):
            yield framed[start : start + length], NGRAM_WEIGHT
