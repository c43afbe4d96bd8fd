"""Options that several commands take, and how their values are read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, BinaryIO

import click

from clew.errors import InputError
from clew.files import MEGABYTE, bounded_lines, open_file, read_stream
from clew.parsing import parse_json

# The values that a shell completes: those of the defaults, so that completing reads no file and
# opens no store.

RECIPES = (
    "fast",
    "balanced",
    "thorough",
    "reranked",
    "agent",
    "staged",
    "passages",
    "lexical",
    "dense",
)


def presets(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[str]:  # noqa: ARG001 - click's signature, of all four
    """Return the presets that begin with what was typed."""
    from clew.settings import ScoreSettings  # noqa: PLC0415 - only who completes needs it

    return _beginning(typed, ScoreSettings().presets)


def recipes(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[str]:  # noqa: ARG001
    """Return the recipes that begin so."""
    return _beginning(typed, RECIPES)


def categories(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[str]:  # noqa: ARG001
    """Return the categories that begin so."""
    from clew.settings import MemorySettings  # noqa: PLC0415

    return _beginning(typed, MemorySettings().categories)


def setting_keys(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[str]:  # noqa: ARG001
    """Return the sections and keys of the settings that begin so."""
    from clew.settings.sections import declared  # noqa: PLC0415

    keys = [key for key, _, _ in declared()]
    return _beginning(typed, [*dict.fromkeys(key.partition(".")[0] for key in keys), *keys])


def _beginning(typed: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(typed)]


STDIN = "-"
# of a text or a line; what is longer than a memory may be is rejected with its length
MOST_STDIN_BYTES = 16 * MEGABYTE


def filters(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that narrow what is seen, and pass them on together as `where`."""

    @click.option(
        "--space", metavar="NAME", help="Look in this space only. [the setting store.space]"
    )
    @click.option(
        "--category",
        "categories",
        metavar="NAME",
        multiple=True,
        shell_complete=categories,
        help="Only this category; repeat for several.",
    )
    @click.option(
        "--tag",
        "tags",
        metavar="NAME",
        multiple=True,
        help="Only with this tag; repeat to ask for all of several.",
    )
    @click.option(
        "--metadata",
        metavar="KEY=VALUE",
        multiple=True,
        help="Only with this metadata; repeatable.",
    )
    @click.option(
        "--since", metavar="DATE", help="Only what became true then or later, such as 2026-03-01."
    )
    @click.option("--until", metavar="DATE", help="Only what became true by the end of then.")
    @wraps(function)
    def run(
        *args: Any,
        space: str | None,
        categories: tuple[str, ...],
        tags: tuple[str, ...],
        metadata: tuple[str, ...],
        since: str | None,
        until: str | None,
        **options: Any,
    ) -> Any:
        asked = {
            "space": space,
            "category": categories,
            "tags": tags,
            "metadata": pairs(metadata),
            "since": since,
            "until": until,
        }
        where = {name: value for name, value in asked.items() if value not in (None, (), {})}
        return function(*args, where=where, **options)

    return run


def pairs(given: Iterable[str]) -> dict[str, Any]:
    """Return KEY=VALUE pairs as a mapping; a value that is JSON is read as JSON, any other is text.

    >>> pairs(["port=5432", "host=db-1", 'zip="01067"', "x=NaN"])
    {'port': 5432, 'host': 'db-1', 'zip': '01067', 'x': 'NaN'}
    """
    found = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(
                "metadata", pair, "is not KEY=VALUE", "Write it as --metadata team=search."
            )
        found[key] = _value(value)
    return found


def _value(text: str) -> Any:
    try:
        return parse_json(text, parse_constant=_refuse)
    except ValueError:
        return text


def _refuse(name: str) -> None:
    raise ValueError(name)  # NaN and the infinities are no JSON


def weights(given: str | None) -> dict[str, float] | None:
    """Return weights written as semantic=0.8,recency=0.2; the engine judges names and values.

    >>> weights("semantic=0.8, recency=0.2")
    {'semantic': 0.8, 'recency': 0.2}
    """
    if given is None:
        return None
    try:
        return {
            name.strip(): float(value)
            for name, value in (part.split("=") for part in given.split(","))
        }
    except ValueError as error:
        raise InputError(
            "weights",
            given,
            "are not NAME=NUMBER pairs",
            "Write them as --weights semantic=0.8,recency=0.2.",
        ) from error


def stdin_lines() -> Iterator[str]:
    """Yield the lines of stdin as they come, without their ends.

    Bytes that are no UTF-8 stay recognisable as such.
    """
    for line in bounded_lines(sys.stdin.buffer, limit_bytes=MOST_STDIN_BYTES):
        yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")


def argument_or_stdin(value: str) -> str:
    """Return an argument, or all of stdin where the argument is a dash."""
    if value != STDIN:
        return value
    return (
        read_stream(sys.stdin.buffer, limit_bytes=MOST_STDIN_BYTES)
        .decode("utf-8", "surrogateescape")
        .strip()
    )


def open_argument(path: str, way_out: str) -> BinaryIO:
    """Open the file that an argument names; refuse what is no regular file."""
    try:
        return open_file(path)
    except OSError as error:
        raise InputError("path", path, f"cannot be read: {error.strerror}", way_out) from error
