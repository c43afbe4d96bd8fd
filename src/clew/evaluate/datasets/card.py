"""What is known of a published set before it is read: licence, source, files, parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

EVERYTHING = "all"  # the part that every set has: dev and test together


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A published set: how to get it, what must be in its folder, and how dev and test are told apart.

    Each of `files` is a pattern relative to the folder; ` | ` stands between patterns of which one
    is enough.
    """

    name: str
    title: str
    licence: str
    source: str
    folder: str
    files: tuple[str, ...]
    levels: tuple[str, ...]
    parts: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Presence:
    """Which files of a set are there (paths relative to its folder) and which patterns found none."""

    present: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether the set can be loaded as it is."""
        return not self.missing


def presence(card: Card, path: Path) -> Presence:
    """Tell which of the files that a set needs are in a folder; nothing is opened."""
    found = {pattern: matches(path, pattern) for pattern in card.files}
    present = {file.relative_to(path).as_posix() for files in found.values() for file in files}
    return Presence(
        tuple(sorted(present)), tuple(pattern for pattern, files in found.items() if not files)
    )


def matches(path: Path, pattern: str) -> tuple[Path, ...]:
    """Return what matches the first alternative that finds anything, in order of name."""
    for alternative in pattern.split(" | "):
        if found := tuple(sorted(path.glob(alternative))):
            return found
    return ()
