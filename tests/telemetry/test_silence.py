"""What people wrote is in no log, span or metric, and nothing leaves the machine, unless it was asked for."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.engine.telemetry.logs import start_logging
from clew.errors import ModelServiceError
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole
from clew.settings import LogSettings
from clew.types import Vectors
from tests.conftest import Open
from tests.telemetry.collector import collecting
from tests.telemetry.conftest import TEXTS

CANARY = "zanzibarcanary"
TOLD = f"The {CANARY} database listens on port 5433"


class Quoting(HashingEmbedder):
    """A model whose errors quote what it was given, as servers' do."""

    failure: type[Exception] | None = None

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        if self.failure is not None:
            raise self.failure(f"cannot embed {list(texts)!r}")
        return super().embed(texts, role=role)


def lived(memory: clew.Clew, model: Quoting, folder: Path) -> None:
    """Do everything that is told, with the canary wherever somebody could write it, and fail in every way."""
    fields: dict[str, Any] = {
        "title": CANARY,
        "tags": [CANARY],
        "metadata": {CANARY: CANARY},
        "source": CANARY,
        "space": CANARY,
    }
    id = str(memory.remember(TOLD, **fields, idempotency_key=CANARY).id)
    memory.remember_many(
        [
            f"Another {CANARY} memory about the harbour",
            CANARY,
            {"text": TOLD, "on_duplicate": "insert"},
        ]
    )
    file = folder / f"{CANARY}.md"
    file.write_text(f"# {CANARY}\n\n{TOLD}\n")
    memory.import_path(file, folder / f"missing-{CANARY}.md")
    memory.import_data(TOLD, name=CANARY)
    for failure in (None, ModelServiceError, ValueError):
        model.failure = failure
        with suppress(ValueError):
            memory.recall(f"which {CANARY} port?", where={"space": CANARY})
        with suppress(ValueError):
            memory.remember(f"The {CANARY} harbour has {failure} berths in all", space=CANARY)
    model.failure = None
    refused: Sequence[Any] = (
        lambda: memory.recall(CANARY, preset=CANARY),
        lambda: memory.recall(CANARY, where={CANARY: 1}),
        lambda: memory.recall(CANARY * memory.settings.recall.max_query_characters),
        lambda: memory.remember(TOLD, category=CANARY),
        lambda: memory.remember(TOLD, space=CANARY, on_duplicate="error"),
        lambda: memory.forget(CANARY),
        lambda: memory.supersede(CANARY, TOLD),
        lambda: memory.update(id, importance=CANARY),  # type: ignore[arg-type]
        lambda: memory.import_path(file, format=CANARY),
    )
    for each in refused:
        with pytest.raises(clew.ClewError):
            each()
    memory.update(id, title=f"{CANARY} again")
    memory.invalidate(str(memory.supersede(id, f"The {CANARY} database listens on port 5434").id))
    memory.forget(id, tombstone=False)


@pytest.mark.usefixtures("collectors_are_waited_for")
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_people_wrote_is_in_no_log_span_or_metric_unless_asked_for(
    open_clew: Open, tmp_path: Path, form: str
) -> None:
    for include_text in (False, True):
        log = io.StringIO()
        model = Quoting()
        with collecting() as collector:
            telemetry = {
                "enabled": True,
                "exporter": "otlp",
                "endpoint": collector.address,
                "include_text": include_text,
            }
            memory = open_clew(
                embedder=model, telemetry=telemetry, log={"level": "debug", "format": form}
            )
            start_logging(
                LogSettings(level="debug", format=form), include_text=include_text, stream=log
            )
            lived(memory, model, tmp_path)
            assert memory.stats()["ledger"]["telemetry_failure"] is None
            memory.close()
        assert len(log.getvalue().splitlines()) == len(collector.spans) > 20
        assert collector.metrics
        for found in (
            log.getvalue(),
            *(
                body.decode("utf-8", "replace")
                for body in collector.bodies
                if b"clew.recall_id" in body
            ),
        ):
            # with the permission it is there, so this test would see it
            assert (CANARY in found) is include_text
        if not include_text:
            assert not any(CANARY.encode() in body for body in collector.bodies)


@pytest.mark.usefixtures("collectors_are_waited_for")
def test_a_metric_never_bears_what_people_wrote_not_even_with_permission(
    open_clew: Open, tmp_path: Path
) -> None:
    model = Quoting()
    with collecting() as collector:
        telemetry = {
            "enabled": True,
            "exporter": "otlp",
            "endpoint": collector.address,
            "include_text": True,
        }
        memory = open_clew(embedder=model, telemetry=telemetry)
        lived(memory, model, tmp_path)
        memory.close()
    assert len(collector.metrics) == 9
    assert not any(CANARY in str(metric) for metric in collector.metrics.values())


@pytest.mark.parametrize("exporter", ["default", "otlp"])
def test_nothing_leaves_the_machine_unless_an_exporter_is_named(
    open_clew: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exporter: str
) -> None:
    attempts: list[object] = []

    def forbidden(*arguments: Any, **options: Any) -> Any:
        attempts.append(arguments)
        raise OSError("the network is forbidden")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, forbidden)
    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    monkeypatch.setattr(socket, "create_connection", forbidden)
    options = (
        {} if exporter == "default" else {"telemetry": {"enabled": True, "exporter": exporter}}
    )
    memory = open_clew(**options)
    file = tmp_path / "notes.md"
    file.write_text("The northern berth is closed in winter.\n")
    memory.remember_many(TEXTS)
    memory.import_path(file)
    memory.recall("staging port")
    memory.close()
    # the same, told to send, tries to: so this test would see it
    assert bool(attempts) is (exporter == "otlp")


def test_by_default_nothing_of_opentelemetry_is_loaded(tmp_path: Path) -> None:
    script = (
        "import sys, json, clew\n"
        "with clew.open(':memory:', model={'embedder': 'hashing'}) as memory:\n"
        "    memory.remember('The staging database listens on port 5433')\n"
        "    memory.recall('staging port')\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('opentelemetry') or name == 'clew.engine.telemetry.spans']))"
    )
    environment = {**os.environ, "HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == []
    assert run.stderr == ""
