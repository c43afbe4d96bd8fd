"""The values that move through Clew: frozen, comparable, without behaviour that needs a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

NodeId: TypeAlias = str
Vectors: TypeAlias = npt.NDArray[np.float32]

DEFAULT_SPACE = "default"
BEGINNING = datetime.min.replace(tzinfo=UTC)
"""Before everything: by then nothing had ended, and what is true since then has no beginning that
is known.
"""


class Kind(StrEnum):
    """What a node is."""

    MEMORY = "memory"
    DOCUMENT = "document"
    SECTION = "section"
    CHUNK = "chunk"
    ENTITY = "entity"


class Stability(StrEnum):
    """How fast what a memory says goes out of date."""

    STATIC = "static"
    DYNAMIC = "dynamic"
    EPHEMERAL = "ephemeral"
    UNKNOWN = "unknown"


class EventKind(StrEnum):
    """What can happen to a memory; the log is append-only."""

    ADD = "ADD"
    REINFORCE_EXACT = "REINFORCE_EXACT"
    REINFORCE_NEAR = "REINFORCE_NEAR"
    ACCESS = "ACCESS"
    UPDATE = "UPDATE"
    SUPERSEDE = "SUPERSEDE"
    INVALIDATE = "INVALIDATE"
    EXPIRE = "EXPIRE"
    FORGET = "FORGET"


class Role(StrEnum):
    """What a stored vector stands for; a node has at most one vector of each role."""

    CONTENT = "content"
    CONTEXT = "context"
    QUESTION = "question"
    """A question that the node answers, made when it was written."""
    QUESTION_2 = "question_2"
    """The second of them."""


QUESTIONS = (Role.QUESTION, Role.QUESTION_2)
SUPERSEDES: Final = "SUPERSEDES"
RELATED = "RELATED"
COSINE = "cosine"  # the evidence of a RELATED edge that was made at commit: its weight is a cosine
"""The kind of an edge from a memory to the one that it replaces."""


class Stub(StrEnum):
    """What a text is when it is not a text of its own."""

    MEDIA = "media"
    """Only a picture, a recording or a film, or the place of one."""
    REFERENCE = "reference"
    """Only links, citations or footnotes: it sends the reader elsewhere."""
    SENTENCE = "sentence"
    """A single short sentence."""
    NOTE = "note"
    """A few keywords or jottings without a verb."""
    BREADCRUMB = "breadcrumb"
    """A menu, or the path to a page."""
    NONE = "none"


class Quality(NamedTuple):
    """How good a text is, from 0 to 1, the parts it comes from, and which kind of stub it is."""

    overall: float
    substance: float
    specificity: float
    coherence: float
    clarity: float
    stub: Stub
    words: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A claim: one thing worth remembering, with its two time axes and where it came from."""

    id: NodeId
    text: str
    t_created: datetime
    t_valid: datetime
    content_hash: str
    space: str = DEFAULT_SPACE
    kind: Kind = Kind.MEMORY
    title: str = ""
    category: str = "observation"
    trigger: str = ""
    importance: float = 0.5
    stability: Stability = Stability.UNKNOWN
    t_invalid: datetime | None = None
    t_expired: datetime | None = None
    source: str = ""
    parent: NodeId | None = None
    root: NodeId | None = None
    position: int | None = None
    start: int | None = None
    end: int | None = None
    context: str = ""
    """The key under which a small unit is also found: its own words amid those around it; indexed
    and embedded, never served.
    """
    quality: Quality | None = None
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    protected: bool = False
    archived: bool = False
    accesses: int = 0


