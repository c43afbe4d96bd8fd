"""What only a process shows: its first words, what it prints, how it ends, what survives it."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew.engine import open as open_clew
from clew.engine.auth import Tokens
from clew.surface.mcp.greeting import HANDSHAKE_VERSIONS, STATELESS_VERSIONS, Greeting
from clew.surface.mcp.serving import Pending, carry_on
from clew.surface.mcp.stdio import Once, Wire
from tests.fork_server import ForkedPython, run_forked

CLIENT = {"name": "test", "version": "1"}
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": STATELESS_VERSIONS[0],
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}


def request(id: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def hello(version: str = "2025-06-18", id: Any = "hello") -> dict[str, Any]:
    return request(id, "initialize", protocolVersion=version, capabilities={}, clientInfo=CLIENT)


def calling(id: Any, name: str, **given: Any) -> dict[str, Any]:
    return request(id, "tools/call", name=name, arguments=given)


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Talk:
    """A process on the other end of two pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(json.dumps(each) + "\n" for each in messages).encode())
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.say(message)
        answer = self.hear()
        assert answer["id"] == message["id"]
        return answer


@contextmanager
def talking(
    environment: dict[str, str], *options: str, program: tuple[str, ...] = ("-m", "clew", "mcp")
) -> Iterator[Talk]:
    pipe = subprocess.PIPE
    with ForkedPython(
        [*program, *options], stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    ) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


def said(
    environment: dict[str, str], *messages: dict[str, Any], options: tuple[str, ...] = ()
) -> list[bytes]:
    """Say everything at once, close stdin, and return the lines of stdout."""
    given = lines_of(*messages).encode()
    done = run_forked(["-m", "clew", "mcp", *options], input=given, env=environment)
    assert done.returncode == 0, done.stderr
    return list(done.stdout.splitlines())


def lines_of(*messages: dict[str, Any] | str) -> str:
    return "".join(
        (each if isinstance(each, str) else json.dumps(each)) + "\n" for each in messages
    )


def in_process(*messages: dict[str, Any] | str, greet: bool = True) -> list[str]:
    """Say everything to a server in this process, with or without its greeting, and return what it said."""

    def unopened(*_: Any) -> Any:
        raise AssertionError("nothing here needs a store")

    wire, greeting = Wire(io.StringIO(lines_of(*messages)), io.StringIO()), Greeting()
    if not greet or greeting.held(wire.incoming, wire.outgoing):
        carry_on(Once(unopened, unopened), wire, greeting)
    assert isinstance(wire.outgoing, io.StringIO)
    return wire.outgoing.getvalue().splitlines()


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "2019-01-01"])
def test_the_greeting_says_what_the_sdk_would_say_to_the_byte(version: str) -> None:
    first = (hello(version), INITIALIZED, request(2, "tools/list"))
    greeted = in_process(*first)
    assert greeted == in_process(*first, greet=False)
    assert json.loads(greeted[0])["result"]["protocolVersion"] == (
        version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    )


def test_the_greeting_says_what_the_sdk_would_say_without_a_handshake_too() -> None:
    first = (request(1, "server/discover", **ENVELOPE), request(2, "tools/list", **ENVELOPE))
    greeted = in_process(*first)
    assert len(greeted) == 2
    assert sorted(greeted) == sorted(in_process(*first, greet=False))


@pytest.mark.parametrize(
    "messages",
    [
        (hello(), INITIALIZED, request(2, "tools/list", **ENVELOPE)),
        (hello(), INITIALIZED, request(2, "tools/list", _meta={"progressToken": 7})),
        (hello(), INITIALIZED, request(2, "tools/list", cursor="next")),
        (hello(), hello(id="again")),
        (
            request(
                1,
                "tools/list",
                _meta={**ENVELOPE["_meta"], "io.modelcontextprotocol/clientInfo": "nobody"},
            ),
        ),
        (
            request(
                1,
                "server/discover",
                _meta={"io.modelcontextprotocol/protocolVersion": STATELESS_VERSIONS[0]},
            ),
        ),
        (
            request(
                1,
                "server/discover",
                _meta={
                    **ENVELOPE["_meta"],
                    "io.modelcontextprotocol/protocolVersion": "2031-01-01",
                },
            ),
        ),
    ],
)
def test_what_is_not_quite_a_greeting_is_answered_as_the_sdk_would(
    messages: tuple[dict[str, Any], ...],
) -> None:
    assert in_process(*messages) == in_process(*messages, greet=False)


