"""Read the sets of `benchmarks.ranking` that are judged by session or by stretches of text, and code sets without pinned sources.

lihua, longmemeval    messages stored by `remember_conversation`, judged by session. LongMemEval is
a seeded sample: its
                      questions with the pool of their own sessions.
chroma, legalbench    documents stored by `import_path`, judged by chunks that overlap the answer
repoeval              the same for source files: the chunks that hold the missing lines of a
                      function; SOURCES/repoeval/REPOSITORY
                      holds a release with most of them
swe-bench             files that a patch changes; SOURCES/swe-bench/PROJECT-VERSION is the release
                      that the set names
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from clew.evaluate.data import Dataset, Query, Span
from clew.evaluate.datasets import load
from clew.types import Message

SEED = 7
QUESTIONS = 120  # of LongMemEval and LegalBench-RAG
REPOEVAL = "function_level_completion_2k_context_codex.test.jsonl"


@dataclass
class Item:
    """A text to store."""

    id: str
    text: str
    title: str = ""
    session: str = ""
    speaker: str = ""
    time: str = ""


@dataclass
class Part:
    """One space: its items, its questions and what answers each."""

    items: list[Item]
    questions: list[tuple[str, frozenset[str]]]
    chat: bool = False
    """Whether the items are messages, stored session by session."""
    files: bool = False
    """Whether the items are files of a source tree, known by their paths."""
    sessions: dict[str, tuple[Message, ...]] = field(default_factory=dict)
    """Conversations that are judged as wholes, by id."""
    spans: list[tuple[Span, ...]] = field(default_factory=list)
    """For each question the stretches of files that answer it: chunks that overlap them are
    relevant.
    """


def conversations(data: Path, name: str, part: str, *, folder: str, sample: int = 0) -> list[Part]:
    """Return a set of conversations that are judged by session.

    Of a sample, only the sessions of its questions.
    """
    loaded = load(name, data / folder, part=part)
    queries = [query for query in loaded.queries if query.relevant.get("session")]
    said = {passage.keys["session"]: passage.messages for passage in loaded.passages}
    if sample:
        queries = _sample(queries, sample)
        own = _sessions_of(data / folder, {query.id for query in queries})
        said = {id: messages for id, messages in said.items() if id in own}
    questions = [(query.text, frozenset(query.relevant["session"])) for query in queries]
    return [Part([], questions, sessions=said)]


def _sessions_of(folder: Path, questions: set[str]) -> set[str]:
    """Return the sessions of some of LongMemEval's questions."""
    lines = (
        json.loads(line)
        for path in sorted(folder.glob("longmemeval*.jsonl"))
        for line in path.open(encoding="utf-8")
    )
    return {
        id for row in lines if row["question_id"] in questions for id in row["haystack_session_ids"]
    }


def documents(data: Path, name: str, part: str, *, folder: str, sample: int = 0) -> list[Part]:
    """Return a set whose answers are stretches of documents."""
    loaded = load(name, data / folder, part=part)
    return _by_span(loaded, _sample(loaded.queries, sample) if sample else loaded.queries)


def repoeval(data: Path, sources: Path) -> list[Part]:
    """Return the functions of the repositories whose sources are here, one space for each repository."""
    trees = {path.name: path for path in sorted((sources / "repoeval").iterdir()) if path.is_dir()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "datasets").mkdir()
        (folder / "repositories").mkdir()
        for repository, tree in trees.items():
            (folder / "repositories" / repository).symlink_to(
                tree.resolve(), target_is_directory=True
            )
        lines = (data / "repoeval" / "datasets" / REPOEVAL).read_text(encoding="utf-8").splitlines()
        known = [line for line in lines if json.loads(line)["metadata"]["fpath_tuple"][0] in trees]
        (folder / "datasets" / REPOEVAL).write_text("\n".join(known) + "\n", encoding="utf-8")
        loaded = load("repoeval", folder, part="test", task="function")
    print(*loaded.notes, sep="\n")
    return _by_span(loaded, loaded.queries)


def swe_bench(data: Path, sources: Path, projects: Sequence[str]) -> list[Part]:
    """Return the issues of some projects, one space for each commit.

    The release that the set names stands in for the commit.
    """
    [path] = (data / "swe_bench_lite").glob("*test*.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["sdist"].partition("==")[0] in projects]
    parts = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trees").mkdir()
        for row in rows:
            tree = sources / "swe-bench" / row["sdist"].replace("==", "-")
            (folder / "trees" / row["instance_id"]).symlink_to(
                tree.resolve(), target_is_directory=True
            )
        (folder / path.name).write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        loaded = load("swe-bench", folder, part="test", sources=folder / "trees")
    print(*loaded.notes, sep="\n")
    for space in dict.fromkeys(document.space for document in loaded.documents):
        items = [
            Item(each.keys["file"], each.text) for each in loaded.documents if each.space == space
        ]
        asked = [
            (each.text, frozenset(each.relevant["file"]))
            for each in loaded.queries
            if each.space == space
        ]
        if any(files for _, files in asked):
            parts.append(Part(items, [(text, files) for text, files in asked if files], files=True))
    return parts


def _sample(queries: Sequence[Query], count: int) -> list[Query]:
    chosen = set(random.Random(SEED).sample(range(len(queries)), min(count, len(queries))))
    return [query for at, query in enumerate(queries) if at in chosen]


def _by_span(loaded: Dataset, queries: Sequence[Query]) -> list[Part]:
    endings = {"markdown": ".md", "text": ".txt"}
    parts: dict[str, Part] = defaultdict(lambda: Part([], []))
    names: dict[str, str] = {}
    for each in loaded.documents:
        path = PurePosixPath(each.keys.get("file") or each.id)
        names[each.id] = str(path if path.suffix else path.with_suffix(endings[each.format]))
        parts[each.space].items.append(Item(names[each.id], each.text))
    for query in queries:
        parts[query.space].questions.append((query.text, frozenset()))
        parts[query.space].spans.append(
            tuple(Span(names[span.document], span.start, span.end) for span in query.spans)
        )
    return [part for part in parts.values() if part.questions]


def holding(spans: Sequence[Span], chunks: Sequence[tuple[str, Any]]) -> frozenset[str]:
    """Return the ids of the chunks that hold half of a span, or of which a span fills half.

    If there are none, the nearest.

    `chunks` are pairs of a file and a node.
    """
    found: set[str] = set()
    for span in spans:
        shared = {
            node.id: (min(span.end, node.end) - max(span.start, node.start), node.end - node.start)
            for file, node in chunks
            if file == span.document and min(span.end, node.end) > max(span.start, node.start)
        }
        half = {
            id
            for id, (common, size) in shared.items()
            if 2 * common >= min(size, span.end - span.start)
        }
        found |= half or set(sorted(shared, key=lambda id: (-shared[id][0], id))[:1])
    return frozenset(found)
