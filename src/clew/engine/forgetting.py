"""Forget memories and documents for good, and give a receipt for it.

What goes: the rows, words, vectors and events of a fact with all its versions, what superseded it,
earlier and later states of an imported file, and the texts that this process or a finished import
job still holds. What stays: that an id was forgotten, and unless told otherwise a keyed hash of
each text, so that capture does not bring it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from clew.documents.importing import FILE, KEY
from clew.engine import versions
from clew.engine.conflicts import drop_dismissed
from clew.engine.request import WHERE_KEYS, filter_of, unknown
from clew.errors import InputError, ProtectedError
from clew.memories import duplicates
from clew.memories.conflicts import statement
from clew.memories.embedding import is_message
from clew.memories.firewall.instructions import find_flags
from clew.memories.firewall.recalled_texts import RecalledTexts
from clew.memories.quality_features import clear_line_cache
from clew.memories.small_talk import clear_text_cache
from clew.memories.validation import MAX_NAME_CHARACTERS, MAX_SOURCE_CHARACTERS, line, one_of
from clew.ports import Clock, Store
from clew.settings import Settings
from clew.store.filters import same_json
from clew.text.words import clear_text_caches, query_terms, word_terms
from clew.times import parse_time
from clew.types import SUPERSEDES, Event, EventKind, Filter, Kind, Node, NodeId, Receipt

FORGET_KEYS = (*WHERE_KEYS, "source", "before")
# records of the HTTP surface; what was sent with a job is dropped when it is done
JOB_KIND, REPORT_KIND = "job", "job-report"
FINISHED = ("done", "failed")
LEAST_REDACTED = 8  # characters: what is shorter stands in many sentences by chance
REDACTED = "[forgotten]"
NOT_TEXT = frozenset(  # details of events that are ids, times and numbers
    {
        "at",
        "by",
        "cosine",
        "reasserted",
        "space",
        "supersedes",
        "version",
        "version_of",
        "was",
        "was_from",
    }
)
ELSEWHERE = (
    "backups, exports and traces that you made yourself",
    "the memory of running processes, and blocks that the file system or the disk has not overwritten yet",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which memories and documents a filter names."""

    where: Filter
    source: str | None = None
    before: datetime | None = None
    archived: bool | None = None
    terms: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()

    def holds(self, node: Node) -> bool:
        """Tell whether a row is named, whether or not it is believed, true or archived."""
        where = self.where
        return (
            (not self.kinds or node.kind in self.kinds)
            and (not where.categories or node.category in where.categories)
            and set(where.tags) <= set(node.tags)
            and all(
                key in node.metadata and same_json(node.metadata[key], value)
                for key, value in where.metadata.items()
            )
            and (where.since is None or where.since <= node.t_valid)
            and (where.until is None or node.t_valid <= where.until)
            and (self.before is None or node.t_valid < self.before)
            and (self.source is None or node.source == self.source)
            and (self.archived is None or node.archived == self.archived)
            and (
                not self.terms or {*self.terms} <= {*word_terms(node.title), *word_terms(node.text)}
            )
        )


def selection(
    where: Mapping[str, Any] | None, query: str | None, *, settings: Settings, now: datetime
) -> Selection:
    """Return what a filter for forgetting means, or raise an InputError.

    One that names nothing is refused.
    """
    if where is not None and not isinstance(where, Mapping):
        raise InputError("where", where, "must be a mapping", 'Write it as {"tags": ["old"]}.')
    given = {name: value for name, value in (where or {}).items() if value is not None}
    for name in given:
        one_of("where", name, FORGET_KEYS)
    if not given and query is None:
        raise InputError(
            "where",
            where,
            "names nothing",
            'Name what to forget; for a whole space: {"space": "name"}.',
        )
    before = given.get("before")
    return Selection(
        where=filter_of(
            {k: v for k, v in given.items() if k in WHERE_KEYS},
            settings=settings,
            now=now,
            as_of=None,
            known_at=None,
        ),
        source=None
        if "source" not in given
        else line("where.source", given["source"], limit=MAX_SOURCE_CHARACTERS),
        before=None if before is None else parse_time(before, "where.before"),
        archived=None if "archived" not in given else bool(given["archived"]),
        terms=() if query is None else _query_terms(query),
        kinds=_kinds(given.get("kind")),
    )


def _kinds(kind: object) -> tuple[Kind, ...]:
    named = [kind] if isinstance(kind, str) else list(kind) if isinstance(kind, Iterable) else []
    return tuple(
        Kind(one_of("where.kind", each, (Kind.MEMORY, Kind.DOCUMENT, Kind.CHUNK))) for each in named
    )


def _query_terms(query: object) -> tuple[str, ...]:
    found = tuple(query_terms(query, compounds=False)) if isinstance(query, str) else ()
    if not found:
        raise InputError(
            "query", query, "holds no word", "Name the words that every forgotten text must hold."
        )
    return found


