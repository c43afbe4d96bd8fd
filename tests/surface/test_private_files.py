"""What Clew writes can be opened by its owner alone, whatever the umask is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import clew
from tests.surface.conftest import Cli

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")


@pytest.fixture(params=[0o000, 0o022, 0o277], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_store_its_journal_and_its_folders_are_private(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "deeper" / "memory.clew"
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        memory.remember("The staging database listens on port 5433")
        assert {each.name: mode(each) for each in path.parent.iterdir()} == {
            "memory.clew": 0o600,
            "memory.clew-wal": 0o600,
            "memory.clew-shm": 0o600,
        }
    assert [mode(each) for each in (path.parent, path.parent.parent)] == [0o700, 0o700]


def test_backups_exports_traces_and_restored_stores_are_private(
    filled: Cli, umask: int, tmp_path: Path
) -> None:
    filled("backup", str(tmp_path / "kept" / "copy.clew"))
    filled("export", str(tmp_path / "export.jsonl"))
    filled("recall", "staging database", "--save-trace", str(tmp_path / "trace.json"))
    filled(
        "restore",
        str(tmp_path / "kept" / "copy.clew"),
        "--store",
        str(tmp_path / "restored" / "memory.clew"),
    )
    assert [mode(tmp_path / name) for name in ("kept", "restored")] == [0o700] * 2
    made = ("kept/copy.clew", "export.jsonl", "trace.json", "restored/memory.clew")
    assert [mode(tmp_path / name) for name in made] == [0o600] * len(made)


def test_a_store_that_exists_keeps_its_mode_and_doctor_warns_of_it(filled: Cli) -> None:
    def warnings() -> list[str]:
        checks = filled.json("doctor", code=None)["checks"]
        return [
            check["way_out"]
            for check in checks
            if check["name"] == "store" and check["status"] == "warning"
        ]

    assert warnings() == []
    filled.store.chmod(0o644)
    assert warnings() == [f"chmod 600 {filled.store}*"]
    assert mode(filled.store) == 0o644
