"""What every request passes: host, origin, size, time, rate and the queue.

And the name of the request.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from clew.surface.http import app as mounting
from clew.surface.http import edge
from clew.surface.http.edge import Buckets, received
from clew.surface.http.problems import SlowRequestError, TooLargeError
from tests.surface.http.conftest import TEXTS, Serve, Served
from tests.waiting import LONG_SECONDS, wait_until


@pytest.fixture(autouse=True)
def _buckets_fill_up_with_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates are counted on a timer that stands still, however long a test takes."""
    monkeypatch.setattr(edge, "Buckets", partial(Buckets, timer=lambda: 0.0))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:7411", "localhost:80", "LOCALHOST", "[::1]:7411"]
)
def test_its_own_names_are_served(served: Served, host: str) -> None:
    served.get("/v1/stats", headers={"Host": host})


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7411",
        "127.0.0.1.evil.example",
        "",
        "localhost.",
        "127.0.0.1@evil.example",
    ],
)
def test_other_names_are_not(served: Served, host: str) -> None:
    assert served.get("/v1/stats", status=421, headers={"Host": host})["code"] == "http.wrong_host"


def test_further_names_can_be_allowed(serve: Serve) -> None:
    serve(allowed_hosts=["memory.example"]).get(
        "/v1/stats", headers={"Host": "memory.example:7411"}
    )
    serve(allowed_hosts=["*"]).get("/v1/stats", headers={"Host": "anything"})


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1.evil.example",
        "http://127.0.0.1:9999",
        "file://",
    ],
)
def test_pages_of_other_origins_are_refused(served: Served, origin: str) -> None:
    assert (
        served.get("/v1/stats", status=403, headers={"Origin": origin})["code"]
        == "http.wrong_origin"
    )


def test_its_own_origin_and_an_allowed_one_are_served(serve: Serve) -> None:
    served = serve()
    served.get("/v1/stats", headers={"Origin": "http://127.0.0.1"})
    assert (
        "access-control-allow-origin"
        not in served.client.get("/v1/stats", headers={"Origin": "http://127.0.0.1"}).headers
    )
    allowing = serve(allowed_origins=["https://app.example"])
    response = allowing.client.get("/v1/stats", headers={"Origin": "https://app.example"})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://app.example"
    asked = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    assert allowing.client.options("/v1/recall", headers=asked).status_code == 200
    allowing.get("/v1/stats", status=403, headers={"Origin": "https://other.example"})


def test_a_body_over_the_limit_is_refused_whatever_its_headers_say(serve: Serve) -> None:
    served = serve(max_request_mb=0.01)
    text = json.dumps({"text": "x" * 20_000})
    kind = {"content-type": "application/json"}
    assert (
        served.ask("POST", "/v1/memories", status=413, content=text, headers=kind)["code"]
        == "http.too_large"
    )

    def pieces() -> Iterator[bytes]:  # no length is told
        for _ in range(30):
            yield b" " * 1000

    assert (
        served.ask("POST", "/v1/memories", status=413, content=pieces(), headers=kind)["limit"]
        == 10_000
    )
    served.post("/v1/memories", {"text": TEXTS[0]}, status=201)


def test_counting_stops_at_the_limit_and_not_at_the_end() -> None:
    taken = 0

    async def endless() -> dict[str, Any]:
        nonlocal taken
        taken += 1
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    with pytest.raises(TooLargeError):
        asyncio.run(received(endless, declared="12", limit=5000, seconds=LONG_SECONDS))
    assert taken == 6


def test_a_request_that_never_ends_is_given_up() -> None:
    async def silent() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(SlowRequestError):
        asyncio.run(received(silent, declared=None, limit=5000, seconds=0.01))


@pytest.fixture
def go_on(serve: Serve) -> Iterator[threading.Event]:
    """What a test holds back goes on at its end, also when the test fails.

    Else the server would never stop.
    """
    event = threading.Event()
    yield event
    event.set()


