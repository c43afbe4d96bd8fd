"""The outside peer: chonkie's recursive and code chunkers, in our unit and with our budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from clew.documents.chunkers.port import Chunk
from clew.documents.chunkers.recursive import Fixed
from clew.errors import InputError, ModelMissingError
from clew.evaluate.chunkers.port import Sized, checked_size, count_tokens, pieces

KINDS = ("recursive", "code")
# formats that the code chunker gets; others go to the recursive one
LANGUAGES = frozenset({"python", "java"})


@dataclass(frozen=True, slots=True)
class Chonkie:
    """Cuts with chonkie, which counts with `count_tokens`.

    A piece over the budget is cut further, as our own would be.

    Its last resort (cutting a long word by a tokenizer's tokens) is left out for the same reason.
    The code chunker is told the language; it guesses nothing and downloads nothing.
    """

    size: int
    kind: str = "recursive"
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a kind that chonkie does not have here, or a size that cannot be kept."""
        checked_size(self.size)
        if self.kind not in KINDS:
            raise InputError(
                "kind",
                self.kind,
                "is not a chunker of chonkie that is compared here",
                f"Use {' or '.join(KINDS)}.",
            )

    @property
    def name(self) -> str:
        """The name with kind and size."""
        return f"chonkie-{self.kind}-{self.size}"

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:
        """Return chonkie's pieces with offsets that hold.

        Pieces of white space only are dropped.
        """
        language = format if self.kind == "code" and format in LANGUAGES else ""
        if language not in self._made:
            self._made[language] = _code(self.size, language) if language else _recursive(self.size)
        found = (
            _placed(text, [piece.text for piece in self._made[language].chunk(text)])
            if text.strip()
            else iter(())
        )
        return pieces(
            text, [part for start, end in found for part in _within(text, start, end, self.size)]
        )


def _recursive(size: int) -> Any:
    chonkie = _library("chonkie")
    levels = [
        level for level in chonkie.RecursiveRules().levels if level.delimiters or level.whitespace
    ]
    return chonkie.RecursiveChunker(
        tokenizer=count_tokens, chunk_size=size, rules=chonkie.RecursiveRules(levels=levels)
    )


def _code(size: int, language: str) -> Any:
    _library("tree_sitter_language_pack")
    try:
        return _library("chonkie").CodeChunker(
            tokenizer=count_tokens, chunk_size=size, language=language
        )
    except Exception as error:  # later versions of its grammar package download on first use, and raise what they like
        raise ModelMissingError(
            f"chonkie's code chunker cannot be used: {error}. Install the versions that carry their grammars: pip install 'clew[eval]'",
            library="chonkie",
        ) from error


def _library(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelMissingError(
            f"chonkie is not installed ({error}). Install it with: pip install 'clew[eval]'",
            library="chonkie",
        ) from error


def _placed(text: str, parts: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where each piece stands.

    Its own offsets count bytes in some versions, so they are not used.
    """
    at = 0
    for part in parts:
        start = text.find(part, at)
        if start < 0:
            raise InputError(
                "chonkie",
                part,
                "returned a piece that is not in the text",
                "Install the version of clew[eval].",
            )
        at = start + len(part)
        if part.strip():
            yield start, at


def _within(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    if count_tokens(text[start:end]) <= size:
        return iter(((start, end),))
    return iter(
        [
            (start + chunk.start, start + chunk.end)
            for chunk in Sized(Fixed(), size).chunk(text[start:end])
        ]
    )
