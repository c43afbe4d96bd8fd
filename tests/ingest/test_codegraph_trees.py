"""Small source trees, each with all the imports and calls that lead somewhere in it, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clew.graph.code.graph import CodeGraph, build_graph
from clew.graph.code.linking import language_of

TREES = sorted((Path(__file__).parent / "fixtures" / "codegraph").glob("*.tree"))
EXPECTED = "expected"


def parts(tree: Path) -> dict[str, str]:
    """Return the files of a tree: each after a line with its name between dashes."""
    _, *rest = re.split(r"^-- (\S+) --\n", tree.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(rest[::2], rest[1::2], strict=True))


def drawn(files: dict[str, str]) -> CodeGraph:
    languages = {path: language_of(path, text) or "" for path, text in files.items()}
    return build_graph(files, languages)


def lines(made: CodeGraph) -> list[str]:
    imports = [f"{link.source} imports {link.target}" for link in made.imports]
    at = [(link, re.match(r"line (\d+)", link.evidence)) for link in made.calls]
    return imports + [
        f"{link.source}:{line[1]} calls {link.target} {link.definition.qualified}"
        for link, line in at
        if line
    ]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.stem)
def test_imports_and_calls_lead_where_the_language_says_and_nowhere_else(tree: Path) -> None:
    files = parts(tree)
    expected = files.pop(EXPECTED).splitlines()
    assert sorted(lines(drawn(files))) == sorted(expected)


def test_every_family_of_languages_has_a_tree() -> None:
    assert {tree.stem for tree in TREES} >= {
        "python",
        "javascript",
        "typescript",
        "go",
        "rust",
        "java",
        "c",
        "cpp",
    }


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.stem)
def test_a_graph_does_not_depend_on_the_order_in_which_files_come(tree: Path) -> None:
    files = parts(tree)
    files.pop(EXPECTED)
    assert drawn(dict(reversed(list(files.items())))) == drawn(files)


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.stem)
def test_a_tree_means_the_same_wherever_it_lies(tree: Path) -> None:
    files = parts(tree)
    files.pop(EXPECTED)
    moved = drawn({f"/elsewhere/{path}": text for path, text in files.items()})
    assert sorted(line.replace("/elsewhere/", "") for line in lines(moved)) == sorted(
        lines(drawn(files))
    )
