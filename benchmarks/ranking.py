"""Rank many public sets through the public API with default settings, beside BM25, dense and plain fusion.

Every item is stored by `remember_many`, or in sets named chat by `remember_conversation`, session
by session with speakers and dates. Every question is asked by `recall`. Source trees are stored by
`import_path` and judged by file: the chunks that come back are read down to distinct files.
LiHua-World and LongMemEval are judged by session: BM25 sees whole sessions, dense the best message
of each. Chroma's corpora, LegalBench-RAG and RepoEval are imported and judged by chunks that hold
an answer. The baselines are exact and see the same texts (of what is imported, the chunks as
stored, with their titles): BM25 with Lucene's formula and repeated query terms counted, cosines of
the default model, and the sum of both after min-max normalisation over the best hundred.

    python -m benchmarks.ranking --data FOLDER --sets cacm,cosqa --out
    benchmarks/results/ranking.json
    clew eval fetch semble SOURCES/semble && python -m benchmarks.ranking --data FOLDER --sources
    SOURCES --sets semble
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

import clew
from benchmarks import ranking_sets
from benchmarks.ranking_sets import Item, Part
from clew.evaluate.cache import CachedEmbedder, cached
from clew.evaluate.datasets import card
from clew.evaluate.datasets import load as load_set
from clew.models.loading import load
from clew.ports import EmbedRole
from clew.text.words import STOP_WORDS, fold, terms, words
from clew.types import Kind

Scores = npt.NDArray[np.float64]
K1, B = 1.2, 0.75
DEPTH = 100  # of min-max normalisation
RESAMPLES = 2000


# --- sets ---


def beir(folder: Path, split: str) -> list[Part]:
    items = [
        Item(row["_id"], row["text"], row.get("title") or "")
        for row in map(json.loads, (folder / "corpus.jsonl").open(encoding="utf-8"))
    ]
    asked = {
        row["_id"]: row["text"]
        for row in map(json.loads, (folder / "queries.jsonl").open(encoding="utf-8"))
    }
    relevant: dict[str, set[str]] = defaultdict(set)
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["score"]) > 0:
                relevant[row["query-id"]].add(row["corpus-id"])
    return [Part(items, [(asked[id], frozenset(found)) for id, found in relevant.items()])]


def multihop(folder: Path, first: int, last: int | None, *, titles: bool) -> list[Part]:
    corpus = json.loads(next(folder.glob("*corpus.json")).read_text(encoding="utf-8"))
    items = [
        Item(str(n), each["text"], each["title"] if titles else "") for n, each in enumerate(corpus)
    ]
    rows = [json.loads(line) for line in (folder / "queries_gold.jsonl").open(encoding="utf-8")][
        first:last
    ]
    return [Part(items, [(row["question"], frozenset(map(str, row["gold_idx"]))) for row in rows])]


def locomo(folder: Path, first: int, last: int, *, chat: bool) -> list[Part]:
    found = []
    for talk in json.loads((folder / "locomo10.json").read_text(encoding="utf-8"))[first:last]:
        items = [
            Item(
                turn["dia_id"],
                f"{turn['speaker']}: {turn['text']}"
                + (f" [{turn['blip_caption']}]" if "blip_caption" in turn else ""),
                "",
                name,
                turn["speaker"],
                datetime.strptime(
                    f"{talk['conversation'][f'{name}_date_time']} +0000", "%I:%M %p on %d %B, %Y %z"
                ).isoformat(),
            )
            for name, turns in talk["conversation"].items()
            if name.startswith("session_") and isinstance(turns, list)
            for turn in turns
        ]
        known = {item.id for item in items}
        asked = [
            (row["question"], frozenset(row.get("evidence", ())) & known) for row in talk["qa"]
        ]
        found.append(Part(items, [(text, ids) for text, ids in asked if ids], chat=chat))
    return found


def small(folder: Path) -> list[Part]:
    stores = yaml.safe_load((folder / "memories.yaml").read_text(encoding="utf-8"))
    return [
        Part(
            [Item(each["key"], each["text"]) for each in store["memories"]],
            [
                (each["ask"], frozenset(each["needs"]))
                for each in store["questions"]
                if each.get("needs")
            ],
        )
        for store in stores.values()
    ]


def code(data: Path, sources: Path, name: str, part: str, **options: Any) -> list[Part]:
    """Return the projects of a code set, each with its files.

    Sources come from SOURCES/NAME, as `clew eval fetch` puts them.
    """
    loaded = load_set(name, data / card(name).folder, part=part, sources=sources / name, **options)
    print(*loaded.notes, sep="\n", end="\n" if loaded.notes else "")
    found = []
    for space in dict.fromkeys(document.space for document in loaded.documents):
        items = [
            Item(each.keys["file"], each.text) for each in loaded.documents if each.space == space
        ]
        asked = [
            (each.text, frozenset(each.relevant["file"]))
            for each in loaded.queries
            if each.space == space
        ]
        found.append(Part(items, [(text, files) for text, files in asked if files], files=True))
    return found


OWN = Path(__file__).parent / "memories"
CODE_SETS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "semble-dev": ("semble", "dev", {}),
    "semble": ("semble", "test", {}),
    "semble-dev-whole": ("semble", "dev", {"whole": True}),
    "semble-whole": ("semble", "test", {"whole": True}),
    "swe-qa-dev": ("swe-qa", "dev", {}),
    "swe-qa": ("swe-qa", "test", {}),
}
FURTHER_CODE: dict[str, Callable[[Path, Path], list[Part]]] = {
    "repoeval": ranking_sets.repoeval,
    "swe-bench": lambda data, sources: ranking_sets.swe_bench(
        data, sources, ("requests", "flask", "seaborn")
    ),
    "swe-bench-all": lambda data, sources: ranking_sets.swe_bench(
        data, sources, ("requests", "flask", "seaborn", "pytest", "xarray")
    ),
}
SETS: dict[str, Callable[[Path], list[Part]]] = {
    "cacm": lambda data: beir(data / "cacm", "test"),
    "scifact": lambda data: beir(data / "beir_scifact", "test"),
    "cosqa": lambda data: beir(data / "cosqa_dev", "dev"),
    "hotpot": lambda data: multihop(data / "hotpot_200", 0, None, titles=True),
    "hotpot-untitled": lambda data: multihop(data / "hotpot_200", 0, None, titles=False),
    "2wiki-dev": lambda data: multihop(data / "2wiki_hipporag", 0, 200, titles=True),
    "2wiki-dev-untitled": lambda data: multihop(data / "2wiki_hipporag", 0, 200, titles=False),
    "2wiki-untitled": lambda data: multihop(data / "2wiki_hipporag", 200, None, titles=False),
    "2wiki": lambda data: multihop(data / "2wiki_hipporag", 200, None, titles=True),
    "locomo-dev": lambda data: locomo(data / "locomo", 0, 4, chat=False),
    "locomo": lambda data: locomo(data / "locomo", 4, 10, chat=False),
    "locomo-chat-dev": lambda data: locomo(data / "locomo", 0, 4, chat=True),
    "locomo-chat": lambda data: locomo(data / "locomo", 4, 10, chat=True),
    "lihua-dev": lambda data: ranking_sets.conversations(
        data, "lihua", "dev", folder="lihua_world"
    ),
    "lihua": lambda data: ranking_sets.conversations(data, "lihua", "test", folder="lihua_world"),
    "longmemeval": lambda data: ranking_sets.conversations(
        data, "longmemeval", "test", folder="longmemeval_oracle", sample=ranking_sets.QUESTIONS
    ),
    "chroma-dev": lambda data: ranking_sets.documents(
        data, "chroma-chunking", "dev", folder="chroma_chunking"
    ),
    "chroma": lambda data: ranking_sets.documents(
        data, "chroma-chunking", "test", folder="chroma_chunking"
    ),
    "legalbench": lambda data: ranking_sets.documents(
        data, "legalbench-rag", "test", folder="legalbench_rag", sample=ranking_sets.QUESTIONS
    ),
    "household": lambda _: small(OWN / "household"),
    "desk": lambda _: small(OWN / "desk"),
}


# --- baselines ---


class Bm25:
    """BM25 with Lucene's IDF over all texts, exact."""

    def __init__(self, texts: Sequence[str], *, groups: Sequence[str] = ()) -> None:
        """Index texts; with groups, such as the session of each message, a group is one text and each of its texts has its score."""
        counts = [Counter(terms(text)) for text in texts]
        self._rows: list[int] | None = None
        if groups:
            whole: dict[str, Counter[str]] = defaultdict(Counter)
            for group, each in zip(groups, counts, strict=True):
                whole[group].update(each)
            places = {group: row for row, group in enumerate(whole)}
            self._rows, counts = [places[group] for group in groups], list(whole.values())
        self.size = len(counts)
        lengths = np.array([sum(each.values()) for each in counts], float)
        self.norms = K1 * (1 - B + B * lengths / lengths.mean())
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, each in enumerate(counts):
            for term, count in each.items():
                postings[term].append((row, count))
        self.postings = {term: np.array(rows) for term, rows in postings.items()}

    def scores(self, question: str) -> Scores:
        asked = [
            term for word in words(question) if fold(word) not in STOP_WORDS for term in terms(word)
        ] or terms(question)
        found = np.zeros(self.size)
        for term, times in Counter(asked).items():
            if term in self.postings:
                rows, counts = self.postings[term].T
                idf = math.log(1 + (self.size - len(rows) + 0.5) / (len(rows) + 0.5))
                found[rows] += times * idf * counts * (K1 + 1) / (counts + self.norms[rows])
        return found if self._rows is None else found[self._rows]


