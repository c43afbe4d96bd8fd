"""The README's code runs as it stands, and prints what its comments say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from benchmarks.readme import GUIDE, README, rendered

BLOCKS = re.findall(
    r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
PRINTED = re.compile(r"^\s*print\(.*\)  # (.+)$", re.MULTILINE)


@pytest.mark.model
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_prints_what_its_comments_say(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_model: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "README.md", "exec"), {})
    expected = PRINTED.findall(block)
    lines = printed.getvalue().splitlines()
    assert len(lines) == len(expected)
    for line, told in zip(lines, expected, strict=True):
        assert line.startswith(told.removesuffix("…")), told


def test_there_is_a_block_of_about_fifteen_lines() -> None:
    assert any(
        10 <= len([line for line in block.splitlines() if line.strip()]) <= 20 for block in BLOCKS
    )


@pytest.mark.parametrize("path", [README, GUIDE], ids=lambda path: path.name)
def test_what_is_said_to_be_measured_is_what_the_result_files_hold(path: Path) -> None:
    assert rendered(path) == path.read_text(encoding="utf-8"), "run: python -m benchmarks.readme"
