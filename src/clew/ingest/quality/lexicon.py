"""Short lists of words that the judgements share; they are in lexicon.toml."""

from __future__ import annotations

import tomllib
from importlib.resources import files

_LISTS = tomllib.loads(files("clew.ingest.quality").joinpath("lexicon.toml").read_text(encoding="utf-8"))
FUNCTION_WORDS, VERBS, NAVIGATION, POINTERS, STRONG_POINTERS, CONTENTS, MEDIA = (
    frozenset(_LISTS[name].split())
    for name in ("function_words", "verbs", "navigation", "pointers", "strong_pointers", "contents", "media")
)
