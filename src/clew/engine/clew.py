"""Clew itself: remember, recall, and the care of what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from inspect import signature
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from clew.engine import models as reembedding
from clew.engine import transfer, versions
from clew.engine.bitemporal import Truth
from clew.engine.models import Reading, Vectoriser, questioner
from clew.engine.read_scope import read_scope
from clew.engine.request import (
    SERVED,
    Page,
    filter_of,
    number,
    page_of,
    question,
    spot_at,
    stand,
    unknown,
    whole,
    with_kinds,
)
from clew.engine.telemetry import Telemetry, Watch, watched
from clew.engine.tracking import AccessTracker
from clew.errors import CorruptStoreError, InputError, StoreError
from clew.files import expanded
from clew.forking import after_fork
from clew.ids import new_id
from clew.memories.commit import Committer
from clew.memories.draft import Draft, draft
from clew.memories.firewall.recalled_texts import RecalledTexts
from clew.memories.firewall.screening import screen_fields, scrub
from clew.memories.questions import questions_of
from clew.memories.validation import MAX_NAME_CHARACTERS, MAX_SOURCE_CHARACTERS, line, one_of
from clew.options import (
    ImportFields,
    Labels,
    MemoryFields,
    PathFields,
    RecallOptions,
    SuccessorFields,
)
from clew.ports import Clock, Embedder, OnDamage, Problem, Progress, Repaired, Reranker, Sort, Store
from clew.search.recipes import NAMES, Recipe, recipe
from clew.search.state import QueryVectors, Recall
from clew.settings import Settings, as_dict
from clew.settings import load as load_settings
from clew.times import Moment
from clew.types import (
    ConversationOutcome,
    Edge,
    Event,
    EventKind,
    FileCheck,
    Filter,
    Kind,
    Message,
    Node,
    NodeId,
    Outcome,
    Receipt,
)

if TYPE_CHECKING:
    from clew.documents.importing import Importer, ImportReport
    from clew.engine.conflicts import Conflict, Conflicts, Finder
    from clew.engine.language import Language, Made
    from clew.engine.notes import NotesWritten
    from clew.engine.relating import Related
    from clew.engine.replaying import Replay
    from clew.memories.decay import Decayed
    from clew.memories.sync import Source
    from clew.search.why import Why
    from clew.search.why_not import WhyNot

MAX_LISTED = 10_000
FIELDS = tuple(
    name for name in signature(draft).parameters if name not in ("text", "settings", "now")
)
KNOWN_FIELDS = frozenset(FIELDS)
MAX_ACCESSES = 10**12
LEAST_SEARCHED = 4  # characters


def silent(what: str, done: int, total: int | None) -> None:
    """Report progress to nobody."""


class Clew:
    """A memory: give it what an agent learns, ask it for the right pieces. Thread-safe.

    Close it or use `with`.
    """

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder | None,
        settings: Settings,
        clock: Clock,
        owns_store: bool = True,
        telemetry: Telemetry | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.opened_with: Mapping[str, Any] | None = None
        """The arguments with which another process opens the same Clew; None if it is in memory or
        was given Python objects.
        """
        self.setting_sources: Mapping[str, str] = {}
        """Where each setting came from, by its dotted key; empty if it was given as an object."""
        self._clock = clock
        self._owns_store = owns_store
        self._closed = False
        self.watch = Watch(telemetry, include_text=settings.telemetry.include_text)
        self._vectors = Vectoriser(
            embedder, store, token_codes=settings.model.token_codes, called=self.watch.embedded
        )
        self._reading = Reading(reranker, settings.rerank.model)
        self.language = (
            None
            if settings.llm.protocol == "none"
            and not (settings.llm.substance or settings.llm.entities)
            else _language(settings)
        )
        asker = questioner(
            settings.questions, None if self.language is None else self.language.model
        )
        self._returned = (
            RecalledTexts(store, minutes=settings.firewall.echo_minutes)
            if settings.firewall.echo
            else None
        )
        self._committer = Committer(
            store,
            embed=self._vectors.passages,
            model=self._vectors.model,
            settings=settings,
            clock=clock,
            new_id=new_id,
            questioner=asker,
            returned=self._returned,
            background=lambda: self._vectors.background,
        )
        self._truth = Truth(
            *(
                store,
                self._vectors.passages,
                self._vectors.model,
                settings,
                clock,
                new_id,
                self._draft,
                asker,
                self._returned,
            ),
            background=lambda: self._vectors.background,
        )
        self._tracker = AccessTracker(
            store,
            settings.access,
            publish=None if self._returned is None else self._returned.publish,
        )
        self._start_threads()
        after_fork(self._start_threads)

    def _start_threads(self) -> None:
        # threads start when first used
        self._executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="clew-words")
        self._recipes: dict[str, Recipe] = {}  # bound to those threads

    # --- remember ---

    @watched("remember")
    def remember(self, text: str, **fields: Unpack[MemoryFields]) -> Outcome:
        """Offer one memory; the outcome says what became of it, and by which rule.

        Fields: category, trigger, importance (0–1), title, space, stability, valid_from, valid_to,
        tags, metadata, source, keywords, idempotency_key, on_duplicate ("reinforce", "insert",
        "error", or "replace", which deletes what was written under the same idempotency_key), near
        (look for near duplicates), force (keep it although it was forgotten), verbatim (keep the
        text exactly as given, whatever its length and however little it says).
        """
        return self._committed([self._draft(text, fields)])[0]

    @watched("remember_many")
    def remember_many(
        self,
        memories: Iterable[str | Mapping[str, Any]],
        *,
        progress: Progress = silent,
        **fields: Unpack[MemoryFields],
    ) -> list[Outcome]:
        """Offer many memories, embedded and committed in batches.

        Outcomes come in the order of the memories.

        Each is a text or a mapping with `text` and the fields of `remember`; `fields` here apply to
        all. A batch that was acknowledged through `progress` survives whatever happens to the next.
        """
        if isinstance(memories, str | bytes | Mapping) or not isinstance(memories, Iterable):
            raise InputError(
                "memories",
                memories,
                "must be several memories",
                "Pass a list; for one memory use remember().",
            )
        outcomes: list[Outcome] = []
        batch: list[Draft] = []
        for memory in memories:
            batch.append(self._draft_of(memory, fields, len(outcomes) + len(batch)))
            if len(batch) == self.settings.memory.batch_size:
                outcomes += self._committed(batch)
                progress("remembering", len(outcomes), None)
                batch = []
        if batch:
            outcomes += self._committed(batch)
            progress("remembering", len(outcomes), len(outcomes))
        return outcomes

    def _committed(self, drafts: list[Draft]) -> list[Outcome]:
        if self.language is not None and (self.language.substance or self.language.entities):
            from clew.engine import assisted  # noqa: PLC0415 - only with a language model

            return assisted.committed(
                self.language, drafts, self._commit, store=self.store, settings=self.settings
            )
        return self._commit(drafts)

    def _commit(self, drafts: list[Draft]) -> list[Outcome]:
        if self.settings.memory.auto_supersede and not all(each.verbatim for each in drafts):
            # One by one: each may end what the one before it began. A verbatim text says nothing
            # about others.
            return [
                self._committer.commit([each])[0] if each.verbatim else self._truth.remember(each)
                for each in drafts
            ]
        return self._committer.commit(drafts)

    def _draft_of(self, memory: object, fields: Mapping[str, Any], position: int) -> Draft:
        if isinstance(memory, str):
            return self._draft(memory, fields)
        if not isinstance(memory, Mapping) or "text" not in memory:
            shown = scrub(memory)
            raise InputError(
                f"memories[{position}]",
                shown,
                "is neither a text nor a mapping with a text",
                'Write it as {"text": "…"}.',
            )
        return self._draft(
            memory["text"],
            {**fields, **{key: value for key, value in memory.items() if key != "text"}},
        )

    def _draft(self, text: Any, fields: Mapping[str, Any]) -> Draft:
        if not KNOWN_FIELDS.issuperset(fields):
            for name in fields:
                one_of("memory", name, FIELDS)
        return draft(text, **fields, settings=self.settings, now=self._clock())

    @watched("remember_conversation")
    def remember_conversation(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        session: str | None = None,
        title: str | None = None,
        space: str | None = None,
        source: str | None = None,
        category: str | None = None,
        importance: float | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        time: Moment | None = None,
        force: bool = False,
        extract: bool = False,
        progress: Progress = silent,
    ) -> ConversationOutcome:
        """Keep a conversation, one node for each message with its speaker, role and time.

        The outcomes say what became of each.

        A message is a `Message` or a mapping with text (or content) and, as far as they are known,
        speaker (or name), role and time. Told again under the same `session`, only messages that
        are new are added: tell the session from its beginning, or only how it went on. Without a
        session the same messages get the same name, which the answer holds. `time` is when messages
        without a time of their own were said, by default now. `force` keeps what was forgotten.
        `extract` keeps facts of the new messages as memories of their own, each linked to the
        messages that say it: by the configured language model, or else by rules, as a note tells.
        """
        # Chunkers, which recall does not need
        from clew.engine import importing  # noqa: PLC0415

        self._check_open()
        options = importing.conversation_options(
            self.settings,
            session=session,
            title=title,
            space=space,
            source=source,
            category=category,
            importance=importance,
            tags=tags,
            metadata=metadata,
            time=time,
        )
        parts = importing.Parts(self.store, self._vectors, self.settings, self._clock, new_id)
        told = list(messages) if extract and isinstance(messages, Iterable) else messages
        done = importing.remember_conversation(
            parts, told, options=options, force=bool(force), progress=progress
        )
        if not extract:
            return done
        from clew.engine import assisted  # noqa: PLC0415 - only when facts are asked for

        return assisted.with_facts(self, told, done, space=options.origin.space)

    def summarise(self, id: NodeId) -> Made:
        """Return a summary of a memory, a passage, or a section or document with all its passages, and who made it.

        By the configured language model, or else by rules: the first sentences. Nothing is stored.
        """
        from clew.engine import assisted  # noqa: PLC0415 - as in `why`

        self._check_open()
        return assisted.summary(self, self._known(id))

    @watched("import")
    def import_path(
        self, *paths: str | Path, progress: Progress = silent, **options: Unpack[PathFields]
    ) -> ImportReport:
        """Bring in files, directories and globs; the report says what became of each file, and why.

        Options: format, space, category, importance, tags, metadata, exclude, include_hidden,
        force, sync, dry_run. Files that have not changed are left as they are; of those that have,
        the earlier nodes are expired. With `sync`, so are the nodes of files that are gone from the
        named folders; `dry_run` only reports.
        """
        self._check_open()
        for path in paths:
            if not isinstance(path, str | Path) or not str(path):
                raise InputError("paths", path, "is no path", "Name a file, a directory or a glob.")
        return self._importer(progress, options).paths(paths)

    @watched("import")
    def import_data(
        self,
        data: bytes | str,
        *,
        name: str | None = None,
        progress: Progress = silent,
        **options: Unpack[ImportFields],
    ) -> ImportReport:
        """Bring in one text or file that is not on disk.

        Under the same name it takes the place of what was there.
        """
        self._check_open()
        if not isinstance(data, str | bytes | bytearray | memoryview):
            raise InputError(
                "data",
                data,
                "must be text or bytes",
                "Read it first, or name its file with import_path.",
            )
        given = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        chosen = None if name is None else line("name", name, limit=MAX_SOURCE_CHARACTERS)
        return self._importer(progress, options).data(given, name=chosen or "")

    def sources(self, space: str | None = None) -> tuple[Source, ...]:
        """Return the imported files of a space, by path, with what became of each."""
        from clew.memories.sync import sources  # noqa: PLC0415 - as in `_importer`

        self._check_open()
        chosen = (
            self.settings.store.space
            if space is None
            else line("space", space, limit=MAX_NAME_CHARACTERS)
        )
        return sources(self.store, space=chosen, now=self._clock())

    def export_notes(self, folder: str | Path, *, space: str | None = None) -> NotesWritten:
        """Write one Markdown note per live memory of a space into a folder.

        Imported again, unchanged notes change nothing.
        """
        from clew.engine.notes import export_notes  # noqa: PLC0415 - as in `_importer`

        self._check_open()
        chosen = (
            self.settings.store.space
            if space is None
            else line("space", space, limit=MAX_NAME_CHARACTERS)
        )
        return export_notes(self, expanded(str(folder)), space=chosen)

    def _importer(self, progress: Progress, options: Mapping[str, Any]) -> Importer:
        # Readers and chunkers, which recall does not need
        from clew.engine import importing  # noqa: PLC0415
        from clew.engine.notes import note_reader  # noqa: PLC0415

        notes = partial(note_reader, self)
        parts = importing.Parts(
            self.store, self._vectors, self.settings, self._clock, new_id, notes
        )
        return importing.importer(parts, progress=progress, **options)

    # --- recall ---

    @watched("recall")
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
        kinds: Iterable[str] | None = None,
        spaces: Iterable[str] | None = None,
    ) -> Recall:
        """Return what should be seen for a question, best first, each hit with the reason for it.

        `kinds` names which of memory and chunk may be hits; `spaces` asks several spaces, each
        counted by its own statistics, and merges the hits by confidence. `where` narrows by space,
        kind, category, tags, metadata, since, until; `as_of` asks what was true and `known_at` what
        was believed then, of a date at its end; `preset` or `weights` say how much recency,
        importance and use count beside relevance; `track=False` leaves no trace of the recall.
        """
        self._check_open()
        if kinds is not None:
            where = with_kinds(where, kinds)
        if spaces is not None:
            same: dict[str, Any] = {
                "recipe": recipe,
                "preset": preset,
                "weights": weights,
                "as_of": as_of,
                "known_at": known_at,
                "track": track,
            }
            same |= {
                "min_similarity": min_similarity,
                "budget_tokens": budget_tokens,
                "seed": seed,
                "k": k,
            }
            return self._recall_spaces(query, spaces, where, same)
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
        with read_scope(self.store):
            found = self.recipe(asked.recipe).run(Recall(question=asked, id=new_id(now)))
            answer = replace(found, hits=versions.owned(self.store, found.hits, asked.where))
        if self._returned is not None:
            self._returned.note(
                [(hit.node, hit.context) for hit in answer.hits if hit.node is not None], now
            )
        if self.settings.access.track if track is None else track:
            self._tracker.record([hit.id for hit in answer.hits], now, space=asked.where.space)
        return answer

    def _recall_spaces(
        self, query: str, spaces: object, where: Any, options: dict[str, Any]
    ) -> Recall:
        # Few recalls ask several
        from clew.engine.several_spaces import checked_spaces, recall_spaces  # noqa: PLC0415

        if isinstance(where, Filter) or (
            isinstance(where, Mapping) and where.get("space") is not None
        ):
            raise InputError(
                "spaces",
                spaces,
                "stands beside a filter with a space of its own",
                "Name the spaces, or the filter's space.",
            )
        names = checked_spaces(
            tuple(spaces)
            if isinstance(spaces, Iterable) and not isinstance(spaces, str | bytes)
            else spaces
        )
        k = self.settings.recall.k if options["k"] is None else options["k"]
        budget = (
            self.settings.recall.budget_tokens
            if options["budget_tokens"] is None
            else options["budget_tokens"]
        )
        return recall_spaces(
            lambda space: self.recall(query, where={**(where or {}), "space": space}, **options),
            names,
            k=k,
            budget_tokens=budget,
        )

    def why(self, query: str, id: NodeId, **options: Unpack[RecallOptions]) -> Why:
        """Return a memory's place in the whole ranking for a question, beyond k too, and what put it there; options as of `recall`."""
        from clew.engine import explaining  # noqa: PLC0415 - a recall needs no second look

        self._check_open()
        return explaining.why(self, query, _name(id), options)

    def why_not(self, query: str, id: NodeId, **options: Unpack[RecallOptions]) -> WhyNot:
        """Return the stage, value and threshold that kept a memory out of an answer, or the rank it had; options as of `recall`."""
        from clew.engine import explaining  # noqa: PLC0415 - as in `why`

        self._check_open()
        return explaining.why_not(self, query, _name(id), options)

    def trace(self, answer: Recall) -> dict[str, Any]:
        """Return an answer of this Clew as JSON-ready data that `replay` reads.

        Made at once, before the store changes.
        """
        from clew.engine import tracing  # noqa: PLC0415 - as in `why`

        self._check_open()
        return tracing.trace_of(self, answer)

    def replay(self, trace: str | bytes | Mapping[str, Any]) -> Replay:
        """Ask a traced question again, by the trace's clock, and return what changed.

        No access is counted.
        """
        from clew.engine import replaying  # noqa: PLC0415 - as in `why`

        self._check_open()
        return replaying.replay(self, trace)

    def embedded_query(self, text: str) -> QueryVectors:
        """Return the vector of a question, or None and why there is none."""
        return self._vectors.query(text)

    def now(self) -> datetime:
        """Return the time by this Clew's clock."""
        return self._clock()

    def variant(self, **settings: Any) -> Clew:
        """Return a Clew with other settings on the same store; closing it leaves the store open."""
        changed = load_settings(overrides={**as_dict(self.settings), **settings}).settings
        other = Clew(
            store=self.store,
            embedder=self._vectors.embedder,
            settings=changed,
            clock=self._clock,
            owns_store=False,
            telemetry=self.watch.telemetry,
            reranker=self._reading.given,
        )
        other._reading = self._reading.under(changed.rerank.model)  # loaded once for both
        return other

    def recipe(self, name: str) -> Recipe:
        """Return a named list of stages, bound to this store.

        Print it, or leave out a stage and run it.
        """
        known = one_of("recipe", name, NAMES)
        if known not in self._recipes:
            self._recipes[known] = recipe(
                known,
                settings=self.settings,
                store=self.store,
                embed=self._vectors.query,
                quick=self._vectors.quick,
                background=self._vectors.background,
                executor=self._executor,
                read=self._reading.scores,
                reader=self._reading.name,
                small_talk=_small_talk,
            )
        return self._recipes[known]

    # --- look ---

    def get(
        self, id: NodeId, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> Node | None:
        """Return a memory, or None.

        With a time, what it or what stood in its place was held to be then.
        """
        node = self.store.get([_name(id)]).get(id)
        if node is None or (as_of is None and known_at is None):
            return node
        times = {
            name: None if time is None else stand(time, name)
            for name, time in (("as_of", as_of), ("known_at", known_at))
        }
        return versions.at(self.store, node, now=self._clock(), **times)

    def find(self, key: str, *, space: str | None = None) -> Node | None:
        """Return the memory that was written under an idempotency key, or None."""
        chosen = (
            self.settings.store.space
            if space is None
            else line("space", space, limit=MAX_NAME_CHARACTERS)
        )
        found = self.store.find_key(chosen, line("key", key, limit=MAX_NAME_CHARACTERS))
        return None if found is None else self.get(found)

    def history(self, id: NodeId) -> tuple[Event, ...]:
        """Return what happened to a memory, oldest first.

        A forgotten one's history is that it was forgotten.
        """
        self._tracker.flush()
        node = self.get(id)
        events = self.store.events(id if node is None else versions.head_of(self.store, node).id)
        if not events:
            raise unknown(id)
        return events

    def questions(self, id: NodeId) -> tuple[str, ...]:
        """Return the questions that were made for a memory when it was written; often none."""
        node = self.get(id)
        own = None if node is None else versions.head_of(self.store, node)
        return () if own is None else questions_of(self.store, [own]).get(own.id, ())

    def versions(self, id: NodeId) -> tuple[Node, ...]:
        """Return a memory as it was ever held to be, with what it superseded and what superseded it, in the order of valid time.

        The row with the memory's own id is the current one; the others have it as their `root`.
        Empty for a forgotten memory.
        """
        node = self.get(id)
        return () if node is None else versions.chain(self.store, node)

    def related(self, id: NodeId, *, limit: int = 20) -> Related:
        """Return what a memory names, the nodes of its space that share that or are about it, and its edges, the strongest first."""
        from clew.engine import relating  # noqa: PLC0415 - as in `why`

        self._check_open()
        return relating.related(
            self.store,
            versions.head_of(self.store, self._known(id)),
            now=self._clock(),
            limit=whole("limit", limit, 1, MAX_LISTED),
        )

    def conflicts(
        self, *, space: str | None = None, limit: int = 50, kinds: Iterable[str] | None = None
    ) -> Conflicts:
        """Return pairs of live memories of a space that contradict each other, the surest first.

        `notes` says how they were found.

        Both are about the same subject and true at the same time, and differ in a value, number,
        negation or state; `kinds` narrows to some of these. Found by rules on words, without a
        language model: a conflict is a question to a reader, not a verdict.
        """
        from clew.engine import conflicts  # noqa: PLC0415 - as in `why`

        self._check_open()
        if isinstance(kinds, str) or not (kinds is None or isinstance(kinds, Iterable)):
            raise InputError(
                "kinds",
                kinds,
                "must be several kinds",
                f"Pass a list of: {', '.join(conflicts.KINDS)}.",
            )
        chosen = (
            conflicts.KINDS
            if kinds is None
            else tuple(one_of("kinds", kind, conflicts.KINDS) for kind in kinds)
        )
        there = (
            self.settings.store.space
            if space is None
            else line("space", space, limit=MAX_NAME_CHARACTERS)
        )
        found = self._conflict_finder().conflicts(
            there, limit=whole("limit", limit, 1, MAX_LISTED), kinds=chosen
        )
        if self.language is None or not self.language.conflicts:
            return found
        from clew.engine import assisted  # noqa: PLC0415 - only with a language model

        return assisted.confirmed(self.language, found)

    def conflict(self, id: str) -> Conflict:
        """Return the conflict with this id, dismissed or not."""
        self._check_open()
        return self._conflict_finder().conflict(line("id", id, limit=2 * MAX_NAME_CHARACTERS + 1))

    @watched("dismiss_conflict")
    def dismiss_conflict(self, id: str) -> Conflict:
        """Keep both memories of a conflict and list it no more, until the text of one of them changes."""
        self._check_open()
        return self._conflict_finder().dismiss(line("id", id, limit=2 * MAX_NAME_CHARACTERS + 1))

    def _conflict_finder(self) -> Finder:
        from clew.engine.conflicts import Finder  # noqa: PLC0415 - as in `why`

        return Finder(self.store, self.settings.conflicts, self._vectors.background, self._clock())

    def recent(
        self,
        limit: int = 10,
        *,
        where: Mapping[str, Any] | Filter | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> tuple[Node, ...]:
        """Return the newest memories by valid time.

        Of what was true at `as_of`, as believed at `known_at`.
        """
        return self._listed(
            Sort.RECENT, whole("limit", limit, 1, MAX_LISTED), where, as_of, known_at
        )

    def important(
        self,
        limit: int = 10,
        *,
        where: Mapping[str, Any] | Filter | None = None,
        least: float | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> tuple[Node, ...]:
        """Return the most important memories, at least `lists.important_min`."""
        chosen = (
            self.settings.lists.important_min if least is None else number("least", least, 0.0, 1.0)
        )
        return self._listed(
            Sort.IMPORTANT,
            whole("limit", limit, 1, MAX_LISTED),
            where,
            as_of,
            known_at,
            min_importance=chosen,
        )

    def popular(
        self,
        limit: int = 10,
        *,
        where: Mapping[str, Any] | Filter | None = None,
        least: int | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> tuple[Node, ...]:
        """Return the most recalled memories, with at least `lists.popular_min` accesses."""
        self._tracker.flush()
        chosen = (
            self.settings.lists.popular_min
            if least is None
            else whole("least", least, 0, MAX_ACCESSES)
        )
        return self._listed(
            Sort.POPULAR,
            whole("limit", limit, 1, MAX_LISTED),
            where,
            as_of,
            known_at,
            min_accesses=chosen,
        )

    def page(
        self,
        sort: str = Sort.RECENT,
        *,
        limit: int = 10,
        cursor: str | None = None,
        where: Mapping[str, Any] | Filter | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> Page:
        """Return a list page by page: all memories by recency, importance or use.

        The cursor of one page asks for the next.
        """
        self._check_open()
        order = Sort(one_of("sort", sort, tuple(Sort)))
        after = None if cursor is None else spot_at(cursor, order)
        listed = self._listed(
            order, whole("limit", limit, 1, MAX_LISTED) + 1, where, as_of, known_at, after=after
        )
        return page_of(listed, sort=order, limit=limit)

    def _listed(
        self,
        sort: Sort,
        limit: int,
        where: Mapping[str, Any] | Filter | None,
        as_of: Moment | None,
        known_at: Moment | None,
        **options: Any,
    ) -> tuple[Node, ...]:
        chosen = filter_of(
            where, settings=self.settings, now=self._clock(), as_of=as_of, known_at=known_at
        )
        # nobody asked for a kind: show what stands by itself, a document or a sitting and not its
        # chunks
        if chosen.kinds == SERVED:
            chosen = replace(
                chosen, kinds=(Kind.MEMORY, Kind.DOCUMENT, Kind.SECTION, Kind.CHUNK), within=("",)
            )
        return self.store.listing(chosen, sort=sort, limit=limit, **options)

    # --- change ---

    @watched("link")
    def link(
        self,
        source: NodeId,
        target: NodeId,
        *,
        kind: str = "RELATED",
        weight: float = 1.0,
        evidence: str = "",
    ) -> Edge:
        """Connect two memories."""
        given, _ = screen_fields({"evidence": evidence, "kind": kind}, self.settings.firewall)
        ends = {
            id: versions.head_of(self.store, node).id
            for id, node in self.store.get([_name(source), _name(target)]).items()
        }
        edge = Edge(
            source=ends.get(_name(source), _name(source)),
            target=ends.get(_name(target), _name(target)),
            kind=line("kind", given["kind"], limit=MAX_NAME_CHARACTERS),
            weight=number("weight", weight, 0.0, 1.0),
            evidence=line("evidence", given["evidence"], limit=MAX_SOURCE_CHARACTERS, empty=True),
            t_created=self._clock(),
        )
        if len({node.space for node in self.store.get([edge.source, edge.target]).values()}) > 1:
            raise InputError(
                "target",
                edge.target,
                f"is in another space than {edge.source}",
                "Connect memories of one space.",
            )
        self.store.link([edge])
        return edge

    @watched("supersede")
    def supersede(
        self,
        id: NodeId,
        text: str,
        *,
        valid_from: Moment | None = None,
        **fields: Unpack[SuccessorFields],
    ) -> Outcome:
        """Put a new memory in the place of one, which ends where the new one begins.

        At `valid_from`, or now.

        The new one has the old one's title, space, category, importance, stability, tags and
        metadata unless `fields`, which are those of `remember`, say otherwise. What was believed
        before stays for `known_at`, what was true before for `as_of`.
        """
        return self._truth.supersede(_name(id), text, valid_from=valid_from, fields=fields)

    @watched("invalidate")
    def invalidate(self, id: NodeId, *, at: Moment | None = None) -> Node:
        """Say that a memory stopped being true at a time, by default now.

        Said again with another time, that one counts.
        """
        return self._truth.invalidate(_name(id), at=at)

    @watched("expire")
    def expire(self, id: NodeId) -> Node:
        """Say that a memory is no longer believed, for any time; it stays for `known_at`."""
        return self._truth.expire(_name(id))

    @watched("reassert")
    def reassert(self, id: NodeId, *, valid_from: Moment | None = None) -> Node:
        """Say that a memory that had ended or expired is true again, by default from now on."""
        return self._truth.reassert(_name(id), valid_from=valid_from)

    @watched("update")
    def update(self, id: NodeId, **fields: Unpack[Labels]) -> Node:
        """Change what stands beside a memory's text.

        Title, category, trigger, importance, stability, tags, metadata, source.

        Only what is given changes, at once and for every time; a new text is said with `supersede`.
        """
        from clew.engine.updating import updated  # noqa: PLC0415 - as in `why`

        return updated(
            self.store,
            _name(id),
            fields,
            drafted=self._draft,
            embed=self._vectors.passages,
            model=self._vectors.model,
            settings=self.settings,
            clock=self._clock,
        )

    @watched("protect")
    def protect(self, id: NodeId, protected: bool = True) -> Node:
        """Keep a memory from being forgotten, or let it go again."""
        with self.store.transaction():
            node = versions.head_of(self.store, self._known(id))
            self.store.update(node.id, protected=bool(protected))
            self.store.append([self._event(node.id, EventKind.UPDATE, protected=bool(protected))])
        return replace(node, protected=bool(protected))

    @watched("forget")
    def forget(
        self,
        id: NodeId | Iterable[NodeId] | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        query: str | None = None,
        only: bool = False,
        force: bool = False,
        tombstone: bool = True,
        check: bool = True,
        dry_run: bool = False,
        expect: int | None = None,
    ) -> Receipt:
        """Remove memories or documents for good, and return a receipt that says what a search of the files found afterwards.

        Name them by id, or by a filter: `where` takes space, kind, category, tags, metadata, since,
        until, archived, source and `before` (true since before then), and sees what is archived,
        ended or no longer believed too; `query` names words that a text must hold, all of them,
        compared as the word index does. A filter needs `expect`, the number of memories and
        documents that are to go; `dry_run` tells it.

        A memory goes with all its versions and with what superseded it, a document with its
        sections, chunks and the earlier states of its file; `only` leaves successors and other
        states. `tombstone` keeps a keyed hash of each text, so that it is rejected when it is
        offered again. `check=False` saves the search of the files.
        """
        from clew.engine import forgetting  # noqa: PLC0415 - as in `why`

        self._check_open()
        self._tracker.flush()
        if id is not None and not (where is None and query is None):
            raise InputError("id", id, "stands beside a filter", "Name ids, or where= and query=.")
        chosen = (
            forgetting.selection(where, query, settings=self.settings, now=self._clock())
            if id is None
            else forgetting.ids_of(id)
        )
        options = forgetting.Options(
            only=only, force=force, tombstone=tombstone, check=check, dry_run=dry_run, expect=expect
        )
        return forgetting.Forgetting(self.store, self._clock, self._returned).forget(
            chosen, options
        )

    def search_files(self, text: str) -> tuple[FileCheck, ...]:
        """Count a text in the raw bytes of every file of the store, and of the backups beside it, to prove that it is gone."""
        self._check_open()
        if not isinstance(text, str) or len(text) < LEAST_SEARCHED:
            raise InputError(
                "text",
                text,
                f"is too short to be found only where it is meant ({LEAST_SEARCHED})",
                "Give more of it.",
            )
        return self.store.search_files(text)

    @watched("unarchive")
    def unarchive(self, id: NodeId) -> Node:
        """Bring back a memory from the archive.

        That counts as a use, so that it does not fade at once again.
        """
        with self.store.transaction():
            node = versions.head_of(self.store, self._known(id))
            if node.archived:
                self.store.update(node.id, archived=False)
                self.store.append([self._event(node.id, EventKind.UPDATE, archived=False)])
                self.store.touch([node.id], self._clock(), min_interval_seconds=0)
        return self._known(node.id) if node.archived else node

    def _known(self, id: NodeId) -> Node:
        node = self.get(id)
        if node is None:
            raise unknown(id)
        return node

    def _event(self, id: NodeId, kind: EventKind, **detail: Any) -> Event:
        return Event(node=id, kind=kind, at=self._clock(), detail=detail)

    # --- care ---

    def stats(self, *, space: str | None = None) -> dict[str, Any]:
        """Return counts and sizes, what was rejected by rule, and whether accesses could be counted; of one space only its own counts.

        Of the whole store also the `ledger`: what this Clew has spent since it was opened, in
        calls, tokens and milliseconds.
        """
        self._tracker.flush()
        counts = dict(
            self.store.stats(
                None if space is None else line("space", space, limit=MAX_NAME_CHARACTERS)
            )
        )
        if not self._vectors.makes_token_codes:  # then none is missing
            counts["token_codes"] = {**counts["token_codes"], "missing": 0}
        return (
            counts
            if space is not None
            else {
                **counts,
                "tracking_failure": self._tracker.failure,
                "ledger": self.watch.totals(),
            }
        )

    def decay(
        self,
        *,
        dry_run: bool = True,
        space: str | None = None,
        now: Moment | None = None,
        force: bool = False,
    ) -> Decayed:
        """Archive the memories that have faded (settings `decay`), or only tell which would go.

        Nothing is deleted.

        Without a space all are looked at. Documents and their parts do not fade. Archived memories
        are found with `where={"archived": True}`, and `unarchive` brings them back. A `now` that is
        still to come is for a dry run, unless by `force`.
        """
        # What is remembered and recalled need not load it
        from clew.memories.decay import decay, parse_run_time  # noqa: PLC0415

        self._check_open()
        self._tracker.flush()
        clock = self._clock()
        return decay(
            self.store,
            now=clock if now is None else parse_run_time(now, clock=clock, ahead=dry_run or force),
            settings=self.settings.decay,
            space=None if space is None else line("space", space, limit=MAX_NAME_CHARACTERS),
            dry_run=dry_run,
            batch_size=self.settings.memory.batch_size,
        )

    def reembed(
        self, embedder: Embedder | None = None, *, progress: Progress = silent
    ) -> reembedding.Reembedded:
        """Give every memory a vector of the configured model, or of another, and its token codes.

        Resumes after an interruption.
        """
        chosen = embedder or self._vectors.embedder
        done = reembedding.reembed(
            self.store,
            chosen,
            batch_size=self.settings.memory.batch_size,
            progress=progress,
            token_codes=self.settings.model.token_codes,
        )
        self._vectors.embedder = chosen
        return done

    def export(
        self, *, space: str | None = None, vectors: bool = True, on_damage: OnDamage | None = None
    ) -> Iterator[str]:
        """Yield the store as lines of JSON.

        A damaged row raises `CorruptStoreError`; with `on_damage` the row is left out, and
        `on_damage` is called with that error.
        """
        self._tracker.flush()
        space = None if space is None else line("space", space, limit=MAX_NAME_CHARACTERS)
        return transfer.export(self.store, space=space, vectors=vectors, on_damage=on_damage)

    def load(
        self, lines: Iterable[str], *, skip_invalid: bool = False, force: bool = False
    ) -> transfer.Loaded:
        """Bring in the lines of an export.

        What is there already stays as it is, and what was forgotten is left out unless by `force`.

        Every value is checked. One bad line raises `InputError` and nothing is loaded; with
        `skip_invalid` the rest is, and the result names the lines that were left out.
        """
        self._check_open()
        if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
            raise InputError(
                "lines", lines, "must be several lines", "Pass an open file, or a list of lines."
            )
        return transfer.load(
            self.store, lines, settings=self.settings, skip_invalid=skip_invalid, force=force
        )

    def backup(self, path: str | Path) -> Path:
        """Write a consistent copy of the store to a new file."""
        self._tracker.flush()
        target = expanded(path)
        self.store.backup(target)
        return target

    def verify(self, *, repair: bool = False) -> tuple[Problem, ...]:
        """Check every row and everything derived, after `repair` if asked; empty means sound."""
        if repair:
            self.repair()
        return self.store.verify()

    def repair(self) -> Repaired:
        """Rebuild everything derived from the truth, and move rows that cannot be read to a file beside the store.

        The answer names these rows and the file. Vectors that were dropped come back with
        `reembed`.
        """
        from clew.graph.mentions import rebuild_mentions  # noqa: PLC0415 - only this needs it here

        self._tracker.flush()
        done = self.store.repair()
        # a file with damaged pages is left as it is, and `verify` tells
        with suppress(CorruptStoreError):
            rebuild_mentions(self.store, settings=self.settings.entities)
        return done

    def compact(self) -> None:
        """Rewrite the store without what was deleted, cut its journal and merge indexes."""
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
            self.watch.close()
            self.store.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()


def _language(settings: Settings) -> Language | None:
    from clew.engine.language import language_of  # noqa: PLC0415 - only with a language model

    return language_of(settings.llm)


def _name(id: NodeId) -> NodeId:
    """Return an id that can be looked up; any text may be asked for, nothing else."""
    return line("id", id, limit=MAX_NAME_CHARACTERS)


def _small_talk(text: str) -> bool:
    """Return whether a text says nothing beyond the conversation itself."""
    # Word lists that few recalls need
    from clew.memories.small_talk import is_chatter  # noqa: PLC0415
    from clew.memories.substance import idle_talk  # noqa: PLC0415

    return is_chatter(text) or idle_talk(text) is not None
