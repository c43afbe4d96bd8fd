"""An honest "nothing relevant": when it is said, what it does to the answer, and that its calibration is what the figures gave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks import calibrate_relevance as calibrating
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.recall.relevant import MOST_TERMS, WORDS_ALONE, Calibration, Evidence, Relevant, calibrations, heard, probability, telling
from clew.recall.state import Recall
from clew.testing import FixedClock

NOTES = (
    "The harbour server runs Postgres and listens on port 5432",
    "The deploy of the harbour server failed because the disk was full",
    "Dana takes her tea with milk and without sugar",
    "The lighthouse project meets every Tuesday in the small room",
)
LEDGER = tuple(f"Entry {number} of the ledger was paid from account {number * 7919 % 10_007}" for number in range(400))
"""What makes a space large enough to have heard of what it can answer."""
KNOWN = "which port does Postgres on the harbour server listen on"
FOREIGN = "Which iguana did Svetlana the falconer photograph near the harbour of Valletta?"
UNIT = st.floats(0, 1)
EVIDENCE = st.builds(Evidence, UNIT, UNIT, UNIT, UNIT)


def opened(notes: Sequence[str] = NOTES + LEDGER, /, **recall: object) -> clew.Clew:
    memory = clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock(), recall={"dense_floor": -1.0, **recall})
    memory.remember_many([{"text": note} for note in notes], near=False)
    return memory


def asked(question: str, recipe: str = "balanced", **recall: object) -> Recall:
    with opened(**recall) as memory:
        return memory.recall(question, track=False, recipe=recipe)


def test_a_question_about_what_was_never_stored_is_flagged_and_its_hits_are_kept() -> None:
    flagged, free = asked(FOREIGN), asked(FOREIGN, relevance_gate="off")
    assert flagged.nothing_relevant
    assert not free.nothing_relevant
    assert [(hit.text, hit.score) for hit in flagged.hits] == [(hit.text, hit.score) for hit in free.hits]
    assert flagged.hits
    assert flagged.filtered_count == free.filtered_count


@pytest.mark.parametrize("gate", ["on", "flag"])
def test_a_question_that_is_answered_passes(gate: str) -> None:
    answer = asked(KNOWN, relevance_gate=gate)
    assert not answer.nothing_relevant
    assert answer.hits[0].text == NOTES[0]
    assert answer.notes == ()


def test_held_back_hits_are_counted_and_the_one_on_top_is_named() -> None:
    with opened(relevance_gate="on") as memory:
        free = memory.variant(**{"recall.relevance_gate": "off"}).recall(FOREIGN, track=False)
        answer = memory.recall(FOREIGN, track=False)
    assert answer.nothing_relevant
    assert answer.hits == ()
    assert answer.filtered_count >= len(free.hits) > 0
    best = answer.best_rejected
    assert best is not None
    assert (best.id, best.stage, best.reason) == (free.hits[0].id, "relevant", "not_relevant")
    assert best.value < best.limit
    assert f"{best.value:.3f}" in answer.notes[-1]
    assert answer.stats["rejected"]["not_relevant"] == answer.filtered_count


def test_why_not_names_the_stage_for_a_hit_that_was_held_back() -> None:
    with opened(relevance_gate="on") as memory:
        top = memory.variant(**{"recall.relevance_gate": "off"}).recall(FOREIGN, track=False).hits[0]
        found = memory.why_not(FOREIGN, top.id)
    assert (found.stage, found.reason, found.rank) == ("relevant", "not_relevant", 1)
    assert found.value < found.threshold


def test_the_answer_says_how_sure_it_is_and_by_what() -> None:
    told = asked(KNOWN).stats["relevance"]
    assert told["probability"] >= told["threshold"] > 0
    assert told["calibrated"] is False  # nobody measured the hashing model's cosines
    assert asked(KNOWN, relevance_gate="off").stats["relevance"] is None


@pytest.mark.parametrize("recipe", ["lexical", "dense"])
def test_one_channel_alone_is_not_judged(recipe: str) -> None:
    assert asked(FOREIGN, recipe, relevance_gate="on").relevance is None


@pytest.mark.parametrize("question", ["what was it in May 2023?", "who is it?"])
def test_a_question_without_a_telling_word_cannot_be_doubted(question: str) -> None:
    assert asked(question, relevance_gate="on").relevance is None


def test_a_filter_that_leaves_a_word_out_makes_it_unknown() -> None:
    with opened() as memory:
        memory.remember("Svetlana the falconer photographed an iguana near Valletta", category="fact", near=False)
        assert not memory.recall(FOREIGN, track=False).nothing_relevant
        assert memory.recall(FOREIGN, track=False, where={"category": "observation"}).nothing_relevant


def test_a_space_of_a_few_memories_is_not_blamed_for_the_words_that_it_has_not_heard() -> None:
    with opened(NOTES) as memory:
        assert not memory.recall(FOREIGN, track=False).nothing_relevant


def test_nor_is_a_large_space_where_the_filter_leaves_a_few() -> None:
    with opened() as memory:
        memory.remember("The plotter is out of paper", category="fact", near=False)
        assert not memory.recall(FOREIGN, track=False, where={"category": "fact"}).nothing_relevant


def test_an_endless_question_is_read_from_its_beginning() -> None:
    assert MOST_TERMS <= len(telling(" ".join(f"word{number}x" for number in range(10_000)))) < 2 * MOST_TERMS


def test_pairs_of_signs_from_scripts_without_spaces_are_not_taken_for_names() -> None:
    assert set(telling("数据库在哪里").values()) == {1.0}


@given(EVIDENCE, st.sampled_from(sorted(calibrations())), UNIT)
def test_more_unknown_words_and_fewer_covered_ones_never_raise_the_probability(evidence: Evidence, model: str, other: float) -> None:
    weighed = calibrations()[model]
    assert 0 < probability(evidence, weighed) < 1
    less, more = sorted((evidence.unknown, other))
    assert probability(evidence._replace(unknown=more), weighed) <= probability(evidence._replace(unknown=less), weighed)
    less, more = sorted((evidence.covered, other))
    assert probability(evidence._replace(covered=less), weighed) <= probability(evidence._replace(covered=more), weighed)


def test_extreme_weights_stay_finite() -> None:
    steep = Calibration(weights={"cosine": 1e9}, bias=-1e8, threshold=0.5, calibrated=True)
    assert 0 < probability(Evidence(0, 0, 0, 0), steep) < probability(Evidence(1, 0, 0, 0), steep) <= 1


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_what_a_larger_space_has_not_heard_tells_more(one: int, other: int) -> None:
    small, large = sorted((one, other))
    assert 0 <= heard(small) <= heard(large) < 1


def test_the_stage_is_a_value() -> None:
    with opened(relevance_gate="on") as memory:
        stages = memory.recipe("balanced").stages
        assert Relevant(mode="on", candidates=memory.settings.recall.candidates, store=memory.store) in stages
        assert not any(isinstance(stage, Relevant) for stage in memory.recipe("balanced").without(Relevant).stages)


def test_the_calibration_is_what_the_kept_figures_give() -> None:
    sets = {name: calibrating.kept(calibrating.RESULTS / f"{name}.json") for name in (*calibrating.SETS, *calibrating.SMALL)}
    model = next(name for name in calibrations() if name != WORDS_ALONE)
    made = calibrating.report(sets, model)
    assert "\n".join(calibrating.toml(made)) + "\n" == calibrating.CALIBRATION.read_text(encoding="utf-8")
    assert calibrating.table(made) == (calibrating.RESULTS / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(calibrating.SETS))
def test_every_set_has_a_hundred_questions_that_name_what_it_lacks(name: str) -> None:
    questions = calibrating.never_stored(name)
    assert len({text for _, text, _ in questions}) == len(questions) >= 100
    assert all(claims and "{" not in text for _, text, claims in questions)


@pytest.mark.model
def test_the_default_models_cosines_are_weighed(real_model: Path) -> None:
    with clew.open(":memory:", clock=FixedClock()) as memory:
        for note in NOTES:
            memory.remember(note, near=False)
        known, foreign = memory.recall(KNOWN, track=False), memory.recall(FOREIGN, track=False)
    assert known.relevance is not None
    assert known.relevance.calibrated
    assert not known.nothing_relevant
    assert foreign.nothing_relevant


@pytest.mark.parametrize("name", calibrating.SMALL)
def test_no_right_answer_of_a_small_space_is_doubted(name: str) -> None:
    samples = calibrating.kept(calibrating.RESULTS / f"{name}.json")
    for calibration in calibrations().values():
        right = [sample for sample in samples if sample.answerable and sample.recall]
        assert len(right) >= 40
        assert [sample for sample in right if probability(sample.evidence, calibration) < calibration.threshold] == []
