"""The set with a year of history is what its generator makes, and holds what it promises."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml
from benchmarks.history import FILE, happenings
from benchmarks.memories.history.generate import BEGIN, END, generated

from clew.errors import InputError
from clew.evaluate.ablating import Variant, ablate, usual_variants
from clew.evaluate.datasets import load
from clew.evaluate.plan import Plan, Watch


def test_the_set_is_what_its_generator_makes() -> None:
    assert FILE.read_text(encoding="utf-8") == generated()


def test_as_many_questions_are_decided_by_history_as_by_words() -> None:
    stores = yaml.safe_load(FILE.read_text(encoding="utf-8")).values()
    assert sum(len(store["memories"]) for store in stores) >= 300
    decided = Counter(question["decides"] for store in stores for question in store["questions"])
    assert decided == {"history": 120, "words": 121, "as-of": 46, "known-at": 46}


def test_every_memory_lives_within_the_year_and_is_told_before_anything_else_happens_to_it() -> (
    None
):
    for store in yaml.safe_load(FILE.read_text(encoding="utf-8")).values():
        told: set[str] = set()
        for day, _, what, memory in happenings(store["memories"]):
            assert BEGIN <= day < END
            assert (memory["key"] in told) == (what != "told")
            told.add(memory["key"])
            assert memory.get("supersedes", memory["key"]) in told
        assert all(set(question["needs"]) <= told for question in store["questions"])


def test_the_set_is_loaded_with_what_happened_in_order() -> None:
    made = load("history", FILE.parent)
    assert len(made.passages) >= 300
    assert {query.category for query in made.queries} == {"history", "words", "as-of", "known-at"}
    assert list(made.history) == sorted(made.history, key=lambda each: each.at)
    assert {each.kind for each in made.history} == {"told", "again", "used"}
    as_of = next(query for query in made.queries if query.category == "as-of")
    assert as_of.asked_at is not None
    assert as_of.known_at is None


def test_each_of_tracerank_decay_as_of_and_known_at_is_ablated(tmp_path: Path) -> None:
    plan = Plan(
        dataset="history",
        path=FILE.parent,
        settings={"model.embedder": "hashing-64"},
        resamples=200,
        cache=tmp_path,
    )
    variants = [Variant(name="no-tracerank", settings={"tracerank.enabled": False})]
    variants += [each for each in usual_variants(plan.loaded().settings) if each.needs == "history"]
    result = ablate(plan, variants=variants, usual=False, watch=Watch()).result
    deltas = {each.variant: each.by_category for each in result.ablations}
    assert deltas.keys() == {"no-tracerank", "decay", "no-as-of", "no-known-at"}
    assert deltas["no-tracerank"]["history"] < 0
    assert deltas["no-as-of"]["as-of"] < -0.1
    assert deltas["no-as-of"]["known-at"] == deltas["no-as-of"]["words"] == 0
    assert deltas["no-known-at"]["known-at"] < -0.1
    assert deltas["no-known-at"]["as-of"] == deltas["no-known-at"]["words"] == 0
    assert deltas["decay"]["words"] < 0


def test_a_history_that_does_not_fit_together_names_the_field(tmp_path: Path) -> None:
    (tmp_path / "memories.yaml").write_text(
        "one:\n  memories:\n  - {key: a, text: t, told: soon}\n  questions: []\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="told"):
        load("history", tmp_path)
