"""What each stage is worth: the change when it is removed or altered."""

from __future__ import annotations

from collections.abc import Sequence

from clew.evaluate.report.markup import Markup, joined
from clew.evaluate.report.model import Ablation, Result
from clew.evaluate.report.shown import SIGNIFICANT, p_value, points
from clew.evaluate.report.svg import Scale, across, box, figure, label, line, ticks, whisker

WIDTH, LEFT, RIGHT, TOP, LINE = 1000.0, 230.0, 800.0, 10.0, 30.0
BAR = 14.0
LONGEST_NAME = 32


def ablation_plot(result: Result) -> Markup:
    """Draw a bar for each variant, the most harmful first.

    One that changed no ranking is written out as an error.
    """
    shown = [each for each in result.ablations if each.measure == result.measure] or list(
        result.ablations
    )
    if not shown:
        return Markup("")
    shown.sort(key=lambda each: (not each.changed, each.delta or 0.0, each.variant))
    ends = [
        0.0,
        *(
            end
            for each in shown
            if each.delta is not None
            for end in (each.delta, *(each.ci or ()))
        ),
    ]
    stops = ticks(min(ends), max(ends))
    scale = Scale(stops[0], stops[-1], LEFT, RIGHT)
    bottom = TOP + LINE * len(shown)
    shapes = [
        across(
            stops,
            scale,
            TOP,
            bottom,
            [f"{100 * stop:+g}".replace("-", "−") if stop else "0" for stop in stops],
        ),
        *(_variant(each, scale, TOP + LINE * place) for place, each in enumerate(shown)),
        line(scale(0), TOP, scale(0), bottom, "zero"),
    ]
    return figure(
        f"{result.measure}, change by variant", _description(shown), WIDTH, bottom + 26, *shapes
    )


def _variant(each: Ablation, scale: Scale, top: float) -> Markup:
    """Draw one variant: name, bar, interval, and its number with p."""
    middle = top + LINE / 2
    name = label(LEFT - 12, middle + 4, each.variant, anchor="end", kind="name", most=LONGEST_NAME)
    if each.delta is None or not each.changed:
        return joined(
            name,
            label(
                scale(0) + 8,
                middle + 4,
                f"error: {each.error or 'changed no ranking'}",
                kind="error",
                most=70,
            ),
        )
    p = each.p_holm if each.p_holm is not None else each.p
    kind = ("loss" if each.delta < 0 else "gain") + (
        "" if p is not None and p < SIGNIFICANT else " faint"
    )
    return joined(
        name,
        box(scale(0), middle - BAR / 2, scale(each.delta) - scale(0), BAR, kind),
        whisker(scale(each.ci.low), middle, scale(each.ci.high), middle, "ink")
        if each.ci
        else Markup(""),
        label(RIGHT + 70, middle + 4, points(each.delta), anchor="end", kind="value strong"),
        label(RIGHT + 90, middle + 4, f"p {_p(p)}", kind="count"),
    )


def _p(p: float | None) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"


def _description(shown: Sequence[Ablation]) -> str:
    told = (
        f"{each.variant} {points(each.delta) if each.changed else 'error, changed no ranking'}"
        for each in shown
    )
    return "Change in points when one stage or setting is altered: " + "; ".join(told) + "."