def test_the_sdk_carries_on_where_the_greeting_ended() -> None:
    messages = (
        hello(),
        INITIALIZED,
        request(2, "tools/list"),
        request(3, "resources/list"),
        request(4, "tools/list"),
    )
    answers = [json.loads(line) for line in in_process(*messages)]
    assert [answer["id"] for answer in answers[:2]] == ["hello", 2]
    assert {answer["id"] for answer in answers[2:]} == {3, 4}
    assert len(answers) == 4
    by_id = {answer["id"]: answer["result"] for answer in answers}
    assert by_id[2] == by_id[4]


@pytest.mark.parametrize(
    "strange",
    [
        "not json",
        "",
        "[1, 2]",
        '{"jsonrpc": "2.0", "id": 5}',
        '{"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": []}',
        '{"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}',
        '{"jsonrpc": "2.0", "id": [5], "method": "tools/list"}',
        '{"jsonrpc": "2.0", "id": 5, "method": "tools/list"}',
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        "\ufffd\x00",
        "[" * 5000,
    ],
)
def test_no_first_line_keeps_the_server_from_serving(strange: str) -> None:
    lines = [
        json.loads(line)
        for line in in_process(
            strange, hello(id="late"), INITIALIZED, request("list", "tools/list")
        )
    ]
    answers = {str(line.get("id")): line for line in lines}
    assert answers["late"]["result"]["protocolVersion"] == "2025-06-18"
    assert len(answers["list"]["result"]["tools"]) == 9


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (
            '{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "\\ud83d"}}}',
            5,
            -32700,
        ),
        ('{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": [1]}', "a", -32600),
        (
            '{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"n": 1' + "0" * 5000 + "}}",
            None,
            -32700,
        ),
        (
            '{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"n": '
            + "[" * 5000
            + "]" * 5000
            + "}}",
            None,
            -32700,
        ),
        ('[{"jsonrpc": "2.0", "id": 5, "method": "ping"}]', None, -32600),
        ("not json", None, -32700),
    ],
    ids=["half a character", "params of another kind", "long number", "deep", "batch", "words"],
)
def test_a_line_that_cannot_be_read_is_answered_and_the_next_one_served(
    line: str, id: Any, code: int
) -> None:
    answers = [json.loads(each) for each in in_process(hello(), INITIALIZED, line, PING)]
    assert {each["id"]: each["error"]["code"] for each in answers if "error" in each} == {id: code}
    assert {"jsonrpc": "2.0", "id": "ping", "result": {}} in answers
    assert max(len(json.dumps(each)) for each in answers if "error" in each) < 400


def test_an_empty_line_says_nothing() -> None:
    assert len(in_process(hello(), INITIALIZED, "", " ", PING)) == 2


def test_a_request_that_was_cancelled_is_not_waited_for() -> None:
    pending = Pending()
    pending.asked(json.dumps(request(1, "tools/call")))
    pending.asked(
        json.dumps(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        )
    )
    anyio.run(pending.over)  # would wait for half a minute


