"""The committer: every draft gets an outcome, duplicates reinforce, and a chunk is written whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from clew.errors import DuplicateError, ModelMismatchError, ModelServiceError
from clew.memories.commit import Committer
from clew.memories.draft import Draft, draft, embedding_text
from clew.memories.embedding import Embedded, Source, embed_passages, plain
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole, ModelInfo
from clew.settings import Settings, load
from clew.store.memory import MemoryStore
from clew.types import EventKind, Filter, Node, Outcome, OutcomeKind, Stability

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NO_MODEL = "No embedding model: lexical only."
PORT = "The staging database runs on port 5433 of host alpha"
ALIKE = PORT.replace("on port", "on the port")


class Bench:
    """A committer on a store in memory with the hashing embedder, and a clock that the test moves."""

    def __init__(self, *, model: bool = True, **overrides: Any) -> None:
        self.store = MemoryStore()
        self.now = NOW
        self.embedded: list[str] = []
        self.embedder = HashingEmbedder()
        self.has_model = model
        self.settings: Settings = load(
            environ={"HOME": "/nowhere"},
            overrides={key.replace("__", "."): value for key, value in overrides.items()},
        ).settings
        self.committer = self.another()

    def another(self, embedder: HashingEmbedder | None = None) -> Committer:
        used = embedder or self.embedder
        return Committer(
            self.store,
            embed=lambda texts: self.embed(texts, used),
            model=lambda: ModelInfo(used.id, used.dimension),
            settings=self.settings,
            clock=lambda: self.now,
        )

    def embed(self, sources: Sequence[Source], embedder: HashingEmbedder) -> Embedded:
        self.embedded += map(plain, sources)
        return (
            embed_passages(embedder, sources, token_codes=True)
            if self.has_model
            else Embedded(None, (NO_MODEL,))
        )

    def draft(self, text: str, **fields: Any) -> Draft:
        return draft(text, settings=self.settings, now=self.now, **fields)

    def commit(self, *texts: str, **fields: Any) -> list[Outcome]:
        return self.committer.commit([self.draft(text, **fields) for text in texts])

    def one(self, text: str, **fields: Any) -> Outcome:
        return self.commit(text, **fields)[0]

    def node(self, outcome: Outcome) -> Node:
        assert outcome.id is not None
        return self.store.get([outcome.id])[outcome.id]

    def kinds(self, outcome: Outcome) -> list[str]:
        assert outcome.id is not None
        return [event.kind for event in self.store.events(outcome.id)]

    def size(self) -> int:
        return len(list(self.store.nodes()))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_memory_is_stored_with_all_its_fields_its_keywords_its_vector_and_an_event(
    bench: Bench,
) -> None:
    outcome = bench.one(
        f"  {PORT}  ",
        title="Staging",
        category="fact",
        trigger="correction",
        importance=0.9,
        space="team",
        stability="static",
        tags=["db"],
        source="chat:1",
        metadata={"a": 1},
    )
    node = bench.node(outcome)
    assert (outcome.outcome, outcome.rule, outcome.canonical_id) == (
        OutcomeKind.INSERTED,
        None,
        None,
    )
    assert (node.text, node.title, node.category, node.trigger, node.space) == (
        PORT,
        "Staging",
        "fact",
        "correction",
        "team",
    )
    assert (node.t_created, node.t_valid, node.t_invalid, node.stability) == (
        NOW,
        NOW,
        None,
        Stability.STATIC,
    )
    assert (node.importance, node.tags, node.source, node.metadata) == (
        0.9,
        ("db",),
        "chat:1",
        {"a": 1},
    )
    assert {"staging", "database", "port"} <= set(node.keywords)
    assert bench.kinds(outcome) == [EventKind.ADD]
    assert bench.embedded == [f"Staging\n{PORT}"] == [embedding_text(node)]
    vector = bench.embedder.embed(bench.embedded, role=EmbedRole.PASSAGE)[0]
    assert bench.store.dense(vector, Filter(space="team", now=NOW), limit=1)[0].id == node.id
    assert bench.store.unembedded(bench.embedder.id, limit=9) == ()


def test_keywords_of_the_callers_own_are_kept_as_given(bench: Bench) -> None:
    assert bench.node(bench.one(PORT, keywords=["ops"])).keywords == ("ops",)


def test_the_time_of_truth_is_the_callers_and_the_time_of_writing_ours(bench: Bench) -> None:
    node = bench.node(bench.one(PORT, valid_from="2020-01-01", valid_to="2021-01-01"))
    assert (node.t_valid.year, node.t_created) == (2020, NOW)
    assert node.t_invalid == datetime(2021, 1, 1, tzinfo=UTC)


def test_rejections_are_outcomes_in_their_place_and_are_counted(bench: Bench) -> None:
    outcomes = bench.commit("ok", PORT, "", "x" * 5000, "It is what it is", "ok")
    assert [outcome.rule for outcome in outcomes] == [
        "chatter",
        None,
        "empty",
        "too_long",
        "few_telling_words",
        "chatter",
    ]
    assert outcomes[3].value == 5000
    assert outcomes[3].limit == 4000
    assert bench.size() == 1
    assert bench.store.stats()["rejected"] == {
        "chatter": 2,
        "empty": 1,
        "few_telling_words": 1,
        "too_long": 1,
    }


def test_a_title_gives_substance_to_a_bare_number(bench: Bench) -> None:
    assert bench.one("+49 170 1234567").rule == "no_words"
    assert bench.one("+49 170 1234567", title="Matt's mobile").outcome is OutcomeKind.INSERTED


def test_the_same_text_reinforces_the_first_whatever_its_white_space(bench: Bench) -> None:
    first = bench.one(PORT)
    second = bench.one(PORT.replace(" ", "  \n"), source="chat:2")
    assert (second.outcome, second.canonical_id, second.id) == (
        OutcomeKind.EXACT_DUPLICATE,
        first.id,
        first.id,
    )
    assert bench.kinds(first) == [EventKind.ADD, EventKind.REINFORCE_EXACT]
    assert bench.store.events(str(first.id))[1].detail == {"source": "chat:2"}
    assert bench.size() == 1
    assert bench.embedded == [PORT]  # a known text is not embedded again


def test_the_same_text_twice_in_one_batch_is_stored_once(bench: Bench) -> None:
    first, second, third = bench.commit(PORT, PORT, PORT)
    assert second.canonical_id == third.canonical_id == first.id
    assert bench.kinds(first) == [
        EventKind.ADD,
        EventKind.REINFORCE_EXACT,
        EventKind.REINFORCE_EXACT,
    ]
    assert bench.embedded == [PORT]


def test_spaces_do_not_share_duplicates(bench: Bench) -> None:
    bench.one(PORT, space="one")
    assert bench.one(PORT, space="two").outcome is OutcomeKind.INSERTED
    assert bench.one(f"{PORT}!", space="three").outcome is OutcomeKind.INSERTED


def test_nearly_the_same_text_reinforces_the_first_with_its_cosine(bench: Bench) -> None:
    first = bench.one(PORT)
    second = bench.one(ALIKE)
    assert (second.outcome, second.canonical_id, second.rule) == (
        OutcomeKind.NEAR_DUPLICATE,
        first.id,
        "similar_text",
    )
    assert second.canonical_text == PORT  # so that whoever offered it can see a wrong match
    assert isinstance(second.value, float)
    assert second.limit == 0.8 <= second.value
    event = bench.store.events(str(first.id))[1]
    assert event.kind is EventKind.REINFORCE_NEAR
    assert event.detail == {"cosine": second.value, "text": ALIKE}
    assert bench.size() == 1


def test_nearly_the_same_text_in_one_batch_is_stored_once(bench: Bench) -> None:
    first, second = bench.commit(PORT, f"{PORT}!")
    assert (second.outcome, second.canonical_id) == (OutcomeKind.NEAR_DUPLICATE, first.id)


@pytest.mark.parametrize(
    "other",
    [
        PORT.replace("5433", "5432"),
        PORT.replace("runs", "never runs"),
        PORT.replace("alpha", "Bravo").replace("staging", "Alpine"),
    ],
)
def test_a_text_that_differs_in_a_number_a_negation_or_a_name_is_kept_however_alike(
    other: str,
) -> None:
    bench = Bench(duplicates__near_threshold=0.5)
    bench.one(PORT.replace("alpha", "Alpha"))
    outcome = bench.one(other)
    assert outcome.outcome is OutcomeKind.INSERTED
    assert [each.text for each in outcome.similar] == [PORT.replace("alpha", "Alpha")]


def test_a_category_may_have_a_threshold_of_its_own() -> None:
    bench = Bench(duplicates__near_threshold_by_category={"fact": 1.0})
    bench.one(PORT)
    assert bench.one(ALIKE, category="fact").outcome is OutcomeKind.INSERTED
    assert bench.one(f"{ALIKE}!").outcome is OutcomeKind.NEAR_DUPLICATE


@pytest.mark.parametrize(("field", "value"), [("near", False), ("on_duplicate", "insert")])
def test_near_duplicates_are_stored_when_the_caller_asks_not_to_look(
    bench: Bench, field: str, value: object
) -> None:
    bench.one(PORT)
    assert bench.one(f"{PORT}!", **{field: value}).outcome is OutcomeKind.INSERTED


def test_insert_stores_even_the_same_text(bench: Bench) -> None:
    first, second = bench.one(PORT), bench.one(PORT, on_duplicate="insert")
    assert second.outcome is OutcomeKind.INSERTED
    assert first.id != second.id


def test_checks_for_duplicates_can_be_switched_off() -> None:
    bench = Bench(duplicates__exact=False, duplicates__near=False)
    assert [outcome.outcome for outcome in bench.commit(PORT, PORT)] == [OutcomeKind.INSERTED] * 2


@pytest.mark.parametrize(
    "change",
    [{"t_expired": NOW}, {"archived": True}, {"t_invalid": NOW}],
    ids=["expired", "archived", "no longer true"],
)
@pytest.mark.parametrize("text", [PORT, ALIKE])
def test_what_is_no_longer_live_is_never_reinforced(
    bench: Bench, change: dict[str, Any], text: str
) -> None:
    first = bench.one(PORT)
    bench.store.update(str(first.id), **change)
    bench.now += timedelta(days=1)
    assert bench.one(text).outcome is OutcomeKind.INSERTED
    assert bench.kinds(first) == [EventKind.ADD]


def test_a_claim_about_the_past_is_the_same_claim_when_told_again(bench: Bench) -> None:
    first = bench.one(PORT, valid_from="2010-01-01", valid_to="2012-01-01")
    assert bench.one(PORT, valid_from="2010-01-01", valid_to="2012-01-01").canonical_id == first.id
    assert (
        bench.one(PORT, valid_from="2015-01-01", valid_to="2016-01-01").outcome
        is OutcomeKind.INSERTED
    )


def test_a_duplicate_is_an_error_on_request_and_its_chunk_is_not_written(bench: Bench) -> None:
    first = bench.one(PORT)
    with pytest.raises(DuplicateError) as caught:
        bench.committer.commit(
            [
                bench.draft("A wholly different memory of Lisbon"),
                bench.draft(PORT, on_duplicate="error"),
            ]
        )
    assert caught.value.facts["canonical_id"] == first.id
    assert bench.size() == 1
    assert bench.kinds(first) == [EventKind.ADD]
    with pytest.raises(DuplicateError):
        bench.one(f"{PORT}!", on_duplicate="error")


def test_an_error_leaves_the_chunks_before_it_written() -> None:
    bench = Bench(memory__batch_size=2)
    drafts = [bench.draft(f"Memory of town {town}") for town in ("Lisbon", "Bergen", "Graz")] + [
        bench.draft("Memory of town Graz", on_duplicate="error")
    ]
    with pytest.raises(DuplicateError):
        bench.committer.commit(drafts)
    assert sorted(node.text for node in bench.store.nodes()) == [
        "Memory of town Bergen",
        "Memory of town Lisbon",
    ]


def test_a_key_seen_before_returns_the_first_memory_and_leaves_no_trace(bench: Bench) -> None:
    first = bench.one(PORT, idempotency_key="k")
    again = bench.one(PORT, idempotency_key="k", on_duplicate="error")
    assert (again.outcome, again.rule, again.value) == (
        OutcomeKind.EXACT_DUPLICATE,
        "idempotency_key",
        "k",
    )
    assert again.id == again.canonical_id == first.id
    assert again.notes == ()
    assert bench.kinds(first) == [EventKind.ADD]
    assert bench.embedded == [PORT]


def test_a_key_seen_before_with_another_text_says_that_the_first_stays(bench: Bench) -> None:
    first = bench.one(PORT, idempotency_key="k")
    again = bench.one("Something else about Lisbon", idempotency_key="k")
    assert again.id == first.id
    assert "differs" in again.notes[0]
    assert (
        bench.one("Something else about Lisbon", idempotency_key="k", space="other").outcome
        is OutcomeKind.INSERTED
    )


def test_a_key_twice_in_one_batch_is_one_memory(bench: Bench) -> None:
    first, second = bench.commit(PORT, "Something else about Lisbon", idempotency_key="k")
    assert second.id == first.id
    assert bench.size() == 1


def test_without_a_model_memories_are_stored_and_every_outcome_says_so() -> None:
    bench = Bench(model=False)
    outcomes = bench.commit(PORT, "A walk along the river in Graz", PORT)
    assert [outcome.outcome for outcome in outcomes] == [
        OutcomeKind.INSERTED,
        OutcomeKind.INSERTED,
        OutcomeKind.EXACT_DUPLICATE,
    ]
    assert outcomes[0].notes == outcomes[1].notes == (NO_MODEL,)
    assert bench.store.model() is None
    assert len(bench.store.unembedded("any", limit=9)) == 2


def test_another_models_vectors_are_refused_with_the_command_that_helps(bench: Bench) -> None:
    bench.one(PORT)
    with pytest.raises(ModelMismatchError, match="clew reembed"):
        bench.another(HashingEmbedder(64)).commit([bench.draft("A walk along the river in Graz")])
    assert bench.size() == 1


def test_a_failing_model_writes_nothing_of_the_chunk(bench: Bench) -> None:
    def fail(texts: Sequence[Source]) -> Embedded:
        raise ModelServiceError(f"{len(texts)} texts were refused")

    committer = Committer(
        bench.store,
        embed=fail,
        model=lambda: ModelInfo("x", 3),
        settings=bench.settings,
        clock=lambda: NOW,
    )
    with pytest.raises(ModelServiceError):
        committer.commit([bench.draft(PORT)])
    assert bench.size() == 0


def test_a_memory_forgotten_between_look_and_lock_is_written_again_with_a_vector(
    bench: Bench,
) -> None:
    first = bench.one(PORT)

    class Forgetful(Committer):
        def _prepared(self, drafts: Sequence[Draft]) -> Any:
            ready = super()._prepared(drafts)
            bench.store.delete([str(first.id)])
            return ready

    embed = lambda texts: bench.embed(texts, bench.embedder)  # noqa: E731
    model = ModelInfo(bench.embedder.id, bench.embedder.dimension)
    again = Forgetful(
        bench.store, embed=embed, model=lambda: model, settings=bench.settings, clock=lambda: NOW
    ).commit([bench.draft(PORT)])
    assert again[0].outcome is OutcomeKind.INSERTED
    assert bench.store.unembedded(model.id, limit=9) == ()


def test_chunks_embed_in_one_batch_each_and_outcomes_keep_the_order() -> None:
    bench = Bench(memory__batch_size=10, duplicates__near=False)
    texts = [f"Memory number {i} about town {i}" for i in range(25)]
    outcomes = bench.commit(*texts)
    assert [bench.node(outcome).text for outcome in outcomes] == texts
    assert [outcome.id for outcome in outcomes] == sorted(str(outcome.id) for outcome in outcomes)


def test_nothing_offered_is_nothing_done(bench: Bench) -> None:
    assert bench.commit() == []
    assert bench.embedded == []


WORDS = st.lists(
    st.sampled_from(["Lisbon", "river", "port", "5432", "not", "server", "tea", "ok", "the"]),
    min_size=1,
    max_size=6,
).map(" ".join)


@hypothesis_settings(max_examples=60)
@given(
    st.lists(
        st.tuples(WORDS, st.sampled_from(["reinforce", "insert"]), st.sampled_from([None, "k"])),
        max_size=12,
    ),
    st.integers(1, 5),
)
def test_however_texts_are_chunked_the_outcomes_are_the_same(
    offers: list[tuple[str, str, str | None]], size: int
) -> None:
    def run(batch: int) -> list[tuple[object, ...]]:
        bench = Bench(memory__batch_size=batch)
        drafts = [
            bench.draft(text, on_duplicate=mode, idempotency_key=key) for text, mode, key in offers
        ]
        outcomes = bench.committer.commit(drafts)
        inserted = [outcome.id for outcome in outcomes if outcome.outcome is OutcomeKind.INSERTED]
        assert len(inserted) == bench.size()
        return [
            (outcome.outcome, outcome.rule, inserted.index(outcome.id) if outcome.id else None)
            for outcome in outcomes
        ]

    assert run(size) == run(100)
