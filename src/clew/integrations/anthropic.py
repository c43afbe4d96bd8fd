"""The memory tool of the Anthropic SDK with its files in Clew.

What Claude notes there, recall finds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from posixpath import normpath
from typing import TYPE_CHECKING

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from clew.integrations.keyed import Entry, KeyedMemories, key_of

if TYPE_CHECKING:
    from clew.integrations.keyed import Memory

ROOT = "/memories"
MAX_LINES = 999_999
NUMBER_WIDTH = 6
DEPTH = 2  # levels of a directory that are shown
AROUND = 2  # lines shown on each side of a change
MAX_TITLE = 200


class ClewMemoryTool(BetaAbstractMemoryTool):
    """The tool `memory` of Claude; every file is one memory of the space, under its path."""

    def __init__(self, memory: Memory, *, space: str = "memories") -> None:
        super().__init__()
        self.files = Files(memory, space=space)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or a directory."""
        return self.files.view(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file."""
        return self.files.create(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return self.files.str_replace(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""
        return self.files.insert(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a directory."""
        return self.files.delete(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file or a directory."""
        return self.files.rename(command)

    def clear_all_memory(self) -> str:
        """Delete every file."""
        return self.files.clear()


class AsyncClewMemoryTool(BetaAsyncAbstractMemoryTool):
    """`ClewMemoryTool` for an event loop: the work is done in threads."""

    def __init__(self, memory: Memory, *, space: str = "memories") -> None:
        super().__init__()
        self.files = Files(memory, space=space)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or a directory."""
        return await asyncio.to_thread(self.files.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file."""
        return await asyncio.to_thread(self.files.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return await asyncio.to_thread(self.files.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""
        return await asyncio.to_thread(self.files.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a directory."""
        return await asyncio.to_thread(self.files.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file or a directory."""
        return await asyncio.to_thread(self.files.rename, command)

    async def clear_all_memory(self) -> str:
        """Delete every file."""
        return await asyncio.to_thread(self.files.clear)


class Files:
    """The files below /memories: paths are names only, nothing on disk is opened."""

    def __init__(self, memory: Memory, *, space: str) -> None:
        self._kept = KeyedMemories(memory, space=space, collection="memory-tool")

    def read(self, path: str) -> str | None:
        """Return a file's text, or None."""
        node = self._kept.get(path)
        return None if node is None else node.text

    def write(self, path: str, text: str) -> None:
        """Write a whole file."""
        self._kept.put([Entry(path, text, title=path.rpartition("/")[2][:MAX_TITLE])])

    def below(self, path: str) -> list[str]:
        """Return the paths of the files below a directory, in order."""
        return sorted(
            each for each in map(key_of, self._kept.list()) if each.startswith(f"{path}/")
        )

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or a directory."""
        path = checked(command.path)
        text = self.read(path)
        if text is None:
            return self._directory(path, command.path)
        lines = text.split("\n")
        if len(lines) > MAX_LINES:
            raise ToolError(
                f"File {command.path} exceeds maximum line limit of {MAX_LINES:,} lines."
            )
        first, last = 1, len(lines)
        if command.view_range and len(command.view_range) == 2:
            first = max(1, command.view_range[0])
            last = len(lines) if command.view_range[1] == -1 else command.view_range[1]
        return f"Here's the content of {command.path} with line numbers:\n{numbered(lines, first, last)}"

    def _directory(self, path: str, named: str) -> str:
        files = self.below(path)
        if not files and path != ROOT:
            raise ToolError(f"The path {named} does not exist. Please provide a valid path.")
        header = f"Here're the files and directories up to {DEPTH} levels deep in {named}, excluding hidden items:"
        sizes = {each: len((self.read(each) or "").encode()) for each in files}
        shown = [f"{size_of(sum(sizes.values()))}\t{named}"]
        shown += [
            f"{size_of(size)}\t{named.rstrip('/')}/{name}" for name, size in entries(path, sizes)
        ]
        return "\n".join([header, *shown])

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file."""
        path = checked(command.path)
        if self._exists(path):
            raise ToolError(f"File {command.path} already exists")
        self.write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def _exists(self, path: str) -> bool:
        return path == ROOT or self.read(path) is not None or bool(self.below(path))

    def _existing(self, named: str) -> tuple[str, str]:
        """Return the path and the text of a file that must be there."""
        path = checked(named)
        text = self.read(path)
        if text is not None:
            return path, text
        if self._exists(path):
            raise ToolError(f"The path {named} is not a file.")
        raise ToolError(f"The path {named} does not exist. Please provide a valid path.")

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        path, text = self._existing(command.path)
        old = command.old_str
        places = list(occurrences(text, old)) if old else []
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}."
            )
        lines = [text.count("\n", 0, place) + 1 for place in places]
        if len(places) > 1:
            listed = ", ".join(map(str, lines))
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {listed}. Please ensure it is unique"
            )
        changed = text.replace(old, command.new_str)
        self.write(path, changed)
        snippet = numbered(changed.split("\n"), max(1, lines[0] - AROUND), lines[0] + AROUND)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""
        path, text = self._existing(command.path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        changed = "\n".join(lines)
        self.write(path, changed if changed.endswith("\n") else f"{changed}\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a directory."""
        path = checked(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        if not self._kept.delete([path, *self.below(path)]):
            raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file or a directory.

        Everything is written under its new path before the old one goes.
        """
        old, new = checked(command.old_path), checked(command.new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if self._exists(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        moved = [old] if self.read(old) is not None else self.below(old)
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot move {command.old_path} into itself")
        for path in moved:
            self.write(new + path[len(old) :], self.read(path) or "")
        self._kept.delete(moved)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear(self) -> str:
        """Delete every file."""
        self._kept.delete(self.below(ROOT))
        return "All memory cleared"


def checked(path: str) -> str:
    """Return a path without `.`, `..` and doubled slashes, or raise if it leads out of /memories."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    plain = normpath(path)
    if plain != ROOT and not plain.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return plain


def numbered(lines: list[str], first: int, last: int) -> str:
    """Return some lines with their numbers, counted from 1."""
    return "\n".join(
        f"{number:>{NUMBER_WIDTH}}\t{line}"
        for number, line in enumerate(lines[first - 1 : last], start=first)
    )


def occurrences(text: str, wanted: str) -> Iterator[int]:
    """Yield where a text occurs, without overlaps."""
    place = text.find(wanted)
    while place >= 0:
        yield place
        place = text.find(wanted, place + len(wanted))


def entries(directory: str, sizes: dict[str, int]) -> list[tuple[str, int]]:
    """Return the visible files and directories below a directory with their sizes, in order.

    Directories end with a slash.
    """
    found: dict[str, int] = {}
    for path, size in sizes.items():
        parts = path[len(directory) + 1 :].split("/")
        if any(part.startswith(".") for part in parts):
            continue
        for depth in range(1, min(len(parts), DEPTH) + 1):
            name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
            found[name] = found.get(name, 0) + size
    return sorted(found.items())


def size_of(count: int) -> str:
    """Return a number of bytes as people write it.

    >>> size_of(0), size_of(512), size_of(2048), size_of(1536)
    ('0B', '512B', '2K', '1.5K')
    """
    value = float(count)
    for unit in ("B", "K", "M"):
        if value < 1024:
            return f"{value:g}{unit}" if value.is_integer() else f"{value:.1f}{unit}"
        value /= 1024
    return f"{value:.1f}G"
