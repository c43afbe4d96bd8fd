"""The set with a year of history is what its generator makes, and holds what it promises."""

from __future__ import annotations

from collections import Counter

import yaml
from benchmarks.history import FILE, happenings
from benchmarks.memories.history.generate import BEGIN, END, generated


def test_the_set_is_what_its_generator_makes() -> None:
    assert FILE.read_text(encoding="utf-8") == generated()


def test_half_of_the_questions_are_decided_by_history() -> None:
    stores = yaml.safe_load(FILE.read_text(encoding="utf-8")).values()
    assert sum(len(store["memories"]) for store in stores) >= 300
    decided = Counter(question["decides"] for store in stores for question in store["questions"])
    assert decided == {"history": 120, "words": 121}


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
