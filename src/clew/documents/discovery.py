"""Which files did the caller mean? Folders, globs and names become files, and everything left out says why."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from clew.documents.gitignore import Pattern, pattern, patterns, verdict
from clew.errors import InputError, shown
from clew.files import kind_of, open_file, read_file

# Ignore files on the way down: those of inner folders overrule those of outer ones.

IGNORE_FILES = (".gitignore", ".clewignore")  # of one folder the second has the last word
MAX_IGNORE_BYTES = 1_000_000  # what is longer was not written by hand, and is not read


@dataclass(frozen=True, slots=True)
class Level:
    """One folder's patterns.

    The names from it down to the walk's folder, or else how deep it is in the walk.
    """

    rules: tuple[Pattern, ...]
    lead: tuple[str, ...] = ()
    depth: int = 0


def level(folder: Path, *, lead: tuple[str, ...] = (), depth: int = 0) -> tuple[Level, ...]:
    """Return a folder's level, or nothing if it has no ignore files."""
    rules = patterns(line for name in IGNORE_FILES for line in _lines(folder / name))
    return (Level(rules, lead, depth),) if rules else ()


def levels_above(folder: Path) -> tuple[Level, ...]:
    """Return the levels from the top of the git work tree to above a folder, outermost first.

    There are none outside of a work tree, and none for a folder that they would ignore: it was
    named, so it is meant.
    """
    here = Path(os.path.realpath(folder))
    found: tuple[Level, ...] = ()
    for above in _in_work_tree(here):
        lead = here.relative_to(above).parts
        found += level(above, lead=lead)
        ways = (Level(each.rules, each.lead[: len(each.lead) - len(lead) + 1]) for each in found)
        if ignored(tuple(ways), (), is_folder=True):
            return ()
    return found


def ignored(levels: Sequence[Level], parts: Sequence[str], *, is_folder: bool) -> bool:
    """Tell whether the innermost level that has a word on a path leaves it out."""
    for each in reversed(levels):
        said = verdict(each.rules, (*each.lead, *parts[each.depth :]), is_folder=is_folder)
        if said is not None:
            return said
    return False


def _in_work_tree(here: Path) -> list[Path]:
    """Return the folders above this one up to the one that holds .git, uppermost first.

    None if none does.
    """
    above: list[Path] = []
    for each in (here, *here.parents):
        if each != here:
            above.insert(0, each)
        try:
            if (each / ".git").exists():
                return above
        except OSError:  # a folder above that may not be looked into
            return []
    return []


def _lines(path: Path) -> list[str]:
    """Return an ignore file's lines, decoded as file names are.

    None if it is not a readable file of reasonable length.
    """
    try:
        return os.fsdecode(
            read_file(path, limit_bytes=MAX_IGNORE_BYTES).removeprefix(b"\xef\xbb\xbf")
        ).split("\n")
    except OSError:
        return []


Status: TypeAlias = Literal["file", "skipped", "failed"]
Identity: TypeAlias = tuple[int, int] | str
"""What makes two paths one file: device and number, or the path where there are no numbers."""

