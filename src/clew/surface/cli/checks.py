"""The examinations of `clew doctor`: each looks at one thing and never raises."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from clew import __version__
from clew.errors import ClewError
from clew.files import expanded, open_to_others
from clew.models import card as home
from clew.models import library, load_reranker
from clew.models import load as load_model
from clew.models.card import Purpose
from clew.ports import SupportsTokens
from clew.settings import Loaded
from clew.surface.cli.session import Session
from clew.surface.cli.text import counted, size

Status = Literal["ok", "warning", "problem"]

# a store can be looked at without loading one
WITHOUT_MODEL: dict[str, Any] = {"model.embedder": "none"}
SCARCE_BYTES = 500_000_000  # below this a store of 100k memories may not fit any more
SERVERS = ("ollama", "openai")  # adapters that send texts to a server
NO_ROOM_BYTES = 20_000_000  # below this not even a journal is safe
WHOLE_VERIFY_LIMIT = 20_000  # memories that `verify` checks in about a second


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `way_out` says what to do where something is to be done."""

    name: str
    status: Status
    detail: str
    way_out: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the check as JSON-ready data."""
        return asdict(self)


def examine(session: Session) -> list[Check]:
    """Return all checks; what one finds out another may need, so a failed one ends its own chain only."""
    checks = [_python(), _sqlite(), _dot_products()]
    try:
        loaded = session.settings()
    except ClewError as error:
        return [
            *checks,
            Check(
                "settings",
                "problem",
                error.message,
                "Mend the place named, then run clew doctor again.",
            ),
        ]
    path = expanded(session.store) if session.store else loaded.settings.store.file
    checks.append(_settings(loaded))
    if "://" in (session.store or loaded.settings.store.path):
        return [*checks, *_database(session), *_model(loaded), *_reranker(loaded), _network(loaded)]
    return [
        *checks,
        *_store(session, path),
        *_model(loaded),
        *_reranker(loaded),
        _network(loaded),
        _disk(path),
    ]


def _python() -> Check:
    return Check(
        "clew", "ok", f"{__version__} on Python {platform.python_version()}, {sys.platform}"
    )


def _settings(loaded: Loaded) -> Check:
    file = str(loaded.file) if loaded.file else "the defaults; no file"
    named = sorted(
        {
            source.removeprefix("env:")
            for source in loaded.sources.values()
            if source.startswith("env:")
        }
    )
    return Check(
        "settings",
        "ok",
        f"{file}; overridden by the environment: {', '.join(named)}" if named else file,
    )


def _sqlite() -> Check:
    try:
        with (
            TemporaryDirectory() as folder,
            closing(sqlite3.connect(Path(folder) / "probe")) as connection,
        ):
            connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    except sqlite3.Error as error:
        return Check(
            "sqlite",
            "problem",
            f"{sqlite3.sqlite_version}: {error}",
            "Use a Python whose sqlite3 has FTS5, such as python.org's.",
        )
    if mode != "wal":
        return Check(
            "sqlite",
            "warning",
            f"{sqlite3.sqlite_version} with FTS5, without WAL",
            "Keep temporary files on a local disk.",
        )
    return Check("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5 and WAL")


def _dot_products() -> Check:
    if find_spec("simsimd") is None:
        return Check(
            "scan",
            "warning",
            "vectors are searched with numpy: the same answers, slower",
            "pip install simsimd",
        )
    return Check("scan", "ok", "vectors are searched with simsimd")


def _database(session: Session) -> Iterator[Check]:
    """Check a store on a server; nothing of its URL is shown, which may hold a password."""
    try:
        with session.clew(**WITHOUT_MODEL) as clew:
            stats = clew.stats()
            yield Check(
                "store",
                "ok",
                f"PostgreSQL: {counted(stats['nodes'], 'memory')}, schema {stats['schema']}, {size(stats['bytes'])}",
            )
            yield from _soundness(clew.verify, stats)
            yield _vectors(session, stats)
            yield from _token_codes(session, clew.store.stats()["token_codes"])
    except ClewError as error:
        yield Check(
            "store", "problem", error.message, "See the message, and docs/guide/postgres.md."
        )


def _store(session: Session, path: Path) -> Iterator[Check]:
    if session.store == ":memory:" or not path.exists():
        yield Check("store", "ok", f"{path} is not there yet; the first clew add makes it")
        return
    try:
        with session.clew(**WITHOUT_MODEL) as clew:
            stats = clew.stats()
            yield Check(
                "store",
                "ok",
                f"{path}: {counted(stats['nodes'], 'memory')}, schema {stats['schema']}, {size(stats['bytes'])}",
            )
            if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
                yield Check(
                    "store",
                    "warning",
                    "it can be read, not written",
                    "Check the permissions of the file and its folder.",
                )
            if open_to_others(path):
                mode = f"{stat.S_IMODE(path.stat().st_mode):o}"
                yield Check(
                    "store",
                    "warning",
                    f"other users can open it (mode {mode})",
                    f"chmod 600 {shlex.quote(str(path))}*",
                )
            yield from _soundness(clew.verify, stats)
            yield _vectors(session, stats)
            yield from _token_codes(session, clew.store.stats()["token_codes"])
    except ClewError as error:
        yield Check(
            "store",
            "problem",
            error.message,
            "See the message; put a backup in its place with: clew restore BACKUP",
        )


def _soundness(verify: Callable[[], Any], stats: dict[str, Any]) -> Iterator[Check]:
    if stats["nodes"] > WHOLE_VERIFY_LIMIT:
        yield Check("verify", "ok", "not run: the store is large", "Run it by itself: clew verify")
        return
    problems = verify()
    yield from (
        Check("verify", "problem", f"{problem.check}: {problem.detail}", problem.way_out)
        for problem in problems
    )
    if not problems:
        yield Check("verify", "ok", "everything derived matches the truth")


def _vectors(session: Session, stats: dict[str, Any]) -> Check:
    chosen, kept = session.settings().settings.model.embedder, stats["model"]
    configured = _model_id(chosen)
    if kept and configured and configured != kept:
        name = kept.partition("@")[0]  # most models are configured under it
        stay = (
            f"CLEW_MODEL__EMBEDDER={name}"
            if _model_id(name) == kept
            else f"name {kept} in CLEW_MODEL__EMBEDDER"
        )
        detail = f"the store is on {kept}, and {configured} is configured: what needs a vector is refused"
        return Check(
            "vectors",
            "problem",
            detail,
            f"Move the store with: clew reembed; or stay with its model: {stay}",
        )
    if stats["unembedded"] and chosen != "none":
        return Check(
            "vectors",
            "warning",
            f"{counted(stats['unembedded'], 'memory')} without a vector, found by words only",
            "clew reembed",
        )
    return Check(
        "vectors", "ok", f"{counted(stats['vectors'], 'vector')} of {kept or 'no model yet'}"
    )


def _token_codes(session: Session, codes: dict[str, int]) -> Iterator[Check]:
    """Look for memories without codes where the configured model would make them."""
    chosen = session.settings().settings.model
    try:
        makes = chosen.token_codes and isinstance(
            load_model(chosen.embedder, auto_pull=False), SupportsTokens
        )
    except ClewError:
        makes = False  # `_model` tells
    if makes and codes["missing"]:
        detail = f"{counted(codes['missing'], 'memory')} without token codes, ranked by words and one vector alone"
        yield Check("token codes", "warning", detail, "clew reembed")
    elif makes:
        yield Check(
            "token codes",
            "ok",
            f"{counted(codes['nodes'], 'memory')} with token codes, {size(codes['bytes'])} in all",
        )


def _model_id(spec: str) -> str | None:
    """Return the id under which a store keeps the vectors of a model, or None where that cannot be known."""
    try:
        embedder = load_model(spec, auto_pull=False)
        known = None if embedder is None else embedder.id
    except ClewError:
        known = None  # `_model` tells
    return known


def _model(loaded: Loaded) -> Iterator[Check]:
    name = loaded.settings.model.embedder
    if name == "none":
        yield Check(
            "model",
            "warning",
            "none is configured: recall is by words",
            "Set model.embedder to arctic-embed-s.",
        )
        return
    known = {listed.card.name: listed for listed in library.list_models()}
    if name not in known:
        yield Check(
            "model", "ok", f"{name}: not of the catalogue, so its files are not checked here"
        )
        return
    if known[name].card.purpose is not Purpose.EMBED:
        yield Check(
            "model", "problem", f"{name} makes no vectors", "Set model.embedder to arctic-embed-s."
        )
        return
    if known[name].path is None:
        yield Check(
            "model",
            "warning",
            f"{name} is not on this machine: recall is by words until it is",
            f"clew models pull {name}",
        )
        return
    yield from _verified("model", known[name])


def _reranker(loaded: Loaded) -> Iterator[Check]:
    """Look at the reranker where the settings ask for one.

    That it is missing is told in every answer, and here before.
    """
    name = loaded.settings.rerank.model
    if name == "none" or not (
        loaded.settings.rerank.always or loaded.settings.recall.recipe == "reranked"
    ):
        return
    try:
        load_reranker(name)
    except ClewError as error:
        yield Check(
            "reranker", "problem", error.message, "Set rerank.model to ms-marco-minilm, or to none."
        )
        return
    listed = next((each for each in library.list_models() if each.card.name == name), None)
    if listed is None:
        yield Check(
            "reranker", "ok", f"{name}: not of the catalogue, so its files are not checked here"
        )
    elif listed.path is None:
        yield Check(
            "reranker",
            "warning",
            f"{name} is not on this machine: nothing is reranked until it is",
            f"clew models pull {name}",
        )
    else:
        yield from _verified("reranker", listed)


def _verified(check: str, listed: library.Listed) -> Iterator[Check]:
    problems = library.verify(listed.card.name)
    yield from (Check(check, "problem", problem.detail, problem.way_out) for problem in problems)
    if not problems:
        yield Check(check, "ok", f"{listed.card.name} in {listed.path}, hashes right")


def _network(loaded: Loaded) -> Check:
    name = loaded.settings.model.embedder
    if name.partition(":")[0] in SERVERS:
        return Check(
            "network",
            "warning",
            f"texts are sent to the server of {name} to be embedded",
            "A model on this machine: arctic-embed-s.",
        )
    telemetry = loaded.settings.telemetry
    if telemetry.enabled and telemetry.exporter == "otlp":
        return Check(
            "network",
            "warning",
            f"spans and metrics are sent to {telemetry.endpoint}",
            "Keep them here: telemetry.exporter = console.",
        )
    if home.offline():
        return Check(
            "network", "ok", f"{home.OFFLINE_VARIABLE} forbids it; nothing will be fetched"
        )
    used = (
        "may be used to fetch a missing model"
        if loaded.settings.model.auto_pull
        else "is not used by itself (model.auto_pull)"
    )
    return Check("network", "ok", f"{used}; nothing is ever sent")


def _disk(path: Path) -> Check:
    folder = next((each for each in path.absolute().parents if each.is_dir()), Path("/"))
    free = shutil.disk_usage(folder).free
    if free < SCARCE_BYTES:
        status: Status = "problem" if free < NO_ROOM_BYTES else "warning"
        return Check(
            "disk",
            status,
            f"{size(free)} free at {folder}",
            "Free some space, or move the store with --store.",
        )
    return Check("disk", "ok", f"{size(free)} free at {folder}")
