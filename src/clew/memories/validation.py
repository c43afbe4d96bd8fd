"""What a caller may put beside a text.

Each check returns the value as it is kept, or says what to do.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from clew.errors import InputError, clipped
from clew.parsing import ParseError, check_depth

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

# Keys of a message, and of a memory's metadata, that name who said it; a name says more than a
# role.
SPEAKERS = ("speaker", "author", "sender", "from", "name", "user", "username", "role")
# what is noted of every message in its metadata
SESSION, SPEAKER, ROLE = "session", "speaker", "role"
SPEAKER_CHARACTERS = 80
ROLES: Mapping[str, str] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "model"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
"""Each way to write a role, and the role that is kept."""
MAX_METADATA_DEPTH = 64
MAX_NAME_CHARACTERS = 200  # of a space, a tag, a keyword, an idempotency key: names, not texts
MOST_ESCAPED = 6  # characters of JSON for one of a text: \\u0000
PUNCTUATION = 4  # quotation marks, and what stands before the next text
MOST_SHOWN = 5  # kinds of control characters named in a note
# Control characters that are no white space, and halves of surrogate pairs, which no encoding can
# write.
CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")
SURROGATES = re.compile("[\ud800-\udfff]")
MAX_SOURCE_CHARACTERS = 2000  # as long as the longest address browsers and servers agree on


def role_of(speaker: str) -> str:
    """Return the role that a speaker's name stands for, or nothing.

    >>> role_of("Human"), role_of("Ann")
    ('user', '')
    """
    return ROLES.get(speaker.casefold(), "")


def message_metadata(speaker: str, role: str) -> dict[str, str]:
    """Return what the metadata of a message say of it.

    >>> message_metadata("Ann", "")
    {'speaker': 'Ann'}
    """
    return {name: value for name, value in ((SPEAKER, speaker), (ROLE, role)) if value}


def one_of(field: str, value: object, known: Sequence[str], *, way_out: str = "") -> str:
    """Return the value if it is known.

    Otherwise say which is nearest, which there are, and what else can be done.
    """
    if isinstance(value, str) and value in known:
        return str(value)
    import difflib  # noqa: PLC0415 - only the way to an error needs it

    near = difflib.get_close_matches(
        str(value).strip().casefold()[:MAX_NAME_CHARACTERS], known, n=1, cutoff=0.5
    )
    hint = f"Did you mean {str(near[0])!r}? " if near else ""
    raise InputError(
        field, value, "is not known", f"{hint}Known: {', '.join(known)}. {way_out}".rstrip()
    )


def share(field: str, value: object) -> float:
    """Return a number from 0 to 1."""
    try:
        number = (
            math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
        )
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    if not 0 <= number <= 1:  # never true of NaN
        raise InputError(
            field,
            value,
            "must be a number from 0 to 1",
            "Use 0.5 for the usual, 1 for what must not be missed.",
        )
    return number


def line(field: str, value: object, *, limit: int, empty: bool = False) -> str:
    """Return a text without control characters, of limited length, with white space in order."""
    if not isinstance(value, str):
        raise InputError(field, value, "must be text", "Put it in quotes.")
    if len(value) > limit:
        raise InputError(
            field,
            value,
            f"is longer than {limit} characters",
            "Shorten it; what is long belongs into the text.",
        )
    tidied = (
        " ".join(value.split())
        if value.isascii() and value.isprintable()
        else _orderly(field, value)
    )
    if not tidied and not empty:
        raise InputError(field, value, "is empty", "Name it, or leave it out.")
    return tidied


def _orderly(field: str, value: str) -> str:
    tidied = " ".join(unicodedata.normalize("NFC", value).split())
    if bad := next((each for each in tidied if unicodedata.category(each) in {"Cc", "Cs"}), None):
        raise InputError(
            field, value, f"holds the control character U+{ord(bad):04X}", "Remove it."
        )
    return tidied


def without_controls(value: Any, removed: Counter[str], pattern: re.Pattern[str] = CONTROLS) -> Any:
    r"""Return a value without control characters in its texts, and count each that was removed.

    Keys stay as they are.

    >>> found = Counter()
    >>> without_controls(["red \x1b[31m"], found), found
    (['red [31m'], Counter({'\x1b': 1}))
    """
    if isinstance(value, str):
        if value.isascii() and value.isprintable():  # as most are
            return value
        removed.update(pattern.findall(value))
        return pattern.sub("", value)
    if isinstance(value, Mapping):
        return {key: without_controls(each, removed, pattern) for key, each in value.items()}
    return (
        [without_controls(each, removed, pattern) for each in value]
        if isinstance(value, list | tuple)
        else value
    )


def removal_note(removed: Mapping[str, int]) -> str:
    r"""Return how many control characters were removed, and which.

    >>> removal_note({"\x00": 2, "\x1b": 1})
    'Removed 3 control characters: U+0000 (2), U+001B (1).'
    """
    total = sum(removed.values())
    shown = [f"U+{ord(each):04X} ({count})" for each, count in sorted(removed.items())[:MOST_SHOWN]]
    more = "" if len(removed) <= MOST_SHOWN else f" and {len(removed) - MOST_SHOWN} others"
    return (
        f"Removed {total:,} control character{'' if total == 1 else 's'}: {', '.join(shown)}{more}."
    )


def names(field: str, values: object, *, limit: int) -> tuple[str, ...]:
    """Return short texts without repeats, in order."""
    if values == ():
        return ()
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InputError(field, values, "must be a list of texts", f'Write {field}=["one", "two"].')
    found = tuple(dict.fromkeys(line(field, value, limit=MAX_NAME_CHARACTERS) for value in values))
    if len(found) > limit:
        raise InputError(
            field,
            found,
            f"has {len(found)} entries and may have {limit}",
            f"Drop some, or raise memory.max_{field}.",
        )
    return found


def plain_metadata(value: object, *, limit_bytes: int) -> dict[str, Any]:
    """Return metadata as the JSON it is stored as: nothing in it is changed in silence."""
    if type(value) is dict and _is_small(value, limit_bytes):
        return dict(value)
    way_out = "Use a mapping of text to texts, numbers, truth values, lists and mappings."
    try:
        check_depth(value, MAX_METADATA_DEPTH)
        plain = _plain(value)
        size = len(_JSON(plain).encode())
    except ParseError as error:
        raise InputError("metadata", value, str(error), way_out) from error
    except (TypeError, ValueError) as error:  # a lone surrogate cannot be encoded: a ValueError too
        raise InputError(
            "metadata", value, f"is not JSON: {clipped(str(error))}", way_out
        ) from error
    if not isinstance(plain, dict):
        raise InputError("metadata", value, "must be a mapping", way_out)
    if size > limit_bytes:
        raise InputError(
            "metadata",
            value,
            f"takes {size} bytes and may take {limit_bytes}",
            "Shorten it, or raise memory.max_metadata_bytes.",
        )
    return plain


def _is_small(metadata: dict[Any, Any], limit_bytes: int) -> bool:
    """Tell whether metadata is a few short texts, as most is.

    JSON whatever they hold, and below the limit if each sign were escaped.
    """
    texts = (*metadata, *metadata.values())
    if {*map(type, texts)} != {str}:
        return False
    written = "".join(texts)
    return (
        written.isascii() and MOST_ESCAPED * len(written) + PUNCTUATION * len(texts) < limit_bytes
    )


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if type(value) is dict or isinstance(value, Mapping):  # the first is asked in no time
        if not all(isinstance(key, str) for key in value):  # JSON would turn 1 into "1"
            raise TypeError("every key must be text")
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    raise TypeError(f"{type(value).__name__} has no form in JSON")
