"""Who may do what, and where: one predicate, asked before anything is read, written or told."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

from clew.errors import CorruptStoreError, InputError, RefusedError
from clew.ids import LENGTH, new_id
from clew.memories.validation import MAX_NAME_CHARACTERS, line, one_of
from clew.ports import Clock, Store
from clew.times import Moment, iso, parse_time


class Right(StrEnum):
    """What a caller may do in a space; none of them holds another."""

    READ = "read"
    """Recall, look at and explain what is there."""
    WRITE = "write"
    """Remember, import, change and forget."""
    ADMIN = "admin"
    """Export, archive what faded, and, of the whole store, back up, check, load and count."""


EVERY_RIGHT = frozenset(Right)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a caller may do."""

    name: str
    rights: frozenset[Right]
    spaces: frozenset[str] | None = frozenset()
    """The spaces it holds for; None for every space and the store as a whole."""


OWNER = Grant(name="owner", rights=EVERY_RIGHT, spaces=None)
"""Whoever can open the file can do everything with it."""


def may(grant: Grant, right: Right, space: str | None) -> bool:
    """Tell whether a grant covers a right in a space, or in the store as a whole (None).

    >>> reader = Grant(name="bot", rights=frozenset({Right.READ}), spaces=frozenset({"team"}))
    >>> may(reader, Right.READ, "team"), may(reader, Right.WRITE, "team"), may(reader, Right.READ, "hr"), may(reader, Right.READ, None)
    (True, False, False, False)
    """
    return right in grant.rights and (
        grant.spaces is None or (space is not None and space in grant.spaces)
    )


def known_to(grant: Grant, space: str) -> bool:
    """Tell whether a grant may know at all that something is in a space.

    Then a lacking right is named, else nothing is there.
    """
    return any(may(grant, right, space) for right in Right)


# Tokens: how a caller who is not at the machine shows which spaces and rights are theirs.
#
# A secret is `clew_`, the token's id, `_` and 32 random bytes. The id, which everybody may know,
# finds the one record that is read; the
# random bytes are made apart from it. The store keeps the secret's SHA-256 and never the secret. A
# slow hash such as scrypt protects
# what people choose, which can be guessed; nobody guesses 256 random bits, and every request pays
# for the hash.
#
# A right is kept with all that it brings: `write` brings `read`, for whoever changes a memory is
# answered with it, and `admin` both.
# When a token was last used is not noted: that would be a write for every request.

