"""Numbers as people read them.

Percent with one digit, signs that are signs, p values that do not claim too much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clew.evaluate.measures.names import in_order
from clew.evaluate.report.model import BASELINE, Result, Row
from clew.evaluate.significance import Interval

MINUS = "\u2212"
NOTHING = "–"
SIGNIFICANT = 0.05
LEAD = "clew"  # the default recipe's row
FEW = 100


def percent(value: float | None) -> str:
    """Return a measure in percent.

    >>> percent(0.57949), percent(None)
    ('57.9', '–')
    """
    return NOTHING if value is None else f"{100 * value:.1f}".replace("-", MINUS)


def points(value: float | None) -> str:
    """Return a difference in points of percent, with its sign.

    A difference too small to show has none.

    >>> points(0.16), points(-0.0321), points(0.0)
    ('+16.0', '−3.2', '0.0')
    """
    if value is None:
        return NOTHING
    text = f"{100 * value:+.1f}"
    return text[1:] if text in {"+0.0", "-0.0"} else text.replace("-", MINUS)


def interval(ci: Interval | None, *, signed: bool = False) -> str:
    """Return an interval as text, empty where there is none."""
    one = points if signed else percent
    return (
        ""
        if ci is None
        else f"{one(ci.low)} to {one(ci.high)}"
        if signed
        else f"{one(ci.low)}–{one(ci.high)}"
    )


def p_value(p: float | None) -> str:
    """Return a p value with three digits.

    >>> p_value(0.0001), p_value(0.0312)
    ('< 0.001', '0.031')
    """
    return NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def amount(value: float | None) -> str:
    """Return a cost: whole where it is whole or large, else with one digit.

    >>> amount(15.0), amount(12.345), amount(123456.7)
    ('15', '12.3', '123,457')
    """
    if value is None:
        return NOTHING
    whole = value == int(value) or abs(value) >= FEW
    return (f"{value:,.0f}" if whole else f"{value:.1f}").replace("-", MINUS)


def times(ratio: float | None) -> str:
    """Return a ratio.

    >>> times(1.5), times(None)
    ('1.50×', '–')
    """
    return NOTHING if ratio is None else f"{ratio:.2f}×"


def words(name: str) -> str:
    """Return a field's name as words.

    >>> words("tokens_returned")
    'tokens returned'
    """
    return name.replace("_", " ")


def measures_of(result: Result) -> list[str]:
    """Return the measures of a table, the headline first, then in the usual order."""
    names = in_order(name for row in result.rows for name in row.measures)
    return sorted(names, key=lambda name: name != result.measure)


def categories_of(result: Result) -> list[str]:
    """Return the categories that any row has, by name."""
    return sorted({category for row in result.rows for category in row.by_category})


def keys_of(parts: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the keys of several mappings, by name, each once."""
    return sorted({key for part in parts for key in part})


def baseline_of(result: Result) -> Row | None:
    """Return the BM25 row, or None where a comparison of policies has none."""
    return next((row for row in result.rows if row.system == BASELINE), None)


def lead_of(result: Result) -> Row | None:
    """Return the row that a report is about: Clew's, or the best where Clew took no part."""
    rows = [row for row in result.rows if result.measure in row.measures]
    named = next((row for row in rows if row.system == LEAD), None)
    return named or max(rows, key=lambda row: row.measures[result.measure], default=None)
