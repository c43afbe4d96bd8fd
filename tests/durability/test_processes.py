"""Many processes on one file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import clew
from clew.models.vectors import HashingEmbedder

from .conftest import WRITER
from .writer import LEAST_RECALLS, text_of


def crowd(path: Path, writers: int, writes: int) -> list[str]:
    run = subprocess.run(
        [sys.executable, str(WRITER), "crowd", str(path), str(writers), str(writes)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stderr == ""
    return run.stdout.splitlines()


def check(path: Path, lines: list[str], expected: int) -> None:
    assert [line for line in lines if line.startswith("!")] == []
    assert lines[-1] == "failures 0"
    acknowledged = {
        line.split(" ")[1]: line.split(" ")[2] for line in lines if line.startswith("+")
    }
    assert len(acknowledged) == expected
    with clew.open(path, embedder=HashingEmbedder(64)) as memory:
        kept = {node.id: node.text for node in memory.store.nodes()}
        assert kept == {id: text_of(key) for id, key in acknowledged.items()}
        assert memory.stats()["vectors"] == expected
        assert memory.verify() == ()


def test_eight_processes_write_eighty_each_while_a_ninth_recalls(tmp_path: Path) -> None:
    lines = crowd(tmp_path / "memory.clew", 8, 80)
    check(tmp_path / "memory.clew", lines, 640)
    (recalls,) = (int(line.split(" ")[1]) for line in lines if line.startswith("recalls"))
    assert recalls >= LEAST_RECALLS


def test_eight_processes_make_the_same_new_store_at_once(tmp_path: Path) -> None:
    for turn in range(2):
        path = tmp_path / f"{turn}.clew"
        check(path, crowd(path, 8, 1), 8)


ELSEWHERE = """
import sys
import clew
from clew.models.vectors import HashingEmbedder
with clew.open(sys.argv[1], embedder=HashingEmbedder(64)) as memory:
    memory.remember("Written by another process while two handles are open")
"""


def test_a_second_handle_in_one_process_does_not_cost_the_first_its_locks(tmp_path: Path) -> None:
    """POSIX takes a process all its locks on a file when any descriptor of it is closed.

    The other process, closing, would then take itself for the last one and remove the journal under
    our feet.
    """
    path = tmp_path / "memory.clew"
    with clew.open(path, embedder=HashingEmbedder(64)) as memory:
        memory.remember("Written before anybody else came")
        with clew.open(path, embedder=HashingEmbedder(64)) as second:
            second.remember("Written through the second handle")
        journal = Path(f"{path}-wal").stat().st_ino
        subprocess.run([sys.executable, "-c", ELSEWHERE, str(path)], check=True)
        assert Path(f"{path}-wal").stat().st_ino == journal
        memory.remember("Written through the first handle after all that")
        assert memory.stats()["nodes"] == 4
    with clew.open(path, embedder=HashingEmbedder(64)) as memory:
        assert memory.stats()["nodes"] == 4
        assert memory.verify() == ()
