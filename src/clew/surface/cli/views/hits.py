"""An answer as people read it: hits best first, and with `--explain` the arithmetic behind each."""

from __future__ import annotations

from datetime import datetime

from rich.console import Group
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from clew.search.state import Component, Hit, Hop, Place, Recall
from clew.search.why import Reason, Why
from clew.search.why_not import WhyNot
from clew.surface.cli.text import counted
from clew.surface.cli.views.memories import about, headline
from clew.surface.cli.views.screen import DIM, KEY, SCORE, safe
from clew.text.words import sentence_list

# The reasons of a hit as a tree that recomputes its score: components, the channels of its
# relevance, and its path.

MEASURES = {
    "dense": "cosine",
    "context": "cosine",
    "sparse": "BM25",
    "section": "relevance",
    "path": "signal",
}
MEANING = {
    "dense": "meaning",
    "context": "context",
    "sparse": "words",
    "section": "section",
    "named": "named",
    "path": "links",
}
SEMANTIC = "semantic"


def hit_tree(hit: Hit) -> Tree:
    """Return how the hit was found, in a sentence, then what its score is made of, then the links that led to it."""
    parts = sorted(
        ((name, part) for name, part in hit.components.items() if part.weight), key=_largest
    )
    terms = "".join(
        f" {'-' if part.contribution < 0 else '+'} {abs(part.contribution):.4f}"
        for _, part in parts
    )
    tree = Tree(
        Text.assemble(
            "score ", (f"{hit.score:.4f}", SCORE), f" = {terms.removeprefix(' + ').lstrip()}"
        ),
        guide_style=DIM,
    )
    tree.add(Text.assemble((f"{'method':<10}", KEY), f" {hit.method}"))
    if hit.explanation:
        tree.add(safe(hit.explanation))
    for name, part in parts:
        branch = tree.add(_component(name, part))
        if name == SEMANTIC:
            for channel, place in sorted(hit.channels.items()):
                branch.add(_channel(channel, place))
    if hit.path:
        way = tree.add(
            Text.assemble((f"{'path':<10}", KEY), f" {hit.hops} × linked, signal {hit.signal:.4f}")
        )
        for hop in hit.path:
            way.add(_hop(hop))
    return tree


def _largest(each: tuple[str, Component]) -> tuple[float, str]:
    return -each[1].contribution, each[0]


def _component(name: str, part: Component) -> Text:
    return Text.assemble(
        (f"{name:<10}", KEY), f" {part.value:.4f} × {part.weight:g} = {part.contribution:.4f}"
    )


def _channel(name: str, place: Place) -> Text:
    where = f"rank {place.rank}" if place.rank is not None else "not proposed"
    measure = f"{MEASURES.get(name, 'score')} {place.score:.3f}"
    return Text.assemble(
        (f"{MEANING.get(name, name):<8}", KEY),
        f" {place.normalised:.4f} × {place.weight:g} = {place.contribution:.4f}",
        (f"  {where}, {measure}", DIM),
    )


def _hop(hop: Hop) -> Text:
    evidence = f" ({hop.evidence})" if hop.evidence else ""
    way = safe(f"{hop.source} –{hop.edge}→ {hop.target}{evidence}", whole=True)
    return way.append(f"  weight {hop.weight:.3f}, signal {hop.signal:.4f}", style=DIM)


def why_page(found: Why) -> Group:
    """Return a memory's place, the reason that decides it, and the tree of all of them."""
    if found.hit is None or found.rank is None:
        return Group(
            safe(f"It is not among the {found.ranked:,} that were ranked."), *_missing(found)
        )
    text = found.hit.text
    answered = (
        f"rank {found.answer_rank} of the answer" if found.answer_rank else "beyond the answer"
    )
    lines = [
        safe(text),
        safe(f"Rank {found.rank:,} of {found.ranked:,}, {answered}.", "bold"),
        *_missing(found),
    ]
    return Group(*lines, safe(main_sentence(found)), hit_tree(found.hit))


def main_sentence(found: Why) -> str:
    """Return the main reason, and where the hit would be without it."""
    named = sentence_list([_named(reason) for reason in found.main]) or "nothing"
    if not found.decisive:
        return f"Main reason: {named}; it would stand where it does without that too."
    elsewhere = (
        "it would not have been found"
        if found.rank_without is None
        else f"it would be at rank {found.rank_without:,}"
    )
    return (
        f"Main reason: {named}; without {'that' if len(found.main) == 1 else 'these'} {elsewhere}."
    )


def _named(reason: Reason) -> str:
    return f"{MEANING.get(reason.name, reason.name) if reason.kind == 'channel' else reason.name} ({reason.contribution:.4f})"


def _missing(found: Why) -> list[Text]:
    return [] if found.missing is None else [safe(found.missing.sentence)]


def why_not_page(found: WhyNot) -> Text:
    """Return the sentence, after the stage that it is about."""
    return Text.assemble((f"{found.stage}: ", KEY), safe(found.sentence))


def answer_page(answer: Recall, now: datetime, *, explain: bool = False) -> Group:
    """Return the hits with rank and confidence, then a line about how they were found."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", style=DIM, no_wrap=True)
    table.add_column(justify="right", style=SCORE, no_wrap=True, min_width=len("99 %"))
    table.add_column(overflow="fold")
    for rank, hit in enumerate(answer.hits, start=1):
        parts = (
            [] if hit.node is None else [headline(hit.node), about(hit.node, now, importance=False)]
        )
        table.add_row(
            str(rank), percent(hit.confidence), Group(*parts, *([hit_tree(hit)] if explain else []))
        )
    return Group(table, Text(summary(answer), style=DIM))


def percent(confidence: float | None) -> str:
    """Return a confidence as people read it; a dash where there is none.

    >>> percent(0.824), percent(0.999), percent(None)
    ('82 %', '99 %', '–')
    """
    return "–" if confidence is None else f"{min(99, round(100 * confidence))} %"


def summary(answer: Recall) -> str:
    """Return one line: how many hits, how fast, by which recipe and preset, and what was held back."""
    stats = answer.stats
    found = ", ".join(
        f"{count} by {MEANING.get(name, name)}" for name, count in stats["candidates"].items()
    )
    held = f" · {answer.filtered_count} held back" if answer.filtered_count else ""
    return (
        f"{counted(len(answer.hits), 'hit')} in {stats['milliseconds']:.0f} ms · recipe {stats['recipe']}, preset {stats['preset']}"
        f" · {found or 'no candidates'}{held}"
    )


def nothing_page(answer: Recall) -> Group:
    """Return an honest empty answer, with what came closest."""
    lines = [safe("Nothing relevant.", "bold")]
    if best := answer.best_rejected:
        lines.append(
            safe(
                f"The closest was {best.id}: {best.reason} {best.value:.3f}, the limit is {best.limit:g} ({best.stage}).",
                DIM,
            )
        )
    return Group(*lines, Text(summary(answer), style=DIM))
