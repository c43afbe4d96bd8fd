"""Keyed hashes of forgotten texts: enough to recognise a text that is offered again, too little to read it."""

from __future__ import annotations

import hashlib

KEY_BYTES = 32
DIGEST_BYTES = 16


def tombstone(key: bytes, space: str, content_hash: str) -> bytes:
    """Return the digest under which a store remembers that a text of a space was forgotten.

    The key is a random secret of the store and the space is part of the input: digests of two stores, or of two
    spaces, cannot be compared.
    """
    return hashlib.blake2b(f"{space}\0{content_hash}".encode(), key=key, digest_size=DIGEST_BYTES).digest()
