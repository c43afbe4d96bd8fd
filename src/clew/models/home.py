"""Where models live on this machine, and whether the network may be asked for them."""

from __future__ import annotations

import os
from pathlib import Path

from clew.user_files import expanded

FOLDER_VARIABLE = "CLEW_MODELS"
OFFLINE_VARIABLE = "CLEW_OFFLINE"
NO = frozenset({"", "0", "false", "no", "off"})


def models_folder() -> Path:
    """Return the folder of all models: CLEW_MODELS, or the user's cache. It need not exist."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return expanded(chosen)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # The standard says that a relative XDG path is to be ignored.
    return (Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache") / "clew" / "models"


def offline() -> bool:
    """Say whether CLEW_OFFLINE forbids the network."""
    return os.environ.get(OFFLINE_VARIABLE, "").strip().lower() not in NO
