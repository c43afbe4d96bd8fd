"""What is a piece of code inside of? Classes and functions by name and signature, and the imports that it uses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from clew.ingest.chunkers.imports import imported_names
from clew.ingest.chunkers.languages import CONTAINERS, FUNCTIONS, WRAPPERS, Kinds

LONGEST_SIGNATURE = 200  # letters
MOST_IMPORTS = 12  # named in a context
_WORD = re.compile(r"[^\W\d]\w*")
_WORDS = bytes(code if code < 0x80 and (chr(code).isalnum() or code == ord("_")) else ord(" ") for code in range(256))
_DEEPEST_DECLARATOR = 8


class Scope(NamedTuple):
    """A class, function or module around a place, by its name and how it is declared."""

    name: str
    signature: str


def definition_of(node: Any) -> Any | None:
    """Return the definition that a node is, or that it wraps in decorators, exports or template parameters."""
    for _ in range(_DEEPEST_DECLARATOR):
        kind = node.type
        if kind in CONTAINERS or kind in FUNCTIONS:
            return node
        if kind not in WRAPPERS or not node.named_children:
            return None
        node = node.named_children[-1]
    return None


def scope_of(definition: Any, source: bytes) -> Scope | None:
    """Return the name and signature of a definition in a source, if it has a name."""
    name = _name(definition)
    if not name:
        return None
    body = definition.child_by_field_name("body")
    start, end = definition.start_byte, body.start_byte if body else definition.end_byte
    declared = source[start : min(end, start + 4 * LONGEST_SIGNATURE)]
    signature = " ".join((declared if body else declared.partition(b"\n")[0]).decode(errors="replace").split()).rstrip(" :{=")
    return Scope(name, signature[:LONGEST_SIGNATURE])


def _name(node: Any) -> str:
    """Return the name in a definition; in C it stands inside its declarator, in Rust an `impl` has a type instead."""
    for _ in range(_DEEPEST_DECLARATOR):
        named = node.child_by_field_name("name")
        if named is not None:
            return _text(named)
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = node.child_by_field_name("type")
        if inner is None:
            return _text(node) if "identifier" in node.type else _first_name(node)
        node = inner
    return ""


def _first_name(node: Any) -> str:
    found = next((child for child in node.named_children[:1] if child.child_by_field_name("name") is not None), None)
    return _text(found.child_by_field_name("name")) if found is not None else ""


def _text(node: Any) -> str:
    return str(node.text[:LONGEST_SIGNATURE].decode(errors="replace"))


class Names:
    """The names that a file imports, and which of them a text uses."""

    def __init__(self, root: Any, format: str, *, kinds: Kinds) -> None:
        found = [node for node in root.children if node.kind_id in kinds.imports] if kinds.imports else []
        known = {name for node in found for name in imported_names(node.text.decode(errors="replace"), format)}
        self._known = frozenset(name.encode() for name in filter(_WORD.fullmatch, known))

    def used(self, text: str) -> str:
        """Return the imports that a text uses, for its context."""
        names = sorted(self._known.intersection(_words(text)))[:MOST_IMPORTS] if self._known else ()
        return f"imports {b', '.join(names).decode()}" if names else ""


def _words(text: str) -> list[bytes]:
    """Return the words of a text; where it is ASCII, in a third of the time."""
    return text.encode().translate(_WORDS).split() if text.isascii() else [word.encode() for word in _WORD.findall(text)]


def context_of(scopes: Sequence[Scope], imports: str) -> str:
    """Return the context of a piece of code.

    >>> context_of([Scope("Store", "class Store"), Scope("add", "def add(self)")], "imports json")
    'class Store > def add(self) · imports json'
    """
    return " · ".join(filter(None, (" > ".join(scope.signature for scope in scopes), imports)))
