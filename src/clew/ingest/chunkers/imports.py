"""Which names does a file import? By their text alone: enough to say which of them a piece of it uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

REMEMBERED = 4096  # statements: the files of a project import the same things
_WORD = re.compile(r"[^\W\d]\w*")
_ALIAS = re.compile(r"(?:(?<!\w)\w++|\*)\s++as\s++(?=\w)")
_AS = re.compile(r"(?<!\s)\s++as\s++")
_FROM = re.compile(r"(?:from\s+\S+\s+import|import(?:\s+type)?)\s")
_GO_PATH = re.compile(r"(?:(?<!\w)(\w++)\s++)?\"(?:[^\"\n]*/)?([\w.-]++)\"")
_RUST_LEAF = re.compile(r"(?<![\w])([^\W\d]\w*)\b(?!\s*::)")
_KEYWORDS = frozenset({"import", "from", "as", "use", "pub", "type", "static", "crate", "self", "super", "annotations"})


@lru_cache(maxsize=REMEMBERED)
def imported_names(statement: str, format: str) -> frozenset[str]:
    """Return the names that an import statement brings into a file.

    >>> sorted(imported_names("from a.b import c as d, e", "python")), sorted(imported_names("import os.path", "python"))
    (['d', 'e'], ['os'])
    >>> sorted(imported_names('import R, {x as y} from "react"', "javascript")), sorted(imported_names('import j "enc/json"', "go"))
    (['R', 'y'], ['j'])
    """
    return frozenset(_BY_FORMAT.get(format, _none)(statement)) - _KEYWORDS


def _python(statement: str) -> list[str]:
    if statement.lstrip().startswith("from"):
        return _WORD.findall(_ALIAS.sub("", _FROM.sub("", statement, count=1)))
    return [_AS.split(each)[-1].split(".")[0].strip() for each in _FROM.sub("", statement, count=1).split(",")]


def _javascript(statement: str) -> list[str]:
    named, found, _ = statement.partition(" from ")
    return _WORD.findall(_ALIAS.sub("", named)) if found else []


def _go(statement: str) -> list[str]:
    return [alias or last for alias, last in _GO_PATH.findall(statement)]


def _rust(statement: str) -> list[str]:
    return [str(name) for name in _RUST_LEAF.findall(_ALIAS.sub("", statement))]


def _java(statement: str) -> list[str]:
    return _WORD.findall(statement)[-1:]


def _none(_: str) -> list[str]:
    return []


_BY_FORMAT: dict[str, Callable[[str], list[str]]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _java,
}
