"""What is known about a model before any of it is on the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from clew.ports import Background, Progress

WEIGHTS = "model.onnx"
TOKENIZER = "tokenizer.json"
SHORT_HASH = 8  # characters of a sha256 in names: enough to tell the versions of one model apart


class Purpose(StrEnum):
    """What a model is for."""

    EMBED = "embed"
    """A vector for each text."""
    RERANK = "rerank"
    """One number for a question and a text that are read together."""


class Pooling(StrEnum):
    """How the token vectors become the text's vector."""

    CLS = "cls"
    MEAN = "mean"


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file by its content: whatever has another hash or size is not it."""

    name: str
    sha256: str
    size: int


class Source(Protocol):
    """A place that may have a model's files."""

    @property
    def place(self) -> str:
        """Say where this is, for the line shown before a pull."""

    def fetch(self, files: Sequence[PinnedFile], into: Path, *, kept: Path, progress: Progress) -> None:
        """Write every file into the folder, each checked against its pin, or raise DownloadError.

        `kept` is a folder that survives a failure, for parts that a later attempt can use.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A model as the catalogue pins it: what it computes and exactly which files it is."""

    name: str
    dimension: int
    max_tokens: int
    pooling: Pooling
    query_prefix: str = ""
    passage_prefix: str = ""
    background: Background = field(default_factory=Background)
    licence: str = "unknown"
    purpose: Purpose = Purpose.EMBED
    files: tuple[PinnedFile, ...]
    sources: tuple[Source, ...] = ()

    @property
    def id(self) -> str:
        """The name under which vectors are stored: equal on every machine that has the same weights."""
        return f"{self.name}@{self.short_hash}"

    @property
    def folder(self) -> str:
        """The name of the model's folder."""
        return f"{self.name}-{self.short_hash}"

    @property
    def short_hash(self) -> str:
        """The beginning of the hash of the weights."""
        return next(file.sha256 for file in self.files if file.name == WEIGHTS)[:SHORT_HASH]

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)
