"""Ollama and OpenAI-compatible servers, spoken to over a real connection."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from clew.errors import InputError, ModelMissingError, ModelServiceError
from clew.models import load
from clew.models import server_adapters as ollama
from clew.models import server_adapters as openai
from clew.models.server_adapters import (
    ATTEMPTS,
    BATCH,
    LONGEST_WAIT_SECONDS,
    Server,
    ServiceEmbedder,
)
from clew.ports import EmbedRole
from tests.models.conftest import Answer, Asked, Local

if TYPE_CHECKING:
    from tests.models.conftest import Serve

KEY = "sk-very-secret-key"
PROTOCOLS = ["ollama", "openai"]


def vector(text: str) -> list[float]:
    return [float(len(text)) + 1.0, 2.0, -1.0]


def rows(protocol: str, vectors: list[Any]) -> Answer:
    """Answer with vectors as the protocol writes them; OpenAI's in another order, which it may."""
    listed = [{"index": at, "embedding": each} for at, each in enumerate(vectors)][::-1]
    return Answer(
        body=json.dumps(
            {"embeddings": vectors} if protocol == "ollama" else {"data": listed}
        ).encode()
    )


def good(protocol: str) -> Callable[[Asked], Answer]:
    return lambda asked: rows(protocol, [vector(text) for text in asked.json["input"]])


def made(protocol: str, local: Local, slept: list[float] | None = None) -> ServiceEmbedder:
    sleep = (slept if slept is not None else []).append
    if protocol == "ollama":
        return ollama.ollama_embedder("nomic", host=local.url, sleep=sleep)
    return openai.openai_embedder("small", base=f"{local.url}/v1", key=KEY, sleep=sleep)


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def refused(protocol: str, local: Local, *, slept: list[float] | None = None) -> str:
    """Embed, and return the message of the error that must come."""
    with pytest.raises(ModelServiceError) as caught:
        made(protocol, local, slept).embed(["some text"], role=EmbedRole.PASSAGE)
    assert KEY not in caught.value.message + repr(caught.value.facts)
    assert local.url.removeprefix("http://") in caught.value.message
    return caught.value.message


def test_texts_come_back_as_unit_vectors_in_their_order(serve: Serve, protocol: str) -> None:
    texts = ["a" * number for number in range(2 * BATCH + 3)]
    local = serve(good(protocol))
    vectors = made(protocol, local).embed(texts, role=EmbedRole.PASSAGE)
    expected = np.array([vector(text or " ") for text in texts], dtype=np.float32)
    assert vectors.dtype == np.float32
    assert np.allclose(
        vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6
    )
    assert [len(asked.json["input"]) for asked in local.asked] == [BATCH, BATCH, 3]


def test_the_request_is_what_the_protocol_asks_for(serve: Serve) -> None:
    local = serve(good("openai"))
    made("openai", local).embed(["hello"], role=EmbedRole.QUERY)
    (asked,) = local.asked
    assert (asked.method, asked.path, asked.headers["Authorization"]) == (
        "POST",
        "/v1/embeddings",
        f"Bearer {KEY}",
    )
    assert asked.json == {"model": "small", "input": ["hello"], "encoding_format": "float"}
    local = serve(good("ollama"))
    made("ollama", local).embed(["hello"], role=EmbedRole.QUERY)
    (asked,) = local.asked
    assert (asked.path, asked.json) == (
        "/api/embed",
        {"model": "nomic", "input": ["hello"], "truncate": True},
    )
    assert "Authorization" not in asked.headers


def test_the_dimension_is_asked_once(serve: Serve, protocol: str) -> None:
    local = serve(good(protocol))
    embedder = made(protocol, local)
    assert local.asked == []
    assert (embedder.dimension, embedder.dimension) == (3, 3)
    assert embedder.embed([], role=EmbedRole.QUERY).shape == (0, 3)
    assert len(local.asked) == 1


