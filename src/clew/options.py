"""The keyword options that several public methods share, as typed mappings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from clew.times import Moment
from clew.types import Filter


class Labels(TypedDict, total=False):
    """The fields of a memory that `update` changes in place."""

    category: str | None
    """One of the setting `memory.categories`."""
    trigger: str | None
    """What caused it to be written: one of the setting `memory.triggers`."""
    importance: float | None
    """From 0 to 1; 0.5 by default."""
    title: str | None
    stability: str | None
    """static, dynamic, ephemeral or unknown."""
    tags: Iterable[str]
    metadata: Mapping[str, Any] | None
    source: str | None
    """Where it comes from."""


class SuccessorFields(Labels, total=False):
    """The fields of a memory that supersedes another, beside its text and `valid_from`."""

    space: str | None
    valid_to: Moment | None
    keywords: Iterable[str]
    idempotency_key: str | None
    """A second call with the same key returns the memory of the first."""
    near: bool | None
    """Whether to look for memories that say nearly the same."""
    on_duplicate: str
    """reinforce (default), insert, error, or replace, which deletes the memory with the same
    `idempotency_key`.
    """
    force: bool
    """Keep it although the same text was forgotten."""
    verbatim: bool
    """Keep the text exactly as given, whatever its length and however little it says."""


class MemoryFields(SuccessorFields, total=False):
    """The fields of a new memory beside its text."""

    valid_from: Moment | None


class RecallOptions(TypedDict, total=False):
    """The options of a recall, for questions about its answer."""

    k: int | None
    recipe: str | None
    preset: str | None
    weights: Mapping[str, float] | None
    where: Mapping[str, Any] | Filter | None
    as_of: Moment | None
    known_at: Moment | None
    min_similarity: float | None
    budget_tokens: int | None
    seed: int
    kinds: Iterable[str] | None


class ImportFields(TypedDict, total=False):
    """The options of an import."""

    format: str | None
    """Read every file as this format instead of judging by its name and content."""
    space: str | None
    category: str | None
    importance: float | None
    tags: Iterable[str]
    metadata: Mapping[str, Any] | None
    exclude: Iterable[str]
    """Leave out what matches, written as in .gitignore."""
    include_hidden: bool
    force: bool
    """Read unchanged files again, and keep documents that were forgotten."""


class PathFields(ImportFields, total=False):
    """The options of an import of files and folders."""

    sync: bool
    """Also expire the nodes of files that are gone from the named folders."""
    dry_run: bool
    """Report what would be done, and do nothing."""
