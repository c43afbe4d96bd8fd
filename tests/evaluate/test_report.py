from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InputError
from clew.evaluate.report import (
    Ablation,
    Hop,
    PolicySample,
    Report,
    Result,
    Row,
    RunSample,
    Sample,
    Timings,
    Versus,
    load,
    loads,
    read_result,
    read_samples,
    render_html,
    render_markdown,
    result_json,
    rows_for_terminal,
    samples_jsonl,
    write,
)
from clew.evaluate.report.page import text
from clew.evaluate.significance import Interval, compare

HOSTILE = "</style><script>alert('x')</script>|`*_$\n\u2028\x00\ud800<img src=x onerror=alert(1)>"
TIMINGS = Timings(
    systems={
        "clew": {"latency_ms_p50": 3.25, "latency_ms_p95": 9.5},
        "bm25": {"latency_ms_p50": 1.0},
    },
    machine={"cores": "2"},
)
CONTRACT = {"dataset", "part", "questions", "rows", "data_hash", "config_hash", "seed", "versions"}
ROW_CONTRACT = {"system", "measures", "ci", "p_vs_bm25", "by_category", "cost"}


def row(system: str, value: float, *, p: float | None = None, category: str = "multi-hop") -> Row:
    return Row(
        system=system,
        measures={"recall@10": value, "MRR": value / 3, "recall@5": value - 0.1},
        ci={"recall@10": Interval(value - 0.02, value + 0.02)},
        p_vs_bm25=p,
        by_category={
            category: {"recall@10": value / 2},
            "temporal": {"recall@10": 0.9 - value / 2},
        },
        by_category_ci={category: {"recall@10": Interval(value / 2 - 0.05, value / 2 + 0.05)}},
        cost={"tokens_returned": 100 * value, "chunks_examined": 10.0, "passes": 1.0},
    )


def result(*, category: str = "multi-hop", dataset: str = "locomo", note: str = "a note") -> Result:
    versus = compare({"a": 0.0, "b": 1.0, "c": 0.5}, {"a": 1.0, "b": 0.5, "c": 0.5}, resamples=100)
    return Result(
        dataset=dataset,
        part="test",
        level="turn",
        measure="recall@10",
        questions=3,
        rows=(
            row("bm25", 0.579, category=category),
            row("dense", 0.5, p=0.04, category=category),
            row("clew", 0.88, p=0.0001, category=category),
        ),
        categories={category: 2, "temporal": 1},
        comparisons=(
            Versus.of(versus, baseline="bm25", variant="clew", measure="recall@10", p_holm=0.5),
        ),
        ablations=(
            Ablation(
                variant="without dense",
                measure="recall@10",
                value=0.8,
                delta=-0.08,
                ci=Interval(-0.1, -0.06),
                p=0.001,
                p_holm=0.002,
                changed=9,
            ),
            Ablation(variant="without access", measure="recall@10", changed=0),
        ),
        hopwise=(Hop(system="multi-hop", hop=1, recall=0.5, gain=0.5, found=5.0),),
        notes=(note,),
        data_hash="d4ta",
        config_hash="c0nf",
        seed=7,
        versions={"clew": "0.1.0", "python": "3.11"},
    )


def samples(*, category: str = "multi-hop") -> tuple[Sample, ...]:
    values = {"bm25": (0.0, 1.0, 0.5), "clew": (1.0, 0.5, 0.5)}
    return tuple(
        RunSample(
            query_id=f"q{place}",
            category=category,
            system=system,
            ranking=("p1", "p2"),
            measures={"recall@10": value},
        )
        for system, column in values.items()
        for place, value in enumerate(column)
    )


def policy_sample() -> PolicySample:
    return PolicySample.of(
        dataset="locomo",
        part="test",
        chunker="recursive",
        embedder="hashing-64",
        policy="multi-hop",
        budget="equal",
        query_id="q1",
        category="system",
        single={"recall@10": 0.5, "MRR": 1.0},
        multi={"recall@10": 1.0},
        cost={"single": {"passes": 1.0}, "multi": {"passes": 3.0}},
        hops_used=2,
        stopped="all hops",
    )


