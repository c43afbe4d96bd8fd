"""Sections vote: a share of a section's relevance goes to its chunks, and only where a section was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.recall.lift import Lift, lifted
from clew.recall.placed import relevance
from clew.recall.sections import sections
from clew.recall.state import DENSE, SECTION, SPARSE, Hit, Place, Question, Recall
from clew.settings import Weights
from clew.store.memory import MemoryStore
from clew.testing import FixedClock, node, where
from clew.types import Kind, Match
from clew.words import terms

SHARES = st.floats(0.0, 1.0)
HARBOUR = "tide crane quay berth anchor"


@pytest.fixture
def store() -> MemoryStore:
    """Two sections of two chunks each; only the first section speaks of the harbour, and only one of its chunks does."""
    store = MemoryStore()
    store.insert(
        [
            node("d", HARBOUR, kind=Kind.DOCUMENT),
            node("s0", f"{HARBOUR} yes indeed lamp", kind=Kind.SECTION, parent="d", root="d", position=0),
            node("s1", "yes indeed lamp garden", kind=Kind.SECTION, parent="d", root="d", position=1),
            node("c0", HARBOUR, kind=Kind.CHUNK, parent="s0", root="d", position=0),
            node("c1", "yes indeed lamp", kind=Kind.CHUNK, parent="s0", root="d", position=1),
            node("c2", "yes indeed lamp", kind=Kind.CHUNK, parent="s1", root="d", position=2),
            node("m", "yes indeed lamp"),
        ]
    )
    return store


def asked(store: MemoryStore, text: str, **fields: object) -> Recall:
    """Return a recall as it is before the sections vote: chunks found by their words, all alike."""
    question = Question(text=text, k=5, where=where(**fields), weights=Weights(1, 0, 0, 0), recipe="balanced", preset="custom")
    found = tuple(Match(id, 1.0) for id in ("c1", "c2", "m"))
    hits = tuple(Hit(each.id, 0.5, {SPARSE: Place(1, 1.0, 0.5, 1.0)}) for each in found)
    return Recall(question=question, terms=tuple(terms(text)), channels={SPARSE: found}, hits=hits)


@given(SHARES, SHARES, SHARES, SHARES)
def test_lifting_keeps_relevance_a_sum_of_shares_between_zero_and_one(own: float, weight: float, section: float, share: float) -> None:
    hit = Hit("a", own * weight, {DENSE: Place(1, own, own, weight), SPARSE: Place(None, 0.0, 0.0, 1 - weight)})
    raised = lifted(hit, Place(1, section, section, share))
    assert raised.score == relevance(raised.channels)
    assert 0 <= raised.score <= 1 + 1e-12
    assert sum(place.weight for place in raised.channels.values()) == pytest.approx(1.0)
    assert raised.score == pytest.approx((1 - share) * hit.score + share * section)


def test_of_two_like_chunks_the_one_in_the_better_section_comes_first(store: MemoryStore) -> None:
    lift = Lift(weight=0.2, weight_long=0.2, limit=10, store=store)
    answer = lift(asked(store, f"{HARBOUR} lamp"))
    scores = {hit.id: hit.score for hit in answer.hits}
    assert scores["c1"] > scores["c2"]
    assert answer.hits[0].channels[SECTION].rank == 1
    assert scores["m"] == 0.5, "what stands in no section keeps its own relevance"
    assert answer.signals is not None
    assert answer.signals["c1"].parent == "s0"


def test_a_chunk_without_a_context_key_has_its_own_share_of_its_section(store: MemoryStore) -> None:
    long = {hit.id: hit.channels[SECTION].weight for hit in _lift(store)(asked(store, f"{HARBOUR} lamp")).hits if SECTION in hit.channels}
    assert set(long.values()) == {0.4}
    store.update("c1", context="what stands around it")
    assert next(hit for hit in _lift(store)(asked(store, f"{HARBOUR} lamp")).hits if hit.id == "c1").channels[SECTION].weight == 0.2


def _lift(store: MemoryStore) -> Lift:
    return Lift(weight=0.2, weight_long=0.4, limit=10, store=store)


def test_a_chunk_whose_section_was_not_found_gives_up_its_share(store: MemoryStore) -> None:
    answer = Lift(weight=0.2, weight_long=0.2, limit=10, store=store)(asked(store, "tide"))
    unfound = next(hit for hit in answer.hits if hit.id == "c2")
    assert unfound.channels[SECTION] == Place(None, 0.0, 0.0, 0.2)
    assert unfound.score == pytest.approx(0.4)


def test_nothing_changes_where_no_section_was_found_or_none_may_vote(store: MemoryStore) -> None:
    lift = Lift(weight=0.2, weight_long=0.2, limit=10, store=store)
    for recall in (asked(store, "unheard words"), replace(asked(store, "tide"), hits=()), asked(store, "tide", space="empty")):
        assert lift(recall) is recall
    recall = asked(store, "tide")
    assert replace(lift, weight=0.0, weight_long=0.0)(recall) is recall
    assert replace(lift, store=MemoryStore())(recall) is recall


def test_a_section_votes_whenever_it_began_and_also_where_only_its_chunks_are_asked_for(store: MemoryStore) -> None:
    begun = where(since=where().now.replace(year=2030), within=("s0",), kinds=(Kind.CHUNK,))
    found = sections(store, begun, terms=["tide"], limit=10)
    assert [match.id for match in found] == ["s0"]
    assert 0 < found[0].score <= 1


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        yield memory


def test_channels_of_a_lifted_hit_add_up_to_its_score_exactly(memory: clew.Clew) -> None:
    text = "\n\n".join(f"## Part {n}\n\n" + " ".join(f"Berth {n} has bollard {i}." for i in range(120)) for n in range(4))
    memory.import_data(text, name="harbour.md")
    for recipe in ("fast", "balanced", "thorough", "agent", "staged"):
        answer = memory.recall("Berth 2 bollard 17", recipe=recipe, track=False)
        assert answer.hits
        for hit in answer.hits:
            assert SECTION in hit.channels
            assert relevance(hit.channels) == hit.components["semantic"].value
            assert sum(part.contribution for _, part in sorted(hit.components.items())) == hit.score
        assert any("through its section" in hit.explanation for hit in answer.hits)
