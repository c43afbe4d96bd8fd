"""`clew why`, `clew why-not`, `clew replay`: the reasons behind an answer."""

from __future__ import annotations

import sys
from typing import Any

import click

from clew.surface.cli.asking import question
from clew.surface.cli.ids import whole_id
from clew.surface.cli.options import STDIN, open_argument
from clew.surface.cli.session import Session, common


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
        from clew.surface.cli.views.reasons import why_page  # noqa: PLC0415 - loads rich
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
        from clew.surface.cli.views.reasons import why_not_page  # noqa: PLC0415 - loads rich
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
    from clew.engine.tracing import MAX_CHARACTERS  # noqa: PLC0415 - each start pays for what it uses

    if trace == STDIN:
        return sys.stdin.buffer.read(MAX_CHARACTERS + 1)
    with open_argument(trace, "Name a file made by clew recall QUERY --save-trace FILE; read a pipe with: clew replay - < PIPE") as file:
        return file.read(MAX_CHARACTERS + 1)
