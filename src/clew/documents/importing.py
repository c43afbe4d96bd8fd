"""From files to nodes: find, read, cut, plant, commit; then embed.

Each file is one transaction: its nodes are there with their words, and what an earlier state of the
file had left is expired, or nothing has happened. Vectors follow in batches over all files; a run
that is killed between the two leaves nodes without vectors, which the next run, or `reembed`, gives
them. Nothing is read twice: a file whose bytes and way of cutting are as they were is unchanged. A
file is known by its absolute path: what two folders call README.md are two files.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

from clew.documents.chunkers.port import DEFAULT_OPTIONS, Chunker, ChunkOptions, Unit
from clew.documents.code_places import left_out
from clew.documents.discovery import Found, discover
from clew.documents.readers.document import Document, NotTextError, UnreadableError
from clew.documents.readers.reading import read
from clew.documents.screening import documents_screened, trees_marked
from clew.documents.tree import Origin, Tree, planted
from clew.errors import ClewError, InputError, clipped
from clew.files import read_file
from clew.graph.code.graph import CODE_EDGES
from clew.graph.code.languages import has_grammar
from clew.graph.code.linking import language_of, link_code
from clew.graph.mentions import mentions
from clew.memories.embedding import Embed, Wanted, agree_on_model, made, wanted
from clew.memories.note_links import link_notes
from clew.memories.sync import FILE_GONE, checked_folders, missing, retire, sources
from clew.memories.validation import MAX_NAME_CHARACTERS, line
from clew.ports import Clock, ModelInfo, Progress, Sort, Store
from clew.settings import EntitySettings, FirewallSettings
from clew.types import Embedding, Event, EventKind, Filter, Kind, Node, NodeId, Role

FILE, STATE, KEY = RESERVED = "file", "file_state", "document"
ROOTS = (Kind.DOCUMENT, Kind.CHUNK)
# of reading and planting: raise it when a file that has not changed should be read anew
VERSION = 2
DRY_RUN = "dry run: nothing was written"
FORGOTTEN_FILE = (
    "forgotten: its text was forgotten in this space. To import it all the same, use force"
)
MOST_DOCUMENTS = 100_000  # of one file that are looked for: more than any export holds


class Status(StrEnum):
    """What became of a file."""

    IMPORTED = "imported"
    UNCHANGED = "unchanged"
    UPDATED = "updated"
    FAILED = "failed"
    SKIPPED = "skipped"
    RETIRED = "retired"
    """By a run that keeps folders in step: its file is gone, and its nodes are expired."""


WRITTEN = (Status.IMPORTED, Status.UPDATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """What became of one file, why, and how many nodes it is now."""

    path: str
    status: Status
    reason: str = ""
    nodes: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """Every file with what became of it, and what there is to say about the whole."""

    files: tuple[FileReport, ...]
    vectors: int = 0
    notes: tuple[str, ...] = ()

    @property
    def totals(self) -> dict[str, int]:
        """How many files had each fate, and how many nodes and vectors were written."""
        counts = Counter(str(file.status) for file in self.files)
        written = sum(file.nodes for file in self.files if file.status in WRITTEN)
        return {
            "files": len(self.files),
            **{
                str(status): counts[str(status)]
                for status in Status
                if status is not Status.RETIRED or counts[str(status)]
            },
            "nodes": written,
            "vectors": self.vectors,
        }

    @property
    def failed(self) -> bool:
        """Whether any file failed."""
        return any(file.status is Status.FAILED for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How files become nodes."""

    space: str
    category: str
    importance: float = 0.5
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    format: str | None = None
    exclude: tuple[str, ...] = ()
    include_hidden: bool = False
    sync: bool = False
    """Also retire what came from below the named folders and whose file is gone."""
    dry_run: bool = False
    """Report what would happen and write nothing."""
    force: bool = False
    """Read files anew that have not changed, and keep documents that were forgotten."""
    max_bytes: int
    batch_size: int = 256
    max_keywords: int = 10
    max_tags: int = 32
    chunking: ChunkOptions = DEFAULT_OPTIONS
    entities: EntitySettings = field(default_factory=EntitySettings)
    firewall: FirewallSettings = field(default_factory=FirewallSettings)
    signature: str = ""
    """What names the way of cutting: a file is read anew when it changes."""


