"""Fetching the pinned sources.

From the configured index, only the pinned bytes, nothing run, nothing outside.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from clew.errors import DownloadError, InputError
from clew.evaluate.datasets import fetching
from clew.evaluate.datasets.fetching import PINS, Pin, fetch_sources, unpack
from clew.evaluate.datasets.package_pages import Index, parse_settings, usual_page


def archive(members: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as packed:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            packed.addfile(member, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("tool-1.0/link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    return content.getvalue()


SOURCES = archive(
    {
        "tool-1.0/src/tool.py": "x = 1\n",
        "tool-1.0/README.md": "# Tool\n",
        "tool-1.0/logo.png": "no",
        "tool-1.0/setup.sh": "no",
    }
)


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> Pin:
    pin = Pin("tool", "1.0", hashlib.sha256(SOURCES).hexdigest())
    monkeypatch.setattr(fetching, "PINS", {"swe-qa": (pin,)})
    return pin


def simple_index(folder: Path, content: bytes) -> Index:
    """Write a package index as pip reads it: a page for each project with links relative to it."""
    (folder / "files").mkdir(parents=True)
    (folder / "files/tool-1.0.tar.gz").write_bytes(content)
    (folder / "simple/tool").mkdir(parents=True)
    page = '<a href="../../files/tool-0.9.tar.gz">tool-0.9.tar.gz</a><a href="../../files/tool-1.0.tar.gz#sha256=00">tool-1.0.tar.gz</a>'
    (folder / "simple/tool/index.html").write_text(page, encoding="utf-8")
    return Index(pages=((folder / "simple").as_uri(),))


@pytest.mark.usefixtures("pinned")
def test_sources_come_from_the_index_as_text_files_only(tmp_path: Path) -> None:
    (folder,) = fetch_sources(tmp_path / "sources", index=simple_index(tmp_path, SOURCES))
    assert sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    ) == ["README.md", "src/tool.py"]
    assert list((tmp_path / "sources").iterdir()) == [folder]


@pytest.mark.usefixtures("pinned")
def test_sources_also_come_from_a_folder_of_files(tmp_path: Path) -> None:
    (tmp_path / "tool-1.0.tar.gz").write_bytes(SOURCES)
    (folder,) = fetch_sources(tmp_path / "sources", index=Index(pages=(), links=(str(tmp_path),)))
    assert (folder / "src/tool.py").read_text(encoding="utf-8") == "x = 1\n"


@pytest.mark.usefixtures("pinned")
def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "tool-1.0").mkdir()
    assert fetch_sources(tmp_path, index=Index(pages=())) == (tmp_path / "tool-1.0",)


@pytest.mark.usefixtures("pinned")
def test_other_bytes_than_the_pinned_ones_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    other = archive({"tool-1.0/src/tool.py": "x = 2\n"})
    with pytest.raises(DownloadError, match="SHA-256"):
        fetch_sources(tmp_path / "sources", index=simple_index(tmp_path, other))
    assert list((tmp_path / "sources").iterdir()) == []


@pytest.mark.usefixtures("pinned")
def test_an_index_without_the_file_or_out_of_reach_is_said(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="could not be fetched"):
        fetch_sources(
            tmp_path,
            index=Index(
                pages=("http://user:secret@127.0.0.1:9/simple", "gopher://x"),
                links=(str(tmp_path),),
            ),
        )


@pytest.mark.usefixtures("pinned")
def test_secrets_in_an_address_are_not_shown(tmp_path: Path) -> None:
    with pytest.raises(DownloadError) as caught:
        fetch_sources(tmp_path, index=Index(pages=("http://user:secret@127.0.0.1:9/simple",)))
    assert "secret" not in caught.value.message


@pytest.mark.usefixtures("pinned")
def test_offline_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_OFFLINE", "1")
    with pytest.raises(DownloadError, match="CLEW_OFFLINE"):
        fetch_sources(tmp_path)


@pytest.mark.parametrize(
    "name", ["tool-1.0/../../evil.py", "/evil.py", "tool-1.0\\..\\evil.py", "C:/evil.py"]
)
def test_a_path_that_leads_outside_is_refused_and_nothing_is_left(
    tmp_path: Path, name: str
) -> None:
    target = tmp_path / "deep/tool-1.0"
    target.parent.mkdir()
    with pytest.raises(InputError, match="outside"):
        unpack(archive({"tool-1.0/fine.py": "", name: "x = 1\n"}), target)
    assert [path for path in tmp_path.rglob("*") if path != target.parent] == []


def test_a_damaged_archive_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="source distribution"):
        unpack(SOURCES[: len(SOURCES) // 2], tmp_path / "tool-1.0")


def test_the_index_is_what_pip_is_configured_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv(
        "PIP_EXTRA_INDEX_URL", "https://more.example/simple https://most.example/simple"
    )
    monkeypatch.setenv("PIP_FIND_LINKS", "/srv/wheels")
    index = Index.configured()
    assert index.pages == (
        "https://index.example/simple",
        "https://more.example/simple",
        "https://most.example/simple",
    )
    assert index.links == ("/srv/wheels",)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert Index.configured().pages == ()


def test_settings_without_an_index_mean_the_public_one() -> None:
    assert usual_page().startswith("https://")
    assert parse_settings("global.extra-index-url='a\\nb'\nnonsense\ninstall.index-url='c'") == {
        "extra-index-url": "a\nb"
    }


def test_every_project_of_the_sets_is_pinned() -> None:
    assert [pin.name for pin in PINS["swe-qa"]] == [
        "flask-3.1.2",
        "requests-2.32.5",
        "pytest-8.4.2",
        "xarray-2025.9.0",
        "sqlfluff-3.4.2",
    ]
    assert len(PINS["semble"]) == 10
    assert all(len(pin.sha256) == 64 for pins in PINS.values() for pin in pins)


def test_a_package_of_npm_comes_from_a_folder_that_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        fetching,
        "PINS",
        {"semble": (Pin("tool", "1.0", hashlib.sha256(SOURCES).hexdigest(), npm=True),)},
    )
    (tmp_path / "tool-1.0.tgz").write_bytes(SOURCES)
    (folder,) = fetch_sources(
        tmp_path / "sources", dataset="semble", index=Index(links=(str(tmp_path),))
    )
    assert (folder / "src/tool.py").is_file()


def test_a_set_without_sources_cannot_be_fetched(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="swe-qa, semble"):
        fetch_sources(tmp_path, dataset="locomo")
