"""Read import statements of each language from its syntax tree."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from clew.graph.code.languages import is_plausible, parser_of, syntax_tree
from clew.graph.code.values import STAR, Import

_SIGN = re.compile(r"//[^\n]*|/\*(?:.*?\*/|.*)|::|\bas\b|[{},*]|[\w#]+", re.DOTALL)
_MAX_PATH = 20  # names


def flatten_uses(tree: str) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Return each module with the names that are taken from it and their names here.

    >>> flatten_uses("crate::shop::{self, Cart, order::{place as put, *}}")
    [('crate', (('shop', 'shop'),)), ('crate::shop', (('Cart', 'Cart'),)), ('crate::shop::order', (('place', 'put'), ('*', '*')))]
    """
    taken: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path, alias in _leaves(tree):
        *module, name = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        taken["::".join(module)].append((name, alias or name))
    return [(module, tuple(names)) for module, names in taken.items()]


def _leaves(tree: str) -> list[tuple[list[str], str]]:
    """Return the whole path of each leaf, with its alias."""
    leaves: list[tuple[list[str], str]] = []
    outside: list[list[str]] = [[]]
    path: list[str] = []
    alias: str | None = None
    for sign in [*_SIGN.findall(tree), ","]:
        if sign == "{":
            outside.append([*outside[-1], *path][:_MAX_PATH])
            path = []
        elif sign in (",", "}"):
            if path:
                leaves.append(([*outside[-1], *path][:_MAX_PATH], alias or ""))
            path, alias = [], None
            if sign == "}" and len(outside) > 1:
                outside.pop()
        elif sign == "as":
            alias = ""
        elif alias is not None:
            alias = sign
        elif sign == STAR or sign[0] not in "/:":
            path.append(sign.removeprefix("r#"))
    return leaves


SMALL_SOURCE = 4_000  # letters: so much is parsed whatever it is
_QUERIES = {  # languages that share some of their queries
    "javascript": ("ecmascript", "javascript", "jsx"),
    "typescript": ("ecmascript", "typescript"),
    "tsx": ("ecmascript", "typescript", "jsx"),
}


class Captured(NamedTuple):
    """A piece of the text under the name that the query gives it."""

    text: str
    start: int
    end: int
    line: int
    node: Any


def captures(text: str, language: str) -> Iterator[dict[str, Captured]]:
    """Yield what each match of the language's query holds.

    Nothing for a text that is no program.
    """
    parser_of(language)  # complains where the grammar is not installed, whatever the text is
    data = text.encode(errors="surrogatepass")
    # kept: its nodes do not keep it
    tree = (
        syntax_tree(language, data)
        if len(text) <= SMALL_SOURCE or is_plausible(text, language)
        else None
    )
    if tree is None:
        return
    place = offset_converter(text, data)
    cursor = import_module("tree_sitter").QueryCursor(_query(language))
    for _, found in cursor.matches(tree.root_node):
        yield {name: _captured(nodes[0], data, place) for name, nodes in found.items()}


def _captured(node: Any, data: bytes, place: Callable[[int], int]) -> Captured:
    start, end = node.start_byte, node.end_byte
    said = data[start:end].decode(errors="surrogatepass") if end - start <= _MAX_NAME else ""
    return Captured(said, place(start), place(end), node.start_point[0] + 1, node)


# bytes; what is longer is a whole definition or an expression, and nobody's name
_MAX_NAME = 400


def offset_converter(text: str, data: bytes) -> Callable[[int], int]:
    """Return what turns an offset in the UTF-8 bytes of a text into one in its characters.

    >>> place = offset_converter("é=f", "é=f".encode())
    >>> [place(byte) for byte in (0, 2, 3, 4)]
    [0, 1, 2, 3]
    """
    if len(text) == len(data):
        return int
    # every byte that does not continue a character
    starts = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80
    before = np.concatenate(([0], np.cumsum(starts))).tolist()
    return lambda byte: int(before[byte])


@cache
def _query(language: str) -> Any:
    source = "\n".join(
        files(__package__).joinpath("queries", f"{name}.scm").read_text(encoding="utf-8")
        for name in _QUERIES.get(language, (language,))
    )
    return import_module("tree_sitter").Query(parser_of(language).language, source)


Names = tuple[tuple[str, str], ...]
ImportParts = tuple[str, Names, str, int]
"""Module, names, alias and level."""


def imports_of(statement: Captured, target: Captured | None, language: str) -> list[Import]:
    """Return what an import statement imports, one entry for each module."""
    node = statement.node
    return [
        Import(*said, statement.start, statement.end, statement.line)
        for said in _READERS[language](node, target)
    ]


def _text(node: Any) -> str:
    return str(node.text.decode(errors="replace")) if node is not None else ""


