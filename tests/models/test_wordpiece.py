"""The tokenizer gives the ids of the reference implementation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from clew.errors import ModelError
from clew.models.card import TOKENIZER
from clew.models.wordpiece import REMEMBERED_WORDS, SLICE_CHARACTERS, WordPiece

CLS, SEP, UNK = 2, 3, 1
LIMIT = 512
REAL_TEXTS = [
    "",
    " ",
    "Hello, world! It's 2024-05-01T10:00:00Z; see https://example.org/a?b=c&d=%20.",
    "Ünïcödé, naïve café — “quotes”… ¿qué? ¡sí!",
    "東京は日本の首都です。 北京是中国的首都。 서울은 한국의 수도",
    "Здравствуй, мир! Ἀθῆναι ὀΣΟΦΌΣ ΟΔΟΣ",
    "مرحبا بالعالم שלום עולם नमस्ते दुनिया สวัสดี",
    "def f(x: int) -> int:\n\treturn x ** 2  # squared\r\n",
    "👩‍👩‍👧‍👦 🇩🇪 e\u0301 \u200b\u200d\ufeff \u00ad İstanbul ǅ ﬁ ½",
    "a" * 100 + " " + "b" * 101,
    "[MASK] [SEP] [CLS] [mask] [UNK] [[SEP]]x[PAD]",
    "tabs\tand\x00nul\x1cand\x85next\u2028line\u3000space",
    "word " * 2000,
]


@pytest.fixture(scope="session")
def ours(real_model: Path) -> WordPiece:
    return WordPiece.from_file(real_model / TOKENIZER)


@pytest.fixture(scope="session")
def reference(real_model: Path) -> Callable[[str], list[int]]:
    tokenizer = Tokenizer.from_file(str(real_model / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LIMIT)
    return lambda text: list(tokenizer.encode(text).ids)


@pytest.mark.model
@pytest.mark.parametrize("text", REAL_TEXTS, ids=lambda text: repr(text[:20]))
def test_text_of_many_kinds_gets_the_ids_of_the_reference(
    ours: WordPiece, reference: Callable[[str], list[int]], text: str
) -> None:
    assert ours.encode(text, max_tokens=LIMIT) == reference(text)


@pytest.mark.model
@settings(max_examples=400)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_any_text_gets_the_ids_of_the_reference(
    ours: WordPiece, reference: Callable[[str], list[int]], text: str
) -> None:
    assert ours.encode(text, max_tokens=LIMIT) == reference(text)


@pytest.mark.model
@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                "e",
                "\u0301",
                "Σ",
                " ",
                "[SEP]",
                "[",
                "中",
                "\u200d",
                "-",
                "\u0344",
                "가",
                "\u1734",
                "\U0001d165",
                "\x1c",
            ]
        )
    ).map("".join)
)
def test_marks_special_tokens_and_controls_in_any_order_get_the_ids_of_the_reference(
    ours: WordPiece, reference: Callable[[str], list[int]], text: str
) -> None:
    assert ours.encode(text, max_tokens=LIMIT) == reference(text)


@pytest.mark.model
def test_every_assigned_code_point_gets_the_ids_of_the_reference(
    ours: WordPiece, reference: Callable[[str], list[int]]
) -> None:
    # All that is assigned; of the planes that are empty or for private use, enough to hit every
    # edge.
    sparse = range(0x32000, 0x110000, 251)
    edges = [
        *range(0xE0000, 0xE0200),
        0xEFFFF,
        0xF0000,
        0xFFFFD,
        0xFFFFE,
        0x100000,
        0x10FFFD,
        0x10FFFE,
        0x10FFFF,
    ]
    points = [point for point in (*range(0x32000), *sparse, *edges) if not 0xD800 <= point < 0xE000]
    for start in range(0, len(points), 100):
        text = " ".join(f"a{chr(point)}b" for point in points[start : start + 100])
        assert ours.encode(text, max_tokens=LIMIT) == reference(text)


@pytest.mark.model
def test_a_text_read_in_many_slices_gets_the_ids_of_the_reference(
    ours: WordPiece, real_model: Path
) -> None:
    tokenizer = Tokenizer.from_file(str(real_model / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    text = "The unaffable [SEP] quick naïve 漢字, is it?\n" * (4 * SLICE_CHARACTERS // 40)
    assert ours.encode(text, max_tokens=10**9) == tokenizer.encode(text).ids


def test_a_word_is_split_into_the_longest_pieces_from_the_left(small: WordPiece) -> None:
    assert small.encode("unaffable", max_tokens=16) == [CLS, 5, 6, 7, SEP]


def test_a_word_with_a_rest_that_is_in_no_vocabulary_is_unknown_as_a_whole(
    small: WordPiece,
) -> None:
    assert small.encode("unaffablez the", max_tokens=16) == [CLS, UNK, 8, SEP]


def test_case_and_accents_are_folded_and_punctuation_and_ideographs_stand_alone(
    small: WordPiece,
) -> None:
    assert small.encode("NAÏVE,漢字!", max_tokens=16) == [CLS, 10, 14, 16, 17, 15, SEP]


def test_words_over_a_hundred_characters_are_unknown(small: WordPiece) -> None:
    assert small.encode("is" + "s" * 98, max_tokens=200)[1:3] == [11, 12]
    assert small.encode("is" + "s" * 99, max_tokens=200) == [CLS, UNK, SEP]


@pytest.mark.parametrize("text", ["the \ud800quick", "the\x00 quick", "\udfffthe quick\ud83d"])
def test_lone_surrogates_and_nul_are_left_out(small: WordPiece, text: str) -> None:
    assert small.encode(text, max_tokens=16) == small.encode("the quick", max_tokens=16)


@pytest.mark.parametrize("limit", [2, 3, 7, 16])
def test_a_long_text_is_cut_and_still_ends_with_sep(small: WordPiece, limit: int) -> None:
    assert small.encode("the " * 100, max_tokens=limit) == [CLS, *[8] * (limit - 2), SEP]


def test_count_counts_the_whole_text_without_cls_and_sep(small: WordPiece) -> None:
    assert small.count("the unaffable " * 5000) == 4 * 5000
    assert small.count("") == 0


def test_only_the_beginning_of_a_huge_text_is_read(small: WordPiece) -> None:
    class Watched(str):
        """Counts the characters that were taken out of it."""

        taken = 0

        def __getitem__(self, key: Any) -> str:
            piece = str.__getitem__(self, key)
            Watched.taken += len(piece)
            return piece

    assert len(small.encode(Watched("the quick " * 1_000_000), max_tokens=16)) == 16
    assert Watched.taken < 3 * SLICE_CHARACTERS


def test_a_huge_text_without_white_space_is_cut_too(small: WordPiece) -> None:
    assert len(small.encode("x" * 10_000_000, max_tokens=16)) == 16


def test_the_memory_for_words_is_bounded(small: WordPiece) -> None:
    small.count(" ".join(f"a{number}" for number in range(REMEMBERED_WORDS + 10)))
    assert len(small._remembered) <= REMEMBERED_WORDS
    assert small.encode("unaffable", max_tokens=16) == [CLS, 5, 6, 7, SEP]


def test_a_tokenizer_that_is_not_berts_is_refused_with_the_reason(
    tmp_path: Path, tokenizer_json: Callable[..., dict[str, Any]]
) -> None:
    path = tmp_path / TOKENIZER
    path.write_text(
        json.dumps(tokenizer_json(pre_tokenizer={"type": "ByteLevel"})), encoding="utf-8"
    )
    with pytest.raises(ModelError, match=r"pre_tokenizer is 'ByteLevel'.*adapter"):
        WordPiece.from_file(path)


@pytest.mark.parametrize("content", ["", "[]", "{}", "not json", '{"model": null}'])
def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / TOKENIZER
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match="WordPiece"):
        WordPiece.from_file(path)


def test_a_missing_tokenizer_is_an_error_of_the_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        WordPiece.from_file(tmp_path / TOKENIZER)
