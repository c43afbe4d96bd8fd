"""Each view in a real browser, by what a person sees and does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.surface.ui.signin import PageKey
from clew.testing import FixedClock
from tests.ui.conftest import Filled, Serving, Watch
from tests.ui.site import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api").expect
QUESTION = "Where was the director of The Salt Meadow born?"
TEXT = "The lighthouse keeper is called Odile Roux"


@pytest.fixture
def page(watch: Watch, shared: Filled) -> Page:
    return watch(shared.site).page()


def ask(page: Page, question: str) -> None:
    page.get_by_role("searchbox", name="Question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".hit, .empty").first).to_be_visible()


# --- search ---


def test_a_search_shows_hits_whose_parts_add_up_to_the_score(page: Page) -> None:
    ask(page, QUESTION)
    first = page.locator(".hit").first
    expect(first).to_contain_text("The Salt Meadow")
    expect(first.locator(".confidence")).to_have_text(re.compile(r"%|–"))
    assert "q=Where" in page.url
    page.get_by_role("button", name="Why?").first.click()
    table = page.locator(".detail table")
    shown = table.locator("tbody tr:not(.sum) td:last-child").all_inner_texts()
    total = float(table.locator(".sum td:last-child").inner_text())
    assert sum(float(each.replace("−", "-")) for each in shown) == pytest.approx(
        total, abs=0.001 * len(shown)
    )
    expect(page.locator(".detail .explanation")).to_contain_text("score")


def test_a_hit_found_along_a_link_shows_its_path(page: Page) -> None:
    ask(page, QUESTION)
    expect(page.locator(".hit", has_text="Groningen").locator(".path")).to_contain_text(
        "Ilse Marten"
    )


def test_filters_stay_when_nothing_passes_them_and_can_be_taken_off(page: Page) -> None:
    page.get_by_role("button", name="Filters and time").click()
    page.get_by_role("combobox", name="Category").select_option("question")
    expect(page.get_by_text("No memory passes these filters")).to_be_visible()
    expect(page.get_by_role("combobox", name="Category")).to_be_visible()
    ask(page, QUESTION)
    expect(page.get_by_text("Nothing relevant").last).to_be_visible()
    page.get_by_role("button", name="Remove category question").click()
    expect(page.locator(".hit").first).to_be_visible()
    assert "category" not in page.url


def test_an_address_is_a_whole_question(watch: Watch, shared: Filled) -> None:
    page = watch(shared.site).page("/ui/?q=which+port+does+staging+use&as_of=2026-02-01&k=1")
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit")).to_contain_text("5433")
    page.get_by_text("Ask the same elsewhere").click()
    expect(page.get_by_label("the command")).to_have_text(
        "clew recall 'which port does staging use' --space 'default' --as-of '2026-02-01' -k '1'"
    )


def test_why_not_takes_any_id(page: Page, shared: Filled) -> None:
    ask(page, QUESTION)
    page.get_by_placeholder("01m7gfwdmr422zgpq588cdfnzy").fill(
        f"http://example.org/ui/m/{shared.ids['error']}"
    )
    page.get_by_role("button", name="Why not?").click()
    expect(page.locator(".whynot .note")).to_contain_text(re.compile("stage|rank"))


def test_the_json_of_a_view_is_what_the_api_answered(page: Page) -> None:
    ask(page, QUESTION)
    page.get_by_role("link", name="JSON").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("/v1/recall")
    expect(dialog.locator("pre")).to_contain_text('"nothing_relevant": false')
    expect(dialog.get_by_label("as curl")).to_contain_text("curl -s -X POST")


def test_a_question_that_cannot_be_asked_says_what_is_wrong(watch: Watch, shared: Filled) -> None:
    watched = watch(shared.site)
    watched.refused.add(422)
    page = watched.page("/ui/?q=port&as_of=yesteryear")
    expect(page.get_by_role("alert")).to_contain_text("as_of")


# --- one memory ---


def test_a_memory_shows_when_it_was_true_and_what_took_its_place(
    watch: Watch, shared: Filled
) -> None:
    page = watch(shared.site).page(f"/ui/m/{shared.ids['port']}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Staging database")
    expect(page.get_by_role("region", name="Validity").locator(".version")).to_have_count(3)
    expect(page.get_by_role("region", name="History")).to_contain_text("Superseded")
    expect(page.get_by_label("Details")).to_contain_text("staging")
    page.get_by_text("Look at another time").click()
    page.get_by_label("Known at").fill("2026-03-02")
    page.get_by_label("Known at").press("Tab")
    expect(page.locator(".facts").first).to_contain_text("since 5 Jan 2026")
    assert "known_at=2026-03-02" in page.url


def test_an_unknown_memory_is_an_error_with_a_way_out(watch: Watch, shared: Filled) -> None:
    watched = watch(shared.site)
    watched.refused.add(404)
    page = watched.page("/ui/m/01m7gfwdmr422zgpq588cdfnzy")
    expect(page.get_by_role("alert")).to_contain_text("No memory 01m7gfwdmr422zgpq588cdfnzy")


def test_a_memory_is_written_changed_replaced_ended_and_forgotten(
    watch: Watch, serving: Serving
) -> None:
    clock = FixedClock()
    site = serving(clock=clock)
    page = watch(site).page()
    expect(page.get_by_text("Nothing is remembered here yet")).to_be_visible()
    page.get_by_role("button", name="Remember something").click()
    page.get_by_label("What should be remembered?").fill(TEXT)
    page.get_by_role("button", name="Remember", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(TEXT)
    (node,) = site.clew.recent()

    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("Lighthouse")
    page.get_by_label("Importance").fill("0.9")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lighthouse")
    changed = site.clew.get(node.id)
    assert changed is not None
    assert (changed.title, changed.importance, changed.category) == (
        "Lighthouse",
        0.9,
        node.category,
    )

    clock.advance(days=1)
    page.get_by_role("button", name="Supersede").click()
    page.get_by_label("What is true instead").fill("The lighthouse keeper is called Yann Le Goff")
    page.locator("dialog[open]").get_by_role("button", name="Supersede").click()
    expect(page.get_by_role("region", name="Validity")).to_contain_text("Yann Le Goff")
    expect(page.locator(".columns .text").first).to_contain_text("Yann Le Goff")

    clock.advance(days=1)
    page.get_by_role("button", name="No longer true").click()
    page.get_by_role("button", name="End it").click()
    expect(page.get_by_role("button", name="True again")).to_be_visible()

    page.get_by_role("button", name="Forget").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("It cannot be undone")
    dialog.get_by_role("button", name="Forget").click()
    expect(dialog).to_contain_text("found no trace")
    dialog.get_by_role("button", name="Close", exact=True).last.click()
    expect(page.get_by_role("searchbox", name="Question")).to_be_visible()
    assert site.clew.stats()["by_event"]["FORGET"] >= 1


def test_a_text_that_is_turned_away_says_by_which_rule(watch: Watch, serving: Serving) -> None:
    site = serving()
    page = watch(site).page()
    page.get_by_role("button", name="Remember something").click()
    page.get_by_label("What should be remembered?").fill("ok thanks")
    page.get_by_role("button", name="Remember", exact=True).click()
    expect(page.locator(".notice.bad")).to_contain_text("Not kept: rule")
    assert site.clew.recent() == ()


def test_selected_hits_are_forgotten_together(watch: Watch, serving: Serving) -> None:
    site = serving()
    for text in (
        TEXT,
        "The harbour pilot is called Marit Holm",
        "Berth nine is closed for repairs",
    ):
        site.clew.remember(text)
    page = watch(site).page("/ui/?q=who+is+called+what")
    boxes = page.get_by_role("checkbox", name=re.compile("Select hit"))
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Forget…").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Goes: 2 memories")
    dialog.get_by_role("button", name="Forget").click()
    expect(dialog).to_contain_text("2 memories are gone")
    assert len(site.clew.recent()) == 1


# --- around ---


def test_around_draws_the_graph_and_lists_the_same_nodes(watch: Watch, shared: Filled) -> None:
    page = watch(shared.site).page(f"/ui/m/{shared.ids['trip12']}/around")
    expect(page.locator(".graph circle").first).to_be_visible()
    listed = page.locator(".ties.wide li")
    assert page.locator(".graph circle").count() == listed.count() + 1
    before = page.locator(".graph circle").count()
    page.get_by_role("button", name="2 hops").click()
    expect(page).to_have_url(re.compile("hops=2"))
    expect(page.locator(".graph circle")).not_to_have_count(before)
    first = page.locator(".graph g.node").first.get_attribute("transform")
    page.reload()
    expect(page.locator(".graph g.node").first).to_have_attribute("transform", first or "")


# --- time ---


def test_time_shows_what_was_true_and_believed_at_a_moment(watch: Watch, shared: Filled) -> None:
    page = watch(shared.site).page("/ui/time")
    expect(page.locator(".timeline svg")).to_have_attribute("aria-label", re.compile("became true"))
    expect(page.locator(".rows")).to_contain_text("port 6000")
    page.get_by_label("Known at, as a date").fill("2026-03-02")
    page.get_by_label("Known at, as a date").press("Tab")
    expect(page.locator(".rows")).to_contain_text("port 5433")
    expect(page.locator(".rows")).not_to_contain_text("port 6000")
    expect(page.get_by_role("heading", name="as believed on 2 Mar 2026")).to_be_visible()


def test_a_slider_moves_the_moment_by_the_keyboard(watch: Watch, shared: Filled) -> None:
    page = watch(shared.site).page("/ui/time")
    slider = page.get_by_role("slider", name="True at")
    slider.focus()
    slider.press("Home")
    expect(page).to_have_url(re.compile(r"as_of=2026-01-01"))
    slider.press("End")
    expect(page).not_to_have_url(re.compile("as_of"))


def test_two_moments_are_compared(watch: Watch, shared: Filled) -> None:
    page = watch(shared.site).page("/ui/time?known_at=2026-03-02&to=now")
    expect(page.locator(".rows")).to_contain_text("trip")
    expect(page.locator(".mark.changed")).to_have_count(1)
    expect(page.locator(".line", has=page.locator(".mark.changed"))).to_contain_text("6000")


# --- conflicts, store, evaluation, reference ---


def test_store_checks_itself_and_backs_up_where_it_says(watch: Watch, serving: Serving) -> None:
    site = serving(fixed=False)
    site.clew.remember(TEXT)
    site.clew.remember("ok thanks")
    page = watch(site).page("/ui/store")
    expect(page.get_by_role("region", name="Ingest")).to_contain_text("Rejected, by rule")
    expect(page.get_by_role("list", name="Rejected by rule").get_by_role("listitem")).to_have_count(
        1
    )
    page.get_by_role("button", name="Check every row").click()
    expect(page.get_by_role("region", name="Care")).to_contain_text("Sound")
    page.get_by_role("button", name="Back up").click()
    where = page.get_by_role("region", name="Care").locator("code").first.inner_text()
    assert Path(where).is_file()
    expect(page.get_by_role("region", name="Settings").first).to_contain_text("model.embedder")


def test_the_recalls_of_the_server_are_listed_with_their_times(
    watch: Watch, serving: Serving
) -> None:
    site = serving()
    site.clew.remember(TEXT)
    page = watch(site).page("/ui/?q=lighthouse")
    expect(page.locator(".hit").first).to_be_visible()
    page.get_by_role("link", name="Store").click()
    table = page.get_by_role("region", name="Recalls")
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table).to_contain_text("ms")
    expect(table).to_contain_text("not kept")


def test_without_a_folder_of_reports_evaluation_says_how_to_make_one(
    watch: Watch, shared: Filled
) -> None:
    page = watch(shared.site).page("/ui/eval")
    expect(page.get_by_text("clew eval run").first).to_be_visible()


def test_a_report_shows_its_table_categories_costs_and_questions(
    watch: Watch, serving: Serving, tmp_path: Path
) -> None:
    write_report(tmp_path / "reports" / "first")
    page = watch(serving(report_roots=(str(tmp_path / "reports"),))).page("/ui/eval")
    page.locator("li.panel a").first.click()
    expect(page.get_by_role("group", name="Systems")).to_contain_text("bm25")
    expect(page.get_by_role("region", name="By category").first).to_be_visible()
    page.get_by_role("region", name="Questions").get_by_role("button").first.click()
    expect(page.locator(".run").first).to_be_visible()


def test_the_reference_lists_every_route_with_its_fields(watch: Watch, shared: Filled) -> None:
    page = watch(shared.site).page("/docs")
    recall = page.get_by_role("region", name="POST /v1/recall")
    expect(recall).to_contain_text("What is asked, in words.")
    page.get_by_label("Find a route").fill("forget")
    expect(recall).to_have_count(0)
    expect(page.get_by_role("region", name="POST /v1/forget")).to_be_visible()


# --- many rows ---


def test_a_long_list_keeps_only_what_is_in_sight(watch: Watch, serving: Serving) -> None:
    site = serving()
    site.clew.remember_many(
        [
            f"Container {number} stands in row {number % 97} of yard {number % 13}"
            for number in range(400)
        ],
        near=False,
    )
    page = watch(site).page()
    rows = page.locator(".rows")
    expect(rows.locator(".line").first).to_be_visible()
    for _ in range(6):  # each scroll asks for the next page
        rows.evaluate("(box) => { box.scrollTop = box.scrollHeight }")
        expect(page.locator("main")).to_have_attribute("aria-busy", "false")
    expect(rows.locator("li[aria-setsize='400']").first).to_be_visible()
    assert rows.locator("li").count() < 60


def test_the_link_of_clew_ui_works_once_and_reaches_a_second_tab(
    watch: Watch, serving: Serving
) -> None:
    key = PageKey()
    site = serving(page_key=key)
    watched = watch(site)
    watched.refused.add(401)
    first = watched.page(f"/ui/#once={key.once}")
    expect(first.get_by_text("Nothing is remembered here yet")).to_be_visible()
    assert "once" not in first.url
    second = watched.page("/ui/store")
    expect(second.get_by_role("heading", level=1)).to_have_text("Store")
    other = watch(site)
    other.refused.add(401)
    late = other.page(f"/ui/#once={key.once}")
    expect(late.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(late.get_by_text("This link was used already")).to_be_visible()