class Signals(NamedTuple):
    """What a score asks of a node beside its relevance.

    Read for every candidate, so no more than that.
    """

    t_valid: datetime
    importance: float
    accesses: int
    parent: NodeId | None = None
    keyed: bool = False
    """Whether it has a context key, and is found by its surroundings too."""
    recorded: datetime = BEGINNING
    """When a memory was recorded; `BEGINNING` for imported nodes, which have a valid time only."""

    @property
    def dated(self) -> bool:
        """Whether the valid time was given explicitly; otherwise it equals the recording time."""
        return self.t_valid not in (self.recorded, BEGINNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Evidence: something that happened to a node at a time."""

    node: NodeId
    kind: EventKind
    at: datetime
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A directed, weighted connection between two nodes."""

    source: NodeId
    target: NodeId
    kind: str
    weight: float = 1.0
    confidence: float = 1.0
    evidence: str = ""
    t_created: datetime


class Mention(NamedTuple):
    """Something that a node names, or that it is about, under the key that joins all ways to write it."""

    node: NodeId
    key: str
    name: str
    type: str
    confidence: float
    subject: bool = False
    """Whether the node is about it, as its title says, rather than naming it by the way."""
    start: int = 0
    end: int = 0
    """Where the node's text has it; 0 and 0 where only the title does."""
    opens: bool = False
    """Whether the text begins with it, and so tells of it, though no title says so."""


class Named(NamedTuple):
    """Where a store speaks of something."""

    name: str
    type: str
    subjects: tuple[NodeId, ...]
    """The nodes that are about it."""
    holders: tuple[NodeId, ...]
    """Nodes that name it, latest first."""
    nodes: int
    """How many nodes of the space name it, seen or not: what all name connects nothing."""
    openers: tuple[NodeId, ...] = ()
    """Of the nodes that name it those whose text begins with it, latest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """One vector of a node, with what it was made from, so that a stale one can be found."""

    node: NodeId
    role: Role
    text_hash: str
    vector: npt.NDArray[np.float32]
    tokens: bytes | None = None
    """The codes of the node's own tokens (`clew.token_codes`), made in the same run; None where
    none were made.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which nodes a question may see; applied inside candidate generation, never after it.

    Without `known_at`, what we believe now counts (not expired); without `as_of`, what has not
    stopped being true by `now`. `since` and `until` bound the valid time and include both ends.
    """

    space: str = DEFAULT_SPACE
    kinds: tuple[Kind, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    now: datetime
    archived: bool = False
    within: tuple[NodeId, ...] = ()
    """Of what has a parent only the children of these; what has none is seen."""
    recorded_until: datetime | None = None
    """With `as_of`: what begins later than that is seen too if it begins no later than this."""

    @property
    def moment(self) -> datetime:
        """Where the question stands in time: "last week" and "recent" count from here."""
        return self.as_of or self.now


class Spot(NamedTuple):
    """Where a list was left off: what the last node shown was ordered by."""

    value: float
    """Its importance or its accesses, as the order asks; 0 where only time counts."""
    t_valid: datetime
    id: NodeId


class Match(NamedTuple):
    """A node found by one channel, with that channel's raw score; higher is better."""

    id: NodeId
    score: float


Ranking: TypeAlias = tuple[Match, ...]


def ranked(matches: Iterable[Match]) -> Ranking:
    """Order matches best first; ties fall back to id, so that every run and machine agrees."""
    return tuple(sorted(matches, key=lambda match: (-match.score, match.id)))


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, as it is offered to `remember_conversation`."""

    text: str
    speaker: str = ""
    """The name of whoever says it."""
    role: str = ""
    """user, assistant, system or tool; empty between people."""
    time: datetime | date | str | None = None
    """When it was said; without a zone it is UTC."""


class FileCheck(NamedTuple):
    """How often what was looked for occurs in the raw bytes of one file."""

    file: str
    found: int


class Erasure(NamedTuple):
    """What became of the bytes of deleted nodes in the files of a store."""

    files: tuple[FileCheck, ...] = ()
    """The files whose bytes were searched."""
    shared: int = 0
    """How many of the searched pieces other nodes still hold."""
    remains: tuple[str, ...] = ()
    """What could not be erased yet, why, and what will do it."""
    unchecked: tuple[str, ...] = ()
    """Copies that belong to the store and were neither changed nor searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What `forget` removed, and what a search of the store's files found of it afterwards.

    Holds no text.
    """

    ids: tuple[NodeId, ...]
    """The memories and documents that are gone, with what superseded them; of a dry run those that
    would go.
    """
    removed: Mapping[str, int]
    """How many rows went, by kind; earlier versions of a memory count as `version`."""
    at: datetime
    dry_run: bool = False
    kept: tuple[NodeId, ...] = ()
    """What the forgotten ones had superseded: other texts, which stay."""
    tombstones: int = 0
    """How many texts are now refused when they are offered again."""
    files: tuple[FileCheck, ...] = ()
    """The files whose bytes were searched; empty where there are none or no search was wanted."""
    shared: int | None = 0
    """How many pieces of the forgotten texts other memories still hold; None where the caller may
    not know.
    """
    remains: tuple[str, ...] = ()
    """What could not be erased yet, why, and what will do it."""
    unchecked: tuple[str, ...] = ()
    """Where copies may be that no store can search."""

    @property
    def found(self) -> int:
        """How many pieces of the forgotten texts the files still hold, without those of other memories."""
        return sum(each.found for each in self.files)


class OutcomeKind(StrEnum):
    """What became of a text that was offered."""

    INSERTED = "inserted"
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    REJECTED = "rejected"


class Similar(NamedTuple):
    """A live memory of the same space that lies near an inserted text without saying the same."""

    id: NodeId
    cosine: float
    text: str | None
    """None where it is withheld: it gives its reader orders, or the caller may not read the space."""


class Contradiction(NamedTuple):
    """A live memory of the same space that an inserted text may contradict; both are kept."""

    id: NodeId
    """The memory."""
    conflict: str
    """The id of the pair, under which `conflicts` lists it and `dismiss_conflict` takes it."""
    kind: str
    """In what they differ: value, number, negation or state."""
    explanation: str | None
    """One sentence that names the differing pieces, the memory's first; None where `text` is
    withheld.
    """
    score: float
    text: str | None
    """None where it is withheld, as in `Similar`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one text offered to `remember`, and by which rule."""

    outcome: OutcomeKind
    id: NodeId | None = None
    rule: str | None = None
    value: float | str | None = None
    limit: float | str | None = None
    canonical_id: NodeId | None = None
    canonical_text: str | None = None
    """What the memory says that a near duplicate was counted for: whoever reads it sees a wrong
    match.
    """
    similar: tuple[Similar, ...] = ()
    """What lies near an inserted text, the nearest first."""
    may_supersede: NodeId | None = None
    """The nearest similar memory of which the inserted text says all and more; nothing was done to
    it.
    """
    conflicts: tuple[Contradiction, ...] = ()
    """Memories near an inserted text that say something else of the same subject and time, the
    surest first; nothing was done to them.
    """
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationOutcome:
    """What became of the messages offered to `remember_conversation`."""

    session: str
    """The name under which later messages of the session are added."""
    sections: tuple[NodeId, ...]
    """The section nodes that hold the messages, in order."""
    outcomes: tuple[Outcome, ...]
    """What became of each message, in order."""
    facts: tuple[Outcome, ...] = ()
    """What became of each fact that was extracted, where that was asked for."""
    notes: tuple[str, ...] = ()
