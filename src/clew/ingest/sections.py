"""Which chunks of a document belong together? Sections follow its headings or scopes, and its size where it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise

from clew.ingest.chunkers import Chunk

Times = Callable[[Chunk], datetime | None]
SECTION_CHUNKS = 8  # as many chunks of the usual size as a reader takes in as one subject: about 4,000 tokens


@dataclass(frozen=True, slots=True)
class Section:
    """Neighbouring chunks under one heading, in one scope or of one sitting."""

    path: tuple[str, ...]
    chunks: tuple[Chunk, ...]

    @property
    def start(self) -> int:
        """Where it begins in the document."""
        return self.chunks[0].start

    @property
    def end(self) -> int:
        """Where it ends in the document."""
        return max(chunk.end for chunk in self.chunks)


def sections(chunks: Sequence[Chunk], *, size: int, largest: int = SECTION_CHUNKS) -> tuple[Section, ...]:
    """Return the chunks in sections of at most about `largest` chunks' worth of `size` characters each."""
    return tuple(Section(_shared(part), tuple(part)) for part in _parts(list(chunks), 0, size * largest))


def sittings(chunks: Sequence[Chunk], *, time: Times, gap: timedelta, size: int, largest: int = SECTION_CHUNKS) -> tuple[Section, ...]:
    """Return the chunks of a conversation in sittings: a longer silence ends one, and so does its size."""
    found: list[list[Chunk]] = [[]]
    for before, chunk in pairwise([None, *chunks]):
        if before is not None and chunk is not None and _silence(before, chunk, time) > gap:
            found.append([])
        if chunk is not None:
            found[-1].append(chunk)
    return tuple(section for part in found if part for section in sections(part, size=size, largest=largest))


def _silence(before: Chunk, after: Chunk, time: Times) -> timedelta:
    earlier, later = time(before), time(after)
    return later - earlier if earlier is not None and later is not None else timedelta(0)


def _parts(chunks: list[Chunk], depth: int, room: int) -> Iterator[list[Chunk]]:
    """Yield stretches that fit, cut at the outermost headings that help, else into parts of like size."""
    if not chunks:
        return
    total = sum(len(chunk.text) for chunk in chunks)
    if total <= room:
        yield chunks
        return
    deepest = max(len(chunk.path) for chunk in chunks)
    while depth < deepest:
        groups = [list(group) for _, group in groupby(chunks, key=lambda chunk: chunk.path[: depth + 1])]
        depth += 1
        if len(groups) > 1:
            yield from _joined((part for group in groups for part in _parts(group, depth, room)), room)
            return
    yield from _even(chunks, -(-total // room))


def _joined(parts: Iterator[list[Chunk]], room: int) -> Iterator[list[Chunk]]:
    """Put small neighbours with a common heading together: a section of one line tells a reader nothing."""
    pending: list[Chunk] = []
    for part in parts:
        if pending and _size(pending) + _size(part) <= room // 2 and _shared([*pending, *part]):
            pending = [*pending, *part]
            continue
        if pending:
            yield pending
        pending = part
    if pending:
        yield pending


def _even(chunks: list[Chunk], count: int) -> Iterator[list[Chunk]]:
    share = -(-len(chunks) // max(1, count))
    return (chunks[at : at + share] for at in range(0, len(chunks), share))


def _size(chunks: Sequence[Chunk]) -> int:
    return sum(len(chunk.text) for chunk in chunks)


def _shared(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the headings that all chunks stand under."""
    first, *others = (chunk.path for chunk in chunks)
    kept = 0
    while kept < len(first) and all(len(path) > kept and path[kept] == first[kept] for path in others):
        kept += 1
    return first[:kept]
