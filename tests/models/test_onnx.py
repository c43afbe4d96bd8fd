"""The default model: right, deterministic, and untroubled by any text."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from clew.errors import ModelError
from clew.models import load
from clew.models.card import TOKENIZER, WEIGHTS
from clew.models.library import ARCTIC_EMBED_S
from clew.models.onnx import OnnxEmbedder
from clew.ports import Embedder, EmbedRole, SpannedText, SupportsTokens, TokenEmbeddings

PASSAGES = [
    "The cat sleeps on the warm windowsill.",
    "To bring postgres back up, run systemctl restart postgresql.",
    "Alice prefers green tea in the morning.",
    "The quarterly report is due on Friday. " * 12,
]
ODD = ["", " ", "\ud800", "\x00", "a\x00b\udfff", "wörter 😀 漢字", "x" * 300, "\u200b"]


@pytest.fixture(scope="module")
def embedder(real_model: Path) -> OnnxEmbedder:
    return OnnxEmbedder(ARCTIC_EMBED_S, lambda: real_model, workers=2)


@pytest.mark.model
def test_the_passage_that_answers_is_nearest_to_the_question(embedder: Embedder) -> None:
    passages = embedder.embed(PASSAGES, role=EmbedRole.PASSAGE)
    for question, answer in [
        ("How do I restart the database?", 1),
        ("What does Alice like to drink?", 2),
        ("Where is the pet?", 0),
    ]:
        query = embedder.embed([question], role=EmbedRole.QUERY)[0]
        assert int(np.argmax(passages @ query)) == answer


@pytest.mark.model
def test_a_text_gets_the_same_bits_alone_and_in_any_batch(embedder: Embedder) -> None:
    texts = PASSAGES + ODD
    together = embedder.embed(texts, role=EmbedRole.PASSAGE)
    backwards = embedder.embed(texts[::-1], role=EmbedRole.PASSAGE)[::-1]
    alone = np.concatenate([embedder.embed([text], role=EmbedRole.PASSAGE) for text in texts])
    assert together.tobytes() == backwards.tobytes() == alone.tobytes()


@pytest.mark.model
def test_vectors_are_float32_of_length_one_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.embed(ODD, role=EmbedRole.QUERY)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(ODD), embedder.dimension) == (len(ODD), 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


@pytest.mark.model
def test_no_text_gives_no_row(embedder: Embedder) -> None:
    assert embedder.embed([], role=EmbedRole.QUERY).shape == (0, 384)


@pytest.mark.model
def test_question_and_passage_are_embedded_differently(embedder: Embedder) -> None:
    question, passage = (
        embedder.embed(["restart the database"], role=role)[0]
        for role in (EmbedRole.QUERY, EmbedRole.PASSAGE)
    )
    assert float(question @ passage) < 0.99


def tokens_of(
    embedder: Embedder, *texts: str | SpannedText, role: EmbedRole = EmbedRole.PASSAGE
) -> TokenEmbeddings:
    assert isinstance(embedder, SupportsTokens)
    return embedder.embed_tokens(
        [SpannedText.whole(text) if isinstance(text, str) else text for text in texts], role=role
    )


@pytest.mark.model
@pytest.mark.parametrize("role", EmbedRole)
def test_the_run_that_gives_tokens_gives_the_same_vector_of_the_text(
    embedder: Embedder, role: EmbedRole
) -> None:
    texts = PASSAGES + ODD
    found = tokens_of(embedder, *texts, role=role)
    assert found.vectors.tobytes() == embedder.embed(texts, role=role).tobytes()
    halves = [SpannedText(text, ((text.index(" ") + 1, len(text)),)) for text in PASSAGES]
    assert (
        tokens_of(embedder, *halves, role=role).vectors.tobytes()
        == embedder.embed(PASSAGES, role=role).tobytes()
    )


@pytest.mark.model
@pytest.mark.parametrize("role", EmbedRole)
def test_each_token_of_the_text_itself_gets_a_unit_vector(
    embedder: OnnxEmbedder, role: EmbedRole
) -> None:
    found = tokens_of(embedder, *PASSAGES, *ODD, role=role)
    assert [len(each) for each in found.tokens] == [embedder.count(text) for text in PASSAGES + ODD]
    rows = np.concatenate(found.tokens)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


@pytest.mark.model
def test_a_token_s_vector_is_what_the_model_makes_of_it_in_the_text(embedder: Embedder) -> None:
    """The question's prefix is read and left out."""
    text = "who repairs the heating"
    asked, told = (tokens_of(embedder, text, role=role).tokens[0] for role in EmbedRole)
    assert not np.allclose(asked, told, atol=1e-2)
    answer, other = tokens_of(
        embedder, "the plumber knows the boiler", "the ferry leaves on Tuesday"
    ).tokens
    assert float((answer @ asked[3]).max()) > float((other @ asked[3]).max()) + 0.1
    river, money, loan = tokens_of(
        embedder, "the bank of the river", "the bank gave a loan", "a bank and its loans"
    ).tokens
    assert float(money[1] @ loan[1]) > float(money[1] @ river[1])


