"""Which colour and shape a system has: the same in every plot of a page."""

from __future__ import annotations

from dataclasses import dataclass

from clew.evaluate.report.model import BASELINE, Result, Row
from clew.evaluate.report.shown import lead_of

COLOURS = 6  # of the systems between the baseline, which is grey, and the lead


@dataclass(frozen=True, slots=True)
class Series:
    """A system with its place in the shapes and the class of its colour."""

    row: Row
    place: int
    kind: str


def series(result: Result) -> tuple[Series, ...]:
    """Give every row its shape and colour."""
    lead, made, others = lead_of(result), [], 0
    for place, row in enumerate(result.rows):
        kind = (
            "base"
            if row.system == BASELINE
            else "lead"
            if row is lead
            else f"other{others % COLOURS}"
        )
        others += kind.startswith("other")
        made.append(Series(row, place, kind))
    return tuple(made)
