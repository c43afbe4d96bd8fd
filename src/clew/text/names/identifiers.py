"""Find names by spelling alone: addresses, paths, identifiers, hosts, tickets, versions."""

from __future__ import annotations

import re
from typing import NamedTuple

from clew.text.names.keys import EntityType
from clew.text.names.lexicon import (
    COMMON,
    DOMAINS,
    EXTENSIONS,
    FILE_NAMES,
    SKILLS,
    STANDARDS,
    SYSTEM_ENDS,
    TOOLS,
)

# characters: a longer stretch is a blob, of which only an address at its start is looked for
MAX_IDENTIFIER = 200
MIN_LETTERS = 3  # in `is`, `ok` and a.b nothing is named
_ADDRESS = re.compile(
    r"[A-Za-z][\w+.-]{1,15}://(?:[^/@\s]{1,64}@)?([\w.-]{1,253})|(www\.[\w.-]{1,249})"
)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_HANDLE = re.compile(r"@[A-Za-z_][\w.-]{1,38}")
_HASHTAG = re.compile(r"#[^\W\d_][\w-]+")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_IP = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?:/\d+)?")
_VERSION = re.compile(
    r"v\d++(?:\.\d++)++[\w.+-]*|\d{1,3}\.\d{1,4}\.\d{1,4}(?:[-+.]?(?:rc|a|b|dev|alpha|beta|"
    r"post)[\w.+-]*)?"
)
_DAY = re.compile(r"\d{1,2}\.\d{1,2}\.(?:19|20)?\d\d")
_TICKET = re.compile(r"([A-Z][A-Z0-9]{1,9})-(\d{1,7})")
_MACHINE = re.compile(r"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)(?::\d{2,5})?")
_HOST = re.compile(r"([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{2,5})?(/\S*)?")
_SCOPED = re.compile(r"[A-Za-z_]\w*(?:(?:::|->|\.)[A-Za-z_]\w*)+")
_SNAKE = re.compile(r"_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*|__\w+__")
_CAMEL = re.compile(r"[a-z]+[0-9]*(?:[A-Z][a-z0-9]*)+")
_FLAG = re.compile(r"(--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:=.*)?")
_FILE = re.compile(r"\.?[\w-]+(?:\.[\w-]+)*\.(\w{1,8})")


class Identifier(NamedTuple):
    """A part of a stretch that is a name by its spelling."""

    start: int
    end: int
    type: EntityType
    confidence: float


def find_identifier(core: str) -> Identifier | None:
    """Return the identifier in a token without white space and quotes, if there is one.

    >>> [str(find_identifier(core).type) for core in ("src/app/main.py", "getUserName", "https://x.example.com/a", "PAY-12", "web-03", "@lena")]
    ['FILE', 'CONCEPT', 'SYSTEM', 'PROJECT', 'SYSTEM', 'PERSON']
    >>> [find_identifier(core) for core in ("Anna", "and/or", "follow-up", "12.03.2024", "e.g", "24/7")]
    [None, None, None, None, None, None]
    """  # noqa: E501
    if (
        core.isalpha()
        and (core.islower() or not core[0].islower())
        and core.casefold() not in FILE_NAMES
    ):
        # as most are: no rule finds a name in letters alone but for getUserName and Makefile
        return None
    if "://" in core[:32] or core[:4] == "www.":
        return _address(core)
    if len(core) > MAX_IDENTIFIER or len(core) < 2:
        return None
    if core.casefold() in TOOLS or core.casefold() in SKILLS:  # Node.js is no file, C++ no sum
        return None
    for rule in (_sign_name, _path, _number_name, _dotted_name, _compound_name):
        if found := rule(core):
            return found
    return None


def _whole(core: str, type: EntityType, confidence: float) -> Identifier:
    return Identifier(0, len(core), type, confidence)


def _address(core: str) -> Identifier | None:
    found = _ADDRESS.match(core)
    if not found:
        return None
    group = 1 if found[1] else 2
    host = found[group].rstrip(".-")
    return (
        Identifier(found.start(group), found.start(group) + len(host), EntityType.SYSTEM, 0.9)
        if "." in host
        else None
    )