def min_max(scores: Scores) -> Scores:
    best = np.sort(scores)[::-1][:DEPTH]
    return (
        np.clip((scores - best[-1]) / (best[0] - best[-1]), 0, 1)
        if best[0] > best[-1]
        else np.zeros_like(scores)
    )


def ranked(scores: Scores, ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ids[row] for row in np.argsort(-scores, kind="stable")[:DEPTH]))


# --- measures ---


def measures(ranking: Sequence[str], relevant: frozenset[str]) -> dict[str, float]:
    gains = [item in relevant for item in ranking]
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(relevant))))
    return {
        "nDCG@10": sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains[:10])) / ideal,
        "recall@5": sum(gains[:5]) / len(relevant),
        "recall@10": sum(gains[:10]) / len(relevant),
        "all@5": float(sum(gains[:5]) == len(relevant)),
        "all@10": float(sum(gains[:10]) == len(relevant)),
        "MRR": next((1 / rank for rank, gain in enumerate(gains, start=1) if gain), 0.0),
        "hit@1": float(bool(gains) and gains[0]),
    }


def interval(differences: Sequence[float], *, seed: int = 0) -> tuple[float, float, float]:
    """Return the 95 % bootstrap interval of a mean difference, and p of a paired randomisation test."""
    values, draw = np.array(differences), np.random.default_rng(seed)
    means = values[draw.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    flipped = np.abs((draw.choice((-1, 1), (RESAMPLES, len(values))) * values).mean(axis=1))
    low, high = np.percentile(means, (2.5, 97.5))
    return (
        float(low),
        float(high),
        float((1 + (flipped >= abs(values.mean()) - 1e-12).sum()) / (1 + RESAMPLES)),
    )


# --- running ---


def told(memory: clew.Clew, part: Part, space: str) -> dict[str, str]:
    """Store the items as messages; return which item each node is."""
    found: dict[str, str] = {}
    for session in dict.fromkeys(item.session for item in part.items):
        items = [item for item in part.items if item.session == session]
        messages = [
            {"speaker": item.speaker, "text": item.text.removeprefix(f"{item.speaker}: ")}
            for item in items
        ]
        outcome = memory.remember_conversation(
            messages, session=session, space=space, time=items[0].time
        )
        found |= {
            id: item.id
            for item, each in zip(items, outcome.outcomes, strict=True)
            if (id := each.id) is not None
        }
    return found


def stored(memory: clew.Clew, part: Part, space: str) -> dict[str, str]:
    """Store the items as a user would; return which item each memory is."""
    if part.chat:
        return told(memory, part, space)
    # a longer title is the first line of its text
    limit = memory.settings.memory.max_title_characters
    fits = {item.id: len(item.title) <= limit for item in part.items}
    texts = [
        {
            "text": item.text if fits[item.id] else f"{item.title}\n{item.text}",
            "title": item.title if fits[item.id] else "",
            "space": space,
        }
        for item in part.items
    ]
    found: dict[str, str] = {}
    for item, outcome in zip(part.items, memory.remember_many(texts), strict=True):
        if outcome.id is not None:
            found.setdefault(outcome.id, item.id)
        elif len(item.text) > memory.settings.memory.max_characters:
            memory.import_data(item.text, name=f"{item.id}.txt", space=space)
    return found


def imported(memory: clew.Clew, part: Part, folder: Path) -> tuple[dict[str, str], list[str]]:
    """Store the items as the files of a folder.

    Return which file each chunk is of, and the texts of the chunks.
    """
    for item in part.items:
        file = folder / item.id
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(item.text, encoding="utf-8")
    memory.import_path(folder)
    chunks = sorted(
        (node for node in memory.store.nodes() if node.kind is Kind.CHUNK), key=lambda node: node.id
    )
    of = {node.id: Path(node.source).relative_to(folder.resolve()).as_posix() for node in chunks}
    return of, [f"{node.title}\n{node.text}" for node in chunks]


def told_whole(memory: clew.Clew, part: Part) -> tuple[dict[str, str], list[str]]:
    """Store conversations message by message.

    Return which session each message is of, and the texts of the messages.
    """
    of: dict[str, str] = {}
    for session, messages in part.sessions.items():
        outcome = memory.remember_conversation(messages, session=session)
        of |= {id: session for each in outcome.outcomes if (id := each.id) is not None}
    nodes = memory.store.get(list(of))
    return {id: session for id, session in of.items() if id in nodes}, [
        nodes[id].text for id in of if id in nodes
    ]


def by_span(memory: clew.Clew, part: Part, of: Mapping[str, str]) -> list[frozenset[str]]:
    """Return for each question the chunks that answer it."""
    nodes = memory.store.get(list(of))
    chunks = [(of[id], node) for id, node in nodes.items()]
    return [ranking_sets.holding(spans, chunks) for spans in part.spans]


Found = tuple[frozenset[str], dict[str, list[str]]]


def rankings(
    part: Part, embedder: CachedEmbedder, variants: Mapping[str, Mapping[str, Any]]
) -> Iterator[Found]:
    """Yield for each question what is relevant, and what each system found."""
    relevant = [found for _, found in part.questions]
    with (
        tempfile.TemporaryDirectory() as folder,
        clew.open(Path(folder) / "ranking.clew", embedder=embedder) as memory,
    ):
        if part.files:
            of, texts = imported(memory, part, Path(folder) / "files")
            ids = list(of.values())
        elif part.spans:
            of, texts = imported(memory, part, Path(folder) / "files")
            relevant = by_span(memory, part, of)
            of = {id: id for id in of}
            ids = list(of)
        elif part.sessions:
            of, texts = told_whole(memory, part)
            ids = list(of.values())
        else:
            of = stored(memory, part, "default")
            ids = [item.id for item in part.items]
            texts = [
                f"{item.title}\n{item.text}" if item.title else item.text for item in part.items
            ]
        bm25, vectors = (
            Bm25(texts, groups=ids if part.sessions else ()),
            embedder.embed(texts, role=EmbedRole.PASSAGE),
        )
        asked = embedder.embed([text for text, _ in part.questions], role=EmbedRole.QUERY)
        others = {name: memory.variant(**settings) for name, settings in variants.items()}
        for (question, _), answers, vector in zip(part.questions, relevant, asked, strict=True):
            by_words, by_vector = bm25.scores(question), (vectors @ vector).astype(float)
            found = {
                "BM25": ranked(by_words, ids),
                "dense": ranked(by_vector, ids),
                "plain fusion": ranked(min_max(by_words) + min_max(by_vector), ids),
            }
            for name, each in others.items():
                hits = each.recall(question, k=50, track=False).hits
                found[name] = list(dict.fromkeys(of[hit.id] for hit in hits if hit.id in of))
            yield answers, found


def parts_of(name: str, data: Path, sources: Path) -> list[Part]:
    if name in SETS:
        return SETS[name](data)
    if name in FURTHER_CODE:
        return FURTHER_CODE[name](data, sources)
    dataset, part, options = CODE_SETS[name]
    return code(data, sources, dataset, part, **options)


def evaluate(
    name: str,
    folders: tuple[Path, Path],
    embedder: CachedEmbedder,
    variants: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the measures of every system on a set, and how Clew compares with the best baseline."""
    rows: dict[str, list[dict[str, float]]] = defaultdict(list)
    began = time.process_time()
    for part in parts_of(name, *folders):
        for relevant, found in rankings(part, embedder, variants):
            if not relevant:
                continue
            for system, ranking in found.items():
                rows[system].append(measures(ranking, relevant))
    means = {
        system: {key: round(100 * float(np.mean([row[key] for row in each])), 2) for key in each[0]}
        for system, each in rows.items()
    }
    best = max(("BM25", "dense", "plain fusion"), key=lambda system: means[system]["nDCG@10"])
    compared = {
        system: interval(
            [
                100 * (a["nDCG@10"] - b["nDCG@10"])
                for a, b in zip(rows[system], rows[best], strict=True)
            ]
        )
        for system in variants
    }
    return {
        "questions": len(rows["BM25"]),
        "best_baseline": best,
        "means": means,
        "against_best": {
            system: [round(each, 3) for each in found] for system, found in compared.items()
        },
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def variant(text: str) -> tuple[str, dict[str, Any]]:
    """Read NAME:KEY=VALUE,KEY=VALUE."""
    name, _, rest = text.partition(":")
    return name, {
        key: json.loads(value)
        for key, _, value in (pair.partition("=") for pair in rest.split(",") if pair)
    }


def main(arguments: Sequence[str]) -> None:
    """Print the table of all sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of the public sets")
    parser.add_argument(
        "--sources",
        type=Path,
        default=Path("benchmarks/.sources"),
        help="the folder of the source trees, SOURCES/NAME",
    )
    parser.add_argument(
        "--sets",
        default=",".join(SETS),
        help=f"some of {', '.join((*SETS, *CODE_SETS, *FURTHER_CODE))}",
    )
    parser.add_argument(
        "--variant",
        action="append",
        default=[],
        help="NAME:KEY=VALUE,… beside the default settings",
    )
    parser.add_argument(
        "--cache", type=Path, default=Path("benchmarks/.cache"), help="where vectors are kept"
    )
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args(arguments)
    model = load("arctic-embed-s", auto_pull=True)
    if model is None:
        raise SystemExit(
            "The default model is not here. Fetch it with: clew models pull arctic-embed-s"
        )
    embedder = cached(model, chosen.cache)
    variants = {"Clew": {}, **dict(map(variant, chosen.variant))}
    results: dict[str, Any] = {}
    if chosen.out is not None and chosen.out.exists():  # sets may be measured one by one
        results = json.loads(chosen.out.read_text(encoding="utf-8"))
    for name in chosen.sets.split(","):
        results[name] = found = evaluate(name, (chosen.data, chosen.sources), embedder, variants)
        print(f"{name} ({found['questions']} questions, {found['cpu_seconds']} s of CPU)")
        for system, means in found["means"].items():
            against = found["against_best"].get(system)
            beside = (
                ""
                if against is None
                else f"  {against[0]:+.1f} to {against[1]:+.1f} against {found['best_baseline']}, p {against[2]:.3f}"
            )
            print(
                f"  {system:14}"
                + "".join(f"{key} {value:5.1f}  " for key, value in means.items())
                + beside,
                flush=True,
            )
        if chosen.out is not None:
            chosen.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
