"""Questions made from call graphs: what does a function reach through the functions that it calls?

The gold path of a question is a chain of definitions in different files, each calling the next, as
the dependency graph has it. The question names only the first: what follows has to be found by
reading. Templates make the questions; a language model may phrase them, and is then named.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clew.errors import InputError
from clew.evaluate.codepaths import code_graphs
from clew.evaluate.data import Dataset, Document, Query
from clew.evaluate.datasets import trees
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Asked
from clew.evaluate.phrasing import Phrasing
from clew.graph.code.graph import CallLink, CodeGraph
from clew.graph.code.values import Definition, DefinitionKind

CARD = Card(
    name="code-paths",
    title="call paths of source trees",
    licence="each project's own (sources)",
    source=(
        "put source trees (folders PROJECT-VERSION/ or PROJECT-VERSION.tar.gz) into one folder; "
        "clew eval fetch swe-qa FOLDER and clew eval fetch semble FOLDER bring some."
    ),
    folder="sources",
    files=("*",),
    levels=("file",),
    parts={"test": "every project", EVERYTHING: "every project"},
    options={
        "projects": "names with commas, of trees in the folder (all)",
        "each": "how many questions of each project and length of path (20)",
        "steps": "the longest path, in calls from file to file (2)",
        "phrased": "a language model that phrases the questions, MODEL@http://HOST/v1 (none)",
    },
)
SURE = 0.9  # confidence of a call: it was resolved through an import or in the same module
LONGEST = 3
SHORTEST = 3  # characters of a name that is asked for
CALLABLE = frozenset({DefinitionKind.FUNCTION, DefinitionKind.METHOD})
REACHED = CALLABLE | {DefinitionKind.CLASS}
ASIDE = frozenset({"test", "tests", "testing", "docs", "examples", "benchmarks"})
"""Folders where no chain begins: a test calls anything."""
TEMPLATES: Mapping[int, tuple[str, ...]] = {
    1: (
        "What does `{name}` call in other files, and how do the two work together?",
        "Which code outside its own file does `{name}` rely on?",
    ),
    2: (
        "Where does the work of `{name}` end up, through what it calls in other files?",
        "Trace the calls of `{name}` through two other files: what happens in each?",
    ),
    3: ("Follow the calls that begin in `{name}` through three other files.",),
}


class Chain(NamedTuple):
    """A definition and the files that its calls lead through, its own file first."""

    name: str
    files: tuple[str, ...]


def load(
    asked: Asked, *, projects: str = "", each: int = 20, steps: int = 2, phrased: str = ""
) -> Dataset:
    """Return the Python files of each project in a space of its own, and the questions on them."""
    if not 1 <= steps <= LONGEST:
        raise InputError("steps", steps, f"is not between 1 and {LONGEST}", "2 is the default.")
    if each < 1:
        raise InputError("each", each, "leaves no question", "Use 1 or more.")
    documents: list[Document] = []
    for project, tree in _trees(asked, projects).items():
        documents += trees.documents(trees.tree(asked.folder, tree), space=project)
    queries = [
        query
        for space, graph in code_graphs(documents).items()
        for query in _queries(space, graph, each=each, steps=steps)
    ]
    notes = ["Questions are made from the call graph by templates."]
    if phrased:
        phrasing = Phrasing(phrased, asked.folder.path)
        queries, note = phrasing.of(queries)
        notes.append(note)
    return asked.dataset(queries, documents=documents, notes=notes)


def _trees(asked: Asked, projects: str) -> dict[str, Path]:
    root = asked.folder.path
    if projects:
        names = [name.strip() for name in projects.split(",") if name.strip()]
        return {name: trees.find_tree(root, name, fetch="swe-qa") for name in names}
    found = {
        path.name.removesuffix(".tar.gz"): path
        for path in asked.folder.all("*")
        if path.is_dir() or path.name.endswith(".tar.gz")
    }
    if not found:
        raise InputError("path", str(root), "holds no source trees", CARD.source)
    return found


def _queries(space: str, graph: CodeGraph, *, each: int, steps: int) -> Iterator[Query]:
    for length in range(1, steps + 1):
        for chain in sorted(_chains(graph, length), key=lambda chain: _drawn(space, chain))[:each]:
            templates = TEMPLATES[length]
            template = templates[_drawn(space, chain)[0] % len(templates)]
            yield Query(
                id=f"{space}/{length}/{chain.files[0]}/{chain.name}",
                text=template.format(name=chain.name),
                space=space,
                category="one call" if length == 1 else f"{length} calls",
                relevant={"file": dict.fromkeys(chain.files, 1)},
                paths=(chain.files,),
            )


def _drawn(space: str, chain: Chain) -> bytes:
    return hashlib.sha256(repr((space, *chain)).encode()).digest()


def _chains(graph: CodeGraph, steps: int) -> Iterator[Chain]:
    """Yield one chain for each definition that has one; its name is no other definition's."""
    named = Counter(each.name for symbols in graph.files.values() for each in symbols.definitions)
    calls: dict[str, list[CallLink]] = {}
    for link in graph.calls:
        if link.confidence >= SURE and link.source != link.target:
            calls.setdefault(link.source, []).append(link)
    for path, symbols in graph.files.items():
        if ASIDE & set(path.split("/")[:-1]):
            continue
        for definition in symbols.definitions:
            known = named[definition.name] == 1 and len(definition.name) > SHORTEST
            if definition.kind in CALLABLE and known:
                found = _walk(calls, path, definition, steps, (path,))
                if found is not None:
                    yield Chain(definition.name, found)


def _walk(
    calls: Mapping[str, Sequence[CallLink]],
    path: str,
    definition: Definition,
    steps: int,
    files: tuple[str, ...],
) -> tuple[str, ...] | None:
    """Return the files of the first chain of so many calls, each into a file not visited yet."""
    if steps == 0:
        return files
    for link in calls.get(path, ()):
        inside = definition.start <= link.at < definition.end
        if inside and link.target not in files and link.definition.kind in REACHED:
            rest = (*files, link.target)
            found = _walk(calls, link.target, link.definition, steps - 1, rest)
            if found is not None:
                return found
    return None
