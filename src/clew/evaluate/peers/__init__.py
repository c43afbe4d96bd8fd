"""Other libraries in the same table.

The same passages, the same vectors, each as its manual says to use it.

bm25s      lexical
chromadb   dense
lancedb    hybrid
txtai      hybrid

None is needed to run Clew. One that is not installed has a row that says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from clew.errors import InputError
from clew.evaluate.peers.asking import answers_of, peer_version
from clew.evaluate.peers.port import Corpus, Peer

__all__ = ["NAMES", "Corpus", "Peer", "answers_of", "check", "peer", "peer_version"]

_PEERS = {
    "bm25s": "bm25s:Bm25s",
    "chromadb": "chromadb:Chroma",
    "lancedb": "lancedb:Lance",
    "txtai": "txtai:Txtai",
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
    module, _, kind = _PEERS[name].partition(":")
    made: Peer = getattr(import_module(f"clew.evaluate.peers.{module}"), kind)()
    return made
