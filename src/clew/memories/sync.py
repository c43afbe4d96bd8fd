"""Keep the sources of a space in step with the files they came from.

List them, and retire those whose file is gone.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from clew.errors import InputError
from clew.ports import Sort, Store
from clew.types import Event, EventKind, Filter, Kind, Node, NodeId, Spot

FILE, STATE = "file", "file_state"
PAGE = 1000
NO_PARENT = ("",)
"""As `Filter.within`: of nodes that have a parent none are seen, so that only outermost nodes are."""
FILE_GONE = "file deleted or moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One imported file: its path, the titles of its documents, its nodes, and when it was read."""

    path: str
    space: str
    titles: tuple[str, ...]
    roots: tuple[NodeId, ...]
    imported_at: datetime
    state: str

    @property
    def exists(self) -> bool:
        """Whether the file is still there."""
        return file_exists(self.path)


def sources(store: Store, *, space: str, now: datetime) -> tuple[Source, ...]:
    """Return the imported files of a space that are live, by path."""
    found: dict[str, list[Node]] = defaultdict(list)
    for node in outermost(store, space, now):
        path = node.metadata.get(FILE)
        if isinstance(path, str) and STATE in node.metadata:
            found[path].append(node)
    return tuple(_source(path, nodes, space) for path, nodes in sorted(found.items()))


def _source(path: str, nodes: Sequence[Node], space: str) -> Source:
    ordered = sorted(nodes, key=lambda node: node.id)
    return Source(
        path=path,
        space=space,
        titles=tuple(dict.fromkeys(node.title for node in ordered if node.title)),
        roots=tuple(node.id for node in ordered),
        imported_at=max(node.t_created for node in ordered),
        state=str(ordered[0].metadata[STATE]),
    )


def outermost(store: Store, space: str, now: datetime) -> Iterator[Node]:
    """Yield the live documents and single chunks of a space."""
    where = Filter(space=space, kinds=(Kind.DOCUMENT, Kind.CHUNK), within=NO_PARENT, now=now)
    after: Spot | None = None
    while True:
        page = store.listing(where, sort=Sort.RECENT, limit=PAGE, after=after)
        yield from page
        if len(page) < PAGE:
            return
        after = Spot(0.0, page[-1].t_valid, page[-1].id)


def missing(
    found: Sequence[Source], folders: Sequence[Path], *, seen: Callable[[str], bool]
) -> list[Source]:
    """Return the sources below these folders whose file is gone.

    What this run has seen is there.
    """
    return [
        each
        for each in found
        if not seen(each.path)
        and any(Path(each.path).is_relative_to(folder) for folder in folders)
        and not each.exists
    ]


def checked_folders(paths: Sequence[str | Path]) -> list[Path]:
    """Return the folders to keep in step.

    A folder that is not there may be a disk that is not mounted, so it is an error.
    """
    folders = []
    for path in paths:
        if not Path(path).is_dir():
            raise InputError(
                "paths",
                str(path),
                "is not a folder, and only folders can be kept in step",
                "Name an existing folder.",
            )
        folders.append(Path(path).resolve())
    return folders


def retire(store: Store, source: Source, *, now: datetime) -> int:
    """Expire all nodes of a source in one transaction and return how many.

    Earlier times still find them.
    """
    with store.transaction():
        ids = store.family(source.roots)
        for id in ids:
            store.update(id, t_expired=now)
        store.append(
            [
                Event(node=id, kind=EventKind.EXPIRE, at=now, detail={"reason": FILE_GONE})
                for id in ids
            ]
        )
    return len(ids)


def file_exists(path: str) -> bool:
    """Tell whether a file is there, also one whose name is no UTF-8 and is kept with its bytes written out."""
    try:
        if os.path.lexists(path):
            return True
        return "\\x" in path and any(
            os.fsencode(each.path).decode("utf-8", "backslashreplace") == path
            for each in os.scandir(Path(path).parent)
        )
    except OSError as error:
        # what cannot be looked at is not known to be gone
        return isinstance(error, PermissionError)
