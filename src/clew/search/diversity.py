"""Diversify hits over documents, sessions and titles: penalise each further hit of one group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from pathlib import PurePosixPath

from clew.ports import Store
from clew.search.score import with_components
from clew.search.state import Component, Hit, LazyHits, Recall, with_nodes
from clew.text.words import word_terms
from clew.types import Kind, Node, NodeId

REPEAT = "repeat"
RELEVANCE = "semantic"
# hits that are diversified, independent of k: the answer for k is a prefix of the answer for any
# larger k
DEPTH = 30


def group_of(node: Node) -> str | None:
    """Return the group of a hit.

    Its session if it is a chat message, else its document, else its title.
    """
    return (node.parent if node.context else node.root) or node.parent or node.title or None


# memories of one title before those of others that are at least half as relevant as the best
TURNS = 2
CROWD_SHARE = 0.5


def is_title(node: Node) -> bool:
    """Return whether the group of a hit is its title: it belongs to no session and no document."""
    return bool(node.title) and node.root is None and node.parent is None


def repeats(
    hits: Sequence[Hit],
    groups: Mapping[NodeId, str | None],
    *,
    penalty: float,
    crowd: float = 0.0,
    titles: Collection[NodeId] = (),
    most: int = DEPTH,
) -> dict[NodeId, int]:
    """Return for each hit the number of better hits of its group, at most `most`, if each of them costs `penalty`.

    A hit of `titles` with `TURNS` better ones costs `crowd` more. Greedy: the next hit is the one
    with the best score after its penalty.

    >>> hits = [Hit(id, score, {}) for id, score in (("a1", 0.9), ("a2", 0.8), ("a3", 0.7), ("b1", 0.65))]
    >>> repeats(hits, {"a1": "a", "a2": "a", "a3": "a", "b1": "b"}, penalty=0.1)
    {'a1': 0, 'a2': 1, 'b1': 0, 'a3': 2}
    """
    queue = [(-hit.score, place, 0, hit) for place, hit in enumerate(hits)]
    heapify(queue)
    taken: Counter[str] = Counter()
    found: dict[NodeId, int] = {}
    while queue:
        _, place, count, hit = queue[0]
        group = groups.get(hit.id)
        due = min(taken[group], most) if group is not None else 0
        if due > count:  # stale entry: more hits of its group were taken since it was queued
            more = crowd if due >= TURNS and hit.id in titles else 0.0
            heapreplace(queue, (penalty * due + more - hit.score, place, due, hit))
            continue
        heappop(queue)
        found[hit.id] = due
        if group is not None:
            taken[group] += 1
    return found


@dataclass(frozen=True, slots=True)
class Diversity:
    """Penalise each further hit of one session, document or title by another `weight`.

    Code is ranked by `code` instead.
    """

    weight: float
    code: Callable[[Recall], Recall] | None
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the component `repeat`, or the code components, and sort the hits by score."""
        hits, when = LazyHits.of(recall.hits), recall.when
        # the question asks for a chronological order
        if when is not None and (when.latest or when.earliest or when.alone):
            return recall
        if len(hits) < 2 or not hits[0].components:
            return recall
        if self.code is not None and (by_file := self.code(recall)) is not recall:
            return by_file
        return self._penalise_repeats(recall, hits) if self.weight else recall

    def _penalise_repeats(self, recall: Recall, hits: LazyHits) -> Recall:
        recall = with_nodes(recall, hits.ids(DEPTH), store=self.store)
        first = hits[:DEPTH]
        groups = {hit.id: group_of(recall.nodes[hit.id]) for hit in first if hit.id in recall.nodes}
        penalty = self.weight * recall.question.weights.semantic
        if not penalty:  # relevance does not count in this preset
            return recall
        titles = frozenset(id for id in groups if is_title(recall.nodes[id]))
        crowd = CROWD_SHARE * max(
            hit.components[RELEVANCE].contribution for hit in first if RELEVANCE in hit.components
        )
        counts = repeats(first, groups, penalty=penalty, crowd=crowd, titles=titles)
        extra = crowd / penalty
        due = {
            id: float(count) + (extra if count >= TURNS and id in titles else 0.0)
            for id, count in counts.items()
            if count
        }
        moved = {
            hit.id: with_components(hit, {REPEAT: Component(-due[hit.id], penalty)})
            for hit in first
            if hit.id in due
        }
        return replace(recall, hits=hits.with_replaced(moved)) if moved else recall


