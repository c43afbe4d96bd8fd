"""Open zip containers and XML parts from untrusted files within bounds on members, bytes and nesting."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

from clew.documents.readers.document import UnreadableError

Element: TypeAlias = ET.Element

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 50_000_000
MAX_TOTAL_BYTES = 200_000_000  # read from one container, whatever its directory says
MAX_DEPTH = 500  # of XML elements
_STEP = 1 << 16
_PARSE_STEP = 1 << 14


class Container:
    """The members of a zip file, decompressed one at a time and never beyond the bounds."""

    def __init__(self, data: bytes, *, what: str) -> None:
        """Open a container; `what` is named in errors, as in "an EPUB book"."""
        self._what = what
        self._left = MAX_TOTAL_BYTES
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._infos = {info.filename: info for info in self._zip.infolist()}
        except (
            Exception
        ) as error:  # zipfile raises struct.error, NotImplementedError and more on broken files
            raise UnreadableError(
                f"it is not {what} ({type(error).__name__})", "Save or export it again."
            ) from error
        if len(self._infos) > MAX_MEMBERS:
            raise UnreadableError(
                f"it holds more than {MAX_MEMBERS:,} files", "Unpack it and import the folder."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all members, in the order of the directory."""
        return tuple(self._infos)

    def read(self, name: str) -> bytes:
        """Return a member, or nothing if there is none of this name."""
        info = self._infos.get(name)
        if info is None:
            return b""
        parts: list[bytes] = []
        size = 0
        most = min(MAX_MEMBER_BYTES, self._left)
        try:
            with self._zip.open(info) as member:
                while size <= most and (part := member.read(_STEP)):
                    parts.append(part)
                    size += len(part)
        except Exception as error:  # a broken stream, an unknown compression, a password
            raise UnreadableError(
                f"a part of it cannot be unpacked ({type(error).__name__})",
                "Save or export it again.",
            ) from error
        if size > most:
            raise UnreadableError(
                f"it unpacks to more than {MAX_TOTAL_BYTES // 1_000_000} MB", "Split it."
            )
        self._left -= size
        return b"".join(parts)

    def xml(self, name: str) -> Element | None:
        """Return the root element of an XML member, or None if there is no such member."""
        data = self.read(name)
        return xml_root(data, what=self._what) if data else None


def xml_root(data: bytes, *, what: str) -> Element:
    """Return the root element.

    A document that declares entities, nests too deep or is not well formed is unreadable.

    >>> xml_root(b"<a><b>text</b></a>", what="a test").findtext("b")
    'text'
    """
    if b"<!ENTITY" in data or b"<\x00!\x00E\x00N\x00T" in data:
        raise UnreadableError(
            f"it is {what} that declares XML entities", "Save or export it again."
        )
    parser: Any = ET.XMLPullParser(events=("start", "end"))
    depth = 0
    root: Element | None = None
    try:
        for at in range(0, len(data), _PARSE_STEP):
            parser.feed(data[at : at + _PARSE_STEP])
            for event, element in parser.read_events():
                root = element if root is None and isinstance(element, ET.Element) else root
                depth += 1 if event == "start" else -1
                if depth > MAX_DEPTH:
                    raise UnreadableError(
                        f"it is {what} that nests more than {MAX_DEPTH} deep",
                        "Save or export it again.",
                    )
        parser.close()
    except (ET.ParseError, ValueError, LookupError) as error:
        raise UnreadableError(
            f"it is {what} with XML that cannot be read ({error})", "Save or export it again."
        ) from error
    if root is None:
        raise UnreadableError(f"it is {what} with an empty part", "Save or export it again.")
    return root


def local(element: Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """Return an attribute by its name without namespace, or nothing."""
    return next(
        (value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), ""
    )


def below(element: Element, *names: str) -> Iterator[Element]:
    """Yield the descendants of these names, in document order."""
    return (each for each in element.iter() if local(each) in names)


def inner_text(element: Element) -> str:
    """Return all text below an element, white space as it is."""
    return "".join(element.itertext())


def joined(base: str, href: str) -> str:
    """Return the name of a member that a part refers to, with `..` resolved.

    >>> joined("OEBPS/content.opf", "../text/ch1.xhtml"), joined("", "a.xml")
    ('text/ch1.xhtml', 'a.xml')
    """
    kept: list[str] = []
    for part in (PurePosixPath(base).parent / href.partition("#")[0]).parts:
        if part == "..":
            kept = kept[:-1]
        elif part != ".":
            kept.append(part)
    return "/".join(kept).lstrip("/")
