"""The tests of the SDK's session in SQLite, with Clew in its place."""

from __future__ import annotations

from typing import Any

import agents
from outside_common import leave_out, open_memory

from clew.integrations.openai_agents import ClewSession

INSIDE = "looks at the connections, rows or locks of the other session"
MEMORIES: dict[str, Any] = {}


class Session(ClewSession):
    def __init__(
        self, session_id: str, db_path: Any = ":memory:", *, session_settings: Any = None
    ) -> None:
        place = ":memory:" if str(db_path) == ":memory:" else f"{db_path}.clew"
        if place == ":memory:" or place not in MEMORIES:
            MEMORIES[place] = open_memory(place)
        super().__init__(session_id, MEMORIES[place], session_settings=session_settings)

    def close(self) -> None:
        """The memory stays open: another session of the test may use it."""


agents.SQLiteSession = Session
INTERNALS = (
    "sqlite3",
    "_lock",
    "_connection",
    "_get_connection",
    "corrupt",
    "_await_mutation",
    "closed",
)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    import inspect

    inside = {
        item.originalname: INSIDE
        for item in items
        if any(name in inspect.getsource(item.function) for name in INTERNALS)
    }
    leave_out(config, items, inside, needs=("SQLiteSession",))
