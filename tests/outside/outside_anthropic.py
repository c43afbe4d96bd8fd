"""The tests of the SDK's tool on files, with Clew in its place.

The tests look at files on disk. So the tool reads what lies there before each command and writes
its files there afterwards; what happens between is Clew's alone.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anthropic.lib.tools._beta_builtin_memory_tool as sdk
import anyio
from outside_common import leave_out, open_memory

from clew.integrations.anthropic import ROOT, AsyncClewMemoryTool, ClewMemoryTool, Files

LINKS = "Clew keeps no files on disk, so there are no symbolic links and no modes"
LEFT_OUT = {
    "test_mkdir_parents_not_world_writable_under_permissive_umask": LINKS,
    "test_read_rejects_symlink_created_after_validation": LINKS,
    "test_read_rejects_file_replaced_with_symlink_before_open": LINKS,
    "test_view_rejects_directory_symlink_created_after_validation": LINKS,
    "test_symlink_validation_reject_symlink_pointing_outside_memories": LINKS,
    "test_view_lists_symlinks_only_when_they_stay_inside_memories": LINKS,
    "test_symlink_validation_reject_creating_files_through_symlink_pointing_outside": LINKS,
    "test_symlink_validation_reject_parent_directory_that_is_symlink_pointing_outside": LINKS,
    "test_validate_path_returns_resolved_path_not_symlink_target": LINKS,
    "test_view_error_for_files_with_too_many_lines": "five megabytes are more than a memory holds: creating the file is refused",
}


def pull(files: Files, root: Path) -> None:
    """Take over the files on disk."""
    for path in root.rglob("*"):
        if path.is_file():
            files.write(f"{ROOT}/{path.relative_to(root).as_posix()}", path.read_bytes().decode())


def push(files: Files, root: Path) -> None:
    """Write the files to disk, and remove those that are no more."""
    paths = {
        root / each.removeprefix(f"{ROOT}/"): files.read(each) or "" for each in files.below(ROOT)
    }
    for path in [each for each in root.rglob("*") if each.is_file() and each not in paths]:
        path.unlink()
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


class SyncTool(ClewMemoryTool):
    def __init__(self, base_path: str) -> None:
        super().__init__(open_memory())
        self.base_path = Path(base_path)
        self.memory_root = self.base_path / "memories"
        self.memory_root.mkdir(parents=True)


class AsyncTool(AsyncClewMemoryTool):
    def __init__(self, base_path: str) -> None:
        super().__init__(open_memory())
        self.base_path = anyio.Path(base_path)
        self.memory_root = self.base_path / "memories"
        Path(str(self.memory_root)).mkdir(parents=True)


def mirrored(name: str) -> Any:
    def command(self: Any, given: Any) -> Any:
        root = Path(str(self.memory_root))
        pull(self.files, root)
        try:
            return getattr(self.files, name)(given)
        finally:
            push(self.files, root)

    return command


def threaded(name: str) -> Any:
    async def command(self: Any, given: Any) -> Any:
        return await asyncio.to_thread(mirrored(name), self, given)

    return command


for name in ("view", "create", "str_replace", "insert", "delete", "rename"):
    setattr(SyncTool, name, mirrored(name))
    setattr(AsyncTool, name, threaded(name))
sdk.BetaLocalFilesystemMemoryTool = SyncTool
sdk.BetaAsyncLocalFilesystemMemoryTool = AsyncTool


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    leave_out(config, items, LEFT_OUT)
