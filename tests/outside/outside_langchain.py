"""The standard tests of LangChain for vector stores and retrievers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)
from outside_common import open_memory

from clew.integrations.langchain import ClewRetriever, ClewVectorStore


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[VectorStore]:
        store = ClewVectorStore.open(embeddings=self.get_embeddings())
        yield store
        store.memory.close()


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[ClewRetriever]:
        return ClewRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        memory = open_memory()
        memory.remember_many(
            f"The crane number {number} of the harbour is inspected in March"
            for number in range(20)
        )
        return {"memory": memory, "k": 3}

    @property
    def retriever_query_example(self) -> str:
        return "when is the crane inspected"
