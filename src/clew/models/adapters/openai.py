"""Models of OpenAI, or of any server that speaks its `POST /embeddings`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from clew.errors import ModelServiceError
from clew.models.adapters.server import Server
from clew.models.adapters.services import ServiceEmbedder

KEY_VARIABLE = "OPENAI_API_KEY"
BASE_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_BASE = "https://api.openai.com/v1"
MAX_TOKENS = 8191  # of the text-embedding-3 models, which refuse longer texts


def embedder(
    name: str,
    *,
    base: str | None = None,
    key: str | None = None,
    timeout_seconds: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
) -> ServiceEmbedder:
    """Return an embedder; address and key come from OPENAI_BASE_URL and OPENAI_API_KEY unless given."""
    secret = os.environ.get(KEY_VARIABLE, "") if key is None else key
    server = Server(
        base or os.environ.get(BASE_VARIABLE) or DEFAULT_BASE,
        headers={"Authorization": f"Bearer {secret}"} if secret else {},  # local servers often want none
        secret=secret,
        timeout_seconds=timeout_seconds,
        sleep=sleep,
    )

    def ask(texts: list[str]) -> Sequence[Any]:
        answer = server.post("/embeddings", {"model": name, "input": texts, "encoding_format": "float"})
        try:
            rows = {row["index"]: row["embedding"] for row in answer["data"]}
            return [rows[at] for at in range(len(rows))]  # the protocol promises no order, the index does
        except (KeyError, TypeError) as error:
            raise ModelServiceError(
                f"{server.host} answered without usable embeddings. Is it an embedding server?", host=server.host
            ) from error

    return ServiceEmbedder(f"openai:{name}", host=server.host, ask=ask, max_tokens=MAX_TOKENS)
