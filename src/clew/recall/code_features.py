"""Rank source code by what its files are called, what they define and what kind of files they are.

score += w·(0.8·file_name + 0.25·definition − 0.4·file_kind − 0.2·same_file), w the weight of the relevance

Pure functions of a chunk's path, text and the query. They run only where code is among the best hits; other stores pay nothing.

nDCG@10 over files of semble's questions, all files of the folders that the set names, 103 on dev and 101 on test, at k = 10 | k = 50.
The four weights were chosen on dev. Not blind to test: the rule for older versions (pydantic/v1), documentation as a kind of file, and
how many hits are probed, which were seen on whole trees of two dev and two test projects.

    without           dev 79.3 | 84.5   test 80.4 | 82.6
    file_name alone       82.6 | 87.7        86.1 | 88.9    all but file_name    85.9 | 86.5   86.5 | 86.5
    definition alone      80.7 | 85.6        82.9 | 85.1    all but definition   87.9 | 89.0   89.7 | 90.0
    file_kind alone       80.3 | 85.6        82.5 | 84.0    all but file_kind    87.6 | 88.5   89.3 | 89.5
    same_file alone       83.9 | 84.5        82.6 | 82.6    all but same_file    83.7 | 89.1   87.8 | 90.6
    all four              88.3 | 89.4        90.2 | 90.6

Also tried, and left out: weighing the query's terms by their rarity (−1.3 on dev), the share of the file's name that the query says,
names that the chunk defines against the query's terms (−0.5), and a bonus for files with several good chunks (+0.6, by questions
about architecture alone; it costs 2 on whole trees). Naming in a chunk's title what it defines, or leaving out the imports it uses, gained
nothing either.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePosixPath

from clew.ports import Store
from clew.recall.diversity import repeats
from clew.recall.read_cache import with_nodes
from clew.recall.score import with_components
from clew.recall.state import Component, Hit, LazyHits, Recall
from clew.types import Kind, Node, NodeId
from clew.words import word_terms

FILE_NAME, DEFINITION, FILE_KIND, SAME_FILE = "file_name", "definition", "file_kind", "same_file"
# On dev a plateau: file_name 0.75 to 1.5, definition 0.12 to 0.4, file_kind 0.25 to 0.6, same_file 0.2 to 0.4 move it by 1 point at most.
WEIGHTS: Mapping[str, float] = {FILE_NAME: 0.8, DEFINITION: 0.25, FILE_KIND: 0.4, SAME_FILE: 0.2}
PROBES = (10, 30)  # best hits that are read to see whether there are chunks, and then whether some are code: docs may come first
DEPTH = 100  # hits that are ranked anew, whatever k is: the answer for k is the head of the answer for any larger k
MAX_REPEATS = 4  # better chunks of its file that count against a hit
MIN_PREFIX = 3  # letters: `auth` matches "authentication", `config` "configuration"

CODE_SUFFIXES = frozenset(
    """
    .py .pyi .js .jsx .mjs .cjs .ts .mts .cts .tsx .go .rs .java .c .h .cpp .cc .cxx .hpp .hh .hxx .cs .rb .php .kt .kts .swift .scala
    .lua .r .sh .bash .zsh .ps1 .ex .exs .erl .hs .ml .zig .dart .clj .m .mm .pl .vue .svelte
    """.split()
)
TESTS = frozenset("test tests __tests__ spec specs testing testdata".split())
EXAMPLES = frozenset("example examples _examples sample samples demo demos doc docs docs_src benchmark benchmarks".split())
COPIES = frozenset("compat _compat legacy deprecated vendor vendored _vendor third_party".split())
DEMOTED = TESTS | EXAMPLES | COPIES
DOCUMENTATION = frozenset(word_terms("documentation documents docs readme guide tutorial manual changelog"))
PACKAGE_FILES = frozenset({"__init__.py", "package-info.java"})
PACKAGE_FILE_SHARE = 0.5  # of what a test counts: a file that only hands on what others define
_TEST_FILE = re.compile(r"(?:test_.*|conftest\.\w+|.*(?:[_.](?:test|spec)|[a-z]Tests?|[a-z]Spec)\.\w+)$")
_VERSION = re.compile(r"v(\d{1,3})")

_NAME = re.compile(r"(?P<joint>[.:])?(?P<name>[A-Za-z_$][\w$]*)(?P<call>\()?")
_DEFINITION = re.compile(
    r"(?:^|(?<=\s))(?:class|module|defmodule|def|defp|interface|struct|enum|trait|type|func|function\*?|object|fn|fun|package|namespace|"
    r"protocol|record|typedef|const|let|var|val)[ \t]+(?:\([^()\n]{0,80}\)[ \t]*)?(?:\w{1,80}(?:\.|::)){0,8}(?P<name>[\w$]+)",
    re.MULTILINE,
)


def is_chunk(node: Node) -> bool:
    """Tell whether a node comes from a file."""
    return node.kind is Kind.CHUNK


def is_code(node: Node) -> bool:
    """Tell whether a node is a chunk of a source file, by the ending of the file's name."""
    return is_chunk(node) and PurePosixPath(node.source).suffix.lower() in CODE_SUFFIXES


