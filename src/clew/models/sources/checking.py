"""The one gate every model file passes: its size and its hash."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO

from clew.errors import DownloadError
from clew.models.card import PinnedFile
from clew.user_files import open_file

BLOCK = 1 << 20


def digest(path: Path) -> str:
    """Return the sha256 of a file, read in blocks."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path: Path, pin: PinnedFile, place: str) -> None:
    """Raise DownloadError unless the file is the pinned one."""
    size = path.stat().st_size
    if size != pin.size:
        raise DownloadError(f"{pin.name} from {place} has {size} bytes where {pin.size} are pinned; it was discarded.", file=pin.name)
    found = digest(path)
    if found != pin.sha256:
        raise DownloadError(
            f"{pin.name} from {place} is not the pinned file (sha256 {found[:12]}…, pinned {pin.sha256[:12]}…); it was discarded.",
            file=pin.name,
            sha256=found,
        )


def copy_at_most(source: BinaryIO, target: BinaryIO, limit: int) -> int:
    """Copy until the source ends; stop with an error one byte after the limit, so that no source can fill the disk."""
    copied = 0
    while block := source.read(min(BLOCK, limit - copied + 1)):
        copied += len(block)
        if copied > limit:
            raise DownloadError(f"the source sent more than the {limit} bytes that are pinned; it was discarded.", limit=limit)
        target.write(block)
    return copied
