"""Clew itself: remember, recall, and the care of what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from inspect import signature
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from clew.engine import reembedding, transfer
from clew.engine.request import SERVED, filter_of, number, one_of, question, whole
from clew.engine.tracking import AccessTracker
from clew.engine.vectors import Vectoriser
from clew.errors import InputError, NotFoundError, ProtectedError, StoreError
from clew.forking import after_fork
from clew.ids import new_id
from clew.ingest.commit import Committer
from clew.ingest.draft import Draft, draft
from clew.ingest.fields import MAX_NAME_CHARACTERS, MAX_SOURCE_CHARACTERS, line
from clew.ports import Clock, Embedder, Problem, Progress, Sort, Store
from clew.recall.recipes import NAMES, Recipe, recipe
from clew.recall.state import Recall
from clew.settings import Settings, as_dict
from clew.settings import load as load_settings
from clew.times import Moment
from clew.types import Edge, Event, EventKind, Filter, Kind, Node, NodeId, Outcome, Vectors

if TYPE_CHECKING:
    from clew.ingest.importing import Importer, ImportReport

MAX_LISTED = 10_000
FIELDS = tuple(name for name in signature(draft).parameters if name not in ("text", "settings", "now"))
KNOWN_FIELDS = frozenset(FIELDS)
MAX_ACCESSES = 10**12


def silent(what: str, done: int, total: int | None) -> None:
    """Report progress to nobody."""


class Clew:
    """A memory: give it what an agent learns, ask it for the right pieces. Thread-safe; close it or use `with`."""

    def __init__(self, *, store: Store, embedder: Embedder | None, settings: Settings, clock: Clock, owns_store: bool = True) -> None:
        self.store = store
        self.settings = settings
        self._clock = clock
        self._owns_store = owns_store
        self._closed = False
        self._vectors = Vectoriser(embedder, store)
        self._committer = Committer(
            store, embed=self._vectors.passages, model=self._vectors.model, settings=settings, clock=clock, new_id=new_id
        )
        self._tracker = AccessTracker(store, settings.access)
        self._start_threads()
        after_fork(self._start_threads)

    def _start_threads(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="clew-words")  # threads start when first used

    # --- remember ---

    def remember(self, text: str, **fields: Any) -> Outcome:
        """Offer one memory; the outcome says what became of it, and by which rule.

        Fields: category, trigger, importance (0–1), title, space, stability, valid_from, valid_to, tags, metadata,
        source, keywords, idempotency_key, on_duplicate ("reinforce", "insert" or "error"), near (look for near duplicates).
        """
        return self._committer.commit([self._draft(text, fields)])[0]

    def remember_many(self, memories: Iterable[str | Mapping[str, Any]], *, progress: Progress = silent, **fields: Any) -> list[Outcome]:
        """Offer many memories, embedded and committed in batches; outcomes come in the order of the memories.

        Each is a text or a mapping with `text` and the fields of `remember`; `fields` here apply to all.
        A batch that was acknowledged through `progress` survives whatever happens to the next.
        """
        if isinstance(memories, str | bytes | Mapping) or not isinstance(memories, Iterable):
            raise InputError("memories", memories, "must be several memories", "Pass a list; for one memory use remember().")
        outcomes: list[Outcome] = []
        batch: list[Draft] = []
        for memory in memories:
            batch.append(self._draft_of(memory, fields, len(outcomes) + len(batch)))
            if len(batch) == self.settings.memory.batch_size:
                outcomes += self._committer.commit(batch)
                progress("remembering", len(outcomes), None)
                batch = []
        if batch:
            outcomes += self._committer.commit(batch)
            progress("remembering", len(outcomes), len(outcomes))
        return outcomes

    def _draft_of(self, memory: object, fields: Mapping[str, Any], position: int) -> Draft:
        if isinstance(memory, str):
            return self._draft(memory, fields)
        if not isinstance(memory, Mapping) or "text" not in memory:
            raise InputError(f"memories[{position}]", memory, "is neither a text nor a mapping with a text", 'Write it as {"text": "…"}.')
        return self._draft(memory["text"], {**fields, **{key: value for key, value in memory.items() if key != "text"}})

    def _draft(self, text: Any, fields: Mapping[str, Any]) -> Draft:
        if not KNOWN_FIELDS.issuperset(fields):
            for name in fields:
                one_of("memory", name, FIELDS)
        return draft(text, **fields, settings=self.settings, now=self._clock())

    def import_path(self, *paths: str | Path, progress: Progress = silent, **options: Any) -> ImportReport:
        """Bring in files, directories and globs; the report says what became of each file, and why.

        Options: format, space, category, importance, tags, metadata, exclude, include_hidden. Files that have not changed are left
        as they are; of those that have, the earlier nodes are expired.
        """
        self._check_open()
        for path in paths:
            if not isinstance(path, str | Path) or not str(path):
                raise InputError("paths", path, "is no path", "Name a file, a directory or a glob.")
        return self._importer(progress, options).paths(paths)

    def import_data(self, data: bytes | str, *, name: str | None = None, progress: Progress = silent, **options: Any) -> ImportReport:
        """Bring in one text or file that is not on disk; under the same name it takes the place of what was there."""
        self._check_open()
        if not isinstance(data, str | bytes | bytearray | memoryview):
            raise InputError("data", data, "must be text or bytes", "Read it first, or name its file with import_path.")
        given = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        chosen = None if name is None else line("name", name, limit=MAX_SOURCE_CHARACTERS)
        return self._importer(progress, options).data(given, name=chosen or "")

    def _importer(self, progress: Progress, options: Mapping[str, Any]) -> Importer:
        from clew.engine import importing  # noqa: PLC0415 - readers and chunkers, which recall does not need

        parts = importing.Parts(self.store, self._vectors, self.settings, self._clock, new_id)
        return importing.importer(parts, progress=progress, **options)

    # --- recall ---

    def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        recipe: str | None = None,
        preset: str | None = None,
        weights: Mapping[str, float] | None = None,
        where: Mapping[str, Any] | Filter | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        min_similarity: float | None = None,
        budget_tokens: int | None = None,
        seed: int = 0,
        track: bool | None = None,
    ) -> Recall:
        """Return what should be seen for a question, best first, each hit with the reason for it.

        `where` narrows by space, kind, category, tags, metadata, since, until; `preset` or `weights` say how much
        recency, importance and use count beside relevance; `track=False` leaves no trace of the recall.
        """
        self._check_open()
        now = self._clock()
        asked = question(
            query,
            settings=self.settings,
            now=now,
            k=k,
            recipe=recipe,
            preset=preset,
            weights=weights,
            where=filter_of(where, settings=self.settings, now=now, as_of=as_of, known_at=known_at),
            min_similarity=min_similarity,
            budget_tokens=budget_tokens,
            seed=seed,
        )
        answer = self.recipe(asked.recipe).run(Recall(question=asked, id=new_id(now)))
        if self.settings.access.track if track is None else track:
            self._tracker.record([hit.id for hit in answer.hits], now)
        return answer

    def embedded_query(self, text: str) -> tuple[Vectors | None, tuple[str, ...]]:
        """Return the vector of a question, or None and why there is none."""
        return self._vectors.query(text)

    def now(self) -> datetime:
        """Return the time by this Clew's clock."""
        return self._clock()

    def variant(self, **settings: Any) -> Clew:
        """Return a Clew with other settings on the same store; closing it leaves the store open."""
        changed = load_settings(overrides={**as_dict(self.settings), **settings}).settings
        return Clew(store=self.store, embedder=self._vectors.embedder, settings=changed, clock=self._clock, owns_store=False)

    def recipe(self, name: str) -> Recipe:
        """Return a named list of stages, bound to this store: print it, or leave out a stage and run it."""
        return recipe(
            one_of("recipe", name, NAMES), settings=self.settings, store=self.store, embed=self._vectors.query, executor=self._executor
        )

    # --- look ---

    def get(self, id: NodeId) -> Node | None:
        """Return a memory, or None."""
        return self.store.get([_name(id)]).get(id)

    def history(self, id: NodeId) -> tuple[Event, ...]:
        """Return what happened to a memory, oldest first; a forgotten one's history is that it was forgotten."""
        self._tracker.flush()
        events = self.store.events(_name(id))
        if not events:
            raise _unknown(id)
        return events

    def recent(self, limit: int = 10, *, where: Mapping[str, Any] | Filter | None = None) -> tuple[Node, ...]:
        """Return the newest memories by valid time."""
        return self._listed(Sort.RECENT, limit, where)

    def important(
        self, limit: int = 10, *, where: Mapping[str, Any] | Filter | None = None, least: float | None = None
    ) -> tuple[Node, ...]:
        """Return the most important memories, at least `lists.important_min`."""
        chosen = self.settings.lists.important_min if least is None else number("least", least, 0.0, 1.0)
        return self._listed(Sort.IMPORTANT, limit, where, min_importance=chosen)

    def popular(self, limit: int = 10, *, where: Mapping[str, Any] | Filter | None = None, least: int | None = None) -> tuple[Node, ...]:
        """Return the most recalled memories, with at least `lists.popular_min` accesses."""
        self._tracker.flush()
        chosen = self.settings.lists.popular_min if least is None else whole("least", least, 0, MAX_ACCESSES)
        return self._listed(Sort.POPULAR, limit, where, min_accesses=chosen)

    def _listed(self, sort: Sort, limit: int, where: Mapping[str, Any] | Filter | None, **least: Any) -> tuple[Node, ...]:
        chosen = filter_of(where, settings=self.settings, now=self._clock(), as_of=None, known_at=None)
        if chosen.kinds == SERVED:  # nobody asked for a kind: show what stands by itself, a document and not its chunks
            chosen = replace(chosen, kinds=(Kind.MEMORY, Kind.DOCUMENT, Kind.CHUNK), within=("",))
        return self.store.listing(chosen, sort=sort, limit=whole("limit", limit, 1, MAX_LISTED), **least)

    # --- change ---

    def link(self, source: NodeId, target: NodeId, *, kind: str = "RELATED", weight: float = 1.0, evidence: str = "") -> Edge:
        """Connect two memories."""
        edge = Edge(
            source=_name(source),
            target=_name(target),
            kind=line("kind", kind, limit=MAX_NAME_CHARACTERS),
            weight=number("weight", weight, 0.0, 1.0),
            evidence=line("evidence", evidence, limit=MAX_SOURCE_CHARACTERS, empty=True),
            t_created=self._clock(),
        )
        self.store.link([edge])
        return edge

    def protect(self, id: NodeId, protected: bool = True) -> Node:
        """Keep a memory from being forgotten, or let it go again."""
        with self.store.transaction():
            node = self._known(id)
            self.store.update(id, protected=bool(protected))
            self.store.append([self._event(id, EventKind.UPDATE, protected=bool(protected))])
        return replace(node, protected=bool(protected))

    def forget(self, id: NodeId, *, force: bool = False) -> Node:
        """Remove a memory with its words, vectors and edges; only the fact that it was forgotten stays.

        A document goes with all its sections and chunks; a part of one does not go by itself, for the rest would still say it.
        """
        with self.store.transaction():
            node = self._known(id)
            if node.root is not None and node.root in self.store.get([node.root]):
                raise InputError(
                    "id", id, f"is a part of the document {node.root}, which holds its words", f"Forget all of it: {node.root}."
                )
            family = self.store.family([id])
            if kept := next((each.id for each in self.store.get(family).values() if each.protected and not force), None):
                raise ProtectedError(
                    f"Memory {kept} is protected. Lift it with: clew protect {kept} --off, or forget with --force.", id=kept
                )
            self.store.delete(family)
            self.store.append([self._event(each, EventKind.FORGET) for each in family])
        return node

    def _known(self, id: NodeId) -> Node:
        node = self.get(id)
        if node is None:
            raise _unknown(id)
        return node

    def _event(self, id: NodeId, kind: EventKind, **detail: Any) -> Event:
        return Event(node=id, kind=kind, at=self._clock(), detail=detail)

    # --- care ---

    def stats(self) -> dict[str, Any]:
        """Return counts and sizes, what was rejected by rule, and whether accesses could be counted."""
        self._tracker.flush()
        return {**self.store.stats(), "tracking_failure": self._tracker.failure}

    def reembed(self, embedder: Embedder | None = None, *, progress: Progress = silent) -> reembedding.Reembedded:
        """Give every memory a vector of the configured model, or of another; resumes after an interruption."""
        chosen = embedder or self._vectors.embedder
        done = reembedding.reembed(self.store, chosen, batch_size=self.settings.memory.batch_size, progress=progress)
        self._vectors.embedder = chosen
        return done

    def export(self, *, space: str | None = None, vectors: bool = True) -> Iterator[str]:
        """Yield the store as lines of JSON."""
        self._tracker.flush()
        return transfer.export(self.store, space=space, vectors=vectors)

    def load(self, lines: Iterable[str]) -> transfer.Loaded:
        """Bring in the lines of an export; what is there already stays as it is."""
        return transfer.load(self.store, lines)

    def backup(self, path: str | Path) -> Path:
        """Write a consistent copy of the store to a new file."""
        self._tracker.flush()
        target = Path(path).expanduser()
        self.store.backup(target)
        return target

    def verify(self, *, repair: bool = False) -> tuple[Problem, ...]:
        """Check everything derived against the truth, rebuilding it first if asked; empty means sound."""
        if repair:
            self.store.repair()
        return self.store.verify()

    def compact(self) -> None:
        """Give back space and merge indexes."""
        self.store.compact()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("This Clew is closed. Open it again with clew.open(path).")

    def close(self) -> None:
        """Write what is waiting and release the files; closing again is fine."""
        self._closed = True
        self._tracker.close()
        self._executor.shutdown(wait=True)
        if self._owns_store:
            self.store.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close."""
        self.close()


def _name(id: NodeId) -> NodeId:
    """Return an id that can be looked up; any text may be asked for, nothing else."""
    return line("id", id, limit=MAX_NAME_CHARACTERS)


def _unknown(id: NodeId) -> NotFoundError:
    return NotFoundError(f"No memory {id}. List them with: clew list", id=id)
