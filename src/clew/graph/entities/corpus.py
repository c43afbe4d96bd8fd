"""Which keys are too widespread to connect anything: what every second memory names tells none of them apart."""

from __future__ import annotations

from clew.errors import InputError

GENERIC_SHARE = 0.1  # of the documents; "United States", the widest key of 6,119 encyclopaedic passages, is in 3 %
FEWEST_HOLDING = 20  # documents: in a small store a name may well be in half of them


def generic(key: str, *, holding: int, total: int) -> bool:
    """Tell whether a key is named by too large a share of the documents to say anything; an empty key always is.

    >>> generic("team", holding=400, total=1000), generic("matt joyce", holding=40, total=1000), generic("toby", holding=6, total=9)
    (True, False, False)
    """
    if not 0 <= holding <= total:
        raise InputError("holding", holding, f"must lie between 0 and the {total} documents there are", "Count documents, not mentions.")
    return not key or (holding >= FEWEST_HOLDING and holding > GENERIC_SHARE * total)
