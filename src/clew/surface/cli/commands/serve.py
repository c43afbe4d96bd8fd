"""`clew serve`: answers over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from datetime import datetime

    from clew.engine.auth import Token, Tokens
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
@click.option(
    "--host",
    metavar="ADDRESS",
    help="The address to listen on. [the setting serve.host: this machine only]",
)
@click.option(
    "--port",
    type=int,
    metavar="NUMBER",
    help="The port to listen on; 0 takes a free one. [the setting serve.port]",
)
@common
def serve_command(session: Session, *, host: str | None, port: int | None) -> None:
    """Answer over HTTP, for programs on this machine.

    A page that looks inside the store with a browser is under /ui/, the reference of the API under /docs.
    Beyond this machine it listens only when the store has a token: clew token create. The routes are in docs/http.md and
    under /openapi.json. SIGTERM lets running requests finish; interrupted imports go on at the next start.

    \b
      clew serve --port 7411
      curl -s localhost:7411/v1/recall -H 'content-type: application/json' -d '{"query": "which port does staging use"}'
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    if missing := next((name for name in ("fastapi", "uvicorn") if find_spec(name) is None), None):
        raise InputError(
            "extra",
            "serve",
            f"is not installed: there is no {missing}",
            f"Install it with: {EXTRA}",
        )
    from clew.engine.auth import Tokens  # noqa: PLC0415 - as below
    from clew.surface.http.serving import serve  # noqa: PLC0415 - uvicorn, which only this needs

    chosen: dict[str, Any] = {"serve.host": host, "serve.port": port}
    with session.clew(
        create=True, **{key: value for key, value in chosen.items() if value is not None}
    ) as clew:
        store = session.store or str(clew.settings.store.file)

        def announce(url: str) -> None:
            session.answer(
                {"url": url, "store": store},
                lambda: click.echo(clean(f"Serving {store} on {url}. Stop with Ctrl+C.")),
            )
            sys.stdout.flush()  # whoever started it waits for this line
            if unreachable(clew.settings.serve):
                session.note(UNREACHABLE)
            tokens = Tokens(clew.store, clew.now)
            if tokens.required() and not tokens.list():
                session.note(TOKENLESS)

        log_warnings(clew.settings)
        serve(clew, clew.settings.serve, announce=announce)


def unreachable(settings: ServeSettings) -> bool:
    """Tell whether it listens everywhere while every name that it goes by means this machine.

    >>> from clew.settings import ServeSettings
    >>> unreachable(ServeSettings(host="0.0.0.0")), unreachable(ServeSettings(host="0.0.0.0", allowed_hosts=("*",)))
    (True, False)
    >>> unreachable(ServeSettings()), unreachable(ServeSettings(host="192.0.2.7"))  # by its own address it may be called
    (False, False)
    """
    from clew.surface.http.service import loopback  # noqa: PLC0415 - only a server asks

    return settings.host in EVERYWHERE and all(
        loopback(name.strip("[]")) for name in settings.allowed_hosts
    )


def log_warnings(settings: Settings) -> None:
    """Let warnings be seen where no setting says otherwise.

    A refusal for an unknown reason sends people to the log.
    """
    if settings.log.level != "none":
        return
    from dataclasses import replace  # noqa: PLC0415 - each start pays for what it uses

    from clew.engine.telemetry.logs import start_logging  # noqa: PLC0415

    start_logging(
        replace(settings.log, level="warning"), include_text=settings.telemetry.include_text
    )


# `clew token`: who may use the store over HTTP and MCP, where, and how.

KEPT = "It was the last token. clew serve still asks for one: make another, or allow callers without: clew token allow-anonymous"


@click.group("token")
def token_command() -> None:
    """Make, list and revoke tokens for HTTP and MCP."""


