"""`clew recall`: asks the store a question."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.files import create_private_file
from clew.surface.cli.ids import whole_id
from clew.surface.cli.options import (
    STDIN,
    argument_or_stdin,
    filters,
    open_argument,
    presets,
    recipes,
    weights,
)
from clew.surface.cli.session import Session, common

if TYPE_CHECKING:
    from pathlib import Path

    from clew.search.state import Recall

# The options of a question, the same wherever one is asked.

OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("query"),
    click.option("-k", "k", type=int, metavar="N", help="At most so many hits. [10]"),
    click.option(
        "--recipe",
        metavar="NAME",
        shell_complete=recipes,
        help="The stages to run: fast, balanced, thorough, reranked, agent, staged, passages, lexical or dense. [balanced]",
    ),
    click.option(
        "--preset",
        metavar="NAME",
        shell_complete=presets,
        help="What counts: semantic, balanced, recent, important or popular. [semantic]",
    ),
    click.option(
        "--weights",
        metavar="NAME=NUMBER,…",
        help="Your own: of semantic, recency, importance, access.",
    ),
    filters,
    click.option("--as-of", metavar="DATE", help="What was true then; of a date at its end."),
    click.option(
        "--known-at", metavar="DATE", help="What was believed then; of a date at its end."
    ),
    click.option(
        "--min-similarity", type=float, metavar="COSINE", help="Leave out what is further away."
    ),
    click.option("--budget-tokens", type=int, metavar="N", help="At most so many tokens in all."),
    click.option(
        "--seed", type=int, default=0, metavar="N", help="For recipes that draw at random."
    ),
)
ASKED = (
    "k",
    "recipe",
    "preset",
    "weights",
    "where",
    "as_of",
    "known_at",
    "min_similarity",
    "budget_tokens",
    "seed",
)


def question(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the question and its options, and pass them on as `query`, which is read from stdin if it is a dash, and `asked`."""

    @wraps(function)
    def run(*args: Any, query: str, **options: Any) -> Any:
        asked = {name: options.pop(name) for name in ASKED}
        asked["weights"] = weights(asked["weights"])
        return function(*args, query=argument_or_stdin(query), asked=asked, **options)

    for option in reversed(OPTIONS):
        run = option(run)
    return run


@click.command("recall")
@question
@click.option(
    "--explain", is_flag=True, help="Show how each score came about. (--json always does.)"
)
@click.option("--no-track", is_flag=True, help="Do not count this as an access.")
@click.option(
    "--save-trace",
    metavar="FILE",
    help="Keep how the answer came about in a new file, for clew replay.",
)
@common
def recall_command(
    session: Session,
    *,
    query: str,
    asked: dict[str, Any],
    explain: bool,
    no_track: bool,
    save_trace: str | None,
) -> int:
    """Bring back what answers QUERY, best first.

    The query - is read from stdin. Exits with 1 when there is no hit.

    \b
      clew recall "why did the deploy fail" --explain
      clew recall "what does Dana prefer" --category preference -k 3 --json
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    file = None if save_trace is None else _new(save_trace)
    with session.clew() as clew:
        answer = clew.recall(query, **asked, track=False if no_track or save_trace else None)
        if file is not None:
            with os.fdopen(create_private_file(file), "w", encoding="utf-8") as trace:
                trace.write(payload.dumps(clew.trace(answer), indent=2) + "\n")
    session.answer(
        payload.recall(answer) if session.as_json else {},
        lambda: _show(session, answer, explain=explain),
    )
    return 0 if answer.hits else 1


def _new(path: str) -> Path:
    """Return a file that is not there yet.

    Asked before the question, whose answer must not be lost.
    """
    from clew.files import expanded  # noqa: PLC0415 - each start pays for what it uses

    file = expanded(path)
    if file.exists():
        raise InputError("save_trace", path, "exists already", "Name another file.")
    if not file.parent.is_dir():
        raise InputError(
            "save_trace",
            path,
            f"is in no folder: there is no {file.parent}",
            "Make the folder first.",
        )
    return file


def _show(session: Session, answer: Recall, *, explain: bool) -> None:
    from clew.surface.cli.views.hits import answer_page, nothing_page  # noqa: PLC0415 - loads rich
    from clew.surface.cli.views.screen import show  # noqa: PLC0415

    for note in answer.notes:
        session.note(note)
    show(
        answer_page(answer, answer.question.where.moment, explain=explain)
        if answer.hits
        else nothing_page(answer)
    )


# `clew why`, `clew why-not`, `clew replay`: the reasons behind an answer.


@click.command("why")
@question
@click.argument("id")
@common
def why_command(session: Session, *, query: str, id: str, asked: dict[str, Any]) -> int:
    """Say why the memory ID is where it is for QUERY.

    Its place in the whole ranking, beyond -k too, and all that its score is made of. The main reason is what adds most to the score;
    where the memory would stay in its place without it, the fewest that decide it. Exits with 1 when it was not ranked.

    \b
      clew why "why did the deploy fail" 01m7gfwdmr422zgpq588cdfnzy
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        id = whole_id(clew, id)
        found = clew.why(query, id, **asked)

    def people() -> None:
        from clew.surface.cli.views.hits import why_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(why_page(found))

    session.answer(payload.why(found), people)
    return 0 if found.rank is not None else 1


@click.command("why-not")
@question
@click.argument("id")
@common
def why_not_command(session: Session, *, query: str, id: str, asked: dict[str, Any]) -> int:
    """Say why the memory ID is not in the answer to QUERY.

    Names the stage that lost it with value and threshold, or the rank it had. Exits with 1 when the space has no such memory.

    \b
      clew why-not "why did the deploy fail" 01m7gfwdmr422zgpq588cdfnzy --category fact
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        id = whole_id(clew, id)
        found = clew.why_not(query, id, **asked)

    def people() -> None:
        from clew.surface.cli.views.hits import why_not_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(why_not_page(found))

    session.answer(payload.why_not(found), people)
    return 1 if found.reason == "unknown_id" else 0


@click.command("replay")
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@common
def replay_command(session: Session, trace: str) -> int:
    """Ask the question of a saved TRACE again.

    By the trace's own clock, with the settings of now; no access is counted. - reads the trace from stdin. Exits with 1 when the ranking
    is another one.

    \b
      clew recall "why did the deploy fail" --save-trace deploy.json
      clew replay deploy.json
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    given = _read(trace)
    with session.clew() as clew:
        found = clew.replay(given)
    for note in found.notes:
        session.note(note)

    def people() -> None:
        from clew.surface.cli.text import clean  # noqa: PLC0415

        click.echo("identical" if found.identical else "not identical")
        for sentence in found.sentences:
            click.echo(clean(sentence))

    session.answer(payload.replayed(found), people)
    return 0 if found.identical else 1


def _read(trace: str) -> bytes:
    """Return the bytes of a file or of stdin, no more than it takes to see that they are too many."""
    # Each start pays for what it uses
    from clew.engine.tracing import MAX_CHARACTERS  # noqa: PLC0415

    if trace == STDIN:
        return sys.stdin.buffer.read(MAX_CHARACTERS + 1)
    with open_argument(
        trace,
        "Name a file made by clew recall QUERY --save-trace FILE; read a pipe with: clew replay - < PIPE",
    ) as file:
        return file.read(MAX_CHARACTERS + 1)
