"""A seeded sample of a dataset.

Some questions, the texts that answer them, and others beside them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from clew.evaluate.data import Dataset, Document, Passage, Query
from clew.text.words import token_estimate

Text = TypeVar("Text", Document, Passage)
Item = TypeVar("Item", Document, Passage, Query)


def sampled(
    dataset: Dataset, *, questions: int | None, corpus_tokens: int | None, seed: int
) -> Dataset:
    """Return the dataset with at most so many questions and about so many tokens of text.

    What is drawn depends on the seed and on ids alone. Spaces (projects, conversations) are taken
    whole, as many as fit. Where none fits, the texts that answer a drawn question are kept, however
    long, and the rest of the tokens goes to others beside them.
    """
    smaller = dataset
    if corpus_tokens is not None and (spaces := _spaces(dataset, corpus_tokens, seed)):
        smaller = _within(dataset, spaces)
        corpus_tokens = None
    queries = smaller.queries
    if questions is not None and questions < len(queries):
        drawn = {query.id for query in _shuffled(queries, seed)[:questions]}
        queries = tuple(query for query in queries if query.id in drawn)
    smaller = replace(smaller, queries=queries)
    if corpus_tokens is not None:
        smaller = replace(
            smaller,
            documents=_texts(dataset.documents, queries, corpus_tokens, seed),
            passages=_texts(dataset.passages, queries, corpus_tokens, seed),
        )
    kept = len(smaller.documents) + len(smaller.passages)
    whole = len(dataset.documents) + len(dataset.passages)
    if len(queries) == len(dataset.queries) and kept == whole:
        return dataset
    note = (
        f"A sample with seed {seed}: {len(queries):,} of {len(dataset.queries):,} questions, "
        f"{kept:,} of {whole:,} texts, {len({query.space for query in queries}):,} of "
        f"{len({query.space for query in dataset.queries}):,} spaces."
    )
    return replace(smaller, notes=(*dataset.notes, note))


def _spaces(dataset: Dataset, tokens: int, seed: int) -> frozenset[str]:
    """Return the spaces that are taken whole: in the order of the seed, those that still fit."""
    sizes = dict.fromkeys((query.space for query in dataset.queries), 0)
    texts: list[Document | Passage] = [*dataset.documents, *dataset.passages]
    for text in texts:
        if text.space in sizes:
            sizes[text.space] += token_estimate(text.text)
    chosen = []
    for space in sorted(sizes, key=lambda name: _drawn(seed, name)):
        if sizes[space] <= tokens:
            chosen.append(space)
            tokens -= sizes[space]
    return frozenset(chosen)


def _within(dataset: Dataset, spaces: frozenset[str]) -> Dataset:
    return replace(
        dataset,
        queries=tuple(query for query in dataset.queries if query.space in spaces),
        documents=tuple(text for text in dataset.documents if text.space in spaces),
        passages=tuple(text for text in dataset.passages if text.space in spaces),
    )


def _texts(
    texts: Sequence[Text], queries: Sequence[Query], tokens: int, seed: int
) -> tuple[Text, ...]:
    """Return the texts that answer, and of the others as many as the tokens left allow."""
    asked = {query.space for query in queries}
    gold = {
        (query.space, level, key)
        for query in queries
        for level, keys in query.relevant.items()
        for key, grade in keys.items()
        if grade > 0
    }
    spanned = {span.document for query in queries for span in query.spans}
    kept: set[str] = set()
    for text in texts:
        keys = {(text.space, level, key) for level, key in text.keys.items()}
        if text.space in asked and (text.id in spanned or keys & gold):
            kept.add(text.id)
            tokens -= token_estimate(text.text)
    for text in _shuffled([text for text in texts if text.space in asked], seed):
        if text.id not in kept and (size := token_estimate(text.text)) <= tokens:
            kept.add(text.id)
            tokens -= size
    return tuple(text for text in texts if text.id in kept)


def _shuffled(items: Iterable[Item], seed: int) -> list[Item]:
    """Return the items in an order that only the seed and their ids decide."""
    return sorted(items, key=lambda item: _drawn(seed, item.id))


def _drawn(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode(errors="replace")).digest()
