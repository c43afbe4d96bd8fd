"""Print how well conflicts are found.

Both parts of the labelled pairs by label, and what is reported of whole stores.

    python -m benchmarks.conflicts [--words]

With --words no model is used, so that names and words alone decide.
"""

from __future__ import annotations

import sys
from time import perf_counter

import clew
from benchmarks.conflicts.pairs import CONFLICTING, PARTS, labelled, measured, stores


def main() -> None:
    """Measure and print."""
    words = "--words" in sys.argv
    with clew.open(":memory:") as first:
        embedder = None if words else first._vectors.embedder

    def opened() -> clew.Clew:
        return (
            clew.open(":memory:", model={"embedder": "none"})
            if embedder is None
            else clew.open(":memory:", embedder=embedder)
        )

    for part in PARTS:
        found = measured(labelled(part), opened)
        print(f"{part}: precision {found.precision:.3f}, recall {found.recall:.3f}")
        for label, count in found.pairs.items():
            wanted = "found" if label in CONFLICTING else "false alarms"
            print(f"  {label:<14} {found.reported[label]:>3} of {count:>3} {wanted}")
    for name, texts in stores():
        with opened() as memory:
            memory.remember_many([{"text": text} for text in texts], on_duplicate="insert")
            began = perf_counter()
            conflicts = memory.conflicts()
            print(
                f"{name}: {len(conflicts)} reported of {len(texts)} memories in {perf_counter() - began:.2f} s"
            )
            for each in conflicts:
                print(
                    f"  {each.score:.2f} {each.kind:<8} {each.first.text[:100]} | {each.second.text[:100]}"
                )


if __name__ == "__main__":
    main()
