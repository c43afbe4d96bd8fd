"""Running sums say what counting says, and chunks made with them are those made by counting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.documents.chunkers.blocks import Markdown
from clew.documents.chunkers.code import Code
from clew.documents.chunkers.port import BLOCK, ChunkOptions, RunCounts, TokenCounter, estimate
from clew.documents.chunkers.recursive import Fixed, Recursive
from clew.text.words import token_estimate

PIECES = [
    "word",
    "a",
    "don't",
    "x1'b2'c",
    "rock'n'roll/can't",
    "'",
    "f'abc'",
    "naïve",
    "l’été",
    "数据库",
    "\ud800",
    "👩‍👧",
    "_",
    "(",
    "x" * 70,
]
SPACES = [" ", "\n", "\t", "\r\n", "\n\n", "\u00a0", "\u3000", "\u2028", "  "]
TEXTS = st.lists(st.sampled_from(PIECES + SPACES), max_size=60).map("".join)
COUNTERS = [
    pytest.param(estimate, id="estimate"),
    pytest.param(RunCounts(token_estimate), id="by runs"),
]
SMALL = ChunkOptions(min_tokens=10, target_tokens=40, max_tokens=60, overlap_tokens=8)


def places(text: str) -> list[int]:
    """Return where a text can be parted without tearing a run."""
    return [0, *(match.start() for match in re.finditer(r"\s", text)), len(text)]


@pytest.mark.parametrize("count", COUNTERS)
@given(text=TEXTS)
def test_the_difference_of_two_sums_is_the_size_of_what_stands_between(
    count: RunCounts, text: str
) -> None:
    sums = count.sums(text)
    assert [sums[place] for place in places(text)] == [
        token_estimate(text[:place]) for place in places(text)
    ]


@given(text=TEXTS)
def test_sums_never_fall(text: str) -> None:
    sums = estimate.sums(text).tolist()
    assert sums == sorted(sums)


@pytest.mark.parametrize("count", COUNTERS)
@pytest.mark.parametrize(
    "unit",
    ["some words, don't you think? ", "数据库 naïve ", "x"],
    ids=["English", "foreign", "one run"],
)
def test_sums_go_on_over_the_blocks_of_a_long_text(count: RunCounts, unit: str) -> None:
    text = unit * (2 * BLOCK // len(unit) + 1)
    assert count.sums(text)[len(text)] == count(text)


@pytest.mark.parametrize(
    "chunker", [Recursive, Fixed, Markdown], ids=lambda chunker: chunker.__name__.lower()
)
@given(text=TEXTS)
def test_chunks_are_the_same_by_sums_and_by_counting(
    chunker: type[Recursive | Fixed | Markdown], text: str
) -> None:
    long = f"{text} {'Some more words follow, so that sums are made. ' * 60}{text}"
    assert chunker().chunk(long, format="markdown", options=SMALL) == chunker(counted).chunk(
        long, format="markdown", options=SMALL
    )


@pytest.mark.parametrize(
    "chunker", [Recursive, Fixed], ids=lambda chunker: chunker.__name__.lower()
)
@given(text=TEXTS)
def test_a_text_below_the_target_is_one_chunk_however_it_is_counted(
    chunker: type[Recursive | Fixed], text: str
) -> None:
    options = ChunkOptions(
        min_tokens=10, target_tokens=max(10, estimate(text)), max_tokens=2000, overlap_tokens=8
    )
    chunks = chunker().chunk(text, options=options)
    assert [chunk.text for chunk in chunks] == [text.strip()] * bool(text.strip())
    assert chunks == chunker(counted).chunk(text, options=options)


def counted(text: str) -> int:
    """Count without sums."""
    return estimate(text)


@pytest.mark.parametrize("options", [ChunkOptions(), SMALL], ids=["default", "small"])
def test_code_is_cut_the_same_by_sums_and_by_counting(options: ChunkOptions) -> None:
    sources = [
        path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))
    ]
    by: list[list[object]] = [
        [Code(count).chunk(text, format="python", options=options) for text in sources]
        for count in _ways()
    ]
    assert by[0] == by[1]


def _ways() -> tuple[TokenCounter, TokenCounter]:
    return estimate, counted
