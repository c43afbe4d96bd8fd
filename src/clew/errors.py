"""Every error Clew raises, in one tree.

    ClewError
    ├── InputError               a value the caller gave cannot be used            exit 2
    │   └── SettingError         a configuration key or value is wrong
    ├── RefusedError             understood, and not done                          exit 1
    │   ├── NotFoundError        no such memory
    │   ├── DuplicateError       the memory exists and the caller asked for an error
    │   ├── ProtectedError       the memory is protected
    │   ├── ForbiddenError       the caller may not do this, or not there
    │   └── UnauthorisedError    nobody knows who the caller is
    ├── StoreError               the store cannot do it                            exit 3
    │   ├── NotAStoreError       the file is something else
    │   ├── NewerSchemaError     written by a later version of Clew
    │   ├── StoreBusyError       another process held the file for too long
    │   ├── StoreFullError       the disk is full
    │   ├── ReadOnlyError        the file or its folder cannot be written
    │   └── CorruptStoreError    the file is damaged
    ├── RemoteError              a server did not do it                            exit 3
    │   └── UnreachableError     it does not answer
    ├── MissingPackageError      a library that is an extra is not installed       exit 3
    └── ModelError               the embedding model cannot do it                  exit 3
        ├── ModelMissingError    not on this machine and not fetched
        ├── ModelMismatchError   the store holds another model's vectors
        ├── DownloadError        a pull failed or its hash was wrong
        └── ModelServiceError    an embedding server answered with an error

Each carries a stable `code`, the facts as fields, and a message that says what to do next.
"""

from __future__ import annotations

import reprlib
from typing import Any, ClassVar

ECHOED_CHARACTERS = 200  # the most that an error repeats of a value
CLIPPED_CHARACTERS = 100  # of a longer one, once in the message and once in the facts
# of a name that is over the limit: it may stand in a field, a source and a hint
NAME_CHARACTERS = 40
# of a value on one line: enough to recognise it, too little to flood a terminal
SHOWN_CHARACTERS = 80


class ClewError(Exception):
    """The root of all errors.

    `code` is stable across versions, the wording of the message is not.
    """

    code: ClassVar[str] = "clew.error"

    def __init__(self, message: str, **facts: Any) -> None:
        """Keep the message for people and the facts for programs.

        A long fact is clipped where the message repeats it.
        """
        for value in facts.values():
            if isinstance(value, str) and len(value) > ECHOED_CHARACTERS and value in message:
                message = message.replace(
                    value, clipped(value, to=CLIPPED_CHARACTERS // message.count(value))
                )
        super().__init__(message)
        self.message = message
        self.facts = facts

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON-ready data, the same on every surface."""
        return {
            "code": self.code,
            "message": self.message,
            **{key: plain_fact(value) for key, value in self.facts.items()},
        }


def plain_fact(value: Any) -> Any:
    """Return a fact as a JSON scalar; facts may hold anything a caller passed, of any size."""
    if isinstance(value, str):
        return clipped(value)
    return value if isinstance(value, float | bool | None) or _is_short(value) else shown(value)


def _is_short(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() < 2 * ECHOED_CHARACTERS


class InputError(ClewError):
    """A value the caller gave cannot be used."""

    code = "input.invalid"

    def __init__(self, field: str, value: object, problem: str, way_out: str) -> None:
        """Name the field, the value, what is wrong with it and the way out."""
        told = clipped(field, to=NAME_CHARACTERS)
        super().__init__(
            f"{told}: {problem} (got {shown(value)}). {way_out}", field=told, value=value
        )
        self.field = field
        self.value = value
        self.problem = problem


class SettingError(InputError):
    """A configuration key or value is wrong."""

    code = "setting.invalid"


class RefusedError(ClewError):
    """The request was understood and not carried out."""

    code = "refused"


class NotFoundError(RefusedError):
    """No memory has this id."""

    code = "refused.not_found"


class DuplicateError(RefusedError):
    """The memory exists already and the caller asked for an error."""

    code = "refused.duplicate"


class ProtectedError(RefusedError):
    """The memory is protected from forgetting."""

    code = "refused.protected"


class ForbiddenError(RefusedError):
    """The caller's grant does not cover it; says nothing about what is there."""

    code = "refused.forbidden"


class UnauthorisedError(RefusedError):
    """No token was given where one is needed, or one that is not known."""

    code = "refused.unauthorised"


class StoreError(ClewError):
    """The store cannot do what was asked."""

    code = "store.error"


class NotAStoreError(StoreError):
    """The file is not a Clew store."""

    code = "store.not_a_store"


class NewerSchemaError(StoreError):
    """The store was written by a later version of Clew."""

    code = "store.newer_schema"


class StoreBusyError(StoreError):
    """Another process held the store for longer than the busy timeout."""

    code = "store.busy"


class StoreFullError(StoreError):
    """The disk is full; the write was rolled back."""

    code = "store.full"


class ReadOnlyError(StoreError):
    """The store or its folder cannot be written."""

    code = "store.read_only"


class CorruptStoreError(StoreError):
    """The store file is damaged."""

    code = "store.corrupt"


class ModelError(ClewError):
    """The embedding model cannot do what was asked."""

    code = "model.error"


class ModelMissingError(ModelError):
    """The model is not on this machine and may not or cannot be fetched."""

    code = "model.missing"


class ModelMismatchError(ModelError):
    """The store holds vectors of another model."""

    code = "model.mismatch"


class DownloadError(ModelError):
    """A model file could not be fetched, or was not what the catalogue pins."""

    code = "model.download"


class ModelServiceError(ModelError):
    """An embedding server answered with an error."""

    code = "model.service"


class RemoteError(ClewError):
    """A server answered in a way that has no other error."""

    code = "remote.error"


class UnreachableError(RemoteError):
    """A server does not answer."""

    code = "remote.unreachable"


class MissingPackageError(ClewError):
    """A library that belongs to an extra is not installed."""

    code = "package.missing"


_SHORT = reprlib.Repr()
_SHORT.maxlevel = _SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = (
    _SHORT.maxfrozenset
) = 6
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = SHOWN_CHARACTERS


def shown(value: object) -> str:
    """Show a value of any size and content on one line.

    >>> shown("a" * 200)[:12]
    "'aaaaaaaaaaa"
    """
    try:
        # Of lists and mappings only the first entries: a few that hold each other stand for more
        # than fits in memory.
        text = repr(value) if isinstance(value, str | bytes) else _SHORT.repr(value)
    except (
        RecursionError,
        ValueError,
    ):  # nested a thousand deep, or a number with more digits than Python spells out
        text = f"a {type(value).__name__} that cannot be shown"
    if len(text) <= SHOWN_CHARACTERS:
        return text
    # The end too: it tells one file from another in the same folder.
    short = clipped(text, over=SHOWN_CHARACTERS, to=SHOWN_CHARACTERS)
    return f"{short} ({len(text)} characters)" if isinstance(value, str | bytes) else short


def clipped(text: str, *, over: int = ECHOED_CHARACTERS, to: int = CLIPPED_CHARACTERS) -> str:
    """Return the beginning and the end of a text that is over a length.

    >>> clipped("/home/dana/memories.clew", over=20, to=12)
    '/home/….clew'
    """
    if len(text) <= over:
        return text
    tail = (to - 1) // 2
    return f"{text[: to - 1 - tail]}…{text[len(text) - tail :]}"
