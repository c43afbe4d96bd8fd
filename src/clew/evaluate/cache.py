"""Vectors kept on disk by model and text, so that no text is ever embedded twice for an evaluation."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from clew.errors import ModelError
from clew.ports import (
    Background,
    Embedder,
    EmbedRole,
    Progress,
    SpannedText,
    SupportsBackground,
    SupportsTokens,
    TokenEmbeddings,
)
from clew.token_codes import bytes_per_token, pack
from clew.types import Vectors

BATCH = 64  # texts embedded between two commits: what an interrupt can cost
ASKED_AT_ONCE = 500  # keys in one statement; SQLite takes 999 everywhere
NOUNS = {EmbedRole.QUERY: "questions", EmbedRole.PASSAGE: "texts"}


class CachedEmbedder:
    """An embedder that asks the file first; counts how often it had to ask the model."""

    def __init__(
        self, embedder: Embedder, folder: Path, *, progress: Progress | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._progress = progress
        self._lock = threading.Lock()
        self._database = sqlite3.connect(
            folder / f"{_file_name(embedder.id)}.vectors", check_same_thread=False, timeout=60
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL) "
            "WITHOUT ROWID"
        )
        self.embedded = 0
        self.asked = 0

    @property
    def id(self) -> str:
        """The model's id."""
        return self._embedder.id

    @property
    def dimension(self) -> int:
        """The model's dimension."""
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        """The model's limit."""
        return self._embedder.max_tokens

    @property
    def background(self) -> Background:
        """The model's background."""
        model: object = self._embedder
        return model.background if isinstance(model, SupportsBackground) else Background()

    @property
    def count(self) -> Callable[[str], int] | None:
        """The model's way to count tokens, where it has one."""
        return getattr(self._embedder, "count", None)

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        """Return one vector per text, from the file where it is there."""
        keys = [_key(role, text) for text in texts]
        with self._lock:
            self.asked += len(texts)
            known = self._known(keys)
            missing = list(
                {
                    key: text for key, text in zip(keys, texts, strict=True) if key not in known
                }.items()
            )
            for at in range(0, len(missing), BATCH):
                known.update(self._made(missing[at : at + BATCH], role))
                if self._progress is not None and len(missing) > BATCH:
                    done = len(keys) - len(missing) + min(at + BATCH, len(missing))
                    self._progress(f"embedding {NOUNS[role]}", done, len(keys))
        return (
            np.stack([np.frombuffer(known[key], np.float32) for key in keys])
            if keys
            else np.empty((0, self.dimension), np.float32)
        )

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for at in range(0, len(keys), ASKED_AT_ONCE):
            some = keys[at : at + ASKED_AT_ONCE]
            marks = ",".join("?" * len(some))
            # Marks only
            statement = f"SELECT key, value FROM vector WHERE key IN ({marks})"  # noqa: S608
            found.update(self._database.execute(statement, some))
        return found

    def _made(self, missing: Sequence[tuple[bytes, str]], role: EmbedRole) -> dict[bytes, bytes]:
        vectors = self._embedder.embed([text for _, text in missing], role=role)
        self.embedded += len(missing)
        made = {
            key: np.ascontiguousarray(vector, np.float32).tobytes()
            for (key, _), vector in zip(missing, vectors, strict=True)
        }
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", made.items())
        return made


class TokenCachedEmbedder(CachedEmbedder):
    """An embedder that keeps the tokens of texts too.

    Of questions as they are, of passages their signs, which are all that is stored.
    """

    def embed_tokens(self, texts: Sequence[SpannedText], *, role: EmbedRole) -> TokenEmbeddings:
        """Return what the model gives, from the file where it is there.

        A passage's token is the unit vector of its signs.
        """
        keys = [_key(role, *map(str, each)) for each in texts]
        with self._lock:
            self.asked += len(texts)
            known = self._known(keys)
            missing = list(
                {
                    key: each for key, each in zip(keys, texts, strict=True) if key not in known
                }.items()
            )
            for at in range(0, len(missing), BATCH):
                known.update(self._made_tokens(missing[at : at + BATCH], role))
                if self._progress is not None and len(missing) > BATCH:
                    done = len(keys) - len(missing) + min(at + BATCH, len(missing))
                    self._progress(f"embedding {NOUNS[role]}", done, len(keys))
        size = 4 * self.dimension
        vectors = np.frombuffer(b"".join(known[key][:size] for key in keys), np.float32).reshape(
            len(keys), self.dimension
        )
        read = self._floats if role is EmbedRole.QUERY else self._signs
        return TokenEmbeddings(vectors, [read(known[key][size:]) for key in keys])

    def _made_tokens(
        self, missing: Sequence[tuple[bytes, SpannedText]], role: EmbedRole
    ) -> dict[bytes, bytes]:
        if not isinstance(self._embedder, SupportsTokens):
            raise ModelError(f"{self.id} gives no vectors of tokens.")
        found = self._embedder.embed_tokens([each for _, each in missing], role=role)
        self.embedded += len(missing)
        made: dict[bytes, bytes] = {}
        for (key, each), vector, tokens in zip(missing, found.vectors, found.tokens, strict=True):
            plain = np.ascontiguousarray(vector, np.float32).tobytes()
            made[_key(role, each.text)] = plain  # what `embed` is asked for
            made[key] = plain + (
                np.ascontiguousarray(tokens, np.float32).tobytes()
                if role is EmbedRole.QUERY
                else pack(tokens)
            )
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", made.items())
        return made

    def _floats(self, data: bytes) -> Vectors:
        return np.frombuffer(data, np.float32).reshape(-1, self.dimension)

    def _signs(self, data: bytes) -> Vectors:
        rows = np.frombuffer(data, np.uint8).reshape(-1, bytes_per_token(self.dimension))
        bits = np.unpackbits(rows, axis=1, count=self.dimension)
        return np.asarray((2 * bits.astype(np.float32) - 1) / np.sqrt(self.dimension), np.float32)


def cached(embedder: Embedder, folder: Path, *, progress: Progress | None = None) -> CachedEmbedder:
    """Return an embedder that asks the file first, and gives tokens where the model does."""
    kind = TokenCachedEmbedder if isinstance(embedder, SupportsTokens) else CachedEmbedder
    return kind(embedder, folder, progress=progress)


def _key(role: EmbedRole, *parts: str) -> bytes:
    return hashlib.blake2b(
        "\0".join((role, *parts)).encode(errors="replace"), digest_size=16
    ).digest()


def _file_name(model_id: str) -> str:
    return "".join(
        character if character.isalnum() or character in "-." else "_" for character in model_id
    )
