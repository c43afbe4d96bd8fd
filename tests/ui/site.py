"""A server of the page for tests and screenshots, and the stores that are shown."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

import clew
from clew.evaluate.report import Report, write
from clew.surface.http.app import make_app
from clew.surface.http.serving import bound
from clew.surface.ui.signin import PageKey
from tests.evaluate.test_report import TIMINGS, result, samples
from tests.waiting import LONG_SECONDS

LIMITS = {
    "requests_per_second": 0,
    "receive_seconds": LONG_SECONDS,
    "answer_seconds": LONG_SECONDS,
    "port": 0,
}
HOSTILE = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>{{7*7}}\" onload=alert(1) '"
RIGHT_TO_LEFT = "قاعدة بيانات الاختبار تستمع على المنفذ 5433 👩‍👩‍👧‍👦 🧵"


@dataclass
class Site:
    """A running server and the Clew behind it."""

    clew: clew.Clew
    url: str


class Quiet(uvicorn.Server):
    """A server in a thread, which no signal reaches; it says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@contextmanager
def running(memory: clew.Clew, *, page_key: PageKey | None = None) -> Iterator[Site]:
    """Serve a Clew on a free port of this machine."""
    with bound(memory.settings.serve) as listening:
        app = make_app(memory, page_key=page_key)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, ws="none", lifespan="on", loop="asyncio"
        )
        server = Quiet(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        server.listening.wait()
        try:
            yield Site(memory, f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()


PEOPLE = ("Ann Weber", "Bruno Costa", "Chiyo Tanaka", "Dana Novak", "Emil Haas")
PLACES = ("Rotterdam", "Gdansk", "Valparaiso", "Busan", "Oakland")


def fill(memory: clew.Clew, *, clock: Any, count: int = 48) -> dict[str, str]:
    """Remember a small harbour's worth of facts, changes and names.

    Return ids that tests and pictures need.
    """
    ids: dict[str, str] = {}

    def told(name: str, text: str, **fields: Any) -> str:
        outcome = memory.remember(text, **fields)
        ids[name] = str(outcome.id)
        return ids[name]

    told(
        "film",
        "The Salt Meadow is a film from 1987 directed by Ilse Marten.",
        title="The Salt Meadow",
        category="fact",
        source="films.md",
    )
    told(
        "director",
        "Ilse Marten was born in Groningen in 1951.",
        title="Ilse Marten",
        category="fact",
        source="people.md",
        importance=0.8,
    )
    told(
        "port",
        "The staging database listens on port 5433",
        title="Staging database",
        category="fact",
        tags=["db", "staging"],
        valid_from="2026-01-05",
    )
    told(
        "style",
        "Dana Novak wants summaries as three bullet points",
        category="preference",
        importance=0.9,
    )
    told(
        "error",
        "Error E4012 means that a berth number is doubled",
        category="fact",
        tags=["errors"],
        metadata={"system": "berths"},
    )
    clock.advance(days=20)
    told(
        "crane",
        "The harbour's big crane is inspected every March by Bruno Costa",
        category="procedure",
        valid_from="2026-02-01",
    )
    for number in range(count):
        who, where = PEOPLE[number % 5], PLACES[number // 5 % 5]
        told(
            f"trip{number}",
            f"{who} visited the yard in {where} on trip {number} and counted {17 + 3 * number} containers of type {number % 7}",
            category="event",
            valid_from=f"2026-01-{1 + number % 28:02d}",
            tags=["trip"],
        )
        clock.advance(hours=7)
    ids["port now"] = str(
        memory.supersede(ids["port"], "The staging database listens on port 6000 since the move").id
    )
    memory.invalidate(ids["trip3"])
    memory.protect(ids["style"])
    clock.advance(days=3)
    return ids


def write_report(folder: Path, *, category: str = "multi-hop") -> None:
    """Write a small report of `clew eval`."""
    write(folder, Report(result(category=category), samples(category=category), TIMINGS))
