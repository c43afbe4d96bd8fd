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
from clew.models import catalogue, failures, install, manifest
from clew.models.card import Card, Source
from clew.models.home import OFFLINE_VARIABLE, models_folder, offline
from clew.models.nearest import nearest
from clew.models.sources.checking import check
from clew.ports import Problem, Progress

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
    known = [*catalogue.CATALOGUE, *_added(root)]
    return tuple(Listed(card, install.complete(card, root)) for card in sorted(known, key=lambda card: card.name))


def find(name: str) -> Card:
    """Return the card of a model of the catalogue or one the user added."""
    known = {listed.card.name: listed.card for listed in list_models()}
    if name in known:
        return known[name]
    raise InputError("model", name, "no model of this name is known", nearest(name, known, see="clew models list"))


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
    name: str, *, progress: Progress = silent, announce: Callable[[str], None] = silent, sources: Sequence[Source] | None = None
) -> Path:
    """Fetch a model from the first source that has it, unless it is here and sound; return its folder."""
    card, root = find(name), models_folder()
    if install.complete(card, root) and not verify(name):
        return root / card.folder
    if offline():
        raise missing(name, f"{OFFLINE_VARIABLE} forbids the network")
    with install.writable(root), install.locked(root, name, announce):
        if install.complete(card, root) and not verify(name):  # another process pulled it while we waited
            return root / card.folder
        install.sweep(root)
        path = _from_first(card, card.sources if sources is None else sources, root, progress, announce)
    failures.forget(root, name)
    return path


def _from_first(card: Card, sources: Sequence[Source], root: Path, progress: Progress, announce: Callable[[str], None]) -> Path:
    problems: list[str] = []
    for source in sources:
        announce(f"Pulling {card.name} ({card.size / MEGABYTE:.0f} MB, {card.licence}) from {source.place} into {root}")
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
            problems.append(Problem("model file", str(error), f"clew models pull {name}" if card.sources else "clew models add FILE…"))
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
        if card.name not in catalogue.names() and card.folder == path.parent.name:
            cards.append(card)
    return cards
