"""What is known about a model before any of it is on the machine."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from clew.errors import ModelError, clipped
from clew.files import expanded, read_file
from clew.parsing import parse_json
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

    def fetch(
        self, files: Sequence[PinnedFile], into: Path, *, kept: Path, progress: Progress
    ) -> None:
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
        """The name under which vectors are stored.

        Equal on every machine that has the same weights.
        """
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


# The hint for a mistyped name.


def nearest(name: str, known: Iterable[str], *, see: str) -> str:
    """Return a sentence with the name that was probably meant, or where to look.

    >>> nearest("artic", ["arctic-embed-s", "hashing"], see="clew models list")
    'Did you mean arctic-embed-s?'
    >>> nearest("zzz", ["hashing"], see="clew models list")
    'Known are: hashing; see: clew models list'
    """
    choices = sorted(known)
    close = get_close_matches(name, choices, n=1, cutoff=0.4)
    return f"Did you mean {close[0]}?" if close else f"Known are: {', '.join(choices)}; see: {see}"


# The card of an installed model, written beside its files.

MANIFEST = "clew-model.json"
FORMAT = 1
MAX_BYTES = 1_000_000


def write(card: Card, folder: Path) -> None:
    """Write the card into the model's folder; where it came from is not part of what it is."""
    facts = {"format": FORMAT} | {
        key: value for key, value in asdict(card).items() if key != "sources"
    }
    (folder / MANIFEST).write_text(
        json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def read(folder: Path) -> Card:
    """Return the card in a model's folder."""
    path = folder / MANIFEST
    try:
        return _card(**parse_json(read_file(path, limit_bytes=MAX_BYTES)))
    except OSError as error:
        raise ModelError(
            f"{folder} holds no readable {MANIFEST}. Install a model with: clew models add FILE…",
            path=str(path),
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{path} is not a model's card ({clipped(str(error))}). Install the model again with: clew models add FILE…",
            path=str(path),
        ) from error


def _card(
    *,
    format: int,
    pooling: str,
    files: list[dict[str, Any]],
    purpose: str = Purpose.EMBED,
    **facts: Any,
) -> Card:
    if format != FORMAT:
        raise ValueError("it was written by a later version of Clew")
    return Card(
        pooling=Pooling(pooling),
        purpose=Purpose(purpose),
        files=tuple(PinnedFile(**file) for file in files),
        **facts,
    )


# Where models live on this machine, and whether the network may be asked for them.

FOLDER_VARIABLE = "CLEW_MODELS"
OFFLINE_VARIABLE = "CLEW_OFFLINE"
NO = frozenset({"", "0", "false", "no", "off"})


def models_folder() -> Path:
    """Return the folder of all models: CLEW_MODELS, or the user's cache. It need not exist."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return expanded(chosen)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # The standard says that a relative XDG path is to be ignored.
    return (
        (Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache")
        / "clew"
        / "models"
    )


def offline() -> bool:
    """Say whether CLEW_OFFLINE forbids the network."""
    return os.environ.get(OFFLINE_VARIABLE, "").strip().lower() not in NO


# Remembers for a while that an automatic pull failed, so that the next command does not wait for it
# again.

MAX_NOTE_BYTES = 100_000
# long enough for a series of commands, short enough for a network that comes back
REMEMBERED_SECONDS = 600.0


def remember(root: Path, name: str, problem: str, *, now: Callable[[], float] = time.time) -> None:
    """Write down that the pull of a model failed just now."""
    with suppress(OSError):  # a note that cannot be kept costs a wait, nothing else
        root.mkdir(parents=True, exist_ok=True)
        _note(root, name).write_text(
            json.dumps({"at": now(), "problem": problem}), encoding="utf-8"
        )


def recent(root: Path, name: str, *, now: Callable[[], float] = time.time) -> str | None:
    """Return the problem of a pull that failed not long ago."""
    try:
        note = parse_json(read_file(_note(root, name), limit_bytes=MAX_NOTE_BYTES))
        age = now() - float(note["at"])
        problem = str(note["problem"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # a note from the future: the clock was set
    return problem if 0 <= age < REMEMBERED_SECONDS else None


def forget(root: Path, name: str) -> None:
    """Forget the failure, after a success."""
    with suppress(OSError):
        _note(root, name).unlink()


def _note(root: Path, name: str) -> Path:
    return root / f".{name}.failed.json"
