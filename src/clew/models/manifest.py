"""The card of an installed model, written beside its files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clew.errors import ModelError, clipped
from clew.models.card import Card, PinnedFile, Pooling, Purpose
from clew.parsing import parse_json
from clew.user_files import read_file

MANIFEST = "clew-model.json"
FORMAT = 1
MAX_BYTES = 1_000_000


def write(card: Card, folder: Path) -> None:
    """Write the card into the model's folder; where it came from is not part of what it is."""
    facts = {"format": FORMAT} | {key: value for key, value in asdict(card).items() if key != "sources"}
    (folder / MANIFEST).write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read(folder: Path) -> Card:
    """Return the card in a model's folder."""
    path = folder / MANIFEST
    try:
        return _card(**parse_json(read_file(path, limit_bytes=MAX_BYTES)))
    except OSError as error:
        raise ModelError(f"{folder} holds no readable {MANIFEST}. Install a model with: clew models add FILE…", path=str(path)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{path} is not a model's card ({clipped(str(error))}). Install the model again with: clew models add FILE…", path=str(path)
        ) from error


def _card(*, format: int, pooling: str, files: list[dict[str, Any]], purpose: str = Purpose.EMBED, **facts: Any) -> Card:
    if format != FORMAT:
        raise ValueError("it was written by a later version of Clew")
    return Card(pooling=Pooling(pooling), purpose=Purpose(purpose), files=tuple(PinnedFile(**file) for file in files), **facts)
