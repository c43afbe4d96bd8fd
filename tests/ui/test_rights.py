"""The page can do what its caller may do and nothing else; another page can do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clew.engine.auth import Tokens
from tests.ui.conftest import Serving, Watch
from tests.ui.site import HOSTILE, RIGHT_TO_LEFT, Site, write_report

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api").expect
TEXT = "The lighthouse keeper is called Odile Roux"
CALL = """async ([method, path, body, headers]) => (await fetch(path, {
    method, headers: { ...headers, ...(body && { "Content-Type": "application/json" }) }, body: body && JSON.stringify(body),
})).status"""


def token(site: Site, *rights: str, space: str | None = None) -> str:
    spaces = None if space is None else [space]
    return Tokens(site.clew.store, site.clew.now).create(
        "-".join(rights) + str(space), spaces=spaces, rights=rights
    )[0]


def sign_in(page: Page, secret: str) -> None:
    page.get_by_label("Token").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()


def test_a_token_is_asked_for_and_kept_in_the_tab_alone(watch: Watch, serving: Serving) -> None:
    site = serving()
    site.clew.remember(TEXT)
    secret = token(site, "read")
    watched = watch(site)
    watched.refused.add(401)
    page = watched.page("/ui/")
    page.get_by_label("Token").fill("clew_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not known")
    sign_in(page, secret)
    expect(page.locator(".rows")).to_contain_text("lighthouse")
    assert page.evaluate(
        "[localStorage.length, document.cookie, Object.values(sessionStorage).length]"
    ) == [0, "", 1]
    assert secret not in page.url
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert page.evaluate("Object.values(sessionStorage).length") == 0


def test_without_the_right_to_write_nothing_can_be_changed_through_the_page(
    watch: Watch, serving: Serving
) -> None:
    site = serving()
    id = site.clew.remember(TEXT).id
    secret = token(site, "read")
    watched = watch(site)
    watched.refused |= {401, 403}
    page = watched.page(f"/ui/m/{id}")
    sign_in(page, secret)
    for name in ("Supersede", "Edit", "No longer true", "Never was true", "Protect", "Forget"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Remember", exact=False)).to_have_count(0)
    page.evaluate("for (const each of document.querySelectorAll('button')) each.disabled = false")
    page.get_by_role("button", name="Protect", exact=True).click()  # even if somebody enables it
    expect(page.locator(".notice.bad")).to_contain_text("lacks the right")
    page.goto(f"{site.url}/ui/store")
    expect(page.get_by_text("need the right admin over the whole store")).to_be_visible()
    node = site.clew.get(str(id))
    assert node is not None
    assert not node.protected


def test_a_token_of_one_space_sees_that_space_alone(watch: Watch, serving: Serving) -> None:
    site = serving()
    site.clew.remember(TEXT, space="work")
    site.clew.remember("The vault's code is 9913", space="private")
    watched = watch(site)
    secret = token(site, "read", "write", space="work")
    watched.refused |= {401, 403}
    page = watched.page("/ui/")
    sign_in(page, secret)
    expect(page.locator(".rows")).to_contain_text("lighthouse")
    assert page.get_by_label("Space").locator("option").all_inner_texts() == ["work"]
    page.goto(f"{site.url}/ui/?space=private")
    expect(page.get_by_role("alert")).to_contain_text("lacks the right")
    expect(page.locator("body")).not_to_contain_text("9913")


def test_a_browser_changes_nothing_without_the_header_that_no_form_can_send(
    watch: Watch, serving: Serving
) -> None:
    site = serving()
    id = site.clew.remember(TEXT).id
    watched = watch(site)
    watched.refused.add(403)
    page = watched.page("/ui/")
    expect(page.locator(".rows")).to_be_visible()
    path = f"/v1/memories/{id}"
    assert page.evaluate(CALL, ["POST", f"{path}/protect", None, {}]) == 403
    assert page.evaluate(CALL, ["DELETE", path, None, {}]) == 403
    assert page.evaluate(CALL, ["POST", "/v1/recall", {"query": "who"}, {}]) == 403
    assert page.evaluate(CALL, ["GET", path, None, {}]) == 200
    assert page.evaluate(CALL, ["POST", f"{path}/protect", None, {"X-Clew-Page": "1"}]) == 200


def test_hostile_text_in_every_field_stays_text_in_every_view(
    watch: Watch, serving: Serving, tmp_path: Path
) -> None:
    write_report(tmp_path / "reports", category=HOSTILE)
    site = serving(report_roots=(str(tmp_path / "reports"),))
    fields: dict[str, Any] = {
        "title": HOSTILE[:90],
        "tags": [HOSTILE[:40]],
        "metadata": {HOSTILE[:30]: HOSTILE},
        "source": HOSTILE[:90],
        "space": HOSTILE[:60],
    }
    first = site.clew.remember(f"The {HOSTILE} keeper of port 4000 is Odile Roux", **fields).id
    site.clew.remember(
        f"{RIGHT_TO_LEFT} {HOSTILE} port 4000 and its keeper Odile Roux",
        **{**fields, "title": RIGHT_TO_LEFT},
    )
    site.clew.supersede(str(first), f"The {HOSTILE} keeper of port 4000 is Yann Le Goff")
    site.clew.import_data(
        f"# {HOSTILE}\n\nThe keeper of port 4000 lives at {HOSTILE}",
        name=f"{HOSTILE[:40]}.md",
        space=fields["space"],
    )
    watched = watch(site)
    page = watched.page()
    from urllib.parse import quote

    space = quote(HOSTILE[:60])
    views = [
        f"/ui/?space={space}",
        f"/ui/?space={space}&q={quote('keeper of port 4000 ' + HOSTILE)}",
        f"/ui/m/{first}",
        f"/ui/m/{first}/around",
    ]
    views += [
        f"/ui/time?space={space}",
        f"/ui/time?space={space}&to=now&known_at=2026-02-01",
        f"/ui/store?space={space}",
        "/ui/store",
        "/ui/eval",
    ]
    views += ["/ui/eval?report=0", f"/ui/eval?report={space}", f"/ui/m/{space}", f"/ui/{space}"]
    watched.refused |= {404}
    for view in views:
        page.goto(site.url + view)
        page.wait_for_load_state("networkidle")
        expect(page.locator("main")).to_be_visible()
        assert page.title() != "pwned", view
        assert (
            page.locator("#app [onload], #app [onerror], #app script, #app img[src='x']").count()
            == 0
        ), view
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        ), view
