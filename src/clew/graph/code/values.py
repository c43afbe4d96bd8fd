"""The symbols of one source file, and its scopes."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

EXPRESSION = "…"  # the receiver of a call on something without a name: `first().second()`
STAR = "*"  # imported: every name of a module


class DefinitionKind(StrEnum):
    """What a definition makes."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    """A class, struct, interface, trait, enum or named type."""
    MODULE = "module"
    """A namespace, or a module inside a file."""


class Definition(NamedTuple):
    """A function, method, class or module; `text[start:end]` is all of it."""

    name: str
    qualified: str
    """Its name after those of what it stands in, with full stops between, in every language."""
    kind: DefinitionKind
    start: int
    end: int
    line: int = 0
    bases: tuple[str, ...] = ()
    """What a class is derived from, as written."""


class Import(NamedTuple):
    """A statement, or the part of one, that brings another module's names into the file."""

    module: str
    """As the language writes it: `a.b`, `./a.js`, `crate::a`, `a.h`, `<a.h>`."""
    names: tuple[tuple[str, str], ...]
    """The names taken from the module, each with its name here; none where the module itself is
    what is imported.
    """
    alias: str
    """The name of the module here; empty where it has none of its own."""
    level: int
    """How many packages up a relative import of Python begins; 0 is not relative."""
    start: int
    end: int
    line: int = 0


class Call(NamedTuple):
    """A call, a construction or a decorator; `text[start:end]` is the name that is called."""

    name: str
    receiver: str
    """What stands before the name, as written; empty for a bare name, `EXPRESSION` where it has no
    name.
    """
    start: int
    end: int
    line: int = 0


class Binding(NamedTuple):
    """A parameter, variable or field, with the type it was declared or made with.

    It hides what has the same name outside.
    """

    name: str
    type: str
    start: int
    field: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSymbols:
    """Everything that one file says about its place among others, each in the order of the text."""

    language: str
    package: str = ""
    """The package that a Go or Java file says it belongs to."""
    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    bindings: tuple[Binding, ...] = ()


FILE = -1  # the scope of what stands in no definition


class Scopes:
    """The definitions of one file as a tree of spans, with the names bound in each."""

    def __init__(self, symbols: FileSymbols) -> None:
        self.definitions = symbols.definitions
        self._starts = [each.start for each in self.definitions]
        self._parents = _parents(self.definitions)
        self.qualified: dict[str, int] = {}
        self.outer: dict[str, int] = {}
        open_to_all = {FILE}  # scopes whose names are seen from other files
        for index, each in enumerate(self.definitions):
            self.qualified.setdefault(each.qualified, index)
            if each.kind is not DefinitionKind.METHOD and self._parents[index] in open_to_all:
                self.outer.setdefault(each.name, index)
                open_to_all.update([index] if each.kind is DefinitionKind.MODULE else [])
        self._bound: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        self._fields: dict[tuple[str, str], str] = {}
        for binding in symbols.bindings:
            self._bind(binding)

    def around(self, offset: int) -> Iterator[int]:
        """Yield the definitions that hold an offset, innermost first."""
        index = bisect_right(self._starts, offset) - 1
        while index != FILE:
            if self.definitions[index].end > offset:
                yield index
            index = self._parents[index]

    def class_at(self, offset: int) -> str:
        """Return the qualified name of the class whose code stands at an offset; empty for none."""
        for index in self.around(offset):
            each = self.definitions[index]
            if each.kind is DefinitionKind.CLASS:
                return each.qualified
            if each.kind is DefinitionKind.METHOD:
                return each.qualified.rpartition(".")[0]
        return ""

    def binding(self, scope: int, name: str, offset: int) -> Binding | None:
        """Return what a scope binds a name to at an offset.

        The last binding before it, else its first.
        """
        found = self._bound.get((scope, name))
        if not found:
            return None
        return found[max(0, bisect_right(found, offset, key=lambda each: each.start) - 1)]

    def field(self, owner: str, name: str) -> str | None:
        """Return the type of a class's field; None where it has no such field."""
        return self._fields.get((owner, name))

    def _bind(self, binding: Binding) -> None:
        scope = next(self.around(binding.start), FILE)
        in_class = scope != FILE and self.definitions[scope].kind is DefinitionKind.CLASS
        if binding.field or in_class:
            self._fields.setdefault((self.class_at(binding.start), binding.name), binding.type)
        if not binding.field:
            self._bound[scope, binding.name].append(binding)


def _parents(definitions: tuple[Definition, ...]) -> list[int]:
    """Return for each definition the one that it stands in."""
    parents: list[int] = []
    stack: list[int] = []
    for index, each in enumerate(definitions):
        while stack and definitions[stack[-1]].end <= each.start:
            stack.pop()
        parents.append(stack[-1] if stack else FILE)
        stack.append(index)
    return parents
