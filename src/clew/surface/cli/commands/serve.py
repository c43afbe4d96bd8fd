"""`clew serve`: answers over HTTP."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from clew.settings import ServeSettings, Settings

EXTRA = "pip install 'clew[serve]'"
EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not bound to
UNREACHABLE = (
    "It listens everywhere, but answers only those who call it localhost or 127.0.0.1; others get 421. "
    "Name what they call it in serve.allowed_hosts, such as CLEW_SERVE__ALLOWED_HOSTS='[localhost, notes.example.org]'."
)
TOKENLESS = (
    "The store has had tokens and has none now, so every request is refused. Make one with: clew token create NAME --space SPACE, "
    "or allow callers on this machine without: clew token allow-anonymous"
)


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="The address to listen on. [the setting serve.host: this machine only]")
@click.option("--port", type=int, metavar="NUMBER", help="The port to listen on; 0 takes a free one. [the setting serve.port]")
@common
def serve_command(session: Session, *, host: str | None, port: int | None) -> None:
    """Answer over HTTP, for programs on this machine.

    Beyond this machine it listens only when the store has a token: clew token create. The routes are in docs/http.md and
    under /openapi.json. SIGTERM lets running requests finish; interrupted imports go on at the next start.

    \b
      clew serve --port 7411
      curl -s localhost:7411/v1/recall -H 'content-type: application/json' -d '{"query": "which port does staging use"}'
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    if missing := next((name for name in ("fastapi", "uvicorn") if find_spec(name) is None), None):
        raise InputError("extra", "serve", f"is not installed: there is no {missing}", f"Install it with: {EXTRA}")
    from clew.engine.tokens import Tokens  # noqa: PLC0415 - as below
    from clew.surface.http.serving import serve  # noqa: PLC0415 - uvicorn, which only this needs

    chosen: dict[str, Any] = {"serve.host": host, "serve.port": port}
    with session.clew(create=True, **{key: value for key, value in chosen.items() if value is not None}) as clew:
        store = session.store or str(clew.settings.store.file)

        def announce(url: str) -> None:
            session.answer({"url": url, "store": store}, lambda: click.echo(clean(f"Serving {store} on {url}. Stop with Ctrl+C.")))
            sys.stdout.flush()  # whoever started it waits for this line
            if unreachable(clew.settings.serve):
                session.note(UNREACHABLE)
            tokens = Tokens(clew.store, clew.now)
            if tokens.required() and not tokens.list():
                session.note(TOKENLESS)

        _log(clew.settings)
        serve(clew, clew.settings.serve, announce=announce)


def unreachable(settings: ServeSettings) -> bool:
    """Tell whether it listens everywhere while every name that it goes by means this machine.

    >>> from clew.settings import ServeSettings
    >>> unreachable(ServeSettings(host="0.0.0.0")), unreachable(ServeSettings(host="0.0.0.0", allowed_hosts=("*",)))
    (True, False)
    >>> unreachable(ServeSettings()), unreachable(ServeSettings(host="192.0.2.7"))  # by its own address it may be called
    (False, False)
    """
    from clew.surface.http.door import loopback  # noqa: PLC0415 - only a server asks

    return settings.host in EVERYWHERE and all(loopback(name.strip("[]")) for name in settings.allowed_hosts)


def _log(settings: Settings) -> None:
    """Let warnings be seen where no setting says otherwise: a refusal for an unknown reason sends people to the log."""
    if settings.log.level != "none":
        return
    from dataclasses import replace  # noqa: PLC0415 - each start pays for what it uses

    from clew.telemetry.logs import start_logging  # noqa: PLC0415

    start_logging(replace(settings.log, level="warning"), include_text=settings.telemetry.include_text)
