"""The pinned source distributions of SWE-QA, from the user's own package index, without running anything in them.

`pip download` of a source distribution runs its build back end to learn its metadata, also with `--no-deps`, and
needs the build requirements for that. So pip is only asked which indexes are configured (`pip config list`);
the index pages and the archives are read here, and an archive is used only if its SHA-256 is the pinned one.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from clew.errors import DownloadError, InputError
from clew.models.home import OFFLINE_VARIABLE, offline
from clew.ports import Progress

if TYPE_CHECKING:
    from clew.evaluate.datasets.package_pages import Index

TEXTS = frozenset({".py", ".pyi", ".md", ".rst", ".txt", ".toml", ".cfg", ".ini", ".in"})
MAX_MEMBER_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Pin:
    """A source distribution by project, version and SHA-256."""

    project: str
    version: str
    sha256: str

    @property
    def name(self) -> str:
        """The name of its top folder, and of the archive without `.tar.gz`."""
        return f"{self.project}-{self.version}"


PINS = (
    Pin("flask", "3.1.2", "bf656c15c80190ed628ad08cdfd3aaa35beb087855e2f494910aa3774cc4fd87"),
    Pin("requests", "2.32.5", "dbba0bac56e100853db0ea71b82b4dfd5fe2bf6d3754a8893c3af500cec7d7cf"),
    Pin("pytest", "8.4.2", "86c0d0b93306b961d58d62a4db4879f27fe25513d4b969df351abdddb3c30e01"),
    Pin("xarray", "2025.9.0", "7dd6816fe0062c49c5e9370dd483843bc13e5ed80a47a9ff10baff2b51e070fb"),
    Pin("sqlfluff", "3.4.2", "1777272e4fdac5adef1b89ec25675426e77285d4dc95a055b12bd24181e33f40"),
)


def _silent(_what: str, _done: int, _total: int | None) -> None:
    """Show nothing."""


def fetch_sources(target: Path | str, *, progress: Progress = _silent, index: Index | None = None) -> tuple[Path, ...]:
    """Bring the pinned sources to `target/<project>-<version>/`, text files only; what is there already is left alone."""
    target = Path(target)
    target.mkdir(parents=True, exist_ok=True)
    folders = []
    for done, pin in enumerate(PINS):
        progress(f"fetching {pin.name}", done, len(PINS))
        folder = target / pin.name
        if not folder.is_dir():
            index = index or _configured()
            unpack(_verified(index, pin), folder)
        folders.append(folder)
    progress("fetched", len(PINS), len(PINS))
    return tuple(folders)


def _configured() -> Index:
    from clew.evaluate.datasets.package_pages import Index  # noqa: PLC0415 - only a fetch needs the network

    if offline():
        raise DownloadError(f"{OFFLINE_VARIABLE} is set, so the sources must be in the folder already.")
    return Index.configured()


def _verified(index: Index, pin: Pin) -> bytes:
    content = index.file(pin.project, f"{pin.name}.tar.gz")
    found = hashlib.sha256(content).hexdigest()
    if found != pin.sha256:
        raise DownloadError(f"{pin.name}.tar.gz is not the published file: its SHA-256 is {found}, pinned is {pin.sha256}.", file=pin.name)
    return content


def unpack(archive: bytes, folder: Path) -> None:
    """Write the text files of a source distribution into a folder that appears only when it is whole."""
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as space:
        whole = Path(space) / "whole"
        whole.mkdir()
        for path, content in _texts(archive, folder.name):
            file = whole / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        whole.rename(folder)


def _texts(archive: bytes, name: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the regular text files without the top folder; links, devices and paths that lead outside are no part of it."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as members:
            for member in members:
                path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
                if _outside(member.name):
                    raise InputError(f"{name}.tar.gz", member.name, "leads outside its folder", "The archive is not to be trusted.")
                if member.isreg() and path.suffix in TEXTS and member.size <= MAX_MEMBER_BYTES:
                    file = members.extractfile(member)
                    yield path, file.read() if file else b""
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"{name}.tar.gz", str(error), "cannot be read as a source distribution", "Fetch it again.") from error


def _outside(name: str) -> bool:
    return name.startswith("/") or "\\" in name or ":" in name.split("/", maxsplit=1)[0] or ".." in PurePosixPath(name).parts
