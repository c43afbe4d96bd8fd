"""A file that was taken away while it was open takes no more writes.

They would go to a file without a name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import clew
from clew.errors import StoreError

TAKEN: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "moved": lambda path: path.rename(path.with_name("elsewhere.clew")),
    "replaced": lambda path: (
        shutil.copy(path, path.with_name("copy")),
        path.with_name("copy").replace(path),
    ),
}


@pytest.mark.parametrize("how", TAKEN)
def test_neither_a_write_nor_a_recall_goes_on_with_a_file_that_is_gone(
    tmp_path: Path, how: str
) -> None:
    path = tmp_path / "memory.clew"
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        memory.remember("The staging database listens on port 5433.")
        TAKEN[how](path)
        with pytest.raises(StoreError, match="moved, deleted or replaced"):
            memory.remember("The cache was cleared on Monday morning.")
        with pytest.raises(StoreError, match="moved, deleted or replaced"):
            memory.recall("port")


def test_a_file_that_comes_back_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.clew"
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        memory.remember("The staging database listens on port 5433.")
        path.rename(tmp_path / "elsewhere.clew")
        (tmp_path / "elsewhere.clew").rename(path)
        assert memory.remember("The cache was cleared on Monday morning.").outcome == "inserted"


def test_it_stays_the_same_file_when_the_process_goes_to_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with clew.open("memory.clew", model={"embedder": "hashing"}) as memory:
        (tmp_path / "below").mkdir()
        os.chdir(tmp_path / "below")
        assert memory.remember("The staging database listens on port 5433.").outcome == "inserted"
