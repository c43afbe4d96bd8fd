"""What Clew asks of the world, as small Protocols.

`clew.testing` holds the conformance suite of the store: an implementation is done when it passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from clew.errors import CorruptStoreError
from clew.types import (
    Edge,
    Embedding,
    Erasure,
    Event,
    FileCheck,
    Filter,
    Mention,
    Named,
    Node,
    NodeId,
    Ranking,
    Role,
    Signals,
    Spot,
    Stability,
    Vectors,
)

Clock: TypeAlias = Callable[[], datetime]
Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is being done, how much is done, and how much there is (None: unknown)."""


class EmbedRole(StrEnum):
    """Which side of a search a text stands on; many models embed the two differently."""

    QUERY = "query"
    PASSAGE = "passage"


class Embedder(Protocol):
    """Turns texts into unit vectors. Made cheaply; loads its weights on first use."""

    @property
    def id(self) -> str:
        """A stable name of model and processing: vectors of different ids are never compared."""

    @property
    def dimension(self) -> int:
        """The length of every vector; may load the model or ask the server to find out."""

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut to this many tokens."""

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        """Return one float32 unit vector per text, in order; shape `(0, dimension)` for no text."""


class SpannedText(NamedTuple):
    """A text and the spans of it whose tokens are kept.

    A short text is read amid its neighbours and stands for itself alone.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    """Offsets in characters, in order. White space or an end of the text is on either side of a
    span.
    """

    @classmethod
    def whole(cls, text: str) -> SpannedText:
        """Return a text all of whose tokens are kept."""
        return cls(text, ((0, len(text)),))


class TokenEmbeddings(NamedTuple):
    """What one run of a model gives.

    A unit vector of each text, and the unit vectors of the tokens of its spans.
    """

    vectors: Vectors
    tokens: Sequence[Vectors]


@runtime_checkable
class SupportsTokens(Protocol):
    """An embedder that also gives the vectors of a text's tokens, for late interaction.

    They have its dimension.
    """

    def embed_tokens(self, texts: Sequence[SpannedText], *, role: EmbedRole) -> TokenEmbeddings:
        """Return the vectors that `embed` gives and, from the same run, those of each text's tokens inside its spans.

        At most `token_codes.MAX_TOKENS` for each text, in order, without special tokens and those
        of a prefix.
        """

    def count(self, text: str) -> int:
        """Return how many tokens a text has.

        Of a text cut at white space the counts of its pieces add up.
        """


MOST_MAXSIM = math.sqrt(2 / math.pi)
"""The cosine of a random vector and its own signs: MaxSim of a text with itself, for codes of one
bit a number.
"""


class Background(NamedTuple):
    """What a model gives for a query and a text that have nothing to do with each other.

    No threshold is an absolute cosine.
    """

    cosine: float = 0.0
    tokens: float = 0.0
    """MaxSim against token codes."""
    passages: float = 0.0
    """The cosine of two texts that have nothing to do with each other."""
    ratio: float = 0.8
    """How much of its way from the background to the most MaxSim goes while the cosine goes all of
    its own.
    """

    def cosine_share(self, cosine: float) -> float:
        """Return where a cosine lies between the background and 1.

        >>> Background(cosine=0.5).cosine_share(0.75)
        0.5
        """
        return (cosine - self.cosine) / (1.0 - self.cosine)

    def cosine_at(self, share: float) -> float:
        """Return the cosine of a query and a text at a share of the way from the background to 1.

        `cosine_share` backwards.
        """
        return self.cosine + share * (1.0 - self.cosine)

    def passage_share(self, cosine: float) -> float:
        """Return where the cosine of two texts lies between the background and 1.

        >>> Background(passages=0.5).passage_share(0.75), Background(passages=0.5).passage_cosine_at(0.5)
        (0.5, 0.75)
        """
        return (cosine - self.passages) / (1.0 - self.passages)

    def passage_cosine_at(self, share: float) -> float:
        """Return the cosine of two texts at a share of the way from the background to 1."""
        return self.passages + share * (1.0 - self.passages)

    def token_share(self, maxsim: float) -> float:
        """Return where MaxSim lies between the background and the most that signs of one bit can give."""
        return (maxsim - self.tokens) / (MOST_MAXSIM - self.tokens)

    def maxsim(self, share: float) -> float:
        """Return the MaxSim that lies at a share of the way."""
        return self.tokens + share * (MOST_MAXSIM - self.tokens)


