"""The dependency graph of a source tree: which file imports which, which call reaches which definition (B10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.errors import InputError
from clew.ingest.chunkers.languages import GRAMMARS
from clew.ingest.codegraph.calls import Calls
from clew.ingest.codegraph.lookup import IMPORTED, MODULE, Names
from clew.ingest.codegraph.modules import FAMILIES, Bound, SourceTree, resolvers
from clew.ingest.codegraph.symbols import symbols
from clew.ingest.codegraph.values import STAR, Definition, FileSymbols, Import

LONGEST_EVIDENCE = 120  # characters

Said = tuple[str, Import, tuple[Bound, ...]]
"""A file, one of its imports, and what that brings into it."""


class FileLink(NamedTuple):
    """A file imports another."""

    source: str
    target: str
    confidence: float
    evidence: str


class CallLink(NamedTuple):
    """A call at an offset of one file reaches a definition of another, or of the same."""

    source: str
    at: int
    target: str
    definition: Definition
    confidence: float
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeGraph:
    """The files of a tree with their symbols, and what connects them; links are in the order of paths and places."""

    files: Mapping[str, FileSymbols] = field(repr=False)
    imports: tuple[FileLink, ...] = field(repr=False)
    calls: tuple[CallLink, ...] = field(repr=False)
    imports_resolved: int
    """How many import statements lead to a file of the tree; the others lead outside, or nowhere."""

    def neighbours(self, *, min_confidence: float = 0.5) -> dict[str, dict[str, float]]:
        """Return for each file those that it depends on by an import or a call, with the best confidence."""
        found: dict[str, dict[str, float]] = {path: {} for path in sorted(self.files)}
        links = [(link.source, link.target, link.confidence) for link in self.imports]
        links += [(link.source, link.target, link.confidence) for link in self.calls]
        for source, target, confidence in links:
            if source != target and confidence >= min_confidence:
                found[source][target] = max(confidence, found[source].get(target, 0.0))
        return found


def graph(files: Mapping[str, str], languages: Mapping[str, str]) -> CodeGraph:
    r"""Return the graph of source texts by path; a file whose language has no grammar is no part of it.

    >>> texts = {"shop/__init__.py": "", "shop/cart.py": "def total(): ...", "main.py": "from shop.cart import total\ntotal()"}
    >>> made = graph(texts, dict.fromkeys(texts, "python"))
    >>> made.imports[0][:3], made.calls[0].evidence
    (('main.py', 'shop/cart.py', 1.0), 'line 2: total()')
    """
    missing = sorted(set(files) - set(languages))
    if missing:
        raise InputError("languages", missing[0], "says nothing of this file", "Name the language of every file.")
    return assembled({path: symbols(files[path], language=languages[path]) for path in sorted(files) if languages[path] in GRAMMARS})


def assembled(files: Mapping[str, FileSymbols]) -> CodeGraph:
    """Return the graph of files whose symbols are known."""
    tree = SourceTree(files)
    bound, said = _bound(tree)
    names = Names(files, bound)
    return CodeGraph(
        files=files,
        imports=tuple(_file_links(said, names)),
        calls=tuple(_call_links(tree, names)),
        imports_resolved=len(said),
    )


def _bound(tree: SourceTree) -> tuple[dict[str, list[Bound]], list[Said]]:
    """Return what each file's imports bring into it, and each import that leads into the tree."""
    by_family = resolvers(tree)
    bound: dict[str, list[Bound]] = {path: [] for path in tree.paths}
    said: list[Said] = []
    for path in tree.paths:
        found = tree.files[path]
        resolver = by_family[FAMILIES[found.language]]
        for each in found.imports:
            brought = resolver.bound(path, each)
            bound[path] += brought
            said += [(path, each, brought)] if brought else []
    return bound, said


def _file_links(said: Iterable[Said], names: Names) -> list[FileLink]:
    """Link each file to those that it names, and to those that define what it takes through them."""
    best: dict[tuple[str, str], FileLink] = {}
    for path, each, brought in _used(said, names):
        evidence = f"line {each.line}: {_shown(each)}"[:LONGEST_EVIDENCE]
        for bound in brought:
            origin = names.named(bound.path, bound.name) if bound.name not in ("", STAR) else None
            for target in (bound.path, *(origin.paths if origin else ())):
                link = FileLink(path, target, 1.0 if target == bound.path else IMPORTED, evidence)
                known = best.get((path, target))
                if target != path and (known is None or known.confidence < link.confidence):
                    best[path, target] = link
    return [best[key] for key in sorted(best)]


def _used(said: Iterable[Said], names: Names) -> Iterable[Said]:
    """Leave out the files of a package of Go that hold nothing of what is called through its name."""
    called: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path, found in names.files.items():
        for call in found.calls if found.language == "go" else ():
            called[path, call.receiver or STAR].add(call.name)
    for path, each, brought in said:
        wanted = called.get((path, brought[0].local), set())
        holding = tuple(bound for bound in brought if not wanted.isdisjoint(names.scopes[bound.path].outer))
        yield path, each, holding if holding and names.files[path].language == "go" else brought


def _shown(said: Import) -> str:
    """Return an import in one spelling for all languages."""
    names = ", ".join(name if name == local else f"{name} as {local}" for name, local in said.names[:8])
    module = "." * said.level + said.module
    return f"import {names} from {module}" if names else f"import {module}" + (f" as {said.alias}" if said.alias else "")


def _call_links(tree: SourceTree, names: Names) -> Iterable[CallLink]:
    calls = Calls(tree.files, names)
    for path in tree.paths:
        for call in tree.files[path].calls:
            found = calls.reached(path, call)
            if found is not None and found.place != MODULE:
                written = f"{call.receiver}.{call.name}" if call.receiver else call.name
                evidence = f"line {call.line}: {written}()"[:LONGEST_EVIDENCE]
                yield CallLink(path, call.start, found.paths[0], names.definition(found), found.confidence, evidence)
