"""The hint for a mistyped name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], *, see: str) -> str:
    """Return a sentence with the name that was probably meant, or where to look.

    >>> nearest("artic", ["arctic-embed-s", "hashing"], see="clew models list")
    'Did you mean arctic-embed-s?'
    >>> nearest("zzz", ["hashing"], see="clew models list")
    'Known are: hashing; see: clew models list'
    """
    choices = sorted(known)
    close = get_close_matches(name, choices, n=1, cutoff=0.4)
    return f"Did you mean {close[0]}?" if close else f"Known are: {', '.join(choices)}; see: {see}"