def path_of(node: Node) -> str:
    """Return the path of a chunk's file as it was imported: below the folder that was named, which stands above its title."""
    return node.title.partition(" > ")[0]


def match_path(terms: Collection[str], path: str) -> float:
    """Return the share of the query's terms that a file's name or its folder says, at least by their first letters.

    >>> match_path(["session", "cooki"], "src/sessions.py"), match_path(["authent"], "web/_auth.py")
    (0.5, 1.0)
    """
    said = _path_terms(path)
    return sum(any(_prefix_match(term, part) for part in said) for term in terms) / len(terms) if terms else 0.0


@lru_cache(maxsize=4096)
def _path_terms(path: str) -> frozenset[str]:
    file = PurePosixPath(path)
    return frozenset(word_terms(f"{file.stem} {file.parent.name}"))


def _prefix_match(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) >= MIN_PREFIX and (one.startswith(other) or other.startswith(one)))


def asked_identifiers(question: str) -> frozenset[str]:
    """Return what of a question may be the name of a definition: one word alone, or words with a capital, an underscore, a dot or a call.

    >>> sorted(asked_identifiers("how pass_context passes the Context to app.use()")), sorted(asked_identifiers("session"))
    (['Context', 'pass_context', 'use'], ['session'])
    """
    found = list(_NAME.finditer(question))
    alone = len(found) == 1 and found[0].group() == question.strip()
    return frozenset(each["name"] for each in found if alone or each["joint"] or each["call"] or _is_identifier(each["name"]))


def _is_identifier(word: str) -> bool:
    return "_" in word or not word.islower()


def defines(text: str, names: Iterable[str]) -> bool:
    """Tell whether a piece of code defines one of these names, rather than using it.

    >>> defines("class Session(Base):", ["Session"]), defines("session = Session()", ["Session"])
    (True, False)
    """
    present = {name for name in names if name in text}
    return bool(present) and any(found["name"] in present for found in _DEFINITION.finditer(text))


def demotion(path: str, terms: Collection[str], *, others: Collection[str] = ()) -> float:
    """Return how much the kind of a file speaks against it, between 0 and 1.

    A test, an example, or a legacy or vendored copy counts 1, unless the query's terms ask for it; so does a folder of an older version
    of a file that is among the others. A file that only hands on the names of its package counts half.

    >>> demotion("tests/app.py", ["rout"]), demotion("tests/app.py", ["test"]), demotion("v1/app.py", [], others={"app.py"})
    (1.0, 0.0, 1.0)
    """
    *folders, name = PurePosixPath(path).parts or ("",)
    kinds = [folder for folder in map(str.lower, folders) if folder in DEMOTED]
    if _TEST_FILE.match(name):
        kinds.append("test")
    if any(not set(word_terms(kind)) & set(terms) for kind in kinds) or _is_superseded(path, others):
        return 1.0
    return PACKAGE_FILE_SHARE if name in PACKAGE_FILES or name.endswith(".d.ts") else 0.0