def test_the_environment_says_where_the_server_is(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    for protocol, variable in (("ollama", "OLLAMA_HOST"), ("openai", "OPENAI_BASE_URL")):
        local = serve(good(protocol))
        monkeypatch.setenv(variable, local.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        embedder = load(f"{protocol}:some-model")
        assert embedder is not None
        assert embedder.id == f"{protocol}:some-model"
        assert embedder.embed(["x"], role=EmbedRole.QUERY).shape == (1, 3)
        assert local.asked[0].headers.get("Authorization") == (
            f"Bearer {KEY}" if protocol == "openai" else None
        )


@pytest.mark.parametrize(
    "text",
    ["", "\ud800", "\x00", "a\udfffb\x00", "漢字" * 5_000_000],
    ids=["empty", "surrogate", "nul", "mixed", "huge"],
)
def test_any_text_is_made_fit_to_be_sent(serve: Serve, protocol: str, text: str) -> None:
    local = serve(good(protocol))
    assert made(protocol, local).embed([text], role=EmbedRole.PASSAGE).shape == (1, 3)
    (sent,) = local.asked[0].json["input"]
    assert sent
    assert "\x00" not in sent
    assert len(sent.encode()) <= 8191 * 2.5


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_server_that_is_busy_is_asked_again_after_growing_waits(
    serve: Serve, protocol: str, status: int
) -> None:
    slept: list[float] = []
    local = serve(lambda asked: good(protocol)(asked) if len(local.asked) > 3 else Answer(status))
    made(protocol, local, slept).embed(["x"], role=EmbedRole.PASSAGE)
    assert slept == [0.5, 1.0, 2.0]


def test_a_server_that_says_how_long_to_wait_is_obeyed(serve: Serve, protocol: str) -> None:
    slept: list[float] = []
    local = serve(
        lambda asked: (
            good(protocol)(asked)
            if len(local.asked) > 2
            else Answer(429, headers={"Retry-After": "7"})
        )
    )
    made(protocol, local, slept).embed(["x"], role=EmbedRole.PASSAGE)
    assert slept == [7.0, 7.0]


def test_a_wait_may_be_given_as_a_date(serve: Serve) -> None:
    slept: list[float] = []
    date = formatdate(1_000_012, usegmt=True)
    local = serve(
        lambda asked: (
            Answer() if len(local.asked) > 1 else Answer(503, headers={"Retry-After": date})
        )
    )
    Server(local.url, sleep=slept.append, now=lambda: 1_000_000.0).post("/", {})
    assert slept == [12.0]


def test_a_wait_that_makes_no_sense_is_replaced_by_our_own(serve: Serve) -> None:
    slept: list[float] = []
    local = serve(
        lambda asked: (
            Answer() if len(local.asked) > 1 else Answer(503, headers={"Retry-After": "soon"})
        )
    )
    Server(local.url, sleep=slept.append).post("/", {})
    assert slept == [0.5]


def test_a_server_that_asks_for_too_long_a_wait_is_taken_as_a_refusal(
    serve: Serve, protocol: str
) -> None:
    slept: list[float] = []
    local = serve(lambda asked: Answer(429, headers={"Retry-After": str(LONGEST_WAIT_SECONDS + 1)}))
    assert "429" in refused(protocol, local, slept=slept)
    assert (slept, len(local.asked)) == ([], 1)


def test_patience_is_bounded(serve: Serve, protocol: str) -> None:
    slept: list[float] = []
    local = serve(lambda asked: Answer(503))
    assert "answered 503" in refused(protocol, local, slept=slept)
    assert (len(local.asked), len(slept)) == (ATTEMPTS, ATTEMPTS - 1)


@pytest.mark.parametrize("status", [400, 404])
def test_a_refusal_is_passed_on_at_once_in_the_servers_words_without_the_key(
    serve: Serve, protocol: str, status: int
) -> None:
    body = (
        {"error": {"message": f"model not found, key {KEY}"}}
        if protocol == "openai"
        else {"error": "model not found"}
    )
    local = serve(lambda asked: Answer(status, json.dumps(body).encode()))
    message = refused(protocol, local)
    assert f"answered {status}" in message
    assert "model not found" in message
    assert len(local.asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_of_a_refused_key_nothing_is_repeated(serve: Serve, status: int) -> None:
    local = serve(
        lambda asked: Answer(
            status, json.dumps({"error": {"message": f"bad key {KEY[:6]}***"}}).encode()
        )
    )
    assert KEY[:6] not in refused("openai", local)


def test_a_redirect_is_not_followed_so_the_key_stays_here(serve: Serve) -> None:
    other = serve(good("openai"))
    local = serve(lambda asked: Answer(302, headers={"Location": f"{other.url}/v1/embeddings"}))
    assert "answered 302" in refused("openai", local)
    assert other.asked == []


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        ([], "0 vectors for 1"),
        ([[1.0, 2.0], [1.0, 2.0]], "2 vectors for 1"),
        ([[]], "not rows of numbers"),
        ([["x", "y"]], "not rows of numbers"),
        ([[[1.0]]], "not rows of numbers"),
        ([1.0], "not rows of numbers"),
        ([[float("nan"), 1.0]], "not finite"),
        ([[float("inf"), 1.0]], "not finite"),
        ([[0.0, 0.0]], "zero"),
        ([None], "not rows of numbers"),
    ],
)
def test_vectors_that_cannot_be_right_are_refused(
    serve: Serve, protocol: str, vectors: list[Any], problem: str
) -> None:
    assert problem in refused(protocol, serve(lambda asked: rows(protocol, vectors)))


def test_a_server_that_changes_its_dimension_is_refused(serve: Serve, protocol: str) -> None:
    local = serve(lambda asked: rows(protocol, [[1.0] * (3 if len(local.asked) == 1 else 4)]))
    embedder = made(protocol, local)
    embedder.embed(["one"], role=EmbedRole.PASSAGE)
    with pytest.raises(ModelServiceError, match="4 dimensions where 3"):
        embedder.embed(["two"], role=EmbedRole.PASSAGE)


def test_rows_of_different_length_are_refused(serve: Serve, protocol: str) -> None:
    local = serve(lambda asked: rows(protocol, [[1.0, 2.0], [1.0]]))
    with pytest.raises(ModelServiceError, match="not rows of numbers"):
        made(protocol, local).embed(["one", "two"], role=EmbedRole.PASSAGE)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b"null",
        b'{"data": 3, "embeddings": 3}',
        b'{"data": [{}]}',
        b"\xff\xfe",
    ],
)
def test_an_answer_that_is_not_the_protocols_is_refused(
    serve: Serve, protocol: str, body: bytes
) -> None:
    assert "answered with" in refused(protocol, serve(lambda asked: Answer(body=body)))


