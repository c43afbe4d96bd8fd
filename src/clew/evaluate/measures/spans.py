"""Token recall, precision and IoU: how much of the answer's text was returned, and how much else.

As defined by Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024),
and counted, as in their code, in characters. A stretch of the answer counts once however often it
was returned; in the returned text every repeat counts, so that overlapping chunks pay for what they
say twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clew.evaluate.data import Span

Range = tuple[int, int]


class SpanScore(NamedTuple):
    """How returned text covers the answer's text."""

    recall: float
    precision: float
    iou: float


def span_score(returned: Sequence[Span], answer: Sequence[Span]) -> SpanScore:
    """Score returned spans against the answer's; nothing returned is zero.

    >>> span_score([Span("d", 0, 10), Span("d", 5, 15)], [Span("d", 8, 18)])
    SpanScore(recall=0.7, precision=0.35, iou=0.30434782608695654)
    """
    gold, found = united(answer), united(returned)
    shared = sum(_overlap(ranges, found.get(document, [])) for document, ranges in gold.items())
    wanted = sum(_length(ranges) for ranges in gold.values())
    spent = sum(max(0, span.end - span.start) for span in returned)
    return SpanScore(
        _share(shared, wanted), _share(shared, spent), _share(shared, spent + wanted - shared)
    )


def united(spans: Iterable[Span]) -> dict[str, list[Range]]:
    """Join overlapping and touching spans of each document; empty ones are dropped.

    >>> united([Span("d", 5, 9), Span("d", 0, 6), Span("d", 3, 3)])
    {'d': [(0, 9)]}
    """
    joined: dict[str, list[Range]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: (span.document, span.start, span.end)):
        ranges = joined[span.document]
        if span.end <= span.start:
            continue
        if ranges and span.start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], span.end))
        else:
            ranges.append((span.start, span.end))
    return dict(joined)


def _overlap(one: Sequence[Range], other: Sequence[Range]) -> int:
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in one for b in other)


def _length(ranges: Iterable[Range]) -> int:
    return sum(end - start for start, end in ranges)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
