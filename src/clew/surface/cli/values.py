"""The values that a shell completes: those of the defaults, so that completing reads no file and opens no store."""

from __future__ import annotations

from collections.abc import Iterable

import click

RECIPES = ("fast", "balanced", "thorough", "reranked", "agent", "staged", "passages", "lexical", "dense")


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
