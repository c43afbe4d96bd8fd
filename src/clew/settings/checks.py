"""From what a person wrote to a value that holds: each kind of setting has one reader, which refuses the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from clew.errors import NAME_CHARACTERS, SettingError, clipped
from clew.parsing import parse_yaml
from clew.settings.feature_weights import FEATURE_WEIGHTS
from clew.settings.sections import Settings
from clew.settings.spec import Spec, Weights

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def read(key: str, spec: Spec, raw: Any, source: str) -> Any:
    """Return the value of a setting, or raise a SettingError that names key, value, limits and source."""
    try:
        value = _READERS[spec.kind](_untexted(spec.kind, raw))
    except (ValueError, TypeError, OverflowError):
        value = None
    if value is None or not _within(spec, value):
        refuse(key, raw, f"must be {spec.allowed}", source)
    return value


def refuse(key: str, value: object, problem: str, source: str) -> NoReturn:
    """Raise the error for a wrong value, saying where it was set."""
    told = clipped(source, to=NAME_CHARACTERS)
    error = SettingError(key, value, problem, f"It was set by {told}; `clew config` shows every setting and its source.")
    error.facts["source"] = told
    raise error


def check_together(settings: Settings, sources: Mapping[str, str]) -> None:
    """Refuse settings that are each fine and contradict each other."""
    memory, presets = settings.memory, settings.score.presets
    rules: tuple[tuple[str, object, bool, str], ...] = (
        (
            "memory.max_characters",
            memory.max_characters,
            memory.max_characters >= memory.min_characters,
            "must not be below memory.min_characters",
        ),
        ("memory.default_category", memory.default_category, memory.default_category in memory.categories, "must be in memory.categories"),
        ("recall.preset", settings.recall.preset, settings.recall.preset in presets, f"must be one of {', '.join(presets)}"),
        *(
            ("duplicates.near_threshold_by_category", name, name in memory.categories, "names a category that is not in memory.categories")
            for name in settings.duplicates.near_threshold_by_category
        ),
        *(
            ("recall.weights", name, name in FEATURE_WEIGHTS, f"names no feature; use {', '.join(FEATURE_WEIGHTS)}")
            for name in settings.recall.weights
        ),
        *(("score.presets", name, any(weights), "a preset needs a weight above 0") for name, weights in presets.items()),
    )
    for key, value, holds, problem in rules:
        if not holds:
            refuse(key, value, problem, sources[key])


def _untexted(kind: str, raw: Any) -> Any:
    """Read text, as the environment and options give it, in the way of the setting's kind."""
    if kind in {"str", "bool", "int", "float"} or not isinstance(raw, str):
        return raw
    return parse_yaml(raw)


def _within(spec: Spec, value: Any) -> bool:
    if spec.choices:
        return value in spec.choices
    numbers = [value] if isinstance(value, int | float) else []
    if isinstance(value, dict):
        numbers = [number for each in value.values() for number in (each if isinstance(each, Weights) else (each,))]
    return all(spec.minimum <= number <= spec.maximum for number in numbers)


def _text(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip() or not raw.isprintable():
        raise TypeError(raw)
    return raw


def _switch(raw: Any) -> bool:
    if isinstance(raw, str) and raw.casefold() in _TRUE | _FALSE:
        return raw.casefold() in _TRUE
    if not isinstance(raw, bool):
        raise TypeError(raw)
    return raw


def _whole(raw: Any) -> int:
    if isinstance(raw, str):
        return int(raw)
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise TypeError(raw)
    return raw


def _number(raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):  # YAML reads 1e-3 as text
        raise TypeError(raw)
    value = float(raw)
    if not math.isfinite(value):
        raise ValueError(raw)
    return value


def _names(raw: Any) -> tuple[str, ...]:
    if not raw:
        raise TypeError(raw)
    return _any_names(raw)


def _any_names(raw: Any) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple):
        raise TypeError(raw)
    return tuple(dict.fromkeys(_text(each) for each in raw))


def _thresholds(raw: Any) -> dict[str, float]:
    return {_text(name): _number(value) for name, value in _mapping(raw).items()}


def _presets(raw: Any) -> dict[str, Weights]:
    return {_text(name): _weights(value) for name, value in _mapping(raw).items()}


def _weights(raw: Any) -> Weights:
    if isinstance(raw, Mapping):
        return Weights(
            **{"semantic": 0.0, "recency": 0.0, "importance": 0.0, "access": 0.0} | {name: _number(each) for name, each in raw.items()}
        )
    if not isinstance(raw, list | tuple):
        raise TypeError(raw)
    return Weights(*map(_number, raw))


def _mapping(raw: Any) -> Mapping[Any, Any]:
    if not isinstance(raw, Mapping):
        raise TypeError(raw)
    return raw


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "bool": _switch,
    "int": _whole,
    "float": _number,
    "str": _text,
    "names": _names,
    "any_names": _any_names,
    "thresholds": _thresholds,
    "presets": _presets,
}
