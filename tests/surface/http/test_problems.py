"""Every failure is a problem document with a code, and none tells more than it should."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from clew import errors
from clew.errors import ClewError, StoreBusyError, StoreError, StoreFullError
from clew.surface.http import problems
from tests.surface.http.conftest import Serve, Served


def known(kind: type[ClewError]) -> Iterator[type[ClewError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from known(each)


def test_every_error_of_the_core_has_a_status() -> None:
    for kind in known(ClewError):
        if kind.__module__ == errors.__name__ and kind is not ClewError:
            status = problems.status_of(kind.code)
            assert status != 500 or issubclass(kind, errors.SettingError), kind
    assert [
        problems.status_of(code)
        for code in ("refused.forbidden", "refused.unauthorised", "refused.duplicate", "store.full")
    ] == [
        403,
        401,
        409,
        507,
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "x", "k": "5"}, "k"),
        ({"query": "x", "k": 0}, "k"),
        ({"query": "x", "k": True}, "k"),
        ({"query": "   "}, "query"),
        ({}, "query"),
        ({"query": "x", "colour": 1}, "colour"),
        ({"query": "x", "recipe": "soup"}, "recipe"),
        ({"query": "x", "where": {"since": "the day before"}}, "where.since"),
        ({"query": "x", "where": {"spcae": "a"}}, "where.spcae"),
        ({"query": "x", "weights": {}}, "weights"),
        ({"query": "x\u0000y"}, "query"),
        ({"query": "x", "where": {"metadata": {"a": 1e999}}}, "metadata"),
        (["query"], "body"),
        ("query", "body"),
    ],
)
def test_a_wrong_value_is_named(served: Served, body: Any, field: str) -> None:
    text = json.dumps(body)
    problem = served.ask(
        "POST", "/v1/recall", status=422, content=text, headers={"content-type": "application/json"}
    )
    assert (problem["code"], problem["field"]) == ("input.invalid", field)
    assert problem["type"] == "urn:clew:problem:input.invalid"
    assert problem["status"] == 422
    assert problem["detail"].startswith(field)


@pytest.mark.parametrize(
    "text", ['{"query": ', "", "[" * 100_000, '{"query": ' + "9" * 5000 + "}", b"\xff\xfe{}"]
)
def test_what_is_no_json_is_refused(served: Served, text: str | bytes) -> None:
    response = served.client.post(
        "/v1/recall", content=text, headers={"content-type": "application/json"}
    )
    assert response.status_code in (400, 422)
    assert response.headers["content-type"] == problems.MEDIA_TYPE


def test_half_a_character_is_refused_and_the_refusal_can_be_read(served: Served) -> None:
    problem = served.ask(
        "POST",
        "/v1/recall",
        status=422,
        content='{"query": "half \\ud800"}',
        headers={"content-type": "application/json"},
    )
    assert problem["field"] == "query"


def test_a_body_of_another_type_is_refused(served: Served) -> None:
    served.ask(
        "POST",
        "/v1/memories",
        status=422,
        content="text=abc",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )


def test_unknown_paths_methods_memories_and_parameters_are_problems(served: Served) -> None:
    assert served.get("/v2/memories", status=404)["code"] == "http.no_route"
    assert served.get("/v1/memories/", status=404)["code"] == "http.no_route"
    assert served.ask("PUT", "/v1/recall", status=405)["code"] == "http.method"
    assert served.client.put("/v1/recall").headers["allow"] == "POST"
    for path in ("", "/history", "/related"):
        problem = served.get(f"/v1/memories/nobody{path}", status=404)
        assert (problem["code"], problem["id"]) == ("refused.not_found", "nobody")
    assert served.get("/v1/jobs/nobody", status=404)["id"] == "nobody"
    for query in ("limit=0", "limit=x", "sort=up", "colour=red", "cursor=%00", "cursor=abc"):
        assert served.get(f"/v1/memories?{query}", status=422)["code"] == "input.invalid"


def test_a_long_value_is_not_sent_back_whole(served: Served) -> None:
    problem = served.post(
        "/v1/memories", {"text": "A memory of the harbour", "title": "x" * 100_000}, status=422
    )
    assert problem["field"] == "title"
    assert len(json.dumps(problem)) < 1000


@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (StoreBusyError("/srv/secret.clew was busy", path="/srv/secret.clew"), 503, "1"),
        (StoreFullError("/srv/secret.clew has no room", path="/srv/secret.clew"), 507, None),
    ],
)
def test_what_a_store_says_of_the_machine_is_for_its_administrator(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, error: StoreError, status: int, retry: str | None
) -> None:
    served = serve()

    def failing(*_: Any, **__: Any) -> None:
        raise error

    secret = served.token("write", spaces=("default",))
    monkeypatch.setattr(served.clew, "remember", failing)
    body = {"text": "A memory of the harbour"}
    problem = served.post("/v1/memories", body, status=status, token=secret)
    assert problem["code"] == error.code
    assert "/srv" not in json.dumps(problem)
    response = served.client.post(
        "/v1/memories", json=body, headers={"Authorization": f"Bearer {secret}"}
    )
    assert response.headers.get("retry-after") == retry
    assert (
        "/srv/secret.clew"
        in served.post("/v1/memories", body, status=status, token=served.token("admin"))["detail"]
    )


def test_what_should_not_happen_tells_nothing_but_the_request(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise KeyError("a secret of the inside")

    monkeypatch.setattr(served.clew, "recall", failing)
    with caplog.at_level(logging.ERROR, "clew.http"):
        response = served.client.post(
            "/v1/recall", json={"query": "the harbour"}, headers={"X-Request-ID": "mine-1"}
        )
    assert response.status_code == 500
    assert response.headers["content-type"] == problems.MEDIA_TYPE
    assert response.json()["code"] == "bug"
    assert response.json()["request_id"] == "mine-1" == response.headers["x-request-id"]
    assert "secret" not in response.text
    assert any(
        record.__dict__.get("request_id") == "mine-1" and record.exc_info
        for record in caplog.records
    )


def test_the_log_has_neither_texts_nor_questions_nor_paths(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        id = served.add("Canary-one of the harbour is yellow")
        served.post("/v1/recall", {"query": "where is canary-two"})
        served.get(f"/v1/memories/{id}")
        served.get("/v1/canary-three?canary-four=1", status=404)
        served.post("/v1/recall", {"query": "x", "k": "canary-five"}, status=422)
    told = "\n".join(
        f"{record.getMessage()} {record.__dict__}"
        for record in caplog.records
        if record.name.startswith("clew")
    )
    assert "POST /v1/recall 200" in told
    assert "canary" not in told.casefold()
    assert id not in told
