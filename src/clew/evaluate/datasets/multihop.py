"""HippoRAG's multi-hop corpora (2WikiMultiHopQA, MuSiQue, HotpotQA).

Passages, and questions that need several.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from clew.errors import InputError
from clew.evaluate.data import Dataset, Passage, Query
from clew.evaluate.datasets.card import Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record

DEV_QUESTIONS = 200
TITLES = ("apart", "heading", "none")
# 2Wiki has two chains of three at most; facts that all lead to one another would make chains
# without end.
MOST_CHAINS, LONGEST_CHAIN = 64, 32
PARTS = {"dev": "first 200 questions", "test": "the other questions", "all": "all questions"}
_SOURCE = (
    "put {0}_corpus.json and {0}.json of https://huggingface.co/datasets/osunlp/HippoRAG_2 into "
    "one folder; "
    "some are also in https://github.com/OSU-NLP-Group/HippoRAG (folder reproduce/dataset)."
)


def _card(name: str, *, stem: str, title: str, licence: str, folder: str) -> Card:
    return Card(
        name=name,
        title=title,
        licence=licence,
        source=_SOURCE.format(stem),
        folder=folder,
        files=("*_corpus.json", f"queries_gold.jsonl | {stem}.json | {stem}.jsonl"),
        levels=("passage",),
        parts=PARTS,
        options={
            "titles": "where a passage has its title: apart (default), above its text as a "
            "heading, or none at all"
        },
    )


CARDS = (
    _card(
        "2wiki",
        stem="2wikimultihopqa",
        title="2WikiMultiHopQA (HippoRAG split)",
        licence="Apache-2.0 (set), MIT (split)",
        folder="2wiki_hipporag",
    ),
    _card(
        "musique",
        stem="musique",
        title="MuSiQue (HippoRAG split)",
        licence="CC BY 4.0 (set), MIT (split)",
        folder="musique_hipporag",
    ),
    _card(
        "hotpotqa",
        stem="hotpotqa",
        title="HotpotQA (HippoRAG split)",
        licence="CC BY-SA 4.0 (set), MIT (split)",
        folder="hotpotqa_hipporag",
    ),
)


def load(asked: Asked, *, titles: str = "apart") -> Dataset:
    """Return the corpus as passages.

    Gold is given by place in the corpus, or found by title and text.

    The published question files repeat the gold paragraphs: they are looked up by title and text
    without regard to white space, then by a title that only one passage has. What is found by
    neither is reported in the notes.
    """
    if titles not in TITLES:
        raise InputError("titles", titles, "is no place for a title", "Use apart, heading or none.")
    corpus = [
        _passage(n, record)
        for n, record in enumerate(asked.folder.records(asked.folder.one(asked.card.files[0])))
    ]
    index = _Index(corpus)
    unknown: list[str] = []
    questions = list(asked.folder.records(asked.folder.one(asked.card.files[1])))
    seen: set[str] = set()
    queries = [_query(n, question, index, unknown, seen) for n, question in enumerate(questions)]
    notes = counted(len(unknown), "gold paragraphs not in the corpus", unknown)
    return asked.dataset(
        asked.split(queries, dev=DEV_QUESTIONS),
        passages=[_placed(each, titles) for each in corpus],
        notes=notes,
    )


def _passage(n: int, record: Record) -> Passage:
    return Passage(
        id=str(n), text=record.text("text"), title=record.text("title"), keys={"passage": str(n)}
    )


def _placed(passage: Passage, titles: str) -> Passage:
    """Return a passage as somebody would give it who has no field for a title, or no title."""
    if titles == "apart":
        return passage
    return replace(
        passage,
        title="",
        text=f"{passage.title}\n{passage.text}" if titles == "heading" else passage.text,
    )


class _Index:
    """Finds a paragraph of a question in the corpus."""

    def __init__(self, corpus: Sequence[Passage]) -> None:
        self.size = len(corpus)
        self.titles = {passage.id: passage.title for passage in corpus}
        self._whole = {
            _plain(passage.title, passage.text): passage.id for passage in reversed(corpus)
        }
        titles: dict[str, list[str]] = {}
        for passage in corpus:
            titles.setdefault(_plain(passage.title), []).append(passage.id)
        self._title = {title: ids[0] for title, ids in titles.items() if len(ids) == 1}

    def find(self, title: str, text: str) -> str | None:
        return self._whole.get(_plain(title, text)) or self._title.get(_plain(title))


def _plain(*texts: str) -> str:
    return "\0".join("".join(text.split()) for text in texts)


def _query(n: int, question: Record, index: _Index, unknown: list[str], seen: set[str]) -> Query:
    id = next((question.new(field, seen) for field in ("id", "_id") if field in question), str(n))
    gold: dict[str, int] = {}
    if "gold_idx" in question:
        gold = {str(place): 1 for place in _places(question, index.size)}
    else:
        for title, text in _supporting(question):
            if found := index.find(title, text):
                gold[found] = 1
            else:
                unknown.append(f"{title} ({id})")
    category = question.text("type") if "type" in question else ""
    paths = chains(_steps(question, {_plain(index.titles[id]): id for id in gold}))
    return Query(
        id=id,
        text=question.text("question"),
        category=category,
        relevant={"passage": gold},
        paths=paths,
    )


def _steps(question: Record, gold: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the facts of a question that lead from one gold passage to another.

    Subject and object are their titles.
    """
    facts = next(
        (question.values(field) for field in ("evidence", "evidences") if field in question), ()
    )
    named = [
        (_plain(fact[0]), _plain(fact[2]))
        for fact in facts
        if isinstance(fact, list) and len(fact) == 3 and _texts(fact)
    ]
    return [
        (gold[one], gold[other])
        for one, other in named
        if one in gold and other in gold and one != other
    ]


