"""Parse JSON, YAML and TOML that come from outside.

Nothing nests without end or stands for more than it says.

Each parser raises a ParseError that says what is wrong and repeats little of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from clew.errors import clipped

if TYPE_CHECKING:
    import yaml

MAX_DEPTH = 100  # levels of lists and mappings
CONTAINERS = (Mapping, list, tuple)


class ParseError(ValueError):
    """A text that cannot be parsed, and the line of the problem where that is known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(clipped(problem))
        self.line = line


def check_depth(value: object, limit: int = MAX_DEPTH) -> None:
    """Raise a ParseError if lists and mappings nest too deeply."""
    level: list[Any] = [value] if isinstance(value, CONTAINERS) else []
    for _ in range(limit):  # level by level: what is too deep is too deep for recursion
        level = [
            each
            for outer in level
            for each in (outer.values() if isinstance(outer, Mapping) else outer)
            if isinstance(each, CONTAINERS)
        ]
        if not level:
            return
    raise _too_deep(limit)


def _too_deep(limit: int = MAX_DEPTH, line: int | None = None) -> ParseError:
    return ParseError(f"is nested more than {limit} levels deep", line)


def parse_json(text: str | bytes, *, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Return the value of a JSON text."""
    import json  # noqa: PLC0415 - settings need no parser

    try:
        value = json.loads(text, parse_constant=parse_constant)
    except RecursionError as error:
        raise _too_deep() from error
    except json.JSONDecodeError as error:
        raise ParseError(f"is not JSON ({error})", error.lineno) from error
    except (
        ValueError
    ) as error:  # no UTF-8, a number with too many digits, or what `parse_constant` says
        raise ParseError(f"cannot be read as JSON ({error})") from error
    check_depth(value)
    return value


def parse_yaml(text: str, loader: type[yaml.SafeLoader] | None = None) -> Any:
    """Return the value of a YAML text.

    Aliases are refused, as a few lines of them can stand for more than fits in memory.
    """
    import yaml  # noqa: PLC0415 - 30 ms, and most stores have no file

    try:
        return yaml.load(text, _limited(loader or yaml.SafeLoader))  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise ParseError(f"is not YAML ({' '.join(str(error).split())})", line) from error
    except ParseError:
        raise
    except RecursionError as error:
        raise _too_deep() from error
    # A value that is not what its tag says: PyYAML raises whatever comes.
    except (
        yaml.YAMLError,
        ValueError,
        LookupError,
        AttributeError,
        TypeError,
        OverflowError,
    ) as error:
        raise ParseError(f"is not YAML ({' '.join(str(error).split())})") from error


def _limited(loader: type[yaml.SafeLoader]) -> type[yaml.SafeLoader]:
    import yaml  # noqa: PLC0415 - as above

    class Limited(loader):  # type: ignore[misc,valid-type]  # a class of the caller's choice
        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                line = self.peek_event().start_mark.line + 1
                raise ParseError(f"uses an alias on line {line}; write the value out", line)
            if self.depth > MAX_DEPTH:  # the innermost value counts too
                raise _too_deep()
            self.depth += 1
            try:
                node: yaml.Node | None = super().compose_node(parent, index)
            finally:
                self.depth -= 1
            return node

    return Limited


def parse_toml(text: str) -> Any:
    """Return the value of a TOML text."""
    import tomllib  # noqa: PLC0415 - most stores have no file

    for number, line in enumerate(text.splitlines(), start=1):
        # tomllib takes the square of a dotted key's length
        if line.partition("=")[0].count(".") > MAX_DEPTH:
            raise _too_deep(line=number)
    try:
        value = tomllib.loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise ParseError(f"is not TOML ({error})") from error
    check_depth(value)
    return value
