"""The tests that Haystack has for document stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from haystack.testing.document_store import DocumentStoreBaseExtendedTests
from outside_common import open_memory

from clew.integrations.haystack import ClewDocumentStore


class TestDocumentStore(DocumentStoreBaseExtendedTests):
    @pytest.fixture
    def document_store(self) -> Iterator[ClewDocumentStore]:
        store = ClewDocumentStore(memory=open_memory())
        yield store
        store.memory.close()

    def test_write_documents(self, document_store: ClewDocumentStore) -> None:
        from haystack.dataclasses import Document
        from haystack.document_stores.errors import DuplicateDocumentError

        assert document_store.write_documents([Document(content="test doc")]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([Document(content="test doc")])
