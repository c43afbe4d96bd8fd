"""How does each language write an import? One short reader each, from a statement of the syntax tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from clew.ingest.codegraph.captures import Captured
from clew.ingest.codegraph.rust_use import uses
from clew.ingest.codegraph.values import STAR, Import

Names = tuple[tuple[str, str], ...]
Said = tuple[str, Names, str, int]
"""Module, names, alias and level."""


def imports_of(statement: Captured, target: Captured | None, language: str) -> list[Import]:
    """Return what an import statement imports, one entry for each module."""
    node = statement.node
    return [Import(*said, statement.start, statement.end, statement.line) for said in _READERS[language](node, target)]


def _text(node: Any) -> str:
    return str(node.text.decode(errors="replace")) if node is not None else ""


# Python


def _python(node: Any, _: Captured | None) -> Iterator[Said]:
    named = node.children_by_field_name("name")
    if node.type == "import_statement":
        yield from ((_text(_inner(each)), (), _alias(each), 0) for each in named)
        return
    module = _text(node.child_by_field_name("module_name"))
    path = re.sub(r"\s", "", module).lstrip(".")
    level = len(re.sub(r"\s", "", module)) - len(path)
    names: Names = tuple((_text(_inner(each)), _alias(each) or _text(_inner(each))) for each in named)
    if any(child.type == "wildcard_import" for child in node.children):
        names = ((STAR, STAR),)
    yield path, names, "", level


def _inner(node: Any) -> Any:
    return node.child_by_field_name("name") if node.type == "aliased_import" else node


def _alias(node: Any) -> str:
    return _text(node.child_by_field_name("alias")) if node.type == "aliased_import" else ""


# JavaScript and TypeScript


def _javascript(node: Any, target: Captured | None) -> Iterator[Said]:
    if node.type == "call_expression":
        strings = [each for each in node.child_by_field_name("arguments").named_children[:1] if each.type == "string"]
        names = _pattern(target.node) if target is not None and target.node.type == "object_pattern" else ()
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
    for _, child in zip(range(_MOST_PARTS), _drained(waiting), strict=False):
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


_MOST_PARTS = 10_000


def _drained(waiting: list[Any]) -> Iterator[Any]:
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
            names.append((_text(child.child_by_field_name("key")), _text(child.child_by_field_name("value"))))
    return tuple(names)


def _unquoted(node: Any) -> str:
    return _text(node).strip("'\"`")


# Go, Java, C, Rust


def _go(node: Any, _: Captured | None) -> Iterator[Said]:
    alias = _text(node.child_by_field_name("name"))
    names: Names = ((STAR, STAR),) if alias == "." else ()
    yield _unquoted(node.child_by_field_name("path")), names, "" if alias in (".", "_") else alias, 0


def _java(node: Any, _: Captured | None) -> Iterator[Said]:
    said = re.sub(r"\s", " ", _text(node)).removeprefix("import ").strip(" ;").removeprefix("static ")
    module, _dot, name = said.replace(" ", "").rpartition(".")
    if module:
        yield module, ((name, name),), "", 0


def _include(node: Any, _: Captured | None) -> Iterator[Said]:
    path = node.child_by_field_name("path")
    if path is not None and path.type in ("string_literal", "system_lib_string"):
        yield _text(path).strip('"'), ((STAR, STAR),), "", 0


def _rust(node: Any, _: Captured | None) -> Iterator[Said]:
    if node.type == "mod_item":
        name = _text(node.child_by_field_name("name"))
        yield f"self::{name}", (), name, 0
        return
    yield from ((module, names, "", 0) for module, names in uses(_text(node.child_by_field_name("argument"))))


_READERS: dict[str, Callable[[Any, Captured | None], Iterator[Said]]] = {
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
