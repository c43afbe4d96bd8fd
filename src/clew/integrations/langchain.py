"""LangChain: a vector store in Clew, and a retriever over everything that a Clew holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

import clew
from clew.integrations.embedding import UNBOUNDED, FunctionEmbedder
from clew.integrations.keyed import Entry, KeyedMemories, key_of, own_metadata

if TYPE_CHECKING:
    from clew.integrations.keyed import Memory


class ClewVectorStore(VectorStore):
    """Documents under their ids. Clew embeds them itself.

    The memory stays the caller's to close.
    """

    def __init__(
        self, memory: Memory, *, space: str = "langchain", embeddings: Embeddings | None = None
    ) -> None:
        self.memory = memory
        self._embeddings = embeddings
        self._kept = KeyedMemories(memory, space=space, collection="langchain")

    @property
    def embeddings(self) -> Embeddings | None:
        """Return the embeddings that the store was opened with, or None where Clew's own are used."""
        return self._embeddings

    @classmethod
    def open(
        cls,
        path: str | Path = ":memory:",
        *,
        embeddings: Embeddings | None = None,
        space: str = "langchain",
    ) -> ClewVectorStore:
        """Open a store of its own, if wanted with embeddings of LangChain."""
        if embeddings is None:
            return cls(clew.open(path), space=space)
        embedder = FunctionEmbedder(
            f"langchain-{type(embeddings).__name__}-{getattr(embeddings, 'model', '')}",
            len(embeddings.embed_query("dimension")),
            passages=lambda texts: embeddings.embed_documents(list(texts)),
            queries=lambda texts: [embeddings.embed_query(text) for text in texts],
        )
        return cls(
            clew.open(path, embedder=embedder, recall=UNBOUNDED), space=space, embeddings=embeddings
        )

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        path: str | Path = ":memory:",
        **options: Any,
    ) -> ClewVectorStore:
        """Return a store that holds some texts."""
        store = cls.open(path, embeddings=embedding, **options)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **options: Any,  # noqa: ARG002 - the interface of LangChain
    ) -> list[str]:
        """Keep texts under ids, new ones where none are given, and return the ids.

        What had an id before is replaced.
        """
        chosen = list(texts)
        names = [id or uuid4().hex for id in ids or [None] * len(chosen)]
        about = list(metadatas or [{}] * len(chosen))
        if not len(chosen) == len(names) == len(about):
            raise ValueError(
                f"{len(chosen)} texts have {len(names)} ids and {len(about)} metadatas. Give one of each for every text."
            )
        self._kept.put(
            Entry(name, text, dict(data or {}))
            for name, text, data in zip(names, chosen, about, strict=True)
        )
        return names

    # As above
    def delete(self, ids: list[str] | None = None, **options: Any) -> bool:  # noqa: ARG002
        """Delete documents by their ids, or all of them; unknown ids change nothing."""
        self._kept.delete([key_of(node) for node in self._kept.list()] if ids is None else ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents with these ids; unknown ones are left out."""
        return [document(node) for node in map(self._kept.get, ids) if node is not None]

    def similarity_search(
        self, query: str, k: int = 4, *, filter: Mapping[str, Any] | None = None, **options: Any
    ) -> list[Document]:
        """Return the documents that answer a question, best first.

        `filter` names metadata that they must have.
        """
        return [
            found
            for found, _ in self.similarity_search_with_score(query, k, filter=filter, **options)
        ]

    def similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        *,
        filter: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ARG002 - as above
    ) -> list[tuple[Document, float]]:
        """Return documents with their scores; higher is better."""
        hits = self._kept.search(query, k=k, metadata=filter, min_similarity=-1.0)
        return [(document(hit.node), hit.score) for hit in hits if hit.node is not None]

    def _select_relevance_score_fn(self) -> Any:
        return lambda score: min(1.0, max(0.0, score))


class ClewRetriever(BaseRetriever):
    """Finds in everything that a Clew holds: memories, conversations, documents and code."""

    memory: Any
    """A `clew.Clew` or `clew.Client`."""
    k: int = 5
    where: Mapping[str, Any] | None = None
    """Which memories are seen, as in `recall`."""

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - as above
        k: int | None = None,
    ) -> list[Document]:
        answer = self.memory.recall(query, k=k or self.k, where=self.where)
        return [recalled(hit) for hit in answer.hits]


def document(node: clew.Node) -> Document:
    """Return what is kept under an id as it was put."""
    return Document(id=key_of(node), page_content=node.text, metadata=own_metadata(node))


def recalled(hit: clew.Hit) -> Document:
    """Return a hit as a document, with where it comes from and how far it is trusted."""
    node = hit.node
    metadata = (
        {}
        if node is None
        else {
            **node.metadata,
            "source": node.source,
            "category": node.category,
            "title": node.title,
        }
    )
    return Document(
        id=hit.id,
        page_content=hit.context or hit.text,
        metadata={
            **metadata,
            "score": hit.score,
            "confidence": hit.confidence,
            "explanation": hit.explanation,
        },
    )
