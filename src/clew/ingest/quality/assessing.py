"""From the parts to one number."""

from __future__ import annotations

from collections.abc import Mapping
from operator import mul
from types import MappingProxyType

from clew.ingest.quality.hollow import is_idle, is_noise
from clew.ingest.quality.parts import clarity, coherence, specificity, substance
from clew.ingest.quality.reading import read
from clew.ingest.quality.stubs import stub
from clew.ingest.quality.value import ANALYSER, Quality, Stub

# What a text tells decides; how it is put hardly makes a memory worthless. Set on the calibration half of the labelled examples
# in tests/ingest/fixtures/quality, so that three telling words, or two and a detail, reach the gate's 0.4.
WEIGHTS: Mapping[str, float] = MappingProxyType({"substance": 0.55, "specificity": 0.25, "coherence": 0.1, "clarity": 0.1})
_WEIGHTS = tuple(WEIGHTS.values())  # in the order of the parts
CAPS: Mapping[Stub, float] = MappingProxyType(
    {Stub.MEDIA: 0.2, Stub.REFERENCE: 0.3, Stub.BREADCRUMB: 0.3, Stub.NOTE: 0.6, Stub.SENTENCE: 0.8, Stub.NONE: 1.0}
)
HOLLOW_CAP = 0.2
DIGITS = 4  # of a score: the rest is noise of the last bit, and would differ between machines


def assess(text: str, *, title: str = "", format: str = "text") -> Quality:
    """Return how good a text is by itself, with the parts and the kind of stub.

    `overall` is the mean of the parts by WEIGHTS, at most the stub's cap, and at most HOLLOW_CAP for idle talk and noise.
    `format` is text, markdown, html or conversation; any other name is taken for a language of code or data.

    >>> assess("Postgres on db-3 listens on port 6543").overall >= 0.4 > assess("Haha yeah totally!").overall
    True
    >>> assess("Home > Docs > API").stub
    <Stub.BREADCRUMB: 'breadcrumb'>
    """
    reading = read(text, format=format)
    noise = is_noise(reading)
    hollow = noise or is_idle(reading)
    kind = stub(reading)
    if noise and kind in (Stub.SENTENCE, Stub.NOTE):
        kind = Stub.NONE
    parts = (
        0.0 if hollow else substance(reading),
        specificity(reading, title=read(title) if title else None),
        coherence(reading),
        clarity(reading),
    )
    mean = sum(map(mul, _WEIGHTS, parts))
    overall = min(mean, CAPS[kind], HOLLOW_CAP if hollow else 1.0)
    total, told, pinned, whole, clear = [round(value, DIGITS) for value in (overall, *parts)]
    return Quality(total, told, pinned, whole, clear, kind, reading.words, ANALYSER)
