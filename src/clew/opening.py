"""Open a memory: a store on this machine, or a server by its address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clew.engine.opening import open_clew
from clew.errors import InputError

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.ports import Clock, Embedder, Progress, Reranker


def open_memory(
    path: str | Path | None = None,
    *,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    config: str | Path | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
    **settings: Any,
) -> Clew:
    """Open a store, making it if it is new; `:memory:` keeps everything in this process.

    Without a path the one from the settings is used (CLEW_STORE, store.path). Settings are given as
    `recall={"k": 5}` or `**{"recall.k": 5}` and override file and environment. An embedder given
    here takes the place of the configured one, and so does a reranker. Nothing is loaded or fetched
    before it is needed.

    The address of a server (http:// or https://) gives a `clew.Client`, which takes `token`,
    `timeout` and `retries`; the settings are the server's. A type checker cannot tell an address
    from a path: code that is checked names `clew.Client` itself.
    """
    local = {
        "embedder": embedder,
        "reranker": reranker,
        "config": config,
        "clock": clock,
        "progress": progress,
        "announce": announce,
    }
    given = {name: value for name, value in local.items() if value is not None} | settings
    if not (isinstance(path, str) and path.startswith(("http://", "https://"))):
        return open_clew(path, **given)
    for name, value in given.items():
        if name not in ("token", "timeout", "retries"):
            way_out = "Set it where the server runs (clew serve), and leave it out here."
            raise InputError(name, value, "is not an option of a client", way_out)
    from clew.client import Client  # noqa: PLC0415 - needs httpx, which a local store does not

    return cast("Clew", Client(path, **settings))
