"""What an evaluation is made of: texts, questions, and what is known to answer them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clew.types import Message

CODE_SETS = frozenset({"swe-qa", "semble", "swe-bench", "repoeval", "repobench-r", "code-paths"})
"""Sets whose texts are source code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole text that a chunker may cut.

    `keys` name it at each level it is judged at (a file, a session).
    """

    id: str
    text: str
    title: str = ""
    space: str = "default"
    format: str = "text"
    time: datetime | None = None
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What is indexed and returned; offsets point into its document where it was cut from one."""

    id: str
    text: str
    title: str = ""
    space: str = "default"
    document: str = ""
    start: int = 0
    end: int = 0
    time: datetime | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    format: str = "text"
    section: str = ""
    """Which of its neighbours belong together with it: a session, a stretch of a document.

    None where it stands alone.
    """
    messages: tuple[Message, ...] = ()
    """What was said, where it is a message or a session of a conversation.

    Kept by `remember_conversation` then.
    """

    @property
    def session(self) -> str:
        """The session that its messages belong to."""
        return self.section or self.id


def passage_of(messages: Sequence[Message], **fields: Any) -> Passage:
    """Return messages as a passage; its text, which baselines search, names whoever says each."""
    said = "\n\n".join(f"{each.speaker or each.role}: {each.text}" for each in messages)
    return Passage(text=said, messages=tuple(messages), format="conversation", **fields)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of characters of a document that answers a question."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question with what is known to be relevant.

    Keys at each level, graded, and spans where the set has them.
    """

    id: str
    text: str
    space: str = "default"
    category: str = ""
    relevant: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    """Chains of keys of the first level that lead from one relevant key to another, where the set's
    loader was asked for them.
    """
    asked_at: datetime | None = None
    """When the question stands: it is asked as of then."""
    known_at: datetime | None = None
    """By what was known then it is to be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happened to a memory: it was told, told again, or looked up (used)."""

    at: datetime
    kind: str
    key: str
    space: str
    text: str
    stability: str = "unknown"
    supersedes: str = ""
    """The key of the memory whose place it takes."""
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """One part of a published set. `passages` are its own units.

    `documents` are to be cut by a chunker; one of the two is empty.

    A ranking is judged at a level by the keys of its passages, each key at its first place; the
    first of `levels` is the one the set is known for. A question without relevant keys at a level
    is left out of it.
    """

    name: str
    part: str
    queries: tuple[Query, ...]
    passages: tuple[Passage, ...] = ()
    documents: tuple[Document, ...] = ()
    levels: tuple[str, ...]
    licence: str
    data_hash: str
    notes: tuple[str, ...] = ()
    history: tuple[Happening, ...] = ()
    """What happened to the passages, in order; a store that has lived through it is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What an answer cost; milliseconds are the only part that differs between two runs."""

    embedding_calls: int
    chunks_examined: int
    passes: int
    tokens_returned: int
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A ranking with the hop that found each of its nodes, its cost, and the links walked."""

    ranking: tuple[str, ...]
    hops: Mapping[str, int]
    cost: Cost
    links: tuple[tuple[str, str], ...] = ()
    hops_used: int = 1
    """How many hops were searched; 1 for a single search, whatever links it followed."""
    stopped: str = ""
    """Why a policy of several hops ended; empty for a single search."""
