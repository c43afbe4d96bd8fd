"""Questions that a memory answers.

Made by rule where the sentence is clear, kept with the memory, embedded in the same batch.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew import Clew
from clew.errors import InputError
from clew.memories.question_rules import (
    BASE_OF_PAST,
    BASE_OF_THIRD,
    MAX_QUESTION,
    RuleQuestioner,
    answered,
)
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole, Questions
from clew.text.words import content_hash
from clew.types import EventKind, Role, Vectors
from tests.surface.conftest import Cli, cli  # noqa: F401 - a fixture

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BUILD = "The build failed because the cache was stale. To clear the cache, run make clean."
ASKED = ("Why did the build fail?", "How do I clear the cache?")
ON: dict[str, Any] = {"questions.enabled": True}


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("The staging host is called alpha.", ["What is the staging host called?"]),
        ("To fix the login timeout, raise the session TTL.", ["How do I fix the login timeout?"]),
        ("The deploy failed because the token had expired.", ["Why did the deploy fail?"]),
        ("Never deploy on a Friday.", ["Should I deploy on a Friday?"]),
        ("Don't commit secrets; they stay in the history.", ["Should I commit secrets?"]),
        (
            "Always pin the versions of base images.",
            ["Should I always pin the versions of base images?"],
        ),
        (
            "Avoid long transactions on the primary.",
            ["Why should I avoid long transactions on the primary?"],
        ),
        (
            "Use httpx instead of requests in coroutines.",
            ["What should I use instead of requests in coroutines?"],
        ),
        ("Use jq to pretty-print JSON.", ["How do I pretty-print JSON?"]),
        (
            "If the runner is out of disk space, prune old images.",
            ["What do I do if the runner is out of disk space?"],
        ),
        (
            "The root cause of the outage was a full disk.",
            ["What was the root cause of the outage?"],
        ),
        (
            "The workaround for the memory leak is a nightly restart.",
            ["What is the workaround for the memory leak?"],
        ),
        ("We fixed the flaky test by freezing the clock.", ["How do I fix the flaky test?"]),
        (
            "The circular import was resolved by moving the types.",
            ["How do I resolve the circular import?"],
        ),
        ("Restarting the worker fixes the stuck queue.", ["How do I fix the stuck queue?"]),
        ("A missing index caused the slow checkout.", ["What caused the slow checkout?"]),
        ("The importer needs write access to the temp folder.", ["What does the importer need?"]),
        ("Uploads were rejected because the proxy limits bodies.", ["Why were uploads rejected?"]),
        (
            "Containers couldn't resolve hosts after the VPN update.",
            ["Why could containers not resolve hosts?"],
        ),
        (
            "Tests passed alone and failed together because they share a locale.",
            ["Why did tests pass alone and fail together?"],
        ),
        (
            "Learned that the scheduler crashes when the clock goes back.",
            ["Why does the scheduler crash?"],
        ),
        (
            "Problem: the page hangs on Safari.\nSolution: never block the main thread.",
            ["Why does the page hang on Safari?", "Should I block the main thread?"],
        ),
    ],
)
def test_a_clear_sentence_becomes_the_question_that_it_answers(
    text: str, questions: list[str]
) -> None:
    assert list(answered(text)) == questions


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Lovely weather",
        "It failed because of that.",
        "This fixes it.",
        "Lena owns the schema and reviews every migration.",
        "Why did the build fail?",
        "Der Server ist abgestürzt, weil der Speicher voll war.",
        "服务器因为内存不足而崩溃。",
        "42",
    ],
)
def test_nothing_is_asked_where_the_rules_are_unsure(text: str) -> None:
    assert answered(text) == ()


def test_questions_come_in_the_order_of_the_sentences_without_repeats_and_no_more_than_wanted() -> (
    None
):
    text = f"{BUILD} {BUILD} Never skip the tests."
    assert answered(text) == ASKED
    assert answered(text, most=1) == ASKED[:1]
    assert RuleQuestioner(most=2).questions([text, "Lovely"]) == [Questions(ASKED), Questions()]


def test_verbs_go_back_to_their_base() -> None:
    assert [BASE_OF_PAST[word] for word in ("failed", "stopped", "retried", "grew", "froze")] == [
        "fail",
        "stop",
        "retry",
        "grow",
        "freeze",
    ]
    assert [BASE_OF_THIRD[word] for word in ("fails", "crashes", "retries", "loses")] == [
        "fail",
        "crash",
        "retry",
        "lose",
    ]


@given(
    st.text(max_size=300)
    | st.lists(
        st.sampled_from(
            "The build failed because to fix , . \n never if it use instead of was ?".split(" ")
        )
    ).map(" ".join)
)
def test_whatever_the_text_a_question_is_short_single_and_ends_as_one(text: str) -> None:
    made = answered(text)
    assert made == answered(text)
    assert len(made) <= 2
    for question in made:
        assert question.endswith("?")
        assert len(question) <= MAX_QUESTION
        assert question == " ".join(question.split())


@pytest.mark.parametrize(
    "piece",
    [
        "a ",
        "the build failed because ",
        "to fix ",
        ", ",
        "if ",
        "never. ",
        "is called ",
        "\n",
        "fixed by ",
        " " * 50,
    ],
)
def test_hostile_lengths_cost_no_more_than_their_reading(piece: str) -> None:
    began = time.process_time()
    answered(piece * 200_000)
    assert time.process_time() - began < 1.0


# --- kept with the memory ---


class Counting(HashingEmbedder):
    """Notes every batch it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        self.batches.append(list(texts))
        return super().embed(texts, role=role)


