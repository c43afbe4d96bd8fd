"""Time in questions, for any text.

It never fails, its offsets hold, and it takes no longer than the text is long.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.text.dates.grammar import HEADS, LEADS
from clew.text.dates.reading import EVENT_HEADS, MARKS, asks_for_time, find_pieces
from clew.text.dates.relative import easter, nth_weekday
from clew.text.dates.values import Clock, When
from clew.text.dates.when import may_name_a_time, when
from tests.growth import check_linear

NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)
WORDS = sorted(HEADS | set(LEADS) | set(MARKS) | set(EVENT_HEADS)) + (
    "week weeks month years ago 5 12 31st 1999 2024 30/02/2024 03/01/2024 2024-13-45 90s Q3 9999 0 than we moved Ann half of eve "
    "night day, weekend now. quarter İ ſ laſt ٣ 0000 '80s s ’ - – , ( \u00a0"
).split(" ")
phrases = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
texts = st.one_of(
    st.text(max_size=80), phrases, st.tuples(phrases, st.text(max_size=10), phrases).map("".join)
)
clocks = st.datetimes(
    min_value=datetime(1, 1, 1),  # noqa: DTZ001
    max_value=datetime(9999, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@given(texts, clocks)
@example("the laſt week, the lıst week", NOW)
@example("9999 years ago", datetime.max.replace(tzinfo=UTC))
@example("last week until now", datetime.min.replace(tzinfo=UTC))
def test_any_text_under_any_clock_gets_an_answer_in_order(text: str, now: datetime) -> None:
    for span in when(text, now=now).spans:
        assert span.start is not None or span.end is not None
        assert span.start is None or span.end is None or span.start <= span.end
        assert all(end is None or end.tzinfo is UTC for end in (span.start, span.end))


@given(texts)
def test_offsets_point_at_the_words_and_do_not_overlap(text: str) -> None:
    found = when(text, now=NOW)
    assert all(text[span.first : span.last] == span.text for span in found.spans)
    edges = [offset for cut in found.cuts for offset in cut]
    assert edges == sorted(edges)
    assert all(
        any(first <= span.first and span.last <= last for first, last in found.cuts)
        for span in found.spans
    )


def put_back(found: When, text: str) -> str:
    """Return the text's signs from the rest, with each cut put in again where it was."""
    rest, built = "".join(found.rest.split()), ""
    for first, last in found.cuts:
        missing = len("".join(text[:first].split())) - len(built)
        built, rest = built + rest[:missing] + "".join(text[first:last].split()), rest[missing:]
    return built + rest


@given(texts)
def test_rest_and_cuts_together_are_the_text(text: str) -> None:
    assert put_back(when(text, now=NOW), text) == "".join(text.split())


@given(texts)
def test_the_same_question_gets_the_same_answer(text: str) -> None:
    assert when(text, now=NOW) == when(text, now=NOW)


@given(texts)
def test_the_gate_turns_nothing_away_that_names_a_time(text: str) -> None:
    if not may_name_a_time(text):
        assert list(find_pieces(text, Clock(NOW))) == []
        assert not asks_for_time(text)


@given(st.integers(0, 60), st.sampled_from(["day", "hour", "minute"]))
def test_so_many_units_ago_hold_the_moment_itself(count: int, unit: str) -> None:
    (span,) = when(f"What was {count} {unit}s ago?", now=NOW).spans
    moment = NOW - count * timedelta(**{f"{unit}s": 1})
    assert span.start is not None
    assert span.end is not None
    assert span.start <= moment <= span.end


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_a_day_means_itself_in_every_way_of_writing_it(of: date) -> None:
    ways = (
        f"{of:%Y-%m-%d}",
        f"{of.day} {of:%B %Y}",
        f"{of:%B} {of.day}, {of.year}",
        f"the {of.day}th of {of:%b} {of.year}",
        f"{of:%d.%m.%Y}",
    )
    for way in ways:
        (span,) = when(f"What was on {way}?", now=NOW).spans
        assert span.start == datetime(of.year, of.month, of.day, tzinfo=UTC)
        assert span.end == datetime(of.year, of.month, of.day, 23, 59, 59, 999999, tzinfo=UTC)


@given(clocks.filter(lambda now: 2 < now.year < 9998), st.sampled_from(["week", "month", "year"]))
def test_last_this_and_next_adjoin_and_this_holds_now(now: datetime, unit: str) -> None:
    last, this, following = (
        when(f"{which} {unit}", now=now).spans[0] for which in ("last", "this", "next")
    )
    tick = timedelta(microseconds=1)
    assert last.end is not None
    assert this.end is not None
    assert (last.end + tick, this.end + tick) == (this.start, following.start)
    assert this.start is not None
    assert this.start <= now <= this.end


@pytest.mark.parametrize(
    "known",
    [
        "2000-04-23",
        "2008-03-23",
        "2011-04-24",
        "2019-04-21",
        "2024-03-31",
        "2025-04-20",
        "2038-04-25",
    ],
)
def test_easter_is_when_it_was_kept(known: str) -> None:
    assert easter(int(known[:4])) == date.fromisoformat(known)


@given(st.integers(1583, 4099))
def test_easter_is_a_sunday_between_its_bounds(year: int) -> None:
    assert easter(year).weekday() == 6
    assert date(year, 3, 22) <= easter(year) <= date(year, 4, 25)


@given(st.integers(1900, 2100), st.integers(1, 12), st.integers(0, 6), st.integers(1, 4))
def test_the_nth_weekday_is_that_weekday_in_its_week_of_the_month(
    year: int, month: int, number: int, count: int
) -> None:
    found = nth_weekday(year, month, number, count)
    assert (found.month, found.weekday(), (found.day - 1) // 7 + 1) == (month, number, count)


HOSTILE = (
    "may 3 ",
    "last ",
    "the ",
    "a ",
    "1",
    "2024-",
    "between March and ",
    "early mid late ",
    "the end of ",
    "before we ",
    "a few days before ",
    " ",
    "\u00a0in",
    "İ",
    "''",
    "before I ,",
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_text_eight_times_as_long_does_not_take_the_square_of_that(unit: str) -> None:
    check_linear(lambda size: when(f"when {unit * (size // len(unit))}", now=NOW), 4_000)
