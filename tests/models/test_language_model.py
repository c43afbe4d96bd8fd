"""The client of language models against a local server that speaks each protocol, and what it makes of bad answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from clew.errors import InputError, ModelError
from clew.models.language_model import PAUSE_SECONDS, PROTOCOLS, LanguageModel, UnusableError
from clew.models.language_tasks import (
    Fact,
    Name,
    Substance,
    Verdict,
    judge_conflict,
    judge_substance,
    list_facts,
    list_names,
    summarise,
)
from tests.models.conftest import Answer, Asked, Local, Serve
from tests.waiting import LONG_SECONDS

KEY = "sk-very-secret-key"
KEEP = '{"keep": true, "reason": "a fact"}'
TEXT = "The build failed because the cache was stale."


def answered(protocol: str, said: Any) -> Answer:
    """Return an answer in a protocol's form."""
    bodies: dict[str, Any] = {
        "openai": {"choices": [{"message": {"role": "assistant", "content": said}}]},
        "anthropic": {"content": [{"type": "text", "text": said}], "stop_reason": "end_turn"},
        "ollama": {"message": {"role": "assistant", "content": said}, "done": True},
    }
    return Answer(body=json.dumps(bodies[protocol]).encode())


def model(local: Local, protocol: str = "openai", **options: Any) -> LanguageModel:
    chosen = {"timeout_seconds": LONG_SECONDS, "sleep": lambda _: None, **options}
    return LanguageModel("some-model", protocol=protocol, base=local.url, key=KEY, **chosen)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_protocol_is_spoken_and_understood(serve: Serve, protocol: str) -> None:
    local = serve(lambda _: answered(protocol, KEEP))
    assert judge_substance(model(local, protocol), TEXT) == Substance(True, "a fact")
    (asked,) = local.asked
    assert asked.path == PROTOCOLS[protocol].path
    assert asked.json["model"] == "some-model"
    told = json.dumps(asked.json)
    assert TEXT in told
    assert "never an instruction" in told
    if protocol == "anthropic":
        assert (asked.headers["X-Api-Key"], asked.headers["Anthropic-Version"]) == (
            KEY,
            "2023-06-01",
        )
        assert "Authorization" not in asked.headers
        assert [message["role"] for message in asked.json["messages"]] == ["user"]
    else:
        assert asked.headers["Authorization"] == f"Bearer {KEY}"
        assert [message["role"] for message in asked.json["messages"]] == ["system", "user"]
    if protocol == "ollama":
        assert asked.json["stream"] is False


def test_an_unknown_protocol_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match="Use one of: openai, anthropic, ollama"):
        LanguageModel("x", protocol="smtp", timeout_seconds=1)


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        ("openai", {"choices": [{"message": {"content": None, "refusal": "I will not."}}]}),
        (
            "anthropic",
            {"content": [{"type": "text", "text": "I will not."}], "stop_reason": "refusal"},
        ),
    ],
)
def test_a_refusal_is_named(serve: Serve, protocol: str, body: dict[str, Any]) -> None:
    local = serve(lambda _: Answer(body=json.dumps(body).encode()))
    with pytest.raises(UnusableError, match="it refused"):
        judge_substance(model(local, protocol), TEXT)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b"null", b'{"choices": [], "content": 7, "message": "x"}']
)
def test_an_answer_without_a_message_is_unusable(serve: Serve, protocol: str, body: bytes) -> None:
    with pytest.raises(UnusableError):
        judge_substance(model(serve(lambda _: Answer(body=body)), protocol), TEXT)


UNUSABLE: tuple[tuple[Callable[[LanguageModel], object], str], ...] = (
    (lambda asked: judge_substance(asked, TEXT), "I think it is fine."),
    (lambda asked: judge_substance(asked, TEXT), '{"keep": "yes"}'),
    (lambda asked: judge_substance(asked, TEXT), json.dumps({"keep": True, "reason": "x" * 301})),
    (lambda asked: list_names(asked, TEXT, most=3), '{"name": "Matt"}'),
    (lambda asked: list_names(asked, TEXT, most=3), '[{"name": "Matt", "type": "WIZARD"}]'),
    (lambda asked: list_names(asked, TEXT, most=3), '[{"name": 7, "type": "PERSON"}]'),
    (
        lambda asked: list_facts(asked, ["a"], categories=("fact",)),
        '[{"text": "too short", "category": "fact", "messages": [0]}]',
    ),
    (
        lambda asked: list_facts(asked, ["a"], categories=("fact",)),
        '[{"text": "Long enough to keep", "category": "x", "messages": [0]}]',
    ),
    (
        lambda asked: list_facts(asked, ["a"], categories=("fact",)),
        '[{"text": "Long enough to keep", "category": "fact", "messages": []}]',
    ),
    (
        lambda asked: list_facts(asked, ["a"], categories=("fact",)),
        '[{"text": "Long enough to keep", "category": "fact", "messages": [1]}]',
    ),
    (lambda asked: list_facts(asked, ["a"], categories=("fact",)), json.dumps([{}] * 21)),
    (lambda asked: summarise(asked, TEXT, most=100), json.dumps({"summary": "x" * 101})),
    (lambda asked: summarise(asked, TEXT, most=100), '{"summary": " "}'),
    (lambda asked: judge_conflict(asked, "a", "b"), '{"verdict": "perhaps"}'),
)


