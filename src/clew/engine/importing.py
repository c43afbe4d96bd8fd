"""The engine's side of import: which chunker, which counter, which settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from inspect import signature
from typing import Any, TypeAlias

from clew.documents.chunkers.port import ChunkOptions, RunCounts, TokenCounter, estimate
from clew.documents.chunkers.recursive import Recursive
from clew.documents.conversations import RESERVED as CONVERSATION_KEYS
from clew.documents.conversations import Conversations, parse_messages
from clew.documents.importing import RESERVED, Importer, ImportOptions, NoteReader
from clew.documents.tree import Origin
from clew.engine.chunking import chunkers
from clew.engine.models import Vectoriser
from clew.errors import InputError, ModelError
from clew.file_formats import FORMATS
from clew.memories.firewall.screening import refuse_secrets
from clew.memories.validation import (
    MAX_NAME_CHARACTERS,
    MAX_SOURCE_CHARACTERS,
    line,
    names,
    one_of,
    plain_metadata,
    share,
)
from clew.ports import Clock, Embedder, Progress, Store
from clew.settings import Settings
from clew.times import Moment, parse_time
from clew.types import ConversationOutcome, Message, NodeId

MEGABYTE = 1_000_000


NoteReaderFor: TypeAlias = Callable[[str], NoteReader]


@dataclass(frozen=True, slots=True)
class Parts:
    """What an import is wired from."""

    store: Store
    vectors: Vectoriser
    settings: Settings
    clock: Clock
    new_id: Callable[[datetime], NodeId]
    note: NoteReaderFor | None = None
    """Gives, for a space, what takes exported memories back in; None where no file is one."""


def importer(parts: Parts, *, progress: Progress, **given: Any) -> Importer:
    """Return an importer under these options, every one of them checked."""
    for name in given:
        one_of("import", name, OPTIONS, way_out="See import_path for what each means.")
    chosen = options(parts.settings, **given)
    return Importer(
        parts.store,
        options=chosen,
        chunker=chunkers(
            parts.vectors, parts.settings.chunking.strategy, count=counter(parts.vectors.embedder)
        ),
        embed=parts.vectors.passages,
        model=parts.vectors.model,
        clock=parts.clock,
        new_id=parts.new_id,
        progress=progress,
        **({} if parts.note is None else {"note": parts.note(chosen.space)}),
    )


def options(
    settings: Settings,
    *,
    format: str | None = None,
    space: str | None = None,
    category: str | None = None,
    importance: float | None = None,
    tags: Iterable[str] = (),
    metadata: Mapping[str, Any] | None = None,
    exclude: Iterable[str] = (),
    include_hidden: bool = False,
    force: bool = False,
    sync: bool = False,
    dry_run: bool = False,
) -> ImportOptions:
    """Return the options of an import, or raise an InputError that names the first that does not hold."""
    memory = settings.memory
    tags = tuple(tags) if isinstance(tags, Iterator) else tags
    refuse_secrets(
        {"space": space, "category": category, "tags": tags, "metadata": metadata},
        settings.firewall,
    )
    return ImportOptions(
        space=settings.store.space
        if space is None
        else line("space", space, limit=MAX_NAME_CHARACTERS),
        category=one_of(
            "category",
            settings.imports.category if category is None else category,
            memory.categories,
            way_out=WAY_OUT,
        ),
        importance=memory.default_importance
        if importance is None
        else share("importance", importance),
        tags=names("tags", tags, limit=memory.max_tags),
        metadata={}
        if metadata is None
        else _labels(plain_metadata(metadata, limit_bytes=memory.max_metadata_bytes)),
        format=None
        if format is None
        else one_of(
            "format", format, tuple(FORMATS), way_out="Leave it out to go by name and content."
        ),
        exclude=_patterns(exclude),
        include_hidden=bool(include_hidden),
        force=bool(force),
        sync=bool(sync),
        dry_run=bool(dry_run),
        max_bytes=round(settings.imports.max_file_mb * MEGABYTE),
        batch_size=memory.batch_size,
        max_keywords=memory.max_keywords,
        max_tags=memory.max_tags,
        chunking=chunk_options(settings),
        entities=settings.entities,
        firewall=settings.firewall,
        signature=repr(settings.chunking),
    )


def chunk_options(settings: Settings) -> ChunkOptions:
    """Return how long texts are cut."""
    cut = settings.chunking
    return ChunkOptions(
        min_tokens=min(cut.min_tokens, cut.target_tokens),
        target_tokens=cut.target_tokens,
        max_tokens=cut.max_tokens,
        overlap_tokens=cut.overlap_tokens,
        semantic_threshold=cut.semantic_threshold,
    )


OPTIONS = tuple(name for name in signature(options).parameters if name != "settings")
WAY_OUT = "Add your own to the setting memory.categories."


def _patterns(exclude: object) -> tuple[str, ...]:
    listed = (
        tuple(exclude)
        if isinstance(exclude, Iterable) and not isinstance(exclude, str | bytes | Mapping)
        else None
    )
    if listed is None or not all(isinstance(each, str) for each in listed):
        raise InputError(
            "exclude", exclude, "must be a list of patterns", 'Write exclude=["*.log", "build/"].'
        )
    return listed


def _labels(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata that leaves alone what an import itself notes of a file."""
    if taken := next((name for name in RESERVED if name in metadata), None):
        raise InputError(
            "metadata",
            taken,
            "is what an import notes of every file itself",
            f"Name it otherwise, such as my_{taken}.",
        )
    return metadata