KIND = "token"  # under which the store keeps them
# the record that says that the store has had a token
POLICY_KIND, REQUIRED = "token-policy", "required"
PREFIX = "clew_"
SECRET_BYTES = 32
MAX_SPACES = 1000
BRINGS: Mapping[Right, frozenset[Right]] = {
    Right.READ: frozenset({Right.READ}),
    Right.WRITE: frozenset({Right.READ, Right.WRITE}),
    Right.ADMIN: frozenset(Right),
}
# compared with where there is no such token, so that a wrong id takes as long as a wrong secret
_NOBODY = "0" * 64
_SPAN = re.compile(r"([0-9]{1,6})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What is known of a token; the secret is not."""

    id: str
    name: str
    rights: frozenset[Right]
    spaces: frozenset[str] | None
    """None: every space."""
    created: datetime
    expires: datetime | None = None

    def expired(self, now: datetime) -> bool:
        """Tell whether its time is over."""
        return self.expires is not None and self.expires <= now

    @property
    def grant(self) -> Grant:
        """What its bearer may do."""
        return Grant(name=self.name, rights=self.rights, spaces=self.spaces)


class Tokens:
    """The tokens of a store.

    Each call reads the store, so another process's revocation counts at once.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def create(
        self,
        name: str,
        *,
        spaces: Iterable[str] | None,
        rights: Iterable[str],
        expires: Moment | timedelta | None = None,
    ) -> tuple[str, Token]:
        """Return a new secret, which cannot be had again, and its token.

        `spaces` None is every space. `expires` is a moment, a time from now, or text such as "12h",
        "30d", "8w" or "2027-01-31". A name is taken as long as a token that has not expired bears
        it.
        """
        now = self._clock()
        token = Token(
            id=new_id(now),
            name=line("name", name, limit=MAX_NAME_CHARACTERS),
            rights=_rights(rights),
            spaces=_spaces(spaces),
            created=now,
            expires=None if expires is None else expiry(expires, now),
        )
        secret = f"{PREFIX}{token.id}_{secrets.token_urlsafe(SECRET_BYTES)}"
        with self._store.transaction():
            self._check_free(token.name, now)
            self._store.keep(POLICY_KIND, REQUIRED, {"since": iso(now)})
            self._store.keep(KIND, token.id, _body(token, _hashed(secret)))
        return secret, token

    def _check_free(self, name: str, now: datetime) -> None:
        # A name stands in logs for its bearer: two of one name could not be told apart.
        if holder := next(
            (each for each in self.list() if each.name == name and not each.expired(now)), None
        ):
            raise InputError(
                "name",
                name,
                f"is the name of token {holder.id}",
                "Choose another one, or revoke that token first.",
            )

    def list(self) -> tuple[Token, ...]:
        """Return the tokens, expired ones too, oldest first."""
        return tuple(_token(id, body) for id, body in self._store.kept(KIND).items())

    def revoke(self, id: str) -> bool:
        """End a token at once and for good; tell whether there was one."""
        with self._store.transaction():
            found = self._store.drop(KIND, line("id", id, limit=MAX_NAME_CHARACTERS))
            if found:  # the token may be from before `create` noted this
                self._store.keep(POLICY_KIND, REQUIRED, {"since": iso(self._clock())})
        return found

    def required(self) -> bool:
        """Return whether a server must ask for a token.

        The store has one, expired or not, or has had one.
        """
        return self._store.record(POLICY_KIND, REQUIRED) is not None or bool(self.list())

    def allow_anonymous(self) -> None:
        """Let a server on this machine answer without a token again.

        Refused while the store has one.
        """
        with self._store.transaction():
            if held := self.list():
                raise RefusedError(
                    f"The store has {len(held)} token{'s' if len(held) > 1 else ''}. Revoke them first with: clew token revoke ID "
                    "(clew token list shows them)."
                )
            self._store.drop(POLICY_KIND, REQUIRED)

    def grant(self, secret: str) -> Grant | None:
        """Return what the bearer of a secret may do.

        None for a secret that is wrong, revoked or expired, whichever it is.
        """
        id = secret[len(PREFIX) :][:LENGTH]
        body = self._store.record(KIND, id)
        expected = _NOBODY if body is None else str(body.get("hash", _NOBODY))
        right = hmac.compare_digest(_hashed(secret).encode(), expected.encode())
        if not right or body is None:
            return None
        token = _token(id, body)
        return None if token.expired(self._clock()) else token.grant


def expiry(given: Moment | timedelta, now: datetime) -> datetime:
    """Return when a token ends; a date alone counts to its end.

    >>> from datetime import UTC
    >>> now = datetime(2026, 3, 1, tzinfo=UTC)
    >>> iso(expiry("30d", now)), iso(expiry("2026-12-31", now))
    ('2026-03-31T00:00:00Z', '2026-12-31T23:59:59.999999Z')
    """
    span = _SPAN.fullmatch(given.strip()) if isinstance(given, str) else None
    try:
        after = timedelta(hours=int(span[1]) * _HOURS[span[2]]) if span else given
        moment = (
            now + after
            if isinstance(after, timedelta)
            else parse_time(after, "expires", end_of_day=True)
        )
    except OverflowError as error:
        raise InputError(
            "expires",
            given,
            "is beyond the last year that there is",
            'Write it as "30d", or leave it out.',
        ) from error
    if moment <= now:
        raise InputError(
            "expires",
            given,
            "is over already",
            'Name a time to come, such as "30d" or a date, or leave it out.',
        )
    return moment


def _rights(given: Iterable[str]) -> frozenset[Right]:
    listed = [given] if isinstance(given, str) else list(given)
    named = [Right(one_of("rights", each, tuple(Right))) for each in listed]
    if not named:
        raise InputError("rights", listed, "are none", f"Name at least one of {', '.join(Right)}.")
    return frozenset().union(*(BRINGS[each] for each in named))


def _spaces(given: Iterable[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(
            "spaces",
            given,
            "must be a list of names",
            'Write spaces=["work"], or None for every space.',
        )
    named = frozenset(line("spaces", each, limit=MAX_NAME_CHARACTERS) for each in given)
    if not 0 < len(named) <= MAX_SPACES:
        raise InputError(
            "spaces",
            sorted(named),
            f"must be 1 to {MAX_SPACES} names",
            "Name them, or give None for every space.",
        )
    return named


def _hashed(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _body(token: Token, hashed: str) -> dict[str, Any]:
    return {
        "name": token.name,
        "hash": hashed,
        "rights": sorted(token.rights),
        "spaces": None if token.spaces is None else sorted(token.spaces),
        "created": iso(token.created),
        "expires": None if token.expires is None else iso(token.expires),
    }


def _token(id: str, body: Mapping[str, Any]) -> Token:
    """Return what was kept; what cannot be read grants nothing."""
    try:
        spaces, expires = body["spaces"], body["expires"]
        return Token(
            id=id,
            name=body["name"],
            rights=frozenset(Right(each) for each in body["rights"]),
            spaces=None if spaces is None else frozenset(spaces),
            created=parse_time(body["created"], "created"),
            expires=None if expires is None else parse_time(expires, "expires"),
        )
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise CorruptStoreError(
            f"Token {id} cannot be read. Revoke it with: clew token revoke {id}, and make a new one.",
            id=id,
        ) from error
