"""Load the best hits and keep those that fit into the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.search.analyse import PERIOD
from clew.search.diversity import DEFINITION, FILE_KIND, FILE_NAME, SAME_FILE
from clew.search.state import (
    CONTEXT,
    DENSE,
    NAMED,
    QUESTION,
    SECTION,
    SPARSE,
    TOKENS,
    Hit,
    Hop,
    Place,
    Recall,
    Rejection,
    with_nodes,
)
from clew.search.word_search import empty_filter_notes
from clew.text.words import sentence_list, token_estimate, words
from clew.types import Kind, Node, NodeId

# Add neighbouring chunks to short chunks as context.


@dataclass(frozen=True, slots=True)
class Expand:
    """Sets the context of short chunks: their title and neighbouring chunks as one text."""

    below_words: int
    reach: int
    store: Store = field(repr=False, compare=False)

    def __call__(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits, with context for those that are short chunks."""
        short = [hit.id for hit in hits if self._is_short(hit)]
        if not short:
            return list(hits)
        around = self.store.neighbours(short, reach=self.reach)
        return [self._add_context(hit, around) if hit.id in around else hit for hit in hits]

    def _is_short(self, hit: Hit) -> bool:
        node = hit.node
        return (
            node is not None
            and node.kind is Kind.CHUNK
            and node.root is not None
            and len(words(node.text)) < self.below_words
        )

    def _add_context(self, hit: Hit, around: Mapping[NodeId, Sequence[Node]]) -> Hit:
        combined = join_chunks(around[hit.id])
        return (
            hit._replace(context=combined)
            if hit.node is not None and combined != hit.node.text
            else hit
        )


def join_chunks(nodes: Sequence[Node]) -> str:
    """Join neighbouring chunks under their title into one text without repeating overlaps."""
    parts: list[str] = []
    end = 0
    for node in nodes:
        fresh = max(0, end - (node.start or 0)) if parts else 0
        parts.append(node.text[fresh:])
        end = max(end, node.end or 0)
    title = nodes[0].title if nodes else ""
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    return f"{title}\n\n{text}" if title else text


# Reject low-quality chunks, after their context was added.

STAGE = "gate"


@dataclass(frozen=True, slots=True)
class Gate:
    """Rejects chunks of low quality, stubs, and chunks too short to be understood alone.

    Memories always pass.
    """

    min_quality: float
    min_words: int
    excluded_stubs: tuple[str, ...]

    def __call__(self, hit: Hit) -> Rejection | None:
        """Return why a hit is rejected, or None."""
        node = hit.node
        if node is None or node.kind is not Kind.CHUNK:
            return None
        quality = node.quality
        if quality is not None and quality.stub in self.excluded_stubs:
            return Rejection(
                id=hit.id,
                stage=STAGE,
                reason=f"stub:{quality.stub}",
                value=quality.overall,
                limit=self.min_quality,
            )
        if quality is not None and quality.overall < self.min_quality:
            return Rejection(
                id=hit.id,
                stage=STAGE,
                reason="quality",
                value=quality.overall,
                limit=self.min_quality,
            )
        count = len(words(hit.context or node.text))
        if not hit.context and count < self.min_words:
            return Rejection(
                id=hit.id,
                stage=STAGE,
                reason="too_short",
                value=float(count),
                limit=float(self.min_words),
            )
        return None


# Measure how much chunks of one document overlap.

SHARE = 0.5  # of the shorter chunk: from here on a hit is a duplicate


def overlap_share(node: Node, kept: Iterable[Node]) -> float:
    """Return the largest overlap of a chunk with one of the kept chunks, as a share of the shorter of the two."""
    return max((_shared(node, other) for other in kept), default=0.0)


def _shared(one: Node, other: Node) -> float:
    if (
        one.root is None
        or one.root != other.root
        or None in (one.start, one.end, other.start, other.end)
    ):
        return 0.0
    start, end = max(one.start or 0, other.start or 0), min(one.end or 0, other.end or 0)
    shorter = min((one.end or 0) - (one.start or 0), (other.end or 0) - (other.start or 0))
    return max(0, end - start) / shorter if shorter else 0.0


# Explain a hit in one sentence from its channels and components.

