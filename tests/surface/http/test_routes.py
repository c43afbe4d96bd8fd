"""Every route gives what Python gives, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from clew.surface import payload
from clew.testing import FixedClock
from tests.surface.http.conftest import TEXTS, Serve, Served

QUESTION = "which port does the staging database use"


def timeless(document: Any) -> Any:
    """What an answer says, less what the clock and the counting of ids said."""
    if isinstance(document, Mapping):
        return {
            key: timeless(value)
            for key, value in document.items()
            if key not in ("milliseconds", "trace_id")
        }
    return [timeless(each) for each in document] if isinstance(document, list) else document


def test_a_memory_is_kept_and_the_second_of_the_same_text_is_a_duplicate(served: Served) -> None:
    first = served.post(
        "/v1/memories", {"text": TEXTS[0], "category": "fact", "tags": ["db"]}, status=201
    )
    assert first["outcome"] == "inserted"
    second = served.post("/v1/memories", {"text": TEXTS[0]})
    assert (second["outcome"], second["id"], second["canonical_id"]) == (
        "exact_duplicate",
        first["id"],
        first["id"],
    )
    assert served.post("/v1/memories", {"text": "ok"})["outcome"] == "rejected"
    served.post("/v1/memories", {"text": TEXTS[0], "on_duplicate": "error"}, status=409)


def test_a_text_that_adds_something_is_kept_and_may_supersede_what_it_contains(
    serve: Serve,
) -> None:
    served = serve(others={"duplicates": {"near_threshold": 0.5}})
    text = "The patient takes metformin every morning"
    first = served.add(text)
    more = served.post("/v1/memories", {"text": f"{text} and omeprazole"}, status=201)
    assert [(each["id"], each["text"]) for each in more["similar"]] == [(first, text)]
    assert more["may_supersede"] == first
    done = served.post(
        f"/v1/memories/{first}/supersede", {"text": f"{text} and omeprazole"}, status=201
    )
    assert (done["id"], done["supersedes"]) == (more["id"], first)


def test_the_bytes_of_an_answer_are_those_of_the_payload(filled: Served) -> None:
    id = filled.clew.recent(1)[0].id
    expected = {
        f"/v1/memories/{id}": payload.memory(filled.clew.recent(1)[0]),
        f"/v1/memories/{id}/history": payload.history(
            id, filled.clew.history(id), filled.clew.versions(id)
        ),
        f"/v1/memories/{id}/related": payload.related(filled.clew.related(id)),
    }
    for path, document in expected.items():
        assert filled.client.get(path).content == payload.dumps(document).encode()


@pytest.mark.parametrize(
    ("route", "recipe"),
    [("/v1/recall", None), ("/v1/search/hybrid", "balanced"), ("/v1/search/agent", "agent")],
)
def test_hits_scores_and_explanations_are_those_of_python(
    filled: Served, route: str, recipe: str | None
) -> None:
    answer = filled.post(route, {"query": QUESTION, "k": 2, "preset": "balanced", "track": False})
    own = payload.recall(
        filled.clew.recall(QUESTION, k=2, preset="balanced", track=False, recipe=recipe)
    )
    mine = json.loads(payload.dumps(own))
    assert answer["hits"][0]["text"] == TEXTS[0]
    assert timeless({key: answer[key] for key in mine}) == timeless(mine)


def test_numbers_add_up_exactly_after_the_journey(filled: Served) -> None:
    for hit in filled.post("/v1/recall", {"query": QUESTION, "preset": "recent"})["hits"]:
        assert sum(part["contribution"] for part in hit["components"].values()) == hit["score"]


def test_the_staged_search_says_that_there_are_no_sections(filled: Served) -> None:
    answer = filled.post("/v1/search/hybrid", {"query": QUESTION, "staged": True})
    assert answer["stats"]["recipe"] == "staged"


def test_the_agents_search_tells_what_was_turned_away_and_why(served: Served) -> None:
    served.clew.import_data(b"# Berths\n\n[harbour](http://example.org/berths)\n", name="stub.md")
    served.add("The berth plan is drawn up by the harbour master every Monday")
    answer = served.post("/v1/search/agent", {"query": "berths of the harbour"})
    assert [hit["node"]["kind"] for hit in answer["hits"]] == ["memory"]
    (rejection,) = answer["rejections"]
    assert set(rejection) == {"id", "stage", "reason", "value", "limit"}
    assert answer["stats"]["rejected"] == {rejection["reason"]: 1}


def test_filters_times_and_weights_reach_the_core(served: Served) -> None:
    fact = served.add(
        TEXTS[0], category="fact", tags=["db"], metadata={"host": "db1"}, valid_from="2026-01-01"
    )
    served.add(
        "The staging database of the old days was on port 5000",
        category="note",
        valid_from="2025-01-01",
    )
    where = {
        "category": ["fact"],
        "tags": "db",
        "metadata": {"host": "db1"},
        "since": "2025-06-01",
        "kind": "memory",
    }
    body = {
        "query": QUESTION,
        "where": where,
        "weights": {"recency": 1.0},
        "min_similarity": 0.0,
        "budget_tokens": 500,
        "seed": 7,
    }
    answer = served.post("/v1/recall", body)
    assert [hit["id"] for hit in answer["hits"]] == [fact]
    assert answer["stats"]["preset"] == "custom"
    assert (
        served.post("/v1/recall", {"query": QUESTION, "as_of": "2025-02-01"})["hits"][0]["id"]
        != fact
    )


def test_many_memories_at_once_and_a_bad_one_costs_no_other(served: Served) -> None:
    batch = {
        "memories": [
            {"text": TEXTS[0]},
            {"text": TEXTS[1], "category": "nonsense"},
            {"text": "ok"},
            {"text": TEXTS[2]},
        ]
    }
    answer = served.post("/v1/memories/batch", batch)
    assert [each["outcome"] for each in answer["outcomes"]] == [
        "inserted",
        "rejected",
        "rejected",
        "inserted",
    ]
    assert answer["outcomes"][1]["error"]["field"] == "category"
    assert answer["counts"] == {"inserted": 2, "rejected": 2}
    assert served.clew.stats()["nodes"] == 2


def test_a_conversation_is_kept_message_by_message_and_goes_on_under_its_session(
    served: Served,
) -> None:
    said = [
        {"speaker": "Ann", "text": TEXTS[0], "time": "2026-01-01T10:00"},
        {"role": "assistant", "content": "ok"},
    ]
    first = served.post("/v1/conversations", {"messages": said, "session": "s", "title": "Staging"})
    assert first["counts"] == {"inserted": 2}
    assert (first["session"], first["notes"]) == ("s", [])
    more = served.post(
        "/v1/conversations",
        {"messages": [*said, {"name": "Ann", "text": TEXTS[1]}], "session": "s"},
    )
    assert [each["outcome"] for each in more["outcomes"]] == [
        "exact_duplicate",
        "exact_duplicate",
        "inserted",
    ]
    node = served.get(f"/v1/memories/{first['outcomes'][0]['id']}")
    assert (node["metadata"], node["parent"]) == (
        {"session": "s", "speaker": "Ann"},
        first["sections"][0],
    )
    assert [each["title"] for each in served.get("/v1/memories")["memories"]] == ["Staging"] * len(
        {*first["sections"], *more["sections"]}
    )
    refused = served.post("/v1/conversations", {"messages": [{"speaker": "Ann"}]}, status=422)
    assert refused["field"] == "messages[0].text"


def test_more_messages_than_a_request_may_hold_are_refused(served: Served) -> None:
    most = served.clew.settings.serve.max_batch
    refused = served.post(
        "/v1/conversations", {"messages": [{"text": "Hello"}] * (most + 1)}, status=422
    )
    assert refused["field"] == "messages"


def test_labels_are_changed_in_place_and_the_text_is_not(filled: Served) -> None:
    id = filled.clew.recent(1)[0].id
    changed = filled.ask(
        "PATCH",
        f"/v1/memories/{id}",
        status=200,
        json={"title": "Staging", "tags": ["db"], "importance": 1},
    )
    assert (changed["title"], changed["tags"], changed["importance"]) == ("Staging", ["db"], 1.0)
    assert changed == json.loads(payload.dumps(payload.memory(filled.clew.recent(1)[0])))
    refused = filled.ask(
        "PATCH", f"/v1/memories/{id}", status=422, json={"text": "Another text altogether"}
    )
    assert refused["field"] == "text"


def test_a_memory_is_forgotten_unless_it_is_protected(filled: Served) -> None:
    id = filled.clew.recent(1)[0].id
    assert filled.post(f"/v1/memories/{id}/protect") == {"id": id, "protected": True}
    assert filled.ask("DELETE", f"/v1/memories/{id}", status=409)["code"] == "refused.protected"
    assert filled.post(f"/v1/memories/{id}/protect", {"protected": False}) == {
        "id": id,
        "protected": False,
    }
    gone = filled.ask("DELETE", f"/v1/memories/{id}", status=200)
    assert (gone["forgotten"], gone["removed"], gone["found"]) == ([id], {"memory": 1}, 0)
    assert filled.get(f"/v1/memories/{id}", status=404)["code"] == "refused.not_found"
    assert [event["kind"] for event in filled.get(f"/v1/memories/{id}/history")["events"]] == [
        "FORGET"
    ]


def test_truth_changes_over_http(served: Served, clock: FixedClock) -> None:
    id = served.add(TEXTS[0], valid_from="2026-01-01")
    clock.advance(days=30)
    new = served.post(
        f"/v1/memories/{id}/supersede",
        {"text": "The staging database listens on port 6000"},
        status=201,
    )
    assert new["supersedes"] == id
    assert served.get(f"/v1/memories/{id}")["t_invalid"] is not None
    assert (
        served.post(f"/v1/memories/{new['id']}/supersede", {"text": "ok"})["outcome"] == "rejected"
    )
    clock.advance(days=1)
    ended = served.post(
        f"/v1/memories/{new['id']}/invalidate", {"at": served.clew.now().isoformat()}
    )
    assert ended["t_invalid"] is not None
    clock.advance(days=1)
    assert served.post(f"/v1/memories/{new['id']}/reassert")["t_invalid"] is None
    clock.advance(days=1)
    assert served.post(f"/v1/memories/{new['id']}/expire")["t_expired"] is not None
    versions = served.get(f"/v1/memories/{new['id']}/history")["versions"]
    assert {version["text"] for version in versions} == {
        TEXTS[0],
        "The staging database listens on port 6000",
    }
    old = served.get(f"/v1/memories/{id}", params={"as_of": "2026-01-02"})
    assert old["text"] == TEXTS[0]


def test_an_archived_memory_comes_back(served: Served, clock: FixedClock) -> None:
    id = served.add(TEXTS[0], importance=0.1)
    clock.advance(days=400)
    served.clew.decay(dry_run=False)
    assert served.get("/v1/memories", params={"archived": True})["memories"][0]["id"] == id
    assert served.post(f"/v1/memories/{id}/unarchive") == {"id": id, "archived": False}


def test_why_why_not_and_replay_are_those_of_python(filled: Served) -> None:
    answer = filled.post("/v1/recall", {"query": QUESTION, "trace": True, "track": False})
    first, last = answer["hits"][0]["id"], answer["hits"][-1]["id"]
    why = filled.post("/v1/why", {"query": QUESTION, "id": first})
    assert why["rank"] == 1
    assert timeless(why) == timeless(
        json.loads(payload.dumps(payload.why(filled.clew.why(QUESTION, first))))
    )
    lost = filled.post(
        "/v1/why-not", {"query": QUESTION, "id": last, "where": {"category": "fact"}}
    )
    assert (lost["stage"], lost["reason"]) == ("filter", "category")
    assert filled.post("/v1/why-not", {"query": QUESTION, "id": "nobody"})["reason"] == "unknown_id"
    assert filled.post("/v1/replay", {"trace": answer["trace"]})["identical"]


def test_an_export_streams_every_line(filled: Served) -> None:
    response = filled.client.get("/v1/export")
    assert response.headers["content-type"] == "application/x-ndjson"
    assert response.text.splitlines() == list(filled.clew.export())
    assert '"vector"' not in filled.client.get("/v1/export", params={"vectors": False}).text


def test_a_long_export_comes_in_pieces_and_whole(served: Served) -> None:
    served.clew.remember_many(
        [
            f"Memory number {number} is about berth {number * 7} of the harbour"
            for number in range(400)
        ]
    )
    assert served.client.get("/v1/export").text.splitlines() == list(served.clew.export())


def test_counts_are_those_of_the_store(filled: Served) -> None:
    told = filled.get("/v1/stats")
    assert told["nodes"] == len(TEXTS)
    # its model gives no tokens
    counts = {**filled.clew.store.stats(), "token_codes": {"nodes": 0, "missing": 0, "bytes": 0}}
    assert {key: told[key] for key in counts} == json.loads(payload.dumps(counts))


@pytest.mark.parametrize("sort", ["recent", "important", "popular"])
def test_pages_have_neither_gap_nor_repeat_while_others_write(
    served: Served, clock: FixedClock, sort: str
) -> None:
    known = []
    for number in range(25):
        clock.advance(seconds=number % 3)
        known.append(
            served.add(
                f"Berth {number} of the harbour is dredged in its own year",
                importance=0.5 + (number % 4) / 10,
            )
        )
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = served.get(
            "/v1/memories",
            params={"sort": sort, "limit": 4, **({"cursor": cursor} if cursor else {})},
        )
        seen += [memory["id"] for memory in page["memories"]]
        clock.advance(seconds=5)
        served.add(
            f"Meanwhile page {len(seen)} was read by a visitor of the harbour", importance=0.9
        )
        cursor = page["cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert set(known) <= set(seen)


def test_health_is_told_to_everybody(serve: Serve) -> None:
    served = serve(require_token=True)
    for path, status in {
        "/health": "ready",
        "/health/ready": "ready",
        "/health/live": "live",
    }.items():
        assert served.get(path, headers={"Host": "10.0.0.7:7411"}) == {"status": status}


def test_metrics_count_requests_and_name_no_space_id_or_text(filled: Served) -> None:
    id = filled.add("A secret plan of the harbour master", space="hidden-space")
    filled.get(f"/v1/memories/{id}")
    filled.get("/v1/no-such-thing", status=404)
    text = filled.client.get("/metrics").text
    assert (
        'clew_http_requests_total{method="GET",route="/v1/memories/{id}",status="200"} 1.0' in text
    )
    assert 'route="unrouted",status="404"' in text
    assert 'clew_http_request_seconds_bucket{le="+Inf",route="/v1/memories"} 4.0' in text
    assert not any(word in text for word in ("hidden-space", id, "secret", "no-such-thing"))


def test_several_are_forgotten_by_a_filter_and_their_number(filled: Served) -> None:
    ids = [
        filled.add(f"The crane on pier {number} is inspected in May.", tags=["old"])
        for number in (1, 2)
    ]
    planned = filled.post("/v1/forget", {"where": {"tags": ["old"]}, "dry_run": True})
    assert (planned["forgotten"], planned["dry_run"]) == (ids, True)
    refused = filled.post("/v1/forget", {"where": {"tags": ["old"]}, "expect": 1}, status=422)
    assert "which is 2" in refused["detail"]
    done = filled.post("/v1/forget", {"query": "crane inspected", "expect": 2})
    assert (done["forgotten"], done["found"], done["remains"]) == (ids, 0, [])
    assert (
        filled.post("/v1/memories", {"text": "The crane on pier 1 is inspected in May."})["rule"]
        == "forgotten"
    )
    assert (
        filled.post(
            "/v1/memories",
            {"text": "The crane on pier 1 is inspected in May.", "force": True},
            status=201,
        )["outcome"]
        == "inserted"
    )
    filled.post("/v1/forget", {}, status=422)


def test_a_caller_forgets_only_where_it_may_write(filled: Served) -> None:
    filled.add("The payroll database listens on port 5555.", space="hr")
    team = filled.token("read", "write", spaces=("team",))
    filled.post("/v1/forget", {"where": {"space": "hr"}, "dry_run": True}, status=403, token=team)
    assert (
        filled.post("/v1/forget", {"query": "payroll", "dry_run": True}, token=team)["forgotten"]
        == []
    )
