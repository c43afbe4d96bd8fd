"""Question by question: what each system gained and lost, sorted."""

from __future__ import annotations

from collections.abc import Sequence

from clew.evaluate.report.deltas import Panel, panels
from clew.evaluate.report.markup import Markup, element, number
from clew.evaluate.report.model import Result, Sample
from clew.evaluate.report.svg import Scale, figure, label, line, up

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 488.0, 210.0, 46.0, 34.0, 476.0, 190.0


def delta_plots(result: Result, samples: Sequence[Sample]) -> tuple[Markup, ...]:
    """Draw one panel for each comparison that the samples hold."""
    return tuple(_plot(panel, result.measure) for panel in panels(result, samples) if panel.deltas)


def _plot(panel: Panel, measure: str) -> Markup:
    values = [delta for *_, delta in panel.deltas]
    x, y = Scale(0, len(values), LEFT, RIGHT), Scale(-1, 1, BOTTOM, TOP)
    won, tied, lost = panel.counts
    shapes = [
        up((-1, -0.5, 0, 0.5, 1), y, LEFT, RIGHT, ("−100", "−50", "0", "+50", "+100")),
        _bars([max(0.0, value) for value in values], x, y, "gain"),
        _bars([min(0.0, value) for value in values], x, y, "loss"),
        line(LEFT, y(0), RIGHT, y(0), "zero"),
        label(LEFT, 17, panel.label, kind="name"),
        label(RIGHT, 17, f"{won} won · {tied} tied · {lost} lost", anchor="end", kind="count"),
    ]
    description = f"Differences of {len(values)} questions in points, sorted: {won} won, {tied} tied, {lost} lost."
    return figure(
        f"{measure} question by question, {panel.label}", description, WIDTH, HEIGHT, *shapes
    )


def _bars(values: Sequence[float], x: Scale, y: Scale, kind: str) -> Markup:
    """Draw all bars as one shape.

    A step for each change of height, not one element for each question.
    """
    steps = [f"M{number(x(0))} {number(y(0))}"]
    previous = 0.0
    for place, value in enumerate((*values, 0.0)):
        if value != previous:
            steps.append(f"H{number(x(place))}V{number(y(value))}")
        previous = value
    return element("path", d="".join(steps) + "Z", class_=kind)
