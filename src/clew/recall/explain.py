"""Explain a hit in one sentence from its channels and components."""

from __future__ import annotations

from collections.abc import Sequence

from clew.recall.code_features import DEFINITION, FILE_KIND, FILE_NAME, SAME_FILE
from clew.recall.state import CONTEXT, DENSE, NAMED, QUESTION, SECTION, SPARSE, TOKENS, Hit, Hop, Place
from clew.recall.time_query import PERIOD
from clew.words import sentence_list

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
    found = [_describe_channel(name, place) for name, place in sorted(hit.channels.items(), reverse=True) if place.rank is not None]
    found += [_describe_path(hit.path, hit.signal)] if hit.path else []
    parts = [
        f"{'-' if part.contribution < 0 else '+'} {name} {abs(part.contribution):.3f} ({part.value:.2f} × {part.weight:g})"
        for name, part in sorted(hit.components.items(), key=lambda item: (-item[1].contribution, item[0]))
        if part.contribution
    ]
    summed = f"Found {sentence_list(found)}; score {hit.score:.3f} = {' '.join(parts).removeprefix('+ ') or '0'}."
    further = [SENTENCES[name].format(value=part.value) for name, part in hit.components.items() if name in SENTENCES and part.value]
    return " ".join((summed, *further))


def _describe_path(path: Sequence[Hop], signal: float) -> str:
    ways = [f"{hop.edge} “{hop.evidence}”" if hop.evidence else hop.edge for hop in path]
    return f"along {' → '.join(ways)} from {path[0].source} (signal {signal:.2f})"


def _describe_channel(name: str, place: Place) -> str:
    how, measure = CHANNELS.get(name, (f"by {name}", "score"))
    return f"{how} (rank {place.rank}, {measure} {place.score:.2f})"
