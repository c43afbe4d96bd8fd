"""The OpenAPI document is true.

Every route is in it, every answer fits it, and nothing unforeseen comes back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

import clew
from clew.surface.http.app import make_app
from clew.surface.http.bodies import Body
from clew.surface.http.reference import reference_markdown, right_of
from tests.surface.http.conftest import OWN, TEXTS, Served

DOCS = Path(__file__).parents[3] / "docs"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 8  # for each operation, right and wrong


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            yield method, path, told


def test_the_page_of_routes_is_the_generated_one() -> None:
    page = (DOCS / "http.md").read_text(encoding="utf-8")
    assert page == reference_markdown(), "run: python -m clew.surface.http.reference > docs/http.md"


def test_every_operation_is_described_with_its_refusals_and_its_token(served: Served) -> None:
    document = served.get("/openapi.json")
    for method, path, told in operations(document):
        assert told["description"], path
        assert {"401", "422", "503"} <= set(told["responses"]), path
        assert ("security" in told) == (right_of(path, method) != "none"), path
        for status, response in told["responses"].items():
            assert ("application/problem+json" in response.get("content", {})) == (
                int(status) >= 400
            ), (path, status)


def test_every_reference_of_the_document_leads_somewhere(served: Served) -> None:
    document = served.get("/openapi.json")
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert named <= set(document["components"]["schemas"])


def test_every_field_of_a_request_is_described_or_named_after_one_that_is() -> None:
    for body in Body.__subclasses__():
        for name, field in body.model_json_schema()["properties"].items():
            assert "description" in json.dumps(field), (body, name)


def test_every_route_of_the_contract_is_there(served: Served) -> None:
    expected = """
        POST /v1/memories, POST /v1/memories/batch, POST /v1/conversations, GET /v1/memories,
        GET /v1/memories/by-key, POST /v1/memories/list, POST /v1/lists/{name}, POST /v1/memories/{id}/link, POST /v1/decay,
        GET /v1/memories/{id}, PATCH /v1/memories/{id}, DELETE /v1/memories/{id}, POST /v1/forget,
        GET /v1/memories/{id}/history, GET /v1/memories/{id}/related, POST /v1/memories/{id}/supersede, POST /v1/memories/{id}/invalidate,
        POST /v1/memories/{id}/expire, POST /v1/memories/{id}/reassert, POST /v1/memories/{id}/protect, POST /v1/memories/{id}/unarchive,
        POST /v1/recall, POST /v1/search/hybrid, POST /v1/search/agent, POST /v1/why, POST /v1/why-not, POST /v1/replay, POST /v1/import,
        GET /v1/conflicts, POST /v1/conflicts/{id}/dismiss, GET /v1/sources,
        GET /v1/jobs, GET /v1/jobs/{id}, GET /v1/export, GET /v1/stats, GET /health,
        GET /v1/me, GET /v1/timeline, GET /v1/diff, GET /v1/memories/{id}/graph, GET /v1/quality, GET /v1/settings, GET /v1/recalls,
        POST /v1/verify, POST /v1/backup, GET /v1/evaluations, GET /v1/evaluation, GET /v1/evaluation/questions,
        GET /health/live, GET /health/ready, GET /metrics
    """
    found = {
        f"{method.upper()} {path}" for method, path, _ in operations(served.get("/openapi.json"))
    }
    assert found == {each.strip() for each in expected.replace("\n", " ").split(",")}


# --- anything that the document allows, and much that it does not ---


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("store") / "memory.clew"
    with clew.open(path, model={"embedder": "hashing"}, serve={"requests_per_second": 0}) as memory:
        for text in TEXTS:
            memory.remember(text)
        made = make_app(memory)
        with TestClient(made, base_url=OWN):
            yield made


@pytest.fixture(scope="module")
def schema(app: Any) -> Any:
    return schemathesis.openapi.from_asgi("/openapi.json", app, headers={"Host": "127.0.0.1"})


def known_operations() -> list[tuple[str, str]]:
    with clew.open(":memory:", model={"embedder": "none"}) as empty:
        return [(method.upper(), path) for method, path, _ in operations(make_app(empty).openapi())]


@pytest.mark.parametrize(("method", "path"), known_operations())
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_no_request_makes_a_server_error_or_an_undocumented_answer(
    schema: Any, method: str, path: str, mode: Any
) -> None:
    # By hand: the library's own pytest plugin does not know this pytest.
    @hypothesis.given(case=schema[path][method].as_strategy(generation_mode=mode))
    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answers(case: Any) -> None:
        case.call_and_validate(checks=CHECKS, headers={"Host": "127.0.0.1"})

    try:
        answers()
    except hypothesis.errors.Unsatisfiable:
        # a route that takes nothing cannot be asked wrongly
        assert mode is schemathesis.GenerationMode.NEGATIVE
