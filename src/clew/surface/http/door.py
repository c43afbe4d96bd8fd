"""Who is calling: from the header Authorization to a grant, or no further."""

from __future__ import annotations

import ipaddress

from clew.engine.access import OWNER, Grant
from clew.engine.tokens import Tokens
from clew.errors import UnauthorisedError

SCHEME = "bearer"
WAY_OUT = "Send the header Authorization: Bearer TOKEN; make a token with: clew token create NAME --space SPACE"


class Door:
    """Authenticates callers: by a token if the store has or has had one, or one is required anyway; else every caller is the owner."""

    def __init__(self, tokens: Tokens, *, required: bool) -> None:
        """Take the store's tokens, and whether one is needed while there is none."""
        self._tokens = tokens
        self._required = required

    def grant(self, authorization: str | None) -> Grant:
        """Return what the caller may do, or raise an UnauthorisedError; reads the store, so that a revocation counts at once."""
        if authorization is None:
            if self.locked():
                raise UnauthorisedError(f"A token is needed. {WAY_OUT}")
            return OWNER
        scheme, _, secret = authorization.strip().partition(" ")
        found = self._tokens.grant(secret.strip()) if scheme.casefold() == SCHEME else None
        if found is None:
            raise UnauthorisedError(f"The token is not known, or its time is over. {WAY_OUT}")
        return found

    def locked(self) -> bool:
        """Tell whether a token is needed; it still is after the last one has expired or was revoked."""
        return self._required or self._tokens.required()


def loopback(host: str) -> bool:
    """Tell whether only this machine reaches an address; a name other than localhost may mean anything.

    >>> [loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"
