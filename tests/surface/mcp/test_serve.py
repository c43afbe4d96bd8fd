"""`clew serve` has the same tools under /mcp."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from clew.engine import open as open_clew
from clew.engine.auth import Tokens
from tests.fork_server import ForkedPython
from tests.surface.mcp.conftest import STATELESS, over_http
from tests.surface.mcp.test_clients import asked_with, everything

pytest.importorskip("fastapi")


@contextmanager
def serving(environment: dict[str, str]) -> Iterator[str]:
    with ForkedPython(
        ["-m", "clew", "serve", "--port", "0", "--json"], stdout=subprocess.PIPE, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            yield str(json.loads(process.stdout.readline())["url"])
        finally:
            process.terminate()
            assert process.wait() == 0


def test_a_client_of_the_server_can_do_everything(environment: dict[str, str], store: Path) -> None:
    with serving({**environment, "CLEW_SERVE__REQUESTS_PER_SECOND": "0"}) as url:
        kept = over_http(f"{url}/mcp", everything, mode=STATELESS)
    with open_clew(store, model={"embedder": "hashing"}) as clew:
        assert clew.get(kept) is not None


def test_no_client_holds_a_connection_for_what_is_never_said(environment: dict[str, str]) -> None:
    with serving(environment) as url:
        answer = httpx.get(
            f"{url}/mcp",
            headers={"accept": "text/event-stream", "mcp-protocol-version": "2025-06-18"},
            timeout=None,
        )
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert answer.json()["error"]["code"] == -32600


def test_the_server_knows_a_caller_by_the_same_token_on_both_roads(
    environment: dict[str, str], store: Path
) -> None:
    with open_clew(store, model={"embedder": "hashing"}) as clew:
        clew.remember("The red team meets on Mondays", space="red")
        clew.remember("The blue team meets on Fridays", space="blue")
        secret, _ = Tokens(clew.store, clew.now).create("bot", spaces=["red"], rights=["read"])
    with serving(environment) as url:
        assert (
            httpx.post(
                f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, timeout=None
            ).status_code
            == 401
        )
        found = asked_with(f"{url}/mcp", secret, "recall", query="when does the team meet")[
            "structuredContent"
        ]
        headers = {"authorization": f"Bearer {secret}"}
        same = httpx.post(
            f"{url}/v1/recall",
            json={"query": "when does the team meet"},
            headers=headers,
            timeout=None,
        ).json()
        assert [hit["id"] for hit in found["hits"]] == [hit["id"] for hit in same["hits"]]
        assert [hit["text"] for hit in found["hits"]] == ["The red team meets on Mondays"]
        foreign = httpx.post(
            f"{url}/mcp",
            json={},
            headers={**headers, "origin": "https://elsewhere.example"},
            timeout=None,
        )
        assert foreign.status_code == 403
