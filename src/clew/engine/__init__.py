"""The engine: the only place that wires stores, models and stages together."""

from clew.engine.async_clew import AsyncClew
from clew.engine.clew import Clew

# `clew.open` mirrors the builtin on purpose
from clew.engine.opening import open_clew as open  # noqa: A004
from clew.engine.opening import restore_backup

__all__ = ["AsyncClew", "Clew", "open", "restore_backup"]