def test_an_answer_that_takes_too_long_is_given_up(
    serve: Serve, go_on: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(answer_seconds=0.1)
    monkeypatch.setattr(served.clew, "recall", lambda *_, **__: go_on.wait())
    problem = served.post("/v1/recall", {"query": "the harbour"}, status=504)
    assert (problem["code"], problem["seconds"]) == ("http.slow_answer", 0.1)


def test_behind_a_full_queue_callers_are_told_to_come_again(
    serve: Serve, go_on: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(threads=1, queue=1)
    begun = threading.Event()

    def stuck(*_: Any, **__: Any) -> None:
        begun.set()
        go_on.wait()

    monkeypatch.setattr(served.clew, "recall", stuck)
    waiting = [
        threading.Thread(
            target=served.client.post, args=("/v1/recall",), kwargs={"json": {"query": "x"}}
        )
        for _ in range(2)
    ]
    waiting[0].start()
    begun.wait()
    waiting[1].start()
    pool = served.client.app.state.service.pool  # type: ignore[attr-defined]
    wait_until(lambda: pool.taken == 2)
    response = served.client.get("/v1/stats")
    assert (response.status_code, response.json()["code"], response.headers["retry-after"]) == (
        503,
        "http.crowded",
        "1",
    )
    assert served.get("/health") == {"status": "ready"}
    go_on.set()
    for each in waiting:
        each.join()
    served.get("/v1/stats")


def test_a_caller_who_asks_too_often_is_told_when_to_come_again(serve: Serve) -> None:
    served = serve(requests_per_second=0.5, burst=3)
    for _ in range(3):
        served.get("/v1/stats")
    response = served.client.get("/v1/stats")
    assert (response.status_code, response.json()["code"]) == (429, "http.too_many")
    assert 1 <= int(response.headers["retry-after"]) <= 2
    served.get("/health")


def test_each_token_has_its_own_rate(serve: Serve) -> None:
    served = serve(requests_per_second=0.1, burst=2)
    one, other = served.token("read", name="one"), served.token("read", name="other")
    for _ in range(2):
        served.get("/v1/stats", token=one)
    served.get("/v1/stats", status=429, token=one)
    served.get("/v1/stats", token=other)


def test_a_token_has_one_rate_however_it_is_written(serve: Serve) -> None:
    served = serve(requests_per_second=0.1, burst=2)
    secret = served.token("read")
    written = [f"Bearer {secret}", f"bearer {secret}", f"BEARER   {secret}", f" Bearer {secret} "]
    statuses = [
        served.client.get("/v1/jobs", headers={"Authorization": each}).status_code
        for each in written
    ]
    assert statuses == [200, 200, 429, 429]


def test_whoever_tries_tokens_is_slowed_down_and_others_at_the_same_address_are_not(
    serve: Serve,
) -> None:
    served = serve(requests_per_second=0.1, burst=5)
    secret = served.token("read")
    statuses = [
        served.client.get("/v1/jobs", headers={"Authorization": f"Bearer clew_{n}"}).status_code
        for n in range(8)
    ]
    assert statuses == [401] * 5 + [429] * 3
    served.get("/v1/jobs", token=secret)


@pytest.mark.parametrize("given", ["job-17", "a" * 64, "A.b_c-9"])
def test_a_request_keeps_the_name_it_came_with(served: Served, given: str) -> None:
    assert (
        served.client.get("/v1/stats", headers={"X-Request-ID": given}).headers["x-request-id"]
        == given
    )


@pytest.mark.parametrize("given", ["a" * 65, "a b", "<script>", "a;b", ""])
def test_a_name_unfit_for_a_log_is_replaced(served: Served, given: str) -> None:
    id = served.client.get("/v1/stats", headers={"X-Request-ID": given}).headers["x-request-id"]
    assert id.isalnum()
    assert id != given


def test_mounted_applications_stand_behind_the_same_checks(serve: Serve) -> None:
    seen: list[Any] = []

    async def mounted(scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        seen.append((scope["state"]["grant"].name, message["body"]))
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/plain")],
            }
        )
        await send({"type": "http.response.body", "body": b"mounted"})

    served = serve(mounts=[("/mcp", mounted)], max_request_mb=0.001)
    for path in ("/mcp", "/mcp/", "/mcp/deeper"):
        assert served.client.post(path, content=b"hello").text == "mounted"
    secret = served.token("read", name="agent")
    assert served.client.post("/mcp", content=b"hello").status_code == 401
    assert (
        served.client.post(
            "/mcp", content=b"x" * 2000, headers={"Authorization": f"Bearer {secret}"}
        ).status_code
        == 413
    )
    assert (
        served.client.post(
            "/mcp", content=b"hello", headers={"Authorization": f"Bearer {secret}"}
        ).status_code
        == 200
    )
    assert (
        served.client.post("/mcp", content=b"hello", headers={"Host": "evil.example"}).status_code
        == 421
    )
    assert seen == [("owner", b"hello")] * 3 + [("agent", b"hello")]
    assert (
        'route="/mcp"'
        in served.client.get(
            "/metrics", headers={"Authorization": f"Bearer {served.token('admin')}"}
        ).text
    )


def test_agents_reach_the_tools_below_their_path_and_only_when_they_ask_is_it_loaded(
    serve: Serve,
) -> None:
    pytest.importorskip("mcp")
    memory = serve().clew
    agents = mounting.mcp(memory)
    assert agents is not None
    served = serve(mounts=[(mounting.MCP_PATH, agents)], lifespans=[agents.lifespan])
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
    }
    answer = served.client.post("/mcp", json=asked, headers=headers)
    assert answer.status_code == 200, answer.text
    assert "recall" in [tool["name"] for tool in answer.json()["result"]["tools"]]
    served.token("read", name="first")
    assert served.client.post("/mcp", json=asked, headers=headers).status_code == 401
