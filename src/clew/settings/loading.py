"""Where settings come from.

Defaults, one file, the environment, arguments, the later over the earlier.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from clew.errors import NAME_CHARACTERS, SettingError, clipped
from clew.files import expanded, read_file
from clew.parsing import parse_toml, parse_yaml
from clew.settings.sections import FEATURE_WEIGHTS, Settings, declared
from clew.settings.spec import Spec, Weights, spec_of

# From what a person wrote to a value that holds: each kind of setting has one reader, which refuses
# the rest.

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
    error = SettingError(
        key,
        value,
        problem,
        f"It was set by {told}; `clew config` shows every setting and its source.",
    )
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
        (
            "memory.default_category",
            memory.default_category,
            memory.default_category in memory.categories,
            "must be in memory.categories",
        ),
        (
            "recall.preset",
            settings.recall.preset,
            settings.recall.preset in presets,
            f"must be one of {', '.join(presets)}",
        ),
        *(
            (
                "duplicates.near_threshold_by_category",
                name,
                name in memory.categories,
                "names a category that is not in memory.categories",
            )
            for name in settings.duplicates.near_threshold_by_category
        ),
        *(
            (
                "recall.weights",
                name,
                name in FEATURE_WEIGHTS,
                f"names no feature; use {', '.join(FEATURE_WEIGHTS)}",
            )
            for name in settings.recall.weights
        ),
        *(
            ("score.presets", name, any(weights), "a preset needs a weight above 0")
            for name, weights in presets.items()
        ),
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
        chosen = value.values() if isinstance(value, dict) else (value,)
        return all(each in spec.choices for each in chosen)
    numbers = [value] if isinstance(value, int | float) else []
    if isinstance(value, dict):
        numbers = [
            number
            for each in value.values()
            for number in (each if isinstance(each, Weights) else (each,))
        ]
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


def _strategies(raw: Any) -> dict[str, str]:
    """Read a mapping from format to name; a name alone is for all formats."""
    if isinstance(raw, str):
        return {"default": _text(raw)}
    return {_text(name): _text(value) for name, value in _mapping(raw).items()}


def _presets(raw: Any) -> dict[str, Weights]:
    return {_text(name): _weights(value) for name, value in _mapping(raw).items()}


def _weights(raw: Any) -> Weights:
    if isinstance(raw, Mapping):
        return Weights(
            **{"semantic": 0.0, "recency": 0.0, "importance": 0.0, "access": 0.0}
            | {name: _number(each) for name, each in raw.items()}
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
    "strategies": _strategies,
    "presets": _presets,
}


CONFIG_FOLDER = ".config/clew"  # under the home folder
CONFIG_NAMES = ("config.yaml", "config.yml", "config.toml")
MAX_CONFIG_BYTES = 256_000  # ten times a file with every setting and its comment
PREFIX = "CLEW_"
SHORTHANDS = {"CLEW_STORE": "store.path", "CLEW_SPACE": "store.space"}

Given: TypeAlias = tuple[str, Any, str]  # key, value as written, source


@dataclass(frozen=True)
class Loaded:
    """The settings in force, the source of each by dotted key, and the file that was read."""

    settings: Settings
    sources: Mapping[str, str]
    file: Path | None = None


def load(
    path: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Loaded:
    """Read the settings from all sources; anything unknown or out of range is a SettingError."""
    environ = os.environ if environ is None else environ
    file = _chosen_file(path, environ)
    specs = {key: spec_of(field) for key, field, _ in declared()}
    values = {key: default for key, _, default in declared()}
    sources = dict.fromkeys(values, "default")
    for key, raw, source in (
        *_from_file(file),
        *_from_environment(environ),
        *_flat(overrides or {}, "argument"),
    ):
        if key not in specs:
            _refuse_unknown(key, raw, source, known=list(specs))
        value = read(key, specs[key], raw, source)
        values[key] = {**values[key], **value} if isinstance(value, dict) else value
        sources[key] = source
    settings = _assembled(values)
    check_together(settings, sources)
    return Loaded(settings, sources, file)


def _assembled(values: Mapping[str, Any]) -> Settings:
    defaults = Settings()
    sections = {}
    for section in fields(defaults):
        kind = type(getattr(defaults, section.name))
        sections[section.name] = kind(
            **{field.name: values[f"{section.name}.{field.name}"] for field in fields(kind)}
        )
    return Settings(**sections)


def _chosen_file(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    if path is not None:
        return expanded(path)
    if named := environ.get("CLEW_CONFIG"):
        return expanded(named)
    folder = Path(environ.get("HOME") or Path.home()) / CONFIG_FOLDER
    # what cannot be read is not passed over
    present = [folder / name for name in CONFIG_NAMES if os.path.lexists(folder / name)]
    if len(present) > 1:
        raise SettingError(
            "configuration",
            [file.name for file in present],
            f"there is more than one file in {folder}",
            "Keep one of them.",
        )
    return present[0] if present else None


def _from_file(file: Path | None) -> Iterator[Given]:
    if file is None:
        return
    parsed = _parsed(file)
    if not isinstance(parsed, Mapping | None):
        raise SettingError(
            "configuration",
            parsed,
            f"{clipped(str(file))} must hold sections with keys",
            "`clew config --template` prints one to start from.",
        )
    yield from _flat(parsed or {}, f"file:{file}")


def _parsed(file: Path) -> Any:
    try:
        text = read_file(file, limit_bytes=MAX_CONFIG_BYTES).decode("utf-8")
        return _parser(file)(text)
    except OSError as error:
        raise SettingError(
            "configuration",
            str(file),
            f"the file cannot be read: {error.strerror}",
            "Name another file, or make it readable.",
        ) from error
    except (
        ValueError
    ) as error:  # the parsers' own errors, a wrong encoding, a name that no file can have
        raise SettingError(
            "configuration",
            str(file),
            f"the file does not parse: {clipped(str(error))}",
            "Mend the place named.",
        ) from error


def _parser(file: Path) -> Callable[[str], Any]:
    if file.suffix not in {".yaml", ".yml", ".toml"}:
        raise ValueError("its name must end in .yaml, .yml or .toml")
    return parse_toml if file.suffix == ".toml" else parse_yaml


def _flat(given: Mapping[Any, Any], source: str) -> Iterator[Given]:
    """Yield dotted keys from sections with keys, or from keys that are dotted already."""
    for name, value in given.items():
        if "." in str(name):
            yield str(name), value, source
        elif isinstance(value, Mapping):
            yield from ((f"{name}.{key}", each, source) for key, each in value.items())
        elif value is not None:  # a section with all its keys commented out
            yield str(name), value, source


def _from_environment(environ: Mapping[str, str]) -> Iterator[Given]:
    """Yield what the environment sets; an empty variable counts as unset, as in the shell."""
    for name, key in SHORTHANDS.items():
        if environ.get(name):
            yield key, environ[name], f"env:{name}"
    # sorted: which of two errors is shown must not depend on the environment's order
    for name in sorted(environ):
        if name.startswith(PREFIX) and "__" in name and environ[name]:
            yield (
                name.removeprefix(PREFIX).lower().replace("__", ".", 1),
                environ[name],
                f"env:{name}",
            )


def _refuse_unknown(key: str, raw: Any, source: str, *, known: list[str]) -> None:
    import difflib  # noqa: PLC0415 - only the way to an error needs it

    key = clipped(key, to=NAME_CHARACTERS)
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.0) if "." in key else []
    sections = sorted({each.partition(".")[0] for each in known})
    nearest = (
        near[0]
        if near
        else (difflib.get_close_matches(key, sections, n=1, cutoff=0.0) or [sections[0]])[0]
    )
    shown = (
        f"{PREFIX}{nearest.replace('.', '__').upper()}" if source.startswith("env:") else nearest
    )
    refuse(key, raw, f"there is no such setting; the nearest is {shown}", source)