@token_command.command("create")
@click.argument("name")
@click.option(
    "--space",
    "spaces",
    metavar="NAME",
    multiple=True,
    help="A space that the token opens; repeat for several.",
)
@click.option("--all-spaces", is_flag=True, help="Every space, those to come too.")
@click.option(
    "--right",
    "rights",
    metavar="NAME,…",
    multiple=True,
    help="Of read, write (brings read) and admin (brings both). [read]",
)
@click.option("--expires", metavar="WHEN", help="When it ends: 12h, 30d, 8w or a date. [never]")
@common
def create_token_command(
    session: Session,
    name: str,
    *,
    spaces: tuple[str, ...],
    all_spaces: bool,
    rights: tuple[str, ...],
    expires: str | None,
) -> None:
    """Make a token and show its secret, once.

    The store keeps only a hash of the secret. Tokens are not in an export; a backup has them.
    """
    with _tokens(session) as (tokens, now):
        secret, token = tokens.create(
            name, spaces=_spaces(spaces, all_spaces), rights=_rights(rights), expires=expires
        )
    session.answer({"secret": secret, **_document(token, now)}, lambda: click.echo(secret))
    session.note(
        f"token {token.id} ({token.name}). This is the only time that its secret is shown."
    )


@token_command.command("list")
@common
def list_tokens_command(session: Session) -> None:
    """List the tokens, without their secrets."""
    with _tokens(session) as (tokens, now):
        documents = [_document(token, now) for token in tokens.list()]
    session.answer({"tokens": documents}, lambda: _show(documents))


@token_command.command("revoke")
@click.argument("id")
@common
def revoke_token_command(session: Session, id: str) -> None:
    """End the token ID at once and for good."""
    from clew.errors import NotFoundError  # noqa: PLC0415 - each start pays for what it uses

    with _tokens(session) as (tokens, _):
        if not tokens.revoke(id):
            raise NotFoundError(f"No token {id}. List them with: clew token list", id=id)
        last = not tokens.list()
    session.answer({"id": id, "revoked": True}, lambda: click.echo(clean(f"Revoked {id}.")))
    if last:
        session.note(KEPT)


@token_command.command("allow-anonymous")
@common
def allow_anonymous_command(session: Session) -> None:
    """Let clew serve answer here without a token again.

    A store that has had a token keeps asking for one, also when the last is revoked. Refused while
    the store has a token.
    """
    with _tokens(session) as (tokens, _):
        tokens.allow_anonymous()
    session.answer(
        {"token_required": False},
        lambda: click.echo("clew serve answers on this machine without a token."),
    )


@contextmanager
def _tokens(session: Session) -> Iterator[tuple[Tokens, datetime]]:
    """Open the store without a model, which no token needs."""
    from clew.engine.auth import Tokens  # noqa: PLC0415 - each start pays for what it uses

    with session.clew(model={"embedder": "none"}) as clew:
        yield Tokens(clew.store, clew.now), clew.now()


def _spaces(named: tuple[str, ...], every: bool) -> tuple[str, ...] | None:
    """Return the spaces, None for every one.

    Which of the two has to be said, for a token that opens too much is noticed late.
    """
    if every == bool(named):
        raise click.UsageError(
            "Name the token's spaces with --space, or open all of them with --all-spaces."
        )
    return None if every else named


def _rights(named: tuple[str, ...]) -> list[str]:
    return [right.strip() for each in named or ("read",) for right in each.split(",")]


def _document(token: Token, now: datetime) -> dict[str, Any]:
    from clew.times import iso  # noqa: PLC0415 - as above

    return {
        "id": token.id,
        "name": token.name,
        "spaces": None if token.spaces is None else sorted(token.spaces),
        "rights": sorted(token.rights),
        "created": iso(token.created),
        "expires": None if token.expires is None else iso(token.expires),
        "expired": token.expired(now),
    }


def _show(documents: list[dict[str, Any]]) -> None:
    if not documents:
        click.echo("No token yet. Make one with: clew token create NAME --space SPACE")
        return
    from rich.table import Table  # noqa: PLC0415 - loads rich

    from clew.surface.cli.views.screen import DIM, KEY, WARN, safe, show, whole_words  # noqa: PLC0415

    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM)
    for title in ("token", "name", "spaces", "rights", "expires"):
        table.add_column(title, overflow="fold")
    for each in documents:
        spaces = "all" if each["spaces"] is None else ", ".join(each["spaces"])
        ends = safe(each["expires"] or "never", WARN if each["expired"] else "")
        table.add_row(
            safe(each["id"], KEY), safe(each["name"]), safe(spaces), ", ".join(each["rights"]), ends
        )
    show(whole_words(table))
