"""How good is a text, by itself? Read it once, judge its parts, tell stubs apart, weigh (mission U6)."""

from clew.ingest.quality.assessing import assess
from clew.ingest.quality.value import ANALYSER, Quality, Stub

__all__ = ["ANALYSER", "Quality", "Stub", "assess"]
