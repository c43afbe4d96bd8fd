"""The local API, AsyncClew and both clients are one API: the same calls give the same values."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import httpx
import pytest

import clew
from clew.client import flows
from clew.engine.request import Page
from clew.errors import (
    DuplicateError,
    ForbiddenError,
    InputError,
    NotFoundError,
    RemoteError,
    StoreBusyError,
    UnauthorisedError,
    UnreachableError,
)
from clew.surface.http.app import make_app
from clew.testing import FixedClock
from tests.conftest import Open
from tests.surface.http.conftest import Serve
from tests.waiting import LONG_SECONDS, wait_until

STAGING = "The staging database listens on port 5433"
DANA = "Dana wants summaries as three bullet points"
CRANES = "Anna Keller inspects the cranes of the harbour every March"
MESSAGES = [
    {"speaker": "Ann", "text": "Do you still run around the lake every week?"},
    {"speaker": "Bob", "text": "Only on Sundays, the harbour path is closed until May."},
]
UNEQUAL = {
    "milliseconds",
    "idempotency_key",
    "ledger",
    "bytes",
    "store",
    "steps",
    "document",
    "said",
    "same",
    "recipe",
}
UNTRACKED = {"track": False}  # accesses are counted when a thread gets to it
OPTIONS: dict[str, Any] = {"model": {"embedder": "hashing"}, "access": UNTRACKED}
Call = tuple[str, tuple[Any, ...], dict[str, Any]]
Script = Generator[Call, Any, None]


def call(name: str, /, *args: Any, **options: Any) -> Call:
    return name, args, options


def script() -> Script:
    """Use every method once; what one call returns is what the next one asks about."""
    staging = yield call(
        "remember",
        STAGING,
        category="fact",
        importance=0.9,
        tags=["infra"],
        metadata={"host": "db1", "n": [1, None]},
    )
    yield call("remember", STAGING)
    yield call("remember", "ok")
    keyed = yield call(
        "remember", "  port\n", verbatim=True, on_duplicate="replace", idempotency_key="note 1/2"
    )
    yield call("find", "note 1/2")
    yield call("find", "no such key")
    some = yield call(
        "remember_many",
        [DANA, {"text": CRANES, "title": "Cranes", "valid_from": "2026-03-01"}],
        importance=0.8,
    )
    yield call("remember_conversation", MESSAGES, session="ann-and-bob", tags=["sport"])
    yield call(
        "import_data",
        "# Harbour\n\nCranes are inspected in March by Anna Keller.",
        name="harbour.md",
    )
    yield call("recall", "which port does the staging database use", k=3)
    yield call("recall", "Anna Keller", where={"tags": ["infra"]}, preset="recent")
    yield call(
        "recall",
        "whales in the harbour",
        where=clew.Filter(now=FixedClock()(), categories=("fact",)),
    )
    yield call("why", "staging port", staging.id)
    yield call("why_not", "staging port", some[0].id, k=1)
    yield call("get", staging.id)
    yield call("get", "01m7gfwdmr422zgpq588cdfnzy")
    yield call("related", some[1].id)
    yield call("link", staging.id, some[0].id, evidence="Dana runs it")
    yield call("related", staging.id)
    newer = yield call(
        "supersede",
        staging.id,
        "The staging database listens on port 6543",
        valid_from="2026-06-01",
    )
    yield call("versions", newer.id)
    yield call("history", staging.id)
    yield call("questions", staging.id)
    yield call("update", some[0].id, title="Dana", tags=["style"])
    yield call("protect", some[0].id)
    yield call("protect", some[0].id, False)
    yield call("invalidate", some[1].id, at="2026-06-01")
    yield call("reassert", some[1].id)
    yield call("expire", some[1].id)
    yield call("unarchive", some[0].id)
    yield call("recent", 3)
    yield call("important", 2, least=0.5)
    yield call("popular", 2, least=0)
    first = yield call("page", "important", limit=2, where={"kind": "memory"})
    yield call("page", "important", limit=2, where={"kind": "memory"}, cursor=first.cursor)
    yield call("decay")
    yield call("forget", keyed.id, tombstone=False, check=False)
    yield call("forget", where={"tags": ["style"]}, expect=1, check=False)
    yield call("stats", space="default")
    yield call("export", vectors=False)


def run(memory: Any) -> list[Any]:
    """Play the script with a memory whose methods return."""
    calls, answer = script(), None
    results: list[Any] = []
    while True:
        try:
            name, args, options = calls.send(answer)
        except StopIteration:
            return results
        answer = getattr(memory, name)(*args, **options)
        results.append((name, list(answer) if name == "export" else answer))


async def run_async(memory: Any) -> list[Any]:
    """Play the script with a memory whose methods are awaited."""
    calls, answer = script(), None
    results: list[Any] = []
    while True:
        try:
            name, args, options = calls.send(answer)
        except StopIteration:
            return results
        answer = await getattr(memory, name)(*args, **options)
        results.append((name, list(answer) if name == "export" else answer))


def plain(value: Any, ids: dict[str, str]) -> Any:
    """Return a value with ids by order of appearance, without what a clock or a machine decides."""
    if isinstance(value, str):
        text = str(value)
        for id in [each for each in _words(text) if len(each) == 26 and each.startswith("0")]:
            text = text.replace(id, ids.setdefault(id, f"id-{len(ids)}"))
        return text
    if isinstance(value, clew.Recall):
        stats = {
            name: each
            for name, each in value.stats.items()
            if name not in ("milliseconds", "stages", "notes")
        }
        told = (
            value.question,
            value.nothing_relevant,
            value.filtered_count,
            value.best_rejected,
            stats,
            value.tokens_returned,
        )
        return [plain(list(value.hits), ids), *(plain(each, ids) for each in told)]
    if isinstance(value, Page):  # a cursor holds an id
        return plain(value.nodes, ids), value.cursor is None
    if is_dataclass(value) or hasattr(value, "_fields"):
        names = [each.name for each in fields(value)] if is_dataclass(value) else value._fields
        return {name: plain(getattr(value, name), ids) for name in names if name not in UNEQUAL}
    if isinstance(value, Mapping):
        return {
            plain(name, ids): plain(value[name], ids)
            for name in sorted(value)
            if name not in UNEQUAL
        }
    if isinstance(value, Sequence | Iterator) and not isinstance(value, bytes):
        return [plain(each, ids) for each in value]
    return value


def _words(text: str) -> list[str]:
    return "".join(each if each.isalnum() else " " for each in text).split()


@pytest.fixture
def listening() -> Iterator[Callable[[Any], str]]:
    """Serve an application on a free port of this machine."""
    import uvicorn

    servers = []

    def start(app: Any) -> str:
        server = uvicorn.Server(
            uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        servers.append((server, thread))
        wait_until(lambda: server.started)
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    yield start
    for server, thread in servers:
        server.should_exit = True
        thread.join()


@pytest.fixture
def expected(open_clew: Open, tmp_path: Any) -> list[Any]:
    ids: dict[str, str] = {}
    return [
        (name, plain(value, ids))
        for name, value in run(open_clew(tmp_path / "local.clew", access=UNTRACKED))
    ]


def same(expected: list[Any], found: list[Any]) -> None:
    ids: dict[str, str] = {}
    told = [(name, plain(value, ids)) for name, value in found]
    for ours, theirs in zip(expected, told, strict=True):
        if ours[0] == "export":
            assert len(ours[1]) == len(theirs[1])
        else:
            assert ours == theirs


def served_at(open_clew: Open, tmp_path: Any, listening: Callable[[Any], str]) -> str:
    limits = {
        "requests_per_second": 0,
        "receive_seconds": LONG_SECONDS,
        "answer_seconds": LONG_SECONDS,
    }
    return listening(make_app(open_clew(tmp_path / "served.clew", serve=limits, access=UNTRACKED)))


def test_a_client_gives_what_the_local_api_gives(
    expected: list[Any], open_clew: Open, tmp_path: Any, listening: Callable[[Any], str]
) -> None:
    with clew.Client(served_at(open_clew, tmp_path, listening)) as client:
        same(expected, run(client))


def test_an_async_client_gives_what_the_local_api_gives(
    expected: list[Any], open_clew: Open, tmp_path: Any, listening: Callable[[Any], str]
) -> None:
    async def play() -> list[Any]:
        async with clew.AsyncClient(served_at(open_clew, tmp_path, listening)) as client:
            return await run_async(client)

    same(expected, asyncio.run(play()))


def test_async_clew_gives_what_the_local_api_gives(
    expected: list[Any], tmp_path: Any, clock: FixedClock
) -> None:
    async def play() -> list[Any]:
        async with await clew.AsyncClew.open(
            tmp_path / "other.clew", clock=clock, **OPTIONS
        ) as memory:
            return await run_async(memory)

    same(expected, asyncio.run(play()))


def test_async_clew_leaves_the_loop_free(tmp_path: Any) -> None:
    async def both() -> list[str]:
        order: list[str] = []
        gate = threading.Event()
        async with await clew.AsyncClew.open(":memory:", model={"embedder": "hashing"}) as memory:
            blocked = asyncio.create_task(memory.run(gate.wait))
            await memory.remember(STAGING)
            order.append("remembered")
            gate.set()
            await blocked
            order.append("unblocked")
        return order

    assert asyncio.run(both()) == ["remembered", "unblocked"]


def test_the_script_uses_every_method_of_the_clients() -> None:
    used = {name for name, *_ in _calls()} | {"replay", "import_path"}
    public = {
        name
        for name, value in vars(flows).items()
        if inspect.isgeneratorfunction(value) and not name.startswith("_")
    }
    assert public == used
    for kind in (clew.Client, clew.AsyncClient, clew.AsyncClew):
        assert public <= set(vars(kind)), kind


def _calls() -> list[Call]:
    class Anything:
        id = cursor = "x"

        def __getitem__(self, at: int) -> Anything:
            return self

    calls, found = script(), []
    answer = None
    while True:
        try:
            found.append(calls.send(answer))
        except StopIteration:
            return found
        answer = Anything()


def test_open_gives_a_client_for_an_address(
    open_clew: Open, tmp_path: Any, listening: Callable[[Any], str]
) -> None:
    url = served_at(open_clew, tmp_path, listening)
    memory: Any = clew.open(url)
    assert isinstance(memory, clew.Client)
    assert memory.remember(STAGING).outcome == "inserted"
    memory.close()
    with pytest.raises(InputError, match="not an option of a client"):
        clew.open(url, recall={"k": 3})


@pytest.mark.parametrize(
    "url", ["localhost:7411", "ftp://h", "http://", "http://user:pw@h", "http://h/?q=1"]
)
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="http://127"):
        clew.Client(url)


def test_a_trace_of_the_server_is_replayed(serve: Serve, listening: Callable[[Any], str]) -> None:
    served = serve()
    served.add(STAGING)
    trace = served.post("/v1/recall", {"query": "staging port", "trace": True})["trace"]
    url = listening(make_app(served.clew))
    with clew.Client(url) as client:
        found = client.replay(json.dumps(trace))
        assert found.identical
        assert found.sentences == served.clew.replay(trace).sentences


# --- errors ---


def test_errors_are_those_of_the_local_api(
    open_clew: Open, tmp_path: Any, listening: Callable[[Any], str]
) -> None:
    with clew.Client(served_at(open_clew, tmp_path, listening)) as client:
        with pytest.raises(InputError, match="category") as wrong:
            client.remember(STAGING, category="idea")
        assert wrong.value.field == "category"
        with pytest.raises(NotFoundError, match="No memory"):
            client.history("01m7gfwdmr422zgpq588cdfnzy")
        client.remember(STAGING)
        with pytest.raises(DuplicateError):
            client.remember(STAGING, on_duplicate="error")
        with pytest.raises(InputError, match="importance"):
            client.remember_many([DANA, {"text": CRANES, "importance": 7}])
        assert client.find("x") is None
        with pytest.raises(InputError, match="id"):
            client.get("")


def test_the_token_comes_from_the_argument_or_the_environment(
    serve: Serve, listening: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    secret = served.token("write", spaces=("work",))
    url = listening(make_app(served.clew))
    with clew.Client(url) as client, pytest.raises(UnauthorisedError):
        client.remember(STAGING)
    with clew.Client(url, token=secret) as client:
        assert client.remember(STAGING).outcome == "inserted"
        with pytest.raises(ForbiddenError):
            client.remember(STAGING, space="other")
    monkeypatch.setenv("CLEW_TOKEN", secret)
    with clew.Client(url) as client:
        assert client.remember(STAGING, on_duplicate="insert").outcome == "inserted"


def test_a_server_that_is_not_there_is_said_so() -> None:
    with (
        clew.Client("http://127.0.0.1:9", retries=0) as client,
        pytest.raises(UnreachableError, match="clew serve"),
    ):
        client.stats()


def test_an_answer_of_something_else_is_said_so() -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text="<html>"))
    with (
        clew.Client("http://h", transport=transport) as client,
        pytest.raises(RemoteError, match="not a Clew server"),
    ):
        client.stats()


# --- repetitions ---


class Flaky:
    """Fails as it is told, then answers; keeps what it was asked."""

    def __init__(self, *failures: httpx.Response | Exception, answer: Mapping[str, Any]) -> None:
        self.failures = list(failures)
        self.answer = answer
        self.asked: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(json.loads(request.content or b"{}"))
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return failure
        return httpx.Response(200, json=self.answer)


INSERTED = {"outcome": "inserted", "id": "01m7gfwdmr422zgpq588cdfnzy"}
LOST = httpx.ReadError("connection reset")


def busy(code: str, status: int = 503) -> httpx.Response:
    return httpx.Response(
        status, json={"code": code, "detail": "busy"}, headers={"Retry-After": "0"}
    )


def client_of(flaky: Flaky) -> clew.Client:
    return clew.Client("http://h", transport=httpx.MockTransport(flaky))


def test_a_memory_is_offered_again_under_the_same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    flaky = Flaky(
        LOST, busy("store.busy"), httpx.Response(502, text="bad gateway"), answer=INSERTED
    )
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with client_of(flaky) as client:
        assert client.remember(STAGING).outcome == "inserted"
    assert len(flaky.asked) == 4
    assert len({each["idempotency_key"] for each in flaky.asked}) == 1


def test_a_lost_answer_does_not_store_twice(
    open_clew: Open, tmp_path: Any, listening: Callable[[Any], str]
) -> None:
    url = served_at(open_clew, tmp_path, listening)

    class LosesFirst(httpx.HTTPTransport):
        lost = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            if not self.lost:
                self.lost += 1
                response.read()
                raise LOST
            return response

    with clew.Client(url, transport=LosesFirst()) as client:
        outcome = client.remember(STAGING, on_duplicate="insert")
        assert outcome.rule == "idempotency_key"
        assert len(client.recent()) == 1


def test_what_may_not_be_done_twice_is_not_sent_again_when_the_answer_is_lost() -> None:
    flaky = Flaky(LOST, answer=INSERTED)
    with client_of(flaky) as client, pytest.raises(UnreachableError):
        client.supersede("01m7gfwdmr422zgpq588cdfnzy", STAGING)
    assert len(flaky.asked) == 1


def test_what_was_refused_before_it_was_done_is_sent_again() -> None:
    flaky = Flaky(busy("http.too_many", 429), busy("http.crowded"), answer=INSERTED)
    with client_of(flaky) as client:
        assert client.supersede("01m7gfwdmr422zgpq588cdfnzy", STAGING).outcome == "inserted"
    assert len(flaky.asked) == 3


def test_the_last_failure_is_told() -> None:
    flaky = Flaky(*(busy("store.busy") for _ in range(4)), answer=INSERTED)
    with client_of(flaky) as client, pytest.raises(StoreBusyError, match="busy"):
        client.remember(STAGING)


def test_an_async_client_sends_again_too() -> None:
    flaky = Flaky(busy("http.crowded"), answer=INSERTED)

    async def offer() -> str:
        async with clew.AsyncClient("http://h", transport=httpx.MockTransport(flaky)) as client:
            return str((await client.remember(STAGING)).outcome)

    assert asyncio.run(offer()) == "inserted"
    assert len(flaky.asked) == 2
