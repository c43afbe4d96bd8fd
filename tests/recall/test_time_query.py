"""Nothing but a time is asked about, or an event dates it.

By time within the period, and plainly where no date was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import clew
from clew.search.score import total
from clew.testing import FixedClock
from clew.text.dates.when import when

LIFE = {
    "2025-12-01": "The landlord raised the rent by a tenth",
    "2026-01-15": "We moved to Lisbon with two cats",
    "2026-02-01": "The landlord fixed the roof of the shed",
    "2026-02-17": "Dana broke a blue cup",
    "2026-02-20": "Dana bought a green cup",
    "2026-02-24": "The tide was high at noon",
}


@pytest.fixture(params=["none", "hashing"])
def memory(request: pytest.FixtureRequest) -> Iterator[clew.Clew]:
    # on 1 March 2026, a Sunday
    with clew.open(":memory:", model={"embedder": request.param}, clock=FixedClock()) as memory:
        for date, text in LIFE.items():
            memory.remember(text, valid_from=date, near=False)
        yield memory


def texts(memory: clew.Clew, question: str, **options: object) -> list[str]:
    return [hit.text for hit in memory.recall(question, track=False, **options).hits]  # type: ignore[arg-type]


LAST_WEEK = ["Dana bought a green cup", "Dana broke a blue cup"]


@pytest.mark.parametrize(
    "question",
    [
        "What happened last week?",
        "last week",
        "Anything new from last week?",
        "what did we note last week",
    ],
)
def test_a_question_about_nothing_but_a_time_is_answered_by_time(
    memory: clew.Clew, question: str
) -> None:
    answer = memory.recall(question, track=False)
    assert [hit.text for hit in answer.hits] == LAST_WEEK
    assert not answer.nothing_relevant
    for hit in answer.hits:
        assert hit.score == total(hit.components)
        assert hit.components["semantic"].value == sum(
            place.contribution for place in hit.channels.values()
        )
        assert hit.explanation.startswith("Found by the time asked about")


def test_it_holds_to_the_rest_of_the_filter(memory: clew.Clew) -> None:
    memory.remember(
        "The tide was low at noon", valid_from="2026-02-18", category="fact", near=False
    )
    assert texts(memory, "What happened last week?", where={"category": "fact"}) == [
        "The tide was low at noon"
    ]
    assert texts(memory, "What happened last week?", where={"until": "2026-02-17"}) == [
        "Dana broke a blue cup"
    ]
    assert texts(memory, "What happened last week?", k=1) == LAST_WEEK[:1]


def test_of_a_time_of_which_nothing_is_known_the_best_is_returned_with_a_note(
    memory: clew.Clew,
) -> None:
    note = "No memory is dated in the time asked about, “yesterday” (2026-02-28): the hits are the best by relevance alone."
    memory.remember(
        "Whatever happened to the blue cup nobody told", valid_from="2025-11-01", near=False
    )
    answer = memory.recall("What happened yesterday?", track=False)
    assert "happened" in answer.hits[0].text
    assert not any(rejected.stage == "period" for rejected in answer.rejected)
    assert note in answer.notes
    assert note in answer.stats["notes"]


PARTY = "The launch party that is planned happens in the harbour hall on Friday 6 March 2026"


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("What is planned for next Friday?", "“for next Friday” (2026-03-06)"),
        ("What happens next week?", "(from 2026-03-02 to 2026-03-08)"),
    ],
)
def test_a_text_that_names_a_day_of_the_time_asked_about_answers_it(
    memory: clew.Clew, question: str, read: str
) -> None:
    memory.remember(PARTY, near=False)
    memory.remember("Planned maintenance happens on Friday 13 February 2026", near=False)
    answer = memory.recall(question, track=False)
    assert [hit.text for hit in answer.hits] == [PARTY]
    assert any(read in note for note in answer.notes)


def test_a_text_that_writes_the_time_stays_behind_what_is_of_it(memory: clew.Clew) -> None:
    founded = "The harbour company was founded in 1999"
    memory.remember(founded, near=False)
    assert texts(memory, "What happened in 1999?") == [founded]
    memory.remember("A barge sank at berth four", valid_from="1999-05-01", near=False)
    assert texts(memory, "What happened in 1999?") == ["A barge sank at berth four", founded]


def test_the_latest_of_nothing_in_particular_is_the_latest_of_all(memory: clew.Clew) -> None:
    assert texts(memory, "What's the latest?")[:2] == [
        "The tide was high at noon",
        "Dana bought a green cup",
    ]


def test_a_question_with_a_topic_is_ranked_by_relevance_and_period(memory: clew.Clew) -> None:
    answer = memory.recall("Which blue cup did Dana have last week?", track=False)
    assert answer.hits[0].text == "Dana broke a blue cup"
    assert not any("period" in hit.channels for hit in answer.hits)


def test_it_can_be_turned_off_with_the_weight_of_periods(memory: clew.Clew) -> None:
    with memory.variant(recall={"times": False}) as off:
        assert not any(
            "period" in hit.channels
            for hit in off.recall("What happened last week?", track=False).hits
        )
    assert not any(
        "period" in hit.channels
        for hit in memory.recall("What happened last week?", recipe="lexical").hits
    )


def test_why_not_says_that_it_is_of_another_time(memory: clew.Clew) -> None:
    memory.remember(
        "What happened in the harbour was noted in a log", valid_from="2025-01-01", near=False
    )
    (log,) = [node.id for node in memory.recent() if "log" in node.text]
    found = memory.why_not("What happened last week?", log)
    assert (found.stage, found.reason) == ("period", "period")
    assert (
        found.sentence == "The question asks about nothing but a time, and it is not of that time."
    )


# --- a topic and a time ---

YEAR = {
    "2026-06-03": "We decided to move the nightly backup to the new array.",
    "2026-06-17": "We decided that invoices are sent on the first of the month.",
    "2026-09-02": "We decided to keep the old name of the client portal.",
    "2026-10-01": "The boiler service is booked for December 2026, as it was in June 2026.",
}


@pytest.fixture
def year() -> Iterator[clew.Clew]:
    clock = FixedClock(datetime(2026, 10, 20, tzinfo=UTC))
    with clew.open(":memory:", model={"embedder": "none"}, clock=clock) as memory:
        for date, text in YEAR.items():
            memory.remember(text, valid_from=date, near=False)
        yield memory


@pytest.mark.parametrize(
    "question",
    [
        "What did we decide in June 2026?",
        "What was decided in June 2026?",
        "Which things did we decide during June 2026?",
    ],
)
def test_words_that_were_read_as_a_time_find_nothing_by_themselves(
    year: clew.Clew, question: str
) -> None:
    answer = year.recall(question, track=False)
    assert [str(hit.node.t_valid.date()) for hit in answer.hits if hit.node][:2] == [
        "2026-06-03",
        "2026-06-17",
    ]
    assert not any("boiler" in hit.text for hit in answer.hits)
    assert "june" not in answer.terms


def test_the_words_of_a_time_stay_where_no_memory_is_of_it(year: clew.Clew) -> None:
    year.remember(
        "The portal contract was signed in March 2019.", valid_from="2026-10-02", near=False
    )
    answer = year.recall("Which contract was signed in March 2019?", track=False)
    assert {"march", "2019"} <= set(answer.terms)
    assert "contract" in answer.hits[0].text


def test_a_time_is_searched_by_its_words_where_periods_are_turned_off(year: clew.Clew) -> None:
    with year.variant(recall={"times": False}) as off:
        assert "june" in off.recall("What did we decide in June 2026?", track=False).terms


# --- events ---


@pytest.mark.parametrize(
    ("question", "first", "start", "end"),
    [
        ("What did the landlord do before we moved?", "raised", None, "2026-01-14"),
        ("What did the landlord do after we moved to Lisbon?", "fixed", "2026-01-15", None),
        ("What has the landlord done since the move to Lisbon?", "fixed", "2026-01-15", None),
    ],
)
def test_an_event_is_dated_by_the_memory_that_tells_of_it(
    memory: clew.Clew, question: str, first: str, start: str | None, end: str | None
) -> None:
    answer = memory.recall(question, track=False)
    (span,) = answer.trace["time"]["spans"]
    moved = next(node.id for node in memory.recent() if "moved" in node.text)
    assert span["rule"] == f"event {moved}"
    assert [
        None if each is None else str(datetime.fromisoformat(each).date())
        for each in (span["start"], span["end"])
    ] == [start, end]
    about = [hit for hit in answer.hits if "landlord" in hit.text]
    assert first in about[0].text
    assert [hit.components["period"].value for hit in about] == [1.0, 0.0]
    assert not any("resolved" in note for note in answer.notes)


def test_an_event_that_its_memory_dates_in_words_happened_then(memory: clew.Clew) -> None:
    memory.remember("The boat was sold on 5 January 2026", near=False)
    (span,) = memory.recall(
        "What did the landlord do before the boat was sold?", track=False
    ).trace["time"]["spans"]
    assert span["end"].startswith("2026-01-04")


@pytest.mark.parametrize(
    "question",
    [
        "Who called before we sold the boat?",
        "What did Dana do before a cup?",
        "Who called after it?",
    ],
)
def test_an_event_that_nobody_tells_of_or_several_do_is_said_to_be_open(
    memory: clew.Clew, question: str
) -> None:
    answer = memory.recall(question, track=False)
    (event,) = when(question, now=memory.now()).unresolved
    assert answer.trace["time"]["unresolved"] == [event]
    assert f"The time “{event}” could not be resolved and was searched as words." in answer.notes
    assert (
        f"The time “{event}” could not be resolved and was searched as words."
        in answer.stats["notes"]
    )


def test_no_event_is_dated_by_a_memory_of_another_space(memory: clew.Clew) -> None:
    memory.remember("The boat was sold to a stranger", space="secret", near=False)
    assert (
        memory.recall("Who called before we sold the boat?", track=False).trace["time"]["spans"]
        == []
    )


NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("question", "placed"),
    [
        ("Who called before the meeting?", (None, NOON - TICK)),
        ("Who called after the meeting?", (NOON + TICK, None)),
        ("Who called since the meeting?", (NOON, None)),
        ("Who called until the meeting?", (None, NOON)),
        ("Who called during the meeting?", (NOON - DAY / 2, NOON + DAY / 2 - TICK)),
    ],
)
def test_an_event_places_a_question_once_its_moment_is_known(
    question: str, placed: tuple[datetime | None, datetime | None]
) -> None:
    (event,) = when(question, now=NOON).events
    assert question[event.first : event.last] == event.text
    assert event.clause == "the meeting"
    assert event.placed(NOON, NOON) == placed


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("What happened last week?", True),
        ("in March 2024", True),
        ("What is new since Monday?", True),
        ("What's planned for tomorrow?", True),
        ("What happened to the crane last week?", False),
        ("What did we decide in March?", False),
        ("What happened?", False),
        ("When did it happen?", False),
        ("What happened first?", False),
        ("What happened last week before we moved?", False),
    ],
)
def test_a_question_is_about_a_time_alone_or_about_more(question: str, alone: bool) -> None:
    assert when(question, now=NOON).alone is alone


@pytest.mark.parametrize(
    "question", ["Who looks after our message queue?", "Which ship was named after the queen?"]
)
def test_to_look_after_something_is_no_time(question: str) -> None:
    found = when(question, now=NOON)
    assert (found.events, found.unresolved) == ((), ())
