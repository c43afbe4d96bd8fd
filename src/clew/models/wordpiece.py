"""A BERT WordPiece tokenizer in plain Python, reading the `tokenizer.json` that models ship.

Why not the `tokenizers` library: its wheel drags in a hub client with a dozen packages, and the base
install promises at most 25 in all. The library is the oracle in the tests instead: the ids are the same
for every text (see `encode` for the one exception). Each word is remembered after its first
appearance, so the cost of running text is a dictionary lookup per word; the model costs a hundred times more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from clew.errors import ModelError, clipped, shown
from clew.models.characters import CONTROL, IDEOGRAPHS, NONSPACING, PUNCTUATION, SPACE
from clew.parsing import parse_json
from clew.user_files import read_file

MAX_FILE_BYTES = 100_000_000  # of a vocabulary; BERT's takes a half
SLICE_CHARACTERS = 8192  # a text is read in slices of this size, so that a cut one costs no more than what is kept
REMEMBERED_WORDS = 50_000  # about 10 MB; more than the vocabulary of most stores
WHITE_SPACE = re.compile(r"[ \t\n\r]")  # not \s, which holds characters that BERT removes instead of splitting at


class _Spacing(dict[int, str]):
    """First pass, filled as characters turn up: drop controls, unify spaces, set ideographs apart."""

    def __missing__(self, point: int) -> str:
        self[point] = result = self._of(point)
        return result

    def _of(self, point: int) -> str:
        if point in CONTROL:
            return ""
        if point in SPACE:
            return " "
        return f" {chr(point)} " if point in IDEOGRAPHS else chr(point)


class _Folding(dict[int, str]):
    """Second pass, after decomposition: drop accents, lower case, set punctuation apart."""

    def __init__(self, *, lowercase: bool, strip_accents: bool) -> None:
        super().__init__()
        self.lowercase, self.strip_accents = lowercase, strip_accents

    def __missing__(self, point: int) -> str:
        self[point] = result = self._of(point)
        return result

    def _of(self, point: int) -> str:
        if self.strip_accents and point in NONSPACING:
            return ""
        # One character at a time, as the reference does: str.lower() of a whole word knows the final sigma.
        letters = chr(point).lower() if self.lowercase else chr(point)
        return "".join(f" {letter} " if ord(letter) in PUNCTUATION else letter for letter in letters)


@dataclass(frozen=True)
class WordPiece:
    """Turns text into the token ids of a BERT vocabulary."""

    vocabulary: Mapping[str, int]
    special: Mapping[str, int]
    unknown: int
    first: int
    last: int
    lowercase: bool = True
    strip_accents: bool = True
    prefix: str = "##"
    max_word_characters: int = 100

    @classmethod
    def from_file(cls, path: Path) -> WordPiece:
        """Read a `tokenizer.json`; one that asks for anything else than BERT's processing is refused."""
        try:
            return cls._from_json(parse_json(read_file(path, limit_bytes=MAX_FILE_BYTES)))
        except OSError as error:
            raise ModelError(f"cannot read {path}: {error.strerror}", path=str(path)) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{path} is not the tokenizer.json of a BERT WordPiece model ({clipped(str(error))}). Use a model with such a tokenizer, "
                "or load this one through an adapter, for example sentence-transformers:NAME.",
                path=str(path),
            ) from error

    @classmethod
    def _from_json(cls, document: Mapping[str, Any]) -> WordPiece:
        model, normalizer = document["model"], document["normalizer"]
        _demand("model", model.get("type", "WordPiece"), "WordPiece")
        _demand("normalizer", normalizer["type"], "BertNormalizer")
        _demand("pre_tokenizer", document["pre_tokenizer"]["type"], "BertPreTokenizer")
        _demand("clean_text", normalizer["clean_text"], True)
        _demand("handle_chinese_chars", normalizer["handle_chinese_chars"], True)
        vocabulary, accents = model["vocab"], normalizer["strip_accents"]
        for token in document["added_tokens"]:
            _demand(
                f"options of {token['content']}", [token[key] for key in ("normalized", "lstrip", "rstrip", "single_word")], [False] * 4
            )
        return cls(
            vocabulary=vocabulary,
            special={token["content"]: token["id"] for token in document["added_tokens"]},
            unknown=vocabulary[model["unk_token"]],
            first=vocabulary["[CLS]"],
            last=vocabulary["[SEP]"],
            lowercase=normalizer["lowercase"],
            strip_accents=normalizer["lowercase"] if accents is None else accents,
            prefix=model["continuing_subword_prefix"],
            max_word_characters=model["max_input_chars_per_word"],
        )

    def encode(self, text: str, *, max_tokens: int) -> list[int]:
        """Return `[CLS]`, the tokens of the text and `[SEP]`, together at most `max_tokens`.

        The rest of a long text is never looked at. Exception to being the reference's ids: a run of more
        than two slices without white space is cut, which adds unknown tokens; words end at 100 characters anyway.
        """
        return [self.first, *islice(self._tokens(text), max(0, max_tokens - 2)), self.last]

    def encode_parts(self, parts: Sequence[str], *, max_tokens: int) -> tuple[list[int], list[int]]:
        """Return what `encode` does of the joined parts, which meet at white space, and at which token each of them ends."""
        tokens, ends = [self.first], []
        for part in parts:
            tokens += islice(self._tokens(part), max(0, max_tokens - 1 - len(tokens)))
            ends.append(len(tokens))
        return [*tokens, self.last], ends

    def encode_pair(self, first: str, second: str, *, max_tokens: int, first_tokens: int) -> tuple[list[int], int]:
        """Return `[CLS]`, the first text, `[SEP]`, the second and `[SEP]`, together at most `max_tokens`, and where the second begins.

        The first is cut to `first_tokens` with its marks, the second to what is left.
        """
        head = self.encode(first, max_tokens=min(first_tokens, max_tokens - 1))
        tail = islice(self._tokens(second), max(0, max_tokens - len(head) - 1))
        return [*head, *tail, self.last], len(head)

    def count(self, text: str) -> int:
        """Return how many tokens the whole text has, without `[CLS]` and `[SEP]`."""
        return sum(1 for _ in self._tokens(text))

    def _tokens(self, text: str) -> Iterator[int]:
        for piece in _slices(text):
            for part in self._special_pattern.split(piece):
                if part in self.special:
                    yield self.special[part]
                else:
                    for word in self._normalised(part).split():
                        yield from self._word(word)

    def _normalised(self, text: str) -> str:
        spaced = text.translate(self._spacing)
        if self.strip_accents and not spaced.isascii():
            spaced = unicodedata.normalize("NFD", spaced)
        return spaced.translate(self._folding)

    def _word(self, word: str) -> tuple[int, ...]:
        if len(word) > self.max_word_characters:
            return (self.unknown,)
        known = self._remembered.get(word)
        if known is None:
            known = self._pieces(word)
            if len(self._remembered) >= REMEMBERED_WORDS:
                self._remembered.clear()  # simpler than an order of use, and as fast: common words are back at once
            self._remembered[word] = known
        return known

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Take the longest known piece from the left, again and again; a rest that is unknown spoils the word."""
        pieces: list[int] = []
        start = 0
        while start < len(word):
            piece, start = self._longest(word, start)
            if piece is None:
                return (self.unknown,)
            pieces.append(piece)
        return tuple(pieces)

    def _longest(self, word: str, start: int) -> tuple[int | None, int]:
        prefix = self.prefix if start else ""
        for end in range(min(len(word), start + self._longest_piece), start, -1):
            piece = self.vocabulary.get(prefix + word[start:end])
            if piece is not None:
                return piece, end
        return None, start

    @cached_property
    def _spacing(self) -> _Spacing:
        return _Spacing()

    @cached_property
    def _folding(self) -> _Folding:
        return _Folding(lowercase=self.lowercase, strip_accents=self.strip_accents)

    @cached_property
    def _remembered(self) -> dict[str, tuple[int, ...]]:
        return {}

    @cached_property
    def _longest_piece(self) -> int:
        return max(map(len, self.vocabulary), default=0)

    @cached_property
    def _special_pattern(self) -> re.Pattern[str]:
        # Longest first, so that of two special tokens with the same beginning the longer one is found.
        return (
            re.compile("(" + "|".join(map(re.escape, sorted(self.special, key=len, reverse=True))) + ")")
            if self.special
            else re.compile("(?!)")
        )


def _demand(what: str, got: object, wanted: object) -> None:
    if got != wanted:
        raise ValueError(f"{what} is {shown(got)} where {wanted!r} is supported")


def _slices(text: str) -> Iterator[str]:
    """Yield the text in slices that end at white space, where no token can be torn."""
    start = 0
    while start < len(text):
        end = start + SLICE_CHARACTERS
        gap = WHITE_SPACE.search(text, end, end + SLICE_CHARACTERS)
        end = gap.start() if gap else min(len(text), end + SLICE_CHARACTERS)
        yield text[start:end]
        start = end
