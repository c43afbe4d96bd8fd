"""The libraries that only some files need, loaded when the first of them comes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from clew.ingest.readers.document import UnreadableError


def load(module: str, *, reads: str) -> Any:
    """Return a module, or say which extra brings it.

    >>> load("no_such_library", reads="stone tablets")
    Traceback (most recent call last):
    clew.ingest.readers.document.UnreadableError: stone tablets need a library that is not installed (no_such_library). \
Install it with: pip install 'clew[docs]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        reason = f"{reads} need a library that is not installed ({module.partition('.')[0]})"
        raise UnreadableError(reason, "Install it with: pip install 'clew[docs]'") from error