NoteReader = Callable[[str, bytes], "FileReport | None"]
"""Takes a file that is an exported memory back in; None for any other file."""
ChunkerFor = Callable[[str], tuple[Chunker, tuple[str, ...]]]
"""Gives the chunker of a format, and notes that the report must carry."""


class Importer:
    """Brings files into a store; used by one thread, once."""

    def __init__(
        self,
        store: Store,
        *,
        options: ImportOptions,
        chunker: ChunkerFor,
        embed: Embed,
        model: Callable[[], ModelInfo],
        clock: Clock,
        new_id: Callable[[datetime], NodeId],
        progress: Progress,
        note: NoteReader = lambda path, data: None,  # noqa: ARG005 - no file is a note
    ) -> None:
        self._store = store
        self._options = options
        self._chunker = chunker
        self._embed = embed
        self._model = model
        self._clock = clock
        self._new_id = new_id
        self._progress = progress
        self._note = note
        self._waiting: list[Wanted] = []
        self._vectors = 0
        self._code: set[str] = set()
        self._code_changed = False
        self._linked_notes = False
        self._notes: dict[str, None] = {}

    def paths(self, paths: Sequence[str | Path]) -> ImportReport:
        """Import files, directories and globs."""
        options = self._options
        folders = checked_folders(paths) if options.sync else []
        found = list(
            discover(
                paths,
                exclude=options.exclude,
                include_hidden=options.include_hidden,
                max_bytes=options.max_bytes,
            )
        )
        return self._report(
            chain((self._one(each) for each in self._counted(found)), self._retired(folders, found))
        )

    def _retired(self, folders: Sequence[Path], found: Sequence[Found]) -> Iterator[FileReport]:
        """Expire what came from below the folders and whose file is gone."""
        if not folders:
            return
        now, options = self._clock(), self._options
        there = {legible_name(each.path.resolve()) for each in found}
        gone = missing(
            sources(self._store, space=options.space, now=now), folders, seen=there.__contains__
        )
        if gone and not any(each.status == "file" for each in found) and not options.force:
            raise InputError(
                "paths",
                [str(folder) for folder in folders],
                f"hold no file, though {len(gone)} were imported from there: is a disk missing?",
                "If they were really deleted, repeat with force.",
            )
        for source in gone:
            nodes = 0 if options.dry_run else retire(self._store, source, now=now)
            yield FileReport(
                path=source.path,
                status=Status.RETIRED,
                reason=DRY_RUN if options.dry_run else FILE_GONE,
                nodes=nodes,
            )

    def data(self, data: bytes, *, name: str) -> ImportReport:
        """Import what came through a pipe; its own hash is its name unless it was given one."""
        if self._options.sync:
            raise InputError(
                "sync", True, "is for folders", "Leave it out, or name a folder with import_path."
            )
        path = name or f"stdin:{hashlib.sha256(data).hexdigest()[:16]}"
        # not before what is left over has its vectors
        return self._report(self._piped(path, each, name) for each in (data,))

    def _piped(self, path: str, data: bytes, name: str) -> FileReport:
        if not data.strip():
            return FileReport(path=path, status=Status.SKIPPED, reason="empty")
        return self._file(path, path, data, None, name=name)

    def _report(self, files: Iterable[FileReport]) -> ImportReport:
        if self._options.dry_run:
            return ImportReport(files=tuple(files), notes=(DRY_RUN,))
        # refuses before anything is written where the store's vectors are another model's
        self._embed([])
        self._leftover()
        done = tuple(files)
        self._flush()
        self._link()
        if self._linked_notes:
            link_notes(self._store, space=self._options.space, now=self._clock())
        return ImportReport(files=done, vectors=self._vectors, notes=tuple(self._notes))

    def _link(self) -> None:
        """Write which code depends on which when some is newer than its links.

        An earlier run may have been killed before them.
        """
        roots = [
            (identity, root) for identity in sorted(self._code) for root in self._earlier(identity)
        ]
        links = [
            edge.t_created
            for edge in self._store.edges([root.id for _, root in roots])
            if edge.kind in CODE_EDGES
        ]
        if roots and (
            self._code_changed or not links or any(root.t_created > max(links) for _, root in roots)
        ):
            link_code(self._store, roots, now=self._clock())

    def _counted(self, found: Sequence[Found]) -> Iterator[Found]:
        for number, each in enumerate(found):
            self._progress("importing files", number, len(found))
            yield each
        self._progress("importing files", len(found), len(found))

    def _one(self, found: Found) -> FileReport:
        path = legible_name(found.path)
        if found.status != "file":
            return FileReport(path=path, status=Status(found.status), reason=found.reason)
        try:
            data, stat = (
                read_file(found.path, limit_bytes=self._options.max_bytes),
                found.path.stat(),
            )
        except OSError as error:
            return FileReport(path=path, status=Status.FAILED, reason=error.strerror or str(error))
        identity = legible_name(found.path.resolve())
        if (
            found.path != Path(found.root)
            and not self._options.force
            and (why := left_out(found.name, data))
        ):
            return FileReport(
                path=path, status=Status.SKIPPED, reason=f"{why}; name it to import it"
            )
        done = self._file(
            path, identity, data, _moment(stat.st_mtime), name=legible_name(found.name)
        )
        if (language := language_of(path, "")) is not None and has_grammar(language):
            self._code.add(identity)
            self._code_changed |= done.status in WRITTEN
        return done

    def _file(
        self, path: str, identity: str, data: bytes, time: datetime | None, *, name: str
    ) -> FileReport:
        """Bring one file in; whatever it holds, the next one goes on."""
        state = self._state(data)
        if (known := self._known(path, identity, state, data)) is not None:
            return known
        now = self._clock()
        try:
            documents, kept_out = documents_screened(
                read(Path(path), format=self._options.format, data=data),
                path,
                self._options.firewall,
            )
            trees = [
                tree
                for each in documents
                if (tree := self._planted(_named(each, name), identity, state, time, now))
                is not None
            ]
            trees, marked = trees_marked(trees, self._options.firewall)
        except NotTextError as error:
            piped = time is None and path == identity  # whoever pipes one thing in means it
            return FileReport(
                path=path,
                status=Status.FAILED if piped else Status.SKIPPED,
                reason=f"{error.reason}. {error.way_out}",
            )
        except (
            Exception
        ) as error:  # a file that trips a parser is that file's failure, and it is told
            return FileReport(path=path, status=Status.FAILED, reason=_reason(error))
        if not trees:
            return FileReport(path=path, status=Status.SKIPPED, reason="holds no text")
        self._linked_notes |= any(
            "links" in document.metadata or "aliases" in document.metadata for document in documents
        )
        whole = len(trees)
        trees = self._without_forgotten(trees)
        if not trees:
            return FileReport(path=path, status=Status.SKIPPED, reason=FORGOTTEN_FILE)
        missing = (
            f"{whole - len(trees)} of {whole} documents were forgotten and left out; to keep them, use force.",
        )
        kept_out = (*kept_out, *(missing if len(trees) < whole else ()))
        notes = tuple(
            dict.fromkeys(
                (*(note for document in documents for note in document.notes), *kept_out, *marked)
            )
        )
        return replace(self._commit(path, identity, state, trees, now), notes=notes)

    def _known(self, path: str, identity: str, state: str, data: bytes) -> FileReport | None:
        """Return the report of a file that need not be read.

        It is unchanged or an exported memory, or this is a dry run.
        """
        earlier = self._earlier(identity)
        if (unchanged := self._unchanged(path, state, earlier)) is not None:
            return unchanged
        if self._options.dry_run:
            return FileReport(
                path=path, status=Status.UPDATED if earlier else Status.IMPORTED, reason=DRY_RUN
            )
        return self._note(path, data)

    def _without_forgotten(self, trees: Sequence[Tree]) -> list[Tree]:
        """Return the documents whose text was not forgotten in the space.

        By force all, none of which then counts as forgotten.
        """
        space, hashes = self._options.space, [tree.root.content_hash for tree in trees]
        forgotten = self._store.find_tombstones(space, hashes)
        if forgotten and self._options.force:
            self._store.drop_tombstones(space, sorted(forgotten))
            return list(trees)
        return [tree for tree in trees if tree.root.content_hash not in forgotten]

    def _state(self, data: bytes) -> str:
        """Return what tells whether a file must be read anew.

        Its bytes, and how it would be read, cut and labelled.
        """
        options = self._options
        labels = (
            options.category,
            options.importance,
            options.tags,
            sorted(options.metadata.items()),
        )
        guarded = (options.firewall.secrets, options.firewall.cards, options.firewall.instructions)
        how = repr((VERSION, options.signature, options.format, labels, guarded)).encode(
            "utf-8", "backslashreplace"
        )
        return hashlib.blake2b(
            data, key=hashlib.blake2b(how, digest_size=32).digest(), digest_size=16
        ).hexdigest()

    def _earlier(self, identity: str) -> tuple[Node, ...]:
        """Return the outermost nodes that the file is now.

        A memory whose writer noted a file in its metadata is none of them.
        """
        where = Filter(
            space=self._options.space, kinds=ROOTS, metadata={FILE: identity}, now=self._clock()
        )
        return self._store.listing(where, sort=Sort.RECENT, limit=MOST_DOCUMENTS)

    def _unchanged(self, path: str, state: str, roots: Sequence[Node]) -> FileReport | None:
        if (
            self._options.force
            or not roots
            or any(root.metadata.get(STATE) != state for root in roots)
        ):
            return None
        return FileReport(path=path, status=Status.UNCHANGED, nodes=len(self._family(roots)))

    def _family(self, roots: Sequence[Node]) -> tuple[NodeId, ...]:
        return self._store.family([root.id for root in roots])

    def _planted(
        self, document: Document, identity: str, state: str, time: datetime | None, now: datetime
    ) -> Tree | None:
        units = [
            Unit(each.start, each.end, each.speaker, each.time) for each in document.messages
        ] or None
        chunker, notes = self._chunker(document.format)
        self._notes.update(dict.fromkeys(notes))
        chunks = chunker.chunk(
            document.text, format=document.format, options=self._options.chunking, units=units
        )
        if not chunks:
            return None
        options = self._options
        origin = Origin(
            space=options.space,
            source=identity,
            category=options.category,
            importance=options.importance,
            tags=_tags(options.tags, document.metadata.get("tags", ()), limit=options.max_tags),
            metadata=options.metadata,
            root_metadata={**document.metadata, FILE: identity, STATE: state, KEY: document.key},
            time=time,
            max_keywords=options.max_keywords,
        )
        return planted(document, chunks, origin=origin, now=now, new_id=self._new_id)

    def _commit(
        self, path: str, identity: str, state: str, trees: Sequence[Tree], now: datetime
    ) -> FileReport:
        """Write the nodes of a file and expire those of its earlier state, all or nothing and as of one moment."""
        nodes = [node for tree in trees for node in tree.nodes]
        named = [
            mention for said in mentions(nodes, settings=self._options.entities) for mention in said
        ]
        with self._store.transaction():
            earlier = self._earlier(identity)
            if (unchanged := self._unchanged(path, state, earlier)) is not None:
                return unchanged  # another process was quicker
            old = self._family(earlier) if earlier else ()
            kept = self._kept_vectors(old, nodes) if old else []
            self._store.insert(
                nodes,
                kept,
                [
                    Event(node=node.id, kind=EventKind.ADD, at=now, detail={"source": node.source})
                    for node in nodes
                ],
            )
            self._store.mention(named)
            self._store.link([edge for tree in trees for edge in tree.edges])
            for id in old:
                self._store.update(id, t_expired=now)
            self._store.append(
                [
                    Event(node=id, kind=EventKind.EXPIRE, at=now, detail={"reason": "file changed"})
                    for id in old
                ]
            )
        there = {(embedding.node, embedding.role) for embedding in kept}
        self._waiting += [each for each in wanted(nodes) if (each.node.id, each.role) not in there]
        if len(self._waiting) >= self._options.batch_size:
            self._flush()
        return FileReport(
            path=path, status=Status.UPDATED if earlier else Status.IMPORTED, nodes=len(nodes)
        )

    def _kept_vectors(self, old: Sequence[NodeId], nodes: Sequence[Node]) -> list[Embedding]:
        """Return the vectors of passages that the change of the file has left as they were."""
        made_of = {
            id: (node.kind, node.title, node.content_hash)
            for id, node in self._store.get(old).items()
        }
        known = {
            (*made_of[each.node], each.role, each.text_hash): (each.vector, each.tokens)
            for each in self._store.embeddings(old)
        }
        kept = [each for each in wanted(nodes) if _made_of(each) in known]
        return made(kept, [known[_made_of(each)] for each in kept])

    # --- vectors ---

    def _leftover(self) -> None:
        """Give vectors to what an interrupted run has left without, be it before the store had its first."""
        while nodes := self._store.unembedded(self._active(), limit=self._options.batch_size):
            if not self._embedded(list(wanted(nodes))):
                return

    def _active(self) -> str:
        model = self._store.model()
        return model.id if model is not None else ""

    def _flush(self) -> None:
        size = self._options.batch_size
        while self._waiting:
            batch, self._waiting = self._waiting[:size], self._waiting[size:]
            if not self._embedded(batch):
                self._waiting = []

    def _embedded(self, batch: Sequence[Wanted]) -> bool:
        """Embed and write a batch; False where there is no model, which the report then says."""
        found = self._embed([each.source for each in batch])
        self._notes.update(dict.fromkeys(found.notes))
        if found.vectors is None:
            return False
        model = self._model()
        with self._store.transaction():
            agree_on_model(self._store, model)
            self._store.put(made(batch, found.rows()), model)
        self._vectors += len(batch)
        self._progress("embedding", self._vectors, self._vectors + len(self._waiting))
        return True


