"""Discovery: which files a caller means, each once, and why the others are not among them."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.documents.discovery import Found, discover
from clew.documents.gitignore import pattern, patterns, verdict
from clew.errors import InputError

LIMIT = 1000


def tree(root: Path, *names: str, text: str = "words") -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text} {name}", encoding="utf-8")
    return root


def found(
    *paths: str | Path, exclude: tuple[str, ...] = (), include_hidden: bool = False
) -> list[Found]:
    return list(discover(paths, exclude=exclude, include_hidden=include_hidden, max_bytes=LIMIT))


def files(
    *paths: str | Path, exclude: tuple[str, ...] = (), include_hidden: bool = False
) -> list[str]:
    return [
        each.name
        for each in found(*paths, exclude=exclude, include_hidden=include_hidden)
        if each.status == "file"
    ]


def refusals(*paths: str | Path) -> dict[str, tuple[str, str]]:
    return {
        each.name: (each.status, each.reason) for each in found(*paths) if each.status != "file"
    }


def test_a_folder_is_walked_in_sorted_order_with_names_below_it(tmp_path: Path) -> None:
    tree(tmp_path, "b.md", "a/z.md", "a/b/c.md", "a.md", "Z.md")
    assert files(tmp_path) == ["Z.md", "a/b/c.md", "a/z.md", "a.md", "b.md"]
    first = found(tmp_path)[0]
    assert first == Found(
        path=tmp_path / "Z.md", status="file", root=str(tmp_path), name="Z.md", size_bytes=10
    )


def test_hidden_and_never_entered_names_are_counted_in_one_entry(tmp_path: Path) -> None:
    tree(
        tmp_path,
        "a.md",
        ".b.md",
        ".c/d.md",
        ".git/config",
        "x/node_modules/p/q.js",
        "x/__pycache__/z.txt",
    )
    last = found(tmp_path)[-1]
    assert files(tmp_path) == ["a.md"]
    assert (last.status, last.name, last.root) == ("skipped", "", str(tmp_path))
    assert (
        last.reason
        == "left out: 1 .git (never imported), 1 __pycache__ (never imported), 2 hidden, 1 node_modules (never imported)"
    )
    assert files(tmp_path, include_hidden=True) == [".b.md", ".c/d.md", "a.md"]
    assert files(tmp_path / ".b.md", tmp_path / ".git") == [".b.md", "config"]


def test_the_innermost_ignore_file_has_the_last_word(tmp_path: Path) -> None:
    tree(
        tmp_path,
        "a.log",
        "keep.log",
        "build/x.md",
        "sub/a.log",
        "sub/b.tmp",
        "sub/deep/b.tmp",
        "docs/build/x.md",
    )
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\n/build/\n", encoding="utf-8")
    (tmp_path / "sub" / ".gitignore").write_text("!a.log\n*.tmp\r\n", encoding="utf-8")
    (tmp_path / "sub" / ".clewignore").write_text("\ufeff# mine\n!deep/b.tmp\n", encoding="utf-8")
    assert files(tmp_path) == ["docs/build/x.md", "keep.log", "sub/a.log", "sub/deep/b.tmp"]
    assert "3 ignored by .gitignore or .clewignore" in found(tmp_path)[-1].reason


def test_ignore_files_above_count_inside_a_work_tree_only(tmp_path: Path) -> None:
    tree(tmp_path, "top/docs/a.md", "top/docs/b.log", "top/build/c.md")
    (tmp_path / "top" / ".gitignore").write_text("*.log\nbuild/\n", encoding="utf-8")
    assert files(tmp_path / "top" / "docs") == ["a.md", "b.log"]
    (tmp_path / "top" / ".git").mkdir()
    assert files(tmp_path / "top" / "docs") == ["a.md"]
    assert files(tmp_path / "top" / "build") == ["c.md"]  # ignored, and named
    assert files(tmp_path / "top" / "docs" / "b.log") == ["b.log"]


def test_globs_that_no_shell_expanded_are_expanded_with_all_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "a.md", "b.txt", "x/c.md", "x/y/d.md", "node_modules/e.md", "z[1].md")
    monkeypatch.chdir(tmp_path)
    assert files("*.md") == ["a.md", "z[1].md"]
    assert files("**/*.md") == ["a.md", "x/c.md", "x/y/d.md", "z[1].md"]
    assert files("x/*") == ["c.md", "y/d.md"]
    assert files(tmp_path / "?.*") == ["a.md", "b.txt"]
    assert files("z[1].md") == ["z[1].md"]  # a file of that name comes first
    assert refusals("*.pdf", "none/*.md") == {
        "*.pdf": ("failed", "matches no file"),
        "none/*.md": ("failed", "matches no file"),
    }
    assert {each.root for each in found("x/*")} == {"x/*"}


def test_excludes_are_written_like_ignore_lines(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "b.txt", "x/c.md", "x/b.txt")
    assert files(tmp_path, exclude=("*.txt", "x/")) == ["a.md"]
    assert [each.reason for each in found(tmp_path / "b.txt", exclude=("*.txt",))] == ["excluded"]
    with pytest.raises(InputError, match="exclude"):
        found(tmp_path, exclude=("[",))


def test_empty_large_and_missing_files_say_so(tmp_path: Path) -> None:
    (tmp_path / "empty.md").touch()
    (tmp_path / "exact.md").write_bytes(b"x" * LIMIT)
    (tmp_path / "large.md").write_bytes(b"x" * (LIMIT + 1))
    assert files(tmp_path) == ["exact.md"]
    assert refusals(tmp_path, tmp_path / "none.md", tmp_path / "nul\0") == {
        "empty.md": ("skipped", "empty"),
        "large.md": ("skipped", "1001 bytes, more than the 1000 that imports.max_file_mb allows"),
        "none.md": ("failed", "does not exist"),
        "nul\0": ("failed", "does not exist"),
    }


def test_pipes_and_sockets_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    # a socket's name must be short
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{short}/socket")
        assert refusals(tmp_path, short, "/dev/null") == {
            "pipe": ("skipped", "is a pipe"),
            "socket": ("skipped", "is a socket"),
            "null": ("skipped", "is a device"),
        }
        assert refusals(tmp_path / "pipe") == {"pipe": ("skipped", "is a pipe")}


def test_links_to_files_inside_are_followed_and_all_others_say_where_they_lead(
    tmp_path: Path,
) -> None:
    outside = tree(tmp_path / "outside", "o.md")
    root = tree(tmp_path / "root", "real/a.md", ".hidden/h.md")
    (root / "to-hidden.md").symlink_to(root / ".hidden" / "h.md")
    (root / "to-read.md").symlink_to(root / "real" / "a.md")
    (root / "to-outside.md").symlink_to(outside / "o.md")
    (root / "nowhere.md").symlink_to(root / "gone.md")
    (root / "self").symlink_to(root / "self")
    (root / "real" / "up").symlink_to(root, target_is_directory=True)
    (root / "away").symlink_to(outside, target_is_directory=True)
    assert files(root) == ["real/a.md", "to-hidden.md"]
    outward = ("skipped", "a link that leads outside: name its target to import it")
    refused = refusals(root)
    assert refused.pop("to-read.md")[1].startswith("the same file as ")
    assert refused == {
        "to-outside.md": outward,
        "away": outward,
        "nowhere.md": ("skipped", "a link that leads nowhere"),
        "self": ("skipped", "a link that leads nowhere"),
        "real/up": ("skipped", "a link to a folder that is read under its own name"),
        "": ("skipped", "left out: 1 hidden"),
    }
    assert files(root / "away", root / "to-outside.md") == ["o.md"]


def test_a_file_reached_twice_is_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "docs/a.md", "docs/b.md")
    (tmp_path / "docs" / "c.md").hardlink_to(tmp_path / "docs" / "a.md")
    monkeypatch.chdir(tmp_path)
    assert files("docs/b.md", "docs", ".", tmp_path, "docs/../docs/a.md") == ["b.md", "a.md"]
    reasons = [each.reason for each in found("docs", "docs")]
    assert len(reasons) == 4  # two files, and the second name of one of them on each round
    assert reasons[2].startswith("the same file as ")


def test_names_of_any_bytes_are_carried_through(tmp_path: Path) -> None:
    names = [
        b"new\nline.md",
        b"bytes\xff\xfe.md",
        b" space .md",
        "é🐙.md".encode(),
        b"-rf",
        b"*.md",
        b"%s{}.md",
    ]
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text(  # noqa: PTH118
            "words", encoding="utf-8"
        )
    assert {os.fsencode(name) for name in files(tmp_path)} == set(names)
    assert all(each.path.read_text(encoding="utf-8") == "words" for each in found(tmp_path))


def test_a_deep_tree_needs_no_recursion(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(1200):
        deep = deep / "d"
        deep.mkdir()
    (deep / "end.md").write_text("words", encoding="utf-8")
    assert files(tmp_path) == ["d/" * 1200 + "end.md"]
    (deep / "end.md").unlink()
    os.removedirs(deep)  # pytest's own cleaning recurses
    tmp_path.mkdir(parents=True, exist_ok=True)


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder of someone without any rights, as whom the test then runs.

    To root every file is open.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        os.seteuid(os.getuid())


def test_what_may_not_be_read_failed_with_the_systems_reason(nobody: Path) -> None:
    tree(nobody, "open.md", "shut.md", "folder/a.md")
    (nobody / "shut.md").chmod(0)
    (nobody / "folder").chmod(0)
    if os.getuid() == 0:
        os.seteuid(65534)
    refused = refusals(nobody, nobody / "folder" / "a.md")
    os.seteuid(os.getuid())
    (nobody / "folder").chmod(0o755)
    denied = ("failed", "permission denied")
    assert refused == {"shut.md": denied, "folder": denied, "a.md": denied}


LINES = """
*.log | /top | build/ | a/b | a/** | **/x | a/**/c | !keep | *.t?t | [ab].md | [!a].md | [^a-c].md | \\#hash | \\!bang | # comment
trail\\  | spaced   | a*b*c | ** | */x | x/* | /a/ | [[:digit:]]* | [] ]x | a\\*b | doc/**/ | **/b/** | ? | [a-]x | [\\]]x | foo[ | !a/b/c
""".replace("\n", "|").split(" | ")
NAMES = "a b c x top build keep a.log b.txt a.md b.md d.md #hash !bang aXbYc 7up a*b doc foo[ -x ]x trail spaced".split()


@pytest.mark.parametrize("seed", range(12))
def test_git_itself_agrees_on_what_is_ignored(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    subprocess.run(
        ["git", "init", "-q", tmp_path],
        check=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
    )
    lines = [line.strip("|\n") for line in chance.sample(LINES, 6)]
    (tmp_path / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = {"/".join(chance.choices(NAMES, k=chance.randint(1, 4))) for _ in range(60)}
    for name in sorted(made):
        if not (tmp_path / name).exists() and not any(
            above.is_file() for above in (tmp_path / name).parents
        ):
            tree(tmp_path, name)
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    expected = sorted(
        name for name in listed.stdout.decode().split("\0") if name and name != ".gitignore"
    )
    assert sorted(files(tmp_path)) == expected, lines


def test_no_pattern_takes_long(tmp_path: Path) -> None:
    rules = patterns(
        ["*a" * 50 + "b", "**/a/" * 30 + "b", "*?" * 100 + "x", "[" * 1000, "a/**/" * 100 + "z"]
    )
    begin = time.process_time()
    assert verdict(rules, ("a" * 255,), is_folder=False) is None
    assert verdict(rules, ("a",) * 1000, is_folder=False) is None
    assert time.process_time() - begin < 2
    assert pattern("[") is None
