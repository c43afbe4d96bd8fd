"""`python -m clew` is the command `clew`."""

from clew.surface.cli import main

main()
