"""The guard of near duplicates: what vectors hardly see keeps two texts apart, another wording does not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.ingest.wordings import differ

PAIRS: dict[str, list[list[str]]] = tomllib.loads((Path(__file__).parent / "fixtures" / "wordings.toml").read_text(encoding="utf-8"))
DIFFERENT = PAIRS["different"] + PAIRS["different_afterwards"]
LEAST_JOINED = {"same": 0.95, "same_afterwards": 0.7}  # measured: 54 of 54, and 18 of 24 of those that no rule was made with


@pytest.mark.parametrize(("said", "offered"), DIFFERENT)
def test_what_a_person_tells_apart_is_never_taken_for_the_same(said: str, offered: str) -> None:
    assert differ(said, offered)
    assert differ(offered, said)


@pytest.mark.parametrize("name", LEAST_JOINED)
def test_most_of_what_is_only_worded_otherwise_is_one(name: str) -> None:
    apart = [pair for pair in PAIRS[name] if differ(*pair)]
    assert len(apart) <= (1 - LEAST_JOINED[name]) * len(PAIRS[name]), apart


@pytest.mark.parametrize(
    ("rule", "said", "offered"),
    [
        ("order", "The auditor pays the contractor", "The contractor pays the auditor"),
        ("order of numbers", "Version 2.2.1 is in use", "Version 2.1.2 is in use"),
        ("prefix", "The lease is renewable", "The lease is nonrenewable"),
        ("prefix, beside the word itself", "Ads are targeted", "Ads are targeted in Spain and untargeted elsewhere"),
        ("suffix", "The demo was flawed, the report painful", "The demo was flawed, the report painless"),
        ("opposite", "Ship the crate from inside", "Ship the crate from outside"),
        ("another word", "The crate holds apples", "The crate holds pears"),
        ("qualifier", "The gate is open", "The gate is only open"),
        ("German negation", "Der Zug hält in Ulm", "Der Zug hält nie in Ulm"),
        ("French negation", "Le train s'arrête à Lyon", "Le train ne s'arrête pas à Lyon"),
        ("sign", "The limit is < 5 ms", "The limit is > 5 ms"),
        ("picture", "The release went 👍", "The release went 👎"),
        ("Chinese", "火车停在上海", "火车停在北京"),
        ("Thai", "ประชุมวันจันทร์", "ประชุมวันอังคาร"),
        ("Korean", "기차는 서울에 섭니다", "기차는 부산에 섭니다"),
    ],
)
def test_each_rule_keeps_two_texts_apart(rule: str, said: str, offered: str) -> None:
    assert differ(said, offered), rule


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("The crate holds apples", "The crates are holding apples"),
        ("The crate holds apples", "The big crate by the door holds ripe apples"),
        ("The crate is here on Mondays", "On Mondays the crate is here"),
        ("The lid of the crate is red", "The crate lid is red"),
        ("会議は月曜日です", "会議が月曜日です。"),
        ("회의는 월요일", "회의가 월요일"),
    ],
)
def test_inflection_detail_place_and_particles_make_no_difference(said: str, offered: str) -> None:
    assert not differ(said, offered)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_are_compared_alike_both_ways_and_none_differs_from_itself(one: str, other: str) -> None:
    assert differ(one, other) == differ(other, one)
    assert not differ(one, one)


@pytest.mark.model
def test_the_real_model_loses_none_of_the_contradictions_and_joins_the_wordings(real_model: Path) -> None:
    def outcomes(name: str) -> list[str]:
        found = []
        for said, offered in PAIRS[name][1::6]:
            with clew.open(":memory:") as memory:
                memory.remember(said)
                found.append(memory.remember(offered).outcome.value)
        return found

    assert set(outcomes("different")) == {"inserted"}
    assert set(outcomes("same")) == {"near_duplicate"}