# Made by tools, for tools: never entered, also not with hidden files; named directly, they are.
NEVER_ENTERED = frozenset(
    """
    .git .hg .svn .bzr node_modules bower_components __pycache__ .venv venv .tox .nox .mypy_cache .ruff_cache .pytest_cache .hypothesis
    .ipynb_checkpoints .idea .gradle .terraform .next .nuxt .cache .DS_Store
    """.split()
)
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file to read, or something that will not be read and why.

    `root` is the argument it came from, `name` its path below that argument with forward slashes
    (of a file named directly, its own name). What ignore files, hidden names, excludes and
    `NEVER_ENTERED` leave out is counted in one "skipped" entry for each root.
    """

    path: Path
    status: Status
    root: str
    name: str
    reason: str = ""
    size_bytes: int = 0


def discover(
    paths: Sequence[str | Path],
    *,
    exclude: Sequence[str] = (),
    include_hidden: bool = False,
    max_bytes: int,
) -> Iterator[Found]:
    """Yield the files behind paths, in order of the arguments and sorted below each, every file once.

    A folder is walked whole; a glob that the shell left as it is is expanded here. Links to files
    are followed while they stay below their folder; links to folders are not: what they lead to is
    read under its own name. `.gitignore` and `.clewignore` count in every folder below an argument
    and, inside a git work tree, in those above it. `exclude` is written like a line of them. A path
    named directly is taken even if hidden or ignored. "-" is a file name here: reading standard
    input is the caller's.
    """
    rules = _Rules(tuple(map(_exclusion, exclude)), include_hidden, max_bytes)
    seen: dict[Identity, str] = {}
    for each in paths:
        root = os.fspath(each)
        kind = _kind(Path(root))
        if kind == "folder":
            yield from _Walk(Path(root), root, rules, seen).run()
        elif kind == "nothing" and _GLOB.search(root):
            yield from _glob(root, rules, seen)
        else:
            yield from _named(root, kind, rules, seen)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What holds for all arguments of one call."""

    exclude: tuple[Pattern, ...]
    include_hidden: bool
    max_bytes: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Something below an argument: where, and what is known of the folders on the way."""

    path: Path
    parts: tuple[str, ...]
    levels: tuple[Level, ...]
    matched: bool  # by the glob, itself or through a folder above it


@dataclass(slots=True)
class _Walk:
    """One argument's folder, walked without recursion."""

    base: Path
    root: str
    rules: _Rules
    seen: dict[Identity, str]
    only: Pattern | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    links: list[_Place] = field(default_factory=list)
    folders: set[Identity] = field(default_factory=set)

    def run(self) -> Iterator[Found]:
        """Yield what is below the folder, then links, then one entry for everything left out by rule."""
        waiting = [_Place(self.base, (), levels_above(self.base), self.only is None)]
        while waiting:
            place = waiting.pop()
            kind = _kind(place.path, follow=not place.parts)
            if kind == "folder":
                yield from self.opened(place, waiting)
            elif kind == "link":
                # their turn is last, so that a file is read under its own name
                self.links.append(place)
            else:
                yield from _checked(self.found(place), kind, self.rules, self.seen)
        for place in self.links:
            yield from self.link(place)
        if self.left_out:
            counted = ", ".join(f"{number} {why}" for why, number in sorted(self.left_out.items()))
            yield _refused(
                self.found(_Place(self.base, (), (), True)), "skipped", f"left out: {counted}"
            )

    def opened(self, place: _Place, waiting: list[_Place]) -> Iterator[Found]:
        """Put what a folder holds on top of what is waiting, the first name uppermost."""
        try:
            identity = _identity(place.path.stat(), str(place.path))
            with os.scandir(place.path) as listing:
                entries = sorted(
                    ((entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing),
                    reverse=True,
                )
        except OSError as error:
            yield _refused(self.found(place), "failed", _said(error))
            return
        if identity in self.folders:
            yield _refused(
                self.found(place), "skipped", "the same folder as one already read: a loop"
            )
            return
        self.folders.add(identity)
        levels = place.levels + level(place.path, depth=len(place.parts))
        for name, is_folder in entries:
            below = _Place(place.path / name, (*place.parts, name), levels, place.matched)
            if admitted := self.admitted(below, is_folder=is_folder):
                waiting.append(admitted)

    def admitted(self, place: _Place, *, is_folder: bool) -> _Place | None:
        """Return a place that the glob means and no rule leaves out."""
        matched = place.matched or (
            self.only is not None and self.only.matches(place.parts, is_folder=is_folder)
        )
        leads_on = is_folder and self.only is not None and self.only.reaches(len(place.parts))
        if not matched and not leads_on:
            return None
        if why := self.objection(place, is_folder=is_folder):
            self.left_out[why] += 1
            return None
        return replace(place, matched=matched)

    def objection(self, place: _Place, *, is_folder: bool) -> str:
        """Return the rule that leaves a place out, or nothing."""
        name = place.parts[-1]
        if name in NEVER_ENTERED:
            return f"{name} (never imported)"
        if name.startswith(".") and not self.rules.include_hidden:
            return "hidden"
        if verdict(self.rules.exclude, place.parts, is_folder=is_folder):
            return "excluded"
        return (
            "ignored by .gitignore or .clewignore"
            if ignored(place.levels, place.parts, is_folder=is_folder)
            else ""
        )

    def link(self, place: _Place) -> Iterator[Found]:
        """Follow a link to a file below the same folder; say of all others where they lead."""
        kind, base = _kind(place.path), os.path.realpath(self.base)
        found = self.found(place)
        if kind == "nothing":
            yield _refused(found, "skipped", "a link that leads nowhere")
        elif os.path.commonpath([os.path.realpath(place.path), base]) != base:
            yield _refused(
                found, "skipped", "a link that leads outside: name its target to import it"
            )
        elif kind == "folder":
            yield _refused(found, "skipped", "a link to a folder that is read under its own name")
        else:
            yield from _checked(found, kind, self.rules, self.seen)

    def found(self, place: _Place) -> Found:
        """Return the entry of a place, as of a file until something speaks against it."""
        return Found(path=place.path, status="file", root=self.root, name="/".join(place.parts))


def _named(root: str, kind: str, rules: _Rules, seen: dict[Identity, str]) -> Iterator[Found]:
    path = Path(root)
    found = Found(path=path, status="file", root=root, name=path.name)
    if verdict(rules.exclude, path.parts, is_folder=False):
        yield _refused(found, "skipped", "excluded")
    else:
        yield from _checked(found, kind, rules, seen)


def _glob(root: str, rules: _Rules, seen: dict[Identity, str]) -> Iterator[Found]:
    """Walk the folder before the first name with a wildcard, and keep what the rest matches."""
    parts = Path(root).parts
    fixed = next(index for index, part in enumerate(parts) if _GLOB.search(part))
    base = Path(*parts[:fixed])
    only = pattern("/" + "/".join(parts[fixed:]))
    walk = _Walk(base, root, rules, seen, only) if only and _kind(base) == "folder" else None
    found = False
    for each in walk.run() if walk else ():
        found = True
        yield each
    if not found:
        yield Found(
            path=Path(root), status="failed", root=root, name=root, reason="matches no file"
        )


def _checked(found: Found, kind: str, rules: _Rules, seen: dict[Identity, str]) -> Iterator[Found]:
    """Yield a file that can be read, or why it is not; nothing if the same path came before."""
    if kind == "nothing":
        yield _refused(found, "failed", "does not exist")
    elif kind != "file":
        yield _refused(found, "skipped", f"is a {kind}")
    else:
        try:
            status = _opened_status(found.path)
        except OSError as error:
            yield _refused(found, "failed", _said(error))
        else:
            yield from _judged(found, status, rules, seen)


def _judged(
    found: Found, status: os.stat_result, rules: _Rules, seen: dict[Identity, str]
) -> Iterator[Found]:
    here = os.path.normpath(found.path.absolute())
    identity = _identity(status, os.path.realpath(found.path))
    if identity in seen:
        if seen[identity] != here:
            yield _refused(found, "skipped", f"the same file as {shown(seen[identity])}")
        return
    seen[identity] = here
    if status.st_size == 0:
        yield _refused(found, "skipped", "empty")
    elif status.st_size > rules.max_bytes:
        yield _refused(
            found,
            "skipped",
            f"{status.st_size} bytes, more than the {rules.max_bytes} that imports.max_file_mb allows",
        )
    else:
        yield replace(found, size_bytes=status.st_size)


def _opened_status(path: Path) -> os.stat_result:
    """Return a file's facts after opening it: permissions are only known then."""
    with open_file(path) as file:
        return os.fstat(file.fileno())


def _identity(status: os.stat_result, path: str) -> Identity:
    # some file systems number nothing
    return (status.st_dev, status.st_ino) if status.st_ino else path


def _kind(path: Path, *, follow: bool = True) -> str:
    try:
        mode = path.stat(follow_symlinks=follow).st_mode
    except PermissionError:
        return "file"  # opening it gives the reason
    except (OSError, ValueError):  # a name with a NUL in it exists nowhere
        return "nothing"
    return kind_of(mode)


def _refused(found: Found, status: Status, reason: str) -> Found:
    return replace(found, status=status, reason=reason)


def _said(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _exclusion(line: str) -> Pattern:
    found = pattern(line)
    if found is None:
        raise InputError(
            "exclude",
            line,
            "is not a pattern",
            "Write it like a line of a .gitignore, such as *.log or build/.",
        )
    return found
