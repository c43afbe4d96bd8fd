"""Find every regular expression of the package.

Those kept in modules, those in calls, and those compiled on first use.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import clew

CALLS = frozenset(
    {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
)
# functions that compile and remember a pattern when it is first used
COMPILERS = frozenset({"compile_pattern", "_compile", "_compile_ignoring_case", "_compiled"})
ANCHORED = frozenset({"match", "fullmatch"})
DEEPEST = 7  # levels of containers and values inside a module


@dataclass
class Found:
    """A pattern, where it stands, and whether it is ever searched for (rather than tried at one place only)."""

    pattern: re.Pattern[Any]
    where: str
    searched: bool = True


@dataclass
class Package:
    """All modules with their sources, and all values of the package's own classes that their globals lead to."""

    modules: dict[str, types.ModuleType] = field(default_factory=dict)
    trees: dict[str, ast.Module] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)
    kept: dict[re.Pattern[Any], str] = field(default_factory=dict)


def read_package() -> Package:
    """Import every module and walk through what it holds."""
    package = Package()
    for each in pkgutil.walk_packages(clew.__path__, "clew."):
        if each.name.endswith("__main__"):
            continue
        try:
            package.modules[each.name] = importlib.import_module(each.name)
        except ModuleNotFoundError:
            # An adapter whose framework is not installed: its own environment tests it.
            if not each.name.startswith("clew.integrations."):
                raise
    seen: dict[int, object] = {}  # the values too: an id may be used again once its value is gone
    for name, module in package.modules.items():
        package.trees[name] = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for key, value in list(vars(module).items()):
            _walk(value, f"{name}.{key}", package, seen, 0)
    return package


def _walk(value: Any, where: str, package: Package, seen: dict[int, object], depth: int) -> None:
    if isinstance(value, re.Pattern):
        package.kept.setdefault(value, where)
        return
    if (
        id(value) in seen
        or depth > DEEPEST
        or isinstance(value, str | bytes | int | float | types.ModuleType)
    ):
        return
    seen[id(value)] = value
    if _is_own(type(value)):
        package.values.append(value)
    for name, inside in _inside(value):
        _walk(inside, f"{where}{name}", package, seen, depth + 1)


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a value holds: entries, attributes, what a function closes over, what it wraps."""
    if isinstance(value, dict | types.MappingProxyType):
        yield from ((f"[{key!r}]", each) for key, each in list(value.items()))
        yield from ((".keys()", each) for each in list(value))
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((f"[{at}]", each) for at, each in enumerate(value))
    if isinstance(value, types.FunctionType):
        yield from (
            ("()", cell.cell_contents) for cell in value.__closure__ or () if _is_filled(cell)
        )
        yield "()", (value.__defaults__, value.__kwdefaults__)
    elif isinstance(value, type) and value.__module__.startswith("clew"):
        yield from ((f".{name}", each) for name, each in list(vars(value).items()))
    elif _is_own(type(value)):
        slots = {
            name
            for each in type(value).__mro__
            for name in getattr(each, "__slots__", ())
            if name != "__weakref__"
        }
        names = slots | set(getattr(value, "__dict__", {}))
        yield from (
            (f".{name}", getattr(value, name)) for name in sorted(names) if hasattr(value, name)
        )
    if callable(value) and hasattr(value, "__wrapped__"):
        yield "", value.__wrapped__


def _is_own(kind: type) -> bool:
    return kind.__module__.startswith("clew")


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def find_patterns(package: Package) -> tuple[list[Found], list[str]]:
    """Return every pattern, each once, and the calls whose pattern cannot be told from the source."""
    uses = _uses(package)
    found = {
        pattern: Found(pattern, where, _is_searched(where, uses))
        for pattern, where in package.kept.items()
    }
    unknown = []
    for name, tree in package.trees.items():
        methods = {
            id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and call.args and _compiles(call):
                patterns = list(_evaluated(call, package.modules[name], package))
                for pattern in patterns:
                    each = found.setdefault(
                        pattern, Found(pattern, f"{name}:{call.lineno}", searched=False)
                    )
                    if pattern not in package.kept:
                        each.searched |= (
                            methods.get(
                                id(call),
                                call.func.attr if isinstance(call.func, ast.Attribute) else "",
                            )
                            not in ANCHORED
                        )
                if not patterns:
                    unknown.append(f"{name}: {ast.unparse(call)}")
    return list(found.values()), unknown


def _compiles(call: ast.Call) -> bool:
    function = ast.unparse(call.func)
    return function in COMPILERS or (function.startswith("re.") and function[3:] in CALLS)


def _evaluated(
    call: ast.Call, module: types.ModuleType, package: Package
) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns that a call compiles.

    From constants and globals, or from attributes of the package's values.
    """
    function = ast.unparse(call.func)
    compiler = vars(module)[function] if function in COMPILERS else re.compile
    given = call.args if function in COMPILERS or function == "re.compile" else call.args[:1]
    names = [
        argument.attr
        for argument in given
        if isinstance(argument, ast.Attribute) and isinstance(argument.value, ast.Name)
    ]
    if function in COMPILERS and len(names) == len(given):
        for value in package.values:
            if (
                type(value).__module__ == module.__name__
                and all(hasattr(value, name) for name in names)
                and getattr(value, names[0])
            ):
                yield compiler(*(getattr(value, name) for name in names))
        return
    try:
        yield compiler(*(eval(ast.unparse(argument), dict(vars(module))) for argument in given))
    except NameError:
        return


def _uses(package: Package) -> dict[str, set[str]]:
    """Return with which methods each global name is used, "" for any use but a call of a method."""
    uses: dict[str, set[str]] = {}
    for name, tree in package.trees.items():
        methods = {
            id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                uses.setdefault(f"{name}.{node.id}", set()).add(methods.get(id(node), ""))
            elif isinstance(node, ast.ImportFrom):
                for each in node.names:
                    uses.setdefault(f"{node.module}.{each.name}", set()).add("")
    return uses


def _is_searched(where: str, uses: dict[str, set[str]]) -> bool:
    return not uses.get(where, {""}) <= ANCHORED
