"""A share of a section's relevance goes to its chunks, and only where a section was found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.ports import Background
from clew.search.candidates import sections
from clew.search.fusion import FeatureWeights, Fuse
from clew.search.state import DENSE, SECTION, SPARSE, Place, Question, Recall, relevance, with_share
from clew.settings import Weights
from clew.store.memory import MemoryStore
from clew.testing import FixedClock, node, where
from clew.text.words import terms
from clew.types import Kind, Match

SHARES = st.floats(0.0, 1.0)
HARBOUR = "tide crane quay berth anchor"


@pytest.fixture
def store() -> MemoryStore:
    """Two sections of two chunks each.

    Only the first section speaks of the harbour, and only one of its chunks does.
    """
    store = MemoryStore()
    store.insert(
        [
            node("d", HARBOUR, kind=Kind.DOCUMENT),
            node(
                "s0",
                f"{HARBOUR} yes indeed lamp",
                kind=Kind.SECTION,
                parent="d",
                root="d",
                position=0,
            ),
            node(
                "s1", "yes indeed lamp garden", kind=Kind.SECTION, parent="d", root="d", position=1
            ),
            node("c0", HARBOUR, kind=Kind.CHUNK, parent="s0", root="d", position=0),
            node("c1", "yes indeed lamp", kind=Kind.CHUNK, parent="s0", root="d", position=1),
            node("c2", "yes indeed lamp", kind=Kind.CHUNK, parent="s1", root="d", position=2),
            node("m", "yes indeed lamp"),
        ]
    )
    return store


def asked(text: str, **fields: object) -> Recall:
    """Return a recall whose chunks were found by words, all alike."""
    question = Question(
        text=text,
        k=5,
        where=where(**fields),
        weights=Weights(1, 0, 0, 0),
        recipe="balanced",
        preset="custom",
    )
    found = tuple(Match(id, 1.0) for id in ("c1", "c2", "m"))
    return Recall(question=question, terms=tuple(terms(text)), channels={SPARSE: found})


def scored(store: MemoryStore, recall: Recall, *, short: float = 0.2, long: float = 0.2) -> Recall:
    stage = Fuse(
        method="weighted",
        rrf_k=60,
        rrf_weights=(0.5, 0.5),
        question_share=0.6,
        background=Background(),
        late_interaction=False,
        weights=FeatureWeights(words=0.25, vector=0.7, tokens=0.6),
        section_weights=(short, long),
        store=store,
    )
    return stage(recall)


@given(SHARES, SHARES, SHARES, SHARES)
def test_a_share_keeps_relevance_a_weighted_mean(
    own: float, weight: float, section: float, share: float
) -> None:
    channels = {DENSE: Place(1, own, own, weight), SPARSE: Place(None, 0.0, 0.0, 1 - weight)}
    shared = with_share(channels, {SECTION: Place(1, section, section, share)}, share=share)
    assert 0 <= relevance(shared) <= 1 + 1e-12
    assert sum(place.weight for place in shared.values()) == pytest.approx(1.0)
    assert relevance(shared) == pytest.approx((1 - share) * relevance(channels) + share * section)


def test_of_two_like_chunks_the_one_in_the_better_section_comes_first(store: MemoryStore) -> None:
    answer = scored(store, asked(f"{HARBOUR} lamp"))
    scores = {hit.id: hit.score for hit in answer.hits}
    assert scores["c1"] > scores["c2"]
    assert {hit.id: hit for hit in answer.hits}["c1"].channels[SECTION].rank == 1
    assert scores["m"] == 1.0, "what stands in no section keeps its own relevance"
    assert answer.signals is not None
    assert answer.signals["c1"].parent == "s0"


def test_a_chunk_without_a_context_key_has_its_own_share_of_its_section(store: MemoryStore) -> None:
    def weights() -> dict[str, float]:
        hits = scored(store, asked(f"{HARBOUR} lamp"), long=0.4).hits
        return {hit.id: hit.channels[SECTION].weight for hit in hits if SECTION in hit.channels}

    assert set(weights().values()) == {0.4}
    store.update("c1", context="what stands around it")
    assert weights()["c1"] == 0.2


def test_a_chunk_whose_section_was_not_found_gives_up_its_share(store: MemoryStore) -> None:
    unfound = next(hit for hit in scored(store, asked("tide")).hits if hit.id == "c2")
    assert unfound.channels[SECTION] == Place(None, 0.0, 0.0, 0.2)
    assert unfound.score == pytest.approx(0.8)


def test_nothing_changes_where_no_section_was_found_or_none_has_a_weight(
    store: MemoryStore,
) -> None:
    for recall in (asked("unheard words"), asked("tide", space="empty")):
        assert all(hit.score == 1.0 for hit in scored(store, recall).hits)
    assert all(hit.score == 1.0 for hit in scored(store, asked("tide"), short=0.0, long=0.0).hits)
    assert all(hit.score == 1.0 for hit in scored(MemoryStore(), asked("tide")).hits)


def test_a_section_votes_whenever_it_began_and_also_where_only_its_chunks_are_asked_for(
    store: MemoryStore,
) -> None:
    begun = where(since=where().now.replace(year=2030), within=("s0",), kinds=(Kind.CHUNK,))
    found = sections(store, begun, terms=["tide"], limit=10)
    assert [match.id for match in found] == ["s0"]
    assert 0 < found[0].score <= 1


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        yield memory


def test_channels_of_a_lifted_hit_add_up_to_its_score_exactly(memory: clew.Clew) -> None:
    text = "\n\n".join(
        f"## Part {n}\n\n" + " ".join(f"Berth {n} has bollard {i}." for i in range(120))
        for n in range(4)
    )
    memory.import_data(text, name="harbour.md")
    for recipe in ("fast", "balanced", "thorough", "agent", "staged"):
        answer = memory.recall("Berth 2 bollard 17", recipe=recipe, track=False)
        assert answer.hits
        for hit in answer.hits:
            assert SECTION in hit.channels
            assert relevance(hit.channels) == hit.components["semantic"].value
            assert sum(part.contribution for _, part in sorted(hit.components.items())) == hit.score
        assert any("through its section" in hit.explanation for hit in answer.hits)
