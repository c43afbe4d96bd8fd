"""Hygiene and substance: what is turned away says by which rule, and nothing worth recalling is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.memories import small_talk as idle
from clew.memories import substance
from clew.memories.draft import cleaned
from clew.memories.substance import LIMITS, RULES, reject_unsubstantial
from clew.settings import MemorySettings, SubstanceSettings
from clew.text.words import fold, normalise, plain_words, words
from clew.types import Outcome, OutcomeKind
from tests.growth import cpu_seconds

from .sample import GOOD, JUNK

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo10.json"
DEV_CONVERSATIONS = 4


def judged(text: str) -> Outcome | None:
    clean = cleaned(text, limits=MemorySettings())
    return (
        clean
        if isinstance(clean, Outcome)
        else reject_unsubstantial(clean, settings=SubstanceSettings())
    )


def rule(text: str) -> str | None:
    outcome = judged(text)
    return outcome.rule if outcome else None


@pytest.mark.parametrize(
    ("text", "expected", "value", "limit"),
    [
        ("", "empty", 0, 12),
        (" \n\t ", "empty", 0, 12),
        ("short text", "too_short", 10, 12),
        ("word " * 1000, "too_long", 4999, 4000),
        ("x" * 10_000_000, "too_long", 10_000_000, 4000),
        ("ok", "chatter", "ok", None),
        ("Thanks!!", "chatter", "Thanks!!", None),
        ("...", "chatter", "...", None),
        ("👍", "chatter", "👍", None),
    ],
)
def test_each_rejection_names_rule_value_and_limit(
    text: str, expected: str, value: object, limit: object
) -> None:
    outcome = judged(text)
    assert outcome is not None
    assert outcome.outcome is OutcomeKind.REJECTED
    assert (outcome.rule, outcome.value) == (expected, value)
    assert outcome.limit == limit if limit is not None else outcome.limit


@pytest.mark.parametrize(
    "text", ["会議は月曜の朝十時", "数据库在周一备份", "회의는 월요일 열 시", "ประชุมวันจันทร์"]
)
def test_a_sentence_in_a_script_of_few_signs_is_not_too_short(text: str) -> None:
    assert len(text) < 20
    assert judged(text) is None
    assert rule("会議は月曜") == "too_short"


def test_a_text_that_is_too_long_is_told_where_it_belongs() -> None:
    for text in ("word " * 1000, "x" * 10_000_000):
        outcome = judged(text)
        assert outcome is not None
        assert "clew import" in outcome.notes[0]


def test_white_space_is_put_in_order_before_lengths_are_measured() -> None:
    assert (
        cleaned("  a   fact \r\n\r\n\r\n worth  keeping ", limits=MemorySettings())
        == "a fact\n\nworth keeping"
    )
    assert rule("fact      !") == "too_short"
    assert isinstance(cleaned("indented fact" + " " * 9000 + "here", limits=MemorySettings()), str)


def test_the_bounds_themselves_are_allowed() -> None:
    exact = "Port 5432 ab"
    assert len(exact) == 12
    assert judged(exact) is None
    longest = ("many different telling words " * 200)[:3999] + "."
    assert isinstance(cleaned(longest, limits=MemorySettings()), str)


def test_ten_megabytes_are_refused_in_milliseconds() -> None:
    texts = ["x" * 10_000_000, "\0" * 10_000_000, " " * 10_000_000, "é" * 10_000_000]
    assert {rule(text) for text in texts} == {"too_long"}
    # without a look at their letters; with one it takes seconds
    assert cpu_seconds(lambda _: [rule(text) for text in texts], 0) < 0.5


@given(st.text(max_size=200))
def test_any_text_is_judged_without_an_error_and_kept_ones_are_tidy(text: str) -> None:
    clean = cleaned(text, limits=MemorySettings())
    if isinstance(clean, str):
        assert clean == normalise(clean)
        assert 6 <= len(clean) <= 4000  # of signs that count as two
        clean.encode()
        reject_unsubstantial(clean, settings=SubstanceSettings())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.com/a/b/c", "no_words"),
        ("asdf asdf asdf", "repeated"),
        ("aaaaaaaaaaaaaaaa", "repeated"),
        ("buy it now, buy it now, buy it now", "repeated"),
        ("asdfghjkl qwertyuiop", "keyboard_mash"),
        ("This is a test message", "placeholder"),
        ("Let me know if you have any questions.", "idle_talk"),
        ("Sure! Here is the result you asked for. Let me know what you think!", "idle_talk"),
        ("It is what it is, I guess", "few_telling_words"),
    ],
)
def test_each_rule_of_substance_turns_away_its_kind(text: str, expected: str) -> None:
    assert rule(text) == expected


def test_every_rule_says_its_limit() -> None:
    assert RULES.keys() == LIMITS.keys()


def test_substance_can_be_switched_off_and_its_number_changed() -> None:
    assert (
        reject_unsubstantial("It is what it is", settings=SubstanceSettings(enabled=False)) is None
    )
    assert (
        reject_unsubstantial("Server is down", settings=SubstanceSettings(min_telling_words=2))
        is not None
    )
    assert (
        reject_unsubstantial("It is what it is", settings=SubstanceSettings(min_telling_words=0))
        is None
    )


def test_of_the_labelled_junk_nine_tenths_are_turned_away() -> None:
    kept = [line for line in JUNK if judged(line) is None]
    assert len(JUNK) >= 60
    assert len(kept) <= len(JUNK) / 10, kept


def test_of_the_labelled_good_lines_all_are_kept() -> None:
    lost = [(line, rule(line)) for line in GOOD if judged(line) is not None and len(line) >= 12]
    assert len(GOOD) >= 60
    assert lost == []


def test_good_lines_stay_good_beside_chatter() -> None:
    lost = [line for line in GOOD if judged(f"Sure! {line} Thanks a lot.") is not None]
    assert lost == []


def test_less_than_a_fiftieth_of_locomos_evidence_is_turned_away() -> None:
    if not LOCOMO.exists():
        pytest.skip(f"the LoCoMo conversations are not at {LOCOMO}")
    evidence: list[str] = []
    for talk in json.loads(LOCOMO.read_text(encoding="utf-8"))[:DEV_CONVERSATIONS]:
        wanted = {turn for question in talk["qa"] for turn in question["evidence"]}
        turns = (
            turn
            for session in talk["conversation"].values()
            if isinstance(session, list)
            for turn in session
        )
        evidence += [
            turn["text"] for turn in turns if turn["dia_id"] in wanted and len(turn["text"]) >= 12
        ]
    rules = Counter(filter(None, map(rule, evidence)))
    assert len(evidence) > 500
    assert rules.total() < len(evidence) / 50, rules


# --- the quick ways judge as the slow ones do ---

SPOKEN = st.lists(
    st.sampled_from(
        "thanks Thanks Joanna ok yesss hahaha questions Let me know if you have any lot the server Server port's DON'T 5432 million "
        "test message lorem café naïve ! ? . …".split()
    ),
    max_size=9,
).map(" ".join)


@given(SPOKEN)
def test_a_plainly_telling_word_takes_a_text_out_of_chatter_and_talk_about_talk(text: str) -> None:
    plainly = idle.has_plain_content(text)
    with (
        patch.object(idle, "has_plain_content", return_value=False),
        patch.object(substance, "has_plain_content", return_value=False),
    ):
        chatter, talk = idle.is_chatter(text), substance.idle_talk(text)
    assert not (plainly and (chatter or talk))
    assert (idle.is_chatter(text), substance.idle_talk(text)) == (chatter, talk)


@given(st.one_of(SPOKEN, st.text(alphabet=st.characters(max_codepoint=0x7F)), st.text()))
def test_plain_words_are_the_folded_ones(text: str) -> None:
    assert plain_words(text) == tuple(fold(word) for word in words(text))


@given(st.text(alphabet=st.characters(max_codepoint=0x7F), min_size=12))
def test_a_line_of_ascii_is_put_in_order_like_every_text(text: str) -> None:
    found = cleaned(text, limits=MemorySettings())
    assert isinstance(found, Outcome) or found == normalise(text)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("yes", True), ("yesss", True), ("coool", True), ("hahaha", True), ("server", False)],
)
def test_chatter_is_known_also_when_it_is_drawn_out(word: str, expected: bool) -> None:
    assert idle.is_chatter(word) is expected
