"""The promise of the Embedder port about its numbers, kept in one place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np

from clew.errors import InputError, ModelServiceError
from clew.ports import Background, EmbedRole
from clew.types import Vectors

SMALLEST_NORM = 1e-12  # below this a vector has no direction worth keeping


def unit(rows: Any) -> Vectors:
    """Scale each row to length one in float32; a row without direction becomes the first axis.

    A static table gives the zero vector for a text without a known word. The port promises unit
    vectors, and any fixed direction is as good as another for a text that says nothing.
    """
    matrix = np.array(rows, dtype=np.float32, ndmin=2)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    nothing = norms[:, 0] < SMALLEST_NORM
    if nothing.any():
        matrix[nothing], norms[nothing] = 0.0, 1.0
        matrix[nothing, 0] = 1.0
    return np.ascontiguousarray(matrix / norms, dtype=np.float32)


def from_service(rows: Sequence[Any], *, count: int, dimension: int | None, who: str) -> Vectors:
    """Return a server's answer as unit vectors, or say what is wrong with it.

    Nothing is repaired.
    """
    if len(rows) != count:
        raise ModelServiceError(
            f"{who} answered with {len(rows)} vectors for {count} texts.",
            expected=count,
            got=len(rows),
        )
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelServiceError(
            f"{who} answered with vectors that are not rows of numbers of one length."
        ) from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ModelServiceError(
            f"{who} answered with vectors that are not rows of numbers of one length."
        )
    if dimension is not None and matrix.shape[1] != dimension:
        raise ModelServiceError(
            f"{who} answered with vectors of {matrix.shape[1]} dimensions where {dimension} were expected; it may serve another model now.",
            expected=dimension,
            got=matrix.shape[1],
        )
    if not np.isfinite(matrix).all() or (np.linalg.norm(matrix, axis=1) < SMALLEST_NORM).any():
        raise ModelServiceError(f"{who} answered with a vector that is zero or not finite.")
    return unit(matrix)


# What any embedder can be given, made of what any user can write.

# A token of byte-pair vocabularies is about 4 bytes of English and 2.5 of Chinese: within this a
# text of either
# stays below a server's limit, and a text of 10 MB costs no more than its beginning.
BYTES_PER_TOKEN = 2.5
# For libraries that cut by tokens themselves: only far too long a text is shortened beforehand.
CHARACTERS_PER_TOKEN = 64


def sendable(text: str, *, max_tokens: int) -> str:
    r"""Return text that every JSON server takes.

    Valid Unicode, no NUL, not blank, and not too long.

    >>> sendable("a\ud800b\x00c", max_tokens=10)
    'ab c'
    >>> sendable("", max_tokens=10)
    ' '
    """
    limit = int(max_tokens * BYTES_PER_TOKEN)
    # A character is at least a byte, so no more than `limit` characters can matter.
    kept = text[:limit].encode("utf-8", "ignore")[:limit].decode("utf-8", "ignore")
    return kept.replace("\x00", " ") or " "  # several servers refuse an empty string


def cut(text: str, *, max_tokens: int) -> str:
    """Return text that every tokenizer takes.

    Valid Unicode, and not so long that cutting it takes seconds.
    """
    return text[: max_tokens * CHARACTERS_PER_TOKEN].encode("utf-8", "ignore").decode("utf-8")


# An embedder that needs no model: words and character n-grams hashed into signed buckets.
#
# For tests and for trying things out. Texts that share words or parts of words are similar; it
# knows
# nothing of meaning, so it is no substitute for a model and never a default.

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
            raise InputError(
                "model",
                f"hashing-{dimension}",
                f"the dimension must lie in {SMALLEST}..{LARGEST}",
                "Try hashing-256.",
            )
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
        """The mean cosine of unrelated texts, which share stop words.

        Queries and texts of four public sets.
        """
        return Background(cosine=0.08, passages=0.1)

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut to this many words."""
        return MAX_WORDS

    # The two sides are embedded alike
    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:  # noqa: ARG002
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
            number = int.from_bytes(
                blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
            )
            vector[(number >> 1) % self._dimension] += weight if number & 1 else -weight
        return vector


def _features(word: str) -> Iterator[tuple[str, float]]:
    yield word, 1.0
    framed = f"<{word}>"  # so that a beginning differs from a middle
    for length in NGRAM_LENGTHS:
        for start in range(len(framed) - length + 1):
            yield framed[start : start + length], NGRAM_WEIGHT
