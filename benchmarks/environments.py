"""A virtual environment for each peer, made with the user's own pip configuration."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.peers import Facts


class CannotInstallError(Exception):
    """pip could not install a peer; the message is pip's last word."""


def python(cache: Path, facts: Facts) -> Path:
    """Return the interpreter of a peer's environment, made and filled on first use."""
    if not facts.environment:
        return Path(sys.executable)
    folder = cache / "venvs" / facts.environment
    interpreter = folder / "bin" / "python"
    recipe = hashlib.sha256(repr((sys.version_info[:2], facts.install)).encode()).hexdigest()
    done = folder / ".installed"
    if done.exists() and done.read_text() == recipe:
        return interpreter
    if not interpreter.exists():
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    for step in facts.install:
        command = [
            str(interpreter),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *step,
        ]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            errors = [line for line in ended.stderr.splitlines() if line.strip()]
            raise CannotInstallError(
                f"pip install {' '.join(step)}: {errors[-1] if errors else 'failed without a word'}"
            )
    done.write_text(recipe)
    return interpreter
