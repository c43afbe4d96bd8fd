"""`clew recall`: asks the store a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clew.surface.cli.options import argument_or_stdin, filters, weights
from clew.surface.cli.session import Session, common
from clew.surface.cli.values import presets, recipes

if TYPE_CHECKING:
    from clew.recall.state import Recall


@click.command("recall")
@click.argument("query")
@click.option("-k", "k", type=int, metavar="N", help="At most so many hits. [10]")
@click.option(
    "--recipe",
    metavar="NAME",
    shell_complete=recipes,
    help="The stages to run: fast, balanced, thorough, agent, staged, lexical or dense. [balanced]",
)
@click.option(
    "--preset", metavar="NAME", shell_complete=presets, help="What counts: semantic, balanced, recent, important or popular. [semantic]"
)
@click.option("--weights", metavar="NAME=NUMBER,…", help="Your own: of semantic, recency, importance, access.")
@filters
@click.option("--as-of", metavar="DATE", help="What was true then.")
@click.option("--known-at", metavar="DATE", help="What was believed then.")
@click.option("--min-similarity", type=float, metavar="COSINE", help="Leave out what is further away.")
@click.option("--budget-tokens", type=int, metavar="N", help="At most so many tokens in all.")
@click.option("--seed", type=int, default=0, metavar="N", help="For recipes that draw at random.")
@click.option("--explain", is_flag=True, help="Show how each score came about. (--json always does.)")
@click.option("--no-track", is_flag=True, help="Do not count this as an access.")
@common
def recall_command(session: Session, query: str, *, explain: bool, no_track: bool, **options: Any) -> int:
    """Bring back what answers QUERY, best first.

    The query - is read from stdin. Exits with 1 when nothing was relevant.

    \b
      clew recall "why did the deploy fail" --explain
      clew recall "what does Dana prefer" --category preference -k 3 --json
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    asked = {**options, "weights": weights(options["weights"]), "track": False if no_track else None}
    question = argument_or_stdin(query)
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        answer = clew.recall(question, **asked)
    session.answer(payload.recall(answer) if session.as_json else {}, lambda: _show(session, answer, explain=explain))
    return 1 if answer.nothing_relevant else 0


def _show(session: Session, answer: Recall, *, explain: bool) -> None:
    from clew.surface.cli.views.hits import answer_page, nothing_page  # noqa: PLC0415 - loads rich
    from clew.surface.cli.views.screen import show  # noqa: PLC0415

    for note in answer.notes:
        session.note(note)
    now = answer.question.where.now
    show(nothing_page(answer) if answer.nothing_relevant else answer_page(answer, now, explain=explain))