@runtime_checkable
class SupportsBackground(Protocol):
    """An embedder whose background was measured."""

    @property
    def background(self) -> Background:
        """The mean over queries and texts of different sets."""


class Reranker(Protocol):
    """Reads a question and a text together and says how well the one answers the other.

    Loads its weights on first use.
    """

    @property
    def id(self) -> str:
        """A stable name of model and processing."""

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one number for each text, in order: the higher the better, on any scale.

        Raise ModelError where it cannot.
        """


class Questions(NamedTuple):
    """Questions that a text answers; none where nothing sure could be made."""

    texts: tuple[str, ...] = ()
    note: str = ""
    """What whoever wrote the text should know: that they were not made in the configured way, and
    why.
    """


class Questioner(Protocol):
    """Makes the questions that somebody may ask whom a memory would answer."""

    def questions(self, texts: Sequence[str]) -> Sequence[Questions]:
        """Return the questions of each text, in order; a failure is a note and never an error."""


class Sort(StrEnum):
    """How a direct list is ordered."""

    RECENT = "recent"
    IMPORTANT = "important"
    POPULAR = "popular"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The model whose vectors a store holds."""

    id: str
    dimension: int


class Coverage(NamedTuple):
    """How much of a space has what a recall looks for; without what is expired or archived."""

    nodes: int
    vectors: int
    """Nodes with a vector of what they say."""
    keyed: int
    """Nodes with a context key."""
    contexts: int
    """Nodes with a vector of their context key."""
    sections: int
    questions: int = 0
    """Nodes with a vector of a question that they answer."""


class Evidence(NamedTuple):
    """What has happened around a node: what TraceRank and decay ask of it, beside what it says."""

    stability: Stability
    t_valid: datetime
    reinforced: tuple[datetime, ...] = ()
    """When the same or nearly the same was said again, oldest first: the events REINFORCE_EXACT and
    REINFORCE_NEAR.
    """
    related: int = 0
    """How many RELATED edges end at it."""
    accessed: datetime | None = None
    """When a recall last returned it, as far as that was counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `verify` found wrong, and what mends it."""

    check: str
    detail: str
    way_out: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """What `repair` could not put right and has set aside."""

    quarantined: tuple[Problem, ...] = ()
    file: Path | None = None
    """Where copies of these rows are, one JSON object a line."""


OnDamage: TypeAlias = Callable[[CorruptStoreError], None]
"""Called with each row that is damaged, where a reader goes on without it."""


