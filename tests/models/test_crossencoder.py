"""The reranker of the catalogue: it knows an answer when it reads one, whatever else it reads.

And one of the user's own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.errors import InputError, ModelError, ModelMissingError
from clew.models import library, load, load_reranker
from clew.models import library as catalogue
from clew.models.adding import add
from clew.models.card import TOKENIZER, WEIGHTS, Purpose
from clew.models.library import MS_MARCO_MINILM
from clew.models.onnx import PAIR_TOKENS, QUESTION_TOKENS, CrossEncoder
from clew.models.wordpiece import WordPiece

QUESTION = "How many people live in Berlin?"
TEXTS = [
    "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
    "Berlin is well known for its museums.",
    "New York has many bridges.",
]
ODD = ["", " ", "\ud800", "\x00", "wörter 😀 漢字", "x" * 300, "long " * 4000]


@pytest.fixture(scope="session")
def reranker_folder() -> Path:
    return library.pull(catalogue.RERANKER)


@pytest.fixture(scope="module")
def reranker(reranker_folder: Path) -> CrossEncoder:
    return CrossEncoder(MS_MARCO_MINILM, lambda: reranker_folder, workers=2)


@pytest.mark.model
def test_what_answers_is_first_what_is_about_it_next(reranker: CrossEncoder) -> None:
    answer, about, other = reranker.score(QUESTION, TEXTS)
    assert answer > 5
    assert 0 > about > other


@pytest.mark.model
def test_a_text_has_the_same_score_alone_and_beside_any_other(reranker: CrossEncoder) -> None:
    texts = TEXTS + ODD
    together = reranker.score(QUESTION, texts)
    assert (
        together
        == reranker.score(QUESTION, texts[::-1])[::-1]
        == [reranker.score(QUESTION, [text])[0] for text in texts]
    )


@pytest.mark.model
def test_no_text_needs_no_model() -> None:
    def located() -> Path:
        raise AssertionError("nothing is to be loaded")

    assert CrossEncoder(MS_MARCO_MINILM, located).score(QUESTION, []) == []


@pytest.mark.model
@pytest.mark.parametrize("question", [QUESTION, "why " * 200, ""])
def test_pairs_have_the_ids_of_the_makers_library_and_the_second_is_cut(
    reranker_folder: Path, question: str
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer.from_file(str(reranker_folder / TOKENIZER))
    theirs.no_padding()
    theirs.no_truncation()
    ours = WordPiece.from_file(reranker_folder / TOKENIZER)
    for text in [*TEXTS, "wörter 漢字", "long " * 400, ""]:
        tokens, first = ours.encode_pair(
            question, text, max_tokens=PAIR_TOKENS, first_tokens=QUESTION_TOKENS
        )
        head, whole = theirs.encode(question).ids, theirs.encode(text).ids
        head = head if len(head) <= QUESTION_TOKENS else [*head[: QUESTION_TOKENS - 1], head[-1]]
        assert tokens == [*head, *whole[1:-1][: PAIR_TOKENS - len(head) - 1], whole[-1]]
        assert (first, len(tokens) <= PAIR_TOKENS) == (len(head), True)


def test_one_that_was_not_pulled_says_how_to_pull_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLEW_MODELS", str(tmp_path))
    chosen = load_reranker(catalogue.RERANKER)
    assert chosen is not None
    with pytest.raises(ModelMissingError, match="clew models pull ms-marco-minilm"):
        chosen.score(QUESTION, TEXTS)
    assert not any(tmp_path.iterdir())


def test_models_are_used_for_what_they_are_for() -> None:
    assert MS_MARCO_MINILM.purpose is Purpose.RERANK
    with pytest.raises(InputError, match="ms-marco-minilm is no model for vectors"):
        load(catalogue.RERANKER)
    with pytest.raises(InputError, match="arctic-embed-s is no model for reranking"):
        load_reranker(catalogue.DEFAULT)
    with pytest.raises(InputError, match="no such reranker"):
        load_reranker("ms-marco-minilmm")
    assert load_reranker("none") is None


@pytest.mark.model
def test_a_folder_with_its_card_is_a_reranker_too(reranker_folder: Path) -> None:
    chosen = load_reranker(f"onnx:{reranker_folder}")
    assert chosen is not None
    assert chosen.id == MS_MARCO_MINILM.id
    assert max(chosen.score(QUESTION, TEXTS)) == chosen.score(QUESTION, TEXTS)[0]


@pytest.mark.model
def test_no_pair_is_longer_than_the_model_reads(reranker_folder: Path) -> None:
    ours = WordPiece.from_file(reranker_folder / TOKENIZER)
    tokens, first = ours.encode_pair(
        "why " * 200, "long " * 200, max_tokens=64, first_tokens=QUESTION_TOKENS
    )
    assert (len(tokens), first) == (64, 63)


@pytest.mark.model
def test_a_reranker_of_ones_own_is_added_by_its_name_and_purpose(
    reranker_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLEW_MODELS", str(tmp_path))
    own = add(
        [reranker_folder / WEIGHTS, reranker_folder / TOKENIZER], name="mine", purpose="rerank"
    )
    assert (own.card.name, own.card.purpose) == ("mine", Purpose.RERANK)
    chosen = load_reranker("mine")
    assert chosen is not None
    assert chosen.score(QUESTION, TEXTS)[0] > 5
    with pytest.raises(InputError, match="cannot be used"):
        add(
            [reranker_folder / WEIGHTS, reranker_folder / TOKENIZER],
            name="other",
            dimension=384,
            pooling="cls",
        )


@pytest.mark.model
def test_a_model_of_ones_own_may_share_a_tokenizer_with_a_pinned_one(
    real_model: Path, reranker_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLEW_MODELS", str(tmp_path / "models"))
    (tmp_path / WEIGHTS).write_bytes((real_model / WEIGHTS).read_bytes())
    (tmp_path / TOKENIZER).write_bytes((reranker_folder / TOKENIZER).read_bytes())
    assert (
        add(
            [tmp_path / WEIGHTS, tmp_path / TOKENIZER], name="mixed", dimension=384, pooling="cls"
        ).card.name
        == "mixed"
    )
    with pytest.raises(InputError, match="is missing"):
        add([tmp_path / WEIGHTS, tmp_path / TOKENIZER])


@pytest.mark.model
def test_the_files_of_two_models_are_not_added_as_one(
    real_model: Path, reranker_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLEW_MODELS", str(tmp_path))
    with pytest.raises(
        InputError, match=r"the files of arctic-embed-s and ms-marco-minilm.*one model at a time"
    ):
        add([real_model, reranker_folder])


@pytest.mark.model
def test_an_embedding_model_under_its_card_is_refused_when_it_reads(
    real_model: Path, tmp_path: Path
) -> None:
    for name in (WEIGHTS, TOKENIZER):
        (tmp_path / name).symlink_to(real_model / name)
    with pytest.raises(ModelError, match="a cross-encoder gives one number"):
        CrossEncoder(MS_MARCO_MINILM, lambda: tmp_path).score(QUESTION, TEXTS)
