"""Let a language model phrase questions that templates made; what it says is checked and kept."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clew.errors import InputError, ModelError
from clew.evaluate.data import Query
from clew.models.server_adapters import Server

KEY = "CLEW_EVAL_KEY"
TIMEOUT_SECONDS = 60.0
LONGEST = 400
ASKED = (
    "Rephrase the question about a program as a developer of it would ask it. Keep every name in "
    "backquotes as it is, name no other function, class or file, and answer with the question "
    "alone."
)
_NAMES = re.compile(r"`([^`\n]{1,200})`")


class Phrasing:
    """A language model at a server that speaks OpenAI's `POST /chat/completions`, and a cache."""

    def __init__(self, spec: str, folder: Path) -> None:
        self.model, at, base = spec.partition("@")
        if not at or not self.model:
            raise InputError(
                "phrased", spec, "is not MODEL@URL", "Use qwen@http://127.0.0.1:8080/v1."
            )
        key = os.environ.get(KEY, "")
        self._server = Server(
            base,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            secret=key,
            timeout_seconds=TIMEOUT_SECONDS,
        )
        name = hashlib.sha256(spec.encode()).hexdigest()[:12]
        self._path = folder / f".phrased-{name}.json"

    def of(self, queries: Sequence[Query]) -> tuple[list[Query], str]:
        """Return the questions as the model phrases them, and a note that says by which model.

        An answer that lost a name, or is no single question, leaves the template's words.
        """
        known = self._read()
        made, kept = [], 0
        for query in queries:
            if query.text not in known:
                known[query.text] = self._asked(query.text)
                self._path.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")
            said = known[query.text]
            usable = _is_usable(said, query.text)
            kept += not usable
            made.append(replace(query, text=said if usable else query.text))
        rest = f"; {kept} keep the template's words" if kept else ""
        return made, f"Phrased by {self.model}{rest}."

    def _read(self) -> dict[str, str]:
        if not self._path.is_file():
            return {}
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError("phrased", str(self._path), "is damaged", "Delete it.") from error
        return {str(key): str(value) for key, value in found.items()}

    def _asked(self, text: str) -> str:
        messages = [{"role": "system", "content": ASKED}, {"role": "user", "content": text}]
        answer = self._server.post(
            "/chat/completions", {"model": self.model, "messages": messages, "temperature": 0}
        )
        try:
            return str(answer["choices"][0]["message"]["content"]).strip()
        except (KeyError, IndexError, TypeError) as error:
            raise ModelError(f"{self._server.host} gave no question.") from error


def _is_usable(said: str, text: str) -> bool:
    """Return whether an answer is one question that names what the template's names, and no more."""
    names = set(_NAMES.findall(text))
    one_line = "\n" not in said and 0 < len(said) <= LONGEST
    return one_line and set(_NAMES.findall(said)) == names
