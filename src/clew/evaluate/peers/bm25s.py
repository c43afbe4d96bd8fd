"""bm25s: BM25 in numpy, with its defaults and an English stemmer; an index for each space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clew.evaluate.peers.port import Corpus, library
from clew.types import Vectors


class Bm25s:
    """Lexical: `BM25()` (Lucene's variant), stop words of English, Snowball stemmer."""

    name = "bm25s"
    packages = ("bm25s", "PyStemmer")
    needs_vectors = False
    about = "BM25() with its defaults, English stop words and stemmer"

    def open(self, corpus: Corpus, folder: Path) -> None:  # noqa: ARG002 - it works in memory
        """Build an index for each space."""
        self._bm25s = library("bm25s", self.packages)
        self._stemmer: Any = library("Stemmer", self.packages).Stemmer("english")
        self._spaces: dict[str, tuple[Any, list[int]]] = {}
        for space, places in corpus.by_space().items():
            index = self._bm25s.BM25()
            index.index(
                self._tokens([corpus.texts[place] for place in places]), show_progress=False
            )
            self._spaces[space] = index, places

    def _tokens(self, texts: list[str]) -> Any:
        return self._bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, show_progress=False
        )

    def search(self, text: str, vector: Vectors | None, space: str, k: int) -> list[int]:  # noqa: ARG002 - words only
        """Return what shares a word with the question."""
        tokens = self._tokens([text])
        # it fails on a question without a known word
        if space not in self._spaces or not tokens.vocab:
            return []
        index, places = self._spaces[space]
        found, scores = index.retrieve(tokens, k=min(k, len(places)), show_progress=False)
        return [places[int(at)] for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    def close(self) -> None:
        """Nothing is held open."""