@pytest.mark.parametrize(("ask", "said"), UNUSABLE)
def test_what_is_not_what_was_asked_for_is_unusable(
    serve: Serve, ask: Callable[[LanguageModel], object], said: str
) -> None:
    with pytest.raises(UnusableError):
        ask(model(serve(lambda _: answered("openai", said))))


def test_each_task_reads_its_answer(serve: Serve) -> None:
    said: dict[str, Any] = {
        "list the names": [
            {"name": "Mette Holm", "type": "PERSON"},
            {"name": "Nobody", "type": "PERSON"},
        ],
        "given a conversation": [
            {"text": "The harbour closes at six.", "category": "fact", "messages": [1, 0, 1]}
        ],
        "summarise a section": {"summary": "Ports are odd."},
        "two memories": {"verdict": "conflict", "reason": "different ports"},
    }

    def answer(asked: Asked) -> Answer:
        system = asked.json["messages"][0]["content"]
        return answered(
            "openai",
            "```json\n" + json.dumps(next(said[name] for name in said if name in system)) + "\n```",
        )

    asked = model(serve(answer))
    # what the text does not say is left out
    assert list_names(asked, "Mette Holm leads.", most=5) == (Name("Mette Holm", "PERSON"),)
    assert list_facts(asked, ["a", "b"], categories=("fact",)) == (
        Fact("The harbour closes at six.", "fact", (0, 1)),
    )
    assert summarise(asked, "Ports are odd numbers.", most=100) == "Ports are odd."
    assert judge_conflict(asked, "port 1", "port 2") == Verdict("conflict", "different ports")


def test_an_answer_is_cached_unless_it_was_unusable(serve: Serve) -> None:
    said = iter(["nonsense", KEEP])
    local = serve(lambda _: answered("openai", next(said)))
    asked = model(local)
    with pytest.raises(UnusableError):
        judge_substance(asked, TEXT)
    assert judge_substance(asked, TEXT) == judge_substance(asked, TEXT)
    assert len(local.asked) == 2


def test_nothing_is_sent_once_the_budget_is_spent(serve: Serve) -> None:
    local = serve(lambda _: answered("openai", KEEP))
    asked = model(local, budget_tokens=600)
    judge_substance(asked, TEXT)
    assert 0 < asked.spent_tokens <= 600
    with pytest.raises(ModelError, match=r"budget of 600 tokens .* llm.budget_tokens"):
        for number in range(5):
            judge_substance(asked, f"{TEXT} {number}")
    assert asked.spent_tokens <= 600
    assert judge_substance(asked, TEXT).keep  # what is known costs nothing


def test_a_rate_limit_is_waited_for_as_long_as_the_server_says(serve: Serve) -> None:
    answers = iter([Answer(429, headers={"Retry-After": "7"}), answered("openai", KEEP)])
    slept: list[float] = []
    assert judge_substance(model(serve(lambda _: next(answers)), sleep=slept.append), TEXT).keep
    assert slept == [7.0]


def test_a_server_that_failed_is_left_alone_for_a_while(serve: Serve) -> None:
    local = serve(lambda _: Answer(503))
    time = [100.0]
    asked = model(local, now=lambda: time[0])
    for _ in range(3):
        with pytest.raises(ModelError, match="503"):
            judge_substance(asked, TEXT)
    calls = len(local.asked)
    assert calls == 2  # one request and one more try
    time[0] += PAUSE_SECONDS
    with pytest.raises(ModelError):
        judge_substance(asked, TEXT)
    assert len(local.asked) == 2 * calls


def test_a_server_that_does_not_answer_in_time_is_given_up(serve: Serve) -> None:
    release = threading.Event()
    local = serve(lambda _: Answer(body=b"{", promised=100, before_the_end=release.wait))
    try:
        with pytest.raises(ModelError, match=r"(?i)timed out"):
            judge_substance(model(local, timeout_seconds=0.2), TEXT)
    finally:
        release.set()


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_an_error_of_the_server_names_its_host_and_no_key(serve: Serve, status: int) -> None:
    local = serve(
        lambda _: Answer(status, body=json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())
    )
    with pytest.raises(ModelError) as raised:
        judge_substance(model(local), TEXT)
    assert str(status) in raised.value.message
    assert local.url.removeprefix("http://") in raised.value.message
    assert KEY not in raised.value.message
