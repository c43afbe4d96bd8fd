"""Every set by name: what there is, and how one is loaded."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clew.errors import InputError
from clew.evaluate.data import Dataset
from clew.evaluate.datasets import (
    beir,
    code_paths,
    history,
    lihua,
    locomo,
    longmemeval,
    memories,
    multihop,
    repobench,
    repoeval,
    semble,
    spans,
    swe_bench,
    swe_qa,
)
from clew.evaluate.datasets.card import Card
from clew.evaluate.datasets.folder import Asked, Folder

Loader = Callable[..., Dataset]

_SETS: tuple[tuple[Card, Loader], ...] = (
    (locomo.CARD, locomo.load),
    (longmemeval.CARD, longmemeval.load),
    (lihua.CARD, lihua.load),
    *((card, multihop.load) for card in multihop.CARDS),
    (beir.SCIFACT, beir.load),
    (beir.CARD, beir.load),
    (memories.CARD, memories.load),
    (memories.MINE, memories.load),
    (history.CARD, history.load),
    (swe_qa.CARD, swe_qa.load),
    (semble.CARD, semble.load),
    (code_paths.CARD, code_paths.load),
    (swe_bench.CARD, swe_bench.load),
    (repoeval.CARD, repoeval.load),
    (repobench.CARD, repobench.load),
    (spans.CHROMA, spans.chroma),
    (spans.LEGAL, spans.legal),
)
_LOADERS = {card.name: (card, loader) for card, loader in _SETS}


def catalogue() -> tuple[Card, ...]:
    """Return the card of every set that can be loaded."""
    return tuple(card for card, _ in _LOADERS.values())


def card(name: str) -> Card:
    """Return the card of a set, or an error that lists the names."""
    return _entry(name)[0]


def load(
    name: str, path: Path, *, part: str = "test", limit: int | None = None, **options: Any
) -> Dataset:
    """Return one part of a set from its folder, always in the same order.

    `limit` takes the first questions only.

    A file that is missing, damaged or of another layout is an InputError that names file, line and
    field, and says how to get the set. Unknown options are refused.
    """
    card, loader = _entry(name)
    if part not in card.parts:
        raise InputError(
            "part", part, f"is not a part of {card.title}", f"Use {' or '.join(card.parts)}."
        )
    if limit is not None and limit < 1:
        raise InputError("limit", limit, "leaves no questions", "Use 1 or more, or leave it out.")
    _check(options, loader, card)
    dataset = loader(Asked(card, Folder(card, Path(path)), part, limit), **options)
    if not dataset.queries:
        raise InputError(
            "path",
            str(path),
            f"holds no questions of the {part} part of {card.title}",
            f"How to get it: {card.source}",
        )
    return dataset


def _entry(name: str) -> tuple[Card, Loader]:
    if name not in _LOADERS:
        raise InputError(
            "dataset", name, "is not a set that can be loaded", f"Use one of {', '.join(_LOADERS)}."
        )
    return _LOADERS[name]


def _check(options: dict[str, Any], loader: Loader, card: Card) -> None:
    known = [
        name
        for name, value in inspect.signature(loader).parameters.items()
        if value.kind is value.KEYWORD_ONLY
    ]
    for name, value in options.items():
        if name not in known:
            way_out = f"It takes {', '.join(known)}." if known else "It takes none."
            raise InputError(name, value, f"is not an option of {card.title}", way_out)
