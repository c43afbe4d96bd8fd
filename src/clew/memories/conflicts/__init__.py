"""Which two texts contradict each other? Rules on words and numbers, without a model."""

from clew.memories.conflicts.comparing import Difference, DifferenceKind, contradiction
from clew.memories.conflicts.judging import Overlap, explanation, judged, overlap, pair_id

__all__ = [
    "Difference",
    "DifferenceKind",
    "Overlap",
    "contradiction",
    "explanation",
    "judged",
    "overlap",
    "pair_id",
]
