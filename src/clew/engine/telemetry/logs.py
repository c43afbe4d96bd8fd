"""Lines of a log: for people or as JSON, with the request's id, and without what people wrote.

Clew's loggers are `clew.…`. They are silent until a program sets up logging, or the setting
`log.level` names a level.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from clew.engine.telemetry.operation import ERROR, Operation, current_request_id
from clew.errors import clipped
from clew.times import iso

if TYPE_CHECKING:
    from clew.settings import LogSettings

ROOT = "clew"
NONE = "none"
FRAMES = 5  # of a traceback: where it happened, and how it came there
_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# else Python prints warnings of whoever set up nothing
logging.getLogger(ROOT).addHandler(logging.NullHandler())


class Logged:
    """Tells of operations by lines of `clew.operations`: INFO, and WARNING of what failed."""

    _logger = logging.getLogger(f"{ROOT}.operations")

    def listens(self, *, failed: bool) -> bool:
        """Tell whether such a line is wanted."""
        return self._logger.isEnabledFor(logging.WARNING if failed else logging.INFO)

    def record(self, done: Operation) -> None:
        """Write the line of one operation."""
        facts = {
            "operation": done.name,
            "outcome": done.outcome,
            "milliseconds": done.milliseconds,
            **done.facts,
        }
        more = {"stages": dict(done.stages), "counts": dict(done.counts)}
        level = logging.WARNING if done.outcome == ERROR else logging.INFO
        self._logger.log(
            level,
            "%s: %s",
            done.name,
            done.outcome,
            extra={"facts": facts | {name: each for name, each in more.items() if each}},
        )

    def embedded(self, role: str, texts: int, seconds: float) -> None:
        """Say nothing: the operation that needed the vectors has its line."""

    def close(self) -> None:
        """Keep nothing back."""


class Lines(logging.Formatter):
    """A line for people: time, level, logger, message, and the facts as key=value."""

    def __init__(self, *, include_text: bool = False) -> None:
        super().__init__()
        self._include_text = include_text

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; whatever is in it, it is one."""
        document = self.document(record)
        head = " ".join(str(document.pop(name)) for name in ("time", "level", "logger", "message"))
        return _CONTROLS.sub(
            _escaped,
            " ".join([head, *(f"{name}={_shown(value)}" for name, value in document.items())]),
        )

    def document(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return the record as JSON-ready data."""
        extra = {name: value for name, value in vars(record).items() if name not in _USUAL}
        request_id = current_request_id()
        return {
            "time": iso(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **({"request_id": request_id} if request_id else {}),
            **extra.pop("facts", {}),
            **extra,
            **(
                {"exception": self._exception(record.exc_info[1])}
                if record.exc_info and record.exc_info[1]
                else {}
            ),
        }

    def _exception(self, error: BaseException) -> dict[str, Any]:
        """Return where it happened; its message may quote a memory, so only by request."""
        frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
        where = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        return {
            "type": type(error).__name__,
            "at": where,
            **({"message": clipped(str(error))} if self._include_text else {}),
        }


class JsonLines(Lines):
    """A line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: ASCII alone, so that every terminal and every file can hold it."""
        return json.dumps(self.document(record), default=str)


def start_logging(
    settings: LogSettings, *, include_text: bool = False, stream: TextIO | None = None
) -> None:
    """Write what Clew's loggers say to stderr, in the form and from the level that the settings name; the last call counts."""
    logger = logging.getLogger(ROOT)
    for earlier in [each for each in logger.handlers if isinstance(each.formatter, Lines)]:
        logger.removeHandler(earlier)
    # else a program that logs too would write every line twice
    logger.propagate = settings.level == NONE
    if settings.level == NONE:
        logger.setLevel(logging.NOTSET)
        return
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(
        (JsonLines if settings.format == "json" else Lines)(include_text=include_text)
    )
    logger.addHandler(handler)
    logger.setLevel(settings.level.upper())


def _shown(value: object) -> str:
    return (
        json.dumps(value, default=str, ensure_ascii=False)
        if isinstance(value, dict | list | tuple)
        else str(value)
    )


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
