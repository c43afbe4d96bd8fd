"""Try an installed wheel: store, recall, the command, the page and the word lists. No test package is needed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import clew


def main() -> None:
    """Fail with a traceback if a part of the package is missing."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "smoke.clew"
        with clew.open(store, model={"embedder": "none"}) as memory:
            memory.remember("The staging server is called Halcyon.", category="fact")
            memory.remember("Anna Keller decided to use PostgreSQL in March 2026.")
            answer = memory.recall("what is the staging server called?")
            assert answer.hits[0].text == "The staging server is called Halcyon."
            assert memory.recall("what did Anna Keller decide in March?").hits
            assert not memory.verify()
        command = Path(sys.executable).with_name("clew")
        listed = subprocess.run(
            [command, "--store", store, "list", "--json"],
            check=True,
            capture_output=True,
            text=True,
        )
        assert "Halcyon" in listed.stdout
    assert files("clew.surface.ui").joinpath("static").is_dir()
    from clew.surface.http.app import make_app

    with clew.open(":memory:", model={"embedder": "none"}) as memory:
        assert make_app(memory).openapi()["info"]["version"] == clew.__version__
    sys.stdout.write(f"clew {clew.__version__} works from its wheel\n")


if __name__ == "__main__":
    main()