def test_an_answer_that_breaks_off_is_asked_for_again(serve: Serve, protocol: str) -> None:
    def answer(asked: Asked) -> Answer:
        whole = good(protocol)(asked)
        return (
            whole
            if len(local.asked) > 1
            else replace(whole, body=whole.body[:10], promised=len(whole.body))
        )

    slept: list[float] = []
    local = serve(answer)
    assert made(protocol, local, slept).embed(["x"], role=EmbedRole.PASSAGE).shape == (1, 3)
    assert slept == [0.5]


def test_an_answer_that_always_breaks_off_is_an_error(serve: Serve, protocol: str) -> None:
    local = serve(lambda asked: Answer(body=b'{"emb', promised=1000))
    assert "IncompleteRead" in refused(protocol, local)


def test_a_server_that_is_not_running_is_an_error_at_once() -> None:
    slept: list[float] = []
    with pytest.raises(
        ModelServiceError, match=r"127\.0\.0\.1:9 cannot be reached.*Is the server running"
    ):
        ollama.ollama_embedder("x", host="127.0.0.1:9", sleep=slept.append).embed(
            ["x"], role=EmbedRole.QUERY
        )
    assert slept == []


def test_offline_forbids_other_machines_and_allows_this_one(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_OFFLINE", "1")
    assert made("ollama", serve(good("ollama"))).dimension == 3
    with pytest.raises(ModelMissingError, match=r"CLEW_OFFLINE forbids asking embeddings\.invalid"):
        openai.openai_embedder("x", base="https://embeddings.invalid/v1", key=KEY).embed(
            ["x"], role=EmbedRole.QUERY
        )


@pytest.mark.parametrize("address", ["ftp://host", "file:///etc/passwd", "http://"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="http"):
        openai.openai_embedder("x", base=address)


def test_the_key_is_not_part_of_what_a_server_shows() -> None:
    assert KEY not in repr(Server("http://127.0.0.1:9", headers={"Authorization": KEY}, secret=KEY))


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(InputError, match=r"box:80") as caught:
        Server("http://user:hunter2@box:80")
    assert "hunter2" not in caught.value.message + repr(caught.value.facts)
