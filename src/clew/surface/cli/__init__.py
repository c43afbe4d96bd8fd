"""The command line. `main` is what `clew` runs; everything else is loaded when it is needed."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the arguments name, and exit with its code."""
    if sys.argv[1:3] == ["hooks", "run"] and not {"-h", "--help", "--json"}.intersection(sys.argv):
        # An agent waits for it at every prompt, so nothing else is loaded
        from clew.surface.hooks.client import run  # noqa: PLC0415

        sys.exit(run(sys.argv[3:] or ["claude-code"]))
    # Importing the package must not load click
    from clew.surface.cli.app import app  # noqa: PLC0415

    app.main(prog_name="clew")
