"""An honest "nothing relevant": when it is said, what it does to the answer, and that its calibration is what the figures gave."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from benchmarks import calibrate_relevance as calibrating
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.errors import ModelError
from clew.models.hashing import HashingEmbedder
from clew.ports import Embedder, EmbedRole
from clew.recall.kindred import READ
from clew.recall.relevant import WORDS_ALONE, Calibration, Evidence, Relevant, calibrations, doubt, in_doubt, probability
from clew.recall.state import Recall, Relevance
from clew.recall.telling import CODE, EVERYDAY, MOST_TERMS, NAME, RARE, Word, heard, rarity, telling
from clew.testing import FixedClock
from clew.types import Vectors

NOTES = (
    "The harbour server runs Postgres and listens on port 5432",
    "The deploy of the harbour server failed because the disk was full",
    "Dana takes her tea with milk and without sugar",
    "The lighthouse project meets every Tuesday in the small room",
)
LEDGER = tuple(f"Entry {number} of the ledger was paid from account {number * 7919 % 10_007}" for number in range(1500))
"""What makes a space large enough to have heard of what it can answer."""
KNOWN = "which port does Postgres on the harbour server listen on"
IN_DOUBT = "does the lighthouse room have a window"
FOREIGN = "Which iguana did Svetlana the falconer photograph in Valletta?"
UNIT = st.floats(0, 1)
EVIDENCE = st.builds(Evidence, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, st.floats(1, 1e9), UNIT, UNIT, UNIT, UNIT)
SILENT = Evidence(0, 0, 0, 0, 0, 0)
WEIGHED = [each for known in calibrations().values() for each in (known, known.closer) if each is not None]
MEASURED = next(name for name in calibrations() if name != WORDS_ALONE)


class Measured(HashingEmbedder):
    """A model under the name of one whose cosines were measured: its texts are as near each other as their words are alike."""

    @property
    def id(self) -> str:
        return MEASURED


class Reading(Measured):
    """The same, which also tells what each word means: itself, and nothing else."""

    read = 0

    def word_vectors(self, texts: Sequence[Sequence[str]], *, role: EmbedRole) -> list[Vectors]:
        self.read += len(texts)
        return [self.embed(text, role=role) for text in texts]


class Failing(Measured):
    """One that gives a question its vector and fails when it is asked for more."""

    def word_vectors(self, texts: Sequence[Sequence[str]], *, role: EmbedRole) -> list[Vectors]:
        raise ModelError("The model has gone.")


def opened(notes: Sequence[str] = NOTES + LEDGER, /, **recall: object) -> clew.Clew:
    memory = clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock(), recall={"dense_floor": -1.0, **recall})
    memory.remember_many([{"text": note} for note in notes], near=False)
    return memory


@cache
def shared() -> clew.Clew:
    """A large space for tests that only ask, made once."""
    return opened()


@cache
def measured() -> clew.Clew:
    """The same space under the name of a model whose cosines were measured."""
    memory = clew.open(":memory:", embedder=Measured(256), clock=FixedClock(), recall={"dense_floor": -1.0})
    memory.remember_many([{"text": note} for note in NOTES + LEDGER], near=False)
    return memory


def judged_by(embedder: Embedder, question: str) -> Relevance:
    space = measured()
    with clew.Clew(store=space.store, embedder=embedder, settings=space.settings, clock=FixedClock(), owns_store=False) as memory:
        found = memory.recall(question, track=False).relevance
    assert found is not None
    return found


def asked(question: str, recipe: str = "balanced", **recall: object) -> Recall:
    variant = shared().variant(**{f"recall.{key}": value for key, value in recall.items()})
    return variant.recall(question, track=False, recipe=recipe)


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
    free, answer = asked(FOREIGN, relevance_gate="off"), asked(FOREIGN, relevance_gate="on")
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
    top = asked(FOREIGN, relevance_gate="off").hits[0]
    found = shared().variant(**{"recall.relevance_gate": "on"}).why_not(FOREIGN, top.id)
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


def test_a_question_without_a_telling_word_cannot_be_doubted() -> None:
    assert asked("who is it?", relevance_gate="on").relevance is None


def test_where_only_a_time_is_asked_about_and_nothing_is_of_it_nothing_is_relevant() -> None:
    answer = asked("what was it in May 2023?")
    assert answer.nothing_relevant
    assert answer.hits


def test_a_filter_that_leaves_a_word_out_makes_it_unknown() -> None:
    with opened() as memory:
        memory.remember("Svetlana the falconer photographed an iguana near Valletta", category="fact", near=False)
        assert not memory.recall(FOREIGN, track=False).nothing_relevant
        assert memory.recall(FOREIGN, track=False, where={"category": "observation"}).nothing_relevant
        memory.remember("The plotter is out of paper", category="plan", near=False)
        few = memory.recall(FOREIGN, track=False, where={"category": "plan"})
        assert not few.nothing_relevant, "a large space where the filter leaves a few is judged as a small one"


def test_a_word_of_expired_memories_alone_is_unknown() -> None:
    with opened() as memory:
        never = memory.recall(FOREIGN, track=False).relevance
        memory.expire(str(memory.remember("Svetlana the falconer photographed her iguana in Valletta", near=False).id))
        assert memory.recall(FOREIGN, track=False).relevance == never


def test_a_space_of_a_few_memories_is_not_blamed_for_the_words_that_it_has_not_heard() -> None:
    with opened(NOTES) as memory:
        assert not memory.recall(FOREIGN, track=False).nothing_relevant


def test_an_endless_question_is_read_from_its_beginning() -> None:
    assert MOST_TERMS <= len(telling(" ".join(f"word{number}x" for number in range(10_000)))) < 2 * MOST_TERMS


def test_pairs_of_signs_from_scripts_without_spaces_are_not_taken_for_names() -> None:
    assert set(telling("数据库在哪里").values()) == {EVERYDAY}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which novel is Gina translating?", {"novel": EVERYDAY, "gina": NAME, "translat": EVERYDAY}),
        ("which novel is gina translating?", {"novel": EVERYDAY, "gina": RARE, "translat": EVERYDAY}),
        ("Zsuzsanna's iguana", {"zsuzsanna": RARE, "iguana": RARE}),  # every sentence begins with a capital
        ("Is it Müller’s?", {"muller": NAME}),
        ("Does SRL bind TFRC1?", {"srl": RARE, "bind": EVERYDAY, "tfrc1": RARE}),
        ("What did President Biden promise?", {"presid": EVERYDAY, "biden": EVERYDAY, "promis": EVERYDAY}),
        ("what did a president Biden promise?", {"presid": EVERYDAY, "biden": NAME, "promis": EVERYDAY}),
        ("Which kind of event did several people attend?", {}),
        ("What caused INC-4999 on plover-08?", {"inc": RARE, "4999": CODE, "plover": RARE, "08": CODE}),
        ("Is RFC 2119 meant by #12, in May-2023 or on 2024-05-07?", {"rfc": RARE, "2119": CODE, "12": CODE, "meant": EVERYDAY}),
        ('⑴ ½ "X"\'s', {}),
        ("茶?", {"茶": EVERYDAY}),
    ],
)
def test_names_rare_words_and_everyday_ones_are_told_apart_and_words_that_only_ask_are_left_out(
    question: str, told: dict[str, Word]
) -> None:
    assert telling(question) == told


@given(EVIDENCE, st.sampled_from(WEIGHED), UNIT)
def test_no_sign_ever_counts_the_wrong_way_round(evidence: Evidence, weighed: Calibration, other: float) -> None:
    assert 0 < probability(evidence, weighed) < 1
    for sign in ("strange", "unheard", "nameless"):
        less, more = sorted((getattr(evidence, sign), other))
        assert probability(evidence._replace(**{sign: more}), weighed) <= probability(evidence._replace(**{sign: less}), weighed)
    for sign in ("cosine", "lead", "covered", "agreed", "grasped", "met", "least"):
        less, more = sorted((getattr(evidence, sign), other))
        assert probability(evidence._replace(**{sign: less}), weighed) <= probability(evidence._replace(**{sign: more}), weighed)


def test_extreme_weights_stay_finite() -> None:
    steep = Calibration(weights={"cosine": 1e9}, bias=-1e8, threshold=0.5, calibrated=True)
    assert 0 < probability(SILENT, steep) < probability(SILENT._replace(cosine=1), steep) <= 1


def test_more_of_a_sign_than_enough_tells_no_more() -> None:
    weighed = Calibration(weights={"cosine": 9.0}, bias=-5.0, threshold=0.5, calibrated=True, enough={"cosine": 0.7})
    near, nearer, far = (probability(SILENT._replace(cosine=cosine), weighed) for cosine in (0.7, 0.9, 0.6))
    assert far < near == nearer


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.sampled_from((NAME, RARE, EVERYDAY)))
def test_what_a_larger_space_has_not_heard_tells_more_and_it_is_doubted_more_readily(one: int, other: int, word: Word) -> None:
    small, large = sorted((one, other))
    assert 0 <= heard(small, word) <= heard(large, word) < 1
    assert heard(large, EVERYDAY) <= heard(large, NAME)
    assert 0 <= doubt(SILENT._replace(said=small)) <= doubt(SILENT._replace(said=large)) <= doubt(SILENT) == 1


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_word_that_fewer_hold_is_rarer(one: int, other: int, nodes: int) -> None:
    few, many = sorted((one, other))
    assert 0 < rarity(many, nodes) <= rarity(few, nodes) <= rarity(0, nodes) == 1


def test_an_unknown_name_speaks_against_the_hits_more_than_an_unknown_word() -> None:
    with opened() as memory:
        named, plain = (memory.recall(f"which port does {who} listen on", track=False).relevance for who in ("Zsuzsanna", "harpsichord"))
    assert named is not None
    assert plain is not None
    assert named.probability < plain.probability


def test_where_the_signs_that_cost_little_leave_a_doubt_the_best_hits_are_read_closely() -> None:
    reading = Reading(256)
    plain, close = judged_by(Measured(256), IN_DOUBT), judged_by(reading, IN_DOUBT)
    assert 0 < reading.read <= 1 + READ
    known = calibrations()[MEASURED]
    assert known.closer is not None
    assert plain.threshold / known.threshold == pytest.approx(close.threshold / known.closer.threshold)
    assert plain.probability != close.probability


def test_what_is_beyond_doubt_is_not_read_closely() -> None:
    reading = Reading(256)
    assert judged_by(reading, NOTES[0]) == judged_by(Measured(256), NOTES[0])
    assert judged_by(reading, FOREIGN) == judged_by(Measured(256), FOREIGN)
    assert reading.read == 0


def test_a_model_that_fails_while_it_reads_costs_no_answer() -> None:
    assert judged_by(Failing(256), IN_DOUBT) == judged_by(Measured(256), IN_DOUBT)


def test_the_same_question_is_judged_the_same_again() -> None:
    assert judged_by(Reading(256), IN_DOUBT) == judged_by(Reading(256), IN_DOUBT)


def test_the_stage_is_a_value() -> None:
    with opened(NOTES, relevance_gate="on") as memory:
        stages = memory.recipe("balanced").stages
        assert Relevant(mode="on", candidates=memory.settings.recall.candidates, store=memory.store) in stages
        assert not any(isinstance(stage, Relevant) for stage in memory.recipe("balanced").without(Relevant).stages)


def test_the_calibration_is_what_the_kept_figures_give() -> None:
    sets = {name: calibrating.kept(calibrating.RESULTS / f"{name}.json") for name in (*calibrating.SETS, *calibrating.SMALL)}
    made = calibrating.report(sets, MEASURED)
    assert "\n".join(calibrating.toml(made)) + "\n" == calibrating.CALIBRATION.read_text(encoding="utf-8")
    assert calibrating.table(made) == (calibrating.RESULTS / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted((*calibrating.SETS, *calibrating.SMALL)))
def test_every_set_has_a_hundred_questions_that_name_what_it_lacks(name: str) -> None:
    questions = calibrating.never_stored(name)
    assert len({text for _, text, _ in questions}) == len(questions) >= 100
    assert all(claims and "{" not in text for _, text, claims in questions)


@pytest.mark.model
def test_the_default_models_cosines_are_weighed(real_embedder: Embedder) -> None:
    with clew.open(":memory:", embedder=real_embedder, clock=FixedClock()) as memory:
        for note in NOTES:
            memory.remember(note, near=False)
        known, foreign = memory.recall(KNOWN, track=False), memory.recall(FOREIGN, track=False)
    assert known.relevance is not None
    assert known.relevance.calibrated
    assert not known.nothing_relevant
    assert foreign.nothing_relevant


@pytest.mark.parametrize("name", sorted(set(calibrating.SMALL) - set(calibrating.JUDGED_ONLY)))
def test_no_right_answer_of_a_small_space_is_doubted(name: str) -> None:
    samples = calibrating.kept(calibrating.RESULTS / f"{name}.json")
    right = [sample for sample in samples if sample.answerable and sample.recall]
    assert len(right) >= 40
    judged = [sample.evidence for sample in right if sample.evidence is not None]
    for known in calibrations().values():
        doubted = [each for each in judged if probability(each, known) < known.threshold * doubt(each)]
        assert known.closer is not None or doubted == []
        if known.closer is not None:
            weighed = [(each, known.closer if in_doubt(each, known) else known) for each in judged]
            assert [each for each, closer in weighed if probability(each, closer) < closer.threshold * doubt(each)] == []


@pytest.mark.model
def test_a_code_is_known_however_it_is_written(real_embedder: Embedder) -> None:
    with clew.open(":memory:", embedder=real_embedder, clock=FixedClock()) as memory:
        for note in (*NOTES, "Keywords like MUST and SHOULD in our specs follow RFC2119."):
            memory.remember(note, near=False)
        known = memory.recall("What do MUST and SHOULD mean by RFC 2119?", track=False)
        foreign = memory.recall("What do MUST and SHOULD mean by RFC 7807?", track=False)
    assert known.relevance is not None
    assert foreign.relevance is not None
    assert not known.nothing_relevant
    assert foreign.relevance.probability < known.relevance.probability / 2
