"""Default weights of the features in the relevance.

Chosen in November 2026 with `python -m benchmarks.ranking` on the small stores (household, desk), CACM, HotpotQA with and
without titles, LoCoMo turns and CoSQA, and tested on the set left out each time; docs/evaluation.md has the table. The
plateau is wide: halving or doubling words, vector or tokens changes the mean nDCG@10 by less than 0.5 points.
"""

from __future__ import annotations

FEATURE_WEIGHTS: dict[str, float] = {
    "words": 0.2,  # BM25, relative to a text with all query terms
    "vector": 0.675,  # cosine above the model's background
    "tokens": 0.6125,  # late interaction (MaxSim) above the model's background
    "section": 0.1,  # share of the section in the relevance of a chunk with a context key, such as a chat message
    "section_long": 0.3,  # the same for a chunk without a context key, which has no other context
    "named": 0.25,  # the question names the memory's title
    "path": 0.85,  # share of the gap to a better hit that a link of full weight closes
    "category": 0.1,  # the memory has a category that the question's words point to, such as decision in "What did we decide?"
    "period": 0.2,  # dated in the period that the question names
    "repeat": 0.01,  # penalty for each further hit of one session, document or title
}
