"""`clew token`: who may use the store over HTTP and MCP, where, and how."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

KEPT = "It was the last token. clew serve still asks for one: make another, or allow callers without: clew token allow-anonymous"

if TYPE_CHECKING:
    from datetime import datetime

    from clew.engine.tokens import Token, Tokens


@click.group("token")
def token_command() -> None:
    """Make, list and revoke tokens for HTTP and MCP."""


@token_command.command("create")
@click.argument("name")
@click.option("--space", "spaces", metavar="NAME", multiple=True, help="A space that the token opens; repeat for several.")
@click.option("--all-spaces", is_flag=True, help="Every space, those to come too.")
@click.option("--right", "rights", metavar="NAME,…", multiple=True, help="Of read, write (brings read) and admin (brings both). [read]")
@click.option("--expires", metavar="WHEN", help="When it ends: 12h, 30d, 8w or a date. [never]")
@common
def create_token_command(
    session: Session, name: str, *, spaces: tuple[str, ...], all_spaces: bool, rights: tuple[str, ...], expires: str | None
) -> None:
    """Make a token and show its secret, once.

    The store keeps only a hash of the secret. Tokens are not in an export; a backup has them.
    """
    with _tokens(session) as (tokens, now):
        secret, token = tokens.create(name, spaces=_spaces(spaces, all_spaces), rights=_rights(rights), expires=expires)
    session.answer({"secret": secret, **_document(token, now)}, lambda: click.echo(secret))
    session.note(f"token {token.id} ({token.name}). This is the only time that its secret is shown.")


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

    A store that has had a token keeps asking for one, also when the last is revoked. Refused while the store has a token.
    """
    with _tokens(session) as (tokens, _):
        tokens.allow_anonymous()
    session.answer({"token_required": False}, lambda: click.echo("clew serve answers on this machine without a token."))


@contextmanager
def _tokens(session: Session) -> Iterator[tuple[Tokens, datetime]]:
    """Open the store without a model, which no token needs."""
    from clew.engine.tokens import Tokens  # noqa: PLC0415 - each start pays for what it uses

    with session.clew(model={"embedder": "none"}) as clew:
        yield Tokens(clew.store, clew.now), clew.now()


def _spaces(named: tuple[str, ...], every: bool) -> tuple[str, ...] | None:
    """Return the spaces, None for every one; which of the two has to be said, for a token that opens too much is noticed late."""
    if every == bool(named):
        raise click.UsageError("Name the token's spaces with --space, or open all of them with --all-spaces.")
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
        table.add_row(safe(each["id"], KEY), safe(each["name"]), safe(spaces), ", ".join(each["rights"]), ends)
    show(whole_words(table))
