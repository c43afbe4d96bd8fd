"""The tour of `clew demo`, told to a person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clew.recall.state import Recall
from clew.surface.cli.text import counted
from clew.surface.cli.tour import Asked, Offer
from clew.surface.cli.views.hits import answer_page, nothing_page
from clew.surface.cli.views.outcomes import outcome_line
from clew.surface.cli.views.screen import DIM, GOOD, KEY, SCORE, WARN, Heading, ago, safe

INDENT = (0, 0, 0, 2)
ALREADY_SAID = "Recall is by words alone"  # at the opening


def opening(path: str, lexical: str | None) -> Group:
    """Say where the store is, and by what recall will go."""
    if lexical:
        how = safe(lexical, WARN)
    else:
        how = safe("Recall goes by meaning (a small model on this machine) and by words at once. Nothing leaves the machine.", DIM)
    return Group(Heading("Clew: a thread back to every memory", style=KEY), safe(f"A store is made in {path}", whole=True), how)


def stored(entries: Sequence[dict[str, Any]], seconds: float) -> Group:
    """Say what was stored, and how fast."""
    kept = sum(entry["outcome"] == "inserted" for entry in entries)
    line = safe(f"{counted(kept, 'memory')} of a small team's agent, half a year of it, stored in {seconds:.2f} s.", GOOD)
    return Group("", Heading("1  Storing", align="left", style=DIM), line, "Not everything becomes a memory:")


def offered(offer: Offer, entry: dict[str, Any], *, lexical: bool) -> Group:
    """Show what became of an offered text."""
    lines: list[Any] = [Text.assemble((f"{offer.what}: ", KEY), safe(f"“{offer.text}”")), Padding(safe(outcome_line(entry), DIM), INDENT)]
    if lexical and entry["outcome"] == "inserted":
        lines.append(Padding(safe("(kept: without a model it cannot be seen that a memory says the same)", WARN), INDENT))
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
    parts += [safe(f"note: {note}", WARN) for note in each.answer.notes if not note.startswith(ALREADY_SAID)]
    if question.explain and each.answer.hits:
        parts.append(safe(f"Words in common: {', '.join(each.shared_words) or 'none'}.", GOOD))
    elif question.explain and each.answer.vector is None:
        parts.append(safe("No memory shares a word with the question, and without a model words are all there is.", WARN))
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
    weights = ", ".join(f"{name} {weight:g}" for name, weight in answer.question.weights._asdict().items() if weight)
    return Group(Text.assemble((answer.question.preset, KEY), (f"  ({weights})", DIM)), table)


def closing(milliseconds: Sequence[float], *, lexical: bool) -> Group:
    """Sum up, before the commands to try next."""
    speed = f"{counted(len(milliseconds), 'recall')}, {sum(milliseconds) / max(1, len(milliseconds)):.0f} ms each on average."
    lines: list[Any] = ["", Heading("Your turn", align="left", style=DIM), safe(speed)]
    if lexical:
        lines.append(safe("With a model the first question finds its answer too: clew models pull arctic-embed-s, then clew demo.", WARN))
    return Group(*lines)
