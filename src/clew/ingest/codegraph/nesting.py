"""What stands inside what? Definitions get their qualified names from the spans around them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clew.ingest.codegraph.values import Definition, DefinitionKind

DEEPEST = 20  # names of a qualified name; deeper ones are told by their innermost


class Raw(NamedTuple):
    """A definition as it was found; `owner` is the type that it names itself, `kind` is None for what only holds others."""

    start: int
    end: int
    line: int
    name: str
    owner: str
    kind: DefinitionKind | None


def nested(found: Iterable[Raw], bases: Sequence[tuple[str, int]]) -> tuple[Definition, ...]:
    """Return the definitions in the order of the text, each with the names around it and a class with its bases."""
    ordered = sorted(set(found), key=lambda raw: (raw.start, -raw.end, raw.name))
    derived = _bases(ordered, bases)
    stack: list[tuple[Raw, tuple[str, ...]]] = []
    definitions: list[Definition] = []
    for index, raw in enumerate(ordered):
        while stack and stack[-1][0].end <= raw.start:
            stack.pop()
        outside = stack[-1][1] if stack else ()
        path = (*outside, *filter(None, raw.owner.split(".")), raw.name)[-DEEPEST:]
        if raw.kind is not None:
            kind = _kind(raw, stack[-1][0] if stack else None)
            definitions.append(Definition(raw.name, ".".join(path), kind, raw.start, raw.end, raw.line, tuple(derived[index])))
        stack.append((raw, path))
    return tuple(definitions)


def _kind(raw: Raw, outside: Raw | None) -> DefinitionKind:
    if raw.kind is not DefinitionKind.FUNCTION:
        return raw.kind or DefinitionKind.MODULE
    inside = raw.owner or (outside is not None and outside.kind in (DefinitionKind.CLASS, None))
    return DefinitionKind.METHOD if inside else DefinitionKind.FUNCTION


def _bases(ordered: Sequence[Raw], bases: Sequence[tuple[str, int]]) -> dict[int, list[str]]:
    """Give each base to the class whose beginning it stands nearest after."""
    classes = [(raw.start, index) for index, raw in enumerate(ordered) if raw.kind is DefinitionKind.CLASS]
    starts = [start for start, _ in classes]
    derived: dict[int, list[str]] = defaultdict(list)
    for name, at in bases:
        place = bisect_right(starts, at) - 1
        if place >= 0:
            derived[classes[place][1]].append(name.replace("::", "."))
    return derived
