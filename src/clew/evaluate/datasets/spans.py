"""Sets whose answers are stretches of text: Chroma's chunking evaluation and LegalBench-RAG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clew.evaluate.data import Dataset, Document, Query, Span
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Asked
from clew.evaluate.datasets.record import Record
from clew.parsing import ParseError, parse_json

CHROMA = Card(
    name="chroma-chunking",
    title="Chroma's chunking evaluation",
    licence="MIT",
    source=(
        "put questions_df.csv and the folder corpora of "
        "https://github.com/brandonstarxel/chunking_evaluation "
        "(chunking_evaluation/evaluation_framework/general_evaluation_data) into one folder."
    ),
    folder="chroma_chunking",
    files=("questions_df.csv", "corpora/*.md"),
    levels=("document",),
    parts={
        "dev": "questions on chatlogs and state_of_the_union",
        "test": "questions on the other corpora",
        "all": "all questions",
    },
)
LEGAL = Card(
    name="legalbench-rag",
    title="LegalBench-RAG",
    licence="CC BY 4.0",
    source="unpack the data of https://github.com/zeroentropy-cc/legalbenchrag (benchmarks/ and corpus/) into one folder.",
    folder="legalbench_rag",
    files=("benchmarks/*.json", "corpus/**/*.txt"),
    levels=("document",),
    parts={"test": "all questions: the set has no dev part", "all": "all questions"},
)
DEV_CORPORA = frozenset({"chatlogs", "state_of_the_union"})


def chroma(asked: Asked) -> Dataset:
    """Return the corpora as documents, searched together as published.

    Each question has the spans that answer it.
    """
    documents = {
        path.stem: _document(asked, path, path.stem, format="markdown")
        for path in asked.folder.all("corpora/*.md")
    }
    queries = []
    for n, row in enumerate(asked.folder.rows(asked.folder.one("questions_df.csv"))):
        corpus = row.text("corpus_id")
        if corpus not in documents:
            raise row.wrong("corpus_id", f"has no corpora/{corpus}.md")
        spans = tuple(_reference(reference, documents[corpus]) for reference in _references(row))
        if asked.part == EVERYTHING or (corpus in DEV_CORPORA) == (asked.part == "dev"):
            queries.append(_query(f"q{n}", row.text("question"), corpus, spans))
    return asked.dataset(queries, documents=documents.values())


def _references(row: Record) -> tuple[Record, ...]:
    try:
        return Record({"references": parse_json(row.text("references"))}, row.place).records(
            "references"
        )
    except ParseError as error:
        raise row.wrong("references", str(error)) from error


def _reference(reference: Record, document: Document) -> Span:
    span = Span(document.id, reference.number("start_index"), reference.number("end_index"))
    return _checked(reference, "start_index", span, document, reference.text("content"))


def legal(asked: Asked) -> Dataset:
    """Return the contracts and policies as documents, searched together as published.

    Each question has its spans.
    """
    corpus = asked.folder.path / "corpus"
    paths = {
        path.relative_to(corpus).as_posix(): path for path in asked.folder.all("corpus/**/*.txt")
    }
    documents = {name: _document(asked, path, name, format="text") for name, path in paths.items()}
    queries = []
    for path in asked.folder.all("benchmarks/*.json"):
        for n, test in enumerate(asked.folder.whole(path).records("tests")):
            spans = tuple(_snippet(snippet, documents) for snippet in test.records("snippets"))
            queries.append(_query(f"{path.stem}/{n}", test.text("query"), path.stem, spans))
    return asked.dataset(queries, documents=documents.values())


def _snippet(snippet: Record, documents: Mapping[str, Document]) -> Span:
    name = snippet.text("file_path")
    if name not in documents:
        raise snippet.wrong("file_path", "is not in the folder corpus")
    ends = snippet.numbers("span")
    if len(ends) != 2:
        raise snippet.wrong("span", "is not a start and an end")
    answer = snippet.text("answer") if "answer" in snippet else None
    return _checked(snippet, "span", Span(name, *ends), documents[name], answer)


def _checked(
    record: Record, field: str, span: Span, document: Document, content: str | None
) -> Span:
    """Return the span, or complain when it does not hold what the set says it holds."""
    if not 0 <= span.start < span.end <= len(document.text):
        raise record.wrong(
            field, f"lies outside {document.id}, which has {len(document.text)} characters"
        )
    if content is not None and document.text[span.start : span.end] != content:
        raise record.wrong(field, f"does not point at the quoted text in {document.id}")
    return span


def _document(asked: Asked, path: Path, id: str, *, format: str) -> Document:
    return Document(
        id=id, text=asked.folder.text(path), title=path.stem, format=format, keys={"document": id}
    )


def _query(id: str, text: str, category: str, spans: tuple[Span, ...]) -> Query:
    relevant = {"document": dict.fromkeys((span.document for span in spans), 1)}
    return Query(id=id, text=text, category=category, relevant=relevant, spans=spans)
