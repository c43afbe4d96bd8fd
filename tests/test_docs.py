"""The guide is true: its examples run, its links lead somewhere, its names exist, and the site is built from it without the web."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import pytest

import clew
from clew import errors
from clew.settings import Settings, as_dict
from clew.surface.cli.app import ALIASES, COMMANDS
from tests import fork_server
from tests.worked_pages import RUNS, Names, Shell, blocks, run_page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
GUIDE = [DOCS / "index.md", *sorted((DOCS / "guide").glob("*.md"))]
LINKED = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PORT = "7411"  # what the pages say; each run has a free one
REASONS = {
    "its framework is needed; make outside runs it",
    "it installs software",
    "it changes a shell's start",
    "the sets are not in the repository",
    "it listens beyond this machine",
}
SHOWN = {"", "json", "toml", "yaml", "text", "{toctree}"}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
KEYS = {f"{section}.{key}" for section, keys in as_dict(Settings()).items() for key in keys}
CODES = {
    error.code
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, errors.ClewError)
}
FILES = {"md", "json", "jsonl", "clew", "yaml", "toml", "py"}  # such as `mcp.json`


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory, real_model: Path) -> Iterator[Path]:
    """A folder with a `clew` that starts quickly."""
    folder = tmp_path_factory.mktemp("bin")
    fork_server.write_command(folder, folder / "socket")
    with fork_server.running(folder / "socket", real_model):
        yield folder


@pytest.fixture
def surroundings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_model: Path, commands: Path
) -> dict[str, str]:
    """A home of its own with the real model; the page's Python sees the same."""
    own = {
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join(
            [str(commands), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
        "CLEW_MODELS": str(real_model.parent),
        "NO_COLOR": "1",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return own


@pytest.mark.model
@pytest.mark.skipif(not shutil.which("bash"), reason="the examples are for a shell")
@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print_what_it_says(
    page: Path, tmp_path: Path, surroundings: dict[str, str]
) -> None:
    text = page.read_text(encoding="utf-8")
    if "$ curl " in text and not shutil.which("curl"):
        pytest.skip("the page calls curl, which is not here")
    port = str(free_port())
    run_page(
        text.replace(PORT, port),
        named(page),
        tmp_path,
        {**surroundings, **({"CLEW_SERVE__PORT": port} if PORT in text else {})},
    )


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_a_block_is_run_or_it_says_why_not(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        assert block.language in SHOWN or block.language in RUNS, f"line {block.line}"
        assert not block.not_run or block.not_run in REASONS, f"line {block.line}: {block.not_run}"


def test_the_check_would_notice_another_output(tmp_path: Path) -> None:
    page = "```console\n$ echo one; echo two\none\n```\n"
    with pytest.raises(AssertionError, match="does not say 'two'"):
        run_page(page, "page", tmp_path, os.environ)
    with pytest.raises(AssertionError, match="exited with 3"):
        run_page("```sh\ntrue\n(exit 3)\n```\n", "page", tmp_path, os.environ)
    with pytest.raises(AssertionError, match="the page says '2'"):
        run_page("```python\nprint(1)  # 2\n```\n", "page", tmp_path, os.environ)


def test_any_lines_end_where_the_next_one_is() -> None:
    assert not Names().same(("a", "…", "c"), ["a", "b", "b", "c"])
    assert not Names().same(("…",), [])
    assert Names().same(("…", "c"), ["a", "b"])


def test_what_only_a_slow_machine_says_is_not_expected() -> None:
    assert not Names().same(
        ("1 line: 1 inserted",), ["remembering: 1 memory in 1.7 s", "1 line: 1 inserted"]
    )


def test_a_shell_keeps_its_folder_and_ends_its_jobs(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    with Shell(tmp_path, os.environ) as shell:
        assert shell.run("cd inner") == ([], 0)
        assert shell.run("basename $PWD") == (["inner"], 0)
        shell.run("sleep 1000 &\necho $! > pid")
    job = int((tmp_path / "inner" / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(job, 0)


def test_a_command_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shell, "PATIENCE_SECONDS", 0.5)
    with (
        Shell(tmp_path, os.environ) as shell,
        pytest.raises(AssertionError, match="the shell ended in: sleep"),
    ):
        shell.run("sleep 1000")


# --- what the pages say exists ---


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    plain = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", "-")
        for heading in HEADING.findall(plain)
    }


def links(page: Path) -> Iterator[str]:
    yield from LINK.findall(CODE.sub("", FENCED.sub("", page.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("page", LINKED, ids=named)
def test_a_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: there is no {path}"
        assert not anchor or anchor in anchors(target), (
            f"{link}: {path or 'the page'} has no heading for it"
        )


def spoken(page: Path) -> Iterator[str]:
    """What a page says in code between its words."""
    yield from CODE.findall(FENCED.sub("", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_a_setting_or_command_that_is_named_exists(page: Path) -> None:
    sections = {key.split(".")[0] for key in KEYS}
    for said in spoken(page):
        key = re.match(r"([a-z_]+)\.([a-z_]+)(?=$|:| )", said)
        if key and key[1] in sections and key[2] not in FILES:
            assert key[0] in KEYS | CODES, f"{said}: there is no such setting"
        if command := re.match(r"clew ([a-z][a-z-]*)", said):
            assert command[1] in COMMANDS or command[1] in ALIASES, (
                f"{said}: there is no such command"
            )


def test_the_python_page_names_everything_that_a_clew_does() -> None:
    page = (DOCS / "guide" / "python.md").read_text(encoding="utf-8")
    public = {
        name
        for name in vars(clew.Clew)
        if not name.startswith("_") and callable(getattr(clew.Clew, name))
    }
    assert public - set(CODE.findall(page)) == set()


def test_the_install_page_has_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = set(CODE.findall((DOCS / "guide" / "install.md").read_text(encoding="utf-8")))
    assert set(project["optional-dependencies"]) - said == set()


# --- the site ---


def generator() -> str | None:
    """The Python that has the generator: this one, or that of `make docs`."""
    if all(find_spec(name) for name in ("sphinx", "furo", "myst_parser")):
        return sys.executable
    made = ROOT / "build" / "site" / "env" / "bin" / "python"
    return str(made) if (made.parent / "sphinx-build").exists() else None


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    python = generator()
    if python is None:
        pytest.skip("the generator is not here: make docs")
    out = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [
            python,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "--keep-going",
            "-b",
            "html",
            "-d",
            str(out / "doctrees"),
            str(DOCS),
            str(out / "html"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return out / "html"


class Loaded(HTMLParser):
    """What a page makes a browser load; where its links go does not count."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {"a": (), "link": ("href",)}.get(
            tag, ("src", "srcset", "href", "data", "poster", "action")
        )
        self.urls += [value for name, value in attrs if name in names and value]


def loads(page: str) -> list[str]:
    parser = Loaded()
    parser.feed(page)
    return parser.urls


def from_elsewhere(url: str) -> bool:
    return bool(re.match(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", url, re.IGNORECASE))


def test_the_site_has_every_page(site: Path) -> None:
    wanted = {page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")}
    assert wanted - {page.relative_to(site) for page in site.rglob("*.html")} == set()


def test_the_site_loads_nothing_from_the_web(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert [
            url for url in loads(page.read_text(encoding="utf-8")) if from_elsewhere(url)
        ] == [], page.name
    for sheet in site.rglob("*.css"):
        urls = re.findall(
            r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""", sheet.read_text(encoding="utf-8")
        )
        assert [url for url in urls if from_elsewhere(url)] == [], sheet.name


def test_the_check_would_notice_a_font_from_the_web() -> None:
    page = '<link href="https://fonts.example/a.css"><script src="//cdn.example/b.js"></script><a href="https://example.org">'
    assert [from_elsewhere(url) for url in loads(page)] == [True, True]
    assert not from_elsewhere("_static/clew.css?v=1")


def test_the_scripts_of_the_site_call_nobody(site: Path) -> None:
    for script in site.rglob("*.js"):
        called = re.findall(
            r"""(?:fetch|import|XMLHttpRequest|open)\(\s*["'`](https?:)?//""",
            script.read_text(encoding="utf-8"),
        )
        assert called == [], script.name