def _texts(fact: list[object]) -> bool:
    return all(isinstance(each, str) for each in fact)


def chains(steps: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Join steps to the longest chains, in order; what leads back to itself ends there.

    >>> chains([("film", "director"), ("director", "mother"), ("other film", "its director")])
    (('film', 'director', 'mother'), ('other film', 'its director'))
    """
    ahead: dict[str, list[str]] = {}
    for one, other in dict.fromkeys(steps):
        ahead.setdefault(one, []).append(other)
    reached = {other for others in ahead.values() for other in others}
    starts = [one for one in ahead if one not in reached] or list(ahead)[
        :1
    ]  # a ring is entered anywhere
    return tuple(
        itertools.islice(
            (path for start in starts for path in _onward((start,), ahead)), MOST_CHAINS
        )
    )


def _onward(path: tuple[str, ...], ahead: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    following = (
        [each for each in ahead.get(path[-1], ()) if each not in path]
        if len(path) < LONGEST_CHAIN
        else []
    )
    if not following:
        yield path
    for each in following:
        yield from _onward((*path, each), ahead)


def _places(question: Record, size: int) -> tuple[int, ...]:
    places = question.numbers("gold_idx")
    if any(not 0 <= place < size for place in places):
        raise question.wrong("gold_idx", f"points outside the corpus of {size} passages")
    return places


def _supporting(question: Record) -> Iterator[tuple[str, str]]:
    """Yield title and text of the supporting paragraphs in any of the published layouts."""
    if (
        "supporting_facts" in question
    ):  # HotpotQA, 2WikiMultiHopQA: [title, [sentences]] and [title, sentence number]
        titles = set(_titles(question))
        yield from (
            (title, " ".join(sentences))
            for title, sentences in _context(question)
            if title in titles
        )
        return
    for paragraph in question.records(
        "paragraphs" if "paragraphs" in question else "contexts"
    ):  # MuSiQue, PopQA
        if paragraph.value.get("is_supporting"):
            yield (
                paragraph.text("title"),
                paragraph.text("text" if "text" in paragraph else "paragraph_text"),
            )


def _titles(question: Record) -> Iterator[str]:
    for n, fact in enumerate(question.values("supporting_facts")):
        match fact:
            case [str(title), *_]:
                yield title
            case _:
                raise question.place.wrong(
                    f"supporting_facts[{n}]", fact, "does not begin with a title"
                )


def _context(question: Record) -> Iterator[tuple[str, list[str]]]:
    for n, pair in enumerate(question.values("context")):
        match pair:
            case [str(title), [*sentences]] if all(
                isinstance(sentence, str) for sentence in sentences
            ):
                yield title, sentences
            case _:
                raise question.place.wrong(
                    f"context[{n}]", pair, "is not a title and a list of sentences"
                )