def test_listing_the_tools_loads_neither_the_sdk_nor_the_engine_first(
    environment: dict[str, str],
) -> None:
    program = (
        "import sys\nfrom clew.surface.mcp import stdio\nfrom clew.surface.mcp.greeting import Greeting\n"
        "Greeting().held(sys.stdin, sys.stdout)\nprint('MODULES', *sys.modules, file=sys.stderr)"
    )
    lines = "".join(
        json.dumps(each) + "\n" for each in (hello(), INITIALIZED, request(2, "tools/list"))
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert len(json.loads(done.stdout.splitlines()[1])["result"]["tools"]) == 9
    modules = set(done.stderr.rpartition("MODULES ")[2].split())
    assert (
        modules
        & {
            "mcp",
            "pydantic",
            "anyio",
            "asyncio",
            "numpy",
            "onnxruntime",
            "clew.engine",
            "clew.types",
        }
        == set()
    )


def test_the_engine_is_loaded_by_the_first_call_that_needs_it(environment: dict[str, str]) -> None:
    program = "import sys\nfrom clew.surface.mcp import server\nprint('MODULES', *sys.modules)\n"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert (
        set(done.stdout.split())
        & {"numpy", "onnxruntime", "clew.engine", "clew.types", "clew.store"}
        == set()
    )


def test_every_request_is_answered_before_a_client_that_hung_up_is_left(
    environment: dict[str, str], store: Path
) -> None:
    writes = [
        calling(number, "remember", text=f"Berth {number} is let to a trawler")
        for number in range(10)
    ]
    answers = [json.loads(line) for line in said(environment, hello(), INITIALIZED, *writes)]
    assert {answer["id"] for answer in answers} == {"hello", *range(10)}
    with open_clew(store, model={"embedder": "hashing"}) as clew:
        assert clew.stats()["nodes"] == 10


def test_nothing_but_the_protocol_comes_out_of_stdout(environment: dict[str, str]) -> None:
    noisy = (
        "import logging, os, sys\nfrom clew.engine.authorised import Guarded\nrecall = Guarded.recall\n"
        "def loud(*args, **options):\n"
        "    print('a stray print')\n    os.write(1, b'stray bytes\\n')\n    os.system('echo a stray child')\n"
        "    assert sys.stdin.read() == ''\n    logging.getLogger('x').error('a stray log')\n    return recall(*args, **options)\n"
        "Guarded.recall = loud\nsys.argv = ['clew', 'mcp']\nfrom clew.surface.cli import main\nmain()"
    )
    with talking(environment, program=("-c", noisy)) as talk:
        talk.ask(hello())
        talk.say(INITIALIZED)
        assert talk.ask(calling(1, "recall", query="anything at all"))["result"]["isError"] is False
        assert talk.process.stdin is not None
        assert talk.process.stdout is not None
        assert talk.process.stderr is not None
        talk.process.stdin.close()
        assert talk.process.stdout.read() == b""
        complaints = talk.process.stderr.read()
        assert talk.process.wait() == 0
    for stray in (b"a stray print", b"stray bytes", b"a stray child", b"a stray log"):
        assert stray in complaints


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True], ids=["before the first call", "after a call"])
def test_a_signal_ends_it_cleanly(
    environment: dict[str, str], store: Path, ending: signal.Signals, busy: bool
) -> None:
    with talking(environment) as talk:
        talk.ask(hello())
        talk.say(INITIALIZED)
        if busy:
            talk.ask(calling(1, "remember", text="The tide table of Esbjerg hangs in the hall"))
        talk.process.send_signal(ending)
        assert talk.process.wait() == 0
        assert talk.process.stderr is not None
        assert talk.process.stderr.read() == b""
    if busy:
        with open_clew(store, model={"embedder": "hashing"}) as clew:
            assert clew.stats()["nodes"] == 1


def test_an_acknowledged_write_survives_kill_9(environment: dict[str, str], store: Path) -> None:
    with talking(environment) as talk:
        talk.ask(hello())
        talk.say(INITIALIZED)
        ids = [
            talk.ask(calling(n, "remember", text=f"Crane {n} lifts {n + 10} tonnes"))["result"][
                "structuredContent"
            ]["id"]
            for n in range(5)
        ]
        talk.process.kill()
        talk.process.wait()
    with open_clew(store, model={"embedder": "hashing"}) as clew:
        assert all(clew.get(id) is not None for id in ids)
        assert clew.verify() == ()


def test_a_client_that_goes_away_is_no_failure(environment: dict[str, str]) -> None:
    with talking(environment) as talk:
        talk.ask(hello())
        assert talk.process.stdout is not None
        talk.process.stdout.close()
        talk.say(INITIALIZED, PING, calling(1, "status"))
        assert talk.process.stdin is not None
        assert talk.process.stderr is not None
        talk.process.stdin.close()
        assert talk.process.wait() == 0
        assert b"Traceback" not in talk.process.stderr.read()


