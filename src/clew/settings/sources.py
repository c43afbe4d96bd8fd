"""Where settings come from: defaults, one file, the environment, arguments, the later over the earlier."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from clew.errors import NAME_CHARACTERS, SettingError, clipped
from clew.parsing import parse_toml, parse_yaml
from clew.settings.checks import check_together, read, refuse
from clew.settings.sections import Settings, declared
from clew.settings.spec import spec_of
from clew.user_files import expanded, read_file

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


def load(path: Path | None = None, *, environ: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None) -> Loaded:
    """Read the settings from all sources; anything unknown or out of range is a SettingError."""
    environ = os.environ if environ is None else environ
    file = _chosen_file(path, environ)
    specs = {key: spec_of(field) for key, field, _ in declared()}
    values = {key: default for key, _, default in declared()}
    sources = dict.fromkeys(values, "default")
    for key, raw, source in (*_from_file(file), *_from_environment(environ), *_flat(overrides or {}, "argument")):
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
        sections[section.name] = kind(**{field.name: values[f"{section.name}.{field.name}"] for field in fields(kind)})
    return Settings(**sections)


def _chosen_file(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    if path is not None:
        return expanded(path)
    if named := environ.get("CLEW_CONFIG"):
        return expanded(named)
    folder = Path(environ.get("HOME") or Path.home()) / CONFIG_FOLDER
    present = [folder / name for name in CONFIG_NAMES if os.path.lexists(folder / name)]  # what cannot be read is not passed over
    if len(present) > 1:
        raise SettingError(
            "configuration", [file.name for file in present], f"there is more than one file in {folder}", "Keep one of them."
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
            "configuration", str(file), f"the file cannot be read: {error.strerror}", "Name another file, or make it readable."
        ) from error
    except ValueError as error:  # the parsers' own errors, a wrong encoding, a name that no file can have
        raise SettingError(
            "configuration", str(file), f"the file does not parse: {clipped(str(error))}", "Mend the place named."
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
    for name in sorted(environ):  # sorted: which of two errors is shown must not depend on the environment's order
        if name.startswith(PREFIX) and "__" in name and environ[name]:
            yield name.removeprefix(PREFIX).lower().replace("__", ".", 1), environ[name], f"env:{name}"


def _refuse_unknown(key: str, raw: Any, source: str, *, known: list[str]) -> None:
    import difflib  # noqa: PLC0415 - only the way to an error needs it

    key = clipped(key, to=NAME_CHARACTERS)
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.0) if "." in key else []
    sections = sorted({each.partition(".")[0] for each in known})
    nearest = near[0] if near else (difflib.get_close_matches(key, sections, n=1, cutoff=0.0) or [sections[0]])[0]
    shown = f"{PREFIX}{nearest.replace('.', '__').upper()}" if source.startswith("env:") else nearest
    refuse(key, raw, f"there is no such setting; the nearest is {shown}", source)
