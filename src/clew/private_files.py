"""Files and folders that only their owner can open, whatever the umask is."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def create_private_file(path: Path) -> int:
    """Create an empty file that did not exist, and return its descriptor, open for reading and writing."""
    descriptor = os.open(str(path), os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), FILE_MODE)
    if hasattr(os, "fchmod"):
        with suppress(OSError):  # a file system without modes
            os.fchmod(descriptor, FILE_MODE)  # a umask may have taken bits of the owner too
    return descriptor


def make_private_folder(path: Path) -> None:
    """Create a folder and those above it that are missing; folders that exist stay as they are."""
    if path.is_dir():
        return
    if path.parent != path:
        make_private_folder(path.parent)
    with suppress(FileExistsError):  # another process was quicker
        path.mkdir(mode=FOLDER_MODE)
        path.chmod(FOLDER_MODE)


def open_to_others(path: Path) -> bool:
    """Tell whether other users of this machine can read or write a file."""
    return os.name == "posix" and path.exists() and bool(path.stat().st_mode & 0o077)
