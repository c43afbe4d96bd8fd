"""What a question costs against what it gains, one panel for each cost in which the systems differ."""

from __future__ import annotations

from collections.abc import Mapping

from clew.evaluate.report.markup import Markup, joined
from clew.evaluate.report.model import Result, Timings
from clew.evaluate.report.plots.series import Series, series
from clew.evaluate.report.shown import amount, keys_of, percent, words
from clew.evaluate.report.svg import (
    CHARACTER,
    MARK,
    Scale,
    across,
    figure,
    label,
    line,
    mark,
    ticks,
    up,
    whisker,
)

# half of a number such as 40,000 fits beside RIGHT
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 488.0, 290.0, 46.0, 14.0, 464.0, 240.0
MOST_PANELS = 2  # the rest is in the table
APART = 14.0  # least distance between labels
# the costs people ask for first
FIRST = ("tokens_returned", "latency_ms_p50", "chunks_examined", "embedding_calls")

Costs = Mapping[str, Mapping[str, float]]


def cost_plots(result: Result, timings: Timings | None = None) -> tuple[Markup, ...]:
    """Draw the headline measure against each cost that differs between systems, the most asked-for first."""
    clock = timings.systems if timings else {}
    costs = {
        row.system: {**row.cost, **clock.get(row.system, {})}
        for row in result.rows
        if result.measure in row.measures
    }
    names = [
        name
        for name in keys_of(costs.values())
        if len({cost[name] for cost in costs.values() if name in cost}) > 1
    ]
    names.sort(key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    return tuple(_panel(result, costs, name) for name in names[:MOST_PANELS])


def _panel(result: Result, costs: Costs, name: str) -> Markup:
    shown = [each for each in series(result) if name in costs.get(each.row.system, {})]
    ends = [
        end
        for each in shown
        for end in (each.row.measures[result.measure], *each.row.ci.get(result.measure, ()))
    ]
    spent = {each.row.system: costs[each.row.system][name] for each in shown}
    stops_x, stops_y = (
        ticks(0, max(spent.values()), most=5),
        ticks(max(0.0, min(ends)), min(1.0, max(ends)), most=5),
    )
    x, y = Scale(stops_x[0], stops_x[-1], LEFT, RIGHT), Scale(stops_y[0], stops_y[-1], BOTTOM, TOP)
    shapes = [
        up(stops_y, y, LEFT, RIGHT, [f"{100 * stop:g}" for stop in stops_y]),
        across(stops_x, x, TOP, BOTTOM, [amount(stop) for stop in stops_x]),
        label(
            (LEFT + RIGHT) / 2,
            BOTTOM + 38,
            f"{words(name)} for a question",
            anchor="middle",
            kind="axis",
        ),
        *(_point(each, x(spent[each.row.system]), y, result.measure) for each in shown),
        _labels(
            [
                (each, x(spent[each.row.system]), y(each.row.measures[result.measure]))
                for each in shown
            ]
        ),
    ]
    told = ", ".join(
        f"{each.row.system} {percent(each.row.measures[result.measure])} for {amount(spent[each.row.system])}"
        for each in shown
    )
    return figure(
        f"{result.measure} against {words(name)}",
        f"Percent against mean cost: {told}.",
        WIDTH,
        HEIGHT,
        *shapes,
    )


def _point(each: Series, x: float, y: Scale, measure: str) -> Markup:
    ci = each.row.ci.get(measure)
    interval = whisker(x, y(ci.low), x, y(ci.high), each.kind) if ci else Markup("")
    return joined(interval, mark(x, y(each.row.measures[measure]), each.place, each.kind))


def _labels(points: list[tuple[Series, float, float]]) -> Markup:
    """Name the points beside them, on the side with room, and apart from each other."""
    placed: list[tuple[float, float, float]] = []  # left end, right end, height
    shapes = []
    for each, x, y in sorted(points, key=lambda point: (point[2], point[0].place)):
        width = CHARACTER * len(each.row.system)
        leftward = x + width + 16 > RIGHT
        start = x - MARK - 6 - width if leftward else x + MARK + 6
        height = y
        while any(
            start < right and start + width > left and abs(height - other) < APART
            for left, right, other in placed
        ):
            height += 1
        placed.append((start, start + width, height))
        edge = start + width + 2 if leftward else start - 2
        if height - y > APART / 2:
            shapes.append(line(x, y, edge, height, f"leader {each.kind}"))
        shapes.append(
            label(
                edge - 2 if leftward else edge + 2,
                height + 4,
                each.row.system,
                anchor="end" if leftward else "start",
                kind=f"value {each.kind}",
            )
        )
    return joined(*shapes)
