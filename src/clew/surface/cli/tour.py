"""The tour of `clew demo`: what is stored, offered and asked, and what comes of it.

The view of it is below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from importlib.resources import files
from itertools import groupby
from time import perf_counter
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clew.engine import Clew
from clew.search.state import Recall
from clew.surface import payload
from clew.surface.cli.text import counted
from clew.surface.cli.views.hits import answer_page, nothing_page
from clew.surface.cli.views.outcomes import outcome_line
from clew.surface.cli.views.screen import DIM, GOOD, KEY, SCORE, WARN, Heading, ago, safe
from clew.text.words import terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A text offered to the firewall, and what it shows."""

    what: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A recall and what to look at in its answer.

    `also` asks the same under other options, to compare.
    """

    title: str
    lesson: str
    query: str
    options: dict[str, Any] = field(default_factory=dict)
    also: dict[str, Any] = field(default_factory=dict)
    explain: bool = False
    k: int = 3


OFFERS = (
    Offer(what="chatter", text="ok, thanks a lot!"),
    Offer(
        what="the same again",
        text="Refunds over 500 euros need a second   person's approval in the back office.",
    ),
    Offer(
        what="the same, written otherwise",
        text="The refunds over 500 euros need a second person's approval in the back office!",
    ),
)


def questions(now: datetime) -> tuple[Question, ...]:
    """Return what the tour asks."""
    since = (now - timedelta(days=60)).date().isoformat()
    return (
        Question(
            title="By meaning",
            lesson="The answer shares no word with the question; a vector of what both say finds it.",
            query="Why does RAM consumption climb steadily?",
            explain=True,
            k=1,
        ),
        Question(
            title="By words",
            lesson="A rare identifier means nothing to a model; the word index finds it exactly.",
            query="E4012",
            explain=True,
            k=1,
        ),
        Question(
            title="Filtered",
            lesson=f"Decisions since {since} only. Filters work inside the search, so they never starve it.",
            query="what was decided about the API and the regions?",
            options={"where": {"category": "decision", "since": since}},
        ),
        Question(
            title="Weighed",
            lesson="The same question twice: by relevance, then with the preset for what is new.",
            query="problems of the booking form",
            options={"preset": "semantic", "where": {"tags": ["frontend"]}},
            also={"preset": "recent", "where": {"tags": ["frontend"]}},
        ),
        Question(
            title="On a budget",
            lesson="At most 60 tokens, and no cosine below 0.6; what is held back is counted, not hidden.",
            query="how do we change the database safely?",
            options={"budget_tokens": 60, "min_similarity": 0.6},
            k=10,
        ),
        Question(
            title="Another space",
            lesson="Spaces never mix: work is not asked, however well it would fit.",
            query="what must not go into the cake?",
            options={"where": {"space": "home"}},
            k=1,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its answer, and the one to compare with."""

    question: Question
    answer: Recall
    other: Recall | None = None

    @property
    def shared_words(self) -> tuple[str, ...]:
        """The terms that the question and the best hit have in common."""
        best = terms(self.answer.hits[0].text) if self.answer.hits else ()
        return tuple(sorted(set(self.answer.terms) & set(best)))


class Hand:
    """A clock whose hand can be set.

    What an agent learned it told on that day, not all of it today.
    """

    def __init__(self) -> None:
        self.at: datetime | None = None

    def __call__(self) -> datetime:
        """Return the moment that it is set to, or now."""
        return self.at or datetime.now(UTC)


class Tour:
    """Fills a store and asks it, step by step."""

    def __init__(self, clew: Clew, clock: Hand, now: datetime) -> None:
        self._clew = clew
        self._clock = clock
        self._now = now

    @cached_property
    def memories(self) -> list[dict[str, Any]]:
        """What the agent of a small team learned; ages become dates before now."""
        import yaml  # noqa: PLC0415 - only the tour reads it

        listed = yaml.safe_load(
            files("clew.surface.cli").joinpath("demo_memories.yaml").read_text(encoding="utf-8")
        )
        return [
            {
                **{key: value for key, value in each.items() if key != "age"},
                "valid_from": self._now - timedelta(days=each["age"]),
            }
            for each in listed
        ]

    def store(self) -> tuple[list[dict[str, Any]], float]:
        """Remember them all; return the outcomes and the seconds it took."""
        began = perf_counter()
        outcomes = []
        for day, told in groupby(sorted(self.memories, key=_day), key=_day):
            self._clock.at = day
            outcomes += self._clew.remember_many(list(told), near=False, source="clew demo")
        self._clock.at = None
        return [payload.outcome(each) for each in outcomes], perf_counter() - began

    def offer(self) -> Iterator[tuple[Offer, dict[str, Any]]]:
        """Offer texts that are not worth a new memory."""
        for each in OFFERS:
            yield (
                each,
                payload.outcome(self._clew.remember(each.text, near=True, source="clew demo")),
            )

    def ask(self) -> Iterator[Asked]:
        """Ask the questions; nothing is counted as an access, so that comparisons are fair."""
        for each in questions(self._now):
            answer = self._clew.recall(each.query, k=each.k, track=False, **each.options)
            other = (
                self._clew.recall(each.query, k=each.k, track=False, **each.also)
                if each.also
                else None
            )
            yield Asked(question=each, answer=answer, other=other)


