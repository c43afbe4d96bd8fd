"""Opens a Clew from a path and settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.engine.clew import Clew
from clew.engine.telemetry import Telemetry
from clew.errors import InputError, StoreError, clipped
from clew.models import load as load_model
from clew.ports import Clock, Embedder, Progress, Reranker, Store
from clew.settings import Loaded, as_dict
from clew.settings import load as load_settings

if TYPE_CHECKING:
    from clew.store.sqlite.restore import Restored

IN_MEMORY = ":memory:"
POSTGRES = ("postgresql://", "postgres://")


def open_clew(
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
    """
    loaded = load_settings(None if config is None else Path(config), overrides=settings)
    store = open_store(path, loaded)
    try:
        model = loaded.settings.model
        chosen = embedder or load_model(
            model.embedder, auto_pull=model.auto_pull, progress=progress, announce=announce
        )
        telemetry = _telemetry(loaded)
    except BaseException:
        store.close()
        raise
    made = Clew(
        store=store,
        embedder=chosen,
        settings=loaded.settings,
        clock=clock or now_utc,
        telemetry=telemetry,
        reranker=reranker,
    )
    made.setting_sources = loaded.sources
    named = loaded.settings.store.path if path is None else path
    if named != IN_MEMORY and embedder is None and reranker is None and clock is None:
        made.opened_with = {
            "path": named if _is_url(named) else str(_file(named).absolute()),
            **as_dict(loaded.settings),
        }
    return made


def _telemetry(loaded: Loaded) -> Telemetry | None:
    """Begin to log as the settings say, and return who else is told what is done.

    By default nobody is, and nothing is loaded.
    """
    log, telemetry = loaded.settings.log, loaded.settings.telemetry
    if log.level != "none":
        from clew.engine.telemetry.logs import start_logging  # noqa: PLC0415 - only when asked for

        start_logging(log, include_text=telemetry.include_text)
    if not telemetry.enabled:
        return None
    # Only when asked for
    from clew.engine.telemetry.exporters import open_telemetry  # noqa: PLC0415

    return open_telemetry(telemetry)


def open_store(path: str | Path | None, loaded: Loaded) -> Store:
    """Return the store that a path names."""
    path = loaded.settings.store.path if path is None else path
    if path == IN_MEMORY:
        from clew.store.memory import MemoryStore  # noqa: PLC0415 - only when asked for

        return MemoryStore()
    if isinstance(path, str) and path.startswith(POSTGRES):
        return _open_postgres(path, loaded)
    if _is_url(path):
        raise InputError(
            "path",
            path,
            "names a kind of store that this version does not have",
            "Give the path of a file, postgresql://…, or ':memory:'.",
        )
    from clew.store.sqlite import SqliteStore  # noqa: PLC0415 - only when asked for

    options = loaded.settings.store
    return SqliteStore.open(
        _file(path),
        synchronous=options.synchronous,
        busy_timeout_seconds=options.busy_timeout_seconds,
    )


def _is_url(path: str | Path) -> bool:
    return isinstance(path, str) and "://" in path


def _open_postgres(url: str, loaded: Loaded) -> Store:
    try:
        from clew.store.postgres import PostgresStore  # noqa: PLC0415 - only when asked for
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("psycopg"):
            raise
        raise StoreError(
            "A store on PostgreSQL needs its driver. Install it with: pip install 'clew[postgres]'"
        ) from error
    return PostgresStore.open(url, busy_timeout_seconds=loaded.settings.store.busy_timeout_seconds)


def restore_backup(
    backup: str | Path,
    path: str | Path | None = None,
    *,
    config: str | Path | None = None,
    keep: bool = True,
    force: bool = False,
) -> Restored:
    """Verify a backup and put it in the place of a store, by default the one of the settings.

    Nobody may use that store meanwhile.

    The replaced store is kept beside it and named in the result, unless `keep` is false. `force`
    replaces a file that is so damaged that it cannot be recognised as a store.
    """
    # Only when asked for
    from clew.store.sqlite.restore import restore_backup as restore  # noqa: PLC0415

    target = (
        load_settings(None if config is None else Path(config)).settings.store.path
        if path is None
        else path
    )
    if target == IN_MEMORY or (isinstance(target, str) and "://" in target):
        raise InputError("path", target, "is no file", "Name the file of the store.")
    return restore(_file(backup), _file(target), keep=keep, force=force)


def _file(path: str | Path) -> Path:
    """Return the path with `~` expanded, or say why no file can have it."""
    try:
        file = Path(path).expanduser()
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return file  # a new one, or the store will say that its folder cannot be made
    except (
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:  # too long, forbidden; no such home; no text; a NUL in it
        raise InputError(
            "path",
            path,
            f"cannot name a store ({getattr(error, 'strerror', None) or clipped(str(error))})",
            "Give the path of a file, or ':memory:'.",
        ) from error
    return file


def now_utc() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
