"""Make the pictures of docs/guide/page.md anew: `python -m tests.ui.screenshots`.

It needs the default model and a browser.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import clew
from clew.testing import FixedClock
from tests.ui.conftest import ARGUMENTS, BROWSERS
from tests.ui.site import LIMITS, fill, running

FOLDER = Path(__file__).parents[2] / "docs" / "guide" / "page"
VIEWS = {
    "search": "/ui/?q=Where+was+the+director+of+The+Salt+Meadow+born%3F",
    "memory": "/ui/m/{port}",
    "around": "/ui/m/{crane}/around?hops=2",
    "time": "/ui/time?as_of=2026-02-20&known_at=2026-03-27",
    "store": "/ui/store",
    "eval": "/ui/eval?report=0/harbour",
}


QUESTIONS = """
default:
  memories:
  - {key: warm, text: "The deploy fails when the Redis cache is cold; run make warm first."}
  - {key: tuesday, text: "Deploys go out on Tuesday mornings after the smoke tests."}
  - {key: refund, text: "Refunds over 500 euros need a second person's approval."}
  - {key: port, text: "The staging database listens on port 5433."}
  - {key: anna, text: "Anna Keller prefers meetings before noon."}
  - {key: board, text: "Meetings are moved when someone from the board is travelling."}
  questions:
  - {ask: "why does shipping break after a restart of the cache?", needs: [warm], category: cause}
  - {ask: "who must agree to give money back?", needs: [refund], category: rule}
  - {ask: "when does Anna like to meet?", needs: [anna], category: person}
  - {ask: "which port is staging on?", needs: [port], category: fact}
  - {ask: "on which day do we ship?", needs: [tuesday], category: fact}
"""


def evaluate(folder: Path) -> None:
    """Measure on the set of the guide, so that the picture shows figures that were seen."""
    (folder / "harbour").mkdir()
    (folder / "harbour" / "memories.yaml").write_text(QUESTIONS, encoding="utf-8")
    options = [
        "--dataset",
        "memories",
        "--path",
        str(folder / "harbour"),
        "--k",
        "3",
        "--measures",
        "recall@1,MRR",
    ]
    places = ["--output", str(folder / "reports" / "harbour"), "--cache", str(folder / "cache")]
    subprocess.run(
        [sys.executable, "-m", "clew", "eval", "run", *options, *places],
        check=False,
        capture_output=True,
    )


def main() -> None:
    """Write one picture for each view."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    clock = FixedClock()
    with tempfile.TemporaryDirectory() as folder:
        evaluate(Path(folder))
        limits = {**LIMITS, "report_roots": (f"{folder}/reports",)}
        with (
            clew.open(f"{folder}/memory.clew", clock=clock, serve=limits) as memory,
            running(memory) as site,
            sync_playwright() as playwright,
        ):
            ids = fill(memory, clock=clock)
            memory.remember("ok, thanks!")
            browser = playwright.chromium.launch(
                executable_path=next(filter(None, map(shutil.which, BROWSERS))), args=ARGUMENTS
            )
            page = browser.new_page(
                viewport={"width": 1200, "height": 760}, locale="en-GB", reduced_motion="reduce"
            )
            for name, path in VIEWS.items():
                page.goto(site.url + path.format(**ids))
                page.wait_for_load_state("networkidle")
                if name == "search":
                    page.get_by_role("button", name="Why?").nth(1).click()
                    page.wait_for_load_state("networkidle")
                page.screenshot(path=FOLDER / f"{name}.png")
            browser.close()


if __name__ == "__main__":
    main()