class Page(HTMLParser):
    """What a browser would see of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


# JSON
#
# -----------------------------------------------------------------------------------------------------------------------


def test_the_json_holds_every_field_of_the_contract() -> None:
    data = json.loads(result_json(result()))
    assert data.keys() >= CONTRACT
    assert all(each.keys() >= ROW_CONTRACT for each in data["rows"])
    assert data["rows"][0]["ci"]["recall@10"] == [0.559, 0.599]
    assert data["rows"][0]["p_vs_bm25"] is None


def test_a_result_read_back_is_the_same_and_writes_the_same_bytes() -> None:
    text = result_json(result())
    again = read_result(text)
    assert result_json(again.result) == text
    assert again.timings is None


def test_numbers_are_rounded_to_six_digits_and_zero_has_no_sign() -> None:
    text = result_json(
        replace(result(), rows=(Row(system="x", measures={"a": 1 / 3, "b": -1e-12}),))
    )
    assert json.loads(text)["rows"][0]["measures"] == {"a": 0.333333, "b": 0.0}
    assert '"b": 0.0' in text


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="JSON has no such number"):
        result_json(replace(result(), rows=(Row(system="x", measures={"a": float("nan")}),)))


def test_timings_are_in_the_json_only_when_asked_for_and_are_read_back() -> None:
    assert "latency" not in result_json(result())
    text = result_json(result(), timings=TIMINGS)
    assert json.loads(text)["timings"]["systems"]["clew"]["latency_ms_p95"] == 9.5
    assert read_result(text).timings == TIMINGS


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"seed": "zero"}, r"result.json.seed: must be int"),
        ({"seed": True}, r"result.json.seed: must be int"),
        ({"surprise": 1}, r"result.json.surprise: is not a field"),
        ({"rows": [{"system": "x"}]}, r"result.json.rows\[0\].measures: is missing"),
        ({"rows": {}}, r"result.json.rows: must be a list"),
        (
            {"rows": [{"system": "x", "measures": {"a": "b"}}]},
            r"result.json.rows\[0\].measures.a: must be float",
        ),
        ({"rows": [{"system": "x", "measures": {}, "ci": {"a": [1]}}]}, r"must hold 2 numbers"),
        ({"versions": []}, r"result.json.versions: must be an object"),
    ],
)
def test_a_damaged_result_is_refused_with_the_path_of_the_field(
    change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        read_result(json.dumps(json.loads(result_json(result())) | change))


def test_text_that_is_not_json_is_refused_with_its_source() -> None:
    with pytest.raises(InputError, match=r"samples.jsonl:2: is not JSON"):
        read_samples(samples_jsonl(samples()[:1]) + "{oops")


# JSON lines
#
# -------------------------------------------------------------------------------------------------------------------


def test_samples_are_one_line_each_in_one_order_and_come_back() -> None:
    lines = samples_jsonl(reversed(samples())).splitlines()
    assert [(json.loads(line)["query_id"], json.loads(line)["system"]) for line in lines[:3]] == [
        ("q0", "bm25"),
        ("q0", "clew"),
        ("q1", "bm25"),
    ]
    assert set(map(repr, read_samples("\n".join(lines)))) == set(map(repr, samples()))


def test_a_policy_sample_holds_single_multi_delta_and_cost() -> None:
    (line,) = samples_jsonl([policy_sample()]).splitlines()
    data = json.loads(line)
    assert {
        "dataset",
        "chunker",
        "embedder",
        "policy",
        "budget",
        "query_id",
        "single",
        "multi",
        "cost",
        "hops_used",
    } <= data.keys()
    assert data["delta"] == {"recall@10": 0.5}
    assert data["percent"] == {"recall@10": 100.0}
    assert data["cost_ratios"] == {"passes": 3.0}
    assert read_samples(line) == (policy_sample(),)


# Files
#
# ------------------------------------------------------------------------------------------------------------------------


def test_two_reports_with_the_same_numbers_are_the_same_bytes_but_for_the_timings(
    tmp_path: Path,
) -> None:
    write(tmp_path / "a", Report(result(), samples(), TIMINGS))
    write(
        tmp_path / "b",
        Report(
            result(),
            tuple(reversed(samples())),
            replace(TIMINGS, systems={"clew": {"latency_ms_p50": 4.0}}),
        ),
    )
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["report.html", "report.md", "result.json", "samples.jsonl", "timings.json"]
    differing = [
        name
        for name in names
        if (tmp_path / "a" / name).read_bytes() != (tmp_path / "b" / name).read_bytes()
    ]
    assert differing == ["timings.json"]


def test_a_report_made_again_from_its_folder_is_the_same_bytes(tmp_path: Path) -> None:
    noisy = replace(
        result(),
        rows=tuple(
            replace(each, measures={name: value + 1e-9 for name, value in each.measures.items()})
            for each in result().rows
        ),
    )
    first = write(tmp_path / "a", Report(noisy, samples(), TIMINGS))
    second = write(tmp_path / "b", load(tmp_path / "a"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_no_file_but_the_timings_holds_what_the_clock_said(tmp_path: Path) -> None:
    paths = write(tmp_path, Report(result(), samples(), TIMINGS))
    assert [path.name for path in paths if "latency" in path.read_text(encoding="utf-8")] == [
        "timings.json"
    ]


def test_a_folder_without_a_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no result.json"):
        load(tmp_path)


def test_hostile_text_survives_the_folder(tmp_path: Path) -> None:
    write(tmp_path, Report(result(category=HOSTILE), samples(category=HOSTILE)))
    again = load(tmp_path)
    assert HOSTILE in again.result.categories
    assert {sample.category for sample in again.samples} == {HOSTILE}


# Tables
#
# -----------------------------------------------------------------------------------------------------------------------


def test_the_terminal_table_has_the_headline_first_with_its_interval_and_p() -> None:
    table = rows_for_terminal(result())
    assert table.columns == ("system", "recall@10", "recall@5", "MRR", "p vs bm25")
    clew = table.rows[2]
    assert [cell.text for cell in clew] == ["clew", "88.0", "78.0", "29.3", "< 0.001"]
    assert [cell.detail for cell in clew] == ["", "86.0–90.0", "", "", ""]
    assert all(cell.best for cell in clew[1:4])


def test_markdown_shows_the_best_in_bold_and_the_losers_as_losers() -> None:
    text = render_markdown(result(), samples())
    assert "| clew | **88.0** (86.0–90.0) |" in text
    assert "| dense | 50.0 (48.0–52.0) ▼ |" in text
    assert "| without access | recall@10 | error: changed no ranking |" in text
    assert "| q1 | multi-hop | clew − bm25 | −50.0 ▼ |" in text
    assert all(fact in text for fact in ("d4ta", "c0nf", "0.1.0", "a note"))


def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_head_whatever_the_text() -> None:
    text = render_markdown(
        result(category=HOSTILE, note=HOSTILE, dataset=HOSTILE), samples(category=HOSTILE)
    )
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    assert len(blocks) >= 7
    for block in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.strip().split("\n")}) == 1
    assert "<script" not in text
    assert "<img" not in text


def test_a_policy_comparison_without_a_bm25_row_still_makes_every_page() -> None:
    compared = replace(
        result(),
        rows=(row("single-hop", 0.5), row("multi-hop", 0.6)),
        comparisons=(),
        ablations=(),
        notes=(),
    )
    assert "multi-hop (equal) − single-hop" in render_html(compared, [policy_sample()])
    text = render_markdown(compared)
    assert "bm25" not in text
    assert "▼" not in text


# The page
#
# ---------------------------------------------------------------------------------------------------------------------


def test_the_page_is_well_formed_and_asks_for_nothing_from_outside() -> None:
    shown = render_html(result(), samples(), timings=TIMINGS)
    page = Page(shown)
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not any(
        {"src", "href", "xlink:href", "style"} & attributes.keys() for _, attributes in page.tags
    )
    assert "url(" not in shown
    assert "@import" not in shown
    assert any("default-src 'none'" in (each.get("content") or "") for each in page.all("meta"))


def test_every_table_of_the_page_has_a_caption_and_scoped_heads() -> None:
    page = Page(render_html(result(), samples(), timings=TIMINGS))
    assert len(page.all("table")) == len(page.all("caption")) >= 8
    assert all(each.get("scope") in {"col", "row"} for each in page.all("th"))
    assert page.all("html")[0]["lang"] == "en"


def test_text_of_a_dataset_is_shown_and_never_becomes_markup() -> None:
    plain = Page(render_html(result(), samples()))
    hostile_text = render_html(
        result(category=HOSTILE, dataset=HOSTILE, note=HOSTILE), samples(category=HOSTILE)
    )
    hostile = Page(hostile_text)
    assert hostile.open == []
    extra = len([tag for tag, _ in hostile.tags]) - len([tag for tag, _ in plain.tags])
    assert extra == 0
    assert "\x00" not in hostile_text
    hostile_text.encode("utf-8")


def test_the_page_shows_provenance() -> None:
    text = render_html(result())
    assert all(fact in text for fact in ("d4ta", "c0nf", ">7<", "0.1.0", "3.11", "10,000"))


def test_timings_are_on_the_page_only_when_asked_for() -> None:
    assert "latency" not in render_html(result(), samples())
    assert "latency ms p50" in render_html(result(), samples(), timings=TIMINGS)


def test_a_result_with_a_single_row_and_nothing_else_still_makes_a_page() -> None:
    bare = Result(
        dataset="d",
        part="p",
        level="l",
        measure="MRR",
        questions=0,
        rows=(Row(system="bm25", measures={"MRR": 0.0}),),
        data_hash="",
        config_hash="",
        seed=0,
    )
    assert Page(render_html(bare)).open == []
    assert "| bm25 | 0.0 | – |" in render_markdown(bare)
    assert loads(Result, result_json(replace(bare, rows=()))).rows == ()
    assert Page(render_html(replace(bare, rows=()))).open == []


@given(st.text())
def test_any_text_is_shown_without_becoming_markup(content: str) -> None:
    page = Page(f"<p>{text(content)}</p>")
    assert [tag for tag, _ in page.tags] == ["p"]
    assert page.open == []