# Rank source code by file name, definitions and kind of file.
#
# score += w·(0.8·file_name + 0.25·definition − 0.4·file_kind − 0.2·same_file), where w is the
# weight of the relevance
#
# Pure functions of a chunk's path, its text and the query. They run only if code is among the best
# hits; other stores pay nothing.
#
# nDCG@10 over files on the questions of semble (103 dev, 101 test), with all files of the folders
# in the set, at k = 10 | k = 50.
# The four weights were chosen on dev. The rule for older versions (pydantic/v1), documentation as a
# kind of file and the number of
# probed hits were chosen on whole trees of two dev and two test projects, so they are not blind to
# test.
#
#     without           dev 79.3 | 84.5   test 80.4 | 82.6
# file_name alone       82.6 | 87.7        86.1 | 88.9    all but file_name    85.9 | 86.5   86.5 |
# 86.5
# definition alone      80.7 | 85.6        82.9 | 85.1    all but definition   87.9 | 89.0   89.7 |
# 90.0
# file_kind alone       80.3 | 85.6        82.5 | 84.0    all but file_kind    87.6 | 88.5   89.3 |
# 89.5
# same_file alone       83.9 | 84.5        82.6 | 82.6    all but same_file    83.7 | 89.1   87.8 |
# 90.6
#     all four              88.3 | 89.4        90.2 | 90.6
#
# Tried and rejected: IDF weights for query terms (−1.3 on dev), the share of the file name that is
# in the query, matching defined
# names with query terms (−0.5), and a bonus for files with several good chunks (+0.6, from
# questions about architecture alone; −2 on
# whole trees). Adding defined names to a chunk's title, or removing imports from its text, gained
# nothing.

FILE_NAME, DEFINITION, FILE_KIND, SAME_FILE = "file_name", "definition", "file_kind", "same_file"
# A plateau on dev: file_name 0.75 to 1.5, definition 0.12 to 0.4, file_kind 0.25 to 0.6, same_file
# 0.2 to 0.4 are within 1 point.
WEIGHTS: Mapping[str, float] = {FILE_NAME: 0.8, DEFINITION: 0.25, FILE_KIND: 0.4, SAME_FILE: 0.2}
PROBES = (10, 30)  # best hits read to check for chunks, then for code: documentation may rank first
# hits that are reranked, independent of k: the answer for k is a prefix of the answer for any
# larger k
CODE_FEATURES_DEPTH = 100
MAX_REPEATS = 4  # better chunks of the same file that are counted against a hit
MIN_PREFIX = 3  # characters: `auth` matches "authentication", `config` "configuration"

CODE_SUFFIXES = frozenset(
    """
    .py .pyi .js .jsx .mjs .cjs .ts .mts .cts .tsx .go .rs .java .c .h .cpp .cc .cxx .hpp .hh .hxx .cs .rb .php .kt .kts .swift .scala
    .lua .r .sh .bash .zsh .ps1 .ex .exs .erl .hs .ml .zig .dart .clj .m .mm .pl .vue .svelte
    """.split()
)
TESTS = frozenset("test tests __tests__ spec specs testing testdata".split())
EXAMPLES = frozenset(
    "example examples _examples sample samples demo demos doc docs docs_src benchmark benchmarks".split()
)
COPIES = frozenset("compat _compat legacy deprecated vendor vendored _vendor third_party".split())
DEMOTED = TESTS | EXAMPLES | COPIES
DOCUMENTATION = frozenset(
    word_terms("documentation documents docs readme guide tutorial manual changelog")
)
PACKAGE_FILES = frozenset({"__init__.py", "package-info.java"})
PACKAGE_FILE_SHARE = 0.5  # demotion of a file that only re-exports names, relative to a test
_TEST_FILE = re.compile(
    r"(?:test_.*|conftest\.\w+|.*(?:[_.](?:test|spec)|[a-z]Tests?|[a-z]Spec)\.\w+)$"
)
_VERSION = re.compile(r"v(\d{1,3})")

