"""Moments: what people write becomes UTC, and UTC reads back."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InputError
from clew.times import Moment, iso, parse_time


@given(
    st.datetimes(
        min_value=datetime(2, 1, 1),  # noqa: DTZ001
        max_value=datetime(9998, 1, 1),  # noqa: DTZ001
        timezones=st.timezones(),  # noqa: DTZ001, RUF100
    )
)
def test_what_is_written_reads_back_as_the_same_moment(moment: datetime) -> None:
    parsed = parse_time(iso(moment), "at")
    assert parsed == moment.astimezone(UTC)
    assert iso(parsed) == iso(moment)
    assert iso(moment).endswith("Z")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        (" 2026-03-01 ", "2026-03-01T00:00:00Z"),
        ("20260301", "2026-03-01T00:00:00Z"),
        ("2026-03-01 12:30", "2026-03-01T12:30:00Z"),
        ("2026-03-01T12:30:00Z", "2026-03-01T12:30:00Z"),
        ("2026-03-01T12:30:00.25+02:00", "2026-03-01T10:30:00.250000Z"),
        (date(2026, 3, 1), "2026-03-01T00:00:00Z"),
        (datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2026-02-28T23:00:00Z"),
    ],
)
def test_dates_and_times_of_every_iso_form_are_read(value: Moment, expected: str) -> None:
    assert iso(parse_time(value, "at")) == expected


def test_only_a_bare_date_reaches_to_the_end_of_its_day() -> None:
    assert (
        iso(parse_time(date(2026, 3, 1), "until", end_of_day=True)) == "2026-03-01T23:59:59.999999Z"
    )
    assert iso(parse_time("2026-03-01T00:00", "until", end_of_day=True)) == "2026-03-01T00:00:00Z"


@pytest.mark.parametrize(
    "value", ["2026-02-30", "2026-13-01", "soon", "", "2026", 17, None, "9999-12-31T23:00:00-05:00"]
)
def test_what_is_no_moment_is_refused_by_field(value: Moment) -> None:
    with pytest.raises(InputError) as caught:
        parse_time(value, "since")
    assert caught.value.field == "since"