CHANNELS = {
    SPARSE: ("by its words", "BM25"),
    DENSE: ("by its meaning", "cosine"),
    CONTEXT: ("by its meaning amid its neighbours", "cosine"),
    QUESTION: ("by a question that it answers", "cosine"),
    TOKENS: ("token by token", "MaxSim"),
    SECTION: ("through its section", "relevance"),
    NAMED: ("by the name in the question", "share"),
    PERIOD: ("by the time asked about", "share"),
}
SENTENCES = {
    FILE_NAME: "Its file or folder is named after {value:.0%} of the question's words.",
    DEFINITION: "It defines what the question names.",
    FILE_KIND: "Its file is a test, an example, documentation, a package index or an older copy.",
    SAME_FILE: "Better chunks of the same file come before it.",
}
"""Sentences added for components that are not 0."""


def explanation(hit: Hit) -> str:
    """Return a sentence with the rank of a hit in each channel and the components of its score."""
    found = [
        _describe_channel(name, place)
        for name, place in sorted(hit.channels.items(), reverse=True)
        if place.rank is not None
    ]
    found += [_describe_path(hit.path, hit.signal)] if hit.path else []
    parts = [
        f"{'-' if part.contribution < 0 else '+'} {name} {abs(part.contribution):.3f} ({part.value:.2f} × {part.weight:g})"
        for name, part in sorted(
            hit.components.items(), key=lambda item: (-item[1].contribution, item[0])
        )
        if part.contribution
    ]
    summed = f"Found {sentence_list(found)}; score {hit.score:.3f} = {' '.join(parts).removeprefix('+ ') or '0'}."
    further = [
        SENTENCES[name].format(value=part.value)
        for name, part in hit.components.items()
        if name in SENTENCES and part.value
    ]
    return " ".join((summed, *further))


def _describe_path(path: Sequence[Hop], signal: float) -> str:
    ways = [f"{hop.edge} “{hop.evidence}”" if hop.evidence else hop.edge for hop in path]
    return f"along {' → '.join(ways)} from {path[0].source} (signal {signal:.2f})"


def _describe_channel(name: str, place: Place) -> str:
    how, measure = CHANNELS.get(name, (f"by {name}", "score"))
    return f"{how} (rank {place.rank}, {measure} {place.score:.2f})"


@dataclass(frozen=True, slots=True)
class Pack:
    """Load the hits with their context, keep the best k that pass, and explain each in a sentence."""

    expand: Expand | None
    gate: Gate | None
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the final hits; those that fail the gate, overlap a better hit or exceed the token budget are rejected."""
        budget, k = recall.question.budget_tokens, recall.question.k
        kept: list[Hit] = []
        rejected: list[Rejection] = []
        spent = 0
        for hit in self._load_pages(recall, k):
            tokens = token_estimate(hit.context or hit.text) if budget else 0
            why = self._reject(hit, kept) or _reject_over_budget(hit, spent + tokens, budget)
            if why is not None:
                rejected.append(why)
                continue
            spent += tokens
            kept.append(hit._replace(explanation=explanation(hit)))
            if len(kept) == k:
                break
        notes = (
            recall.notes
            if kept or rejected
            else recall.notes + empty_filter_notes(recall, store=self.store)
        )
        return replace(
            recall,
            hits=tuple(kept),
            nodes={},
            judge=None,
            rejected=recall.rejected + tuple(rejected),
            notes=notes,
        )

    def _load_pages(self, recall: Recall, size: int) -> Iterator[Hit]:
        """Yield the hits with their nodes, loaded a page at a time.

        A hit deleted meanwhile is dropped.
        """
        for at in range(0, len(recall.hits), size):
            page = recall.hits[at : at + size]
            nodes = with_nodes(recall, [hit.id for hit in page], store=self.store).nodes
            found = [hit._replace(node=nodes[hit.id]) for hit in page if hit.id in nodes]
            if recall.judge is not None:
                found = [
                    hit._replace(confidence=value)
                    for hit, value in zip(found, recall.judge(found), strict=True)
                ]
            yield from self.expand(found) if self.expand is not None else found

    def _reject(self, hit: Hit, kept: Sequence[Hit]) -> Rejection | None:
        if self.gate is not None and (rejection := self.gate(hit)) is not None:
            return rejection
        if (
            hit.node is not None
            and (share := overlap_share(hit.node, [each.node for each in kept if each.node]))
            >= SHARE
        ):
            return Rejection(id=hit.id, stage="pack", reason="overlap", value=share, limit=SHARE)
        return None


def _reject_over_budget(hit: Hit, tokens: int, budget: int) -> Rejection | None:
    if not tokens > budget > 0:
        return None
    return Rejection(
        id=hit.id, stage="pack", reason="budget_tokens", value=float(tokens), limit=float(budget)
    )