_NAME = re.compile(r"(?P<joint>[.:])?(?P<name>[A-Za-z_$][\w$]*)(?P<call>\()?")
_DEFINITION = re.compile(
    r"(?:^|(?<=\s))(?:class|module|defmodule|def|defp|interface|struct|enum|trait|type|func|function\*?|object|fn|fun|package|namespace|"
    r"protocol|record|typedef|const|let|var|val)[ \t]+(?:\([^()\n]{0,80}\)[ \t]*)?(?:\w{1,80}(?:\.|::)){0,8}(?P<name>[\w$]+)",
    re.MULTILINE,
)


def is_chunk(node: Node) -> bool:
    """Return whether a node is a chunk of a file."""
    return node.kind is Kind.CHUNK


def is_code(node: Node) -> bool:
    """Return whether a node is a chunk of a source file, by the suffix of the file name."""
    return is_chunk(node) and PurePosixPath(node.source).suffix.lower() in CODE_SUFFIXES


def path_of(node: Node) -> str:
    """Return the path of a chunk's file relative to the imported folder.

    The first part of the chunk's title.
    """
    return node.title.partition(" > ")[0]


def match_path(terms: Collection[str], path: str) -> float:
    """Return the share of query terms that match a file name or its folder, by prefix.

    >>> match_path(["session", "cooki"], "src/sessions.py"), match_path(["authent"], "web/_auth.py")
    (0.5, 1.0)
    """
    said = _path_terms(path)
    return (
        sum(any(_prefix_match(term, part) for part in said) for term in terms) / len(terms)
        if terms
        else 0.0
    )


@lru_cache(maxsize=4096)
def _path_terms(path: str) -> frozenset[str]:
    file = PurePosixPath(path)
    return frozenset(word_terms(f"{file.stem} {file.parent.name}"))


def _prefix_match(one: str, other: str) -> bool:
    return one == other or (
        min(len(one), len(other)) >= MIN_PREFIX and (one.startswith(other) or other.startswith(one))
    )


def asked_identifiers(question: str) -> frozenset[str]:
    """Return the likely identifiers in a question.

    A single word, or words with a capital, an underscore, a dot or a call.

    >>> sorted(asked_identifiers("how pass_context passes the Context to app.use()")), sorted(asked_identifiers("session"))
    (['Context', 'pass_context', 'use'], ['session'])
    """
    found = list(_NAME.finditer(question))
    alone = len(found) == 1 and found[0].group() == question.strip()
    return frozenset(
        each["name"]
        for each in found
        if alone or each["joint"] or each["call"] or _is_identifier(each["name"])
    )


def _is_identifier(word: str) -> bool:
    return "_" in word or not word.islower()


def defines(text: str, names: Iterable[str]) -> bool:
    """Return whether code defines one of these names, rather than using it.

    >>> defines("class Session(Base):", ["Session"]), defines("session = Session()", ["Session"])
    (True, False)
    """
    present = {name for name in names if name in text}
    return bool(present) and any(found["name"] in present for found in _DEFINITION.finditer(text))


def demotion(path: str, terms: Collection[str], *, others: Collection[str] = ()) -> float:
    """Return the demotion for the kind of a file, from 0 to 1.

    A test, an example, and a legacy or vendored copy get 1 unless a query term asks for it; so does
    an older version of a file in `others`. A file that only re-exports the names of its package
    gets half.

    >>> demotion("tests/app.py", ["rout"]), demotion("tests/app.py", ["test"]), demotion("v1/app.py", [], others={"app.py"})
    (1.0, 0.0, 1.0)
    """
    *folders, name = PurePosixPath(path).parts or ("",)
    kinds = [folder for folder in map(str.lower, folders) if folder in DEMOTED]
    if _TEST_FILE.match(name):
        kinds.append("test")
    if any(not set(word_terms(kind)) & set(terms) for kind in kinds) or _is_superseded(
        path, others
    ):
        return 1.0
    return PACKAGE_FILE_SHARE if name in PACKAGE_FILES or name.endswith(".d.ts") else 0.0


