"""The command line. `main` is what `clew` runs; everything else is loaded when it is needed."""

from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the arguments name, and exit with its code."""
    # Importing the package must not load click
    from clew.surface.cli.app import app  # noqa: PLC0415

    app.main(prog_name="clew")