class Store(Protocol):
    """Keeps nodes, events, edges and vectors, and finds nodes by words and by vectors.

    Durability: when the outermost `transaction` returns, everything written in it survives the
    death of the process at any later point; when it raises, nothing of it remains. A write method
    called outside a transaction is a transaction of its own. Every search sees all writes that were
    acknowledged before it began, also another process's.
    """

    def transaction(self) -> AbstractContextManager[None]:
        """Take the write lock; commit on leaving, roll back on an exception. Nests."""

    def insert(
        self,
        nodes: Sequence[Node],
        embeddings: Sequence[Embedding] = (),
        events: Sequence[Event] = (),
    ) -> None:
        """Add new nodes, searchable at once, with vectors of the store's model, and append events."""

    def update(self, id: NodeId, **changes: Any) -> None:
        """Set fields of a node by name.

        Derived indexes, and the hash of a new text, follow in the same transaction.
        """

    def delete(self, ids: Sequence[NodeId]) -> int:
        """Remove nodes with their vectors, edges, words and earlier events.

        Return how many there were.
        """

    def get(self, ids: Sequence[NodeId]) -> dict[NodeId, Node]:
        """Return the nodes that exist, by id."""

    def signals(self, ids: Sequence[NodeId]) -> dict[NodeId, Signals]:
        """Return what a score asks of the nodes that exist, by id."""

    def evidence(self, ids: Sequence[NodeId]) -> dict[NodeId, Evidence]:
        """Return what has happened around the nodes that exist, by id."""

    def beginning(self, prefix: str, *, limit: int) -> tuple[NodeId, ...]:
        """Return ids that begin with this, in their order, whatever space they are of.

        For the owner who types one.
        """

    def find_hash(self, space: str, content_hash: str) -> tuple[NodeId, ...]:
        """Return the live memories of the space with this content hash, oldest first."""

    def find_key(self, space: str, key: str) -> NodeId | None:
        """Return the node of the space that was written under this idempotency key, or that claimed it."""

    def claim(self, id: NodeId, key: str) -> None:
        """Let a further idempotency key of the node's space stand for it.

        A key that is taken stays as it is.
        """

    def carriers(self, space: str, metadata: Mapping[str, Any]) -> tuple[NodeId, ...]:
        """Return every node of the space that carries all of the metadata, expired and archived ones too, by id."""

    def add_tombstones(self, space: str, content_hashes: Sequence[str]) -> None:
        """Remember by keyed hashes alone that texts of the space were forgotten."""

    def find_tombstones(self, space: str, content_hashes: Sequence[str]) -> frozenset[str]:
        """Return those of the content hashes whose texts were forgotten in the space."""

    def drop_tombstones(self, space: str, content_hashes: Sequence[str]) -> None:
        """Let texts of the space be kept again."""

    def listing(
        self,
        where: Filter,
        *,
        sort: Sort,
        limit: int,
        min_importance: float = 0.0,
        min_accesses: int = 0,
        after: Spot | None = None,
    ) -> tuple[Node, ...]:
        """Return nodes in the order of `sort`, best first, ties by id.

        Those behind the spot, if one is given.
        """

    def sparse(self, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
        """Return the nodes that hold any of the analysed terms, by BM25 among the nodes of the filter's space: no other space counts.

        A term that comes more than once counts more (`store.bm25.query_weight`).
        """

    def holding(self, terms: Sequence[str], space: str) -> dict[str, int]:
        """Return how many nodes of the space hold each of the analysed terms, as BM25 counts them.

        Quick, for every recall.
        """

    def dense(
        self, vector: Vectors, where: Filter, *, limit: int, role: Role = Role.CONTENT
    ) -> Ranking:
        """Return the nodes nearest to a unit vector, by cosine.

        A node without a context key is its own context.
        """

    def cosines(
        self, vector: Vectors, ids: Sequence[NodeId], *, role: Role = Role.CONTENT
    ) -> dict[NodeId, float]:
        """Return the exact cosine of each named node that has a vector."""

    def family(self, ids: Sequence[NodeId]) -> tuple[NodeId, ...]:
        """Return the nodes that exist among these and everything of the same space that has one of them as its root, by id."""

    def neighbours(self, ids: Sequence[NodeId], *, reach: int) -> dict[NodeId, tuple[Node, ...]]:
        """Return each node that has a parent amid its live neighbours.

        Children of it in the same space at most `reach` positions away.
        """

    def append(self, events: Sequence[Event]) -> None:
        """Write events to the end of the log."""

    def events(self, node: NodeId, *, on_damage: OnDamage | None = None) -> tuple[Event, ...]:
        """Return what happened to a node, oldest first.

        Without the damaged ones where `on_damage` is told of them.
        """

    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        """Count one access for each node not counted within the interval; return how many were."""

    def reject(self, counts: Mapping[str, int]) -> None:
        """Add to how many texts each rule has rejected; `stats` tells the sums as `rejected`."""

    def keep(self, kind: str, id: str, body: Mapping[str, Any]) -> None:
        """Write a small JSON record that a surface keeps beside the memories (a token, a job).

        Replaces one of the same kind and id.
        """

    def kept(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the records of a kind by id, in the order of ids."""

    def record(self, kind: str, id: str) -> dict[str, Any] | None:
        """Return one record; None where there is none, whatever text was given as its id."""

    def drop(self, kind: str, id: str) -> bool:
        """Remove a record; tell whether there was one."""

    def link(self, edges: Sequence[Edge]) -> None:
        """Add edges; an edge with the same source, target and kind is replaced."""

    def edges(
        self, ids: Sequence[NodeId], *, on_damage: OnDamage | None = None
    ) -> tuple[Edge, ...]:
        """Return every edge that starts or ends at one of the nodes.

        Without the damaged ones where `on_damage` is told of them.
        """

    def mention(self, mentions: Sequence[Mention]) -> None:
        """Note what nodes name and are about.

        What was noted of the same nodes before is replaced.
        """

    def mentions(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[Mention, ...]]:
        """Return what each of the nodes names and is about.

        Subjects first, then the surest, ties by key.
        """

    def named(
        self, keys: Sequence[str], where: Filter, *, limit: int, parts: bool = True
    ) -> dict[str, Named]:
        """Return where the filter's space speaks of each key that is known there.

        At most `limit` subjects and holders that pass.

        With `parts`, a part of a person's name stands for the whole, and the whole for it, as long
        as only one known name has that part.
        """

    def visible(self, ids: Sequence[NodeId], where: Filter) -> frozenset[NodeId]:
        """Return those of the nodes that pass the filter."""

    def model(self) -> ModelInfo | None:
        """Return the model whose vectors are searched; None before the first."""

    def activate(self, model: ModelInfo) -> None:
        """Make this the searched model and drop the vectors of every other."""

    def put(self, embeddings: Sequence[Embedding], model: ModelInfo) -> None:
        """Write vectors of a model, which need not be the active one, with their token codes.

        Replaces both per node and role.
        """

    def embeddings(
        self, ids: Sequence[NodeId], *, on_damage: OnDamage | None = None
    ) -> tuple[Embedding, ...]:
        """Return the vectors of the active model that the nodes have, by node and role.

        As `edges` without the damaged ones.
        """

    def token_codes(self, ids: Sequence[NodeId]) -> dict[NodeId, bytes]:
        """Return the token codes that the nodes have with a vector of the active model.

        Those of a context vector go first.
        """

    def coverage(self, space: str) -> Coverage:
        """Return how many live nodes the space has and how many of them have vectors of the active model; quick, for every recall."""

    def unembedded(self, model_id: str, *, limit: int, tokens: bool = False) -> tuple[Node, ...]:
        """Return live nodes without a content vector of this model, with a stale one, or with a context key and no vector of it, by id.

        With `tokens` also the memories and chunks that have no token codes.
        """

    def nodes(
        self, space: str | None = None, *, on_damage: OnDamage | None = None
    ) -> Iterator[Node]:
        """Yield every node, expired ones too, in the order of ids.

        As `edges` without the damaged ones.
        """

    def stats(self, space: str | None = None) -> Mapping[str, Any]:
        """Return counts and sizes for people and monitors.

        Of a space nothing that another one changes.
        """

    def verify(self) -> tuple[Problem, ...]:
        """Check everything derived against the truth; an empty answer means sound."""

    def repair(self) -> Repaired:
        """Rebuild everything derived from the truth, and set aside rows that cannot be read."""

    def compact(self) -> None:
        """Rewrite the files without what was deleted and merge indexes; nothing searchable changes.

        Raise StoreBusyError where deleted text may be left in the journal because somebody reads
        it.
        """

    def erase(self, texts: Sequence[str], *, check: bool = True) -> Erasure:
        """Overwrite what deletions left in the files, and search their bytes for the texts.

        Called outside a transaction.
        """

    def search_files(self, text: str) -> tuple[FileCheck, ...]:
        """Count a text, however it is written, in the bytes of every file of the store, backups beside it too."""

    def backup(self, path: Path) -> None:
        """Write a consistent copy that opens as a store, while others read and write."""

    def close(self) -> None:
        """Release files; further calls are errors, closing again is not."""
