"""Imports point down only. The picture is drawn here; a test fails on an arrow that points up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import clew

ROOT = Path(clew.__file__).parent

# From the bottom. Packages on one line do not know each other.
LAYERS = (
    ("errors",),
    ("types", "times"),
    ("options",),
    ("ids", "forking", "parsing", "files", "file_formats", "token_codes"),
    ("text",),
    ("settings", "ports"),
    ("graph",),
    ("store", "models", "memories"),
    ("search", "documents"),
    ("engine",),
    ("testing", "evaluate", "client"),
    ("opening",),
    ("integrations",),
    ("surface",),
)
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
FILES = sorted(
    path
    for path in ROOT.rglob("*.py")
    if path.relative_to(ROOT).parts[0] not in ("__init__.py", "__main__.py")
)


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
        names += (
            [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
        )
        for name in names:
            if name.startswith("clew."):
                yield name.split(".")[1]


def allowed(importer: str, imported: str) -> bool:
    return importer == imported or LEVEL[imported] < LEVEL[importer]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_layers_below_it(path: Path) -> None:
    importer = package_of(path)
    assert importer in LEVEL, (
        f"{importer} has no place in the layers: add it to LAYERS and to ARCHITECTURE.md"
    )
    upward = [imported for imported in imports(path) if not allowed(importer, imported)]
    assert not upward, f"{path.relative_to(ROOT)} imports {upward} from its own layer or above"


def test_the_check_would_notice_an_upward_import() -> None:
    assert not allowed("store", "engine")
    assert not allowed("search", "documents")
    assert allowed("engine", "store")
