"""How does `clew serve` bear a load, and how soon is it there?

    python -m benchmarks.serving --nodes 100000 --seconds 60 --out benchmarks/results/serving.json

A store of synthetic memories (the hashing embedder: no model is needed), one server process, and
clients over loopback that read and write at once: for seven minutes, until its memory has levelled
off, and then by the clock. Then the same with a kill -9 in the middle of writes, after which every
acknowledged one must be there; then cold starts of `clew serve` (to the first answer of /health)
and of `clew mcp` (to the first answer to tools/list).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

import clew
from benchmarks import machine

WORDS = [
    f"{first}{second}{third}"
    for first in "bcdfghlmnprstvz"
    for second in ("al", "en", "ir", "or", "um", "ast")
    for third in ("", "ia", "ero", "ing")
]
TEXT_WORDS = 16
BATCH = 2000
WRITE_SHARE = 0.2
KILL_SECONDS = 5.0
WARM_UP = 20  # requests before the clock starts: the first recall loads indexes
# of the same load before the clock starts: so long do a dozen threads take to fill their caches
SETTLE_SECONDS = 420.0
ATTEMPTS = 5  # cold starts
HEADERS = {"content-type": "application/json"}
# One writer at a time commits; the texts are random, so looking for near duplicates while the store
# is made would only cost time.
BUILD: dict[str, Any] = {
    "model": {"embedder": "hashing"},
    "duplicates": {"near": False},
    "related": {"enabled": False},
}


@dataclass
class Tally:
    """What the clients saw."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    acknowledged: list[str] = field(default_factory=list)
    rss: list[float] = field(default_factory=list)


def sentence(draw: random.Random) -> str:
    """Return a new text of known words.

    A vocabulary that grows with every text would measure how large the caches of words are.
    """
    return (
        "The " + " ".join(draw.choices(WORDS, k=TEXT_WORDS)) + f" number {draw.randrange(10_000)}"
    )


def build(path: Path, nodes: int) -> float:
    """Make a store of so many memories; return the seconds that took."""
    began, draw = time.perf_counter(), random.Random(7)
    with clew.open(path, **BUILD) as memory:
        for start in range(0, nodes, BATCH):
            memory.remember_many([sentence(draw) for _ in range(min(BATCH, nodes - start))])
            print(f"\rbuilding {start + BATCH:,} of {nodes:,}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return time.perf_counter() - began


def environment(store: Path) -> dict[str, str]:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    own = {
        "CLEW_STORE": str(store),
        "CLEW_MODEL__EMBEDDER": "hashing",
        "CLEW_OFFLINE": "1",
        "CLEW_SERVE__REQUESTS_PER_SECOND": "0",
    }
    return {**outside, **own, "HOME": str(store.parent)}


@contextmanager
def server(store: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "clew", "serve", "--port", "0"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(store))
    try:
        assert child.stdout is not None
        found = re.search(r"http://[\d.]+:\d+", child.stdout.readline())
        assert found, "the server did not start"
        yield child, found[0]
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
        child.wait(120)


def rss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1000


def request(draw: random.Random, ids: list[str], write_share: float) -> tuple[str, str, str, Any]:
    """Draw one: a kind, a method, a path and a body."""
    if draw.random() < write_share:
        return "remember", "POST", "/v1/memories", {"text": sentence(draw)}
    kind = draw.choice(["recall", "recall", "recall", "agent", "list", "get"])
    query = {"query": " ".join(draw.choices(WORDS, k=5))}
    if kind == "list":
        return kind, "GET", "/v1/memories?limit=20", None
    if kind == "get" and ids:
        return kind, "GET", f"/v1/memories/{draw.choice(ids)}", None
    return (
        ("agent", "POST", "/v1/search/agent", query)
        if kind == "agent"
        else ("recall", "POST", "/v1/recall", query)
    )


async def client(
    draw: random.Random, url: str, tally: Tally, ends: float, write_share: float
) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60, headers=HEADERS) as http:
        while time.monotonic() < ends:
            kind, method, path, body = request(draw, tally.acknowledged, write_share)
            began = time.perf_counter()
            try:
                answer = await http.request(method, path, json=body)
            except httpx.TransportError as error:
                tally.errors[type(error).__name__] += 1
                return
            tally.seconds[kind].append(time.perf_counter() - began)
            if answer.status_code >= 300:
                tally.errors[str(answer.status_code)] += 1
            elif kind == "remember" and answer.json()["outcome"] == "inserted":
                tally.acknowledged.append(answer.json()["id"])