# Python


def _python(node: Any, _: Captured | None) -> Iterator[ImportParts]:
    named = node.children_by_field_name("name")
    if node.type == "import_statement":
        yield from ((_text(_inner(each)), (), _alias(each), 0) for each in named)
        return
    module = _text(node.child_by_field_name("module_name"))
    path = re.sub(r"\s", "", module).lstrip(".")
    level = len(re.sub(r"\s", "", module)) - len(path)
    names: Names = tuple(
        (_text(_inner(each)), _alias(each) or _text(_inner(each))) for each in named
    )
    if any(child.type == "wildcard_import" for child in node.children):
        names = ((STAR, STAR),)
    yield path, names, "", level


def _inner(node: Any) -> Any:
    return node.child_by_field_name("name") if node.type == "aliased_import" else node


def _alias(node: Any) -> str:
    return _text(node.child_by_field_name("alias")) if node.type == "aliased_import" else ""


# JavaScript and TypeScript


def _javascript(node: Any, target: Captured | None) -> Iterator[ImportParts]:
    if node.type == "call_expression":
        strings = [
            each
            for each in node.child_by_field_name("arguments").named_children[:1]
            if each.type == "string"
        ]
        names = (
            _pattern(target.node)
            if target is not None and target.node.type == "object_pattern"
            else ()
        )
        alias = target.text if target is not None and target.node.type == "identifier" else ""
        yield from ((_unquoted(each), names, alias, 0) for each in strings)
        return
    module = _unquoted(node.child_by_field_name("source"))
    if module:
        yield module, *_clause(node), 0


def _clause(node: Any) -> tuple[Names, str]:
    """Return the names and the alias of the module in an import or a re-export."""
    names: list[tuple[str, str]] = []
    alias = ""
    waiting = list(node.named_children)
    for _, child in zip(range(_MAX_PARTS), _iterate_growing(waiting), strict=False):
        if child.type in ("import_clause", "named_imports", "export_clause"):
            waiting += child.named_children
        elif child.type in ("import_specifier", "export_specifier"):
            name = _unquoted(child.child_by_field_name("name"))
            names.append((name, _text(child.child_by_field_name("alias")) or name))
        elif child.type == "identifier":
            names.append(("default", _text(child)))
        elif child.type in ("namespace_import", "namespace_export"):
            alias = _text(child.named_children[0]) if child.named_children else ""
    if node.type == "export_statement" and not names and not alias:
        names.append((STAR, STAR))
    return tuple(names), alias


_MAX_PARTS = 10_000


def _iterate_growing(waiting: list[Any]) -> Iterator[Any]:
    at = 0
    while at < len(waiting):
        yield waiting[at]
        at += 1


def _pattern(node: Any) -> Names:
    """Return the names of `const {a, b: c} = require(…)`."""
    names = []
    for child in node.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            names.append((_text(child), _text(child)))
        elif child.type == "pair_pattern":
            names.append(
                (_text(child.child_by_field_name("key")), _text(child.child_by_field_name("value")))
            )
    return tuple(names)


def _unquoted(node: Any) -> str:
    return _text(node).strip("'\"`")


# Go, Java, C, Rust


def _go(node: Any, _: Captured | None) -> Iterator[ImportParts]:
    alias = _text(node.child_by_field_name("name"))
    names: Names = ((STAR, STAR),) if alias == "." else ()
    yield (
        _unquoted(node.child_by_field_name("path")),
        names,
        "" if alias in (".", "_") else alias,
        0,
    )


def _java(node: Any, _: Captured | None) -> Iterator[ImportParts]:
    said = (
        re.sub(r"\s", " ", _text(node)).removeprefix("import ").strip(" ;").removeprefix("static ")
    )
    module, _dot, name = said.replace(" ", "").rpartition(".")
    if module:
        yield module, ((name, name),), "", 0


def _include(node: Any, _: Captured | None) -> Iterator[ImportParts]:
    path = node.child_by_field_name("path")
    if path is not None and path.type in ("string_literal", "system_lib_string"):
        yield _text(path).strip('"'), ((STAR, STAR),), "", 0


def _rust(node: Any, _: Captured | None) -> Iterator[ImportParts]:
    if node.type == "mod_item":
        name = _text(node.child_by_field_name("name"))
        yield f"self::{name}", (), name, 0
        return
    yield from (
        (module, names, "", 0)
        for module, names in flatten_uses(_text(node.child_by_field_name("argument")))
    )


_READERS: dict[str, Callable[[Any, Captured | None], Iterator[ImportParts]]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "go": _go,
    "java": _java,
    "c": _include,
    "cpp": _include,
    "rust": _rust,
}
