"""Time in questions: what each way of naming it means, against a clock that stands still."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import clew
from clew.errors import InputError
from clew.text.dates.values import When
from clew.text.dates.when import when

FIXTURES = Path(__file__).parent / "fixtures" / "when"
CLOCKS = {
    "A": datetime(2026, 3, 11, 15, 30, tzinfo=UTC),  # a Wednesday
    "B": datetime(2024, 2, 29, 12, 0, tzinfo=UTC),  # a leap day, Thursday
    "C": datetime(2025, 12, 31, 23, 30, tzinfo=UTC),  # the last half hour of a year, Wednesday
    "D": datetime(2026, 3, 15, 9, 0, tzinfo=UTC),  # a Sunday
    "E": datetime(2026, 3, 16, 8, 0, tzinfo=UTC),  # a Monday
    "F": datetime(2026, 1, 1, 0, 0, tzinfo=UTC),  # the first moment of a year, Thursday
}
NOW = CLOCKS["A"]
with (FIXTURES / "examples.tsv").open(encoding="utf-8", newline="") as file:
    EXAMPLES = [tuple(row) for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
WITHOUT_TIME = (FIXTURES / "without_time.txt").read_text(encoding="utf-8").splitlines()


def written(moment: datetime | None, *, opens: bool) -> str:
    """Return a moment as short as the table writes it.

    An end that fills its day or minute goes without it.
    """
    if moment is None:
        return ""
    whole = moment if opens else moment + timedelta(microseconds=1)
    if whole == whole.replace(hour=0, minute=0, second=0, microsecond=0) and (
        opens or moment != NOW
    ):
        return f"{moment:%Y-%m-%d}"
    if moment.second in (0, 59) and (opens or moment.second == 59 or moment.microsecond == 0):
        return f"{moment:%Y-%m-%dT%H:%M}"
    return f"{moment:%Y-%m-%dT%H:%M:%S}"


def summary(found: When) -> str:
    spans = [
        f"{written(span.start, opens=True)}..{written(span.end, opens=False)}"
        for span in found.spans
    ]
    wishes = [
        name for name, wished in (("latest", found.latest), ("earliest", found.earliest)) if wished
    ]
    return " + ".join([*spans, *(f"? {words}" for words in found.unresolved), *wishes])


@pytest.mark.parametrize(
    ("clock", "question", "expected", "relation"),
    EXAMPLES,
    ids=[f"{row[0]}: {row[1]}" for row in EXAMPLES],
)
def test_a_question_names_this_time(
    clock: str, question: str, expected: str, relation: str
) -> None:
    found = when(question, now=CLOCKS[clock])
    assert (summary(found), found.relation or "") == (expected, relation)


@pytest.mark.parametrize("question", WITHOUT_TIME)
def test_an_ordinary_question_names_no_time(question: str) -> None:
    found = when(question, now=NOW)
    assert (found.spans, found.latest, found.earliest, found.unresolved, found.rest) == (
        (),
        False,
        False,
        (),
        question,
    )


def test_the_tables_are_as_long_as_they_were_meant_to_be() -> None:
    assert len(EXAMPLES) >= 150
    assert len(WITHOUT_TIME) >= 60


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What did we decide last week?", "What did we decide?"),
        ("In March 2024, what did we decide?", "what did we decide?"),
        ("What did we decide in March 2024 about Postgres?", "What did we decide about Postgres?"),
        ("What is the latest plan?", "What is the plan?"),
        ("When was the last time we met?", "When was the time we met?"),
        ("Which hostel did you name last time?", "Which hostel did you name?"),
        ("Which cake did I bake recently in May 2022?", "Which cake did I bake?"),
        ("What did we own before we moved?", "What did we own before we moved?"),
        ("What happened on 03/01/2024?", "What happened on 03/01/2024?"),
        ("yesterday", ""),
    ],
)
def test_the_rest_goes_without_the_words_that_were_understood(question: str, rest: str) -> None:
    assert when(question, now=NOW).rest == rest


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("When did we move?", True),
        ("What year did we move?", True),
        ("How long ago did we move?", True),
        ("How many weeks ago did we move?", True),
        ("What broke when we moved?", False),
        ("What did we do last year?", False),
    ],
)
def test_a_question_for_a_time_is_known_as_one(question: str, asks: bool) -> None:
    assert when(question, now=NOW).asks is asks


def test_a_question_for_a_time_keeps_the_time_that_it_names() -> None:
    found = when("When did we go to Paris last year?", now=NOW)
    assert (found.asks, summary(found)) == (True, "2025-01-01..2025-12-31")


def test_a_span_says_where_it_stands_and_which_rule_read_it() -> None:
    question = "What happened in Q3 2022?"
    (span,) = when(question, now=NOW).spans
    assert (question[span.first : span.last], span.text, span.rule) == (
        "in Q3 2022",
        "in Q3 2022",
        "quarter",
    )


@pytest.mark.parametrize(
    ("day_first", "expected"), [(True, "2024-01-03..2024-01-03"), (False, "2024-03-01..2024-03-01")]
)
def test_the_caller_may_say_how_a_slash_date_is_read(day_first: bool, expected: str) -> None:
    assert summary(when("What happened on 03/01/2024?", now=NOW, day_first=day_first)) == expected


def test_a_slash_date_that_is_possible_one_way_only_is_read_that_way() -> None:
    assert (
        summary(when("What happened on 01/13/2024?", now=NOW, day_first=True))
        == "2024-01-13..2024-01-13"
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happened this week?", "2026-03-15..2026-03-21"),
        ("What happened last week?", "2026-03-08..2026-03-14"),
        ("What happened last weekend?", "2026-03-07..2026-03-08"),
        ("Who came Sunday of last week?", "2026-03-08..2026-03-08"),
    ],
)
def test_weeks_may_start_on_sunday_and_weekends_stay(question: str, expected: str) -> None:
    assert summary(when(question, now=CLOCKS["D"], week_starts="sunday")) == expected


def test_a_clock_of_another_zone_is_turned_into_utc() -> None:
    late_in_tokyo = datetime(2026, 3, 12, 1, 0, tzinfo=timezone(timedelta(hours=9)))
    assert summary(when("What happened today?", now=late_in_tokyo)) == "2026-03-11..2026-03-11"


def test_a_clock_without_a_zone_is_utc() -> None:
    assert when("What happened last week?", now=NOW.replace(tzinfo=None)) == when(
        "What happened last week?", now=NOW
    )


def test_a_text_is_left_alone_where_no_language_is_read() -> None:
    assert when("What happened last week?", now=NOW, languages=()) == When(
        rest="What happened last week?"
    )


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="Use en"):
        when("Was geschah gestern?", now=NOW, languages=("de",))


def test_an_unknown_start_of_the_week_is_refused() -> None:
    with pytest.raises(InputError, match="monday or sunday"):
        when("What happened last week?", now=NOW, week_starts="friday")


@pytest.mark.parametrize(
    "question",
    [
        "What happened 9999 years ago?",
        "What comes 9999 years from now?",
        "Who ruled before 9999 decades ago?",
    ],
)
def test_a_time_beyond_the_calendar_stays_unresolved(question: str) -> None:
    found = when(question, now=NOW)
    assert not found.spans
    assert found.unresolved[0].endswith("(not in the calendar)")


def test_a_recall_shows_in_its_trace_how_its_clock_reads_the_question() -> None:
    now = datetime(2026, 5, 20, 12, tzinfo=UTC)
    with clew.open(":memory:", model={"embedder": "none"}, clock=lambda: now) as memory:
        memory.remember("The billing service moved to PostgreSQL.")
        time = memory.recall("What happened to billing in March 2024?").trace["time"]
    assert [(span["text"], span["start"], span["end"]) for span in time["spans"]] == [
        ("in March 2024", "2024-03-01T00:00:00Z", "2024-03-31T23:59:59.999999Z")
    ]
