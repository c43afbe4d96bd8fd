"""Which paths a request may name: those that lie, with every link followed, below a folder that the settings allow."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clew.errors import ForbiddenError, InputError


class Roots:
    """The folders below which files may be imported; none, unless the settings name some."""

    def __init__(self, folders: Iterable[str]) -> None:
        """Take the folders as they are written; they are looked up anew for every request."""
        self._folders = tuple(folders)

    def opened(self, path: str) -> Path:
        """Return the real place of a path, absolute or below a root, or raise: nothing is said of what lies outside."""
        if not self._folders:
            raise ForbiddenError(
                "This server imports no paths. Send the data itself, or allow a folder with the setting serve.import_roots."
            )
        if not path or "\0" in path:
            raise InputError("path", path, "is no path", "Name a file or a folder.")
        for folder in self._folders:
            root = Path(folder).expanduser().resolve()
            if (found := _below(root, path)) is not None:
                return found
        # One answer for what is not there and for what is elsewhere: a caller must not learn which files this machine has.
        raise ForbiddenError(
            "There is no such file or folder below those that may be imported. See the setting serve.import_roots.", path=path
        )


def _below(root: Path, path: str) -> Path | None:
    try:
        real = (root / path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # not there, not readable, a loop of links, a name that no file can have
        return None
    return real if real.is_relative_to(root) else None
