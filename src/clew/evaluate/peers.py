"""Other libraries in the same table: the same passages and the same vectors.

bm25s      lexical
chromadb   dense
lancedb    hybrid
txtai      hybrid

One that is not installed has a row that says so.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from clew.errors import ClewError, InputError, RefusedError, clipped
from clew.evaluate.answering import Answers, Ledger, through
from clew.evaluate.data import Answer, Cost, Passage, Query
from clew.evaluate.index import Index
from clew.evaluate.peer_libraries import Bm25s, Chroma, Corpus, Lance, Peer, Txtai, library
from clew.ports import EmbedRole, Progress
from clew.text.words import token_estimate
from clew.types import Vectors


def answers_of(index: Index, peer: Peer, *, depth: int, cache: Path, progress: Progress) -> Answers:
    """Return a peer's answer to every question, from the ledger where it is there.

    A RefusedError says why there is none.
    """
    if peer.needs_vectors and index.vectors is None:
        raise RefusedError("needs a model; model.embedder is none", peer=peer.name)
    with _translated(peer):
        library(peer.name, peer.packages)
        ledger = Ledger(cache, _identity(index, peer, depth))
        queries = index.dataset.queries
        if all(ledger.get(query) for query in queries):
            return through(ledger, queries, _never, name=peer.name, jobs=1, progress=progress)
        with _opened(peer, index, progress):
            passages = index.dataset.passages
            return through(
                ledger,
                queries,
                lambda query: _answer(peer, index, passages, query, depth),
                name=peer.name,
                jobs=1,
                progress=progress,
            )


@contextmanager
def _opened(peer: Peer, index: Index, progress: Progress) -> Iterator[None]:
    passages = index.dataset.passages
    texts = [
        f"{passage.title}\n{passage.text}" if passage.title else passage.text
        for passage in passages
    ]
    with tempfile.TemporaryDirectory(prefix="clew-peer-") as folder:
        progress(f"indexing with {peer.name}", 0, 1)
        peer.open(
            Corpus(texts, [passage.space for passage in passages], index.vectors), Path(folder)
        )
        progress(f"indexing with {peer.name}", 1, 1)
        try:
            yield
        finally:
            peer.close()


def _answer(
    peer: Peer, index: Index, passages: tuple[Passage, ...], query: Query, depth: int
) -> Answer:
    vector = _vector(index, query)
    began = time.perf_counter()
    found = [
        passages[place]
        for place in dict.fromkeys(peer.search(query.text, vector, query.space, depth))
    ][:depth]
    spent = (time.perf_counter() - began) * 1e3
    ids = tuple(passage.id for passage in found)
    cost = Cost(
        embedding_calls=int(peer.needs_vectors),
        chunks_examined=len(ids),
        passes=1,
        tokens_returned=sum(token_estimate(passage.text) for passage in found),
        milliseconds=spent,
    )
    return Answer(ranking=ids, hops=dict.fromkeys(ids, 1), cost=cost)


def _vector(index: Index, query: Query) -> Vectors | None:
    if index.embedder is None:
        return None
    vector: Vectors = index.embedder.embed([query.text], role=EmbedRole.QUERY)[0]
    return vector


def _never(query: Query) -> Answer:
    raise AssertionError(query.id)  # every question was answered before


def _identity(index: Index, peer: Peer, depth: int) -> dict[str, object]:
    model = index.embedder.id if index.embedder is not None and peer.needs_vectors else None
    return {
        "peer": peer.name,
        "version": peer_version(peer),
        "content": index.content,
        "model": model,
        "depth": depth,
    }


def peer_version(peer: Peer) -> str:
    """Return the installed version of a peer."""
    try:
        return version(peer.name)
    except PackageNotFoundError:
        return "unknown"


@contextmanager
def _translated(peer: Peer) -> Iterator[None]:
    """Turn whatever a foreign library raises into a reason for its row."""
    try:
        yield
    except ClewError:
        raise
    except Exception as error:
        raise RefusedError(
            f"failed: {type(error).__name__}: {clipped(str(error))}", peer=peer.name
        ) from error


__all__ = ["NAMES", "Corpus", "Peer", "answers_of", "check", "peer", "peer_version"]

_PEERS: dict[str, Any] = {
    "bm25s": Bm25s,
    "chromadb": Chroma,
    "lancedb": Lance,
    "txtai": Txtai,
}
NAMES = tuple(_PEERS)


def check(names: Iterable[str]) -> None:
    """Refuse a name that is no peer."""
    for name in names:
        if name not in _PEERS:
            raise InputError("peers", name, "is not a peer", f"Use some of {', '.join(NAMES)}.")


def peer(name: str) -> Peer:
    """Return a peer by its name; its library is imported when it is opened."""
    check((name,))
    made: Peer = _PEERS[name]()
    return made