def named(store: Store, wanted: Selection) -> list[NodeId]:
    """Return the memories and documents of which a row is named, by id.

    A part of a document is not looked at by itself.
    """
    rows = (
        node
        for node in store.nodes(wanted.where.space)
        if node.kind is Kind.MEMORY or node.root is None
    )
    return list(dict.fromkeys(node.root or node.id for node in rows if wanted.holds(node)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to forget."""

    only: bool = False
    force: bool = False
    tombstone: bool = True
    check: bool = True
    dry_run: bool = False
    expect: int | None = None


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Forgets in one transaction, then erases what the transaction left in files and caches."""

    store: Store
    clock: Clock
    returned: RecalledTexts | None

    def forget(self, ids: Sequence[NodeId] | Selection, options: Options) -> Receipt:
        """Remove facts and documents and return the receipt."""
        now = self.clock()
        texts: list[str] = []
        with self.store.transaction():
            heads = self._heads(
                named(self.store, ids) if isinstance(ids, Selection) else ids, only=options.only
            )
            rows = list(self.store.get(self.store.family(list(heads))).values())
            _check(heads, rows, options, counted=isinstance(ids, Selection))
            done = Receipt(
                ids=tuple(heads),
                removed=dict(
                    Counter(
                        "version" if row.kind is Kind.MEMORY and row.root else str(row.kind)
                        for row in rows
                    )
                ),
                at=now,
                dry_run=options.dry_run,
                kept=self._predecessors(heads),
            )
            if options.dry_run:
                return done
            buried = _buried(rows) if options.tombstone else {}
            texts = list(self._texts(rows))
            self._remove(rows, texts, buried, now)
        self._clear_caches(rows)
        erased = self.store.erase(texts, check=options.check)
        return replace(
            done,
            tombstones=sum(map(len, buried.values())),
            files=erased.files,
            shared=erased.shared,
            remains=erased.remains,
            unchecked=(*erased.unchecked, *ELSEWHERE),
        )

    # --- what goes ---

    def _heads(self, ids: Sequence[NodeId], *, only: bool) -> dict[NodeId, Node]:
        """Return the facts and documents that go, those that were named first."""
        found: dict[NodeId, Node] = {}
        for id in ids:
            node = self.store.get([id]).get(id)
            if node is None:
                raise unknown(id)
            head = versions.head_of(self.store, node)
            if head.root is not None and head.root in self.store.get([head.root]):
                whole = (
                    "a message of the conversation"
                    if is_message(head)
                    else "a part of the document"
                )
                raise InputError(
                    "id",
                    id,
                    f"is {whole} {head.root}, which holds its words",
                    f"Forget all of it: {head.root}.",
                )
            found[head.id] = head
        if not only:
            for head in list(found.values()):
                found |= {each.id: each for each in self._successors(head) if each.id not in found}
        return found

    def _successors(self, head: Node) -> list[Node]:
        """Return what took the place of a fact, and of that again.

        Of a document the other states of the same file.
        """
        if head.kind is not Kind.MEMORY:
            states = {name: head.metadata[name] for name in (FILE, KEY) if name in head.metadata}
            same = (
                self.store.get(self.store.carriers(head.space, states)).values()
                if FILE in states
                else ()
            )
            return [
                node
                for node in same
                if node.root is None and node.kind is not Kind.MEMORY and node.id != head.id
            ]
        found: dict[NodeId, Node] = {}
        waiting = [head]
        while waiting:
            later = self.store.get(list(_superseded_by(self.store.events(waiting.pop().id))))
            fresh = [node for id, node in later.items() if id not in found and id != head.id]
            found |= {node.id: node for node in fresh}
            waiting += fresh
        return list(found.values())

    def _predecessors(self, heads: Mapping[NodeId, Node]) -> tuple[NodeId, ...]:
        edges = self.store.edges(list(heads))
        return tuple(
            sorted(
                {
                    e.target
                    for e in edges
                    if e.kind == SUPERSEDES and e.source in heads and e.target not in heads
                }
            )
        )

    def _remove(
        self,
        rows: Sequence[Node],
        texts: Sequence[str],
        buried: Mapping[str, Sequence[str]],
        now: datetime,
    ) -> None:
        drop_dismissed(self.store, {row.id for row in rows})
        self._redact_jobs({row.source for row in rows if row.source}, texts)
        self.store.delete([row.id for row in rows])
        self.store.append(
            [
                Event(node=row.id, kind=EventKind.FORGET, at=now, detail={"space": row.space})
                for row in rows
            ]
        )
        for space, hashes in buried.items():
            self.store.add_tombstones(space, hashes)

    # --- what else holds its text ---

    def _texts(self, rows: Sequence[Node]) -> Iterator[str]:
        """Yield every text that the rows, their events and their edges hold.

        Those of a document's parts are in the document.
        """
        for row in rows:
            if row.kind is Kind.MEMORY or row.root is None:
                own = (row.text, row.title, row.source, row.idempotency_key or "")
                yield from (*own, *row.tags, *_strings(dict(row.metadata)))
            for event in self.store.events(row.id):
                yield from _strings(
                    [value for name, value in event.detail.items() if name not in NOT_TEXT]
                )
        for edge in self.store.edges([row.id for row in rows]):
            yield edge.evidence

    def _redact_jobs(self, sources: AbstractSet[str], texts: Sequence[str]) -> None:
        """Take forgotten files and texts out of the records of finished imports."""
        texts = [text for text in dict.fromkeys(texts) if len(text) >= LEAST_REDACTED]
        for id, job in self.store.kept(JOB_KIND).items():
            if job.get("state") not in FINISHED:
                continue  # it is about to be read: its outcome will be written then
            if (clean := _redacted_job(job, sources, texts)) != job:
                self.store.keep(JOB_KIND, id, clean)
            report = self.store.record(REPORT_KIND, id)
            if report is not None and (clean := _redacted_report(report, sources, texts)) != report:
                self.store.keep(REPORT_KIND, id, clean)

    def _clear_caches(self, rows: Sequence[Node]) -> None:
        """Empty what this process keeps of whole texts."""
        clear_text_caches()
        duplicates.clear_text_caches()
        statement.clear_text_caches()
        clear_text_cache()
        clear_line_cache()
        find_flags.cache_clear()
        if self.returned is not None:
            for space in {row.space for row in rows}:
                self.returned.of(space).forget({row.id for row in rows if row.space == space})


def _superseded_by(events: Sequence[Event]) -> Iterator[NodeId]:
    """Yield what took the place of a fact since it was last asserted."""
    for event in reversed(events):
        if "reasserted" in event.detail:
            return
        if event.kind is EventKind.SUPERSEDE and "by" in event.detail:
            yield str(event.detail["by"])


def _check(
    heads: Mapping[NodeId, Node], rows: Sequence[Node], options: Options, *, counted: bool
) -> None:
    """Refuse a count that nobody confirmed, and what is protected."""
    if (
        not options.dry_run
        and (options.expect is not None or counted)
        and options.expect != len(heads)
    ):
        problem = (
            f"must be the number of memories and documents that would go, which is {len(heads)}"
        )
        raise InputError("expect", options.expect, problem, "Look at them first with a dry run.")
    if not options.force and (kept := next((row.id for row in rows if row.protected), None)):
        raise ProtectedError(
            f"Memory {kept} is protected. Nothing was forgotten. Lift it with: clew protect {kept} --off, or forget with --force.",
            id=kept,
        )


def _buried(rows: Sequence[Node]) -> dict[str, list[str]]:
    """Return the hashes of the texts that are not to come back, by space.

    Parts of a document have none of their own.

    A message of a conversation has one unless it is small talk: "Ann: Ok!" may be said again.
    """
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        message = is_message(row) and row.quality is not None and row.quality.substance > 0
        if row.kind is Kind.MEMORY or row.root is None or message:
            found.setdefault(row.space, {})[row.content_hash] = None
    return {space: list(hashes) for space, hashes in found.items()}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)


def _redacted_job(
    job: Mapping[str, Any], sources: AbstractSet[str], texts: Sequence[str]
) -> dict[str, Any]:
    clean = dict(job)
    if _names_source(job.get("source"), sources):
        clean["source"] = REDACTED
    if any(text in said for said in _strings(job.get("error")) for text in texts):
        clean["error"] = {"message": REDACTED}
    return clean


def _redacted_report(
    report: Mapping[str, Any], sources: AbstractSet[str], texts: Sequence[str]
) -> dict[str, Any]:
    return {
        **report,
        "files": [_redacted_file(each, sources, texts) for each in report.get("files", ())],
    }


def _redacted_file(
    file: Mapping[str, Any], sources: AbstractSet[str], texts: Sequence[str]
) -> dict[str, Any]:
    hidden = ("path", "reason", "notes")
    if _names_source(file.get("path"), sources) or any(
        text in said for said in _strings(dict(file)) for text in texts
    ):
        return {
            **{name: value for name, value in file.items() if name not in hidden},
            "path": REDACTED,
        }
    return dict(file)


def _names_source(path: object, sources: AbstractSet[str]) -> bool:
    """Tell whether a path as somebody named it is one of the files, which are known by absolute paths."""
    plain = path.removeprefix("./") if isinstance(path, str) else ""
    return bool(plain) and any(
        source == plain or source.endswith(f"/{plain}") for source in sources
    )


def ids_of(id: object) -> list[NodeId]:
    """Return the ids that a caller named: one, or several."""
    several = [id] if isinstance(id, str) else list(id) if isinstance(id, Iterable) else None
    if not several:
        raise InputError(
            "id", id, "names no memory", "Pass an id, several ids, or where= and query=."
        )
    return [line("id", each, limit=MAX_NAME_CHARACTERS) for each in dict.fromkeys(several)]
