"""Which definitions stand around a place of a file, and what do names mean there?"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from clew.ingest.codegraph.values import Binding, Definition, DefinitionKind, FileSymbols

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
        """Return what a scope binds a name to at an offset: the last binding before it, else its first."""
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
