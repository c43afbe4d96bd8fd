"""Quantize token vectors to one bit per dimension (token codes) and compute MaxSim against them.

Late interaction (ColBERT: Khattab and Zaharia, 2020) compares every token of a query with every
token of a text. The vectors of 60 tokens take 92 KB as float32; their signs take 2.9 KB and ranked
as well on nine sets, in the sum with BM25 and the single vector. The query is not quantized,
because it is never stored.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clew.types import Kind, Vectors

# the kinds that recall returns; sections and documents are never rescored
CODED_KINDS = (Kind.MEMORY, Kind.CHUNK)
MAX_TOKENS = 256  # kept per text
# Tokens per matrix product. OpenBLAS uses several threads for a larger product (m·n·k > 2^18); they
# are so short that
# waiting for them took 25 times the CPU time on a busy machine.
_PRODUCT, _MIN_BLOCK, _MAX_BLOCK = 1 << 18, 4, 64


def bytes_per_token(dimension: int) -> int:
    """Return the number of bytes of one token code.

    >>> bytes_per_token(384)
    48
    """
    return -(-dimension // 8)


def pack(vectors: Vectors) -> bytes:
    """Return the sign bits of the first MAX_TOKENS rows.

    >>> pack(np.array([[0.5, -0.5, -0.5, 0.5, 0, 0, 0, 0]], np.float32)).hex()
    '90'
    """
    return np.packbits(vectors[:MAX_TOKENS] > 0, axis=1).tobytes()


def maxsim(query: Vectors, codes: Sequence[bytes]) -> Vectors:
    """Return for each query token (row) and each text (column) the best dot product with a token of the text.

    A text token is the unit vector of its signs. A text without tokens scores 0. Each column is
    bit-identical whatever the other texts are: BLAS chooses its order of summation by the number of
    rows, so all blocks have the same number.
    """
    tokens, dimension = query.shape
    found = np.zeros((tokens, len(codes)), np.float32)
    size = bytes_per_token(dimension)
    counts = np.array([len(code) // size for code in codes], np.int64)
    nonempty = np.flatnonzero(counts)
    if not tokens or not len(nonempty):
        return found
    scores = _scores(query, b"".join(codes), size)
    starts = np.concatenate(([0], np.cumsum(counts[nonempty])[:-1]))
    found[:, nonempty] = np.maximum.reduceat(scores, starts, axis=0).T
    return found


def _scores(query: Vectors, codes: bytes, size: int) -> Vectors:
    """Return the dot product of each coded token (row) with each query token (column)."""
    tokens, dimension = query.shape
    count, block = (
        len(codes) // size,
        max(_MIN_BLOCK, min(_MAX_BLOCK, _PRODUCT // (tokens * dimension))),
    )
    blocks = -(-count // block)
    rows = np.frombuffer(codes + bytes((blocks * block - count) * size), np.uint8).reshape(
        blocks, block, size
    )
    # With bits b in {0, 1} the signs are 2b - 1, so that q·(2b - 1) = 2q·b - Σq.
    scale = np.float32(1 / np.sqrt(dimension))
    doubled = np.ascontiguousarray(query.T) * (2 * scale)
    bits = np.empty((block, dimension), np.float32)
    scores = np.empty((blocks * block, tokens), np.float32)
    for number, some in enumerate(rows):
        bits[...] = np.unpackbits(some, axis=1, count=dimension)
        np.matmul(bits, doubled, out=scores[number * block : (number + 1) * block])
    scores -= query.sum(axis=1) * scale
    return scores[:count]
