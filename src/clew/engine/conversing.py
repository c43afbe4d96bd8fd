"""The engine's side of `remember_conversation`: which settings, which chunker, which checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clew.engine.importing import Parts, chunk_options, counter
from clew.errors import InputError
from clew.ingest.chunkers import Recursive
from clew.ingest.conversations import RESERVED, Conversations, parse_messages
from clew.ingest.fields import MAX_NAME_CHARACTERS, MAX_SOURCE_CHARACTERS, line, names, one_of, plain_metadata, share
from clew.ingest.firewall.screening import refuse_secrets
from clew.ingest.tree import Origin
from clew.ports import Progress
from clew.settings import Settings
from clew.times import Moment, parse_time
from clew.types import ConversationOutcome, Message


@dataclass(frozen=True, slots=True)
class Options:
    """What all messages of a call share."""

    session: str | None
    title: str
    origin: Origin


def options(
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
    named = {"session": session, "title": title, "space": space, "source": source, "category": category}
    refuse_secrets({**named, "tags": tags, "metadata": metadata}, settings.firewall)
    return Options(
        session=None if session is None else line("session", session, limit=MAX_NAME_CHARACTERS),
        title=line("title", title or "", limit=memory.max_title_characters, empty=True),
        origin=Origin(
            space=settings.store.space if space is None else line("space", space, limit=MAX_NAME_CHARACTERS),
            source=line("source", source or "", limit=MAX_SOURCE_CHARACTERS, empty=True),
            category=_category(memory.default_category if category is None else category, settings),
            importance=memory.default_importance if importance is None else share("importance", importance),
            tags=names("tags", tags, limit=memory.max_tags),
            metadata={} if metadata is None else _labels(plain_metadata(metadata, limit_bytes=memory.max_metadata_bytes)),
            time=None if time is None else parse_time(time, "time"),
            max_keywords=memory.max_keywords,
        ),
    )


def remember(
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
    return conversations.remember(offered, session=options.session, title=options.title, origin=options.origin, force=force)


def _category(value: str, settings: Settings) -> str:
    return one_of("category", value, settings.memory.categories, way_out="Add your own to the setting memory.categories.")


def _labels(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata that leaves alone what is noted of every message itself."""
    if taken := next((name for name in RESERVED if name in metadata), None):
        raise InputError("metadata", taken, "is noted of every message itself", f"Name it otherwise, such as my_{taken}.")
    return metadata
