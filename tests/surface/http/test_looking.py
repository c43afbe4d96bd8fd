"""What the page asks beside questions and memories.

Time, differences, surroundings, quality, operation.
"""

from __future__ import annotations

from pathlib import Path

import clew
from clew.evaluate.report import Report, write
from clew.testing import FixedClock
from tests.evaluate.test_report import TIMINGS, result, samples
from tests.surface.http.conftest import TEXTS, Serve, Served


def test_a_timeline_counts_what_began_ended_and_was_recorded(
    served: Served, clock: FixedClock
) -> None:
    first = served.add(TEXTS[0], valid_from="2026-01-10")
    served.add(TEXTS[1], valid_from="2026-02-10")
    clock.advance(days=5)
    served.post(f"/v1/memories/{first}/invalidate", {"at": "2026-02-20"})
    found = served.get("/v1/timeline?since=2026-01-01&until=2026-03-31&buckets=3")
    totals = {
        name: sum(each[name] for each in found["buckets"])
        for name in ("began", "ended", "recorded")
    }
    assert totals == {"began": 2, "ended": 1, "recorded": 2}
    assert found["before"] == found["after"] == {"began": 0, "ended": 0, "recorded": 0}
    assert [each["began"] for each in found["buckets"]] == [1, 1, 0]
    assert served.get("/v1/timeline?since=2026-02-01&buckets=1")["before"]["began"] == 1


def test_a_timeline_of_an_empty_space_has_an_axis(served: Served) -> None:
    found = served.get("/v1/timeline?space=nothing&buckets=5")
    assert len(found["buckets"]) == 5
    assert not any(each["began"] for each in found["buckets"])


def test_an_axis_that_ends_before_it_begins_is_refused(served: Served) -> None:
    assert (
        served.get("/v1/timeline?since=2026-02-01&until=2026-01-01", status=422)["field"] == "until"
    )


def test_a_difference_names_what_is_new_gone_and_changed(served: Served, clock: FixedClock) -> None:
    old = served.add(TEXTS[0], valid_from="2026-01-10")
    gone = served.add(TEXTS[1], valid_from="2026-01-10")
    clock.advance(days=1)
    new = served.post(
        f"/v1/memories/{old}/supersede",
        {"text": "The staging database listens on port 6000"},
        status=201,
    )["id"]
    served.post(f"/v1/memories/{gone}/invalidate")
    added = served.add(TEXTS[2])
    found = served.get("/v1/diff?as_of=2026-02-01")
    assert [each["id"] for each in found["added"]] == [added]
    assert [each["id"] for each in found["removed"]] == [gone]
    assert [(each["before"]["id"], each["after"]["id"]) for each in found["changed"]] == [
        (old, new)
    ]
    assert (found["only_before"], found["only_after"]) == (2, 2)
    same = served.get("/v1/diff?as_of=2026-02-01&to_as_of=2026-02-02")
    assert (same["added"], same["removed"], same["changed"]) == ([], [], [])


def test_a_difference_of_belief_is_one_of_known_at(served: Served, clock: FixedClock) -> None:
    served.add(TEXTS[0])
    clock.advance(days=2)
    added = served.add(TEXTS[1])
    found = served.get("/v1/diff?known_at=2026-03-02")
    assert [each["id"] for each in found["added"]] == [added]


def test_the_graph_around_a_memory_is_bounded_and_says_so(served: Served) -> None:
    ids = [
        served.add(f"Ilse Marten visited the yard in Porto on trip {number}", near=False)
        for number in range(12)
    ]
    found = served.get(f"/v1/memories/{ids[0]}/graph?hops=2&limit=5")
    assert found["id"] == ids[0]
    assert 2 < len(found["nodes"]) <= 5
    assert found["cut"] is True
    known = {each["id"] for each in found["nodes"]}
    assert {end for edge in found["edges"] for end in (edge["from"], edge["to"])} <= known
    assert [each["hops"] for each in found["nodes"]][:2] == [0, 1]
    whole = served.get(f"/v1/memories/{ids[0]}/graph?hops=1&limit=200")
    assert whole["cut"] is False
    assert len(whole["nodes"]) > 5


def test_the_graph_never_leaves_the_space(served: Served) -> None:
    id = served.add("Ilse Marten visited the yard in Porto", space="work")
    served.add("Ilse Marten was born in Porto", space="private")
    assert [each["id"] for each in served.get(f"/v1/memories/{id}/graph?hops=2")["nodes"]] == [id]


def test_quality_is_counted_and_the_poorest_named(filled: Served) -> None:
    found = filled.get("/v1/quality")
    assert (
        found["nodes"]
        == found["assessed"]
        == sum(each["count"] for each in found["bins"])
        == len(TEXTS)
    )
    values = [each["quality"]["overall"] for each in found["lowest"]]
    assert values == sorted(values)


def test_the_caller_learns_its_rights_and_its_spaces(served: Served) -> None:
    assert served.get("/v1/me")["whole_store"] is True
    me = served.get("/v1/me", token=served.token("read", spaces=("work",), name="bot"))
    assert (me["name"], me["rights"], me["spaces"], me["space"], me["whole_store"]) == (
        "bot",
        ["read"],
        ["work"],
        "work",
        False,
    )


