"""Answers kept on disk while a run goes on, so that an interrupted one goes on where it stopped.

A ledger belongs to one system on one dataset under one configuration and one state of the code: change
any of them and it is another ledger.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import clew
from clew.evaluate.policies import Answer, Cost


@lru_cache(maxsize=1)
def code_hash() -> str:
    """Return a name for the state of the code: two runs share answers only if every line that made them is the same."""
    root = Path(clew.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


class Ledger:
    """The answers of one system, by question; every answer is written before the next is begun."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(json.dumps({**identity, "code": code_hash()}, sort_keys=True, default=repr).encode()).hexdigest()[:24]
        self._path = folder / f"{name}.answers.jsonl"
        self.answers = dict(self._read())
        self._file = self._path.open("a", encoding="utf-8")

    def _read(self) -> list[tuple[str, Answer]]:
        if not self._path.exists():
            return []
        kept = []
        for line in self._path.read_text(encoding="utf-8").split("\n"):
            try:
                raw = json.loads(line)
            except ValueError:  # the line that was being written when the run was killed, or the empty last one
                continue
            kept.append((raw["query"], Answer(ranking=tuple(raw["ranking"]), hops=raw["hops"], cost=Cost(**raw["cost"]))))
        return kept

    def write(self, query: str, answer: Answer) -> None:
        """Keep an answer."""
        self.answers[query] = answer
        line = {"query": query, "ranking": answer.ranking, "hops": dict(answer.hops), "cost": asdict(answer.cost)}
        self._file.write("\n" + json.dumps(line))  # a break in front: a half line left by a kill spoils only itself
        self._file.flush()

    def close(self) -> None:
        """Release the file."""
        self._file.close()
