"""The view of conflicts, against what /v1/conflicts answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from clew.surface import payload
from tests.ui.conftest import Serving, Watch
from tests.ui.site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

expect = pytest.importorskip("playwright.sync_api").expect


def contradicting(site: Site) -> tuple[str, str]:
    first = site.clew.remember(
        "The staging database listens on port 5433", valid_from="2026-01-05"
    ).id
    second = site.clew.remember(
        "The staging database listens on port 6000", valid_from="2026-02-05"
    ).id
    return str(first), str(second)


def opened(watch: Watch, site: Site, ids: tuple[str, str]) -> tuple[Page, list[str]]:
    """Open the view with one pair, as the route's contract has it, and note what is dismissed."""
    dismissed: list[str] = []
    first, second = (site.clew.get(id) for id in ids)
    assert first is not None and second is not None
    pair: dict[str, Any] = {
        "id": "pair-1",
        "kind": "number",
        "explanation": "Both name the port of the staging database: 5433 and 6000.",
        "score": 0.91,
        "first": payload.memory(first),
        "second": payload.memory(second),
        "overlap": {"from": "2026-02-05T00:00:00Z", "to": None},
    }

    def answer(route: Route) -> None:
        if route.request.method == "POST":
            dismissed.append(route.request.url)
        body = {"dismissed": True} if route.request.method == "POST" else {"conflicts": [pair]}
        route.fulfill(status=200, content_type="application/json", body=json.dumps(body))

    watched = watch(site)
    watched.context.route("**/v1/conflicts**", answer)
    watched.context.route("**/v1/conflicts/**", answer)
    page = watched.page("/ui/conflicts")
    expect(page.locator(".conflicts li")).to_have_count(1)
    return page, dismissed


def test_a_pair_shows_in_which_words_it_differs(watch: Watch, serving: Serving) -> None:
    site = serving()
    page, _ = opened(watch, site, contradicting(site))
    assert page.locator(".conflicts mark").all_inner_texts() == ["5433", "6000"]
    expect(page.locator(".conflicts li")).to_contain_text("91 %")
    expect(page.locator(".conflicts li")).to_contain_text("Both hold since 5 Feb 2026")


def test_one_key_lets_the_newer_supersede(watch: Watch, serving: Serving) -> None:
    site = serving()
    ids = contradicting(site)
    page, _ = opened(watch, site, ids)
    page.keyboard.press("s")
    expect(page.get_by_text("All of them are resolved")).to_be_visible()
    old, new = (site.clew.get(id) for id in ids)
    assert old is not None and new is not None
    assert old.t_invalid == new.t_valid
    assert new.t_invalid is None


def test_one_key_ends_the_first(watch: Watch, serving: Serving) -> None:
    site = serving()
    ids = contradicting(site)
    page, _ = opened(watch, site, ids)
    page.keyboard.press("1")
    expect(page.get_by_text("All of them are resolved")).to_be_visible()
    old = site.clew.get(ids[0])
    assert old is not None
    assert old.t_invalid is not None


def test_one_key_keeps_both_and_says_so_to_the_server(watch: Watch, serving: Serving) -> None:
    site = serving()
    ids = contradicting(site)
    page, dismissed = opened(watch, site, ids)
    page.keyboard.press("b")
    expect(page.get_by_text("All of them are resolved")).to_be_visible()
    assert [each.rpartition("/v1/")[2] for each in dismissed] == ["conflicts/pair-1/dismiss"]
    assert all(node is not None and node.t_invalid is None for node in map(site.clew.get, ids))
