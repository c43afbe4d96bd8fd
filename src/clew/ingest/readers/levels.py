"""Ignore files on the way down: those of inner folders overrule those of outer ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.ingest.readers.ignoring import Pattern, patterns, verdict
from clew.user_files import read_file

IGNORE_FILES = (".gitignore", ".clewignore")  # of one folder the second has the last word
MAX_IGNORE_BYTES = 1_000_000  # what is longer was not written by hand, and is not read


@dataclass(frozen=True, slots=True)
class Level:
    """One folder's patterns: the names from it down to the walk's folder, or else how deep it is in the walk."""

    rules: tuple[Pattern, ...]
    lead: tuple[str, ...] = ()
    depth: int = 0


def level(folder: Path, *, lead: tuple[str, ...] = (), depth: int = 0) -> tuple[Level, ...]:
    """Return a folder's level, or nothing if it has no ignore files."""
    rules = patterns(line for name in IGNORE_FILES for line in _lines(folder / name))
    return (Level(rules, lead, depth),) if rules else ()


def levels_above(folder: Path) -> tuple[Level, ...]:
    """Return the levels from the top of the git work tree to above a folder, outermost first.

    There are none outside of a work tree, and none for a folder that they would ignore: it was named, so it is meant.
    """
    here = Path(os.path.realpath(folder))
    found: tuple[Level, ...] = ()
    for above in _in_work_tree(here):
        lead = here.relative_to(above).parts
        found += level(above, lead=lead)
        ways = (Level(each.rules, each.lead[: len(each.lead) - len(lead) + 1]) for each in found)
        if ignored(tuple(ways), (), is_folder=True):
            return ()
    return found


def ignored(levels: Sequence[Level], parts: Sequence[str], *, is_folder: bool) -> bool:
    """Tell whether the innermost level that has a word on a path leaves it out."""
    for each in reversed(levels):
        said = verdict(each.rules, (*each.lead, *parts[each.depth :]), is_folder=is_folder)
        if said is not None:
            return said
    return False


def _in_work_tree(here: Path) -> list[Path]:
    """Return the folders above this one up to the one that holds .git, uppermost first; none if none does."""
    above: list[Path] = []
    for each in (here, *here.parents):
        if each != here:
            above.insert(0, each)
        try:
            if (each / ".git").exists():
                return above
        except OSError:  # a folder above that may not be looked into
            return []
    return []


def _lines(path: Path) -> list[str]:
    """Return an ignore file's lines, decoded as file names are; none if it is not a readable file of reasonable length."""
    try:
        return os.fsdecode(read_file(path, limit_bytes=MAX_IGNORE_BYTES).removeprefix(b"\xef\xbb\xbf")).split("\n")
    except OSError:
        return []
