"""How files become a model: staged beside it, checked, flushed, and renamed into place in one step.

A model's folder therefore either is not there or is whole. Whatever a killed process leaves behind
has a name that starts with a dot and is swept away later.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from clew.errors import ModelError
from clew.models import card as manifest
from clew.models.card import FOLDER_VARIABLE, Card
from clew.models.sources import check

try:
    import fcntl
except ImportError:  # Windows: no lock, but the rename is still atomic and the hashes still decide
    fcntl = None  # type: ignore[assignment]

STAGING = ".staging-"
PARTS = ".parts"
STALE_SECONDS = 24 * 3600.0  # no pull takes a day


@contextmanager
def writable(root: Path) -> Iterator[None]:
    """Make the folder of all models.

    Turn what the file system refuses into an error that says what to do.
    """
    try:
        (root / PARTS).mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise ModelError(
            f"cannot write models to {root}: {error.strerror or error}. Free some space, or set {FOLDER_VARIABLE} to another folder.",
            path=str(root),
        ) from error


@contextmanager
def locked(root: Path, name: str, announce: Callable[[str], None]) -> Iterator[None]:
    """Let one process at a time install a model.

    The kernel frees the lock of a process that dies.
    """
    with (root / f".{name}.lock").open("a") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                announce(f"Waiting for another process that is installing {name}.")
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def staging(root: Path) -> Iterator[Path]:
    """Give a folder on the same file system that is gone afterwards, whatever happens."""
    folder = Path(mkdtemp(prefix=STAGING, dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def commit(card: Card, staged: Path, root: Path, *, place: str) -> Path:
    """Check every staged file, flush it to the disk and rename the folder into place."""
    for pin in card.files:
        check(staged / pin.name, pin, place)
    manifest.write(card, staged)
    for path in staged.iterdir():
        _flush(path)
    _flush(staged)
    target = root / card.folder
    discard(target, root)
    staged.rename(target)
    _flush(root)
    return target


def discard(folder: Path, root: Path) -> bool:
    """Take a model out of sight in one step, then delete it; return whether there was one."""
    with staging(root) as bin_folder:
        try:
            folder.rename(bin_folder / folder.name)
        except FileNotFoundError:
            return False
    return True


def complete(card: Card, root: Path) -> Path | None:
    """Return the folder of the model if it is installed.

    Looks at sizes only, `verify` at every byte.
    """
    folder = root / card.folder
    try:
        whole = (folder / manifest.MANIFEST).is_file() and all(
            (folder / pin.name).stat().st_size == pin.size for pin in card.files
        )
    except OSError:
        return None
    return folder if whole else None


def sweep(root: Path, *, now: Callable[[], float] = time.time) -> None:
    """Remove what killed processes left behind, once it is old enough to belong to none that lives."""
    for path in (*root.glob(f"{STAGING}*"), *(root / PARTS).iterdir()):
        try:
            if now() - path.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        except OSError:  # another process was faster, or it is not ours to remove
            continue


def _flush(path: Path) -> None:
    """Force a file or folder to the disk; some systems cannot do that for a folder."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
