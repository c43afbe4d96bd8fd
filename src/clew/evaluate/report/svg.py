"""The few shapes that the plots are drawn with.

Colours come from the page, so that light and dark both work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from clew.evaluate.report.markup import Markup, element, joined, number

MARK = 4.5  # half the width of a mark
CHARACTER = 6.3  # mean width of a character at 12 px, for room beside labels
NARROW = 1e-4  # a range that no axis can show
TICK_STEPS = (1, 2, 2.5, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight line from values to coordinates."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value; values beyond the ends stop there."""
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / ((self.high - self.low) or 1.0) * (
            self.end - self.start
        )


def ticks(low: float, high: float, *, most: int = 6) -> list[float]:
    """Return round numbers that span from low to high, ends included.

    >>> ticks(0.52, 0.88)
    [0.5, 0.6, 0.7, 0.8, 0.9]
    """
    width = high - low if high - low > NARROW else 1.0
    power = 10.0 ** math.floor(math.log10(width / most))
    step = next(
        step * power
        for step in TICK_STEPS
        if math.ceil(round(high / (step * power), 6)) - math.floor(low / (step * power)) <= most
    )
    first, last = math.floor(round(low / step, 6)), math.ceil(round(high / step, 6))
    return [round(place * step, 10) for place in range(first, max(last, first + 1) + 1)]


def figure(title: str, description: str, width: float, height: float, *shapes: str) -> Markup:
    """Return a picture with a name and a description for those who do not see it."""
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *shapes,
        role="img",
        aria_label=f"{title}. {description}",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
    )


def label(
    x: float, y: float, content: str, *, anchor: str = "start", kind: str = "label", most: int = 200
) -> Markup:
    """Return a text; one longer than `most` is cut and keeps its whole in a tooltip."""
    if len(content) <= most:
        return element("text", content, x=x, y=y, text_anchor=anchor, class_=kind)
    return element(
        "text",
        element("title", content),
        content[: most - 1] + "…",
        x=x,
        y=y,
        text_anchor=anchor,
        class_=kind,
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def box(
    x: float, y: float, width: float, height: float, kind: str, *, round_: float | None = None
) -> Markup:
    """Return a rectangle; a negative width or height counts from the other side."""
    return element(
        "rect",
        x=min(x, x + width),
        y=min(y, y + height),
        width=abs(width),
        height=abs(height),
        rx=round_,
        class_=kind,
    )


def mark(x: float, y: float, place: int, kind: str) -> Markup:
    """Return the mark of a series: series differ in shape as well as in colour."""
    r = MARK
    shapes: tuple[Sequence[tuple[float, float]], ...] = (
        (),
        ((-r, -r), (r, -r), (r, r), (-r, r)),
        ((0, -r - 1.5), (r + 1.5, 0), (0, r + 1.5), (-r - 1.5, 0)),
        ((0, -r - 1), (r + 1, r), (-r - 1, r)),
        ((0, r + 1), (r + 1, -r), (-r - 1, -r)),
        ((-r, -r / 2), (0, -r - 1), (r, -r / 2), (r, r / 2), (0, r + 1), (-r, r / 2)),
    )
    corners = shapes[place % len(shapes)]
    if not corners:
        return element("circle", cx=x, cy=y, r=r, class_=f"mark {kind}")
    return element(
        "polygon",
        points=" ".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in corners),
        class_=f"mark {kind}",
    )


def whisker(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return an interval: a line with small ends."""
    flat = y1 == y2
    end = (0.0, 3.5) if flat else (3.5, 0.0)
    ends = [
        line(x - end[0], y - end[1], x + end[0], y + end[1], f"whisker {kind}")
        for x, y in ((x1, y1), (x2, y2))
    ]
    return joined(line(x1, y1, x2, y2, f"whisker {kind}"), *ends)


def across(
    values: Sequence[float], scale: Scale, top: float, bottom: float, names: Sequence[str]
) -> Markup:
    """Return upright grid lines with their names below."""
    return joined(
        *(line(scale(value), top, scale(value), bottom, "grid") for value in values),
        *(
            label(scale(value), bottom + 16, name, anchor="middle", kind="tick")
            for value, name in zip(values, names, strict=True)
        ),
    )


def up(
    values: Sequence[float], scale: Scale, left: float, right: float, names: Sequence[str]
) -> Markup:
    """Return level grid lines with their names on the left."""
    return joined(
        *(line(left, scale(value), right, scale(value), "grid") for value in values),
        *(
            label(left - 7, scale(value) + 4, name, anchor="end", kind="tick")
            for value, name in zip(values, names, strict=True)
        ),
    )
