"""Devices, pipes, endless streams and values nested without end are refused at once, wherever a path or a document is taken."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

import clew
from clew.errors import ClewError, InputError, SettingError
from clew.files import bounded_lines, open_file, read_file, read_stream
from clew.parsing import MAX_DEPTH, ParseError, parse_json, parse_toml, parse_yaml
from clew.settings import load as load_settings
from clew.settings.loading import MAX_CONFIG_BYTES
from clew.settings.report import template
from tests.evaluate.sample import beir_folder
from tests.surface.conftest import Cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names, no /dev")
TEXT = "The staging database listens on port 5433"

# With a pipe that nobody writes to: opening it as a file would wait for ever. A link to /dev/zero
# never ends.
READERS: dict[str, tuple[str, ...]] = {
    "settings": ("list", "--config", "X"),
    "load": ("load", "X"),
    "replay": ("replay", "X"),
    "restore": ("restore", "X"),
    "store": ("list", "--store", "X"),
    "new store": ("init", "--no-model", "--store", "X"),
    "writing": ("add", TEXT, "--store", "X"),
    "backup to a store": ("backup", "new.clew", "--store", "X"),
    "model": ("models", "add", "X"),
    "eval report": ("eval", "report", "X"),
    "eval set": ("eval", "run", "--dataset", "beir", "--path", "X"),
    "raw bytes": ("forget", "--verify", "canary", "--store", "X"),
}
WRITERS: dict[str, tuple[str, ...]] = {
    "export": ("export", "X"),
    "export over it": ("export", "X", "--force"),
    "backup": ("backup", "X"),
    "trace": ("recall", "port", "--save-trace", "X"),
    "restore to it": ("restore", "backup.clew", "--store", "X"),
    "restore over it": ("restore", "backup.clew", "--force", "--store", "X"),
    "demo": ("demo", "--store", "X"),
}


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    return path


def check_refused(cli: Cli, given: tuple[str, ...], path: Path) -> None:
    before = path.lstat()
    result = cli(*(str(path) if each == "X" else each for each in given), code=None, stdin="")
    assert result.exit_code in (2, 3), result.output
    assert "This is a bug" not in result.output
    assert path.name in result.output
    after = path.lstat()
    assert (after.st_mode, after.st_ino) == (before.st_mode, before.st_ino), "it was replaced"


@pytest.mark.parametrize("given", [*READERS.values(), *WRITERS.values()], ids=[*READERS, *WRITERS])
def test_a_pipe_is_refused_without_waiting(
    cli: Cli, tmp_path: Path, pipe: Path, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cli.add(TEXT)
    cli("backup", "backup.clew")
    check_refused(cli, given, pipe)


@pytest.mark.parametrize("given", READERS.values(), ids=READERS)
def test_a_link_to_a_device_is_refused(
    cli: Cli, tmp_path: Path, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cli.add(TEXT)
    link = tmp_path / "endless.toml"
    link.symlink_to("/dev/zero")
    check_refused(cli, given, link)


def test_settings_that_are_found_or_named_by_the_environment_are_read_as_carefully(
    cli: Cli, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(os.environ["HOME"]) / ".config" / "clew"
    folder.mkdir(parents=True)
    for make in (
        os.mkfifo,
        lambda path: Path(path).symlink_to("/dev/zero"),
        os.mkdir,
        lambda path: Path(path).symlink_to("nowhere"),
    ):
        make(folder / "config.yaml")
        assert cli.json("list", code=2)["error"]["code"] == "setting.invalid"
        (folder / "config.yaml").rename(pipe.with_name(f"{len(list(pipe.parent.iterdir()))}.kept"))
    monkeypatch.setenv("CLEW_CONFIG", str(pipe))
    assert "pipe" in cli("list", code=2).stderr


@pytest.mark.parametrize("side", ["-wal", "-shm", "-journal"])
def test_a_pipe_in_the_place_of_a_journal_is_refused(cli: Cli, side: str) -> None:
    cli.add(TEXT)
    os.mkfifo(f"{cli.store}{side}")
    assert cli.json("list", code=3)["error"]["code"] == "store.not_a_store"
    assert cli.json("add", TEXT, code=3)["error"]["code"] == "store.not_a_store"


def test_an_import_passes_over_pipes_and_devices_and_reads_no_ignore_file_that_is_one(
    cli: Cli, tmp_path: Path, pipe: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.md").write_text("Cranes are inspected in March by the harbour crew.")
    os.mkfifo(folder / ".gitignore")
    os.mkfifo(folder / "talk.md")
    (folder / "zero.md").symlink_to("/dev/zero")
    report = cli.json("import", str(folder), str(pipe), "/dev/zero")
    assert {
        Path(each["path"]).name: each["status"]
        for each in report["files"]
        if each["path"] != str(folder)
    } == {
        "note.md": "imported",
        "talk.md": "skipped",
        "zero.md": "skipped",
        pipe.name: "skipped",
        "zero": "skipped",
    }


def test_the_files_of_a_set_and_of_a_report_are_read_as_carefully(cli: Cli, tmp_path: Path) -> None:
    folder = beir_folder(tmp_path)
    corpus = next(folder.rglob("corpus.jsonl"))
    corpus.unlink()
    os.mkfifo(corpus)
    assert "pipe" in cli("eval", "run", "--dataset", "beir", "--path", str(folder), code=2).stderr
    report = tmp_path / "report"
    report.mkdir()
    os.mkfifo(report / "result.json")
    assert "pipe" in cli("eval", "report", str(report), code=2).stderr


def test_a_store_that_a_link_leads_to_is_restored_and_the_link_stays(
    cli: Cli, tmp_path: Path
) -> None:
    id = cli.add(TEXT)
    cli("backup", str(tmp_path / "backup.clew"))
    cli("forget", id, "--yes")
    link = tmp_path / "link.clew"
    link.symlink_to(cli.store)
    cli("restore", str(tmp_path / "backup.clew"), "--store", str(link))
    assert link.is_symlink()
    assert cli.json("show", id)["text"] == TEXT


def test_a_backup_that_a_link_leads_to_is_restored_with_its_journal(
    cli: Cli, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    # its journal is not written back yet
    with clew.open(other / "live.clew", model={"embedder": "hashing"}) as memory:
        memory.remember(TEXT)
        (tmp_path / "link.clew").symlink_to(other / "live.clew")
        cli("restore", str(tmp_path / "link.clew"))
    assert [each["text"] for each in cli.json("list")["memories"]] == [TEXT]


def test_an_export_over_a_link_replaces_what_it_leads_to(cli: Cli, tmp_path: Path) -> None:
    cli.add(TEXT)
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_text("old")
    link.symlink_to(target)
    cli("export", str(link), "--force")
    assert link.is_symlink()
    assert TEXT in target.read_text(encoding="utf-8")


# --- size ---


def test_a_settings_file_has_a_largest_size(home: Path) -> None:
    file = home / "large.yaml"
    file.write_bytes(b"#" * (MAX_CONFIG_BYTES + 1))
    with pytest.raises(SettingError, match=r"larger than 0\.256 MB"):
        load_settings(file, environ={})
    file.write_bytes(b"#" * MAX_CONFIG_BYTES)
    assert load_settings(file, environ={}).file == file
    assert len(template()) * 5 < MAX_CONFIG_BYTES


@pytest.mark.parametrize(
    "given",
    [
        ("add", "-"),
        ("add", "-", "--jsonl"),
        ("recall", "-"),
        ("replay", "-"),
        ("import", "-"),
        ("load", "-"),
    ],
)
def test_a_stream_without_end_is_read_to_a_limit(
    cli: Cli, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.add(TEXT)
    read = 0

    class Endless(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            nonlocal read
            assert size is not None
            assert size >= 0, "all of it"
            read += size
            return b"a" * size

        readline = read

    class Stdin:
        buffer = Endless()

    # Not by click's runner, which would read all of it first.
    monkeypatch.setattr(sys, "stdin", Stdin())
    with pytest.raises(SystemExit) as ended:
        from clew.surface.cli.app import app

        app.main(list(given))
    assert ended.value.code == 2
    assert read <= 200_000_000


def test_lines_and_streams_have_a_longest_length() -> None:
    assert list(bounded_lines(BytesIO(b"one\ntwo\n\nthree"), limit_bytes=5)) == [
        b"one\n",
        b"two\n",
        b"\n",
        b"three",
    ]
    with pytest.raises(InputError, match="line 2"):
        list(bounded_lines(BytesIO(b"one\nseven\n"), limit_bytes=5))
    assert read_stream(BytesIO(b"three"), limit_bytes=5) == b"three"
    with pytest.raises(InputError, match="longer"):
        read_stream(BytesIO(b"sevens"), limit_bytes=5)


def test_a_file_is_read_to_a_limit_and_nothing_else_is_opened(tmp_path: Path, pipe: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_file(file, limit_bytes=5) == b"12345"
    with pytest.raises(OSError, match="larger"):
        read_file(file, limit_bytes=4)
    for path in (pipe, tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match=r"pipe|directory|device"):
            open_file(path)


# --- depth ---


def laughs() -> str:
    """Return a few lines that stand for billions of values."""
    return "a: &a [x, x, x]\n" + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
        for old, new in zip("abcdefghi", "bcdefghij", strict=True)
    )


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_yaml, laughs()),
        (parse_yaml, "&a [*a]"),
        (parse_yaml, "[" * 100_000),
        (parse_yaml, "- " * 100_000),
        (parse_yaml, "{a: " * 50_000),
        (parse_yaml, "!!bool maybe"),
        (parse_yaml, "!!timestamp soon"),
        (parse_yaml, "!!int ''"),
        (parse_toml, "a = " + "[" * 100_000),
        (parse_toml, "a." * 50_000 + "a = 1"),
        (parse_toml, f"[{'a.' * 50_000}a]"),
        (parse_toml, "a = " + "{a = " * 50_000),
        (parse_json, "[" * 100_000),
        (parse_json, "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)),
        (parse_json, "9" * 5000),
    ],
)
def test_a_document_that_means_harm_is_refused(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert len(str(caught.value)) <= 200


def test_what_is_nested_as_deeply_as_allowed_is_parsed() -> None:
    brackets = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert repr(parse_yaml(brackets)) == repr(parse_json(brackets)) == brackets
    assert repr(parse_toml(f"a = {brackets[1:-1]}")["a"]) == brackets[1:-1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", laughs()),
        ("a.yaml", "[" * 9999),
        ("a.toml", "a = " + "[" * 9999),
        ("a.toml", "a." * 9999 + "b=1"),
    ],
)
def test_settings_that_mean_harm_are_refused(
    cli: Cli, tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    assert (
        cli.json("list", "--config", str(tmp_path / name), code=2)["error"]["code"]
        == "setting.invalid"
    )


def test_a_setting_in_the_environment_is_parsed_as_carefully() -> None:
    for text in (f"{{{laughs()}}}", "[" * 5000, "&a [*a]"):
        with pytest.raises(SettingError):
            load_settings(environ={"CLEW_MEMORY__CATEGORIES": text})


def nested(depth: int, opening: str = '{"a":', closing: str = "}") -> str:
    return opening * depth + "1" + closing * depth


@pytest.mark.parametrize("depth", [65, 101, 450, 950, 100_000])
def test_json_nested_too_deeply_is_refused_wherever_it_is_read(cli: Cli, depth: int) -> None:
    id = cli.add(TEXT)
    deep = nested(depth)
    exported = [json.loads(line) for line in cli("export", "-", "--no-vectors").stdout.splitlines()]
    node = json.dumps(
        {"node": {**exported[1]["node"], "id": "another", "metadata": "HERE"}}
    ).replace('"HERE"', deep)
    refused = [
        (
            ("add", "-", "--jsonl"),
            f'{{"text": "A sentence that is fine by itself", "metadata": {deep}}}',
            1,
        ),
        (("load", "-"), f"{json.dumps(exported[0])}\n{node}", 2),
        (("replay", "-"), f'{{"format": "clew-trace", "version": 1, "settings": {deep}}}', 2),
    ]
    for given, stdin, code in refused:
        result = cli(*given, stdin=stdin, code=code)
        assert "bug" not in result.output
        assert len(result.output) < 900
    if depth < 1000:
        with (
            clew.open(cli.store, model={"embedder": "hashing"}) as memory,
            pytest.raises(ClewError, match="nested"),
        ):
            memory.update(id, metadata=json.loads(deep))
    told = cli.json("update", id, "--metadata", f"tree={deep}", code=None)
    # What is no JSON that can be read stays the text that it is, and a text may be too long.
    assert (
        told["error"]["field"] == "metadata"
        if "error" in told
        else told["metadata"]["tree"] == deep
    )


def test_metadata_nested_as_deeply_as_allowed_comes_back(cli: Cli) -> None:
    id = cli.add(TEXT, "--metadata", f"tree={nested(63)}")
    assert json.dumps(cli.json("show", id)["metadata"]["tree"]) == json.dumps(
        json.loads(nested(63))
    )
    assert cli("show", id).output
    copy = cli.store.with_name("copy.clew")
    cli("load", "-", "--store", str(copy), stdin=cli("export", "-").stdout)
    assert (
        cli.json("show", id, "--store", str(copy))["metadata"] == cli.json("show", id)["metadata"]
    )
    assert cli.json("verify")["sound"] is True
