"""Token codes: the token vectors of a text, one bit for each number, and MaxSim against them.

Late interaction (ColBERT: Khattab and Zaharia, 2020) compares every token of a query with every token of a text. The
vectors of 60 tokens take 92 KB as float32; their signs take 2.9 KB, and on nine sets ranked as well in the sum with
words and the single vector. The query keeps its floats: it is never stored.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clew.types import Kind, Vectors

CODED_KINDS = (Kind.MEMORY, Kind.CHUNK)  # what recall returns; sections and documents are never rescored
MAX_TOKENS = 256  # kept of a text
_BLOCK = 256  # tokens multiplied at a time: 400 KB of float32 at 384 dimensions, which stay in the cache


def bytes_per_token(dimension: int) -> int:
    """Return how many bytes the code of one token takes.

    >>> bytes_per_token(384)
    48
    """
    return -(-dimension // 8)


def pack(vectors: Vectors) -> bytes:
    """Return the signs of the first MAX_TOKENS rows, one bit for each number.

    >>> pack(np.array([[0.5, -0.5, -0.5, 0.5, 0, 0, 0, 0]], np.float32)).hex()
    '90'
    """
    return np.packbits(vectors[:MAX_TOKENS] > 0, axis=1).tobytes()


def maxsim(query: Vectors, codes: Sequence[bytes]) -> Vectors:
    """Return for each query token (row) and each text (column) the best dot product with a token of the text.

    A token of a text counts as the unit vector of its signs. A text without tokens scores 0. Every column is the same
    to the last bit whichever texts stand beside it: BLAS chooses its order of summing by the number of rows, so all
    blocks have the same.
    """
    tokens, dimension = query.shape
    found = np.zeros((tokens, len(codes)), np.float32)
    size = bytes_per_token(dimension)
    counts = np.array([len(code) // size for code in codes], np.int64)
    there = np.flatnonzero(counts)
    if not tokens or not len(there):
        return found
    scores = _scores(query, b"".join(codes), size)
    starts = np.concatenate(([0], np.cumsum(counts[there])[:-1]))
    found[:, there] = np.maximum.reduceat(scores, starts, axis=0).T
    return found


def _scores(query: Vectors, codes: bytes, size: int) -> Vectors:
    """Return the dot product of each coded token (row) with each query token (column)."""
    tokens, dimension = query.shape
    count = len(codes) // size
    blocks = -(-count // _BLOCK)
    rows = np.frombuffer(codes + bytes((blocks * _BLOCK - count) * size), np.uint8).reshape(blocks, _BLOCK, size)
    # With bits b in {0, 1} the signs are 2b - 1, so that q·(2b - 1) = 2q·b - Σq.
    scale = np.float32(1 / np.sqrt(dimension))
    doubled = np.ascontiguousarray(query.T) * (2 * scale)
    bits = np.empty((_BLOCK, dimension), np.float32)
    scores = np.empty((blocks * _BLOCK, tokens), np.float32)
    for number, block in enumerate(rows):
        bits[...] = np.unpackbits(block, axis=1, count=dimension)
        np.matmul(bits, doubled, out=scores[number * _BLOCK : (number + 1) * _BLOCK])
    scores -= query.sum(axis=1) * scale
    return scores[:count]