def _reason(error: Exception) -> str:
    """Return why a file could not be imported."""
    if isinstance(error, UnreadableError):
        return f"{error.reason}. {error.way_out}"
    if isinstance(error, MemoryError):
        return "it needs more memory than this process may use. Split it."
    return (
        str(error)
        if isinstance(error, ClewError)
        else f"it could not be read ({type(error).__name__}: {clipped(str(error))})"
    )


def _made_of(wanted: Wanted) -> tuple[Kind, str, str, Role, str]:
    """Return what a vector and its token codes depend on.

    The kind too, for of a document only the gist is embedded, of a chunk with its words all of it;
    and the node's own text, for neighbours may have one context key, and each the codes of its own
    tokens.
    """
    return (
        wanted.node.kind,
        wanted.node.title,
        wanted.node.content_hash,
        wanted.role,
        wanted.text_hash,
    )


def _named(document: Document, name: str) -> Document:
    """Return a document with a title.

    Its own, else the name of its file, which of code is where it stands.
    """
    return document if document.title else replace(document, title=name)


def _tags(given: Sequence[str], own: Iterable[str], *, limit: int) -> tuple[str, ...]:
    """Return the tags of an import and those of a document that a filter can ask for.

    Its metadata keeps all of its own.
    """
    found = dict.fromkeys(given)
    for tag in own:
        with suppress(InputError):
            found.setdefault(line("tags", tag, limit=MAX_NAME_CHARACTERS))
    return tuple(found)[: max(limit, len(given))]


def legible_name(path: str | Path) -> str:
    r"""Return a path as text that any store keeps and any reader can print.

    Bytes that are no UTF-8 are written out.

    >>> legible_name(Path("caf\udce9.txt"))
    'caf\\xe9.txt'
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _moment(seconds: float) -> datetime | None:
    """Return a file's time, or None for one that no calendar holds."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
