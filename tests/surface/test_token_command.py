"""`clew token` from the command line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clew.engine.auth import Tokens
from clew.store.sqlite import SqliteStore
from tests.surface.conftest import Cli


def granted(cli: Cli, secret: str) -> object:
    store = SqliteStore.open(cli.store)
    try:
        return Tokens(store, lambda: datetime.now(UTC)).grant(secret)
    finally:
        store.close()


def test_a_token_is_made_listed_and_revoked(filled: Cli) -> None:
    made = filled.json(
        "token",
        "create",
        "bot",
        "--space",
        "work",
        "--space",
        "home",
        "--right",
        "read,write",
        "--expires",
        "30d",
    )
    assert set(made) == {
        "secret",
        "id",
        "name",
        "spaces",
        "rights",
        "created",
        "expires",
        "expired",
    }
    assert (made["name"], made["spaces"], made["rights"], made["expired"]) == (
        "bot",
        ["home", "work"],
        ["read", "write"],
        False,
    )
    assert granted(filled, made["secret"])
    listed = filled.json("token", "list")["tokens"]
    assert listed == [{name: value for name, value in made.items() if name != "secret"}]
    assert filled.json("token", "revoke", made["id"]) == {"id": made["id"], "revoked": True}
    assert granted(filled, made["secret"]) is None
    assert filled.json("token", "list") == {"tokens": []}


def test_after_the_last_token_callers_without_one_have_to_be_allowed(filled: Cli) -> None:
    made = filled.json("token", "create", "bot", "--all-spaces")
    refused = filled.json("token", "allow-anonymous", code=1)
    assert "clew token revoke" in refused["error"]["message"]
    assert "clew token allow-anonymous" in filled("token", "revoke", made["id"]).stderr
    assert filled.json("token", "allow-anonymous") == {"token_required": False}
    assert "without a token" in filled("token", "allow-anonymous").stdout


def test_people_get_the_secret_alone_on_stdout_and_never_again(filled: Cli) -> None:
    made = filled("token", "create", "bot", "--all-spaces", "--right", "admin")
    secret = made.stdout.strip()
    assert secret.startswith("clew_")
    assert "only time" in made.stderr
    assert secret not in made.stderr
    shown = filled("token", "list").stdout
    assert "bot" in shown
    assert "admin, read, write" in shown
    assert "never" in shown
    assert secret[-43:] not in shown


def test_without_a_right_a_token_reads(filled: Cli) -> None:
    assert filled.json("token", "create", "reader", "--space", "work")["rights"] == ["read"]


@pytest.mark.parametrize("options", [(), ("--space", "work", "--all-spaces")])
def test_which_spaces_has_to_be_said_one_way(filled: Cli, options: tuple[str, ...]) -> None:
    told = filled.json("token", "create", "bot", *options, code=None)
    assert told["error"]["code"] == "usage"
    assert "--all-spaces" in told["error"]["message"]
    assert filled.json("token", "list") == {"tokens": []}


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("rights", ("--right", "reed")),
        ("rights", ("--right", "")),
        ("expires", ("--expires", "yesterday")),
        ("spaces", ("--space", "")),
    ],
)
def test_bad_input_is_named(filled: Cli, field: str, options: tuple[str, ...]) -> None:
    error = filled.json("token", "create", "bot", "--space", "work", *options, code=2)["error"]
    assert (error["code"], error["field"]) == ("input.invalid", field)
    assert filled.json("token", "list") == {"tokens": []}


def test_an_unknown_token_is_a_refusal(filled: Cli) -> None:
    assert filled.json("token", "revoke", "nothing", code=1)["error"]["code"] == "refused.not_found"


def test_a_store_without_tokens_says_how_to_make_one(filled: Cli) -> None:
    assert "clew token create" in filled("token", "list").stdout


def test_a_name_that_would_move_the_cursor_is_refused_and_odd_ones_are_shown_safely(
    filled: Cli,
) -> None:
    assert (
        filled.json("token", "create", "a\x1b[2J", "--all-spaces", code=2)["error"]["field"]
        == "name"
    )
    filled("token", "create", "\u202eeman", "--all-spaces")
    assert "\u202e" not in filled("token", "list").stdout
