"""What a loader is asked for, and how it answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from clew.evaluate.data import Dataset, Document, Passage, Query
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Folder

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a loader: the set, its folder, the part, and how many questions at most."""

    card: Card
    folder: Folder
    part: str
    limit: int | None = None

    def split(self, items: Sequence[T], *, dev: int) -> Sequence[T]:
        """Return the asked part where dev is the first `dev` items and test the rest."""
        return {"dev": items[:dev], "test": items[dev:], EVERYTHING: items}[self.part]

    def first(self, items: Sequence[T]) -> Sequence[T]:
        """Return the first items, as many as were asked for."""
        return items if self.limit is None else items[: self.limit]

    def dataset(
        self,
        queries: Sequence[Query],
        *,
        passages: Iterable[Passage] = (),
        documents: Iterable[Document] = (),
        levels: tuple[str, ...] | None = None,
        notes: Iterable[str] = (),
    ) -> Dataset:
        """Put the answer together.

        The limit takes the first questions and leaves the texts whole.
        """
        return Dataset(
            name=self.card.name,
            part=self.part,
            queries=tuple(self.first(queries)),
            passages=tuple(passages),
            documents=tuple(documents),
            levels=self.card.levels if levels is None else levels,
            licence=self.card.licence,
            data_hash=self.folder.data_hash,
            notes=tuple(notes),
        )


def counted(number: int, what: str, examples: Iterable[str], *, shown: int = 5) -> tuple[str, ...]:
    """Return a note on odd things in the data, or none where there are none.

    >>> counted(2, "answers outside the corpus", ["q1", "q2"])
    ('2 answers outside the corpus: q1, q2',)
    >>> counted(0, "answers outside the corpus", [])
    ()
    """
    listed = list(examples)
    tail = ", …" if len(listed) > shown else ""
    return (f"{number} {what}: {', '.join(listed[:shown])}{tail}",) if number else ()