def _sign_name(core: str) -> Identifier | None:
    """Find handles, hashtags, e-mail addresses and options."""
    if core[0] == "#":
        return _whole(core, EntityType.CONCEPT, 0.8) if _HASHTAG.fullmatch(core) else None
    if "@" in core and (_EMAIL.fullmatch(core) or _HANDLE.fullmatch(core)):
        return _whole(core, EntityType.PERSON, 0.9)
    if core[:2] == "--" and (flag := _FLAG.fullmatch(core)):
        return Identifier(0, flag.end(1), EntityType.CONCEPT, 0.8)
    return None


def _path(core: str) -> Identifier | None:
    """Paths, known by where they begin, how often they fork, or how they end.

    "and/or" is none, "TCP/IP" neither.
    """
    if "\\" in core:
        return (
            _whole(core, EntityType.FILE, 0.95)
            if _DRIVE.match(core) or core.count("\\") > 1
            else None
        )
    if "/" not in core:
        return None
    if (host := _HOST.fullmatch(core)) and host[1].rpartition(".")[2] in DOMAINS:
        return Identifier(0, host.end(1), EntityType.SYSTEM, 0.85)
    parts = [part for part in core.split("/") if part not in ("", ".", "..", "~")]
    if not any(len(part) >= 2 and not part.isdigit() for part in parts):
        return None
    if core[0] in "/~." or core[0] == "@" or core[-1] == "/" or _ends_as_file(parts[-1]):
        return _whole(core, EntityType.FILE, 0.95)
    lower = core == core.lower() and all(part[0].isalpha() for part in parts)
    known = all(part in COMMON or part.isdigit() for part in parts)
    return (
        _whole(core, EntityType.FILE, 0.85)
        if lower and not known and (len(parts) > 2 or _has_path_signs(core))
        else None
    )


def _has_path_signs(core: str) -> bool:
    return any(sign in core for sign in "-_.") or core[:4] == "src/"


def _number_name(core: str) -> Identifier | None:
    """IP addresses, versions, tickets; days are dates."""
    if core[0].isdigit() or core[0] == "v":
        if address := _IP.fullmatch(core):
            return Identifier(0, address.end(1), EntityType.SYSTEM, 0.85)
        return (
            _whole(core, EntityType.CONCEPT, 0.76)
            if _VERSION.fullmatch(core) and not _DAY.fullmatch(core)
            else None
        )
    if ticket := _TICKET.fullmatch(core):
        return _whole(
            core, EntityType.CONCEPT if ticket[1].lower() in STANDARDS else EntityType.PROJECT, 0.85
        )
    return None


def _dotted_name(core: str) -> Identifier | None:
    """File names, hosts and names within names: a.b.c, A::b."""
    if core.casefold() in FILE_NAMES:
        return _whole(core, EntityType.FILE, 0.9)
    if "." in core:
        if _ends_as_file(core):
            return _whole(core, EntityType.FILE, 0.95)
        if (host := _HOST.fullmatch(core)) and host[1].rpartition(".")[2] in DOMAINS:
            return Identifier(0, host.end(1), EntityType.SYSTEM, 0.85)
    if ("." in core or "::" in core or "->" in core) and _SCOPED.fullmatch(core):
        parts = re.split(r"::|->|\.", core)
        return (
            _whole(core, EntityType.CONCEPT, 0.85)
            if all(len(part) > 1 for part in parts) and not core.istitle()
            else None
        )
    return None


def _compound_name(core: str) -> Identifier | None:
    """Find identifiers of several words, and machines: snake_case, camelCase, web-03."""
    if "_" in core:
        return _whole(core, EntityType.CONCEPT, 0.9) if _SNAKE.fullmatch(core) else None
    if "-" in core and (machine := _MACHINE.fullmatch(core)):
        tail = machine[1].rpartition("-")[2]
        if (tail.isdigit() and not machine[1].isdigit()) or tail in SYSTEM_ENDS:
            return Identifier(0, machine.end(1), EntityType.SYSTEM, 0.85)
        return None
    return (
        _whole(core, EntityType.CONCEPT, 0.9)
        if core[0].islower() and core.isascii() and _CAMEL.fullmatch(core)
        else None
    )


def _ends_as_file(name: str) -> bool:
    found = _FILE.fullmatch(name)
    if found is None or found[1].lower() not in EXTENSIONS:
        return False
    stem = name[: -len(found[1]) - 1]
    return not stem.isdigit() and (len(stem) > 1 or found[1].islower())  # "D.C." is a place
