"""No test depends on wall-clock time.

On a busy machine everything takes long, and nothing may fail for that.

CPU time may be measured (`tests/growth.py`). A wait has no limit of its own: `faulthandler_timeout`
in pyproject.toml ends a test that hangs. What has to wait for another process without being told
uses `tests.waiting.wait_until`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CLOCKS = {
    f"time.{name}{unit}" for name in ("time", "monotonic", "perf_counter") for unit in ("", "_ns")
}
FORBIDDEN = CLOCKS | {
    "asyncio.timeout",
    "asyncio.wait_for",
    "anyio.fail_after",
    "anyio.move_on_after",
    "threading.Timer",
}
SLEEPS = {"time.sleep", "asyncio.sleep", "anyio.sleep"}
# methods that take a limit
LIMITED = {"wait", "result", "settimeout", "join", "communicate", "acquire"}
ALLOWED = {
    (
        "tests/outside/__main__.py",
        "time.perf_counter()",
    ): "prints how long a suite of others took; nothing is judged by it",
    (
        "tests/postgres_server.py",
        "time.sleep(0.01)",
    ): "between two looks at a server, however often",
    (
        "tests/postgres_server.py",
        "time.sleep(0.02)",
    ): "between two looks at a server, however often",
    (
        "tests/ui/conftest.py",
        "expect.set_options(timeout=LONG_SECONDS * 1000)",
    ): "ends a look at a page that hangs",
    (
        "tests/waiting.py",
        "time.sleep(POLL_SECONDS)",
    ): "between two looks at a condition, however often",
    (
        "tests/worked_pages.py",
        "threading.Timer(self.PATIENCE_SECONDS, self._end)",
    ): "ends a command of a page that hangs",
    (
        "tests/durability/conftest.py",
        "threading.Event().wait(pause_seconds)",
    ): "waits for nothing: moves a kill to another point",
    (
        "tests/surface/http/test_patience.py",
        "connection.settimeout(BRIEFLY)",
    ): "a client that sends slowly, as long as it is let",
}


def dependences(source: str) -> Iterator[str]:
    """Yield the calls that depend on wall-clock time, with the names that were imported."""
    tree = ast.parse(source)
    imported = {
        name.asname or name.name: f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = ast.unparse(call.func)
            full = imported.get(name, name)
            if depends(call, full):
                yield ast.unparse(call).replace(name, full, 1)


def depends(call: ast.Call, name: str) -> bool:
    """Tell whether a call reads the clock, sleeps, or gives up after some time."""
    limit = next((each.value for each in call.keywords if each.arg == "timeout"), None)
    if name in FORBIDDEN or (
        limit is not None and not (is_literal(limit, None) or is_literal(limit, 0))
    ):
        return True
    if name in SLEEPS:
        return not (call.args and is_literal(call.args[0], 0))
    if name.startswith("httpx.") and name.partition(".")[2] in {
        "get",
        "post",
        "put",
        "delete",
        "request",
        "stream",
        "Client",
    }:
        return limit is None  # its default is five seconds
    method = name.rpartition(".")[2] if "." in name else ""
    return method in LIMITED and any(is_limit(each, method) for each in call.args)


def is_limit(argument: ast.expr, method: str) -> bool:
    """Tell whether an argument may be a number of seconds.

    `join` also joins texts, and `wait` may name a caller.
    """
    if isinstance(argument, ast.Constant):
        return isinstance(argument.value, int | float)
    return method in {"wait", "settimeout", "result"}


def is_literal(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def test_no_test_depends_on_wall_clock_time() -> None:
    found = {
        (str(path.relative_to(ROOT)), call)
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if "fixtures" not in path.parts
        for call in dependences(path.read_text(encoding="utf-8"))
    }
    assert found - ALLOWED.keys() == set()
    assert ALLOWED.keys() - found == set(), "no longer needed"


@pytest.mark.parametrize(
    "line",
    [
        "import time; time.sleep(0.1)",
        "from time import sleep; sleep(1)",
        "from time import monotonic as now; now()",
        "asyncio.sleep(0.05)",
        "subprocess.run(command, timeout=60)",
        "child.wait(60)",
        "child.wait(timeout=limit)",
        "event.wait(seconds)",
        "thread.join(5)",
        "future.result(10)",
        "connection.settimeout(5)",
        "asyncio.wait_for(work, 3)",
        "httpx.get(url)",
        "httpx.Client(base_url=url, timeout=20)",
    ],
)
def test_a_dependence_on_wall_clock_time_is_found(line: str) -> None:
    assert len(list(dependences(line))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "event.wait()",
        "', '.join(names)",
        "asyncio.sleep(0)",
        "httpx.get(url, timeout=None)",
        "time.process_time()",
        "child.communicate()",
        "sqlite3.connect(path, timeout=0)",
    ],
)
def test_waiting_without_a_limit_and_cpu_time_are_free(line: str) -> None:
    assert list(dependences(line)) == []
