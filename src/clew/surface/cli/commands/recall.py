"""`clew recall`: asks the store a question."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.private_files import create_private_file
from clew.surface.cli.asking import question
from clew.surface.cli.session import Session, common

if TYPE_CHECKING:
    from pathlib import Path

    from clew.recall.state import Recall


@click.command("recall")
@question
@click.option("--explain", is_flag=True, help="Show how each score came about. (--json always does.)")
@click.option("--no-track", is_flag=True, help="Do not count this as an access.")
@click.option("--save-trace", metavar="FILE", help="Keep how the answer came about in a new file, for clew replay.")
@common
def recall_command(session: Session, *, query: str, asked: dict[str, Any], explain: bool, no_track: bool, save_trace: str | None) -> int:
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
    session.answer(payload.recall(answer) if session.as_json else {}, lambda: _show(session, answer, explain=explain))
    return 0 if answer.hits else 1


def _new(path: str) -> Path:
    """Return a file that is not there yet; asked before the question, whose answer must not be lost."""
    from clew.user_files import expanded  # noqa: PLC0415 - each start pays for what it uses

    file = expanded(path)
    if file.exists():
        raise InputError("save_trace", path, "exists already", "Name another file.")
    if not file.parent.is_dir():
        raise InputError("save_trace", path, f"is in no folder: there is no {file.parent}", "Make the folder first.")
    return file


def _show(session: Session, answer: Recall, *, explain: bool) -> None:
    from clew.surface.cli.views.hits import answer_page, nothing_page  # noqa: PLC0415 - loads rich
    from clew.surface.cli.views.screen import show  # noqa: PLC0415

    for note in answer.notes:
        session.note(note)
    show(answer_page(answer, answer.question.where.moment, explain=explain) if answer.hits else nothing_page(answer))
