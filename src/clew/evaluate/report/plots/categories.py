"""The headline measure of every system by category, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clew.evaluate.report.markup import Markup, joined
from clew.evaluate.report.model import Result
from clew.evaluate.report.plots.series import Series, series
from clew.evaluate.report.shown import categories_of, percent
from clew.evaluate.report.svg import (
    CHARACTER,
    Scale,
    across,
    box,
    figure,
    label,
    mark,
    ticks,
    whisker,
)
from clew.evaluate.statistics import Interval

WIDTH, LEFT, TOP = 1000.0, 190.0, 10.0
LINE, GAP = 19.0, 12.0
LONGEST_NAME = 26

Point = tuple[Series, float, Interval]
Part = tuple[Series, Mapping[str, float], Mapping[str, Interval]]


def category_plot(result: Result) -> Markup:
    """Draw one band for all questions and one for each category.

    A mark is a mean, a whisker its interval.
    """
    bands = [(name, points) for name, points in _bands(result) if points]
    if not bands:
        return Markup("")
    ends = [end for _, points in bands for _, _, ci in points for end in ci]
    stops = ticks(max(0.0, min(ends)), min(1.0, max(ends)))
    right = WIDTH - 24 - CHARACTER * (max(len(each.row.system) for each in series(result)) + 6)
    bottom = TOP + sum(LINE * len(points) + GAP for _, points in bands)
    scale = Scale(stops[0], stops[-1], LEFT, right)
    shaded, drawn, y = [], [], TOP
    for place, (name, points) in enumerate(bands):
        height = LINE * len(points) + GAP
        shaded += [] if place % 2 else [box(0, y, WIDTH, height, "band", round_=4)]
        drawn.append(_band(name, points, scale, y, height))
        y += height
    grid = across(stops, scale, TOP, bottom, [f"{100 * stop:g}" for stop in stops])
    return figure(
        f"{result.measure} by category",
        _description(bands, result),
        WIDTH,
        bottom + 26,
        *shaded,
        grid,
        *drawn,
    )


def _bands(result: Result) -> Iterator[tuple[str, list[Point]]]:
    """Yield each band's name and points: all questions first."""
    every = series(result)
    yield (
        f"all ({result.questions})",
        _points(result, [(each, each.row.measures, each.row.ci) for each in every]),
    )
    for name in categories_of(result):
        parts = [
            (each, each.row.by_category.get(name, {}), each.row.by_category_ci.get(name, {}))
            for each in every
        ]
        yield (
            f"{name} ({result.categories[name]})" if name in result.categories else name,
            _points(result, parts),
        )


def _points(result: Result, parts: Sequence[Part]) -> list[Point]:
    return [
        (
            each,
            values[result.measure],
            intervals.get(result.measure, Interval(values[result.measure], values[result.measure])),
        )
        for each, values, intervals in parts
        if result.measure in values
    ]


def _band(name: str, points: list[Point], scale: Scale, top: float, height: float) -> Markup:
    """Draw one band: its name on the left, each system on a line of its own."""
    shapes = [label(10, top + height / 2 + 4, name, kind="name", most=LONGEST_NAME)]
    for place, (each, value, ci) in enumerate(points):
        y = top + GAP / 2 + LINE * (place + 0.5)
        shapes.append(whisker(scale(ci.low), y, scale(ci.high), y, each.kind))
        shapes.append(mark(scale(value), y, each.place, each.kind))
        shapes.append(
            label(
                max(scale(ci.high), scale(value)) + 11,
                y + 4,
                f"{each.row.system} {percent(value)}",
                kind=f"value {each.kind}",
            )
        )
    return joined(*shapes)


def _description(bands: list[tuple[str, list[Point]]], result: Result) -> str:
    told = (
        f"{name}: " + ", ".join(f"{each.row.system} {percent(value)}" for each, value, _ in points)
        for name, points in bands
    )
    return f"Percent, with {result.confidence:.0%} intervals. " + "; ".join(told) + "."
