"""Ids: unique, sortable, in the order they were made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from clew import ids
from clew.ids import ALPHABET, LENGTH, new_id

# ahead of every other test's clock: the order is the process's
FUTURE = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _a_process_that_has_made_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids only grow within a process, and another test may have lived in the future."""
    monkeypatch.setattr(ids, "_last", 0)


def test_an_id_has_26_characters_of_crockfords_alphabet() -> None:
    made = new_id(FUTURE)
    assert len(made) == LENGTH == 26
    assert set(made) <= set(ALPHABET)


def test_ids_sort_in_the_order_they_were_made_also_when_the_clock_stands_or_goes_back() -> None:
    clock = [
        FUTURE + timedelta(milliseconds=step) for step in (0, 0, 0, 5, 5, -1000, -1000, 6, -(10**9))
    ]
    made = [new_id(now) for now in clock * 50]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_a_later_moment_makes_a_greater_id_by_its_first_ten_characters() -> None:
    later = FUTURE + timedelta(days=1)
    assert new_id(FUTURE + timedelta(hours=1))[:10] < new_id(later)[:10]


def test_threads_never_get_the_same_id() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_id(FUTURE), range(4000)))
    assert len(set(made)) == 4000


def test_a_time_before_1970_still_makes_an_id() -> None:
    assert len(new_id(datetime(1900, 1, 1, tzinfo=UTC))) == LENGTH
