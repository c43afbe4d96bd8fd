"""Read the documents of the HTTP API back into the values of the local API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from clew.documents.importing import FileReport, ImportReport, Status
from clew.engine.relating import Entity, Neighbour, Related
from clew.engine.replaying import Change, Replay
from clew.engine.request import Page
from clew.engine.tracing import decoded
from clew.memories.decay import Decayed, Fading
from clew.search.state import Component, Hit, Hop, Place, Question, Recall, Rejection
from clew.search.why import Reason, Why
from clew.search.why_not import Standing, WhyNot
from clew.times import parse_time
from clew.types import (
    ConversationOutcome,
    Edge,
    Event,
    EventKind,
    FileCheck,
    Kind,
    Mention,
    Node,
    Outcome,
    OutcomeKind,
    Quality,
    Receipt,
    Similar,
    Stability,
    Stub,
)

Document = Mapping[str, Any]
NODE_FIELDS = tuple(each.name for each in fields(Node))
TIMES = ("t_created", "t_valid", "t_invalid", "t_expired")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRecall(Recall):
    """A recall by a server: the same answer, with the statistics that the server counted."""

    document: Document = field(default_factory=dict, repr=False)

    @property
    def stats(self) -> dict[str, Any]:
        """Statistics of the recall."""
        return dict(self.document["stats"])

    @property
    def nothing_relevant(self) -> bool:
        """Whether nothing was found, or the best confidence is too low."""
        return bool(self.document["nothing_relevant"])

    @property
    def filtered_count(self) -> int:
        """The number of candidates dropped by a threshold or the token budget."""
        return int(self.document["filtered_count"])

    @property
    def best_rejected(self) -> Rejection | None:
        """The dropped candidate closest to its limit."""
        told = self.document["best_rejected"]
        return None if told is None else Rejection(**told)

    @property
    def tokens_returned(self) -> int:
        """The estimated tokens of all returned texts."""
        return int(self.document["stats"]["tokens_returned"])

    @property
    def embedding_calls(self) -> int:
        """The number of embedding calls for this recall."""
        return int(self.document["stats"]["embedding_calls"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedReplay(Replay):
    """A replay by a server, with the sentences that it wrote."""

    said: tuple[str, ...] = ()
    same: bool = False

    @property
    def identical(self) -> bool:
        """Whether the same memories came in the same order with the same scores."""
        return self.same

    @property
    def sentences(self) -> tuple[str, ...]:
        """What changed, for people."""
        return self.said


def moment(text: str) -> datetime:
    """Return a time of a document."""
    return parse_time(text, "time")


def _moment(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


def node(document: Document) -> Node:
    """Return a memory; fields of a later version are left out."""
    known = {name: document[name] for name in NODE_FIELDS if name in document}
    quality = known.get("quality")
    return Node(
        **{
            **known,
            **{name: _moment(known.get(name)) for name in TIMES},
            "kind": Kind(known["kind"]),
            "stability": Stability(known["stability"]),
            "keywords": tuple(known["keywords"]),
            "tags": tuple(known["tags"]),
            "quality": None
            if quality is None
            else Quality(**{**quality, "stub": Stub(quality["stub"])}),
        }
    )


def nodes(document: Document) -> tuple[Node, ...]:
    """Return the memories of a list."""
    return tuple(map(node, document["memories"]))


def page(document: Document) -> Page:
    """Return a page of a list."""
    return Page(nodes(document), document["cursor"])


def outcome(document: Document) -> Outcome:
    """Return what became of one text."""
    return Outcome(
        outcome=OutcomeKind(document["outcome"]),
        id=document["id"],
        rule=document.get("rule"),
        value=document.get("value"),
        limit=document.get("limit"),
        canonical_id=document.get("canonical_id"),
        canonical_text=document.get("canonical_text"),
        similar=tuple(
            Similar(each["id"], each["cosine"], each.get("text"))
            for each in document.get("similar", ())
        ),
        may_supersede=document.get("may_supersede"),
        notes=tuple(document.get("notes", ())),
    )


def conversation(document: Document) -> ConversationOutcome:
    """Return what became of the messages of a conversation."""
    return ConversationOutcome(
        session=document["session"],
        sections=tuple(document["sections"]),
        outcomes=tuple(map(outcome, document["outcomes"])),
        notes=tuple(document["notes"]),
    )


def report(document: Document) -> ImportReport:
    """Return what became of every file of an import."""
    files = tuple(
        FileReport(
            path=each["path"],
            status=Status(each["status"]),
            reason=each.get("reason", ""),
            nodes=each["nodes"],
            notes=tuple(each.get("notes", ())),
        )
        for each in document["files"]
    )
    return ImportReport(
        files=files, vectors=document["totals"]["vectors"], notes=tuple(document["notes"])
    )


def recall(document: Document) -> Recall:
    """Return an answer."""
    return ServedRecall(
        question=decoded(Question, document["question"], "question"),
        id=document["trace_id"],
        hits=tuple(map(hit, document["hits"])),
        reranked=document["stats"]["reranked"],
        notes=tuple(document["stats"]["notes"]),
        document=document,
    )


def hit(document: Document) -> Hit:
    """Return a hit."""
    channels = {
        name: Place(each["rank"], each["score"], each["normalised"], each["weight"])
        for name, each in document["channels"].items()
    }
    path = (
        Hop(
            each["from"], each["edge"], each["weight"], each["to"], each["signal"], each["evidence"]
        )
        for each in document["path"]
    )
    return Hit(
        id=document["id"],
        score=document["score"],
        channels=channels,
        components={
            name: Component(each["value"], each["weight"])
            for name, each in document["components"].items()
        },
        node=None if document["node"] is None else node(document["node"]),
        method=document["method"],
        explanation=document["explanation"],
        context=document["context"],
        path=tuple(path),
        confidence=document["confidence"],
    )


def why(document: Document) -> Why:
    """Return a memory's place in a ranking."""
    main = document["main_reason"]
    return Why(
        id=document["id"],
        query=document["query"],
        k=document["k"],
        ranked=document["ranked"],
        hit=None if document["hit"] is None else hit(document["hit"]),
        rank=document["rank"],
        answer_rank=document["answer_rank"],
        reasons=_reasons(document["reasons"]),
        main=() if main is None else _reasons(main["reasons"]),
        rank_without=None if main is None else main["rank_without"],
        missing=None if document["why_not"] is None else why_not(document["why_not"]),
    )