def _is_superseded(path: str, others: Collection[str]) -> bool:
    """Tell whether the same file stands among the others in a folder of a newer version, or outside of any."""
    parts = path.split("/")
    for at, part in enumerate(parts[:-1]):
        if (version := _VERSION.fullmatch(part)) is None:
            continue
        before, after = parts[:at], parts[at + 1 :]
        newer = (f"v{int(version.group(1)) + step}" for step in (1, 2))
        if "/".join((*before, *after)) in others or any("/".join((*before, each, *after)) in others for each in newer):
            return True
    return False


def roots_of(code: Iterable[Node]) -> tuple[str, ...]:
    """Return the folders that were imported and hold these chunks of code."""
    found = {(node.source.replace("\\", "/"), path_of(node)) for node in code}
    return tuple(sorted({source.removesuffix(path) for source, path in found if source.endswith(f"/{path}")}))


def is_non_code_neighbour(node: Node, roots: tuple[str, ...]) -> bool:
    """Tell whether a node is a chunk of another file in one of these folders: documentation, configuration, data."""
    return is_chunk(node) and not is_code(node) and node.source.replace("\\", "/").startswith(roots)


@dataclass(frozen=True, slots=True)
class CodeFeatures:
    """Rank code by file name, definition and kind of file, and let each further chunk of one file cost more than the one before.

    Documentation and data that were imported from the same folder come behind the code, unless the question asks for documentation.
    """

    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Return the recall with the components of code and its hits sorted by score; the same recall where no hit is code."""
        hits, before = LazyHits.of(recall.hits), recall
        for count, kind in zip(PROBES, (is_chunk, is_code), strict=True):
            recall = with_nodes(recall, hits.ids(count), store=self.store)
            if not any(kind(recall.nodes[id]) for id in hits.ids(count) if id in recall.nodes):
                return before
        recall = with_nodes(recall, hits.ids(DEPTH), store=self.store)
        nodes = {id: recall.nodes[id] for id in hits.ids(DEPTH) if id in recall.nodes}
        code = {id: node for id, node in nodes.items() if is_code(node)}
        roots = roots_of(code.values())
        files = {id: node.source for id, node in nodes.items() if id in code or is_non_code_neighbour(node, roots)}
        scored = self._scored(recall, [hit for hit in hits[:DEPTH] if hit.id in files], code)
        moved = self._penalise_repeats(recall, scored, files)
        return replace(recall, hits=hits.with_replaced(moved))

    def _scored(self, recall: Recall, hits: Sequence[Hit], code: Mapping[NodeId, Node]) -> list[Hit]:
        """Return hits with what their files and definitions count, best first; what is not code has the kind of its file alone."""
        scale = recall.question.weights.semantic
        terms, names = tuple(dict.fromkeys(recall.terms)), asked_identifiers(recall.question.text)
        paths = {id: path_of(node) for id, node in code.items()}
        known = frozenset(paths.values())
        kinds = {path: -demotion(path, terms, others=known) for path in known}
        matches = {path: match_path(terms, path) for path in known}
        beside = 0.0 if DOCUMENTATION.intersection(terms) else -1.0
        scored = []
        for hit in hits:
            path = paths.get(hit.id)
            values = (
                {FILE_KIND: beside}
                if path is None
                else {FILE_NAME: matches[path], DEFINITION: float(defines(code[hit.id].text, names)), FILE_KIND: kinds[path]}
            )
            scored.append(with_components(hit, _components(values, scale)))
        return sorted(scored, key=lambda hit: (-hit.score, hit.id))

    def _penalise_repeats(self, recall: Recall, hits: Sequence[Hit], files: Mapping[NodeId, str]) -> dict[NodeId, Hit]:
        """Return the hits with what better hits of the same file cost them."""
        scale = recall.question.weights.semantic
        counts = repeats(hits, files, penalty=WEIGHTS[SAME_FILE] * scale, most=MAX_REPEATS)
        return {hit.id: with_components(hit, _components({SAME_FILE: -float(counts[hit.id])}, scale)) for hit in hits}


def _components(values: Mapping[str, float], scale: float) -> dict[str, Component]:
    return {name: Component(value, WEIGHTS[name] * scale) for name, value in values.items() if value}
