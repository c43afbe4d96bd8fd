"""Who may do what over HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from clew.engine.auth import POLICY_KIND, REQUIRED, Tokens
from clew.errors import RefusedError
from clew.testing import FixedClock
from tests.surface.http.conftest import TEXTS, Serve, Served

QUESTION = {"query": "which port does the staging database use"}


def everything(id: str) -> list[tuple[str, str, Any, str]]:
    """Every route with a request that can be done, and the right that it needs."""
    memory = f"/v1/memories/{id}"
    return [
        ("POST", "/v1/memories", {"text": TEXTS[1], "space": "work"}, "write"),
        (
            "POST",
            "/v1/memories/batch",
            {"memories": [{"text": TEXTS[2], "space": "work"}]},
            "write",
        ),
        (
            "POST",
            "/v1/conversations",
            {"messages": [{"speaker": "Ann", "text": TEXTS[2]}], "space": "work"},
            "write",
        ),
        ("GET", "/v1/memories?space=work", None, "read"),
        ("GET", memory, None, "read"),
        ("PATCH", memory, {"title": "Staging"}, "write"),
        ("GET", f"{memory}/history", None, "read"),
        ("GET", f"{memory}/related", None, "read"),
        ("GET", f"{memory}/graph?hops=2", None, "read"),
        ("GET", "/v1/timeline?space=work", None, "read"),
        ("GET", "/v1/diff?space=work&as_of=2026-01-01", None, "read"),
        ("GET", "/v1/quality?space=work", None, "read"),
        ("POST", f"{memory}/invalidate", None, "write"),
        ("POST", f"{memory}/reassert", None, "write"),
        ("POST", f"{memory}/protect", {"protected": False}, "write"),
        ("POST", f"{memory}/unarchive", None, "write"),
        ("GET", "/v1/memories/by-key?key=staging&space=work", None, "read"),
        ("POST", "/v1/memories/list", {"where": {"space": "work"}}, "read"),
        ("POST", "/v1/lists/important", {"where": {"space": "work"}, "least": 0.1}, "read"),
        ("POST", f"{memory}/link", {"target": id}, "write"),
        ("POST", "/v1/decay", {"space": "work"}, "admin"),
        ("POST", "/v1/recall", {**QUESTION, "where": {"space": "work"}}, "read"),
        ("POST", "/v1/search/hybrid", {**QUESTION, "where": {"space": "work"}}, "read"),
        ("POST", "/v1/search/agent", {**QUESTION, "where": {"space": "work"}}, "read"),
        ("POST", "/v1/why", {**QUESTION, "id": id, "where": {"space": "work"}}, "read"),
        ("POST", "/v1/why-not", {**QUESTION, "id": id, "where": {"space": "work"}}, "read"),
        (
            "POST",
            "/v1/import",
            {"data": "# Cranes\n\nThey are inspected in March.", "space": "work"},
            "write",
        ),
        ("GET", "/v1/stats?space=work", None, "read"),
        ("GET", "/v1/conflicts?space=work", None, "read"),
        ("GET", "/v1/export?space=work", None, "admin"),
        (
            "POST",
            f"{memory}/supersede",
            {"text": "The staging database listens on port 6000"},
            "write",
        ),
        ("POST", f"{memory}/expire", None, "write"),
        ("DELETE", memory, None, "write"),
    ]


HOLDS = {"read": {"read"}, "write": {"read", "write"}, "admin": {"read", "write", "admin"}}


def statuses(served: Served, id: str, clock: FixedClock, secret: str | None) -> list[int]:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    found = []
    for method, path, body, _ in everything(id):
        clock.advance(seconds=1)
        found.append(
            served.client.request(
                method, path, headers=headers, **({} if body is None else {"json": body})
            ).status_code
        )
    return found


@pytest.mark.parametrize("right", ["read", "write", "admin"])
def test_a_token_opens_exactly_its_rights_in_its_spaces(
    served: Served, clock: FixedClock, right: str
) -> None:
    id = served.add(TEXTS[0], space="work", idempotency_key="staging")
    secret = served.token(right, spaces=("work",))
    for (method, path, _, needed), status in zip(
        everything(id), statuses(served, id, clock, secret), strict=True
    ):
        assert (status < 300) == (needed in HOLDS[right]), (method, path, status)
        assert status < 300 or status == 403


@pytest.mark.parametrize("right", ["read", "write", "admin"])
def test_a_token_opens_nothing_in_other_spaces(
    served: Served, clock: FixedClock, right: str
) -> None:
    id = served.add(TEXTS[0], space="work", idempotency_key="staging")
    secret = served.token(right, spaces=("elsewhere",))
    for (method, path, body, _), status in zip(
        everything(id), statuses(served, id, clock, secret), strict=True
    ):
        named = "space" in path or (isinstance(body, dict) and ("space" in json.dumps(body)))
        assert status == (403 if named else 404), (method, path, status)
    assert served.clew.get(id) is not None


def test_without_a_token_nothing_is_open_as_soon_as_there_is_one(
    served: Served, clock: FixedClock
) -> None:
    id = served.add(TEXTS[0], space="work", idempotency_key="staging")
    token = served.token("read", name="first")
    assert set(statuses(served, id, clock, None)) == {401}
    for path in ("/v1/jobs", "/metrics", "/v1/export", "/v1/no-such-thing"):
        assert served.get(path, status=401)["code"] == "refused.unauthorised"
    response = served.client.get("/v1/stats")
    assert response.headers["www-authenticate"].startswith("Bearer")
    served.get("/openapi.json")
    served.get("/health")
    tokens = Tokens(served.clew.store, served.clew.now)
    served.get("/v1/jobs", token=token)
    tokens.revoke(tokens.list()[0].id)
    served.get("/v1/jobs", status=401, token=token)


@pytest.mark.parametrize("path", ["/v1/stats", "/mcp"])
def test_a_server_that_has_required_tokens_does_so_after_the_last_is_revoked(
    serve: Serve, path: str
) -> None:
    served = serve()
    assert served.client.post(path, json={}).status_code != 401
    secret = served.token("admin")
    tokens = Tokens(served.clew.store, served.clew.now)
    tokens.revoke(tokens.list()[0].id)
    for server in (served, serve()):  # a server that starts now, too
        server.ask("POST", path, status=401, json={})
        server.ask("POST", path, status=401, json={}, token=secret)
    tokens.allow_anonymous()
    assert served.client.post(path, json={}).status_code != 401


def test_tokens_made_before_this_was_noted_count_too(served: Served) -> None:
    served.token("admin")
    served.clew.store.drop(POLICY_KIND, REQUIRED)
    served.get("/v1/stats", status=401)
    tokens = Tokens(served.clew.store, served.clew.now)
    tokens.revoke(tokens.list()[0].id)
    served.get("/v1/stats", status=401)


def test_callers_without_a_token_are_not_allowed_while_there_is_one(served: Served) -> None:
    served.token("admin")
    with pytest.raises(RefusedError, match="Revoke them first"):
        Tokens(served.clew.store, served.clew.now).allow_anonymous()
    served.get("/v1/stats", status=401)


@pytest.mark.parametrize("space", ["work", "no such space"])
def test_a_refusal_names_the_missing_right_and_the_command_that_gives_it(
    served: Served, space: str
) -> None:
    served.add(TEXTS[0], space="work")
    secret = served.token("read", spaces=("home",), name="bot")
    problem = served.post(
        "/v1/memories", {"text": TEXTS[1], "space": space}, status=403, token=secret
    )
    quoted = f"'{space}'" if " " in space else space
    assert problem["detail"] == (
        f"bot lacks the right 'write' for the space '{space}'. Name one for which it has it, or create a token: "
        f"clew token create NAME --space {quoted} --right write"
    )
    assert (problem["right"], problem["space"]) == ("write", space)
    whole = served.get("/metrics", status=403, token=secret)
    assert "lacks the right 'admin' for the whole store" in whole["detail"]
    assert "clew token create NAME --all-spaces --right admin" in whole["detail"]


def test_a_token_may_be_asked_for_while_there_is_none(serve: Serve) -> None:
    assert serve(require_token=True).get("/v1/stats", status=401)["code"] == "refused.unauthorised"


def test_beyond_the_machine_the_door_stays_shut_when_the_last_token_is_revoked(
    serve: Serve,
) -> None:
    served = serve(host="192.0.2.7")
    secret = served.token("admin")
    served.get("/v1/stats", token=secret)
    tokens = Tokens(served.clew.store, served.clew.now)
    tokens.revoke(tokens.list()[0].id)
    served.get("/v1/stats", status=401)
    served.get("/v1/stats", status=401, headers={"Host": "192.0.2.7:7411"})


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "Basic YTpi", "clew_abc", "Bearer clew_abc", "bearer é", "Bearer a b c"],
)
def test_a_wrong_token_is_refused_also_where_none_is_needed(served: Served, header: str) -> None:
    response = served.client.get("/v1/stats", headers=[(b"authorization", header.encode())])
    assert response.status_code == 401


def test_a_batch_with_one_for_a_foreign_space_writes_nothing_whatever_stands_before_it(
    served: Served,
) -> None:
    secret = served.token("write", spaces=("mine",))
    batch = [
        {"text": TEXTS[0]},
        {"text": TEXTS[1], "space": "\n"},
        {"text": TEXTS[2], "space": "hidden"},
    ]
    problem = served.post("/v1/memories/batch", {"memories": batch}, status=403, token=secret)
    assert problem["code"] == "refused.forbidden"
    assert served.clew.stats()["nodes"] == 0


def test_of_two_tokens_neither_counts(served: Served) -> None:
    good = served.token("read").encode()
    for pair in ([good, b"clew_other"], [b"clew_other", good], [good, good]):
        headers = [(b"authorization", b"Bearer " + each) for each in pair]
        assert served.client.get("/v1/jobs", headers=headers).status_code == 401


def test_a_token_ends_when_its_time_is_over(served: Served, clock: FixedClock) -> None:
    secret, _ = Tokens(served.clew.store, served.clew.now).create(
        "brief", spaces=None, rights=["read"], expires="12h"
    )
    served.get("/v1/jobs", token=secret)
    clock.advance(days=1)
    served.get("/v1/jobs", status=401, token=secret)
    served.get("/v1/jobs", status=401)


def test_a_memory_of_another_space_is_as_unknown_as_none(served: Served) -> None:
    id = served.add(TEXTS[0], space="hidden")
    secret = served.token("write", spaces=("mine",))
    for path in ("", "/history", "/related"):
        there = served.get(f"/v1/memories/{id}{path}", status=404, token=secret)
        absent = served.get(f"/v1/memories/{'0' * 26}{path}", status=404, token=secret)
        told = [
            json.dumps({**each, "request_id": ""}).replace(each["id"], "ID")
            for each in (there, absent)
        ]
        assert told[0] == told[1]


def test_no_answer_tells_of_other_spaces(served: Served) -> None:
    served.add(TEXTS[0], space="hidden")
    served.post(
        "/v1/import",
        {
            "data": "# Plans\n\nThe hidden plan of the harbour.",
            "space": "hidden",
            "name": "plan.md",
        },
        status=202,
    )
    secret = served.token("read", spaces=("mine",))
    assert served.get("/v1/jobs", token=secret) == {"jobs": []}
    assert served.get("/v1/stats", token=secret)["nodes"] == 0
    assert served.post("/v1/recall", QUESTION, token=secret)["hits"] == []
    assert served.get("/v1/memories", token=secret) == {"memories": [], "cursor": None}
    served.get("/metrics", status=403, token=secret)
    served.get("/metrics", status=403, token=served.token("admin", spaces=("mine",)))
    assert (
        served.client.get(
            "/metrics", headers={"Authorization": f"Bearer {served.token('admin')}"}
        ).status_code
        == 200
    )


def test_a_refused_body_is_not_read(served: Served) -> None:
    served.token("read")

    sent: list[Any] = []

    async def ask() -> None:  # by hand: the test client would read the body itself
        async def receive() -> Any:
            raise AssertionError("it was read")

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/memories",
            "raw_path": b"/v1/memories",
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "headers": [(b"host", b"127.0.0.1")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        await served.client.app(scope, receive, send)

    asyncio.run(ask())
    assert sent[0]["status"] == 401
