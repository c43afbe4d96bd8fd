"""What a language model does for a Clew, what the answers say of it, and how rules make good what it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import clew
from clew.engine.auth import Grant, Right
from clew.engine.authorised import Guarded
from clew.errors import ClewError, InputError
from clew.models.vectors import HashingEmbedder
from clew.types import Kind
from tests.models.conftest import Answer, Asked, Local, Serve, serve  # noqa: F401 - a fixture

PORT = "The staging database of the harbour listens on port 5433."
TASKS = {
    "worth keeping": "substance",
    "list the names": "entities",
    "given a conversation": "facts",
    "summarise a section": "summary",
    "given two memories": "conflict",
}


def task_of(asked: Asked) -> str:
    system = asked.json["messages"][0]["content"]
    return next(task for words, task in TASKS.items() if words in system)


def says(**answers: Any) -> Callable[[Asked], Answer]:
    """Answer each task with its value."""

    def answer(asked: Asked) -> Answer:
        content = json.dumps(answers[task_of(asked)])
        return Answer(
            body=json.dumps({"message": {"role": "assistant", "content": content}}).encode()
        )

    return answer


@contextmanager
def opened(local: Local, **llm: Any) -> Iterator[clew.Clew]:
    settings = {"protocol": "ollama", "model": "small", "endpoint": local.url, **llm}
    with clew.open(":memory:", embedder=HashingEmbedder(), llm=settings) as memory:
        yield memory


def test_nothing_is_asked_of_a_model_that_is_not_configured(serve: Serve) -> None:  # noqa: F811
    with clew.open(":memory:", embedder=HashingEmbedder()) as memory:
        assert memory.language is None
        assert memory.remember(PORT).notes == ()
    local = serve(says(substance={"keep": False}))
    with opened(local) as memory:  # configured, but neither task is turned on
        assert memory.remember(PORT).outcome == "inserted"
    assert local.asked == []


def test_a_model_may_reject_what_the_rules_let_through(serve: Serve) -> None:  # noqa: F811
    local = serve(says(substance={"keep": False, "reason": "a remark without its context"}))
    with opened(local, substance=True) as memory:
        done = memory.remember("The one over there looks somewhat better than the other today.")
        assert (done.outcome, done.rule, done.value) == (
            "rejected",
            "language_model",
            "a remark without its context",
        )
        assert "Judged not worth keeping by small at " in done.notes[-1]
        assert memory.remember("ok").rule == "chatter"  # by the rules, which ask nobody
        assert len(local.asked) == 1
        forced = memory.remember(
            "The one over there looks somewhat better than the other today.", force=True
        )
        assert forced.outcome == "inserted"


def test_a_memory_that_the_model_keeps_says_so(serve: Serve) -> None:  # noqa: F811
    with opened(serve(says(substance={"keep": True})), substance=True) as memory:
        first, second = memory.remember_many([PORT, "The harbour master is called Mette Holm."])
        assert [each.outcome for each in (first, second)] == ["inserted", "inserted"]
        assert all(
            "Judged worth keeping by small at " in each.notes[-1] for each in (first, second)
        )


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: Answer(404),
        lambda _: Answer(body=b"<html>"),
        lambda _: Answer(body=b'{"message": {"content": "Sure!"}}'),
    ],
)
def test_a_model_that_fails_costs_nothing_but_a_note(
    serve: Serve,  # noqa: F811
    answer: Callable[[Asked], Answer],
) -> None:
    with opened(serve(answer), substance=True, entities=True) as memory:
        done = memory.remember(PORT)
        assert done.outcome == "inserted"
        assert [note.partition(". ")[0] for note in done.notes] == [
            "Its substance was judged by rules",
            "Its names were read by rules",
        ]


def test_a_model_adds_names_to_those_of_the_rules(serve: Serve) -> None:  # noqa: F811
    local = serve(
        says(
            entities=[
                {"name": "berth nine", "type": "PLACE"},
                {"name": "Atlantis", "type": "PLACE"},
            ]
        )
    )
    with opened(local, entities=True) as memory:
        done = memory.remember("The ferry Marianne lies at berth nine until Friday.")
        names = {mention.mention.name for mention in memory.related(str(done.id)).entities}
        assert "berth nine" in names
        assert "Atlantis" not in names  # the text does not say it
        assert any("Marianne" in name for name in names)  # what the rules found stays
        assert "names were read by small" in done.notes[-1]


TALK = (
    {"role": "user", "text": "Which port does the harbour's staging database use?"},
    {"role": "assistant", "text": "It listens on port 5433 since the move in March."},
    {
        "role": "user",
        "text": "Let's use cursor pagination for the berth list, page numbers were too slow.",
    },
)


def test_facts_of_a_conversation_are_kept_with_links_to_the_messages_that_say_them(
    serve: Serve,  # noqa: F811
) -> None:
    fact = {
        "text": "The harbour's staging database listens on port 5433 since March.",
        "category": "fact",
        "messages": [0, 1],
    }
    local = serve(says(facts=[fact]))
    with opened(local) as memory:
        done = memory.remember_conversation(TALK, session="talk", extract=True)
        (kept,) = done.facts
        assert kept.outcome == "inserted"
        assert "The facts were extracted by small at " in done.notes[-1]
        edges = [
            edge.target for edge in memory.related(str(kept.id)).edges if edge.kind == "EVIDENCE"
        ]
        assert sorted(edges) == sorted(str(each.id) for each in done.outcomes[:2])
        node = memory.get(str(kept.id))
        assert node is not None
        assert (node.kind, node.category, node.metadata["session_of"]) == (
            Kind.MEMORY,
            "fact",
            "talk",
        )
        again = memory.remember_conversation(TALK, session="talk", extract=True)
        assert (again.facts, len(local.asked)) == ((), 1)  # nothing is new


@pytest.mark.parametrize("configured", [True, False])
def test_without_a_usable_answer_facts_are_extracted_by_rules_and_the_answer_says_so(
    serve: Serve,  # noqa: F811
    configured: bool,
) -> None:
    local = serve(says(facts="I found many facts."))
    settings = {"protocol": "ollama", "model": "small", "endpoint": local.url} if configured else {}
    with clew.open(":memory:", embedder=HashingEmbedder(), llm=settings) as memory:
        done = memory.remember_conversation(TALK, session="talk", extract=True)
        (kept,) = done.facts
        node = memory.get(str(kept.id))
        assert node is not None
        assert (node.text, node.category, node.trigger) == (TALK[2]["text"], "decision", "decision")
        assert done.notes[-1].startswith("The facts were extracted by rules.")
        assert ("no usable answer" in done.notes[-1]) is configured
        edges = [
            edge.target for edge in memory.related(str(kept.id)).edges if edge.kind == "EVIDENCE"
        ]
        assert edges == [done.outcomes[2].id]


@pytest.mark.parametrize("reads", [True, False])
def test_the_outcomes_of_facts_tell_of_other_memories_only_to_who_may_read(reads: bool) -> None:
    rights = frozenset({Right.WRITE, Right.READ} if reads else {Right.WRITE})
    with clew.open(":memory:", embedder=HashingEmbedder()) as memory:
        memory.remember(
            "Mette: let's use cursor pagination for the berth list, page numbers were too slow.",
            space="team",
        )
        writer = Guarded(memory, Grant(name="writer", rights=rights, spaces=frozenset({"team"})))
        done = writer.remember_conversation(TALK, session="talk", extract=True)
        assert ("Mette" in str(done.facts)) is reads
        with pytest.raises(ClewError):
            writer.summarise("0" * 26)


def test_a_conversation_is_not_extracted_unasked(serve: Serve) -> None:  # noqa: F811
    local = serve(says(facts=[]))
    with opened(local) as memory:
        assert memory.remember_conversation(TALK).facts == ()
    assert local.asked == []


def test_a_section_is_summarised_by_the_model_or_by_its_first_sentences(serve: Serve) -> None:  # noqa: F811
    page = "# Harbour\n\n" + "\n\n".join(
        f"Berth {number} belongs to the ferry company. It is {number} metres deep."
        for number in range(60)
    )
    local = serve(says(summary={"summary": "Sixty berths and how deep they are."}))
    with opened(local) as memory:
        memory.import_data(page, name="harbour.md")
        (document,) = [node for node in memory.recent(10) if node.kind is Kind.DOCUMENT]
        made = memory.summarise(document.id)
        assert made.value == "Sixty berths and how deep they are."
        assert made.note.startswith("Summarised by small at ")
    with clew.open(":memory:", embedder=HashingEmbedder()) as memory:
        memory.import_data(page, name="harbour.md")
        (document,) = [node for node in memory.recent(10) if node.kind is Kind.DOCUMENT]
        made = memory.summarise(document.id)
        assert "Berth 0 belongs to the ferry company." in made.value
        assert len(made.value) <= 501
        assert made.note == "Summarised by rules. No language model is configured (llm.protocol)."


@pytest.mark.parametrize(
    ("verdict", "listed"), [("conflict", 1), ("agree", 0), ("unrelated", 0), ("perhaps", 1)]
)
def test_the_model_confirms_conflicts_and_one_that_fails_rejects_none(
    serve: Serve,  # noqa: F811
    verdict: str,
    listed: int,
) -> None:
    local = serve(says(conflict={"verdict": verdict, "reason": "the ports"}))
    with opened(local, conflicts=True) as memory:
        memory.remember("The staging database listens on port 5433.", near=False)
        memory.remember("The staging database listens on port 6000.", near=False)
        assert local.asked == []
        found = memory.conflicts()
        assert (len(found), len(local.asked) > 0) == (listed, True)
        assert any("small at " in note or "no usable answer" in note for note in found.notes)


def test_questions_are_made_by_the_same_model(serve: Serve) -> None:  # noqa: F811
    local = serve(
        lambda _: Answer(
            body=json.dumps({"message": {"content": '["Where does staging listen?"]'}}).encode()
        )
    )
    settings = {"protocol": "ollama", "model": "small", "endpoint": local.url}
    with clew.open(
        ":memory:",
        embedder=HashingEmbedder(),
        llm=settings,
        questions={"enabled": True, "generator": "llm"},
    ) as memory:
        done = memory.remember(PORT, trigger="problem-solution")
        assert memory.questions(str(done.id)) == ("Where does staging listen?",)
        assert local.asked[0].path == "/api/chat"


@pytest.mark.parametrize(
    ("llm", "field"),
    [
        ({"protocol": "ollama"}, "llm.model"),
        ({"substance": True}, "llm.protocol"),
        ({"protocol": "openai", "model": "x", "endpoint": "nowhere"}, "server"),
    ],
)
def test_a_half_configured_model_is_refused_when_opening(llm: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as raised:
        clew.open(":memory:", embedder=HashingEmbedder(), llm=llm)
    assert raised.value.field == field
