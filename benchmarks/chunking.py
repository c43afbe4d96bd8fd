"""How fast are texts cut? Megabytes a second of processor time, one process, no embedding but for the semantic chunker.

    python -m benchmarks.chunking [--megabytes 4] [--sources FOLDER] [--model NAME] [--out
    FILE.json]

The texts are what is installed here: descriptions and licences of packages as prose, their sources
as code, and behind them what a folder holds, for the languages that packages hardly ship. Each
chunker cuts them in rounds; `first` is the first round, in which no word is remembered yet, `best`
the best of all. For code the parser alone is timed beside it, by turns, which no chunker by syntax
can beat; `languages` is all code together, its bytes by its seconds. The semantic chunker embeds:
what matters is how much longer it takes than its embedding, for the same units, does.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import distributions
from itertools import chain
from math import fsum
from pathlib import Path

from benchmarks.machine import facts
from clew.documents.chunkers.blocks import Html, Markdown
from clew.documents.chunkers.code import Code
from clew.documents.chunkers.port import Chunker
from clew.documents.chunkers.recursive import Fixed, Recursive
from clew.documents.chunkers.semantic import Semantic
from clew.errors import ClewError
from clew.graph.code.languages import parser_of
from clew.models.library import DEFAULT
from clew.models.loading import load
from clew.ports import EmbedRole
from clew.types import Vectors

PROSE = "text"
LANGUAGES = "languages"
FORMATS = {
    ".py": "python",
    ".js": "javascript",
    ".ts": "typescript",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
}
FORMATS |= {
    ".c": "c",
    ".h": "c",
    ".hpp": "cpp",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".html": "html",
    ".md": "markdown",
}
PROSE_NAMES = ("METADATA", "LICENSE", "NOTICE", "COPYING", "README")
LARGEST = 1_000_000  # letters; code that is larger is not parsed
SEMANTIC_LETTERS = 40_000
ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Spent:
    """The seconds that one chunker took for one format.

    In the first round, in the best, and the parser alone.
    """

    chunker: str
    format: str
    megabytes: float
    first: float
    best: float
    parse: float | None = None


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one chunker cut one format."""

    chunker: str
    format: str
    megabytes: float
    first_mb_s: float
    best_mb_s: float
    parse_mb_s: float | None = None


def main() -> int:
    """Measure, print the table, and write JSON where asked to."""
    options = _parser().parse_args()
    texts = gather(round(options.megabytes * 1e6), options.sources)
    spent = [_spent(chunker, format, texts[format]) for format, chunker in _pairs(texts)]
    speeds = [speed(each) for each in (*spent, *together(spent))]
    semantic = _semantic(texts[PROSE], options.model)
    print(table(speeds, semantic))
    if options.out:
        report = {
            "machine": facts(),
            "speeds": [asdict(speed) for speed in speeds],
            "semantic": semantic,
        }
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    return 0


def gather(letters: int, folder: Path | None = None) -> dict[str, list[str]]:
    """Return up to so many letters of each format, from the files of installed packages and of a folder in a fixed order."""
    found: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for path in chain(_files(), sorted(folder.rglob("*.*")) if folder else ()):
        format = (
            PROSE
            if path.name.startswith(PROSE_NAMES) or path.suffix == ".rst"
            else FORMATS.get(path.suffix)
        )
        if format is None or sizes.get(format, 0) >= letters or not path.is_file():
            continue
        text = path.read_bytes().decode(errors="replace")
        if len(text) <= LARGEST:
            found.setdefault(format, []).append(text)
            sizes[format] = sizes.get(format, 0) + len(text)
    return found


def _files() -> Iterator[Path]:
    for package in sorted(
        distributions(), key=lambda package: str(package.metadata["Name"]).lower()
    ):
        for file in sorted(package.files or (), key=str):
            path = Path(str(package.locate_file(file)))
            yield path


def _pairs(texts: dict[str, list[str]]) -> Iterator[tuple[str, Chunker]]:
    yield PROSE, Recursive()
    yield PROSE, Fixed()
    others: dict[str, Chunker] = {"markdown": Markdown(), "html": Html()}
    for format in sorted(texts.keys() - {PROSE}):
        yield format, others.get(format, Code())


