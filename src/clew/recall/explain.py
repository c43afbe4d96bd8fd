"""Why is a memory in the answer? One sentence from the numbers that the stages left."""

from __future__ import annotations

from clew.recall.state import CONTEXT, DENSE, SECTION, SPARSE, Hit, Place
from clew.words import sentence_list

CHANNELS = {
    SPARSE: ("by its words", "BM25"),
    DENSE: ("by its meaning", "cosine"),
    CONTEXT: ("by its meaning amid its neighbours", "cosine"),
    SECTION: ("through its section", "relevance"),
}


def explanation(hit: Hit) -> str:
    """Return the sentence: which channels found it at which rank, and what its score is made of."""
    found = [_found(name, place) for name, place in sorted(hit.channels.items(), reverse=True) if place.rank is not None]
    parts = [
        f"{name} {part.contribution:.3f} ({part.value:.2f} × {part.weight:g})"
        for name, part in sorted(hit.components.items(), key=lambda item: (-item[1].contribution, item[0]))
        if part.contribution > 0
    ]
    return f"Found {sentence_list(found)}; score {hit.score:.3f} = {' + '.join(parts) or '0'}."


def _found(name: str, place: Place) -> str:
    how, measure = CHANNELS.get(name, (f"by {name}", "score"))
    return f"{how} (rank {place.rank}, {measure} {place.score:.2f})"
