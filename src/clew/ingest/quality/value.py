"""What is said of a text's quality, and by which analyser."""

from clew.types import Quality, Stub

__all__ = ["ANALYSER", "Quality", "Stub"]

ANALYSER = 1  # raise it with any change that moves a number: stored assessments of another version are stale
