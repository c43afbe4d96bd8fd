"""What is compared: named ways to search one and the same store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.errors import InputError
from clew.evaluate.policies import Policy, SingleHop
from clew.recall.recipes import NAMES as RECIPES

# Baselines are ranked by what they find alone: no recency, importance or use.
RELEVANCE_ONLY = {"score.presets": {"relevance": [1.0, 0.0, 0.0, 0.0]}, "recall.preset": "relevance"}
BASELINES = ("bm25", "dense", "rrf")
DEFAULT_SYSTEMS = (*BASELINES, "clew")


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A policy under settings; `recipe` None is the settings' own."""

    name: str
    policy: Policy
    recipe: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def system(name: str, *, depth: int) -> System:
    """Return a system by its name in tables: bm25, dense, rrf, clew (the default configuration), or any recipe."""
    once = SingleHop(k=depth)
    known = {
        "bm25": System(name="bm25", policy=once, recipe="lexical", settings=RELEVANCE_ONLY),
        "dense": System(name="dense", policy=once, recipe="dense", settings=RELEVANCE_ONLY),
        "rrf": System(name="rrf", policy=once, recipe="balanced", settings={**RELEVANCE_ONLY, "recall.fusion": "rrf"}),
        "clew": System(name="clew", policy=once),
        **{recipe: System(name=recipe, policy=once, recipe=recipe) for recipe in RECIPES if recipe != "dense"},
    }
    if name not in known:
        raise InputError("systems", name, "is not a system", f"Use some of {', '.join(known)}.")
    return known[name]
