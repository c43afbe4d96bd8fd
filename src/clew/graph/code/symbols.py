"""Parse a source text into its definitions, imports, calls and bindings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from clew.errors import InputError
from clew.graph.code.imports import Captured, captures, imports_of
from clew.graph.code.languages import GRAMMARS
from clew.graph.code.values import (
    EXPRESSION,
    Binding,
    Call,
    Definition,
    DefinitionKind,
    FileSymbols,
    Import,
)

MAX_DEPTH = 20  # names of a qualified name; deeper ones are told by their innermost


class RawDefinition(NamedTuple):
    """A definition as it was found.

    `owner` is the type that it names itself, `kind` is None for what only holds others.
    """

    start: int
    end: int
    line: int
    name: str
    owner: str
    kind: DefinitionKind | None


def nest_definitions(
    found: Iterable[RawDefinition], bases: Sequence[tuple[str, int]]
) -> tuple[Definition, ...]:
    """Return the definitions in text order, with qualified names and the bases of classes."""
    ordered = sorted(set(found), key=lambda raw: (raw.start, -raw.end, raw.name))
    derived = _bases(ordered, bases)
    stack: list[tuple[RawDefinition, tuple[str, ...]]] = []
    definitions: list[Definition] = []
    for index, raw in enumerate(ordered):
        while stack and stack[-1][0].end <= raw.start:
            stack.pop()
        outside = stack[-1][1] if stack else ()
        path = (*outside, *filter(None, raw.owner.split(".")), raw.name)[-MAX_DEPTH:]
        if raw.kind is not None:
            kind = _kind(raw, stack[-1][0] if stack else None)
            definitions.append(
                Definition(
                    raw.name,
                    ".".join(path),
                    kind,
                    raw.start,
                    raw.end,
                    raw.line,
                    tuple(derived[index]),
                )
            )
        stack.append((raw, path))
    return tuple(definitions)


def _kind(raw: RawDefinition, outside: RawDefinition | None) -> DefinitionKind:
    if raw.kind is not DefinitionKind.FUNCTION:
        return raw.kind or DefinitionKind.MODULE
    inside = raw.owner or (outside is not None and outside.kind in (DefinitionKind.CLASS, None))
    return DefinitionKind.METHOD if inside else DefinitionKind.FUNCTION


def _bases(
    ordered: Sequence[RawDefinition], bases: Sequence[tuple[str, int]]
) -> dict[int, list[str]]:
    """Give each base to the class whose beginning it stands nearest after."""
    classes = [
        (raw.start, index) for index, raw in enumerate(ordered) if raw.kind is DefinitionKind.CLASS
    ]
    starts = [start for start, _ in classes]
    derived: dict[int, list[str]] = defaultdict(list)
    for name, at in bases:
        place = bisect_right(starts, at) - 1
        if place >= 0:
            derived[classes[place][1]].append(name.replace("::", "."))
    return derived


# What holds one thing and passes calls on to it; a list or a map does not.
_TRANSPARENT = re.compile(
    r"(?:typing\.)?(?:Optional|Annotated|Final|ClassVar|Box|Rc|Arc|Ref|unique_ptr|shared_ptr|"
    r"Readonly|Partial)\s*[\[<]\s*"
)
_NOISE = re.compile(
    r"[&*\s\"'(]+|(?:const|mut|dyn|impl|struct|class|final|volatile|std::|'\w+)(?=[\s:&*<\w])\s*"
)
_INFERRED = frozenset({"auto", "var"})  # the compiler knows, the text does not say
_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*")


def type_name(text: str) -> str:
    """Return the name of a type with full stops between its parts; empty where it has none.

    >>> [type_name(text) for text in ("Optional[Store]", "*Server", "&mut shop::Cart", "'Flask | None'", "List<Item>", "func()")]
    ['Store', 'Server', 'shop.Cart', 'Flask', 'List', 'func']
    """
    at = 0
    for _ in range(_MAX_WRAPPINGS):
        wrapped = _NOISE.match(text, at) or _TRANSPARENT.match(text, at)
        if wrapped is None:
            break
        at = wrapped.end()
    found = _NAME.match(text, at)
    name = found.group().replace("::", ".") if found else ""
    return "" if name in _INFERRED else name


_MAX_WRAPPINGS = 12


_PATH = re.compile(r"[^\W\d]\w*(?:(?:\.|::|->|\?\.)[^\W\d]\w*)*")
_KINDS = {
    "function": DefinitionKind.FUNCTION,
    "class": DefinitionKind.CLASS,
    "module": DefinitionKind.MODULE,
    "scope": None,  # holds definitions and is none: the `impl` of a type
}
_SELF_NAMES = frozenset({"self", "cls", "this"})


def symbols(text: str, *, language: str) -> FileSymbols:
    r"""Return what a file defines, imports and calls; from a file with errors, what can be had.

    >>> found = symbols("import os\n\nclass Café:\n    def open(self):\n        return os.getcwd()\n", language="python")
    >>> [definition.qualified for definition in found.definitions], found.imports[0].module, found.calls[0][:2]
    (['Café', 'Café.open'], 'os', ('getcwd', 'os'))
    """
    if language not in GRAMMARS:
        raise InputError(
            "language", language, "has no grammar", f"Use one of {', '.join(sorted(GRAMMARS))}."
        )
    reading = _Reading(language)
    for match in captures(text, language):
        reading.take(match)
    return reading.symbols()


@dataclass(slots=True)
class _Reading:
    """The symbols of one file, as they are found."""

    language: str
    package: str = ""
    raw: list[RawDefinition] = field(default_factory=list)
    bases: list[Captured] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)

    def take(self, match: Mapping[str, Captured]) -> None:
        if "called" in match:
            self._call(match["called"], match.get("receiver"))
        elif "bound" in match or "field" in match:
            self._binding(match)
        elif "import" in match:
            self.imports += imports_of(match["import"], match.get("target"), self.language)
        elif "name" in match:
            self._definition(match)
        elif "base" in match:
            self.bases.append(match["base"])
        elif "package" in match:
            self.package = self.package or match["package"].text

    def _call(self, called: Captured, receiver: Captured | None) -> None:
        owner, name = split_qualified(called.text)
        before = owner if receiver is None else receiver_of(receiver.text)
        # without the arguments of a template
        start, name = called.end - len(name), name.partition("<")[0]
        if name:
            self.calls.append(Call(name, before, start, start + len(name), called.line))

    def _binding(self, match: Mapping[str, Captured]) -> None:
        bound = match.get("bound") or match["field"]
        if "self" in match and match["self"].text not in _SELF_NAMES:
            return
        kind = type_name(match["type"].text) if "type" in match else ""
        self.bindings.append(Binding(bound.text, kind, bound.start, "field" in match))

    def _definition(self, match: Mapping[str, Captured]) -> None:
        role = next(role for role in _KINDS if role in match)
        owner, name = split_qualified(match["name"].text)
        owner = type_name(match["owner"].text) if "owner" in match else owner
        name = type_name(name) if role == "scope" else name
        if name:
            whole = match[role]
            self.raw.append(
                RawDefinition(whole.start, whole.end, whole.line, name, owner, _KINDS[role])
            )

    def symbols(self) -> FileSymbols:
        return FileSymbols(
            language=self.language,
            package=self.package,
            definitions=nest_definitions(
                self.raw, [(base.text, base.start) for base in self.bases if base.text]
            ),
            imports=_first_of_each_place(
                sorted(
                    self.imports,
                    key=lambda each: (each.start, each.end, not each.names, not each.alias),
                )
            ),
            calls=tuple(sorted(set(self.calls), key=lambda call: call.start)),
            bindings=_typed_first(self.bindings),
        )


def _first_of_each_place(imports: Sequence[Import]) -> tuple[Import, ...]:
    """Leave out the plain reading of a statement that another pattern has read with its names."""
    return tuple(
        {(each.start, each.module, each.names): each for each in _without_plain(imports)}.values()
    )


def _without_plain(imports: Sequence[Import]) -> Iterable[Import]:
    for _, same in groupby(imports, key=lambda each: (each.start, each.module)):
        group = list(same)
        said = [each for each in group if each.names or each.alias]
        yield from said or group[:1]


def _typed_first(bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Keep one binding of each place, with its type where any pattern knew it."""
    ordered = sorted(
        bindings, key=lambda each: (each.start, not each.field, not each.type, each.type)
    )
    return tuple(
        next(same) for _, same in groupby(ordered, key=lambda each: (each.start, each.field))
    )


def split_qualified(name: str) -> tuple[str, str]:
    """Split a qualified name of C++ into what it stands in, in our spelling, and its last part.

    >>> split_qualified("shop::Cart::add"), split_qualified("add")
    (('shop.Cart', 'add'), ('', 'add'))
    """
    owner, _, last = name.rpartition("::")
    return owner.replace("::", "."), last


def receiver_of(text: str) -> str:
    """Return a receiver with full stops between its names, or `EXPRESSION` if it is no path.

    >>> receiver_of("self.store"), receiver_of("crate::shop"), receiver_of("cart->items"), receiver_of("f(x)"), receiver_of("super()")
    ('self.store', 'crate.shop', 'cart.items', '…', 'super')
    """
    if text == "super()":
        return "super"
    return re.sub(r"::|->|\?\.", ".", text) if _PATH.fullmatch(text) else EXPRESSION
