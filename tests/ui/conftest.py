"""A real browser against a real server. What the page may never do fails every test.

See `Watched`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import clew
from clew.surface.ui.signin import PageKey
from clew.testing import FixedClock
from tests.ui.site import LIMITS, Site, fill, running
from tests.waiting import LONG_SECONDS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
INSTALL = "Install them as root with: tests/install_browser.sh, and the package playwright with: make .venv/.dev"
NOTE_VIOLATIONS = "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))"  # noqa: E501
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def missing() -> str:
    """Return what a browser test lacks on this machine, or nothing."""
    if find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
        return "the packages playwright and axe-playwright-python are not installed"
    return "" if any(map(shutil.which, BROWSERS)) else f"none of {', '.join(BROWSERS)} is installed"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The one browser of this process.

    Without one the tests are skipped, except where CI requires it.
    """
    if lacking := missing():
        (pytest.fail if os.environ.get("CI", "").lower() == "true" else pytest.skip)(
            f"{lacking}. {INSTALL}"
        )
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=LONG_SECONDS * 1000)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, BROWSERS))), args=ARGUMENTS
        )
        yield made
        made.close()


@dataclass
class Watched:
    """A context of the browser in which every violation, error and request to elsewhere is noted."""

    context: BrowserContext
    origin: str
    refused: set[int] = field(default_factory=set)
    """Statuses that this test provokes: the browser writes each into its console."""
    faults: list[str] = field(default_factory=list)

    def page(self, path: str = "/ui/") -> Page:
        made = self.context.new_page()
        made.on("console", self._said)
        made.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        made.on("request", lambda request: self._asked(request.url))
        made.goto(self.origin + path)
        return made

    def _said(self, message: ConsoleMessage) -> None:
        expected = any(f"status of {status} " in message.text for status in self.refused)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(f"console: {message.text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self.origin}/", "data:")):
            self.faults.append(f"request to elsewhere: {url}")


Watch = Callable[..., Watched]


@pytest.fixture
def watch(browser: Browser) -> Iterator[Watch]:
    """Make contexts of the browser; whatever they noted fails the test at its end."""
    made: list[Watched] = []

    def watching(site: Site, **options: Any) -> Watched:
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **options}
        )
        context.set_default_timeout(0)
        context.add_init_script(NOTE_VIOLATIONS)
        made.append(Watched(context, site.url))
        return made[-1]

    yield watching
    for each in made:
        each.context.close()
    assert [fault for each in made for fault in each.faults] == []


@dataclass
class Filled:
    """The store that most tests look at, and the ids in it."""

    site: Site
    ids: dict[str, str]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """A filled store that tests only read."""
    clock = FixedClock()
    folder = tmp_path_factory.mktemp("page")
    with clew.open(
        folder / "memory.clew", clock=clock, model={"embedder": "hashing"}, serve=LIMITS
    ) as memory:
        ids = fill(memory, clock=clock)
        with running(memory) as site:
            yield Filled(site, ids)


Serving = Callable[..., Site]


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Serve stores of the test's own."""
    with ExitStack() as stack:

        def serve(
            *,
            name: str = "own",
            page_key: PageKey | None = None,
            clock: FixedClock | None = None,
            fixed: bool = True,
            **settings: Any,
        ) -> Site:
            chosen: dict[str, Any] = {
                "model": {"embedder": "hashing"},
                "serve": {**LIMITS, **settings},
            }
            memory = stack.enter_context(
                clew.open(
                    tmp_path / f"{name}.clew",
                    clock=clock or (FixedClock() if fixed else None),
                    **chosen,
                )
            )
            return stack.enter_context(running(memory, page_key=page_key))

        yield serve
