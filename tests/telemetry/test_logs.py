"""Lines of a log: whole, in order, under the request's id, and silent unless asked for."""

from __future__ import annotations

import contextvars
import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.engine.telemetry import current_request_id, requested
from clew.engine.telemetry.logs import start_logging
from clew.errors import InputError
from clew.settings import LogSettings
from tests.conftest import Open
from tests.telemetry.conftest import TEXTS


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    start_logging(LogSettings(level="debug", format="json"), stream=stream)
    yield stream
    start_logging(LogSettings())


def lines(log: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_each_operation_is_one_line_with_its_numbers(
    open_clew: Open, log: io.StringIO, tmp_path: Path
) -> None:
    memory = open_clew()
    memory.remember_many([*TEXTS, "ok"])
    answer = memory.recall("staging port", preset="recent", recipe="fast", k=3)
    file = tmp_path / "notes.md"
    file.write_text("# Berths\n\nThe northern berth is closed in winter.\n")
    memory.import_path(file)
    written, recalled, imported = lines(log)
    assert (written["operation"], written["outcome"], written["counts"]) == (
        "remember_many",
        "done",
        {"inserted": 2, "rejected": 1},
    )
    assert (imported["operation"], imported["counts"], imported["files"]) == (
        "import",
        {"imported": 1},
        1,
    )
    expected = {
        "level": "info",
        "logger": "clew.operations",
        "operation": "recall",
        "outcome": "hits",
        "recall_id": answer.id,
        "recipe": "fast",
        "preset": "recent",
        "k": 3,
        "returned": len(answer.hits),
        "filtered": answer.filtered_count,
        "nothing_relevant": False,
        "notes": 0,
        "candidates.sparse": answer.stats["candidates"]["sparse"],
        "stages": {each["stage"]: each["milliseconds"] for each in answer.stats["stages"]},
    }
    assert {name: recalled.get(name) for name in expected} == expected
    assert recalled["milliseconds"] >= answer.stats["milliseconds"]


def test_a_failure_is_a_warning_with_its_code_alone(open_clew: Open, log: io.StringIO) -> None:
    with pytest.raises(InputError):
        open_clew().recall("which port?", preset="no such preset")
    (line,) = lines(log)
    assert (line["level"], line["outcome"], line["error"], line["error_type"]) == (
        "warning",
        "error",
        "input.invalid",
        "InputError",
    )
    assert "no such preset" not in log.getvalue()


def test_what_a_request_causes_bears_its_id_also_in_a_thread(
    open_clew: Open, log: io.StringIO
) -> None:
    memory = open_clew()
    with requested("req-1"), ThreadPoolExecutor(1) as pool:
        memory.recall("staging port")
        pool.submit(contextvars.copy_context().run, memory.recall, "staging port").result()
    memory.recall("staging port")
    assert [line.get("request_id") for line in lines(log)] == ["req-1", "req-1", None]


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, 'a"b', "a\nb", "\u202e", None])
def test_an_id_that_is_unfit_for_a_log_is_replaced(given: str | None) -> None:
    with requested(given) as chosen:
        assert chosen != given
        assert chosen.isalnum()
        assert current_request_id() == chosen
    assert current_request_id() == ""


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_in_a_message_breaks_its_line(form: str) -> None:
    stream = io.StringIO()
    start_logging(LogSettings(level="info", format=form), stream=stream)
    logging.getLogger("clew.http").info(
        "GET /a\nforged\r\x1b[2J \u202e\u2028 %s",
        "\ud800",
        extra={"status": 200, "path": "/b\nforged"},
    )
    written = stream.getvalue()
    assert written.count("\n") == 1
    assert written.endswith("\n")
    assert not set(written[:-1]) & set("\r\x1b\u202e\u2028\ud800")
    assert "200" in written


def test_the_text_form_has_the_same_facts(open_clew: Open) -> None:
    stream = io.StringIO()
    start_logging(LogSettings(level="info"), stream=stream)
    open_clew().remember(TEXTS[0])
    assert (
        " info clew.operations remember: inserted operation=remember outcome=inserted milliseconds="
        in stream.getvalue()
    )


def test_an_exception_is_told_by_type_and_place_and_its_message_only_by_request() -> None:
    for include_text in (False, True):
        stream = io.StringIO()
        start_logging(
            LogSettings(level="info", format="json"), stream=stream, include_text=include_text
        )
        try:
            int("canary-in-a-message")
        except ValueError:
            logging.getLogger("clew.http").exception("request failed")
        (line,) = lines(stream)
        assert line["exception"]["type"] == "ValueError"
        assert line["exception"]["at"][-1].startswith("test_logs.py:")
        assert ("canary-in-a-message" in stream.getvalue()) is include_text


def test_the_level_decides_what_is_written(open_clew: Open) -> None:
    memory = open_clew()
    for level, expected in (("info", 2), ("warning", 1), ("error", 0)):
        stream = io.StringIO()
        start_logging(LogSettings(level=level), stream=stream)
        memory.recall("staging port")
        with pytest.raises(InputError):
            memory.recall("")
        assert len(stream.getvalue().splitlines()) == expected


def test_without_a_level_a_program_that_logs_gets_the_records(
    open_clew: Open, caplog: pytest.LogCaptureFixture
) -> None:
    memory = open_clew()
    with caplog.at_level(logging.INFO):
        memory.recall("staging port")
    (record,) = [each for each in caplog.records if each.name == "clew.operations"]
    assert record.getMessage().startswith("recall: ")
    assert vars(record)["facts"]["recipe"] == "balanced"


def test_opened_twice_it_writes_each_line_once(
    open_clew: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        memory = open_clew(log={"level": "info"})
    memory.recall("staging port")
    assert capsys.readouterr().err.count("recall: ") == 1


def test_the_command_line_logs_to_stderr_and_its_answer_stays_whole(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "CLEW_MODEL__EMBEDDER": "hashing",
        "CLEW_STORE": str(tmp_path / "a.clew"),
    }
    spoken = {"CLEW_LOG__LEVEL": "info", "CLEW_LOG__FORMAT": "json"}
    for extra in ({}, spoken):
        run = subprocess.run(
            [sys.executable, "-m", "clew", "add", TEXTS[0], "--json"],
            env={**environment, **extra},
            capture_output=True,
            text=True,
            check=True,
        )
        assert set(json.loads(run.stdout)) >= {"outcome", "id"}
        assert [json.loads(line)["operation"] for line in run.stderr.splitlines()] == (
            ["remember"] if extra else []
        )


def test_a_silent_failure_prints_nothing(
    open_clew: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(clew.ClewError):
        open_clew().recall("")
    assert capsys.readouterr() == ("", "")