def opened(path: str | Path = ":memory:", **settings: Any) -> Clew:
    return clew.open(path, embedder=Counting(), clock=lambda: NOW, **{**ON, **settings})


def batches(memory: Clew) -> list[list[str]]:
    embedder = memory._vectors.embedder
    assert isinstance(embedder, Counting)
    return embedder.batches


def roles(memory: Clew, id: str | None) -> list[Role]:
    return [each.role for each in memory.store.embeddings([str(id)])]


def test_a_memory_with_the_trigger_is_stored_with_its_questions_and_their_vectors_in_one_batch() -> (
    None
):
    with opened() as memory:
        id = str(memory.remember(BUILD, trigger="problem-solution", source="chat:1").id)
        assert memory.questions(id) == ASKED
        assert batches(memory) == [[BUILD, *ASKED]]
        kept = memory.store.embeddings([id])
        assert [(each.role, each.text_hash) for each in kept[1:]] == [
            (Role.QUESTION, content_hash(ASKED[0])),
            (Role.QUESTION_2, content_hash(ASKED[1])),
        ]
        (event,) = memory.history(id)
        assert (event.kind, event.detail) == (
            EventKind.ADD,
            {"source": "chat:1", "questions": list(ASKED)},
        )
        assert memory.get(id).metadata == {}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("settings", "trigger"),
    [
        ({}, None),
        ({}, "decision"),
        ({"questions.enabled": False}, "problem-solution"),
        ({"questions.triggers": ["feedback"]}, "problem-solution"),
    ],
)
def test_without_the_trigger_or_the_switch_nothing_is_made(
    settings: dict[str, Any], trigger: str | None
) -> None:
    with opened(**settings) as memory:
        id = memory.remember(BUILD, trigger=trigger).id
        assert (memory.questions(str(id)), roles(memory, id)) == ((), [Role.CONTENT])


def test_the_triggers_and_the_number_are_the_settings() -> None:
    chosen: dict[str, Any] = {"questions.triggers": ["feedback"], "questions.most": 1}
    with opened(**chosen) as memory:
        id = memory.remember(BUILD, trigger="feedback").id
        assert (memory.questions(str(id)), roles(memory, id)) == (
            ASKED[:1],
            [Role.CONTENT, Role.QUESTION],
        )


def test_a_duplicate_is_not_asked_about_again() -> None:
    with opened() as memory:
        first = memory.remember(BUILD, trigger="problem-solution")
        again = memory.remember(BUILD, trigger="problem-solution")
        assert (again.outcome, again.id) == ("exact_duplicate", first.id)
        assert batches(memory) == [[BUILD, *ASKED]]


