"""The reasons of a hit as a tree that recomputes its score: components, the channels of its relevance, and its path."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text
from rich.tree import Tree

from clew.recall.reasons.why import Reason, Why
from clew.recall.reasons.whynot import WhyNot
from clew.recall.state import Component, Hit, Hop, Place
from clew.surface.cli.views.screen import DIM, KEY, SCORE, safe
from clew.words import sentence_list

MEASURES = {"dense": "cosine", "context": "cosine", "sparse": "BM25", "section": "relevance", "path": "signal"}
MEANING = {"dense": "meaning", "context": "context", "sparse": "words", "section": "section", "named": "named", "path": "links"}
SEMANTIC = "semantic"


def hit_tree(hit: Hit) -> Tree:
    """Return how the hit was found, in a sentence, then what its score is made of, then the links that led to it."""
    parts = sorted(((name, part) for name, part in hit.components.items() if part.weight), key=_largest)
    terms = "".join(f" {'-' if part.contribution < 0 else '+'} {abs(part.contribution):.4f}" for _, part in parts)
    tree = Tree(Text.assemble("score ", (f"{hit.score:.4f}", SCORE), f" = {terms.removeprefix(' + ').lstrip()}"), guide_style=DIM)
    tree.add(Text.assemble((f"{'method':<10}", KEY), f" {hit.method}"))
    if hit.explanation:
        tree.add(safe(hit.explanation))
    for name, part in parts:
        branch = tree.add(_component(name, part))
        if name == SEMANTIC:
            for channel, place in sorted(hit.channels.items()):
                branch.add(_channel(channel, place))
    if hit.path:
        way = tree.add(Text.assemble((f"{'path':<10}", KEY), f" {hit.hops} × linked, signal {hit.signal:.4f}"))
        for hop in hit.path:
            way.add(_hop(hop))
    return tree


def _largest(each: tuple[str, Component]) -> tuple[float, str]:
    return -each[1].contribution, each[0]


def _component(name: str, part: Component) -> Text:
    return Text.assemble((f"{name:<10}", KEY), f" {part.value:.4f} × {part.weight:g} = {part.contribution:.4f}")


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
        return Group(safe(f"It is not among the {found.ranked:,} that were ranked."), *_missing(found))
    text = found.hit.text
    answered = f"rank {found.answer_rank} of the answer" if found.answer_rank else "beyond the answer"
    lines = [safe(text), safe(f"Rank {found.rank:,} of {found.ranked:,}, {answered}.", "bold"), *_missing(found)]
    return Group(*lines, safe(main_sentence(found)), hit_tree(found.hit))


def main_sentence(found: Why) -> str:
    """Return the main reason, and where the hit would be without it."""
    named = sentence_list([_named(reason) for reason in found.main]) or "nothing"
    if not found.decisive:
        return f"Main reason: {named}; it would stand where it does without that too."
    elsewhere = "it would not have been found" if found.rank_without is None else f"it would be at rank {found.rank_without:,}"
    return f"Main reason: {named}; without {'that' if len(found.main) == 1 else 'these'} {elsewhere}."


def _named(reason: Reason) -> str:
    return f"{MEANING.get(reason.name, reason.name) if reason.kind == 'channel' else reason.name} ({reason.contribution:.4f})"


def _missing(found: Why) -> list[Text]:
    return [] if found.missing is None else [safe(found.missing.sentence)]


def why_not_page(found: WhyNot) -> Text:
    """Return the sentence, after the stage that it is about."""
    return Text.assemble((f"{found.stage}: ", KEY), safe(found.sentence))
