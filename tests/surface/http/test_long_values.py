"""No problem document repeats more than 200 characters of a request, and no value is nested too deeply to be refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import clew
from clew.surface.http.app import make_app
from tests.long_values import DIGIT, KEY, LONG, NUMBER, UNKNOWN, check_echo
from tests.surface.http.conftest import Served


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


VALUES: tuple[Any, ...] = (LONG, [LONG], {KEY: [LONG]}, int(DIGIT * 4000), nested(450))
NEEDED = {
    "text": "A sentence that is fine by itself",
    "query": "which port",
    "memories": [{"text": "A sentence that is fine by itself"}],
    "messages": [{"text": "A message that is fine by itself", "speaker": "Ann"}],
    "trace": {},
    "target": "01m7gfwdmr422zgpq588cdfnzy",
}


def routes() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield method, path and description of every route."""
    with clew.open(":memory:", model={"embedder": "none"}) as memory:
        document = make_app(memory).openapi()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            schema = (
                operation.get("requestBody", {})
                .get("content", {})
                .get("application/json", {})
                .get("schema", {})
            )
            chosen: dict[str, Any] = next(
                (each for each in schema.get("anyOf", [schema]) if "$ref" in each), {}
            )
            named = document["components"]["schemas"].get(
                chosen.get("$ref", "").rpartition("/")[2], {}
            )
            yield (
                method.upper(),
                path,
                {"parameters": operation.get("parameters", []), "body": named},
            )


ROUTES = list(routes())


def requests(
    method: str, path: str, described: dict[str, Any], id: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield addresses and options of requests, each with one long value in it."""
    here = path.replace("{id}", id)
    for each in described["parameters"]:
        for value in (LONG, NUMBER):
            if each["in"] == "path":
                yield path.replace("{id}", value), {}
            else:
                yield here, {"params": {each["name"]: value}}
    properties = described["body"].get("properties", {})
    needed = {name: {**NEEDED, "id": id}[name] for name in described["body"].get("required", ())}
    for name in (*properties, UNKNOWN) if properties else ():
        for value in VALUES:
            yield (
                here,
                {
                    "content": json.dumps({**needed, name: value}),
                    "headers": {"content-type": "application/json"},
                },
            )


@pytest.mark.parametrize(
    ("method", "path", "described"), ROUTES, ids=lambda each: each if isinstance(each, str) else ""
)
def test_no_problem_of_a_route_repeats_a_long_value(
    served: Served, method: str, path: str, described: dict[str, Any]
) -> None:
    id = served.add("The staging database listens on port 5433")
    for address, options in requests(method, path, described, id):
        response = served.client.request(method, address, **options)
        told = (address[:80], str(options)[:300], response.text[:300])
        assert response.status_code < 500, told
        if response.status_code >= 400:
            check_echo(f"{response.text}{dict(response.headers)}", told)


@pytest.mark.parametrize(
    "content",
    [
        LONG,
        f'{{"{KEY}": "{LONG}"',
        "[" * 100_000,
        '{"query":' * 5000,
        f'"{LONG}"',
        NUMBER,
        f'{{"query": {NUMBER}}}',
    ],
)
def test_no_problem_repeats_a_body_that_cannot_be_read(served: Served, content: str) -> None:
    response = served.client.post(
        "/v1/recall", content=content, headers={"content-type": "application/json"}
    )
    assert response.status_code in (400, 422), response.text
    check_echo(response.text, content)


@pytest.mark.parametrize(
    "name", ["X-Request-ID", "Authorization", "Host", "Origin", "Content-Type", "Accept", "Cookie"]
)
def test_no_problem_repeats_a_long_header(
    served: Served, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    response = served.client.post(
        "/v1/recall",
        content='{"query": 1}',
        headers={"content-type": "application/json", name: NUMBER},
    )
    assert 400 <= response.status_code < 500, response.text
    check_echo(f"{response.text}{dict(response.headers)}", name)
    check_echo(caplog.text, name)


def test_no_problem_repeats_a_long_address(served: Served) -> None:
    asked = f"{KEY[:1000]}={LONG[:5000]}"  # clients have a limit of their own
    for address in (f"/{LONG}", f"/v1/{LONG}", f"/v1/memories?{asked}", f"/health?{asked}"):
        response = served.client.get(address)
        check_echo(f"{response.text}{dict(response.headers)}", address)
