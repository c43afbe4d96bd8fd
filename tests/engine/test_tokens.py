"""Tokens: a secret opens what it was made for, until it is revoked or over, and is nowhere to be found."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.engine.auth import KIND, PREFIX, Grant, Right, Tokens, may
from clew.errors import CorruptStoreError, InputError
from clew.testing import FixedClock
from tests.conftest import Open


@pytest.fixture(params=["sqlite", "memory"])
def memory(request: pytest.FixtureRequest, open_clew: Open) -> clew.Clew:
    return open_clew(":memory:" if request.param == "memory" else None)


@pytest.fixture
def tokens(memory: clew.Clew, clock: FixedClock) -> Tokens:
    return Tokens(memory.store, clock)


def test_a_secret_opens_exactly_what_it_was_made_for(tokens: Tokens) -> None:
    secret, token = tokens.create("bot", spaces=["work", "home"], rights=["read"])
    grant = tokens.grant(secret)
    assert (
        grant
        == token.grant
        == Grant(name="bot", rights=frozenset({Right.READ}), spaces=frozenset({"work", "home"}))
    )
    assert may(grant, Right.READ, "work")
    assert not may(grant, Right.WRITE, "work")
    assert not may(grant, Right.READ, "other")
    assert not may(grant, Right.READ, None)


def test_write_brings_read_and_admin_brings_both(tokens: Tokens) -> None:
    assert tokens.create("a", spaces=None, rights=["write"])[1].rights == {Right.READ, Right.WRITE}
    assert tokens.create("b", spaces=None, rights=["admin"])[1].rights == frozenset(Right)
    assert tokens.create("c", spaces=None, rights=[Right.READ])[1].rights == {Right.READ}


def test_without_spaces_named_every_space_is_open(tokens: Tokens) -> None:
    grant = tokens.grant(tokens.create("all", spaces=None, rights=["admin"])[0])
    assert grant is not None
    assert may(grant, Right.ADMIN, None)
    assert may(grant, Right.READ, "made tomorrow")


def test_secrets_are_long_safe_in_a_header_and_never_the_same(tokens: Tokens) -> None:
    made = [tokens.create(f"t{n}", spaces=None, rights=["read"]) for n in range(50)]
    assert len({secret[-43:] for secret, _ in made}) == 50
    for secret, token in made:
        assert secret.startswith(f"{PREFIX}{token.id}_")
        assert len(secret) == len(PREFIX) + len(token.id) + 1 + 43  # 32 bytes in base 64
        assert secret.replace("-", "").replace("_", "").isalnum()
        assert secret.isascii()


@pytest.mark.parametrize(
    "damage",
    [
        lambda s: s[:-1],
        lambda s: s + "A",
        lambda s: s[:-1] + ("A" if s[-1] != "A" else "B"),
        str.upper,
    ],
)
def test_a_secret_with_anything_changed_opens_nothing(tokens: Tokens, damage: object) -> None:
    secret, _ = tokens.create("bot", spaces=["work"], rights=["read"])
    assert callable(damage)
    assert tokens.grant(damage(secret)) is None


@pytest.mark.parametrize(
    "secret",
    ["", "clew_", "Bearer x", "clew_" + "0" * 70, "\udce4\0é", "clew_\udce4\0é", "x" * 1_000_000],
)
def test_what_was_never_a_secret_opens_nothing(tokens: Tokens, secret: str) -> None:
    tokens.create("bot", spaces=None, rights=["admin"])
    assert tokens.grant(secret) is None


def test_a_secret_is_checked_without_a_look_at_the_other_tokens(
    memory: clew.Clew, tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, token = [tokens.create(name, spaces=None, rights=["read"]) for name in ("a", "b", "c")][
        1
    ]
    monkeypatch.setattr(memory.store, "kept", None)  # a call would raise
    assert tokens.grant(secret) == token.grant
    assert tokens.grant(secret[:-1]) is None


def test_the_end_of_one_secret_does_not_fit_another_token(tokens: Tokens) -> None:
    (first, _), (second, _) = (
        tokens.create(name, spaces=[name], rights=["read"]) for name in ("a", "b")
    )
    assert tokens.grant(first[:31] + second[31:]) is None


def test_a_revoked_token_is_over_at_once_for_every_handle(
    open_clew: Open, clock: FixedClock
) -> None:
    here, there = (Tokens(open_clew().store, clock) for _ in range(2))
    secret, token = here.create("bot", spaces=None, rights=["read"])
    assert there.grant(secret) is not None
    assert here.revoke(token.id) is True
    assert here.revoke(token.id) is False
    assert there.grant(secret) is None
    assert there.list() == ()


def test_a_token_ends_at_its_moment_and_stays_listed(tokens: Tokens, clock: FixedClock) -> None:
    secret, token = tokens.create("bot", spaces=None, rights=["read"], expires="2h")
    clock.advance(hours=2, microseconds=-1)
    assert tokens.grant(secret) == token.grant
    clock.advance(microseconds=1)
    assert tokens.grant(secret) is None
    assert tokens.list() == (token,)
    assert token.expired(clock())


def test_an_end_is_a_span_a_date_or_a_moment(tokens: Tokens, clock: FixedClock) -> None:
    ends: list[tuple[Any, int]] = [
        ("30d", 30),
        ("1w", 7),
        ("48h", 2),
        (timedelta(days=3), 3),
        (clock() + timedelta(days=5), 5),
    ]
    for number, (given, days) in enumerate(ends):
        made = tokens.create(f"t{number}", spaces=None, rights=["read"], expires=given)[1]
        assert made.expires == clock() + timedelta(days=days)
    whole_day = tokens.create("date", spaces=None, rights=["read"], expires=date(2026, 12, 31))[
        1
    ].expires
    assert whole_day is not None
    assert whole_day.isoformat() == "2026-12-31T23:59:59.999999+00:00"


def test_a_name_is_taken_until_its_token_is_over(tokens: Tokens, clock: FixedClock) -> None:
    _, first = tokens.create("bot", spaces=None, rights=["read"], expires="1d")
    with pytest.raises(InputError, match=first.id):
        tokens.create(" bot ", spaces=None, rights=["read"])
    clock.advance(days=1)
    second = tokens.create("bot", spaces=None, rights=["read"])[1]
    assert [each.id for each in tokens.list()] == [first.id, second.id]
    tokens.revoke(second.id)
    tokens.create("bot", spaces=None, rights=["read"])


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": ""}),
        ("name", {"name": "a\0b"}),
        ("name", {"name": "x" * 201}),
        ("spaces", {"spaces": []}),
        ("spaces", {"spaces": "work"}),
        ("spaces", {"spaces": 7}),
        ("spaces", {"spaces": ["ok", ""]}),
        ("spaces", {"spaces": [f"s{n}" for n in range(1001)]}),
        ("rights", {"rights": []}),
        ("rights", {"rights": ["red"]}),
        ("expires", {"expires": "soon"}),
        ("expires", {"expires": "0d"}),
        ("expires", {"expires": "-3d"}),
        ("expires", {"expires": "999999w"}),
        ("expires", {"expires": "2026-02-28"}),
        ("expires", {"expires": timedelta.max}),
    ],
)
def test_bad_input_is_named_and_nothing_is_kept(
    tokens: Tokens, field: str, given: dict[str, object]
) -> None:
    options: dict[str, object] = {"name": "bot", "spaces": ["work"], "rights": ["read"], **given}
    with pytest.raises(InputError) as caught:
        tokens.create(**options)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert tokens.list() == ()


def test_the_store_and_its_backup_hold_no_secret_and_the_backup_still_knows_it(
    open_clew: Open, path: Path, clock: FixedClock
) -> None:
    memory = open_clew()
    secret, token = Tokens(memory.store, clock).create("bot", spaces=["work"], rights=["read"])
    copy = memory.backup(path.with_name("copy.clew"))
    assert Tokens(open_clew(copy).store, clock).grant(secret) == token.grant
    files = [file for file in path.parent.iterdir() if file.is_file()]
    assert len(files) >= 2
    assert not any(secret[-43:].encode() in file.read_bytes() for file in files)


def test_an_export_has_no_tokens(memory: clew.Clew, tokens: Tokens) -> None:
    _, token = tokens.create("canary-name", spaces=["work"], rights=["read"])
    memory.remember("The staging database listens on port 5433")
    lines = "".join(memory.export())
    assert "5433" in lines
    assert token.id not in lines
    assert "canary-name" not in lines


@pytest.mark.parametrize(
    "damaged", [{"rights": ["all"]}, {"expires": "never"}, {"spaces": 3}, {"created": None}]
)
def test_a_damaged_record_grants_nothing_and_can_be_revoked(
    memory: clew.Clew, tokens: Tokens, damaged: dict[str, object]
) -> None:
    secret, token = tokens.create("bot", spaces=["work"], rights=["read"])
    other, _ = tokens.create("other", spaces=["work"], rights=["read"])
    memory.store.keep(KIND, token.id, {**memory.store.kept(KIND)[token.id], **damaged})
    with pytest.raises(CorruptStoreError, match=f"token revoke {token.id}"):
        tokens.grant(secret)
    assert tokens.grant(other) is not None  # one damaged record shuts out nobody else
    assert tokens.revoke(token.id)


def test_a_record_without_a_hash_opens_for_nobody(memory: clew.Clew, tokens: Tokens) -> None:
    secret, token = tokens.create("bot", spaces=None, rights=["admin"])
    body = {
        name: value for name, value in memory.store.kept(KIND)[token.id].items() if name != "hash"
    }
    memory.store.keep(KIND, token.id, body)
    assert tokens.grant(secret) is None
    assert tokens.grant(f"{PREFIX}{token.id}_") is None


def test_what_is_kept_is_a_hash_and_what_people_see(memory: clew.Clew, tokens: Tokens) -> None:
    secret, token = tokens.create("bot", spaces=["work"], rights=["write"], expires="30d")
    body = memory.store.kept(KIND)[token.id]
    assert set(body) == {"name", "hash", "rights", "spaces", "created", "expires"}
    assert secret[-43:] not in json.dumps(body)
    assert secret[-43:] not in repr(token)
