"""The example of this framework in the guide runs and prints what it says."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "frameworks.md"
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


def test_the_example_of_the_guide_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = os.environ["CLEW_OUTSIDE_EXTRA"]
    (section,) = (
        each
        for each in PAGE.read_text(encoding="utf-8").split("\n## ")
        if f"'clew[{extra}]'" in each
    )
    (code,) = CODE.findall(section)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", "hashing")
    monkeypatch.delenv("CLEW_OUTSIDE_EXTRA")  # a setting that Clew does not know
    with contextlib.redirect_stdout(io.StringIO()) as told:
        exec(compile(code, str(PAGE), "exec"), {"__name__": "__main__"})
    assert told.getvalue().splitlines() == SAID.findall(code)
