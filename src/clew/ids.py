"""Names of nodes: unique everywhere, in the order they were made, without asking anyone.

The form is that of a ULID (github.com/ulid/spec) in small letters: 48 bits of milliseconds and 80
random ones, as 26 characters of Crockford's base 32. Sorting ids as text sorts them by time.
"""

from __future__ import annotations

import os
import threading
from datetime import datetime

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 26
# ten bits at a time: half as many steps
_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_PLACES = range(5 * (LENGTH - 2), -1, -10)
_RANDOM_BITS = 80
_STEP_BYTES = 8  # 2^16 ids of one millisecond fit before the next one is borrowed from
_LIMIT = 1 << 128

_lock = threading.Lock()
_last = 0


def new_id(now: datetime) -> str:
    """Return an id above every id this process made before, also when the clock stands still or goes back.

    The step above the last id is random: two processes forked from one share its last id, not the
    next.
    """
    global _last  # noqa: PLW0603 - the order within a process is a property of the process
    milliseconds = max(0, int(now.timestamp() * 1000))
    fresh = milliseconds << _RANDOM_BITS | int.from_bytes(os.urandom(_RANDOM_BITS // 8))
    with _lock:
        _last = (
            fresh
            if milliseconds > _last >> _RANDOM_BITS
            else _last + 1 + int.from_bytes(os.urandom(_STEP_BYTES))
        )
        return _encoded(_last % _LIMIT)


def _encoded(number: int) -> str:
    return "".join([_PAIRS[number >> place & 1023] for place in _PLACES])
