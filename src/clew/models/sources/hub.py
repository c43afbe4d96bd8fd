"""Model files from a model hub, by plain HTTPS."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from clew.errors import DownloadError
from clew.models.card import PinnedFile
from clew.models.sources.checking import BLOCK, check
from clew.ports import Progress

if TYPE_CHECKING:
    from http.client import HTTPResponse

ENDPOINT_VARIABLE = "HF_ENDPOINT"  # the name the hub's own client uses, so that a mirror is configured once
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
            endpoint=self.endpoint, repository=self.repository, revision=self.revision, path=quote(self.members[name])
        )

    def fetch(self, files: Sequence[PinnedFile], into: Path, *, kept: Path, progress: Progress) -> None:
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
                raise DownloadError(f"{self.place} answered {error.code} for {pin.name}.", status=error.code) from error
            except (OSError, HTTPException) as error:  # URLError and timeouts are OSErrors
                problem = getattr(error, "reason", error)
            if not left or _size(part) <= before:  # a hub that sends nothing is not waited for again
                raise DownloadError(f"{pin.name} could not be read from {self.place}: {problem}.", file=pin.name)

    def _continue(self, pin: PinnedFile, part: Path, progress: Progress) -> bool:
        """Append what is missing to the part; return whether it is all there."""
        have = _size(part)
        if have >= pin.size:
            return True
        with _open(self.url(pin.name), have) as response, part.open("ab") as file:
            if not _continues(response, have):
                file.truncate(0)
                have = 0
            while block := response.read1(BLOCK):  # what is there, so that little is lost when the process dies
                have += len(block)
                if have > pin.size:  # never more than the pin allows reaches the disk
                    file.truncate(0)
                    raise DownloadError(f"{pin.name} from {self.place} is larger than the {pin.size} bytes that are pinned.", file=pin.name)
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
    request = Request(url, headers={"User-Agent": "clew", "Range": f"bytes={offset}-"} if offset else {"User-Agent": "clew"})  # noqa: S310 - checked above
    response: HTTPResponse = urlopen(request, timeout=SILENCE_SECONDS)  # noqa: S310 - checked above
    return response
