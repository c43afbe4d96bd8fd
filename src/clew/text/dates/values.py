"""Values for the time in a query, all in UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

from clew.text.words import STOP_WORDS, fold, words
from clew.times import iso

# Words that do not tell one memory from another.
_GENERIC_WORDS = frozenset(
    """
    happen happens happened happening occur occurs occurred occurring went go going goes gone take
    took taken place done made make new news event events memory memories note notes noted entry
    entries thing things stuff item items everything anything something know known knew learn
    learned learnt remember remembered record recorded store stored save saved add added write wrote
    written say said show list give find get recap summary summarise summarize summarised summarized
    update updates updated change changed plan plans planned schedule scheduled due come comes
    coming came overview whats hows week weeks day days month months year years time today
    interesting important worth else ever
    talk talks talked talking chat chats chatted discuss discusses discussed discussing conversation
    conversations
    """.split()
)


def names_a_topic(rest: str) -> bool:
    """Tell whether a question, without its times, still says what it is about.

    >>> names_a_topic("What happened?"), names_a_topic("What did we decide?"), names_a_topic("?")
    (False, True, False)
    """
    return any(
        word not in STOP_WORDS and word not in _GENERIC_WORDS
        for word in (fold(each) for each in words(rest))
    )


Relation: TypeAlias = Literal["in", "before", "after", "since", "until"]
"""How a span lies to the time that was named."""

RESOLUTION = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time that a question names; both ends are included, None is open.

    `text` is the question from offset `first` up to `last`; `rule` is what read it. The relation is
    worked into the ends already: "before 2019" ends with 2018.
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
    """Words that place a question by something that happened, such as "before we moved".

    `clause` is what happened.
    """

    text: str
    clause: str
    first: int
    last: int
    relation: Relation

    def placed(self, start: datetime, end: datetime) -> tuple[datetime | None, datetime | None]:
        """Return the first and last moment that is meant, given when the event began and ended.

        >>> moved = datetime(2024, 5, 1)
        >>> Event("before we moved", "we moved", 0, 15, "before").placed(moved, moved)
        (None, datetime.datetime(2024, 4, 30, 23, 59, 59, 999999))
        """
        if self.relation == "before":
            return None, start - RESOLUTION
        if self.relation == "after":
            return end + RESOLUTION, None
        if self.relation == "in" and start == end:  # what lasted is known by its day at least
            start = start.replace(hour=0, minute=0, second=0, microsecond=0)
            end = start + timedelta(days=1) - RESOLUTION
        return (None if self.relation == "until" else start), (
            None if self.relation == "since" else end
        )


@dataclass(frozen=True, slots=True)
class When:
    """The time in a question.

    Spans any of which may hold, what is asked first or last, and what stayed open.

    `relation` is that of the first time named. `asks` means that the question wants a time as its
    answer, which constrains nothing. `cuts` are the offsets that `rest` goes without.
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
    """Whether the latest is asked for as what is valid now ("currently")."""
    ahead: bool = False
    """Whether the question is about what will be."""

    @property
    def alone(self) -> bool:
        """Whether the query asks only for a time, such as "what happened last week?"."""
        return (
            bool(self.spans or self.latest)
            and not self.earliest
            and not self.unresolved
            and not names_a_topic(self.rest)
        )

    def beyond(self, now: datetime) -> bool:
        """Tell whether the query is about the future or names a time that ends after now."""
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
