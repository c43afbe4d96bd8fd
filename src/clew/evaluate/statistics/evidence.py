"""What may not be shown as evidence.

A set that every system solves, a variant that changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

from clew.errors import InputError, RefusedError
from clew.evaluate.measures.runs import Run

SATURATED = 0.99  # issue 3: where every system reaches this mean, the set cannot tell them apart


def saturation(
    systems: Mapping[str, Mapping[str, float]], *, limit: float = SATURATED
) -> str | None:
    """Return why a set cannot tell systems apart, from each system's value for each question.

    None where it can.
    """
    if not systems or not all(systems.values()):
        raise InputError(
            "systems",
            sorted(systems),
            "every system needs the value of at least one question",
            "Check the part and the level.",
        )
    means = {name: fsum(values.values()) / len(values) for name, values in systems.items()}
    lowest = min(means, key=lambda name: (means[name], name))
    if means[lowest] >= limit:
        return f"every system scores at least {limit:g} (the lowest is {lowest} with {means[lowest]:.4f}): the set is saturated"
    first, *others = (dict(values) for values in systems.values())
    if others and all(other == first for other in others):
        return f"all {len(systems)} systems have the same value on every question: the set tells nothing about them"
    return None


def require_evidence(
    systems: Mapping[str, Mapping[str, float]],
    *,
    measure: str,
    dataset: str,
    limit: float = SATURATED,
) -> None:
    """Raise a RefusedError with the reason when a set cannot tell the systems apart."""
    reason = saturation(systems, limit=limit)
    if reason is not None:
        raise RefusedError(
            f"{dataset} by {measure} is no evidence: {reason}. Use a harder measure, a smaller cut-off, more questions or another set.",
            reason=reason,
            dataset=dataset,
            measure=measure,
        )


def changed(run_a: Run, run_b: Run, *, depth: int | None = None) -> int:
    """Return how many questions have a different ranking in two runs, within the first `depth` places.

    >>> changed({"q": ["a", "b"], "r": ["a"]}, {"q": ["b", "a"], "r": ["a"]})
    1
    """
    return sum(
        tuple(run_a.get(query, ())[:depth]) != tuple(run_b.get(query, ())[:depth])
        for query in run_a.keys() | run_b.keys()
    )


def require_change(variant: str, base: Run, altered: Run, *, depth: int | None = None) -> int:
    """Return how many rankings a variant changed, or raise a RefusedError when it changed none."""
    count = changed(base, altered, depth=depth)
    if not count:
        within = f" within the first {depth}" if depth else ""
        raise RefusedError(
            f"{variant} changed no ranking{within} in {len(base)} questions: an error, not a result. Check that its setting takes effect.",
            variant=variant,
            questions=len(base),
            changed=0,
        )
    return count
