"""The quality gate: judged after the context is there, chunks alone, each refusal with its reason."""

from __future__ import annotations

import pytest

from clew.search.pack import Gate
from clew.search.state import Hit, Rejection
from clew.testing import node
from clew.types import Kind, Quality, Stub

GATE = Gate(min_quality=0.4, min_words=30, excluded_stubs=("media", "reference", "breadcrumb"))
LONG = "word " * 40


def quality(overall: float, stub: Stub = Stub.NONE) -> Quality:
    return Quality(overall, overall, overall, overall, overall, stub, 40, 1)


def hit(
    text: str = LONG, *, of: Quality | None = None, kind: Kind = Kind.CHUNK, context: str = ""
) -> Hit:
    return Hit("a", 1.0, {}, node=node("a", text, kind=kind, quality=of), context=context)


def test_a_good_chunk_passes() -> None:
    assert GATE(hit(of=quality(0.4))) is None


@pytest.mark.parametrize(
    ("judged", "reason", "value", "limit"),
    [
        (hit(of=quality(0.39)), "quality", 0.39, 0.4),
        (hit(of=quality(0.9, Stub.MEDIA)), "stub:media", 0.9, 0.4),
        (hit(of=quality(0.9, Stub.REFERENCE)), "stub:reference", 0.9, 0.4),
        (hit(of=quality(0.9, Stub.BREADCRUMB)), "stub:breadcrumb", 0.9, 0.4),
        (hit("too short", of=quality(0.9)), "too_short", 2.0, 30.0),
    ],
)
def test_a_refusal_says_which_rule_and_by_how_much(
    judged: Hit, reason: str, value: float, limit: float
) -> None:
    assert GATE(judged) == Rejection(id="a", stage="gate", reason=reason, value=value, limit=limit)


def test_a_short_chunk_with_its_context_is_not_too_short() -> None:
    assert GATE(hit("too short", of=quality(0.9), context="Title\n\ntoo short")) is None


def test_a_context_does_not_make_a_poor_chunk_good() -> None:
    refused = GATE(hit("too short", of=quality(0.1), context=LONG))
    assert refused is not None
    assert refused.reason == "quality"


def test_stubs_that_are_not_excluded_pass() -> None:
    assert GATE(hit(of=quality(0.9, Stub.NOTE))) is None
    assert GATE(hit(of=quality(0.9, Stub.SENTENCE))) is None


def test_memories_and_what_was_never_assessed_pass() -> None:
    assert GATE(hit("short", of=quality(0.0, Stub.MEDIA), kind=Kind.MEMORY)) is None
    assert GATE(hit(of=None)) is None
    assert GATE(Hit("a", 1.0, {})) is None
