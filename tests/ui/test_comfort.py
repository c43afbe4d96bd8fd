"""Keys, dark mode, small screens and accessibility, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.ui.conftest import Filled, Watch

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api").expect
VIEWS = {
    "search": "/ui/?q=Where+was+the+director+of+The+Salt+Meadow+born%3F",
    "filters": "/ui/?category=fact",
    "nothing": "/ui/?q=zebra+quantum&category=question",
    "memory": "/ui/m/{port}",
    "around": "/ui/m/{trip12}/around",
    "time": "/ui/time?as_of=2026-02-01",
    "compared": "/ui/time?to=now&known_at=2026-03-02",
    "store": "/ui/store",
    "evaluation": "/ui/eval",
    "reference": "/docs",
}


def settled(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    expect(page.locator("main")).to_be_visible()


def violations(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]} {node['failureSummary'][:200]}"
        for each in found
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_view(watch: Watch, shared: Filled, scheme: str) -> None:
    watched = watch(shared.site, color_scheme=scheme)
    page = watched.page()
    for name, path in VIEWS.items():
        page.goto(shared.site.url + path.format(**shared.ids))
        settled(page)
        assert violations(page) == [], name
    page.goto(f"{shared.site.url}{VIEWS['search']}")
    settled(page)
    page.get_by_role("button", name="Why?").first.click()
    page.get_by_role("link", name="JSON").click()
    settled(page)
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    assert violations(page) == []


def test_dark_mode_follows_the_preference(watch: Watch, shared: Filled) -> None:
    backgrounds = {
        scheme: watch(shared.site, color_scheme=scheme)
        .page()
        .evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    }
    assert backgrounds == {"light": "rgb(247, 247, 248)", "dark": "rgb(15, 16, 19)"}


@pytest.mark.parametrize("width", [320, 768, 1920])
def test_no_view_is_wider_than_the_screen(watch: Watch, shared: Filled, width: int) -> None:
    page = watch(shared.site, viewport={"width": width, "height": 700}).page()
    for name, path in VIEWS.items():
        page.goto(shared.site.url + path.format(**shared.ids))
        settled(page)
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        ), name


def test_the_whole_way_can_be_gone_by_the_keyboard(watch: Watch, shared: Filled) -> None:
    page = watch(shared.site).page("/ui/store")
    expect(page.get_by_role("heading", level=1)).to_have_text("Store")
    page.keyboard.press("/")
    box = page.get_by_role("searchbox", name="Question")
    expect(box).to_be_focused()
    page.keyboard.type("Where was the director of The Salt Meadow born?")
    page.keyboard.press("Enter")
    here = page.locator(".hit.here")
    expect(here).to_contain_text("The Salt Meadow")
    page.keyboard.press("j")
    expect(page.locator("#hit-1")).to_have_class(re.compile("here"))
    page.keyboard.press("k")
    expect(page.locator("#hit-0")).to_have_class(re.compile("here"))
    page.keyboard.press("e")
    expect(page.get_by_label("Why this hit")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Why this hit")).to_have_count(0)
    page.keyboard.press("x")
    expect(page.get_by_role("region", name="Selected memories")).to_contain_text(
        "1 memory selected"
    )
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    expect(page).to_have_url(re.compile(f"/ui/m/{shared.ids['film']}/around"))
    expect(page.locator(".ties.wide li").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Supersede")).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_role("heading", level=1)).to_have_text("Time")
    page.keyboard.press("5")
    expect(page.get_by_role("heading", level=1)).to_have_text("Evaluation")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_contain_text("explain the hit")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_what_has_the_focus_is_seen_and_the_count_is_told(watch: Watch, shared: Filled) -> None:
    page = watch(shared.site).page(VIEWS["search"])
    expect(page.locator(".count[aria-live=polite]")).to_contain_text("hits")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
