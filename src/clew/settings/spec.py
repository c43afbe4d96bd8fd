"""Declare settings: the kind, bounds and description of each, next to its default."""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

_SPEC = "clew"  # the one key of a field's metadata that is ours


class Weights(NamedTuple):
    """The weight of each component of a score."""

    semantic: float
    recency: float
    importance: float
    access: float


@dataclass(frozen=True, eq=False)
class Spec:
    """The description and the limits of one setting."""

    description: str
    kind: str
    minimum: float = -math.inf
    maximum: float = math.inf
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """Say in words what values this setting takes."""
        if self.choices and self.kind == "strategies":
            return f"a mapping from a format, or default, to one of {', '.join(self.choices)}"
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        return _NOUNS[self.kind] + _range(self.minimum, self.maximum)


_NOUNS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "names": "a list of names",
    "any_names": "a list of names, or none",
    "thresholds": "a mapping from name to a number",
    "strategies": "a mapping from a format, or default, to a name",
    "presets": "a mapping from name to four weights (semantic, recency, importance, access)",
}


def _range(minimum: float, maximum: float) -> str:
    if math.isinf(minimum) and math.isinf(maximum):
        return ""
    return (
        f" of at least {minimum:g}" if math.isinf(maximum) else f" from {minimum:g} to {maximum:g}"
    )


def setting(
    default: T,
    description: str,
    *,
    within: tuple[float, float] | None = None,
    choices: tuple[str, ...] = (),
) -> T:
    """Declare a setting by its default, one line about it, and what values it takes."""
    minimum, maximum = within or (-math.inf, math.inf)
    spec = Spec(description, _kind(default), minimum, maximum, choices)
    made: Any = (
        field(default_factory=default.copy, metadata={_SPEC: spec})
        if isinstance(default, dict)
        else field(default=default, metadata={_SPEC: spec})
    )
    return made  # type: ignore[no-any-return]  # a dataclass reads it as the field it is


def spec_of(declared: Field[Any]) -> Spec:
    """Return what was declared beside a field's default."""
    found: Spec = declared.metadata[_SPEC]
    return found


def _kind(default: object) -> str:
    if isinstance(default, tuple):
        return "names" if default else "any_names"  # only what is empty by default may be empty
    if isinstance(default, dict):
        if any(isinstance(value, str) for value in default.values()):
            return "strategies"
        return (
            "presets"
            if any(isinstance(value, Weights) for value in default.values())
            else "thresholds"
        )
    return type(default).__name__
