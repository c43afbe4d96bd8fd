"""Read what a user names or pipes in: regular files only, and never more than a limit.

A device has no end, and opening a pipe waits until somebody writes to it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import IO

from clew.errors import InputError

KINDS = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
)
MEGABYTE = 1_000_000
SHOWN_BYTES = 20  # of what is too long


def expanded(path: str | Path) -> Path:
    """Return a path with `~` replaced by the home folder that it means."""
    try:
        return Path(path).expanduser()
    except TypeError as error:
        raise InputError("path", path, "is no path", "Name a file.") from error
    except RuntimeError as error:
        raise InputError(
            "path", str(path), "begins with a home folder that nobody has", "Write the path out."
        ) from error


def kind_of(mode: int) -> str:
    """Return what a mode tells of: file, folder, link, pipe, socket or device."""
    return next((name for test, name in KINDS if test(mode)), "device")


def is_special(path: str | Path) -> bool:
    """Tell whether a path leads to a pipe, a socket or a device."""
    try:
        return kind_of(Path(path).stat().st_mode) not in ("file", "folder")
    except (OSError, ValueError):  # nothing is there, or nothing can be
        return False


def open_file(path: str | Path) -> BufferedReader:
    """Open a regular file for reading; anything else is an OSError, at once."""
    _check(Path(path).stat(), path)  # before it is opened: opening alone can set off a device
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_NOCTTY", 0)
        | getattr(os, "O_BINARY", 0)
    )
    file = os.fdopen(os.open(path, flags), "rb")
    try:
        _check(os.fstat(file.fileno()), path)  # it may have been replaced meanwhile
    except OSError:
        file.close()
        raise
    return file


def read_file(path: str | Path, *, limit_bytes: int) -> bytes:
    """Return the content of a regular file; a longer one is an OSError."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > limit_bytes else file.read(limit_bytes + 1)
    if content is None:  # a file of /proc that waits for news
        raise OSError(errno.EAGAIN, "has nothing to read yet", str(path))
    if max(size, len(content)) > limit_bytes:
        raise OSError(errno.EFBIG, f"is larger than {limit_bytes / MEGABYTE:g} MB", str(path))
    return content


def read_stream(file: IO[bytes], *, limit_bytes: int) -> bytes:
    """Return all of stdin or another stream; raise if it is longer than the limit."""
    content = file.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise InputError(
            "stdin",
            content[:SHOWN_BYTES],
            f"is longer than {limit_bytes / MEGABYTE:g} MB",
            "Pipe in less of it.",
        )
    return content


def bounded_lines(file: IO[bytes], *, limit_bytes: int) -> Iterator[bytes]:
    """Yield the lines of a stream; raise at one that is longer than the limit."""
    number = 0
    while line := file.readline(limit_bytes + 1):
        number += 1
        if len(line) > limit_bytes:
            problem = f"is longer than {limit_bytes / MEGABYTE:g} MB"
            raise InputError(
                f"line {number}", line[:SHOWN_BYTES], problem, "Check that it is a text file."
            )
        yield line


def _check(status: os.stat_result, path: str | Path) -> None:
    kind = kind_of(status.st_mode)
    if kind == "folder":
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if kind != "file":
        raise OSError(errno.EINVAL, f"is a {kind}, not a regular file", str(path))


# Files and folders that only their owner can open, whatever the umask is.

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def create_private_file(path: Path) -> int:
    """Create an empty file that did not exist, and return its descriptor, open for reading and writing."""
    descriptor = os.open(
        str(path), os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), FILE_MODE
    )
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
