"""Default weights of the features that make up a relevance.

Chosen in November 2026 with `python -m benchmarks.ranking` on the small stores (household, desk), CACM, HotpotQA with and
without titles, LoCoMo turns and CoSQA, and judged on the sets left out each time; docs/evaluation.md has the table. The
plateau is wide: half or twice any of words, vector and tokens moves the mean nDCG@10 by less than 0.5 points.
"""

from __future__ import annotations

FEATURE_WEIGHTS: dict[str, float] = {
    "words": 0.2,  # BM25, as a share of what the query's terms can give
    "vector": 0.675,  # cosine above the model's background
    "tokens": 0.6125,  # late interaction (MaxSim) above the model's background
    "section": 0.1,  # share of its section in the relevance of a chunk that has a context key, such as a message
    "section_long": 0.3,  # the same of a chunk without one: nothing else tells what surrounds it
    "named": 0.25,  # the question names the memory's title
    "path": 0.85,  # share of the distance to a better hit that a full link to it closes
    "category": 0.1,  # of a category that the question's words point to, such as decision in "What did we decide?"
    "period": 0.2,  # dated in the period that the question names
    "repeat": 0.01,  # penalty of each further hit of one session, document or title
}