def test_settings_have_their_sources(serve: Serve) -> None:
    rows = {each["key"]: each for each in serve(queue=3).get("/v1/settings")["settings"]}
    assert (rows["serve.queue"]["value"], rows["serve.queue"]["source"]) == (3, "argument")
    assert rows["recall.k"]["source"] == "default"


def test_recalls_are_kept_without_their_questions_unless_that_is_allowed(serve: Serve) -> None:
    served = serve()
    served.add(TEXTS[0])
    served.post("/v1/recall", {"query": "which port"})
    (entry,) = served.get("/v1/recalls")["recalls"]
    assert entry["returned"] == 1
    assert entry["stages"]
    assert "query" not in entry
    told = serve(others={"telemetry": {"include_text": True}})
    told.post("/v1/recall", {"query": "which port"})
    assert told.get("/v1/recalls")["recalls"][0]["query"] == "which port"


def test_a_backup_lies_beside_the_store_and_opens_as_one(tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from clew.surface.http.app import make_app

    with (
        clew.open(tmp_path / "memory.clew", model={"embedder": "hashing"}) as memory,
        TestClient(make_app(memory), base_url="http://127.0.0.1") as client,
    ):
        memory.remember(TEXTS[0])
        assert client.post("/v1/verify").json() == {"sound": True, "problems": []}
        done = client.post("/v1/backup").json()
    assert Path(done["path"]).parent == tmp_path
    assert Path(done["path"]).stat().st_size == done["bytes"]
    with clew.open(done["path"], model={"embedder": "hashing"}) as copy:
        assert [each.text for each in copy.recent()] == [TEXTS[0]]


def test_a_store_without_a_file_is_not_backed_up(served: Served) -> None:
    assert "clew.backup" in served.post("/v1/backup", status=409)["detail"]


def test_operating_needs_a_right_over_the_whole_store(served: Served) -> None:
    secret = served.token("admin", spaces=("work",), name="of work")
    reader = served.token("read", name="reader")
    for method, path in (
        ("GET", "/v1/settings"),
        ("GET", "/v1/recalls"),
        ("POST", "/v1/verify"),
        ("POST", "/v1/backup"),
    ):
        served.ask(method, path, status=403, token=secret)
        served.ask(method, path, status=403, token=reader)
    for path in ("/v1/evaluations", "/v1/evaluation?name=0", "/v1/evaluation/questions?name=0"):
        served.get(path, status=403, token=secret)
    assert served.get("/v1/evaluations", token=reader) == {"configured": False, "evaluations": []}


def test_reports_are_listed_shown_and_read_question_by_question(
    serve: Serve, tmp_path: Path
) -> None:
    write(tmp_path / "reports" / "first", Report(result(), samples(), TIMINGS))
    (tmp_path / "reports" / "broken").mkdir()
    (tmp_path / "reports" / "broken" / "result.json").write_text("{")
    served = serve(report_roots=(str(tmp_path / "reports"),))
    broken, first = served.get("/v1/evaluations")["evaluations"]
    assert (broken["name"], "error" in broken) == ("0/broken", True)
    assert (first["name"], first["dataset"], first["system"]) == ("0/first", "locomo", "clew")
    shown = served.get("/v1/evaluation?name=0/first")
    assert shown["timings"]["systems"]["clew"]["latency_ms_p50"] == 3.25
    asked = served.get("/v1/evaluation/questions?name=0/first&limit=1")
    assert len(asked["questions"]) == 1
    assert asked["total"] == len({each.query_id for each in samples()})


def test_a_report_outside_of_the_folders_is_not_there(serve: Serve, tmp_path: Path) -> None:
    write(tmp_path / "secret", Report(result(), samples()))
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "link").symlink_to(tmp_path / "secret")
    served = serve(report_roots=(str(tmp_path / "reports"),))
    assert served.get("/v1/evaluations")["evaluations"] == []
    for name in ("0/../secret", "0/link", str(tmp_path / "secret"), "1"):
        served.get("/v1/evaluation", params={"name": name}, status=404)


def test_a_page_of_another_origin_changes_nothing_even_without_an_origin(filled: Served) -> None:
    (id, *_) = [each["id"] for each in filled.get("/v1/memories")["memories"]]
    browser = {"Sec-Fetch-Site": "cross-site"}
    assert (
        filled.post(f"/v1/memories/{id}/protect", status=403, headers=browser)["code"]
        == "http.wrong_origin"
    )
    filled.get(f"/v1/memories/{id}", headers=browser)
    filled.post(
        f"/v1/memories/{id}/protect", headers={"Sec-Fetch-Site": "same-origin", "X-Clew-Page": "1"}
    )


def test_bad_limits_are_refused_by_their_names(served: Served) -> None:
    id = served.add(TEXTS[0])
    for path in (
        "/v1/timeline?buckets=0",
        f"/v1/memories/{id}/graph?hops=3",
        "/v1/diff?limit=9999",
    ):
        assert served.get(path, status=422)["field"]
