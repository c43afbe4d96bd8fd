"""Confidence of hits: what it depends on, when nothing counts as an answer, and that its weights are what the kept figures give."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache

import pytest
from benchmarks import calibrate_confidence as calibrating
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.models.vectors import HashingEmbedder
from clew.ports import Embedder, EmbedRole
from clew.search.confidence import (
    COMMON,
    MAX_TERMS,
    NAME,
    RARE,
    WORDS_ONLY,
    Confidence,
    Features,
    LogisticModel,
    Salience,
    content_terms,
    is_english,
    models,
)
from clew.search.state import Recall
from clew.testing import FixedClock

NOTES = (
    "The harbour server runs Postgres and listens on port 5432",
    "The deploy of the harbour server failed because the disk was full",
    "Dana takes her tea with milk and without sugar",
    "The lighthouse project meets every Tuesday in the small room",
)
LEDGER = tuple(
    f"Entry {number} of the ledger was paid from account {number * 7919 % 10_007}"
    for number in range(500)
)
KNOWN = "which port does Postgres on the harbour server listen on"
NEVER_STORED = "Which iguana did Svetlana the falconer photograph in Valletta?"
MEASURED = next(name for name in models() if name != WORDS_ONLY)
UNIT = st.floats(0, 1)


class Measured(HashingEmbedder):
    """A model under the name of one that was measured."""

    @property
    def id(self) -> str:
        return MEASURED


def opened(
    notes: Sequence[str] = NOTES + LEDGER, /, embedder: Embedder | None = None, **recall: object
) -> clew.Clew:
    made = embedder or HashingEmbedder(256)
    memory = clew.open(
        ":memory:", embedder=made, clock=FixedClock(), recall={"dense_floor": -1.0, **recall}
    )
    memory.remember_many([{"text": note} for note in notes], near=False)
    return memory


@cache
def shared() -> clew.Clew:
    """A space for tests that only ask, made once."""
    return opened()


def asked(question: str, recipe: str = "balanced", *, k: int = 10, **recall: object) -> Recall:
    variant = shared().variant(**{f"recall.{key}": value for key, value in recall.items()})
    return variant.recall(question, track=False, recipe=recipe, k=k)


def test_a_question_about_what_was_never_stored_is_flagged_and_its_hits_are_kept() -> None:
    flagged, free = asked(NEVER_STORED), asked(NEVER_STORED, relevance_gate="off")
    assert flagged.nothing_relevant
    assert not free.nothing_relevant
    assert [(hit.text, hit.score, hit.confidence) for hit in flagged.hits] == [
        (hit.text, hit.score, hit.confidence) for hit in free.hits
    ]
    assert flagged.hits
    assert flagged.filtered_count == free.filtered_count


@pytest.mark.parametrize("gate", ["on", "flag"])
def test_a_question_that_is_answered_passes(gate: str) -> None:
    answer = asked(KNOWN, relevance_gate=gate)
    assert not answer.nothing_relevant
    assert answer.hits[0].text == NOTES[0]
    assert answer.notes == ()


def test_held_back_hits_are_counted_and_the_one_on_top_is_named() -> None:
    free, answer = (
        asked(NEVER_STORED, relevance_gate="off"),
        asked(NEVER_STORED, relevance_gate="on"),
    )
    assert answer.nothing_relevant
    assert answer.hits == ()
    assert answer.filtered_count >= len(free.hits) > 0
    best = answer.best_rejected
    assert best is not None
    assert (best.id, best.stage, best.reason) == (free.hits[0].id, "confidence", "not_relevant")
    assert best.value < best.limit
    assert answer.notes[-1].startswith("All hits are held back")
    assert answer.stats["rejected"]["not_relevant"] == answer.filtered_count


def test_why_and_why_not_tell_of_a_hit_that_was_held_back() -> None:
    top = asked(NEVER_STORED, relevance_gate="off").hits[0]
    variant = shared().variant(**{"recall.relevance_gate": "on"})
    found = variant.why_not(NEVER_STORED, top.id)
    assert (found.stage, found.reason, found.rank) == ("confidence", "not_relevant", 1)
    assert found.value < found.threshold
    why = variant.why(NEVER_STORED, top.id)
    assert why.hit is not None
    assert why.hit.confidence == top.confidence


def test_every_hit_has_a_confidence_and_the_best_decides() -> None:
    answer = asked(KNOWN)
    assert answer.best_confidence is not None
    values = [hit.confidence for hit in answer.hits if hit.confidence is not None]
    assert len(values) == len(answer.hits) > 1
    assert values[0] == max(values) == answer.best_confidence.value
    assert answer.stats["confidence"] == {
        "value": values[0],
        "threshold": models()[WORDS_ONLY].threshold,
        "calibrated": False,
    }
    assert asked(KNOWN, relevance_gate="off").stats["confidence"] is None


@pytest.mark.parametrize("question", [KNOWN, NEVER_STORED])
def test_whether_anything_answers_does_not_depend_on_k(question: str) -> None:
    one, ten = asked(question, k=1), asked(question, k=10)
    assert one.best_confidence == ten.best_confidence
    assert one.hits[0].confidence == ten.hits[0].confidence


@pytest.mark.parametrize("recipe", ["lexical", "dense"])
def test_one_channel_alone_gives_confidences_and_is_never_held_back(recipe: str) -> None:
    answer = asked(NEVER_STORED, recipe, relevance_gate="on")
    assert answer.best_confidence is None
    assert all(hit.confidence is not None for hit in answer.hits)


def test_a_question_without_content_words_has_no_confidence() -> None:
    answer = asked("who is it?", relevance_gate="on")
    assert answer.best_confidence is None
    assert answer.hits
    assert {hit.confidence for hit in answer.hits} == {None}


def test_where_only_a_time_is_asked_about_and_nothing_is_of_it_nothing_is_relevant() -> None:
    answer = asked("what was it in May 2023?")
    assert answer.nothing_relevant
    assert answer.hits


def test_what_only_the_token_budget_shut_out_was_relevant() -> None:
    variant = shared().variant(**{"recall.relevance_gate": "on"})
    answer = variant.recall(KNOWN, budget_tokens=1, track=False)
    assert not answer.hits
    assert not answer.nothing_relevant


def test_a_name_that_the_hit_lacks_counts_more_than_a_word() -> None:
    named, plain = (
        asked(f"which port does {who} listen on").hits[0].confidence
        for who in ("Zsuzsanna", "harpsichord")
    )
    assert named is not None
    assert plain is not None
    assert named < plain


def test_a_code_is_known_however_it_is_written() -> None:
    with opened((*NOTES, "Keywords like MUST and SHOULD in our specs follow RFC2119.")) as memory:
        same, other = (
            memory.recall(f"What do MUST and SHOULD mean by RFC {number}?", track=False).hits[0]
            for number in (2119, 7807)
        )
    assert same.confidence is not None
    assert other.confidence is not None
    assert other.confidence < same.confidence


@given(st.lists(UNIT, min_size=6, max_size=6), st.sampled_from(sorted(models())), UNIT)
def test_confidence_is_monotone_in_every_feature(
    values: list[float], entry: str, other: float
) -> None:
    features, model = Features(*values), models()[entry]
    assert 0 < model.probability(features) < 1
    for name in Features._fields:
        less, more = (
            model.probability(features._replace(**{name: value}))
            for value in sorted((getattr(features, name), other))
        )
        assert less >= more if name in calibrating.NEGATIVE else less <= more


def test_extreme_weights_stay_finite() -> None:
    steep = LogisticModel({"vector": 1e9}, bias=-1e8, threshold=0.5)
    assert (
        0
        < steep.probability(Features(0, 0, 0, 0, 0, 0))
        < steep.probability(Features(1, 0, 0, 0, 0, 0))
        <= 1
    )


def test_the_stage_is_a_value_and_can_be_left_out() -> None:
    with opened(NOTES, relevance_gate="on") as memory:
        recipe = memory.recipe("balanced")
        assert any(isinstance(stage, Confidence) and stage.mode == "on" for stage in recipe.stages)
        assert not any(isinstance(stage, Confidence) for stage in recipe.without(Confidence).stages)


@pytest.mark.parametrize(
    "question", ["Welcher Hafen hört auf Postgres Anfragen?", "哪个端口", "На каком порту сервер"]
)
def test_a_question_in_another_language_gets_a_note(question: str) -> None:
    with opened(NOTES, Measured(256)) as memory:
        assert any("English" in note for note in memory.recall(question, track=False).notes)
        assert not any("English" in note for note in memory.recall(KNOWN, track=False).notes)
    assert not any("English" in note for note in asked(question).notes), (
        "nobody knows which languages this model reads"
    )


def test_few_of_the_kept_english_questions_are_taken_for_another_language() -> None:
    english = [text for name in calibrating.SMALL for _, text, _ in calibrating.never_stored(name)]
    assert sum(not is_english(text) for text in english) <= len(english) // 200
    foreign = [text for _, text, _ in calibrating.other_languages("household")]
    assert sum(not is_english(text) for text in foreign) >= 0.8 * len(foreign)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which novel is Gina translating?", {"novel": COMMON, "gina": NAME, "translat": COMMON}),
        ("which novel is gina translating?", {"novel": COMMON, "gina": RARE, "translat": COMMON}),
        # every sentence begins with a capital
        ("Zsuzsanna's iguana", {"zsuzsanna": RARE, "iguana": RARE}),
        ("Is it Müller’s?", {"muller": NAME}),
        ("May I work from Portugal?", {"work": COMMON, "portug": RARE}),  # may stand for its kind
        ("Does SRL bind TFRC1?", {"srl": RARE, "bind": COMMON, "tfrc1": NAME}),
        (
            "what did a president Biden promise?",
            {"presid": COMMON, "biden": NAME, "promis": COMMON},
        ),
        ("What did President Biden promise?", {"presid": COMMON, "biden": RARE, "promis": COMMON}),
        (
            "Is INC-4999 of plover-08 10 hours old?",
            {"inc": RARE, "4999": NAME, "plover": RARE, "08": NAME, "hour": COMMON, "old": COMMON},
        ),
        ("Is RFC 2119 of May 2023?", {"rfc": RARE, "2119": NAME}),
        ("茶?", {"茶": COMMON}),
        ("数据库", {"数据": COMMON}),
    ],
)
def test_names_and_codes_are_told_from_rare_and_common_words(
    question: str, expected: dict[str, Salience]
) -> None:
    assert content_terms(question) == expected


def test_an_endless_question_is_read_from_its_beginning() -> None:
    assert len(content_terms(" ".join(f"word{number}x" for number in range(10_000)))) == MAX_TERMS


def test_the_weights_are_what_the_kept_features_give() -> None:
    made = calibrating.report({name: calibrating.kept(name) for name in calibrating.SETS}, MEASURED)
    written = calibrating.DATA_FILE.read_text(encoding="utf-8")
    assert "\n".join(calibrating.toml(made, calibrating.asked_before())) + "\n" == written
    assert calibrating.table(made) == (calibrating.RESULTS / "report.md").read_text(
        encoding="utf-8"
    )
    assert set(tomllib.loads(written)) == {"provenance", MEASURED, WORDS_ONLY}


@pytest.mark.parametrize("name", sorted(set(calibrating.SETS) - set(calibrating.BORROWED)))
def test_every_set_has_a_hundred_questions_that_name_what_it_lacks(name: str) -> None:
    questions = calibrating.never_stored(name)
    assert len({text for _, text, _ in questions}) == len(questions) >= 100
    assert all(claims and "{" not in text for _, text, claims in questions)


@pytest.mark.model
def test_with_the_default_model_paraphrases_are_answered_and_other_topics_are_not(
    real_embedder: Embedder,
) -> None:
    with opened(NOTES, real_embedder) as memory:
        paraphrase = memory.recall("how does Dana like her hot drink?", track=False)
        never = memory.recall(NEVER_STORED, track=False)
    assert paraphrase.best_confidence is not None
    assert paraphrase.best_confidence.calibrated
    assert not paraphrase.nothing_relevant
    assert never.nothing_relevant


@pytest.mark.model
def test_no_query_is_embedded_twice(real_embedder: Embedder) -> None:
    """Confidence reads the token codes that are stored and the query's tokens that recall has already."""
    calls: list[EmbedRole] = []

    class Counting:
        id, dimension, max_tokens, background, count = (
            real_embedder.id, real_embedder.dimension, real_embedder.max_tokens, real_embedder.background, real_embedder.count,  # type: ignore[attr-defined]
        )  # fmt: skip

        def embed(self, texts: Sequence[str], *, role: EmbedRole) -> object:
            calls.extend([role] * len(texts))
            return real_embedder.embed(texts, role=role)

        def embed_tokens(self, texts: Sequence[object], *, role: EmbedRole) -> object:
            calls.extend([role] * len(texts))
            return real_embedder.embed_tokens(texts, role=role)  # type: ignore[attr-defined]

    with opened(NOTES, Counting()) as memory:  # type: ignore[arg-type]
        calls.clear()
        memory.recall("how does Dana like her hot drink?", track=False)
    assert calls == [EmbedRole.QUERY]


def test_a_hit_without_a_vector_is_judged_by_its_words() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as words:
        words.remember(NOTES[0])
        measured = clew.Clew(
            store=words.store,
            embedder=Measured(256),
            settings=words.settings,
            clock=FixedClock(),
            owns_store=False,
        )
        measured.remember(NOTES[2])
        with_vectors, by_words = (
            measured.recall(KNOWN, track=False),
            words.recall(KNOWN, track=False),
        )
    assert with_vectors.vector is not None
    assert by_words.vector is None
    [one, other] = (
        next(hit for hit in each.hits if hit.text == NOTES[0]) for each in (with_vectors, by_words)
    )
    assert one.confidence == other.confidence is not None
