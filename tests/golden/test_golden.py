"""Does following links answer more than the best k by words and meaning? On a corpus with known relations, kept as it was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pytest

import clew
from clew.ports import Embedder, Store
from clew.search.state import Hop
from tests.golden.corpus import PLAIN, Answer, Told, told

Answers: TypeAlias = dict[str, Answer]

pytestmark = pytest.mark.model

LEAST_ANSWERED = 36  # of 40, as measured; plain top-5 answers 21
LEAST_WON = 15


@pytest.fixture(scope="module")
def embedder(real_embedder: Embedder) -> Embedder:
    return real_embedder


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden") / "golden.clew"


@pytest.fixture(scope="module")
def corpus(path: Path, embedder: Embedder) -> Iterator[Told]:
    found = told(path, embedder=embedder)
    yield found
    found.clew.close()


@pytest.fixture(scope="module")
def full(corpus: Told) -> Answers:
    return corpus.answers()


@pytest.fixture(scope="module")
def plain(corpus: Told, path: Path, embedder: Embedder) -> Answers:
    with clew.open(path, embedder=embedder, clock=corpus.clew.now, **PLAIN) as opened:
        return replace(corpus, clew=opened).answers()


def test_the_full_recall_answers_many_questions_that_plain_top_k_cannot(
    full: Answers, plain: Answers
) -> None:
    assert len(_answered(full)) >= LEAST_ANSWERED
    assert len(_answered(full) - _answered(plain)) >= LEAST_WON


def test_no_question_that_plain_top_k_answers_is_lost(full: Answers, plain: Answers) -> None:
    assert _answered(plain) <= _answered(full)


def test_questions_that_one_memory_answers_keep_it_first(full: Answers) -> None:
    direct = [answer for answer in full.values() if answer.asked.by in ("direct", "supersede")]
    assert [next(iter(answer.hits)) for answer in direct] == [
        answer.asked.needs[0] for answer in direct
    ]


def test_every_path_is_made_of_links_that_exist_and_ends_at_its_hit(
    corpus: Told, full: Answers
) -> None:
    walked = [hit for answer in full.values() for hit in answer.hits.values() if hit.path]
    assert len(walked) > len(full)
    for hit in walked:
        assert hit.path[-1].target == hit.id
        assert all(one.target == two.source for one, two in pairwise(hit.path))
        assert all(_exists(corpus.clew.store, hop) for hop in hit.path)


def test_what_only_the_full_recall_brings_in_comes_by_the_link_that_was_foreseen(
    full: Answers, plain: Answers
) -> None:
    foreseen = {"shared": {"SHARES", "OPENS"}, "names": {"NAMES", "NAMED_BY", "OPENS", "SHARES"}}
    won = [
        full[ask] for ask in _answered(full) - _answered(plain) if full[ask].asked.by in foreseen
    ]
    assert won
    for answer in won:
        missed = set(answer.asked.needs) - plain[answer.asked.ask].hits.keys()
        kinds = [{hop.edge for hop in answer.hits[key].path} for key in missed]
        assert all(each & foreseen[answer.asked.by] for each in kinds), answer.asked.ask


def _answered(answers: Answers) -> set[str]:
    return {ask for ask, answer in answers.items() if answer.full}


def _exists(store: Store, hop: Hop) -> bool:
    """Look the link up in what the store holds, by another way than the walk went."""
    if hop.edge == "RELATED":
        return any(
            {edge.source, edge.target} == {hop.source, hop.target}
            for edge in store.edges([hop.source])
        )
    said = store.mentions([hop.source, hop.target])
    names = {id: {mention.name for mention in each} for id, each in said.items()}
    subject = {"NAMES": hop.target, "NAMED_BY": hop.source, "OPENS": hop.target}.get(hop.edge)
    if subject is None:
        return hop.evidence in names[hop.source] & names[hop.target]
    return any(
        (mention.opens if hop.edge == "OPENS" else mention.subject) and mention.name == hop.evidence
        for mention in said[subject]
    )
