"""The answer for k is the head of the answer for any larger k, and the parts of every score add up to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

import clew
from clew.search.recipes import NAMES
from clew.search.state import Recall
from clew.testing import NOW, FixedClock
from tests.token_model import TokenModel

SIZES = (1, 3, 5, 10, 20, 50)
MOST = 400  # more than any recipe has candidates here
TOLERANCE = 1e-9
QUESTIONS = (
    "Which database does the staging server use?",
    "What is the latest decision about the coffee machine?",
    "What was the first thing that Anna said about the deploy?",
    "What did we decide about the database in February 2026?",
    "What happened in February 2026?",
    "What happened last week?",
    "Where does Anna Berg keep the keys?",
    "kitchen machine broken",
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"preset": "recent"},
    {"preset": "popular", "as_of": "2026-02-20"},
    {"min_similarity": 0.05},
)
SETTINGS: tuple[dict[str, Any], ...] = (
    {"recall": {"fusion": "rrf"}},
    {"recall": {"weights": {"repeat": 0.1}}},
    {"score": {"meta_weight": 0.2}},
    {"tracerank": {"enabled": True}},
    {"tracerank": {"enabled": False}},
    {"recall": {"late_interaction": False}},
)
PEOPLE = ("Anna Berg", "Tom Reyes", "Ms Okafor", "Luis Prado")
PLACES = ("kitchen", "staging server", "office", "garage", "main database", "old laptop")
THINGS = ("coffee machine", "deploy script", "database", "spare keys", "build server", "printer")
STATES = (
    "is broken",
    "was moved",
    "uses Postgres 16",
    "was repaired",
    "needs a new owner",
    "is under the desk",
)


class CountingReader:
    """A reranker that needs no model: the share of the question's words that a text holds."""

    id = "counting"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        asked = set(question.lower().split())
        return [len(asked & set(text.lower().split())) / len(asked) for text in texts]


def sentence(draw: Random, number: int) -> str:
    return f"{draw.choice(PEOPLE)} said that the {draw.choice(THINGS)} in the {draw.choice(PLACES)} {draw.choice(STATES)}, note {number}."


def fill_with_memories(memory: clew.Clew, clock: FixedClock, draw: Random) -> None:
    """Store memories of a year, some told again, superseded, linked, or nearly the same as another."""
    ids = []
    for number in range(180):
        fields: dict[str, Any] = {
            "importance": draw.choice((0.2, 0.5, 0.9)),
            "category": draw.choice(("fact", "decision", "observation")),
        }
        if draw.random() < 0.5:
            fields["valid_from"] = NOW - timedelta(days=draw.randrange(400), hours=number)
        if draw.random() < 0.3:
            fields["title"] = draw.choice((*PEOPLE, *THINGS)).title()
        text = sentence(draw, number if draw.random() < 0.8 else number // 2)
        ids.append(str(memory.remember(text, on_duplicate="insert", **fields).id))
        clock.advance(hours=7)
    for _ in range(40):
        source, target = draw.sample(ids, 2)
        memory.link(source, target, kind=draw.choice(("RELATED", "CAUSES")))
    for number in range(10):
        memory.supersede(ids[number * 5], f"Since then {sentence(draw, 500 + number)}")
    for number in range(30):
        memory.recall(sentence(draw, number), k=3, track=True)


def fill_with_conversations(memory: clew.Clew, clock: FixedClock, draw: Random) -> None:
    for session in range(12):
        said = [
            {"speaker": draw.choice(PEOPLE), "text": sentence(draw, session * 20 + turn)}
            for turn in range(16)
        ]
        memory.remember_conversation(said, session=f"talk {session}", time=clock())
        clock.advance(days=6)


def fill_with_a_document(memory: clew.Clew, clock: FixedClock, draw: Random) -> None:
    """Import two documents with headings, one of them mostly the same as the other, and a few memories beside them."""
    parts = [
        f"# The {thing}\n\n" + "\n\n".join(_paragraph(draw, 40 * place) for _ in range(12))
        for place, thing in enumerate(THINGS)
    ]
    memory.import_data("\n\n".join(parts), name="handbook.md")
    memory.import_data(
        "\n\n".join((*parts[:2], "# Notes\n\nok\n\n## Empty\n\n- a\n- b\n")), name="copy.md"
    )
    for number in range(20):
        memory.remember(
            sentence(draw, number), on_duplicate="insert", valid_from=NOW - timedelta(days=number)
        )
    clock.advance(days=1)


def _paragraph(draw: Random, number: int) -> str:
    return " ".join(sentence(draw, number + place) for place in range(draw.choice((1, 2, 7))))


FILLS = {
    "memories": fill_with_memories,
    "conversations": fill_with_conversations,
    "document": fill_with_a_document,
}


@pytest.fixture(scope="module", params=FILLS)
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[clew.Clew]:
    path: Path = tmp_path_factory.mktemp("prefix") / "store.clew"
    clock = FixedClock(NOW - timedelta(days=60))
    with clew.open(path, embedder=TokenModel(), reranker=CountingReader(), clock=clock) as memory:
        FILLS[request.param](memory, clock, Random(7))
        yield memory


def check_head(shorter: Recall, longer: Recall, k: int, told: str) -> None:
    head = longer.hits[:k]
    assert [hit.id for hit in shorter.hits] == [hit.id for hit in head], told
    for one, other in zip(shorter.hits, head, strict=True):
        assert one.score == pytest.approx(other.score, abs=TOLERANCE), told
        assert one.context == other.context, told


def check_sums(answer: Recall, told: str) -> None:
    for hit in answer.hits:
        parts = sum(part.contribution for part in hit.components.values())
        assert parts == pytest.approx(hit.score, abs=TOLERANCE), told
        channels = sum(place.contribution for place in hit.channels.values())
        assert channels == pytest.approx(hit.components["semantic"].value, abs=TOLERANCE), told


def check_questions(memory: clew.Clew, recipe: str, sizes: Sequence[int]) -> None:
    for place, question in enumerate(QUESTIONS):
        chosen = OPTIONS[(place + len(recipe)) % len(OPTIONS)]
        asked = {"recipe": recipe, "budget_tokens": 0, "track": False, **chosen}
        told = f"{recipe}: {question} {chosen}"
        longest = memory.recall(question, k=MOST, **asked)
        check_sums(longest, told)
        for k in sizes:
            check_head(memory.recall(question, k=k, **asked), longest, k, f"{told} k={k}")


@pytest.mark.parametrize("recipe", NAMES)
def test_the_answer_for_k_is_the_head_of_the_answer_for_any_larger_k(
    filled: clew.Clew, recipe: str
) -> None:
    check_questions(filled, recipe, SIZES)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_no_setting_lets_the_order_depend_on_k(filled: clew.Clew, settings: dict[str, Any]) -> None:
    for recipe in ("fast", "reranked"):
        check_questions(filled.variant(**settings), recipe, (1, 5, 20))


def test_the_questions_find_something(filled: clew.Clew) -> None:
    sizes = [len(filled.recall(question, k=50, track=False).hits) for question in QUESTIONS]
    assert sum(size > 10 for size in sizes) >= len(QUESTIONS) - 2
