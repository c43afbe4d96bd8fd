"""Run the tests several times in a row on a machine that is kept busy.

    python -m tests.busy [--runs 3] [--loops 8] [PYTEST ARGUMENTS]

Tests that depend on wall-clock time fail here. The loops end with this program, however it ends.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LOOP = "import os; parent = os.getppid()\nwhile os.getppid() == parent: sum(range(100_000))"


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep so many processes busy."""
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> int:
    """Run pytest until it fails or has passed often enough, and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.busy", description="Run the tests beside busy loops."
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="how often in a row the tests must pass"
    )
    parser.add_argument("--loops", type=int, default=8, help="how many busy loops run beside them")
    options, arguments = parser.parse_known_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with busy_loops(options.loops):
        for number in range(1, options.runs + 1):
            sys.stdout.write(f"run {number} of {options.runs} beside {options.loops} busy loops\n")
            sys.stdout.flush()
            if code := subprocess.run(
                [sys.executable, "-m", "pytest", *arguments], check=False
            ).returncode:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
