"""What can be measured: a measure is a value that prints as its name and is read back from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from clew.errors import InputError

RANKED_FAMILIES = ("recall", "hit", "all", "nDCG", "MRR", "precision", "path")
SPAN_FAMILIES = ("token-recall", "token-precision", "token-IoU")
UNCUT = frozenset(
    {"MRR", *SPAN_FAMILIES}
)  # these may go without a cut-off: they read the whole ranking
CUT_REFUSED = frozenset({"MRR"})
LARGEST_CUTOFF = 10_000
_SHAPE = re.compile(
    r"(?:(?P<level>[a-z][a-z_]*)-)?(?P<family>[A-Za-z]+)(?:@(?P<cutoff>[1-9]\d{0,4}))?"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing to measure. `level` is empty for the level the run is judged at.

    >>> measure("file-recall@10")
    Measure(family='recall', cutoff=10, level='file')
    >>> str(Measure("nDCG", 10))
    'nDCG@10'
    """

    family: str
    cutoff: int | None = None
    level: str = ""

    @property
    def reads_spans(self) -> bool:
        """Whether it is judged by spans of characters and not by keys."""
        return self.family in SPAN_FAMILIES

    def __str__(self) -> str:
        """Return the name that tables and files use."""
        return (
            (f"{self.level}-" if self.level else "")
            + self.family
            + (f"@{self.cutoff}" if self.cutoff else "")
        )


def measure(name: str) -> Measure:
    """Read a measure from its name, or raise an InputError that lists what there is."""
    shape = _SHAPE.fullmatch(name)
    if shape is None:
        raise _unknown(name)
    level, family, digits = shape["level"] or "", shape["family"], shape["cutoff"]
    if level == "token":
        level, family = "", f"token-{family}"
    cutoff = int(digits) if digits else None
    known = family in RANKED_FAMILIES or (family in SPAN_FAMILIES and not level)
    cut_fits = family not in CUT_REFUSED if cutoff else family in UNCUT
    if not known or not cut_fits or (cutoff or 1) > LARGEST_CUTOFF:
        raise _unknown(name)
    return Measure(family, cutoff, level)


def measures(names: Iterable[str]) -> tuple[Measure, ...]:
    """Read several measures, each once, in the order given."""
    return tuple(measure(name) for name in dict.fromkeys(names))


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names as tables show them: by family, then cut-off, then level; unknown names last.

    >>> in_order(["nDCG@10", "recall@10", "hit@1", "recall@5"])
    ['recall@5', 'recall@10', 'hit@1', 'nDCG@10']
    """
    return sorted(set(names), key=_place)


def _place(name: str) -> tuple[int, str, int, str]:
    families = RANKED_FAMILIES + SPAN_FAMILIES
    try:
        known = measure(name)
    except InputError:
        return len(families), "", 0, name
    return families.index(known.family), known.level, known.cutoff or 0, name


def _unknown(name: str) -> InputError:
    return InputError(
        "measure",
        name,
        "is not a measure",
        f"Use {', '.join(f'{family}@k' for family in RANKED_FAMILIES if family not in CUT_REFUSED)}, "
        f"MRR, "
        f"{', '.join(SPAN_FAMILIES)}; k is 1 to {LARGEST_CUTOFF}; a level may stand in front, as "
        f"in file-recall@10.",
    )


DEFAULT_MEASURES = measures(
    (
        "recall@5",
        "recall@10",
        "hit@1",
        "hit@5",
        "hit@10",
        "all@5",
        "all@10",
        "nDCG@10",
        "MRR",
        "precision@5",
    )
)
SPAN_MEASURES = measures(SPAN_FAMILIES)
PATH_MEASURES = measures(
    ("path@5", "path@10")
)  # where the set knows how its evidence hangs together
