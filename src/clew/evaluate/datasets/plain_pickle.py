"""Pickles that hold plain values only: nothing in them is imported or called."""

from __future__ import annotations

import gzip
import io
import pickle
from typing import Any


class NotPlainError(Exception):
    """The bytes are no gzipped pickle of plain values."""


class _Plain(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Refuse every name: texts, numbers, lists and dicts need none, and code cannot run without one."""
        raise NotPlainError(
            f"it asks for {module_name}.{global_name}, which plain data does not need"
        )


def plain(content: bytes) -> Any:
    """Return the texts, numbers, lists and dicts in a gzipped pickle, or raise NotPlainError."""
    try:
        return _Plain(io.BytesIO(gzip.decompress(content))).load()
    except NotPlainError:
        raise
    except Exception as error:  # damaged bytes make the unpickler raise almost anything
        raise NotPlainError(str(error) or type(error).__name__) from error
