"""Haystack: a document store in Clew, and a retriever for pipelines."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from haystack import component, default_from_dict, default_to_dict
from haystack.dataclasses import Document
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError
from haystack.utils.filters import document_matches_filter

import clew
from clew.integrations.keyed import MOST_HITS, Entry, KeyedMemories

if TYPE_CHECKING:
    from clew.integrations.keyed import Memory


class ClewDocumentStore:
    """Documents under their ids, found by Clew's own ranking.

    Filters are applied to every document of the space.
    """

    def __init__(
        self, path: str = ":memory:", *, space: str = "haystack", memory: Memory | None = None
    ) -> None:
        self.path = path
        self.space = space
        self.memory: Memory = clew.open(path) if memory is None else memory
        self._kept = KeyedMemories(self.memory, space=space, collection="haystack")

    def to_dict(self) -> dict[str, Any]:
        """Return what the store is opened with."""
        described: dict[str, Any] = default_to_dict(self, path=self.path, space=self.space)
        return described

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ClewDocumentStore:
        """Open a store that `to_dict` described."""
        made: ClewDocumentStore = default_from_dict(cls, data)
        return made

    def count_documents(self) -> int:
        """Return how many documents there are."""
        return sum(1 for _ in self._kept.list())

    def filter_documents(self, filters: Mapping[str, Any] | None = None) -> list[Document]:
        """Return the documents that a filter describes, or all."""
        if filters and "operator" not in filters:
            raise FilterError(
                "A filter needs an operator. Write it as {'field': …, 'operator': '==', 'value': …}."
            )
        documents = [document(node) for node in self._kept.in_order()]
        return (
            [each for each in documents if document_matches_filter(dict(filters), each)]
            if filters
            else documents
        )

    def write_documents(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Keep documents and return how many were written.

        Without a policy a known id is an error.
        """
        if not isinstance(documents, list) or not all(
            isinstance(each, Document) for each in documents
        ):
            raise ValueError("Documents must be a list of haystack Documents.")
        new = {each.id: each for each in documents}
        if policy is not DuplicatePolicy.OVERWRITE:
            known = [id for id in new if self._kept.get(id) is not None]
            if known and policy is not DuplicatePolicy.SKIP:
                raise DuplicateDocumentError(
                    f"ID '{known[0]}' already exists. Choose DuplicatePolicy.OVERWRITE or SKIP."
                )
            new = {id: each for id, each in new.items() if id not in known}
        self._kept.put(
            Entry(id, each.content or "", {"document": each.to_dict(flatten=False)})
            for id, each in new.items()
        )
        return len(documents) if policy is DuplicatePolicy.OVERWRITE else len(new)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete documents; unknown ids change nothing."""
        self._kept.delete(document_ids)

    def delete_all_documents(self) -> None:
        """Delete every document."""
        self._kept.delete([each.id for each in self.filter_documents()])

    def delete_by_filter(self, filters: Mapping[str, Any]) -> int:
        """Delete the documents that a filter describes, and return how many."""
        return self._kept.delete([each.id for each in self.filter_documents(filters)])

    def update_by_filter(self, filters: Mapping[str, Any], meta: Mapping[str, Any]) -> int:
        """Change metadata of the documents that a filter describes, and return how many."""
        changed = [
            replace(each, meta={**each.meta, **meta}) for each in self.filter_documents(filters)
        ]
        return self.write_documents(changed, DuplicatePolicy.OVERWRITE) if changed else 0

    def search(
        self, query: str, *, top_k: int = 10, filters: Mapping[str, Any] | None = None
    ) -> list[Document]:
        """Return the documents that answer a question, best first, with their scores."""
        allowed = None if filters is None else {each.id for each in self.filter_documents(filters)}
        hits = self._kept.search(
            query, k=top_k if allowed is None else MOST_HITS, min_similarity=-1.0
        )
        found = [
            replace(document(hit.node), score=hit.score) for hit in hits if hit.node is not None
        ]
        return [each for each in found if allowed is None or each.id in allowed][:top_k]

    async def count_documents_async(self) -> int:
        """Return how many documents there are."""
        return await asyncio.to_thread(self.count_documents)

    async def filter_documents_async(
        self, filters: Mapping[str, Any] | None = None
    ) -> list[Document]:
        """Return the documents that a filter describes, or all."""
        return await asyncio.to_thread(self.filter_documents, filters)

    async def write_documents_async(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Keep documents and return how many were written."""
        return await asyncio.to_thread(self.write_documents, documents, policy)

    async def delete_documents_async(self, document_ids: list[str]) -> None:
        """Delete documents; unknown ids change nothing."""
        await asyncio.to_thread(self.delete_documents, document_ids)


@component
class ClewRetriever:
    """Brings the documents of a store that answer a question into a pipeline."""

    def __init__(
        self,
        document_store: ClewDocumentStore,
        *,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
    ) -> None:
        self.document_store = document_store
        self.top_k = top_k
        self.filters = filters

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return the documents that answer a question."""
        return {
            "documents": self.document_store.search(
                query, top_k=top_k or self.top_k, filters=filters or self.filters
            )
        }


def document(node: clew.Node) -> Document:
    """Return a document as it was written."""
    made: Document = Document.from_dict(dict(node.metadata["document"]))
    return made
