"""What does a name of one file stand for, through imports, re-exports and stars?"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clew.ingest.codegraph.modules import FAMILIES, Bound
from clew.ingest.codegraph.scopes import Scopes
from clew.ingest.codegraph.values import STAR, Definition, FileSymbols

MODULE = -1  # the place of what is a module and not a definition
SAME_FILE, IMPORTED, SAME_PACKAGE, THROUGH_STAR = 1.0, 0.95, 0.9, 0.8
PACKAGED = frozenset({"go", "java"})  # files see the names of their package without an import
LONGEST_CHAIN = 8  # files through which a name is passed on
MOST_MEANINGS = 64  # of one name in one file: the files of a package, or stars
MOST_STARS = 64  # files that are looked into for one name
MOST_BASES = 64  # classes that are looked into for one member


class Found(NamedTuple):
    """What a name stands for: a definition of a file, or the modules of several."""

    paths: tuple[str, ...]
    place: int
    """Which of the file's definitions it is, or MODULE."""
    confidence: float


class Names:
    """The names of all files of a tree."""

    def __init__(self, files: Mapping[str, FileSymbols], bound: Mapping[str, Sequence[Bound]]) -> None:
        self.files = files
        self.scopes = {path: Scopes(symbols) for path, symbols in files.items()}
        self._imported: dict[str, dict[str, list[Bound]]] = {path: defaultdict(list) for path in files}
        for importer in sorted(bound):
            for each in dict.fromkeys(bound[importer]):
                if len(self._imported[importer][each.local]) < MOST_MEANINGS:
                    self._imported[importer][each.local].append(each)
        self._foreign = {path: _foreign(files[path], self._imported[path]) for path in files}
        self._known: dict[tuple[str, str], Found | None] = {}
        self._units: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
        for path in sorted(files):
            self._enter(path)

    def definition(self, found: Found) -> Definition:
        """Return the definition that was found."""
        return self.files[found.paths[0]].definitions[found.place]

    def is_foreign(self, path: str, name: str) -> bool:
        """Tell whether a file has a name from outside the tree."""
        return name in self._foreign[path]

    def named(self, path: str, name: str) -> Found | None:
        """Return what a name means at the outermost level of a file, also where the file only passes it on."""
        if (path, name) not in self._known:
            self._known[path, name] = self._named(path, name, set(), LONGEST_CHAIN)
        return self._known[path, name]

    def visible(self, path: str, name: str) -> Found | None:
        """Return what a name means in a file: its own and imported names, then those of its package."""
        found = self.named(path, name)
        return found or (self.in_unit(path, name) if self.files[path].language in PACKAGED else None)

    def in_unit(self, path: str, qualified: str) -> Found | None:
        """Return a definition of the files that belong together with one: a Go package, a header and its source."""
        unit = _unit(path, self.files[path])
        places = self._units.get((unit, qualified), ()) if unit else ()
        near = min(places, key=lambda place: (posixpath.dirname(place[0]) != posixpath.dirname(path), place), default=None)
        return Found((near[0],), near[1], SAME_PACKAGE) if near else None

    def _enter(self, path: str) -> None:
        unit = _unit(path, self.files[path])
        for qualified, index in self.scopes[path].qualified.items() if unit else ():
            self._units[unit, qualified].append((path, index))

    def _named(self, path: str, name: str, seen: set[tuple[str, str]], steps: int) -> Found | None:
        scopes = self.scopes[path]
        index = scopes.outer.get(name, scopes.qualified.get(name) if "." in name else None)
        if index is not None:
            return Found((path,), index, SAME_FILE)
        if (path, name) in seen or not steps or len(seen) > MOST_STARS:
            return None
        seen.add((path, name))
        return self._through_import(path, name, seen, steps) or self._through_star(path, name, seen, steps)

    def _through_import(self, path: str, name: str, seen: set[tuple[str, str]], steps: int) -> Found | None:
        bound = self._imported[path].get(name, ())
        modules = tuple(each.path for each in bound if not each.name)
        if modules:
            return Found(modules, MODULE, IMPORTED)
        for each in bound:
            found = self._named(each.path, each.name, seen, steps - 1) or self._default(each)
            if found is not None:
                return found._replace(confidence=min(found.confidence, IMPORTED))
        return None

    def _default(self, bound: Bound) -> Found | None:
        """Return what a module of JavaScript exports as its default: what has the name it is given here, or its only definition."""
        if bound.name != "default":
            return None
        outer = self.scopes[bound.path].outer
        index = outer.get(bound.local, next(iter(outer.values())) if len(outer) == 1 else None)
        return Found((bound.path,), index, THROUGH_STAR) if index is not None else None

    def _through_star(self, path: str, name: str, seen: set[tuple[str, str]], steps: int) -> Found | None:
        for each in self._imported[path].get(STAR, ()):
            found = self._named(each.path, name, seen, steps - 1)
            if found is not None:
                return found._replace(confidence=min(found.confidence, THROUGH_STAR))
        return None

    def member(self, found: Found, name: str) -> Found | None:
        """Return what a name means inside a module or a class, its bases included."""
        if found.place == MODULE:
            each = (self.named(path, name) for path in found.paths)
            inner = next((one for one in each if one is not None), None)
        else:
            inner = self._of_class(found, name)
        return inner._replace(confidence=min(inner.confidence, found.confidence)) if inner else None

    def _of_class(self, found: Found, name: str) -> Found | None:
        """Return a member of a class or of the nearest class that it is derived from, breadth first."""
        waiting, seen = [found], {found[:2]}
        for each in waiting:  # grows while it is read
            path, owner = each.paths[0], self.definition(each)
            own = self.method(path, owner.qualified, name)
            if own is not None:
                return own
            above = [base for text in owner.bases if (base := self.dotted(path, text)) is not None and base.place != MODULE]
            fresh = [base for base in above if base[:2] not in seen]
            seen.update(base[:2] for base in fresh)
            waiting += fresh if len(seen) <= MOST_BASES else []
        return None

    def method(self, path: str, owner: str, name: str) -> Found | None:
        """Return a definition inside another by the qualified name of the other."""
        index = self.scopes[path].qualified.get(f"{owner}.{name}")
        return Found((path,), index, SAME_FILE) if index is not None else self.in_unit(path, f"{owner}.{name}")

    def dotted(self, path: str, name: str) -> Found | None:
        """Return what a path of names means at the outermost level of a file."""
        parts = name.split(".")[:LONGEST_CHAIN]
        for take in range(len(parts), 0, -1):
            found = self.visible(path, ".".join(parts[:take]))
            for part in parts[take:] if found else ():
                found = self.member(found, part) if found else None
            if found is not None:
                return found
        return None


def _foreign(symbols: FileSymbols, known: Mapping[str, Sequence[Bound]]) -> frozenset[str]:
    """Return the names that a file's imports bring from outside the tree."""
    names = {local for said in symbols.imports for _, local in said.names}
    modules = {said.alias or _first_name(said.module, symbols.language) for said in symbols.imports if not said.names}
    own = {local.partition(".")[0] for local in known}
    return frozenset((names | modules) - own - {STAR})


def _first_name(module: str, language: str) -> str:
    return module.rpartition("/")[2] if language == "go" else module.partition(".")[0]


def _unit(path: str, symbols: FileSymbols) -> str:
    """Return what the files that share their definitions without importing them have in common."""
    if symbols.language == "java":
        return f"java {symbols.package}"
    if symbols.language == "go":
        return f"go {posixpath.dirname(path)}"
    return f"c {posixpath.splitext(posixpath.basename(path))[0]}" if FAMILIES[symbols.language] == "c" else ""
