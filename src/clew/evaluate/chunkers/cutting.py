"""From documents to passages, so that rankings can be judged whatever the chunker was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from clew.documents.tree import SECTION_CHUNKS
from clew.errors import InputError
from clew.evaluate.chunkers.port import Chunker
from clew.evaluate.data import Dataset, Document, Passage, Query

CHUNK = "chunk"
"""The level at which a passage is relevant when it shares characters with a span of the answer."""


def cut(dataset: Dataset, chunker: Chunker) -> Dataset:
    """Return the dataset with its documents cut into passages `<document>#<n>`, which inherit the document's keys.

    Where the questions have spans the result has the level `chunk` in front: there, the passages
    that overlap a span are the relevant ones, each known by its own id.
    """
    if not dataset.documents:
        raise InputError(
            "dataset",
            dataset.name,
            "has passages of its own and nothing to cut",
            "Use it without a chunker.",
        )
    passages = tuple(
        passage for document in dataset.documents for passage in _passages(document, chunker)
    )
    if not any(query.spans for query in dataset.queries):
        return replace(dataset, documents=(), passages=passages)
    pieces = defaultdict(list)
    for passage in passages:
        pieces[passage.document].append(passage)
    queries = tuple(_judged(query, pieces) for query in dataset.queries)
    return replace(
        dataset, documents=(), passages=passages, queries=queries, levels=(CHUNK, *dataset.levels)
    )


def _passages(document: Document, chunker: Chunker) -> Iterator[Passage]:
    for chunk in chunker.chunk(document.text, format=document.format):
        yield Passage(
            id=f"{document.id}#{chunk.index}",
            text=chunk.text,
            title=document.title,
            space=document.space,
            document=document.id,
            start=chunk.start,
            end=chunk.end,
            time=document.time,
            keys=document.keys,
            section=f"{document.id}/{chunk.index // SECTION_CHUNKS}",
            format=document.format,
        )


def _judged(query: Query, pieces: Mapping[str, Sequence[Passage]]) -> Query:
    overlapping = {
        passage.id: 1
        for span in query.spans
        for passage in pieces.get(span.document, ())
        if passage.start < span.end and span.start < passage.end
    }
    return replace(query, relevant={**query.relevant, CHUNK: overlapping})