def answered(
    environment: dict[str, str], *calls: tuple[str, dict[str, Any]], options: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Return the structured answers to some calls, in their order."""
    lines = said(
        environment,
        hello(),
        INITIALIZED,
        *(calling(n, name, **given) for n, (name, given) in enumerate(calls)),
        options=options,
    )
    by_id = {answer["id"]: answer["result"] for answer in map(json.loads, lines)}
    return [by_id[number]["structuredContent"] for number in range(len(calls))]


@pytest.fixture
def teams(store: Path) -> str:
    """Two spaces with a memory each; returns a token that may read one of them."""
    with open_clew(store, model={"embedder": "hashing"}) as clew:
        clew.remember("The red team meets on Mondays", space="red")
        clew.remember("The blue team meets on Fridays", space="blue")
        return Tokens(clew.store, clew.now).create("bot", spaces=["red"], rights=["read"])[0]


def test_a_space_narrows_what_the_caller_may(environment: dict[str, str], teams: str) -> None:
    found, refused = answered(
        environment,
        ("recall", {"query": "when does the team meet"}),
        ("recall", {"query": "team", "where": {"space": "blue"}}),
        options=("--space", "red"),
    )
    assert [hit["text"] for hit in found["hits"]] == ["The red team meets on Mondays"]
    assert refused["error"]["code"] == "refused.forbidden"


def test_reading_only_changes_nothing(environment: dict[str, str], teams: str) -> None:
    status, refused = answered(
        environment,
        ("status", {}),
        ("remember", {"text": "A reader cannot write this"}),
        options=("--read-only",),
    )
    assert status["rights"] == ["read"]
    assert refused["error"]["code"] == "refused.forbidden"


def test_a_token_in_the_environment_says_who_is_calling(
    environment: dict[str, str], teams: str
) -> None:
    status, beyond = answered(
        {**environment, "CLEW_TOKEN": teams},
        ("status", {}),
        ("recall", {"query": "team", "where": {"space": "blue"}}),
    )
    assert (status["caller"], status["rights"], status["spaces"]) == (
        "bot",
        ["read"],
        [{"space": "red", "memories": 1}],
    )
    assert beyond["error"]["code"] == "refused.forbidden"


def test_a_token_that_is_revoked_meanwhile_ends_at_once(
    environment: dict[str, str], store: Path, teams: str
) -> None:
    with talking({**environment, "CLEW_TOKEN": teams}) as talk:
        talk.ask(hello())
        talk.say(INITIALIZED)
        assert talk.ask(calling(1, "status"))["result"]["isError"] is False
        with open_clew(store, model={"embedder": "hashing"}) as clew:
            tokens = Tokens(clew.store, clew.now)
            assert all(tokens.revoke(token.id) for token in tokens.list())
        assert (
            talk.ask(calling(2, "status"))["result"]["structuredContent"]["error"]["code"]
            == "refused.unauthorised"
        )


def test_options_never_widen_a_token(environment: dict[str, str], teams: str) -> None:
    (beyond,) = answered(
        {**environment, "CLEW_TOKEN": teams},
        ("recall", {"query": "team"}),
        options=("--space", "blue"),
    )
    assert beyond["error"]["code"] == "refused.forbidden"


def test_a_wrong_token_opens_nothing(environment: dict[str, str], teams: str) -> None:
    wrong = answered(
        {**environment, "CLEW_TOKEN": teams + "x"}, ("status", {}), ("recall", {"query": "team"})
    )
    assert [each["error"]["code"] for each in wrong] == ["refused.unauthorised"] * 2


def test_a_store_that_cannot_be_opened_is_told_to_the_caller(
    environment: dict[str, str], store: Path
) -> None:
    store.write_bytes(b"no database at all" * 100)
    (refused,) = answered(environment, ("status", {}))
    assert refused["error"]["code"] == "store.not_a_store"
    assert store.read_bytes().startswith(b"no database")


def test_a_wrong_setting_is_told_at_once(environment: dict[str, str]) -> None:
    done = run_forked(
        ["-m", "clew", "mcp"], input=b"", env={**environment, "CLEW_MCP__ANSWER_TOKENS": "7"}
    )
    assert done.returncode == 2
    assert b"mcp.answer_tokens" in done.stderr
    assert done.stdout == b""
