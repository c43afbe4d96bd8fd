"""A list by a rare label costs what the label's nodes cost, however many others there are.

By a common one it is the same list.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from clew.ports import Sort
from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore
from clew.store.sqlite import where as filters
from clew.testing import node, where
from clew.types import Node

FILE = "file"


def noted(count: int) -> list[Node]:
    """Every node is of a file of its own, every third is tagged."""
    return [
        node(
            f"n{at:05}",
            f"note {at}",
            metadata={FILE: f"{at}.md"},
            tags=("third",) if at % 3 == 0 else (),
        )
        for at in range(count)
    ]


def steps(store: SqliteStore, file: str) -> int:
    """Return in how many hundreds of steps of SQLite's machine the nodes of a file are listed."""
    taken = 0

    def step() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection = store._database.connection
    connection.set_progress_handler(step, 100)
    (found,) = store.listing(where(metadata={FILE: file}), sort=Sort.RECENT, limit=10)
    connection.set_progress_handler(None, 0)
    assert found.metadata[FILE] == file
    return taken


def test_a_list_of_one_file_does_not_grow_with_the_space(path: Path) -> None:
    with closing(SqliteStore.open(path, synchronous="OFF")) as store:
        store.insert(noted(2000))
        assert steps(store, "7.md") <= 5


@pytest.mark.parametrize("sort", Sort)
@pytest.mark.parametrize("few", [0, 1000])
def test_rare_and_common_labels_list_what_the_oracle_lists(
    path: Path, monkeypatch: pytest.MonkeyPatch, sort: Sort, few: int
) -> None:
    monkeypatch.setattr(filters, "FEW", few)
    oracle = MemoryStore()
    with closing(SqliteStore.open(path, synchronous="OFF")) as store:
        store.insert(noted(40))
        oracle.insert(noted(40))
        for asked in (
            where(tags=("third",)),
            where(tags=("third",), metadata={FILE: "9.md"}),
            where(metadata={FILE: "none.md"}),
        ):
            assert store.listing(asked, sort=sort, limit=7) == oracle.listing(
                asked, sort=sort, limit=7
            )
