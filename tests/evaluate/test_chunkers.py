"""Chunkers: exact offsets, equal budgets, nothing lost, always the same."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import InputError, ModelMissingError
from clew.evaluate.chunkers import (
    CHUNK,
    NAMES,
    Chonkie,
    Chunker,
    Fixed,
    Recursive,
    Sized,
    chunker,
    count_tokens,
    cut,
)
from clew.evaluate.data import Dataset, Document, Passage, Query, Span
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole
from clew.types import Vectors

# Words, signs and white space of several scripts, with long words and the marks that count twice.
PIECES = [
    "word",
    "a",
    "don't",
    "naïve",
    "x" * 70,
    "é" + "y" * 40,
    "数据库",
    "हिन्दी",
    ".",
    "! ",
    "_",
    "\n",
    "\n\n",
    " ",
    "\t",
    "\r\n",
    "。",
    "(",
    "٣",
    "\u00a0",
]
TEXTS = st.one_of(
    st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=150).map("".join)
)


def embed(texts: list[str]) -> Vectors:
    return HashingEmbedder(64).embed(texts, role=EmbedRole.PASSAGE)


OUR_NAMES = [name for name in NAMES if not name.startswith("chonkie")]
OURS = st.builds(
    lambda name, size, overlap: chunker(
        name, size=size, overlap=min(overlap, size // 2), embed=embed
    ),
    st.sampled_from(OUR_NAMES),
    st.integers(8, 60),
    st.integers(0, 30),
)


@given(text=TEXTS, ours=OURS)
@settings(max_examples=100)
def test_chunks_are_at_their_offsets_within_the_budget_and_hold_everything(
    text: str, ours: Sized
) -> None:
    chunks = ours.chunk(text, format="python" if ours.name.startswith("code") else "text")
    held: set[int] = set()
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert count_tokens(chunk.text) <= ours.size
        held.update(range(chunk.start, chunk.end))
    assert all(text[at].isspace() for at in range(len(text)) if at not in held)


@given(text=TEXTS, size=st.integers(8, 40))
def test_without_an_overlap_chunks_do_not_overlap(text: str, size: int) -> None:
    for name in OUR_NAMES:
        chunks = chunker(name, size=size, embed=embed).chunk(text)
        assert all(before.end <= after.start for before, after in pairwise(chunks))


@given(
    text=st.lists(st.sampled_from(["one ", "two ", "three, "]), min_size=40, max_size=80).map(
        "".join
    )
)
def test_fixed_windows_overlap_by_what_was_asked_and_no_more(text: str) -> None:
    chunks = Fixed(12, 4).chunk(text)
    for before, after in pairwise(chunks):
        # an overlap ends between words
        assert 3 <= count_tokens(text[after.start : before.end]) <= 4


def test_recursive_keeps_paragraphs_whole_where_they_fit() -> None:
    text = "one two three four five six.\n\nseven eight nine ten.\neleven twelve.\n\nthe last"
    assert [chunk.text for chunk in Recursive(9).chunk(text)] == [
        "one two three four five six.",
        "seven eight nine ten.\neleven twelve.",
        "the last",
    ]


def test_recursive_goes_from_lines_to_sentences_to_words() -> None:
    text = "a b c d e. f g h i j. k l m n o p q r s t u v w\nx y z"
    assert [chunk.text for chunk in Recursive(8).chunk(text)] == [
        "a b c d e.",
        "f g h i j.",
        "k l m n o p q r",
        "s t u v w\nx y z",
    ]


@pytest.mark.parametrize(
    ("size", "overlap", "field"), [(7, 0, "size"), (20, 11, "overlap"), (20, -1, "overlap")]
)
def test_a_size_or_overlap_that_cannot_be_kept_is_refused(
    size: int, overlap: int, field: str
) -> None:
    with pytest.raises(InputError) as caught:
        chunker("fixed", size=size, overlap=overlap)
    assert caught.value.field == field


def test_names_tell_chunkers_and_budgets_apart() -> None:
    made = [chunker(name, size=size, embed=embed).name for name in NAMES for size in (200, 400)]
    assert len(set(made)) == len(made)
    assert chunker("fixed", size=200, overlap=20).name == "fixed-200-20"
    assert chunker("recursive", size=200, overlap=20).name == "recursive-200-20"


def test_unknown_chunkers_and_overlaps_that_would_be_ignored_are_refused() -> None:
    with pytest.raises(InputError, match="fixed, recursive"):
        chunker("clever", size=200)
    with pytest.raises(InputError, match="overlap"):
        chunker("chonkie-recursive", size=200, overlap=20)
    with pytest.raises(InputError, match="recursive or code"):
        Chonkie(200, "neural")


def test_the_semantic_chunker_without_a_model_is_refused_with_a_way_out() -> None:
    with pytest.raises(InputError, match=r"model\.embedder"):
        chunker("semantic", size=200)


def test_a_missing_chonkie_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chonkie", None)
    with pytest.raises(ModelMissingError, match=r"clew\[eval\]"):
        Chonkie(200).chunk("some text")


DOCUMENT = Document(
    id="d",
    text="alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu",
    title="Greek",
    space="s",
    keys={"file": "d.txt"},
)


def dataset(*spans: Span) -> Dataset:
    query = Query(id="q", text="?", space="s", relevant={"file": {"d.txt": 1}}, spans=spans)
    return Dataset(
        name="n",
        part="test",
        queries=(query,),
        documents=(DOCUMENT,),
        levels=("file",),
        licence="",
        data_hash="",
    )


def test_cut_makes_passages_that_inherit_from_their_document() -> None:
    made = cut(dataset(), Fixed(8))
    assert made.documents == () and made.levels == ("file",)
    assert [passage.id for passage in made.passages] == ["d#0", "d#1"]
    for passage in made.passages:
        assert passage.text == DOCUMENT.text[passage.start : passage.end]
        assert (passage.document, passage.title, passage.space, passage.keys) == (
            "d",
            "Greek",
            "s",
            {"file": "d.txt"},
        )


def test_cut_judges_chunks_by_overlap_with_the_answer() -> None:
    at = DOCUMENT.text.index("theta")
    made = cut(dataset(Span("d", at, at + 5)), Fixed(8))
    (relevant,) = made.queries[0].relevant[CHUNK]
    assert made.levels == (CHUNK, "file")
    assert "theta" in next(passage.text for passage in made.passages if passage.id == relevant)


def test_cut_does_not_count_a_chunk_that_only_touches_the_answer() -> None:
    boundary = Fixed(8).chunk(DOCUMENT.text)[1].start
    made = cut(dataset(Span("d", boundary, boundary + 3)), Fixed(8))
    assert list(made.queries[0].relevant[CHUNK]) == ["d#1"]


def test_a_set_with_passages_of_its_own_cannot_be_cut() -> None:
    own = Dataset(
        name="n",
        part="test",
        queries=(),
        passages=(Passage(id="p", text="t"),),
        levels=(),
        licence="",
        data_hash="",
    )
    with pytest.raises(InputError, match="without a chunker"):
        cut(own, Fixed(8))


def peers() -> list[Chunker]:
    return [Chonkie(40, "recursive"), Chonkie(40, "code")]


CODE = "import os\n\n\nclass Näme:\n    '''Doc — ünïcode.'''\n\n" + "".join(
    f"    def method_{n}(self, x):\n        return os.path.join(x, 'é{n}')\n\n" for n in range(12)
)


@pytest.mark.parametrize("format", ["python", "text", "markdown"])
@pytest.mark.parametrize(
    "text",
    [CODE, "x" * 5000, "", " \n ", "One. Two! " * 200],
    ids=["code", "word", "empty", "blank", "prose"],
)
def test_chonkie_keeps_the_same_promises_in_the_same_unit(text: str, format: str) -> None:
    pytest.importorskip("chonkie")
    pytest.importorskip("tree_sitter_language_pack")
    for peer in peers():
        chunks = peer.chunk(text, format=format)
        assert all(
            text[chunk.start : chunk.end] == chunk.text and count_tokens(chunk.text) <= 40
            for chunk in chunks
        )
        held = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
        assert all(text[at].isspace() for at in range(len(text)) if at not in held)
        assert chunks == peer.chunk(text, format=format)


def test_chonkies_code_chunker_cuts_code_elsewhere_than_its_recursive_one() -> None:
    pytest.importorskip("chonkie")
    pytest.importorskip("tree_sitter_language_pack")
    recursive, code = (peer.chunk(CODE, format="python") for peer in peers())
    assert [chunk.start for chunk in recursive] != [chunk.start for chunk in code]
