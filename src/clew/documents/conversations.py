"""Keep a conversation: one node for each message, in order, under a section node.

A section is one sitting of a session: a silence of hours or its size ends it. Its messages are
chunks that name it as their parent, know their position, and carry `session`, `speaker` and `role`
in their metadata. A message is also found by a context key, its words amid those of its neighbours.
Messages are never merged with each other or with memories, and small talk is kept too: "Yes!" is
the answer to the question before it. Its `quality` says how little it tells.

Nodes are written in one transaction, vectors after it: a process that is killed between the two
leaves messages that are found by words, and the next call for the session, or `reembed`, gives them
vectors.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from clew.documents.chunkers.port import Chunker, ChunkOptions
from clew.documents.tree import CHUNK_CHARACTERS, ROOM, SECTION_CHUNKS, SILENCE, Origin
from clew.errors import InputError
from clew.graph.mentions import mentions
from clew.memories.draft import rejected
from clew.memories.embedding import Embed, agree_on_model, context_keys, made, wanted
from clew.memories.firewall.screening import FIX, REFUSE, redaction_note, screen_fields, scrub
from clew.memories.firewall.screening import RULE as SECRET
from clew.memories.firewall.trust import ARCHIVE, INSTRUCTION, assess_trust, warning
from clew.memories.quality import assess
from clew.memories.validation import (
    ROLE,
    ROLES,
    SESSION,
    SPEAKER,
    SPEAKER_CHARACTERS,
    line,
    message_metadata,
    one_of,
    removal_note,
    role_of,
    without_controls,
)
from clew.ports import Clock, ModelInfo, Progress, Sort, Store
from clew.settings import Settings
from clew.text.words import content_hash, keywords, normalise, sentence_list
from clew.times import parse_time
from clew.types import (
    ConversationOutcome,
    Event,
    EventKind,
    Filter,
    Kind,
    Message,
    Node,
    NodeId,
    Outcome,
    OutcomeKind,
)

RESERVED = SESSION, SPEAKER, ROLE
FIELDS: Mapping[str, str] = {
    "text": "text",
    "content": "text",
    "speaker": "speaker",
    "name": "speaker",
    "role": "role",
    "time": "time",
}
"""What a mapping may call the fields of a message."""
SECTION_CHARACTERS = SECTION_CHUNKS * CHUNK_CHARACTERS
MOST_SECTIONS = 100_000  # of one session that are looked for
SAME_MESSAGE = "same_message"
FORGOTTEN = "forgotten"
KEEP_BY_FORCE = "This message was forgotten in this space and is not kept again. To keep it all the same, use force."


def parse_messages(offered: object) -> list[Message]:
    """Return what a caller offers as messages with checked fields, or raise an InputError that names the first bad one."""
    if isinstance(offered, str | bytes | Mapping) or not isinstance(offered, Iterable):
        way_out = 'Pass a list such as [{"speaker": "Ann", "text": "Hello!"}].'
        raise InputError("messages", scrub(offered), "must be several messages", way_out)
    return [_message(each, f"messages[{number}]") for number, each in enumerate(offered)]


def _message(offered: object, place: str) -> Message:
    given = _given(offered, place)
    text = given.get("text")
    if not isinstance(text, str):
        raise InputError(f"{place}.text", scrub(text), "must be text", 'Write it as {"text": "…"}.')
    speaker, role, time = given.get("speaker"), given.get("role"), given.get("time")
    if role:
        role = ROLES[
            one_of(
                f"{place}.role",
                str(role).casefold(),
                tuple(ROLES),
                way_out="Leave it out between people.",
            )
        ]
    return Message(
        text,
        speaker=line(f"{place}.speaker", speaker, limit=SPEAKER_CHARACTERS, empty=True)
        if speaker
        else "",
        role=role or role_of(str(speaker or "")),
        time=None if time is None else parse_time(time, f"{place}.time"),
    )


def _given(offered: object, place: str) -> dict[str, Any]:
    if isinstance(offered, Message):
        return {
            "text": offered.text,
            "speaker": offered.speaker,
            "role": offered.role,
            "time": offered.time,
        }
    if not isinstance(offered, Mapping):
        way_out = 'Write it as {"speaker": "Ann", "text": "…"}.'
        raise InputError(place, scrub(offered), "is neither a Message nor a mapping", way_out)
    found: dict[str, Any] = {}
    for name, value in offered.items():
        known = FIELDS[one_of(place, name, tuple(FIELDS))]
        if known in found:
            raise InputError(
                f"{place}.{name}",
                scrub(value),
                f"says {known} a second time",
                "Give one of the two.",
            )
        found[known] = value
    return found


class _Told(NamedTuple):
    """What the firewall reads of a message."""

    text: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    title: str = ""


class Part(NamedTuple):
    """A message, or a part of one that is too long for one node, as it will be kept."""

    text: str
    message: Message
    archived: bool = False
    notes: tuple[str, ...] = ()


class Key(NamedTuple):
    """What tells two messages of a session apart; one without a time is like any of its words."""

    text_hash: str
    time: datetime | None

    def matches(self, stored: Key) -> bool:
        """Tell whether a stored message is this one."""
        return self.text_hash == stored.text_hash and self.time in (None, stored.time)


def known_positions(stored: Sequence[Key], offered: Sequence[Key]) -> list[int | None]:
    """Return for each offered message where the session has it already, or None where it is new.

    A session may be told again from its beginning, go on with new messages, or both: offered
    messages are known where they repeat a run of stored ones up to the end of either. A single
    message without a time is known only if the last stored one is the same, for people say "yes"
    more than once.

    >>> a, b, c = (Key(text, None) for text in "abc")
    >>> known_positions([a, b], [a, b, c]), known_positions([a, b], [b, c]), known_positions([a, b], [a])
    ([0, 1, None], [1, None], [None])
    """
    if not stored or not offered:
        return [None] * len(offered)
    lone = len(offered) == 1 and offered[0].time is None
    for start in range(len(stored) - 1 if lone else 0, len(stored)):
        run = stored[start : start + len(offered)]
        if all(new.matches(old) for new, old in zip(offered, run, strict=False)):
            return [start + n if n < len(run) else None for n in range(len(offered))]
    if lone or not offered[0].matches(stored[0]):
        return [None] * len(offered)
    return _match_changed_session(stored, offered)


def _match_changed_session(stored: Sequence[Key], offered: Sequence[Key]) -> list[int | None]:
    """Return the known messages of a session that is told again from its beginning with some messages changed."""
    found: list[int | None] = [None] * len(offered)
    matcher = SequenceMatcher(
        None, [key.text_hash for key in stored], [key.text_hash for key in offered], autojunk=False
    )
    for block in matcher.get_matching_blocks():
        for n in range(block.size):
            if offered[block.b + n].matches(stored[block.a + n]):
                found[block.b + n] = block.a + n
    return found


def rebuild_section(section: Node, messages: Sequence[Node]) -> tuple[Node, list[Node]]:
    """Return a section with the text of its messages, and each message with its key amid the others."""
    keys = context_keys([message.text for message in messages], room=ROOM)
    text = "\n".join(message.text for message in messages)
    quality = assess(text, title=section.title, format="conversation")
    return (
        replace(section, text=text, content_hash=content_hash(text), quality=quality),
        [replace(message, context=key) for message, key in zip(messages, keys, strict=True)],
    )


@dataclass(slots=True)
class Sitting:
    """A section with its messages in order.

    `fresh` counts those at the end that are not stored yet.
    """

    section: Node
    messages: list[Node] = field(default_factory=list)
    fresh: int = 0
    size: int = 0

    def add(self, message: Node) -> None:
        """Put a message at the end."""
        self.messages.append(message)
        self.size += len(message.text) + 1

    def has_room(self, part: Part, time: datetime) -> bool:
        """Tell whether a message still belongs to this sitting."""
        if not self.messages:
            return True
        return (
            time - self.messages[-1].t_valid <= SILENCE
            and self.size + len(part.text) <= SECTION_CHARACTERS
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """Writes conversations into a store; safe to share between threads."""

    store: Store
    embed: Embed
    model: Callable[[], ModelInfo]
    settings: Settings
    clock: Clock
    new_id: Callable[[datetime], NodeId]
    chunker: Chunker
    chunking: ChunkOptions
    progress: Progress

    def remember(
        self,
        messages: Sequence[Message],
        *,
        session: str | None,
        title: str,
        origin: Origin,
        force: bool,
    ) -> ConversationOutcome:
        """Keep the messages that the session does not hold yet.

        The outcomes come in the order of the messages.
        """
        # refuses before anything is written where the store's vectors are another model's
        self.embed([])
        name = session or _name_of(messages)
        offered = [self._screen(message, origin) for message in messages]
        with self.store.transaction():
            outcomes, sittings = self._write_new(offered, name, title, origin, force=force)
        notes = self._embed_missing(sittings)
        return ConversationOutcome(
            session=name,
            sections=tuple(each.section.id for each in sittings),
            outcomes=tuple(outcomes),
            notes=notes,
        )

    # --- what is kept ---

    def _screen(self, message: Message, origin: Origin) -> list[Part] | Outcome:
        """Return the message as the nodes it becomes, or its rejection."""
        firewall = self.settings.firewall
        removed: Counter[str] = Counter()
        given = {
            "text": without_controls(message.text, removed),
            "speaker": without_controls(message.speaker, removed),
        }
        clean, secrets = screen_fields(given, firewall)
        if secrets and firewall.secrets == REFUSE:
            return replace(rejected(SECRET, sentence_list(secrets), "no secret"), notes=(FIX,))
        if not (text := normalise(clean["text"])):
            return rejected("empty", 0, 1)
        label = clean["speaker"] or message.role
        said = f"{label}: {text}" if label else text
        flags = assess_trust(_Told(said, origin.tags, origin.metadata)).flags
        if flags and firewall.instructions == REFUSE:
            return rejected(INSTRUCTION, sentence_list(flags), "no orders to the reader")
        chunks = self.chunker.chunk(said, format="text", options=self.chunking)
        notes = [removal_note(removed)] if removed else []
        notes += [redaction_note(secrets)] if secrets else []
        notes += [warning(flags, firewall)] if flags else []
        notes += (
            [f"It is longer than a chunk and kept in {len(chunks)} parts."]
            if len(chunks) > 1
            else []
        )
        kept = replace(message, speaker=clean["speaker"])
        archived = bool(flags) and firewall.instructions == ARCHIVE
        return [Part(chunk.text, kept, archived, tuple(notes)) for chunk in chunks]

    def _write_new(
        self,
        offered: Sequence[list[Part] | Outcome],
        session: str,
        title: str,
        origin: Origin,
        *,
        force: bool,
    ) -> tuple[list[Outcome], list[Sitting]]:
        """Write what is new; return what became of each message, and the sittings that hold them."""
        offered = self._without_forgotten(offered, origin.space, force=force)
        sittings = self._stored(origin.space, session)
        stored = [(sitting, node) for sitting in sittings for node in sitting.messages]
        parts = [part for each in offered if not isinstance(each, Outcome) for part in each]
        keys = [Key(content_hash(part.text), _time(part)) for part in parts]
        known = known_positions([Key(node.content_hash, node.t_valid) for _, node in stored], keys)
        now = self.clock()
        talk = _Session(
            self, session, title, replace(origin, time=origin.time or now), now, sittings
        )
        touched: dict[NodeId, Sitting] = {}
        outcomes: list[Outcome] = []
        places = iter(known)
        for each in offered:
            if isinstance(each, Outcome):
                outcomes.append(each)
                continue
            at = [next(places) for _ in each]
            if all(place is not None for place in at):
                sitting, node = stored[at[0] or 0]
                outcomes.append(_repeated(node))
                touched[sitting.section.id] = sitting
                continue
            added = [talk.add(part) for part in each]
            outcomes.append(
                Outcome(outcome=OutcomeKind.INSERTED, id=added[0][1].id, notes=each[0].notes)
            )
            touched |= {sitting.section.id: sitting for sitting, _ in added}
        for sitting in touched.values():
            self._write(sitting, now)
        if refused := [str(each.rule) for each in outcomes if each.outcome is OutcomeKind.REJECTED]:
            self.store.reject(Counter(refused))
        return outcomes, list(touched.values())

    def _without_forgotten(
        self, offered: Sequence[list[Part] | Outcome], space: str, *, force: bool
    ) -> list[list[Part] | Outcome]:
        """Reject messages that were forgotten in the space.

        By force all are kept, and none counts as forgotten then.
        """
        hashes = {
            content_hash(part.text)
            for each in offered
            if not isinstance(each, Outcome)
            for part in each
        }
        forgotten = self.store.find_tombstones(space, sorted(hashes))
        if forgotten and force:
            self.store.drop_tombstones(space, sorted(forgotten))
            forgotten = frozenset()
        refused = Outcome(outcome=OutcomeKind.REJECTED, rule=FORGOTTEN, notes=(KEEP_BY_FORCE,))
        return [
            refused
            if not isinstance(each, Outcome)
            and any(content_hash(part.text) in forgotten for part in each)
            else each
            for each in offered
        ]

    def _stored(self, space: str, session: str) -> list[Sitting]:
        """Return the sittings of a session in order, with their messages in order."""
        where = Filter(
            space=space, kinds=(Kind.SECTION,), metadata={SESSION: session}, now=self.clock()
        )
        sections = [
            each
            for each in self.store.listing(where, sort=Sort.RECENT, limit=MOST_SECTIONS)
            if each.root is None
        ]
        sittings = {
            each.id: Sitting(each)
            for each in sorted(sections, key=lambda node: (node.position or 0, node.id))
        }
        nodes = self.store.get(self.store.family(list(sittings))).values() if sittings else ()
        messages = [node for node in nodes if node.parent in sittings and node.t_expired is None]
        for node in sorted(messages, key=lambda node: (node.position or 0, node.id)):
            sittings[str(node.parent)].add(node)
        return list(sittings.values())

    # --- what is written ---

    def _write(self, sitting: Sitting, now: datetime) -> None:
        """Write the new messages of a sitting, and what they change.

        Its text and the keys of their neighbours.
        """
        if not sitting.fresh:
            return
        old, before = len(sitting.messages) - sitting.fresh, sitting.messages
        sitting.section, sitting.messages = rebuild_section(sitting.section, before)
        for earlier, updated in zip(before[:old], sitting.messages, strict=False):
            if earlier.context != updated.context:
                self.store.update(updated.id, context=updated.context)
        fresh = sitting.messages[old:]
        if old:
            self.store.update(
                sitting.section.id, text=sitting.section.text, quality=sitting.section.quality
            )
        nodes = fresh if old else [sitting.section, *fresh]
        detail = {"source": sitting.section.source} if sitting.section.source else {}
        self.store.insert(
            nodes,
            (),
            [Event(node=node.id, kind=EventKind.ADD, at=now, detail=detail) for node in nodes],
        )
        self.store.mention(
            [
                mention
                for said in mentions(fresh, settings=self.settings.entities)
                for mention in said
            ]
        )
        sitting.fresh = 0

    def _embed_missing(self, sittings: Sequence[Sitting]) -> tuple[str, ...]:
        """Embed what has no vector of its present text.

        New messages, their neighbours' keys, what an interruption left.
        """
        nodes = [
            node
            for sitting in sittings
            for node in (sitting.section, *sitting.messages)
            if not node.archived
        ]
        there = {
            (each.node, each.role): each.text_hash
            for each in self.store.embeddings([node.id for node in nodes])
        }
        missing = [
            each for each in wanted(nodes) if there.get((each.node.id, each.role)) != each.text_hash
        ]
        size = self.settings.memory.batch_size
        notes: tuple[str, ...] = ()
        for start in range(0, len(missing), size):
            batch = missing[start : start + size]
            found = self.embed([each.source for each in batch])
            notes = found.notes
            if found.vectors is None:
                break
            model = self.model()
            with self.store.transaction():
                agree_on_model(self.store, model)
                self.store.put(made(batch, found.rows()), model)
            self.progress("embedding", start + len(batch), len(missing))
        return notes


@dataclass(slots=True)
class _Session:
    """A session while messages are added to it."""

    made_by: Conversations
    session: str
    title: str
    origin: Origin
    now: datetime
    sittings: list[Sitting]
    said_at: datetime | None = None
    """When the last message with a time of its own was said."""

    def add(self, part: Part) -> tuple[Sitting, Node]:
        """Put a message at the end, in a sitting of its own where the last one is over."""
        self.said_at = _time(part) or self.said_at
        time = self.said_at or self.origin.time or self.now
        if not self.sittings or not self.sittings[-1].has_room(part, time):
            self.sittings.append(Sitting(self._section(time)))
        sitting = self.sittings[-1]
        node = self._node(part, time, sitting)
        sitting.add(node)
        sitting.fresh += 1
        return sitting, node

    def _section(self, time: datetime) -> Node:
        title = self.title or (self.sittings[-1].section.title if self.sittings else "")
        return replace(
            self._blank(time), kind=Kind.SECTION, title=title, position=len(self.sittings)
        )

    def _node(self, part: Part, time: datetime, sitting: Sitting) -> Node:
        message = part.message
        blank = self._blank(time)
        return replace(
            blank,
            kind=Kind.CHUNK,
            text=part.text,
            content_hash=content_hash(part.text),
            keywords=keywords(part.text, limit=self.origin.max_keywords),
            metadata={**blank.metadata, **message_metadata(message.speaker, message.role)},
            parent=sitting.section.id,
            root=sitting.section.id,
            position=(sitting.messages[-1].position or 0) + 1 if sitting.messages else 0,
            quality=assess(part.text, format="conversation"),
            archived=part.archived,
        )

    def _blank(self, time: datetime) -> Node:
        origin = self.origin
        return Node(
            id=self.made_by.new_id(self.now),
            text="",
            content_hash="",
            space=origin.space,
            category=origin.category,
            importance=origin.importance,
            source=origin.source,
            tags=origin.tags,
            metadata={**origin.metadata, SESSION: self.session},
            t_created=self.now,
            t_valid=time,
        )


def _time(part: Part) -> datetime | None:
    time = part.message.time
    return None if time is None else parse_time(time, "time")


def _repeated(node: Node) -> Outcome:
    """Return the outcome of a message that the session holds already."""
    return Outcome(
        outcome=OutcomeKind.EXACT_DUPLICATE,
        id=node.id,
        rule=SAME_MESSAGE,
        value=node.content_hash,
        canonical_id=node.id,
    )


def _name_of(messages: Sequence[Message]) -> str:
    """Return the name of a session that nobody named.

    The same for the same messages, so that a retry adds nothing.
    """
    told = repr(
        [(message.speaker, message.role, message.text, str(message.time)) for message in messages]
    )
    return f"session-{hashlib.blake2b(told.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
