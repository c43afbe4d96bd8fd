"""Policies: the budget, early stops, and whose question orders the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.engine.clew import silent
from clew.evaluate.answering import named
from clew.evaluate.data import Answer, Query
from clew.evaluate.expansion import CodeExpander, FollowNames, ProseExpander, frequencies
from clew.evaluate.index import Index, indexed
from clew.evaluate.policies import MultiHop, Policy, SingleHop
from clew.evaluate.searcher import Searcher
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
        MultiHop(expander=expander, hops=5, early_stop=False),
        ["alder birch", "cedar elm", "fir hazel"],
        "alder",
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
    policy = MultiHop(expander=Fixed(["zebra"]), chunks_per_hop=1, budget=3, early_stop=False)
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
        assert searcher.order("alder birch cedar", "default", pool) == searcher.order(
            "alder birch cedar", "default", pool[::-1]
        )


def test_a_best_hit_with_every_word_of_the_question_ends_the_search() -> None:
    texts = ["alder birch", "cedar elm", "alder of the north"]
    answer, _ = asked(MultiHop(expander=Fixed(["cedar"])), texts, "the alder birch")
    assert (answer.hops_used, answer.stopped, answer.cost.passes) == (1, "covered", 1)
    going_on, _ = asked(
        MultiHop(expander=Fixed(["cedar"]), early_stop=False), texts, "the alder birch"
    )
    assert (going_on.hops_used, going_on.stopped, going_on.cost.passes) == (2, "all hops", 2)


def test_a_hop_that_brings_nothing_into_the_first_k_ends_the_search() -> None:
    texts = ["alder birch cedar", "alder birch wood", "fir", "fir and fir", "fir in the wood"]
    policy = MultiHop(expander=Fixed(["fir"]), k=2, hops=5, chunks_per_hop=2, budget=9)
    answer, _ = asked(policy, texts, "alder birch zebra")
    assert (answer.hops_used, answer.stopped) == (2, "no gain")
    assert answer.ranking == ("p0", "p1")


def test_one_search_and_several_hops_over_the_same_pool_give_the_same_order() -> None:
    texts = ["alder birch cedar", "alder birch", "alder wood", "cedar zebra"]
    question = "alder birch cedar elm"
    one, _ = asked(SingleHop(k=4, rescored=True), texts, question, embedder=HashingEmbedder(64))
    several, _ = asked(
        MultiHop(expander=Fixed(["alder", "zebra"]), k=4, chunks_per_hop=1, budget=4),
        texts,
        question,
        embedder=HashingEmbedder(64),
    )
    assert set(one.ranking) == set(several.ranking)
    assert one.ranking == several.ranking


def test_following_names_asks_for_a_name_of_each_best_hit_beside_the_question() -> None:
    texts = [
        "The Salt Meadow was made by Jane Doe in Lund.",
        "Ana Prado wrote the music of The Salt Meadow.",
        "Jane Doe was born in Turku.",
        "Ana Prado was born in Cadiz.",
    ]
    follow = FollowNames(frequencies(dataset_of(texts).passages))
    question = "where was the director born"
    assert follow.queries(question, "default", texts[:2]) == [
        f"Jane Doe {question}",
        f"Ana Prado {question}",
        f"The Salt Meadow {question}",
    ]
    long = " ".join(["word"] * 40)
    assert follow.queries(long, "default", texts[:1])[0] == "Jane Doe"


def test_following_names_in_code_takes_symbols_that_are_not_defined_in_view() -> None:
    texts = [
        "def load_config():\n    return parse_toml(path_of())",
        "def parse_toml(x): ...",
        "def path_of(): ...",
        "load_config()",
    ]
    follow = FollowNames(frequencies(dataset_of(texts).passages), code=True)
    assert follow.queries("why", "default", texts[:1], view=["def path_of(): ..."]) == [
        "parse_toml why"
    ]


def test_all_that_was_read_so_far_is_in_view_of_the_next_hop() -> None:
    expander = Fixed(["cedar", "fir"])
    asked(
        MultiHop(expander=expander, hops=3, chunks_per_hop=1, budget=5, early_stop=False),
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