def _spent(chunker: Chunker, format: str, texts: Sequence[str]) -> Spent:
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    chunker.chunk(texts[-1], format=format)  # what is loaded on first use is no part of it
    parse, sources = (
        (parser_of(format).parse, [text.encode() for text in texts])
        if chunker.name == "code"
        else (len, [])
    )
    cut, parsed = [], []
    for _ in range(ROUNDS):  # by turns: a busy moment of the machine befalls both
        cut.append(_seconds(lambda: [len(chunker.chunk(text, format=format)) for text in texts]))
        parsed.append(_seconds(lambda: [parse(source) is None for source in sources]))
    return Spent(
        chunker.name, format, megabytes, cut[0], min(cut), min(parsed) if sources else None
    )


def together(spent: Sequence[Spent]) -> list[Spent]:
    """Return what all languages took together, if any was cut: a tree of sources holds several.

    >>> together([Spent("code", "c", 2.0, 0.5, 0.5, 0.25), Spent("code", "go", 1.0, 0.5, 0.25, 0.125), Spent("fixed", "text", 9, 1, 1)])
    [Spent(chunker='code', format='languages', megabytes=3.0, first=1.0, best=0.75, parse=0.375)]
    """
    code = [each for each in spent if each.parse is not None]
    sums = [
        fsum(each)
        for each in zip(
            *[(each.megabytes, each.first, each.best, each.parse or 0.0) for each in code],
            strict=True,
        )
    ]
    return [Spent(code[0].chunker, LANGUAGES, *sums)] if code else []


def speed(spent: Spent) -> Speed:
    """Return megabytes a second instead of seconds.

    >>> speed(Spent("code", "c", 2.0, 0.5, 0.4, 0.25))
    Speed(chunker='code', format='c', megabytes=2.0, first_mb_s=4.0, best_mb_s=5.0, parse_mb_s=8.0)
    """
    megabytes = spent.megabytes
    first, best = round(megabytes / spent.first, 1), round(megabytes / spent.best, 1)
    parse = None if spent.parse is None else round(megabytes / spent.parse, 1)
    return Speed(spent.chunker, spent.format, round(megabytes, 2), first, best, parse)


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _semantic(texts: Sequence[str], model: str) -> dict[str, object]:
    """Return how much longer cutting by meaning takes than embedding the units, or why that is not known."""
    spent: list[float] = []
    try:
        embedder = load(model)
        if embedder is None:
            return {"missing": "no model was named"}
        embedder.embed(["ready"], role=EmbedRole.PASSAGE)
    except ClewError as error:
        return {"missing": str(error)}

    def embed(units: list[str]) -> Vectors:
        start = time.process_time()
        vectors = embedder.embed(units, role=EmbedRole.PASSAGE)
        spent.append(time.process_time() - start)
        return vectors

    text = "\n\n".join(texts)[:SEMANTIC_LETTERS]
    total = _seconds(lambda: Semantic(embed).chunk(text))
    return {
        "letters": len(text),
        "passes": len(spent),
        "embedding_s": round(sum(spent), 3),
        "ratio": round(total / sum(spent), 4),
    }


def table(speeds: Sequence[Speed], semantic: dict[str, object]) -> str:
    """Return the measurements as Markdown."""
    rows = [
        "| chunker | format | MB | first MB/s | best MB/s | parser alone |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for each in speeds:
        parse = "" if each.parse_mb_s is None else f"{each.parse_mb_s:.1f}"
        rows.append(
            f"| {each.chunker} | {each.format} | {each.megabytes:.2f} | {each.first_mb_s:.1f} | {each.best_mb_s:.1f} | {parse} |"
        )
    facts = ", ".join(f"{name} {value}" for name, value in semantic.items())
    return "\n".join([*rows, "", f"semantic: {facts}"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.chunking", description="How fast are texts cut?"
    )
    parser.add_argument(
        "--megabytes", type=float, default=4.0, help="of each format, at most (default 4)"
    )
    parser.add_argument("--sources", type=Path, help="a folder with more code to cut")
    parser.add_argument(
        "--model", default=DEFAULT, help=f"for the semantic chunker (default {DEFAULT})"
    )
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
