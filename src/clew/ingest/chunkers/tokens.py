"""How large is a text? Counted word by word, each word once."""

from __future__ import annotations

import re

from clew.ingest.chunkers.port import TokenCounter
from clew.ingest.chunkers.sums import Sums, estimate_sums, run_sums
from clew.words import token_estimate

REMEMBERED_RUNS = 1 << 17  # about 15 MB
LONGEST_REMEMBERED = 64  # longer runs are addresses and blobs, which do not come again
CHARACTERS_A_TOKEN = 64  # the fewest tokens a run can have: a vocabulary takes a blob of any length for one unknown word
DROPPED_SPACE = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"  # str.split parts a text there; a BERT tokenizer drops them and joins what they part
_ATOM = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z]+)?|[^A-Za-z0-9]")
_SPACE = re.compile("[ \t\n\r]+")


class RunCounts:
    """A quick counter out of a slow one that treats each run between white space alone.

    Both `token_estimate` and a BERT tokenizer do: words and signs are parted inside a run, and nothing reaches across a
    space. The counts are exactly those of the slow one, but for blobs (see CHARACTERS_A_TOKEN). They add up where texts
    meet at white space, so that a sum of counts needs no second look.

    >>> counts = RunCounts(token_estimate)
    >>> counts("Postgres listens on port 5432."), token_estimate("Postgres listens on port 5432.")
    (8, 8)
    """

    def __init__(self, count: TokenCounter) -> None:
        self._runs = _Runs(count)
        self.run: TokenCounter = self._runs.__getitem__
        """Counts a text without white space."""

    def __call__(self, text: str) -> int:
        """Return how many tokens a text has."""
        runs = _SPACE.split(text) if has_dropped_space(text) else text.split()
        return sum(map(self._runs.__getitem__, runs))

    def plain(self, text: str) -> int:
        """Return the same for a text without `has_dropped_space`, a little sooner."""
        return sum(map(self._runs.__getitem__, text.split()))

    def sums(self, text: str) -> Sums:
        """Return the running sums of a text without `has_dropped_space`, for all that stands between two spaces."""
        return run_sums(text, self.run)


def has_dropped_space(text: str) -> bool:
    """Tell whether a text has white space at which counts need not add up."""
    return any(map(text.__contains__, DROPPED_SPACE))


class _Runs(dict[str, int]):
    """The count of each run, filled as they turn up."""

    def __init__(self, count: TokenCounter) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, run: str) -> int:
        size = max(self._count(run), len(run) // CHARACTERS_A_TOKEN)
        if len(run) <= LONGEST_REMEMBERED:
            if len(self) >= REMEMBERED_RUNS:
                self.clear()  # as good as an order of use: common words are back at once
            self[run] = size
        return size


class _Estimates(dict[str, int]):
    """The `token_estimate` of words and signs; a run out of them is a sum, five times as quick as one without memory."""

    def __missing__(self, atom: str) -> int:
        size = token_estimate(atom)
        if len(self) < REMEMBERED_RUNS:
            self[atom] = size
        return size

    def run(self, run: str) -> int:
        """Return the estimate of a text without white space."""
        return sum(map(self.__getitem__, _ATOM.findall(run))) if run.isascii() else token_estimate(run)


class _EstimateCounts(RunCounts):
    """Counts by `token_estimate`."""

    def __init__(self) -> None:
        super().__init__(_Estimates().run)

    def sums(self, text: str) -> Sums:
        """Return the running sums of a text without `has_dropped_space`, without a look at each of its runs."""
        return estimate_sums(text, self.run)


estimate: RunCounts = _EstimateCounts()
"""The default: about what language models count, rather too many than too few."""