def test_of_one_text_in_one_batch_only_the_memory_with_the_trigger_gets_questions() -> None:
    with opened() as memory:
        plain, asked = memory.remember_many(
            [{"text": BUILD}, {"text": BUILD, "trigger": "learning-failure"}], on_duplicate="insert"
        )
        assert (memory.questions(str(plain.id)), roles(memory, plain.id)) == ((), [Role.CONTENT])
        assert memory.questions(str(asked.id)) == ASKED


def test_without_a_model_the_questions_wait_for_reembed() -> None:
    with clew.open(
        ":memory:", clock=lambda: NOW, model={"embedder": "none"}, questions={"enabled": True}
    ) as memory:
        id = memory.remember(BUILD, trigger="problem-solution").id
        assert (memory.questions(str(id)), roles(memory, id)) == (ASKED, [])
        memory.reembed(HashingEmbedder())
        assert roles(memory, id) == [Role.CONTENT, Role.QUESTION, Role.QUESTION_2]


def test_another_model_makes_the_questions_vectors_too(tmp_path: Path) -> None:
    with opened(tmp_path / "a.clew") as memory:
        id = str(memory.remember(BUILD, trigger="problem-solution").id)
        other = HashingEmbedder(64)
        memory.reembed(other)
        kept = memory.store.embeddings([id])
        assert [len(each.vector) for each in kept] == [64, 64, 64]
        expected = other.embed(ASKED, role=EmbedRole.PASSAGE)
        assert [
            float(each.vector @ vector) for each, vector in zip(kept[1:], expected, strict=True)
        ] == pytest.approx([1.0, 1.0], abs=1e-3)
        assert memory.store.unembedded(other.id, limit=9) == ()


def test_an_export_takes_the_questions_along(tmp_path: Path) -> None:
    with opened(tmp_path / "a.clew") as memory, opened(tmp_path / "b.clew") as copy:
        id = str(memory.remember(BUILD, trigger="problem-solution").id)
        copy.load(memory.export())
        assert copy.questions(id) == ASKED
        assert roles(copy, id) == [Role.CONTENT, Role.QUESTION, Role.QUESTION_2]
        assert copy.store.coverage("default").questions == 1


def test_what_supersedes_has_its_own_questions_made_before_the_write_lock() -> None:
    with opened() as memory:
        old = memory.remember("The build takes ten minutes on every machine.")
        new = memory.supersede(str(old.id), BUILD, trigger="problem-solution")
        assert memory.questions(str(new.id)) == ASKED
        assert roles(memory, new.id) == [Role.CONTENT, Role.QUESTION, Role.QUESTION_2]
        assert batches(memory)[1:] == [[BUILD, *ASKED]]


def test_a_version_answers_what_its_fact_answers() -> None:
    with opened() as memory:
        id = str(memory.remember(BUILD, trigger="problem-solution", valid_from="2026-01-01").id)
        memory.invalidate(id, at="2026-02-01")
        memory.reassert(id, valid_from="2026-02-15")
        live = [row.id for row in memory.versions(id) if row.t_expired is None]
        assert len(live) == 2
        memory.reembed(HashingEmbedder(64))
        for each in live:
            assert memory.questions(each) == ASKED
            assert roles(memory, each) == [Role.CONTENT, Role.QUESTION, Role.QUESTION_2]


def test_a_forgotten_memory_leaves_no_question_behind() -> None:
    with opened() as memory:
        id = str(memory.remember(BUILD, trigger="problem-solution").id)
        memory.forget(id)
        assert (memory.questions(id), memory.store.coverage("default").questions) == ((), 0)
        assert "questions" not in str(memory.history(id))


def test_show_tells_the_questions_where_there_are_any(
    cli: Cli,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLEW_QUESTIONS__ENABLED", "true")
    id, plain = (
        cli.add(BUILD, "--trigger", "problem-solution"),
        cli.add("The office is in the third street."),
    )
    assert cli.json("show", id)["questions"] == list(ASKED)
    assert " ".join(ASKED) in " ".join(cli("show", id).stdout.split())
    assert "questions" not in cli.json("show", plain)
    assert "answers" not in cli("show", plain).stdout


def test_a_language_model_without_a_name_is_refused_at_once() -> None:
    with pytest.raises(InputError, match=r"questions\.model"):
        opened(**{"questions.generator": "llm"})
