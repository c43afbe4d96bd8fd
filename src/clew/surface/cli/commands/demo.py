"""`clew demo`: see memories stored, recalled and explained, in a few seconds."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import click

from clew.errors import InputError
from clew.files import expanded
from clew.surface.cli.session import Session, common

NAME = "demo.clew"


@click.command("demo")
@common
def demo_command(session: Session) -> None:
    """See memories stored, recalled and explained.

    Some 60 memories of a small team's agent, and six questions (one of them asked in two ways, so
    seven recalls) that show why each answer came. The store is made in a temporary folder, or at
    --store PATH if nothing is there yet, and is left to play with.
    """
    # Each start pays for what it uses
    from clew.surface.cli.readiness import make_model_ready  # noqa: PLC0415

    path = _place(session.store)
    lexical = make_model_ready(session)
    own = Session(store=str(path), config=session.config, as_json=session.as_json)
    document = _told(own, lexical)
    if session.as_json:
        session.answer(document, lambda: None)


def _place(store: str | None) -> Path:
    if store is None:
        return Path(mkdtemp(prefix="clew-demo-")) / NAME
    path = expanded(store)
    if path.exists():
        raise InputError(
            "store",
            store,
            "exists already",
            "The demo fills a store of its own: name a new file, or leave --store out.",
        )
    return path


def _told(session: Session, lexical: str | None) -> dict[str, Any]:
    """Run the tour, telling each step as it is done; return the whole as data."""
    from datetime import UTC, datetime  # noqa: PLC0415 - each start pays for what it uses

    from clew.surface import payload  # noqa: PLC0415
    from clew.surface.cli import tour as view  # noqa: PLC0415 - loads rich
    from clew.surface.cli.tour import Hand, Tour  # noqa: PLC0415
    from clew.surface.cli.views.screen import show  # noqa: PLC0415

    def tell(page: Any) -> None:
        if not session.as_json:
            show(page)

    now, clock = datetime.now(UTC), Hand()
    with session.clew(create=True, clock=clock) as clew:
        tour = Tour(clew, clock, now)
        tell(view.opening(str(session.store), lexical))
        entries, seconds = tour.store()
        tell(view.stored(entries, seconds))
        offers = []
        for offer, entry in tour.offer():
            tell(view.offered(offer, entry, lexical=lexical is not None))
            offers.append({"text": offer.text, **entry})
        recalls = []
        for number, each in enumerate(tour.ask(), start=2):
            tell(view.asked(number, each, now))
            recalls += [
                {"title": each.question.title, **payload.recall(answer)}
                for answer in (each.answer, each.other)
                if answer
            ]
    commands = _next(str(session.store))
    tell(
        view.closing(
            [recall["stats"]["milliseconds"] for recall in recalls], lexical=lexical is not None
        )
    )
    if not session.as_json:
        # unwrapped: to be copied
        click.echo("".join(f"  {command}\n" for command in commands), nl=False)
    return {
        "store": session.store,
        "lexical": lexical,
        "seconds": round(seconds, 3),
        "counts": payload.counts(entries),
        "offers": offers,
        "recalls": recalls,
        "next": commands,
    }


def _next(store: str) -> list[str]:
    place, program = f"--store {shlex.quote(store)}", _program()
    return [
        f'{program} recall "who stands in for Priya?" --explain {place}',
        f'{program} add "Harbour 5.0 will drop the classic pages" --category plan {place}',
        f"{program} list --sort important {place}",
    ]


def _program() -> str:
    """Return what a person types to get this very program.

    Its name where the shell finds it, its path where not.
    """
    started = Path(sys.argv[0])
    found = shutil.which("clew")
    if started.name != "clew" or (found and Path(found).resolve() == started.resolve()):
        return "clew"
    return shlex.quote(os.path.relpath(started))
