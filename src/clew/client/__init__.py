"""Clients of the HTTP API."""

from clew.errors import MissingPackageError

try:
    from clew.client.clients import AsyncClient, Client
except ModuleNotFoundError as error:
    if error.name != "httpx":
        raise
    raise MissingPackageError(
        "A client of a server needs httpx. Install it with: pip install 'clew[client]'",
        extra="client",
    ) from error

__all__ = ["AsyncClient", "Client"]
