"""Keyed hashes of forgotten texts.

Enough to recognise a text that is offered again, too little to read it.
"""

from __future__ import annotations

import hashlib
import zlib

KEY_BYTES = 32
DIGEST_BYTES = 16


def key_fault(key: object, kept_sum: object = None) -> str | None:
    """Return why a value is not the key that a store was given; None if it can be.

    A key of an older Clew has no checksum.
    """
    if type(key) is not bytes or len(key) != KEY_BYTES:
        return f"it is not a key of {KEY_BYTES} bytes"
    return None if kept_sum is None or kept_sum == zlib.crc32(key) else "its checksum differs"


def tombstone(key: bytes, space: str, content_hash: str) -> bytes:
    """Return the digest under which a store remembers that a text of a space was forgotten.

    The key is a random secret of the store and the space is part of the input: digests of two
    stores, or of two spaces, cannot be compared.
    """
    return hashlib.blake2b(
        f"{space}\0{content_hash}".encode(), key=key, digest_size=DIGEST_BYTES
    ).digest()