async def load(
    url: str,
    pid: int,
    *,
    phase: str,
    seconds: float,
    clients: int,
    write_share: float,
    kill: float | None = None,
) -> Tally:
    """Let clients ask for a while, noting the server's memory every second.

    Kill it after `kill` seconds, if given.
    """
    tally, began = Tally(), time.monotonic()

    async def watch() -> None:
        while time.monotonic() < began + seconds:
            tally.rss.append(rss_mb(pid))
            await asyncio.sleep(min(1.0, seconds / 10))
            if kill is not None and time.monotonic() > began + kill:
                os.kill(pid, signal.SIGKILL)
                return

    # what one phase has written is no duplicate in the next
    draws = [random.Random(f"{phase} {number}") for number in range(clients)]
    await asyncio.gather(
        watch(), *(client(draw, url, tally, began + seconds, write_share) for draw in draws)
    )
    return tally


def warmed(url: str) -> None:
    draw = random.Random(0)
    with httpx.Client(base_url=url, timeout=120, headers=HEADERS) as http:
        for _ in range(WARM_UP):
            _, method, path, body = request(draw, [], 0.0)
            http.request(method, path, json=body).raise_for_status()


def percentiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    at = {
        name: ordered[min(len(ordered) - 1, int(len(ordered) * share))]
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    }
    return {
        "count": len(ordered),
        **{f"{name}_ms": round(value * 1e3, 2) for name, value in at.items()},
    }


def steady(store: Path, *, settle: float, seconds: float, clients: int) -> dict[str, Any]:
    with server(store) as (child, url):
        warmed(url)
        fresh = rss_mb(child.pid)
        asyncio.run(
            load(
                url,
                child.pid,
                phase="settle",
                seconds=settle,
                clients=clients,
                write_share=WRITE_SHARE,
            )
        )
        tally = asyncio.run(
            load(
                url,
                child.pid,
                phase="steady",
                seconds=seconds,
                clients=clients,
                write_share=WRITE_SHARE,
            )
        )
    everything = [each for times in tally.seconds.values() for each in times]
    third = max(1, len(tally.rss) // 3)
    return {
        "seconds": seconds,
        "clients": clients,
        "requests_per_second": round(len(everything) / seconds, 1),
        "errors": dict(tally.errors),
        "all": percentiles(everything),
        "by_kind": {kind: percentiles(times) for kind, times in sorted(tally.seconds.items())},
        "written": len(tally.acknowledged),
        "rss_mb": {
            "warmed": round(fresh, 1),
            "start": round(tally.rss[0], 1),
            "middle": round(statistics.median(tally.rss[third : 2 * third] or tally.rss), 1),
            "end": round(tally.rss[-1], 1),
        },
        "exit_code": child.returncode,
    }


def killed(store: Path, *, clients: int) -> dict[str, Any]:
    with server(store) as (child, url):
        warmed(url)
        tally = asyncio.run(
            load(
                url,
                child.pid,
                phase="killed",
                seconds=KILL_SECONDS * 2,
                clients=clients,
                write_share=0.8,
                kill=KILL_SECONDS,
            )
        )
    with clew.open(store, **BUILD) as memory:
        found = memory.store.get(tally.acknowledged)
        lost = [id for id in tally.acknowledged if id not in found]
        problems = memory.verify()
    return {
        "acknowledged": len(tally.acknowledged),
        "lost": len(lost),
        "problems": [problem.detail for problem in problems],
    }


def cold_serve(store: Path) -> float:
    began = time.perf_counter()
    with server(store) as (_, url):
        while True:
            try:
                httpx.get(f"{url}/health").raise_for_status()
                return time.perf_counter() - began
            except httpx.TransportError:
                time.sleep(0.002)


def cold_mcp(store: Path) -> float:
    """Return the seconds from the start of `clew mcp` to its list of tools, over stdio."""
    capabilities = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": capabilities},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "clew", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(store),
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("".join(json.dumps(each) + "\n" for each in messages))
    child.stdin.flush()
    for line in child.stdout:
        if json.loads(line).get("id") == 2:
            break
    took = time.perf_counter() - began
    child.communicate(timeout=60)
    return took


def cold(start: Any, store: Path) -> dict[str, Any]:
    times = [start(store) for _ in range(ATTEMPTS)]
    return {"median_s": round(statistics.median(times), 3), "worst_s": round(max(times), 3)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument(
        "--settle",
        type=float,
        default=SETTLE_SECONDS,
        help="seconds of load before those that are measured",
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="clew-serving-"))
    try:
        store = folder / "memory.clew"
        built = build(store, options.nodes)
        result = {
            "machine": machine.facts(),
            "nodes": options.nodes,
            "build_seconds": round(built, 1),
            "steady": steady(
                store, settle=options.settle, seconds=options.seconds, clients=options.clients
            ),
            "killed": killed(store, clients=options.clients),
            "cold_start": {"serve": cold(cold_serve, store), "mcp": cold(cold_mcp, store)},
        }
    finally:
        shutil.rmtree(folder)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
