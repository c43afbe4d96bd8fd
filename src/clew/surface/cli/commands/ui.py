"""`clew ui`: the page, for whoever sits at this machine."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import click

from clew.errors import InputError
from clew.files import expanded
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

EXTRA = "pip install 'clew[serve]'"


@click.command("ui")
@click.option(
    "--port", type=int, default=0, metavar="NUMBER", help="The port to listen on. [a free one]"
)
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@click.option(
    "--reports",
    metavar="FOLDER",
    multiple=True,
    help="Show reports of clew eval below FOLDER too; may be repeated.",
)
@common
def ui_command(session: Session, *, port: int, no_browser: bool, reports: tuple[str, ...]) -> None:
    """Look inside the store with a browser.

    Starts a server that only this machine reaches, opens a link that works once, and stops with
    Ctrl+C. To serve the page for longer, or beyond this machine: clew serve, which has it under
    /ui/.
    """
    if missing := next((name for name in ("fastapi", "uvicorn") if find_spec(name) is None), None):
        raise InputError(
            "extra", "ui", f"is not installed: there is no {missing}", f"Install it with: {EXTRA}"
        )
    from clew.surface.cli.commands.serve import log_warnings  # noqa: PLC0415 - as below
    from clew.surface.http.serving import serve  # noqa: PLC0415 - uvicorn, which only this needs
    from clew.surface.ui.opening import open_browser  # noqa: PLC0415
    from clew.surface.ui.signin import PageKey  # noqa: PLC0415

    chosen: dict[str, Any] = {"serve.host": "127.0.0.1", "serve.port": port}
    for folder in reports:
        if not expanded(folder).is_dir():
            raise InputError(
                "reports", folder, "is not a folder", "Name one with clew eval reports."
            )
    if reports:
        chosen["serve.report_roots"] = list(reports)
    key = PageKey()
    with session.clew(create=session.store is None, **chosen) as clew:
        store = session.store or str(clew.settings.store.file)

        def announce(url: str) -> None:
            link = f"{url}/ui/#once={key.once}"
            document = {"url": link, "store": store}
            session.answer(
                document,
                lambda: click.echo(
                    clean(
                        f"The page of {store} is at {link}\nThe link works once. Stop with Ctrl+C."
                    )
                ),
            )
            sys.stdout.flush()  # whoever started it waits for this line
            if not no_browser:
                open_browser(
                    link,
                    failed=lambda: session.note(
                        "No browser could be opened. Open the link above in one."
                    ),
                )

        log_warnings(clew.settings)
        serve(clew, clew.settings.serve, announce=announce, page_key=key)
