"""Policies: the budget, early stops, and whose question orders the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.engine.clew import silent
from clew.evaluate.answering import named
from clew.evaluate.data import Query
from clew.evaluate.expansion import CodeExpander, ProseExpander, frequencies
from clew.evaluate.index import Index, indexed
from clew.evaluate.policies import Answer, MultiHop, Policy, Searcher, SingleHop
from clew.models.vectors import HashingEmbedder
from clew.ports import Embedder
from tests.evaluate.sample import dataset_of

WORDS = "Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel import Flask render( query( class Config of the".split()


@dataclass
class Fixed:
    """Names the same things whatever was read."""

    answers: Sequence[str]
    calls: list[Sequence[str]] = field(default_factory=list)

    def queries(
        self, question: str, space: str, texts: Sequence[str], *, view: Sequence[str] = ()
    ) -> list[str]:
        self.calls.append(view)
        return list(self.answers)


def asked(
    policy: Policy, texts: Sequence[str], question: str, *, embedder: Embedder | None = None
) -> tuple[Answer, Searcher]:
    with indexed(dataset_of(texts), embedder, progress=silent) as index:
        searcher = Searcher(index.memory, index.nodes)
        return named(policy.answer(searcher, Query(id="q", text=question)), index), searcher


sentences = st.lists(st.sampled_from(WORDS), min_size=2, max_size=8).map(" ".join)


@settings(max_examples=40)
@given(
    texts=st.lists(sentences, min_size=1, max_size=25, unique=True),
    question=sentences,
    budget=st.integers(1, 20),
    hops=st.integers(1, 4),
    chunks_per_hop=st.integers(1, 8),
    k=st.integers(1, 20),
    code=st.booleans(),
    dense=st.booleans(),
)
def test_the_budget_is_never_exceeded(
    *,
    texts: list[str],
    question: str,
    budget: int,
    hops: int,
    chunks_per_hop: int,
    k: int,
    code: bool,
    dense: bool,
) -> None:
    counts = frequencies(dataset_of(texts).passages)
    expander = CodeExpander(counts) if code else ProseExpander(counts)
    policy = MultiHop(
        expander=expander, k=k, hops=hops, chunks_per_hop=chunks_per_hop, budget=budget
    )
    answer, searcher = asked(
        policy, texts, question, embedder=HashingEmbedder(64) if dense else None
    )
    assert len(searcher.seen) == answer.cost.chunks_examined <= budget
    assert len(set(answer.ranking)) == len(answer.ranking) <= min(k, answer.cost.chunks_examined)
    assert all(1 <= answer.hops[id] <= hops for id in answer.ranking)
    assert sum(hop == 1 for hop in answer.hops.values()) <= chunks_per_hop
    assert answer.cost.passes <= 1 + (hops - 1) * 5
    assert answer.cost.embedding_calls in ({answer.cost.passes} if dense else {0})


def test_a_hop_that_names_nothing_ends_the_search() -> None:
    answer, _ = asked(
        MultiHop(expander=Fixed([]), hops=5), ["alder birch", "cedar elm", "fir hazel"], "alder"
    )
    assert answer.cost.passes == 1
    assert answer.ranking == ("p0",)


def test_a_hop_that_finds_nothing_new_ends_the_search() -> None:
    expander = Fixed(["alder", "nowhere"])
    answer, _ = asked(
        MultiHop(expander=expander, hops=5), ["alder birch", "cedar elm", "fir hazel"], "alder"
    )
    assert (answer.cost.passes, len(expander.calls)) == (3, 1)
    assert answer.cost.chunks_examined == 1


def test_an_exhausted_budget_ends_the_search_before_it_expands() -> None:
    expander = Fixed(["cedar"])
    answer, _ = asked(
        MultiHop(expander=expander, budget=2, chunks_per_hop=5, hops=4),
        ["alder x", "alder y", "alder z", "cedar"],
        "alder",
    )
    assert expander.calls == []
    assert answer.cost.chunks_examined == 2


def test_candidates_of_every_hop_are_ordered_by_the_original_question() -> None:
    texts = [
        "alder and birch stand here",
        "zebra zebra zebra",
        "an alder beside a zebra",
        "nothing of it",
    ]
    policy = MultiHop(expander=Fixed(["zebra"]), chunks_per_hop=1, budget=3)
    answer, searcher = asked(policy, texts, "alder birch")
    # as the hops found them
    assert [searcher.passages[id].id for id in searcher.seen] == ["p0", "p1", "p2"]
    assert answer.ranking == ("p0", "p2", "p1")  # the zebras answer the expansion, not the question
    assert answer.hops == {"p0": 1, "p2": 2, "p1": 2}


def test_the_order_of_a_pool_does_not_depend_on_how_it_was_found() -> None:
    texts = ["alder birch cedar", "alder birch", "alder", "zebra"]
    with indexed(dataset_of(texts), HashingEmbedder(64), progress=silent) as index:
        searcher = Searcher(index.memory, index.nodes)
        searcher.search("alder birch cedar", "default", count=4)
        pool = list(index.nodes)
        assert searcher.rescored("alder birch cedar", "default", pool) == searcher.rescored(
            "alder birch cedar", "default", pool[::-1]
        )


def test_all_that_was_read_so_far_is_in_view_of_the_next_hop() -> None:
    expander = Fixed(["cedar", "fir"])
    asked(
        MultiHop(expander=expander, hops=3, chunks_per_hop=1, budget=5),
        ["alder", "cedar wood", "fir wood"],
        "alder",
    )
    assert [list(view) for view in expander.calls] == [["alder"], ["alder", "cedar wood"]]


def test_a_single_hop_looks_once_and_at_k() -> None:
    answer, searcher = asked(SingleHop(k=2), ["alder x", "alder y", "alder z"], "alder")
    assert (answer.cost.passes, answer.cost.chunks_examined, len(answer.ranking)) == (1, 2, 2)
    assert set(answer.hops.values()) == {1}
    assert (
        searcher.account(list(searcher.seen), 0.0).tokens_returned
        == answer.cost.tokens_returned
        > 0
    )


def test_two_passages_with_one_id_are_refused() -> None:
    import pytest

    from clew.errors import InputError

    dataset = dataset_of(["alder"])
    doubled = type(dataset)(
        **{name: getattr(dataset, name) for name in dataset.__slots__}
        | {"passages": dataset.passages * 2}
    )
    with (
        pytest.raises(InputError, match="id of another"),
        indexed(doubled, None, progress=silent) as index,
    ):
        assert isinstance(index, Index)