def _reasons(documents: Sequence[Document]) -> tuple[Reason, ...]:
    return tuple(Reason(each["kind"], each["name"], each["contribution"]) for each in documents)


def why_not(document: Document) -> WhyNot:
    """Return where a memory was dropped from an answer."""
    channels = {
        name: Standing(**{**each, "shared": tuple(each["shared"])})
        for name, each in document["channels"].items()
    }
    return WhyNot(**{**document, "channels": channels})


def replay(document: Document) -> Replay:
    """Return how a recall compares with its trace; of the ranking the ids and scores alone."""
    return ServedReplay(
        trace_id=document["trace_id"],
        query=document["query"],
        now=moment(document["now"]),
        ranking=tuple(Hit(each["id"], each["score"], {}) for each in document["ranking"]),
        hits=tuple(
            Change(**{**each, "components": _pairs(each["components"])})
            for each in document["changes"]
        ),
        settings=_pairs(document["settings"]),
        model=(document["model"]["before"], document["model"]["after"]),
        store=_pairs(document["store"]),
        recipe=((), ()),
        notes=tuple(document["notes"]),
        said=tuple(document["sentences"]),
        same=document["identical"],
    )


def _pairs(document: Document) -> dict[str, tuple[Any, Any]]:
    return {name: (each["before"], each["after"]) for name, each in document.items()}


def events(document: Document) -> tuple[Event, ...]:
    """Return what happened to a memory."""
    id = document["id"]
    return tuple(
        Event(node=id, kind=EventKind(each["kind"]), at=moment(each["at"]), detail=each["detail"])
        for each in document["events"]
    )


def edge(document: Document) -> Edge:
    """Return a connection."""
    return Edge(**{**document, "t_created": moment(document["t_created"])})


def related(document: Document) -> Related:
    """Return what a memory is connected with."""
    id = document["id"]
    entities = (
        Entity(Mention(**each["mention"]), each["evidence"], each["count"])
        for each in document["entities"]
    )
    edges = (
        Edge(
            source=each["from"],
            target=each["to"],
            kind=each["edge"],
            weight=each["weight"],
            confidence=each["confidence"],
            evidence=each["evidence"],
            t_created=moment(each["t_created"]),
        )
        for each in document["edges"]
    )
    return Related(
        id=id,
        entities=tuple(entities),
        edges=tuple(edges),
        nodes=tuple(
            Neighbour(
                node(each["node"]),
                each["strength"],
                tuple(each["about"]),
                tuple(each["shares"]),
                tuple(each["edges"]),
            )
            for each in document["nodes"]
        ),
    )


def receipt(document: Document) -> Receipt:
    """Return what was forgotten."""
    return Receipt(
        ids=tuple(document["forgotten"]),
        removed=document["removed"],
        at=moment(document["at"]),
        dry_run=document["dry_run"],
        kept=tuple(document["kept"]),
        tombstones=document["tombstones"],
        files=tuple(FileCheck(**each) for each in document["files"]),
        shared=document["shared"],
        remains=tuple(document["remains"]),
        unchecked=tuple(document["unchecked"]),
    )


def decay(document: Document) -> Decayed:
    """Return which memories faded."""
    return Decayed(
        at=moment(document["at"]),
        dry_run=document["dry_run"],
        examined=document["examined"],
        protected=document["protected"],
        archived=_fading(document["archived"]),
        upcoming=_fading(document["upcoming"]),
    )


def _fading(documents: Sequence[Document]) -> tuple[Fading, ...]:
    return tuple(
        Fading(each["id"], each["score"], _moment(each["forgotten_at"]), each["text"])
        for each in documents
    )