def _day(memory: Mapping[str, Any]) -> datetime:
    day: datetime = memory["valid_from"]
    return day


# The tour of `clew demo`, told to a person.

INDENT = (0, 0, 0, 2)
ALREADY_SAID = "Recall is by words alone"  # at the opening


def opening(path: str, lexical: str | None) -> Group:
    """Say where the store is, and by what recall will go."""
    if lexical:
        how = safe(lexical, WARN)
    else:
        how = safe(
            "Recall goes by meaning (a small model on this machine) and by words at once. Nothing leaves the machine.",
            DIM,
        )
    return Group(
        Heading("Clew: a thread back to every memory", style=KEY),
        safe(f"A store is made in {path}", whole=True),
        how,
    )


def stored(entries: Sequence[dict[str, Any]], seconds: float) -> Group:
    """Say what was stored, and how fast."""
    kept = sum(entry["outcome"] == "inserted" for entry in entries)
    line = safe(
        f"{counted(kept, 'memory')} of a small team's agent, half a year of it, stored in {seconds:.2f} s.",
        GOOD,
    )
    return Group(
        "", Heading("1  Storing", align="left", style=DIM), line, "Not everything becomes a memory:"
    )


def offered(offer: Offer, entry: dict[str, Any], *, lexical: bool) -> Group:
    """Show what became of an offered text."""
    lines: list[Any] = [
        Text.assemble((f"{offer.what}: ", KEY), safe(f"“{offer.text}”")),
        Padding(safe(outcome_line(entry), DIM), INDENT),
    ]
    if lexical and entry["outcome"] == "inserted":
        lines.append(
            Padding(
                safe("(kept: without a model it cannot be seen that a memory says the same)", WARN),
                INDENT,
            )
        )
    return Group(*lines)


def asked(number: int, each: Asked, now: datetime) -> Group:
    """Show a question, what it teaches, and its answer."""
    question = each.question
    parts: list[Any] = [
        "",
        Heading(f"{number}  {question.title}", align="left", style=DIM),
        safe(question.lesson, DIM),
        Text.assemble(("? ", SCORE), (question.query, "bold")),
    ]
    if each.other is None:
        parts.append(_answer(each.answer, now, explain=question.explain))
    else:
        parts += [_compared(each.answer, now), _compared(each.other, now)]
    parts += [
        safe(f"note: {note}", WARN)
        for note in each.answer.notes
        if not note.startswith(ALREADY_SAID)
    ]
    if question.explain and each.answer.hits:
        parts.append(safe(f"Words in common: {', '.join(each.shared_words) or 'none'}.", GOOD))
    elif question.explain and each.answer.vector is None:
        parts.append(
            safe(
                "No memory shares a word with the question, and without a model words are all there is.",
                WARN,
            )
        )
    return Group(*parts)


def _answer(answer: Recall, now: datetime, *, explain: bool) -> Group:
    return answer_page(answer, now, explain=explain) if answer.hits else nothing_page(answer)


def _compared(answer: Recall, now: datetime) -> Group:
    """Return a short list: enough to see that the order differs, and by what."""
    table = Table.grid(padding=(0, 1))
    for width, style in ((3, ""), (5, SCORE), (12, DIM)):
        table.add_column(min_width=width, style=style, no_wrap=True)
    table.add_column(overflow="fold")
    for rank, hit in enumerate(answer.hits, start=1):
        age = ago(hit.node.t_valid, now) if hit.node else ""
        table.add_row(f"  {rank}", f"{hit.score:.3f}", f"{age:>12}", safe(hit.text))
    weights = ", ".join(
        f"{name} {weight:g}" for name, weight in answer.question.weights._asdict().items() if weight
    )
    return Group(Text.assemble((answer.question.preset, KEY), (f"  ({weights})", DIM)), table)


def closing(milliseconds: Sequence[float], *, lexical: bool) -> Group:
    """Sum up, before the commands to try next."""
    speed = f"{counted(len(milliseconds), 'recall')}, {sum(milliseconds) / max(1, len(milliseconds)):.0f} ms each on average."
    lines: list[Any] = ["", Heading("Your turn", align="left", style=DIM), safe(speed)]
    if lexical:
        lines.append(
            safe(
                "With a model the first question finds its answer too: clew models pull arctic-embed-s, then clew demo.",
                WARN,
            )
        )
    return Group(*lines)
