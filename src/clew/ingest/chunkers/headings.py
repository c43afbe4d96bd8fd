"""The headings above a place: a stack that each new heading shortens to its own depth."""

from __future__ import annotations

LONGEST = 300  # characters of a heading that are kept: each chunk below it is labelled with all of the headings above


class Headings:
    """The path of open headings, outermost first.

    >>> headings = Headings()
    >>> for depth, title in [(1, "Guide"), (3, "Linux"), (2, "Use")]:
    ...     headings.open(depth, title)
    >>> headings.path
    ('Guide', 'Use')
    """

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()

    def open(self, depth: int, title: str) -> None:
        """Enter a heading: those as deep or deeper are closed."""
        while self._open and self._open[-1][0] >= depth:
            self._open.pop()
        self._open.append((depth, title[:LONGEST]))
        self.path = tuple(name for _, name in self._open if name)