def counter(embedder: Embedder | None) -> TokenCounter:
    """Return the model's own way to count tokens, or an estimate where it has none or cannot be had."""
    count = getattr(embedder, "count", None)
    try:
        if count is not None:
            count("")
            return RunCounts(count)
    except ModelError:
        pass  # the import itself says that there is no model
    return estimate


# The engine's side of `remember_conversation`: which settings, which chunker, which checks.


@dataclass(frozen=True, slots=True)
class Options:
    """What all messages of a call share."""

    session: str | None
    title: str
    origin: Origin


def conversation_options(
    settings: Settings,
    *,
    session: str | None,
    title: str | None,
    space: str | None,
    source: str | None,
    category: str | None,
    importance: float | None,
    tags: Iterable[str],
    metadata: Mapping[str, Any] | None,
    time: Moment | None,
) -> Options:
    """Return the checked options of a call, or raise an InputError that names the first that does not hold."""
    memory = settings.memory
    tags = tuple(tags) if isinstance(tags, Iterator) else tags
    named = {
        "session": session,
        "title": title,
        "space": space,
        "source": source,
        "category": category,
    }
    refuse_secrets({**named, "tags": tags, "metadata": metadata}, settings.firewall)
    return Options(
        session=None if session is None else line("session", session, limit=MAX_NAME_CHARACTERS),
        title=line("title", title or "", limit=memory.max_title_characters, empty=True),
        origin=Origin(
            space=settings.store.space
            if space is None
            else line("space", space, limit=MAX_NAME_CHARACTERS),
            source=line("source", source or "", limit=MAX_SOURCE_CHARACTERS, empty=True),
            category=_category(memory.default_category if category is None else category, settings),
            importance=memory.default_importance
            if importance is None
            else share("importance", importance),
            tags=names("tags", tags, limit=memory.max_tags),
            metadata={}
            if metadata is None
            else _conversation_labels(
                plain_metadata(metadata, limit_bytes=memory.max_metadata_bytes)
            ),
            time=None if time is None else parse_time(time, "time"),
            max_keywords=memory.max_keywords,
        ),
    )


def remember_conversation(
    parts: Parts,
    messages: Iterable[Message | Mapping[str, Any]],
    *,
    options: Options,
    force: bool,
    progress: Progress,
) -> ConversationOutcome:
    """Keep the messages that their session does not hold yet."""
    conversations = Conversations(
        store=parts.store,
        embed=parts.vectors.passages,
        model=parts.vectors.model,
        settings=parts.settings,
        clock=parts.clock,
        new_id=parts.new_id,
        chunker=Recursive(counter(parts.vectors.embedder)),
        chunking=chunk_options(parts.settings),
        progress=progress,
    )
    offered = parse_messages(messages)
    return conversations.remember(
        offered, session=options.session, title=options.title, origin=options.origin, force=force
    )


def _category(value: str, settings: Settings) -> str:
    return one_of(
        "category",
        value,
        settings.memory.categories,
        way_out="Add your own to the setting memory.categories.",
    )


def _conversation_labels(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata that leaves alone what is noted of every message itself."""
    if taken := next((name for name in CONVERSATION_KEYS if name in metadata), None):
        raise InputError(
            "metadata",
            taken,
            "is noted of every message itself",
            f"Name it otherwise, such as my_{taken}.",
        )
    return metadata
