"""The pages of a package index (PEP 503), at the places that the user's pip is configured with."""

from __future__ import annotations

import ast
import base64
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener, url2pathname

from clew.errors import DownloadError, clipped
from clew.files import read_file

LARGEST_PAGE_BYTES = 500_000_000  # of an archive; pages are far smaller
TIMEOUT_SECONDS = 30
SCHEMES = ("http", "https")
NPM = "https://registry.npmjs.org"
_SETTING = re.compile(r"(?P<section>[^.=]+)\.(?P<name>[\w-]+)=(?P<value>.*)")
_SECTIONS = ("global", "download", ":env:")  # later ones win, as in pip


@dataclass(frozen=True, slots=True)
class Index:
    """Where packages come from.

    Index pages, further places with files, and how the network is reached.
    """

    pages: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    certificates: str | None = None
    proxy: str | None = None

    @classmethod
    def configured(cls) -> Index:
        """Return what this Python's pip is configured with, from its files and the environment."""
        settings = pip_settings()
        pages = (
            settings.get("index-url") or usual_page(),
            *settings.get("extra-index-url", "").split(),
        )
        return cls(
            pages=()
            if settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}
            else pages,
            links=tuple(settings.get("find-links", "").split()),
            certificates=settings.get("cert"),
            proxy=settings.get("proxy"),
        )

    def file(self, project: str, name: str) -> bytes:
        """Return the bytes of a project's file from the first place that offers it."""
        return self._first(
            (*self.links, *(f"{page.rstrip('/')}/{project}/" for page in self.pages)), name
        )

    def npm_file(self, project: str, name: str) -> bytes:
        """Return the bytes of a package of npm, from a folder that holds it or from the public registry."""
        return self._first((*self.links, f"{NPM}/{project}/-/{name}"), name)

    def _first(self, places: Iterable[str], name: str) -> bytes:
        troubles = []
        for page in places:
            try:
                if url := page if page.startswith(NPM) else self._offered(page, name):
                    return self._read(url)
            except (OSError, URLError, ValueError) as error:
                troubles.append(f"{_shown(page)}: {clipped(str(error))}")
        said = "; ".join(troubles) or "none of the configured places offers it"
        raise DownloadError(
            f"{name} could not be fetched: {said}. Check the network and `pip config list`.",
            file=name,
        )

    def _offered(self, page: str, name: str) -> str | None:
        """Return the address of a file that a page or a folder offers."""
        place = _local(page)
        if place is not None and place.is_dir():
            if (place / name).is_file():
                return (place / name).as_uri()
            page = (place / "index.html").as_uri()
            if not (place / "index.html").is_file():
                return None
        links = _Links()
        links.feed(self._read(page).decode("utf-8", errors="replace"))
        addresses = (urljoin(page, link) for link in links.found)
        return next(
            (url for url in addresses if unquote(urlsplit(url).path).rsplit("/", 1)[-1] == name),
            None,
        )

    def _read(self, url: str) -> bytes:
        place = _local(url)
        if place is not None:
            return read_file(place, limit_bytes=LARGEST_PAGE_BYTES)
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES:
            raise ValueError(f"{parts.scheme or 'no'} address")
        request = Request(  # noqa: S310 - checked above
            urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
        )
        request.add_header("Accept", "text/html")
        if parts.username:
            secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            request.add_header(
                "Authorization", f"Basic {base64.b64encode(secret.encode()).decode()}"
            )
        with self._open()(request, timeout=TIMEOUT_SECONDS) as answer:
            return bytes(answer.read(LARGEST_PAGE_BYTES))

    def _open(self) -> Callable[..., Any]:
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else None
        return build_opener(
            ProxyHandler(proxies),
            HTTPSHandler(context=ssl.create_default_context(cafile=self.certificates)),
        ).open


class _Links(HTMLParser):
    """Collects where the anchors of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an anchor's address."""
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def usual_page() -> str:
    """Return the index that this Python's pip asks where nothing else is configured."""
    asked = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    done = subprocess.run(  # noqa: S603 - constants only
        [sys.executable, "-c", asked],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    if done.returncode or not done.stdout.strip():
        raise DownloadError(
            "This Python's pip does not tell where packages come from. Set index-url in pip's "
            "configuration."
        )
    return done.stdout.strip()


def pip_settings() -> dict[str, str]:
    """Return pip's settings by name, as `pip config list` gives them.

    Without a pip, those of the environment.
    """
    command = [sys.executable, "-m", "pip", "config", "list"]
    # Constants only
    listed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if listed.returncode != 0:
        named = (
            (name.removeprefix("PIP_"), value)
            for name, value in os.environ.items()
            if name.startswith("PIP_")
        )
        return {name.lower().replace("_", "-"): value for name, value in named}
    return parse_settings(listed.stdout)


def parse_settings(listed: str) -> dict[str, str]:
    r"""Return the settings that count for a download.

    >>> parse_settings("global.index-url='https://a/simple'\n:env:.index-url='https://b/simple'\ninstall.user='1'")
    {'index-url': 'https://b/simple'}
    """
    found = [
        match
        for line in listed.splitlines()
        if (match := _SETTING.fullmatch(line.strip())) and match["section"] in _SECTIONS
    ]
    found.sort(key=lambda match: _SECTIONS.index(match["section"]))
    return {match["name"]: str(ast.literal_eval(match["value"])) for match in found}


def _local(place: str) -> Path | None:
    """Return the path of a file address or a plain path, None for an address of the network."""
    parts = urlsplit(place)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if parts.scheme in SCHEMES else Path(place)


def _shown(address: str) -> str:
    """Return an address without the name and secret that may be in it."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