def _is_superseded(path: str, others: Collection[str]) -> bool:
    """Return whether `others` has the same file in the folder of a newer version, or outside any version folder."""
    parts = path.split("/")
    for at, part in enumerate(parts[:-1]):
        if (version := _VERSION.fullmatch(part)) is None:
            continue
        before, after = parts[:at], parts[at + 1 :]
        newer = (f"v{int(version.group(1)) + step}" for step in (1, 2))
        if "/".join((*before, *after)) in others or any(
            "/".join((*before, each, *after)) in others for each in newer
        ):
            return True
    return False


def roots_of(code: Iterable[Node]) -> tuple[str, ...]:
    """Return the imported folders that contain these chunks of code."""
    found = {(node.source.replace("\\", "/"), path_of(node)) for node in code}
    return tuple(
        sorted({source.removesuffix(path) for source, path in found if source.endswith(f"/{path}")})
    )


def is_non_code_neighbour(node: Node, roots: tuple[str, ...]) -> bool:
    """Return whether a node is a chunk of a file that is not code in one of these folders, such as documentation or data."""
    return is_chunk(node) and not is_code(node) and node.source.replace("\\", "/").startswith(roots)


@dataclass(frozen=True, slots=True)
class CodeFeatures:
    """Rank code by file name, definition and kind of file, with a growing penalty for each further chunk of one file.

    Documentation and data from the same imported folder are ranked below the code, unless the
    question asks for documentation.
    """

    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the code components and sort the hits by score.

        Return the same object if no hit is code.
        """
        hits, before = LazyHits.of(recall.hits), recall
        recall = with_nodes(recall, hits.ids(1), store=self.store)
        if not all(is_chunk(recall.nodes[id]) for id in hits.ids(1) if id in recall.nodes):
            # the best hit is a memory: code must not overtake it by the name of its file
            return before
        for count, kind in zip(PROBES, (is_chunk, is_code), strict=True):
            recall = with_nodes(recall, hits.ids(count), store=self.store)
            if not any(kind(recall.nodes[id]) for id in hits.ids(count) if id in recall.nodes):
                return before
        recall = with_nodes(recall, hits.ids(CODE_FEATURES_DEPTH), store=self.store)
        nodes = {id: recall.nodes[id] for id in hits.ids(CODE_FEATURES_DEPTH) if id in recall.nodes}
        code = {id: node for id, node in nodes.items() if is_code(node)}
        roots = roots_of(code.values())
        files = {
            id: node.source
            for id, node in nodes.items()
            if id in code or is_non_code_neighbour(node, roots)
        }
        scored = self._scored(
            recall, [hit for hit in hits[:CODE_FEATURES_DEPTH] if hit.id in files], code
        )
        moved = self._penalise_repeats(recall, scored, files)
        return replace(recall, hits=hits.with_replaced(moved))

    def _scored(
        self, recall: Recall, hits: Sequence[Hit], code: Mapping[NodeId, Node]
    ) -> list[Hit]:
        """Add the file and definition components, best first.

        Hits that are not code get the file kind only.
        """
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
                else {
                    FILE_NAME: matches[path],
                    DEFINITION: float(defines(code[hit.id].text, names)),
                    FILE_KIND: kinds[path],
                }
            )
            scored.append(with_components(hit, _components(values, scale)))
        return sorted(scored, key=lambda hit: (-hit.score, hit.id))

    def _penalise_repeats(
        self, recall: Recall, hits: Sequence[Hit], files: Mapping[NodeId, str]
    ) -> dict[NodeId, Hit]:
        """Add the penalty for better hits of the same file."""
        scale = recall.question.weights.semantic
        counts = repeats(hits, files, penalty=WEIGHTS[SAME_FILE] * scale, most=MAX_REPEATS)
        return {
            hit.id: with_components(hit, _components({SAME_FILE: -float(counts[hit.id])}, scale))
            for hit in hits
        }


def _components(values: Mapping[str, float], scale: float) -> dict[str, Component]:
    return {
        name: Component(value, WEIGHTS[name] * scale) for name, value in values.items() if value
    }
