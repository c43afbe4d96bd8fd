"""From a text to its symbols: the matches of a query become definitions, imports, calls and bindings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from clew.errors import InputError
from clew.ingest.chunkers.languages import GRAMMARS
from clew.ingest.codegraph.captures import Captured, captures
from clew.ingest.codegraph.nesting import Raw, nested
from clew.ingest.codegraph.statements import imports_of
from clew.ingest.codegraph.typenames import type_name
from clew.ingest.codegraph.values import EXPRESSION, Binding, Call, DefinitionKind, FileSymbols, Import

_PATH = re.compile(r"[^\W\d]\w*(?:(?:\.|::|->|\?\.)[^\W\d]\w*)*")
_KINDS = {
    "function": DefinitionKind.FUNCTION,
    "class": DefinitionKind.CLASS,
    "module": DefinitionKind.MODULE,
    "scope": None,  # holds definitions and is none: the `impl` of a type
}
_SELVES = frozenset({"self", "cls", "this"})


def symbols(text: str, *, language: str) -> FileSymbols:
    r"""Return what a file defines, imports and calls; from a file with errors, what can be had.

    >>> found = symbols("import os\n\nclass Café:\n    def open(self):\n        return os.getcwd()\n", language="python")
    >>> [definition.qualified for definition in found.definitions], found.imports[0].module, found.calls[0][:2]
    (['Café', 'Café.open'], 'os', ('getcwd', 'os'))
    """
    if language not in GRAMMARS:
        raise InputError("language", language, "has no grammar", f"Use one of {', '.join(sorted(GRAMMARS))}.")
    reading = _Reading(language)
    for match in captures(text, language):
        reading.take(match)
    return reading.symbols()


@dataclass(slots=True)
class _Reading:
    """The symbols of one file, as they are found."""

    language: str
    package: str = ""
    raw: list[Raw] = field(default_factory=list)
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
        owner, name = parted(called.text)
        before = owner if receiver is None else receiver_of(receiver.text)
        start, name = called.end - len(name), name.partition("<")[0]  # without the arguments of a template
        if name:
            self.calls.append(Call(name, before, start, start + len(name), called.line))

    def _binding(self, match: Mapping[str, Captured]) -> None:
        bound = match.get("bound") or match["field"]
        if "self" in match and match["self"].text not in _SELVES:
            return
        kind = type_name(match["type"].text) if "type" in match else ""
        self.bindings.append(Binding(bound.text, kind, bound.start, "field" in match))

    def _definition(self, match: Mapping[str, Captured]) -> None:
        role = next(role for role in _KINDS if role in match)
        owner, name = parted(match["name"].text)
        owner = type_name(match["owner"].text) if "owner" in match else owner
        name = type_name(name) if role == "scope" else name
        if name:
            whole = match[role]
            self.raw.append(Raw(whole.start, whole.end, whole.line, name, owner, _KINDS[role]))

    def symbols(self) -> FileSymbols:
        return FileSymbols(
            language=self.language,
            package=self.package,
            definitions=nested(self.raw, [(base.text, base.start) for base in self.bases if base.text]),
            imports=_first_of_each_place(sorted(self.imports, key=lambda each: (each.start, each.end, not each.names, not each.alias))),
            calls=tuple(sorted(set(self.calls), key=lambda call: call.start)),
            bindings=_typed_first(self.bindings),
        )


def _first_of_each_place(imports: Sequence[Import]) -> tuple[Import, ...]:
    """Leave out the plain reading of a statement that another pattern has read with its names."""
    return tuple({(each.start, each.module, each.names): each for each in _not_plain(imports)}.values())


def _not_plain(imports: Sequence[Import]) -> Iterable[Import]:
    for _, same in groupby(imports, key=lambda each: (each.start, each.module)):
        group = list(same)
        said = [each for each in group if each.names or each.alias]
        yield from said or group[:1]


def _typed_first(bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Keep one binding of each place, with its type where any pattern knew it."""
    ordered = sorted(bindings, key=lambda each: (each.start, not each.field, not each.type, each.type))
    return tuple(next(same) for _, same in groupby(ordered, key=lambda each: (each.start, each.field)))


def parted(name: str) -> tuple[str, str]:
    """Split a qualified name of C++ into what it stands in, in our spelling, and its last part.

    >>> parted("shop::Cart::add"), parted("add")
    (('shop.Cart', 'add'), ('', 'add'))
    """
    owner, _, last = name.rpartition("::")
    return owner.replace("::", "."), last


def receiver_of(text: str) -> str:
    """Return a receiver in our spelling, with full stops, or `EXPRESSION` where it is not a path of names.

    >>> receiver_of("self.store"), receiver_of("crate::shop"), receiver_of("cart->items"), receiver_of("f(x)"), receiver_of("super()")
    ('self.store', 'crate.shop', 'cart.items', '…', 'super')
    """
    if text == "super()":
        return "super"
    return re.sub(r"::|->|\?\.", ".", text) if _PATH.fullmatch(text) else EXPRESSION
