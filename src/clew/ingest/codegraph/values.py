"""What is read from one source file: what it defines, imports, calls, and what it binds names to."""

from __future__ import annotations

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
    """The names taken from the module, each with its name here; none where the module itself is what is imported."""
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
    """What stands before the name, as written; empty for a bare name, `EXPRESSION` where it has no name."""
    start: int
    end: int
    line: int = 0


class Binding(NamedTuple):
    """A parameter, variable or field, with the type it was declared or made with; it hides what has the same name outside."""

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