@pytest.mark.model
def test_a_short_text_is_read_amid_its_neighbours_and_keeps_its_own_tokens_alone(
    embedder: OnnxEmbedder,
) -> None:
    title, before, own, after = "Talk\n", "Do you run?\n", "Yes, on Sundays!", "\nNice."
    whole = title + before + own + after
    start = len(title + before)
    found = tokens_of(embedder, SpannedText(whole, ((0, 4), (start, start + len(own)))), whole, own)
    of_spans, of_whole, alone = found.tokens
    skipped = embedder.count(title + before)
    assert np.array_equal(
        of_spans, np.concatenate([of_whole[:1], of_whole[skipped : skipped + len(alone)]])
    )
    assert not np.allclose(of_spans[1:], alone, atol=1e-2)
    assert len(tokens_of(embedder, SpannedText(whole, ())).tokens[0]) == 0


@pytest.mark.model
def test_of_a_long_text_256_tokens_are_kept_and_none_beyond_what_the_model_reads(
    embedder: Embedder,
) -> None:
    long = "word " * 1000
    late = SpannedText(long, ((5 * 400, len(long)),))
    beyond = SpannedText(long, ((5 * 600, len(long)),))
    assert [len(each) for each in tokens_of(embedder, long, late, beyond).tokens] == [
        256,
        embedder.max_tokens - 2 - 400,
        0,
    ]


@pytest.mark.model
def test_tokens_are_the_same_bits_alone_and_in_any_batch(embedder: Embedder) -> None:
    together = tokens_of(embedder, *PASSAGES, *ODD).tokens
    alone = [tokens_of(embedder, text).tokens[0] for text in PASSAGES + ODD]
    assert [each.tobytes() for each in together] == [each.tobytes() for each in alone]
    assert tokens_of(embedder).vectors.shape == (0, 384)


@pytest.mark.model
def test_ten_megabytes_are_cut_to_what_the_model_reads(embedder: Embedder) -> None:
    text = "the same words again and again, " * 40
    assert len(text) < 8192
    assert np.array_equal(
        embedder.embed([text * 8000], role=EmbedRole.PASSAGE),
        embedder.embed([text * 10], role=EmbedRole.PASSAGE),
    )


@pytest.mark.model
def test_many_threads_share_one_load_and_get_the_same_vectors(real_model: Path) -> None:
    located: list[int] = []

    def locate() -> Path:
        located.append(1)
        return real_model

    shared = OnnxEmbedder(ARCTIC_EMBED_S, locate, workers=2)
    results: list[bytes] = []
    threads = [
        threading.Thread(
            target=lambda: results.append(shared.embed(PASSAGES, role=EmbedRole.PASSAGE).tobytes())
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(located) == 1
    assert len(results) == 4
    assert len(set(results)) == 1


@pytest.mark.model
def test_tokens_are_counted_in_the_models_own_vocabulary(real_model: Path) -> None:
    assert OnnxEmbedder(ARCTIC_EMBED_S, lambda: real_model).count("hello world") == 2


def test_a_file_that_is_no_model_says_how_to_check_it(
    tmp_path: Path, tokenizer_json: object
) -> None:
    import json

    assert callable(tokenizer_json)
    (tmp_path / TOKENIZER).write_text(json.dumps(tokenizer_json()), encoding="utf-8")
    (tmp_path / WEIGHTS).write_bytes(b"not a model")
    with pytest.raises(ModelError, match="clew models verify arctic-embed-s"):
        OnnxEmbedder(ARCTIC_EMBED_S, lambda: tmp_path).embed(["x"], role=EmbedRole.QUERY)


def test_a_load_that_failed_is_tried_again(tmp_path: Path) -> None:
    calls: list[int] = []

    def locate() -> Path:
        calls.append(1)
        raise ModelError("not yet")

    embedder = OnnxEmbedder(ARCTIC_EMBED_S, locate)
    for _ in range(2):
        with pytest.raises(ModelError, match="not yet"):
            embedder.embed(["x"], role=EmbedRole.QUERY)
    assert len(calls) == 2


def test_making_the_embedder_loads_neither_the_runtime_nor_the_network_code() -> None:
    code = (
        "import sys\n"
        "from clew.models import load\n"
        "made = load('arctic-embed-s'); load('hashing'); made.id, made.dimension, made.max_tokens\n"
        "heavy = {'onnxruntime', 'urllib.request', 'subprocess', 'zipfile', 'http.client'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_id_names_the_model_and_its_weights() -> None:
    embedder = load("arctic-embed-s")
    assert embedder is not None
    assert (embedder.id, embedder.dimension, embedder.max_tokens) == (
        "arctic-embed-s@f93ff225",
        384,
        512,
    )
