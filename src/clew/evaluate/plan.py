"""What to measure: the options of an evaluation as one value, and who watches it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.engine.clew import silent
from clew.errors import InputError
from clew.evaluate.significance import RESAMPLES, SEED
from clew.ports import Progress
from clew.settings import Loaded
from clew.settings import load as load_settings

MAX_K = 1000  # the most a recall returns


def default_cache() -> Path:
    """Return the folder for vectors and answers: `clew/eval` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (
        (Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache")
        / "clew"
        / "eval"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure, on what, and how surely. Settings are Clew's own, by dotted key."""

    dataset: str
    path: Path
    part: str = "test"
    level: str = ""
    chunker: str = "recursive"
    chunk_size: int = 400
    overlap: int = 0
    k: int = 10
    measures: tuple[str, ...] = ()
    limit: int | None = None
    sample: int | None = None
    """How many questions are drawn by the seed; all where it is None."""
    corpus_tokens: int | None = None
    """About how many tokens of text are kept: what answers the questions, and others beside it."""
    seed: int = SEED
    resamples: int = RESAMPLES
    jobs: int = 1
    cache: Path = field(default_factory=default_cache)
    config: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the dataset's loader takes beside its folder."""

    def __post_init__(self) -> None:
        """Refuse numbers that no run can use."""
        for name, most in (("k", MAX_K), ("resamples", 10**6), ("jobs", 256)):
            if not 1 <= getattr(self, name) <= most:
                raise InputError(
                    name,
                    getattr(self, name),
                    f"must lie between 1 and {most:,}",
                    f"Leave out --{name} for the default.",
                )
        for name, least in (("sample", self.sample), ("corpus_tokens", self.corpus_tokens)):
            if least is not None and least < 1:
                raise InputError(
                    name, least, "must be at least 1", "Leave it out to take everything."
                )
        if self.seed < 0:
            raise InputError(
                "seed", self.seed, "must not be negative", "Use 0 or any other whole number."
            )

    def loaded(self) -> Loaded:
        """Return the settings in force."""
        return load_settings(self.config, overrides=self.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who is told how far a run has come, how far a download, and what else is worth knowing."""

    progress: Progress = silent
    download: Progress = silent
    announce: Callable[[str], None] | None = None
