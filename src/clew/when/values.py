"""What is known about the time in a question: frozen values, all in UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

from clew.times import iso
from clew.when.topic import names_a_topic

Relation: TypeAlias = Literal["in", "before", "after", "since", "until"]
"""How a span lies to the time that was named."""

TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time that a question names; both ends are included, None is open.

    `text` is the question from offset `first` up to `last`; `rule` is what read it. The relation is worked into the
    ends already: "before 2019" ends with 2018.
    """

    start: datetime | None
    end: datetime | None
    text: str
    first: int
    last: int
    rule: str
    relation: Relation = "in"


@dataclass(frozen=True, slots=True)
class Event:
    """Words that place a question by something that happened, such as "before we moved"; `clause` is what happened."""

    text: str
    clause: str
    first: int
    last: int
    relation: Relation

    def placed(self, start: datetime, end: datetime) -> tuple[datetime | None, datetime | None]:
        """Return first and last moment of what is meant, once it is known when the event began and ended.

        >>> moved = datetime(2024, 5, 1)
        >>> Event("before we moved", "we moved", 0, 15, "before").placed(moved, moved)
        (None, datetime.datetime(2024, 4, 30, 23, 59, 59, 999999))
        """
        if self.relation == "before":
            return None, start - TICK
        if self.relation == "after":
            return end + TICK, None
        if self.relation == "in" and start == end:  # what lasted is known by its day at least
            start = start.replace(hour=0, minute=0, second=0, microsecond=0)
            end = start + timedelta(days=1) - TICK
        return (None if self.relation == "until" else start), (None if self.relation == "since" else end)


@dataclass(frozen=True, slots=True)
class When:
    """The time in a question: spans any of which may hold, what is asked first or last, and what stayed open.

    `relation` is that of the first time named. `asks` means that the question wants a time as its answer, which
    constrains nothing. `cuts` are the offsets that `rest` goes without.
    """

    rest: str
    spans: tuple[TimeSpan, ...] = ()
    latest: bool = False
    earliest: bool = False
    relation: Relation | None = None
    unresolved: tuple[str, ...] = ()
    asks: bool = False
    cuts: tuple[tuple[int, int], ...] = ()
    events: tuple[Event, ...] = ()
    """Of what stayed open, that which a memory may date."""
    current: bool = False
    """Whether the latest is asked for as what holds now ("currently"), not as what happened last."""
    ahead: bool = False
    """Whether the question is about what will be."""

    @property
    def alone(self) -> bool:
        """Whether the question asks about nothing but a time, such as "what happened last week?"."""
        return bool(self.spans or self.latest) and not self.earliest and not self.unresolved and not names_a_topic(self.rest)

    def beyond(self, now: datetime) -> bool:
        """Tell whether the question is about what will be, or names a time that goes on after now."""
        return self.ahead or any(span.end is not None and span.end > now for span in self.spans)

    def as_dict(self) -> dict[str, Any]:
        """Return what a trace shows: the spans with how each was read, and what stayed open."""
        return {
            "spans": [
                {
                    "text": span.text,
                    "start": None if span.start is None else iso(span.start),
                    "end": None if span.end is None else iso(span.end),
                    "relation": span.relation,
                    "rule": span.rule,
                }
                for span in self.spans
            ],
            "latest": self.latest,
            "earliest": self.earliest,
            "unresolved": list(self.unresolved),
        }


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time while it is reckoned with: from `start` up to, not including, `end`."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """What loose words are resolved against."""

    now: datetime
    ahead: bool = False  # the question is about what will be
    day_first: bool | None = None  # how 03/01/2024 is read; None does not guess
    week_start: int = 0  # 0 is Monday, 6 Sunday


class UnclearError(Exception):
    """A time was named that has no one reading; the message says why."""
