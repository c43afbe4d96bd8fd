# ruff: noqa: T201 - a command prints
"""Run outside suites against the adapters, each in an environment of its own below build/outside.

    python -m tests.outside [NAME ...]

Without names those that run by default. Environments and sources are kept and used again. The tests
are taken from the frameworks' own packages when they are run, and are not part of this repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import NamedTuple
from xml.etree import ElementTree

from tests.outside.targets import PYTEST, TARGETS, Target

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BUILD = ROOT / "build" / "outside"
AT_ONCE = 2


class Result(NamedTuple):
    """What became of a suite."""

    target: Target
    passed: int
    failed: int
    skipped: int
    seconds: float
    log: str

    @property
    def sound(self) -> bool:
        """Whether all the expected tests passed and none failed."""
        return not self.failed and self.passed == self.target.passing


def main(names: list[str]) -> int:
    """Run the targets and print a table."""
    known = {target.name: target for target in TARGETS}
    if unknown := [name for name in names if name not in known]:
        print(f"Unknown target {unknown[0]!r}. Use some of: {', '.join(known)}.", file=sys.stderr)
        return 2
    chosen = [known[name] for name in names] or [target for target in TARGETS if target.default]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(run, chosen))
    for result in results:
        if not result.sound:
            print(f"--- {result.target.name}\n{result.log[-6000:]}")
    for each in results:
        state = "ok" if each.sound else f"WRONG, {each.target.passing} expected"
        counts = f"{each.passed:4} passed {each.failed:3} failed {each.skipped:3} skipped"
        print(f"{each.target.name:18} {counts} {each.seconds:6.0f} s  {state}")
    return 0 if all(result.sound for result in results) else 1


def run(target: Target) -> Result:
    """Run one suite."""
    began = perf_counter()
    try:
        python = environment(target)
        folder = source(target.source, python) if target.source else HERE
        passed, failed, skipped, log = tested(target, python, folder)
    except subprocess.CalledProcessError as error:
        passed, failed, skipped, log = (
            0,
            1,
            0,
            f"{error}\n{error.stdout or ''}\n{error.stderr or ''}",
        )
    return Result(target, passed, failed, skipped, perf_counter() - began, log)


def environment(target: Target) -> Path:
    """Return the Python of a target's environment, made if it is not there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = sorted(
        {
            *project["dependencies"],
            *project["optional-dependencies"][target.extra],
            *target.packages,
            *PYTEST,
        }
    )
    name = (
        f"{target.extra}-{blake2b(repr((wanted, sys.version)).encode(), digest_size=6).hexdigest()}"
    )
    folder = BUILD / "environments" / (name if target.packages else target.name)
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        venv.create(folder, clear=True, with_pip=True)
        call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
        (folder / ".ready").touch()
    return python


def source(requirement: str, python: Path) -> Path:
    """Return the unpacked source distribution of a requirement."""
    name, _, version = requirement.partition("==")
    folder = BUILD / "sources" / f"{name}-{version}"
    if not (folder / ".ready").exists():
        call(
            python,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary",
            name,
            requirement,
            "--dest",
            folder,
        )
        (archive,) = folder.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        (folder / ".ready").touch()
    (unpacked,) = (each for each in folder.iterdir() if each.is_dir())
    return unpacked


def tested(target: Target, python: Path, folder: Path) -> tuple[int, int, int, str]:
    """Run the framework's tests and then ours.

    Return how many passed, failed and were skipped, and what pytest wrote.
    """
    own = (*(() if target.tests else (target.plugin,)), *target.own, "outside_guide")
    runs = [counted(target, python, HERE, tuple(f"{name}.py" for name in own), "own")]
    if target.tests:  # another process: their package is called tests, too
        runs.append(counted(target, python, folder, ("-p", target.plugin, *target.tests), "theirs"))
    passed, failed, skipped = (sum(int(run[at]) for run in runs) for at in range(3))
    return passed, failed, skipped, "".join(run[3] for run in runs)


def counted(
    target: Target, python: Path, folder: Path, arguments: tuple[str, ...], name: str
) -> tuple[int, int, int, str]:
    """Run pytest in a folder, and return how many tests passed, failed and were skipped, and what it wrote."""
    report = BUILD / f"{target.name}-{name}.xml"
    report.unlink(missing_ok=True)
    paths = (HERE, ROOT / "src", *(() if folder == HERE else (folder,)))
    extra = {"CLEW_OUTSIDE_EXTRA": target.extra, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(
        [
            *(
                python,
                "-W",
                "ignore",
                "-m",
                "pytest",
                "-q",
                "-rs",
                "-c",
                os.devnull,
                "--rootdir",
                folder,
                "--noconftest",
            ),
            *(
                "-p",
                "no:cacheprovider",
                "-o",
                "asyncio_mode=auto",
                "-o",
                "junit_family=xunit2",
                f"--junit-xml={report}",
                *arguments,
            ),
        ],
        cwd=folder,
        env={**os.environ, **target.environment, **extra},
        capture_output=True,
        text=True,
        check=False,
    )
    log = done.stdout + done.stderr
    if not report.exists():
        return 0, 1, 0, log
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        counts = {key: count + int(suite.get(key, 0)) for key, count in counts.items()}
    failed = counts["failures"] + counts["errors"]
    return counts["tests"] - failed - counts["skipped"], failed, counts["skipped"], log


def call(*command: object) -> None:
    """Run a command; a failure carries what it wrote."""
    subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
