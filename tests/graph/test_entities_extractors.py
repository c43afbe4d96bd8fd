"""Extractors: the rules and the libraries keep the same promises, and a library that is missing or fails says what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from clew.errors import InputError, ModelError, ModelMissingError
from clew.text.names.adapters import GlinerExtractor, SpacyExtractor
from clew.text.names.extraction import Extractor, RuleExtractor
from clew.text.names.keys import EntityType

TEXTS = ["Anna flew to Rome on Monday.", "", "Rome again, and Rome."]
SPANS = [("Anna", "PERSON"), ("Rome", "GPE"), ("Monday", "DATE")]


def spans(text: str) -> Iterable[tuple[int, str, str]]:
    for name, label in SPANS:
        start = text.find(name)
        while start >= 0:
            yield start, name, label
            start = text.find(name, start + 1)


@dataclass
class FakePipeline:
    """Speaks as spaCy does: `pipe(texts)` gives documents with `ents`."""

    broken: bool = False

    def pipe(self, texts: Sequence[str]) -> Iterable[Any]:
        if self.broken:
            raise RuntimeError("E088: text too long")
        for text in texts:
            yield SimpleNamespace(
                ents=[
                    SimpleNamespace(label_=label, start_char=at, end_char=at + len(name))
                    for at, name, label in spans(text)
                ]
            )


@dataclass
class FakeGliner:
    """Speaks as GLiNER does: `predict_entities(text, labels, threshold=…)` gives dictionaries."""

    beyond: int = 0
    asked: list[tuple[str, float]] = field(default_factory=list)

    def predict_entities(
        self, text: str, labels: list[str], *, threshold: float
    ) -> list[dict[str, Any]]:
        self.asked.append((text, threshold))
        kinds = {"PERSON": "person", "GPE": "location"}
        assert set(kinds.values()) <= set(labels)
        return [
            {
                "start": at,
                "end": at + len(name) + self.beyond,
                "text": name,
                "label": kinds[label],
                "score": 0.8,
            }
            for at, name, label in spans(text)
            if label in kinds
        ]


def install_spacy(monkeypatch: pytest.MonkeyPatch, pipeline: FakePipeline) -> list[str]:
    loads: list[str] = []

    def load(name: str) -> FakePipeline:
        loads.append(name)
        if name == "unknown":
            raise OSError("[E050] Can't find model 'unknown'")
        return pipeline

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    return loads


def install_gliner(monkeypatch: pytest.MonkeyPatch, model: FakeGliner) -> None:
    monkeypatch.setitem(
        sys.modules,
        "gliner",
        SimpleNamespace(GLiNER=SimpleNamespace(from_pretrained=lambda name: model)),
    )


@pytest.mark.parametrize("name", ["rules", "spacy", "gliner"])
def test_every_extractor_answers_for_each_text_in_order(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_spacy(monkeypatch, FakePipeline())
    install_gliner(monkeypatch, FakeGliner())
    extractors: dict[str, Extractor] = {
        "rules": RuleExtractor(),
        "spacy": SpacyExtractor(),
        "gliner": GlinerExtractor("urchade/gliner_small"),
    }
    extractor = extractors[name]
    assert isinstance(extractor, Extractor)
    found = extractor.extract(TEXTS)
    named = [sorted((entity.name, entity.type) for entity in entities) for entities in found]
    assert named == [
        [("Anna", EntityType.PERSON), ("Rome", EntityType.PLACE)],
        [],
        [("Rome", EntityType.PLACE)],
    ]
    assert all(
        text[entity.start : entity.end] == entity.name
        for text, entities in zip(TEXTS, found, strict=True)
        for entity in entities
    )
    assert list(extractor.extract([])) == []


def test_the_library_is_loaded_once_and_not_before_the_first_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads = install_spacy(monkeypatch, FakePipeline())
    extractor = SpacyExtractor("en_core_web_md")
    assert loads == []
    extractor.extract(TEXTS)
    extractor.extract(TEXTS)
    assert loads == ["en_core_web_md"]


def test_what_is_kept_is_limited_and_the_threshold_reaches_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = FakeGliner()
    install_gliner(monkeypatch, model)
    assert [len(found) for found in GlinerExtractor("m", limit=1, least=0.5).extract(TEXTS)] == [
        1,
        0,
        1,
    ]
    assert model.asked == [(TEXTS[0], 0.5), (TEXTS[2], 0.5)]
    # met twice, Rome is surer
    assert [len(found) for found in GlinerExtractor("m", least=0.85).extract(TEXTS)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("module", "extractor"), [("spacy", SpacyExtractor()), ("gliner", GlinerExtractor("m"))]
)
def test_a_library_that_is_not_installed_is_named_with_the_command_that_installs_it(
    module: str, extractor: Extractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModelMissingError, match=f"pip install {module}"):
        extractor.extract(["Anna"])


def test_a_pipeline_that_is_not_there_is_named_with_the_command_that_fetches_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install_spacy(monkeypatch, FakePipeline())
    with pytest.raises(ModelMissingError, match="python -m spacy download unknown"):
        SpacyExtractor("unknown").extract(["Anna"])


def test_a_failure_inside_a_library_becomes_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    install_spacy(monkeypatch, FakePipeline(broken=True))
    with pytest.raises(ModelError, match="E088"):
        SpacyExtractor().extract(["Anna"])


def test_a_span_beyond_the_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install_gliner(monkeypatch, FakeGliner(beyond=100))
    with pytest.raises(ModelError, match="span"):
        GlinerExtractor("m").extract(TEXTS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RuleExtractor(limit=-1),
        lambda: SpacyExtractor(least=2),
        lambda: GlinerExtractor("m", limit=-1),
    ],
)
def test_limits_are_checked_when_an_extractor_is_made(make: Any) -> None:
    with pytest.raises(InputError):
        make()
