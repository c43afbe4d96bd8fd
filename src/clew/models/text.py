"""What any embedder can be given, made of what any user can write."""

from __future__ import annotations

# A token of byte-pair vocabularies is about 4 bytes of English and 2.5 of Chinese: within this a text of either
# stays below a server's limit, and a text of 10 MB costs no more than its beginning.
BYTES_PER_TOKEN = 2.5
# For libraries that cut by tokens themselves: only far too long a text is shortened beforehand.
CHARACTERS_PER_TOKEN = 64


def sendable(text: str, *, max_tokens: int) -> str:
    r"""Return text that every JSON server takes: valid Unicode, no NUL, not blank, and not too long.

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
    """Return text that every tokenizer takes: valid Unicode, and not so long that cutting it takes seconds."""
    return text[: max_tokens * CHARACTERS_PER_TOKEN].encode("utf-8", "ignore").decode("utf-8")
