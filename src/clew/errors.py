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
    └── ModelError               the embedding model cannot do it                  exit 3
        ├── ModelMissingError    not on this machine and not fetched
        ├── ModelMismatchError   the store holds another model's vectors
        ├── DownloadError        a pull failed or its hash was wrong
        └── ModelServiceError    an embedding server answered with an error

Each carries a stable `code`, the facts as fields, and a message that says what to do next.
"""

from __future__ import annotations

from typing import Any, ClassVar


class ClewError(Exception):
    """The root of all errors; `code` is stable across versions, the wording of the message is not."""

    code: ClassVar[str] = "clew.error"

    def __init__(self, message: str, **facts: Any) -> None:
        """Keep the message for people and the facts for programs."""
        super().__init__(message)
        self.message = message
        self.facts = facts

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON-ready data, the same on every surface."""
        return {"code": self.code, "message": self.message, **{key: _plain(value) for key, value in self.facts.items()}}


def _plain(value: Any) -> Any:
    """Facts may hold anything a caller passed; only JSON scalars go out as they are."""
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


class InputError(ClewError):
    """A value the caller gave cannot be used."""

    code = "input.invalid"

    def __init__(self, field: str, value: object, problem: str, way_out: str) -> None:
        """Name the field, the value, what is wrong with it and the way out."""
        super().__init__(f"{field}: {problem} (got {shown(value)}). {way_out}", field=field, value=value)
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


SHOWN_CHARACTERS = 80  # enough to recognise a value, too little to flood a terminal


def shown(value: object) -> str:
    """Show a value of any size and content on one line.

    >>> shown("a" * 200)[:12]
    "'aaaaaaaaaaa"
    """
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested a thousand deep, or a number with more digits than Python spells out
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}… ({len(text)} characters)"
