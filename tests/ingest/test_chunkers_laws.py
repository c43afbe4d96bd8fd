"""What every chunker promises, for any text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.documents.chunkers.blocks import Html, Markdown
from clew.documents.chunkers.code import Code
from clew.documents.chunkers.messages import Conversation
from clew.documents.chunkers.port import (
    Boundary,
    Chunk,
    Chunker,
    ChunkOptions,
    TokenCounter,
    estimate,
)
from clew.documents.chunkers.recursive import Fixed, Recursive
from clew.documents.chunkers.semantic import Semantic
from clew.documents.chunkers.structural import Structural
from clew.text.words import token_estimate
from clew.types import Vectors

# Words, signs and white space of several scripts, with what parts and joins them, and what formats
# give a meaning to.
PIECES = [
    *(
        "word ",
        "a",
        "don't",
        "naïve ",
        "x" * 70,
        "é" + "y" * 40,
        "数据库",
        "हिन्दी",
        "שלום ",
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "e\u0301" * 9,
        "٣",
        "\ud800",
        "\0",
    ),
    *(
        ".",
        "! ",
        "_",
        "(",
        "。",
        "، ",
        "\n",
        "\n\n",
        " ",
        "\t",
        "\r\n",
        "\r",
        "\u00a0",
        "\x0b",
        "\x1c",
        "\x85",
        "\u2028",
    ),
    *(
        "# One\n",
        "\n## Two ##\n",
        "Title\n===\n",
        "```\n",
        "\n~~~~py\n",
        "| a | b |\n|---|---|\n",
        "- item\n",
        "  - inner\n",
        "1. one\n",
        "---\n",
        "> said\n",
    ),
    *(
        "Ann: hello\n",
        "\nBob: ",
        "**Cy**: yes\n",
        "[2024-03-01 10:00] Ann: hi\n",
        "[2024-03-02 10:00] Bob: ho\n",
        "User:\n",
    ),
    *(
        "<p>",
        "</p>",
        "<div class='a'>",
        "</div>",
        "<!-- ",
        " -->",
        "<script>",
        "</script>",
        "<h2>Head</h2>",
        "<li>",
        "&amp;",
        "<",
        ">",
    ),
    *(
        "def f(a):\n",
        "    return a\n",
        "class A:\n",
        "import os\n",
        "fn main() {\n",
        "}\n",
        ";\n",
        "'''",
        '"',
        "/* ",
        " */",
        "//x\n",
    ),
]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=300),
    st.binary(max_size=300).map(lambda data: data.decode("utf-8", errors="replace")),
    st.lists(st.sampled_from(PIECES), max_size=150).map("".join),
)


@st.composite
def options(draw: st.DrawFn) -> ChunkOptions:
    most = draw(st.integers(8, 60))
    target = draw(st.integers(1, most))
    return ChunkOptions(
        max_tokens=most,
        target_tokens=target,
        min_tokens=draw(st.integers(0, target)),
        overlap_tokens=draw(st.integers(0, most // 2)),
    )


def letters(text: str) -> int:
    """A counter that does not add up: every fourth letter, white space too."""
    return -(-len(text) // 4)


COUNTERS: list[TokenCounter] = [
    estimate,
    token_estimate,
    letters,
    lambda text: len(text.encode(errors="replace")),
]


def embed(texts: list[str]) -> Vectors:
    """Vectors by the letters of a text: alike for texts that share them."""
    rows = [
        np.bincount([ord(letter) % 16 for letter in text] or [0], minlength=16) for text in texts
    ]
    return np.array(rows, np.float32).reshape(-1, 16)


def semantic(count: TokenCounter = estimate) -> Semantic:
    return Semantic(embed, count)


MAKERS: list[Callable[..., Chunker]] = [
    Fixed,
    Recursive,
    Conversation,
    Markdown,
    Html,
    Code,
    Structural,
    semantic,
]
FORMATS = ["text", "markdown", "html", "conversation", "python", "rust", "unheard-of"]


def held_by(chunks: tuple[Chunk, ...], text: str) -> set[int]:
    return {at for chunk in chunks for at in range(chunk.start, chunk.end)}


def check(
    chunker: Chunker, count: TokenCounter, text: str, format: str, chosen: ChunkOptions
) -> tuple[Chunk, ...]:
    chunks = chunker.chunk(text, format=format, options=chosen)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip() == chunk.text != ""
        assert count(chunk.text) <= chosen.max_tokens or len(chunk.text) == 1
    held = held_by(chunks, text)
    assert all(text[at].isspace() for at in range(len(text)) if at not in held)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(
        before.start < after.start and before.end < after.end for before, after in pairwise(chunks)
    )
    assert chunks == chunker.chunk(text, format=format, options=chosen)
    return chunks


@pytest.mark.parametrize("make", MAKERS)
@given(
    text=TEXTS,
    chosen=options(),
    which=st.integers(0, len(COUNTERS) - 1),
    format=st.sampled_from(FORMATS),
)
@settings(max_examples=120)
def test_chunks_are_at_their_offsets_within_the_largest_size_and_hold_everything(
    make: Callable[..., Chunker], text: str, chosen: ChunkOptions, which: int, format: str
) -> None:
    check(make(COUNTERS[which]), COUNTERS[which], text, format, chosen)


@pytest.mark.parametrize("make", MAKERS)
@given(text=TEXTS, chosen=options(), format=st.sampled_from(FORMATS))
@settings(max_examples=120)
def test_small_chunks_join_a_neighbour_and_only_size_makes_chunks_overlap(
    make: Callable[..., Chunker], text: str, chosen: ChunkOptions, format: str
) -> None:
    chunks = check(make(), estimate, text, format, chosen)
    for before, after in pairwise(chunks):
        messages = make is Conversation or (make is Structural and format == "conversation")
        if min(estimate(before.text), estimate(after.text)) < chosen.min_tokens and not messages:
            assert estimate(text[before.start : after.end]) > chosen.max_tokens
        if before.boundary is Boundary.SIZE_LIMIT:
            assert estimate(text[after.start : before.end]) <= chosen.overlap_tokens
        else:
            assert before.end <= after.start


@given(
    text=st.lists(
        st.sampled_from(["one ", "two ", "three, ", "four. "]), min_size=60, max_size=90
    ).map("".join)
)
def test_a_chunk_that_ended_for_its_size_is_overlapped_by_the_next(text: str) -> None:
    chosen = ChunkOptions(min_tokens=2, target_tokens=12, max_tokens=16, overlap_tokens=4)
    for make in MAKERS[:-1]:  # the semantic one may end chunks for better reasons
        for before, after in pairwise(make().chunk(text, options=chosen)):
            assert before.boundary is Boundary.SIZE_LIMIT
            assert 2 <= estimate(text[after.start : before.end]) <= 4
