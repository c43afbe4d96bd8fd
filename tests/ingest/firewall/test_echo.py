"""What Clew returned is not stored again as new; what merely speaks of it is."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.errors import DuplicateError
from clew.memories.firewall.echo import find_echo
from clew.memories.firewall.recalled_texts import (
    KIND,
    MAX_IDS,
    MAX_RECORDS,
    MAX_WORDS,
    RecalledTexts,
)
from clew.testing import NOW, FixedClock, node
from clew.types import Outcome, OutcomeKind
from tests.conftest import Open
from tests.ingest.firewall.planted import planted

PORT = "The staging database listens on port 5433."
TEA = "Dana prefers tea over coffee in the morning."
WRAPPED = f"As you told me earlier: {PORT}"
PLANTED = ("echoes_tuned", "echoes_second", "echoes_fresh")


def told(memory: clew.Clew, *texts: str, **options: Any) -> list[str]:
    """Let the memory keep the texts, return each by a recall, and give their ids."""
    outcomes = memory.remember_many(texts, near=False)
    for text in texts:
        assert text in [hit.text for hit in memory.recall(text, **{"track": False, **options}).hits]
    return [str(outcome.id) for outcome in outcomes]


def is_echo(outcome: Outcome) -> bool:
    return outcome.rule == "echo" and outcome.outcome in (
        OutcomeKind.NEAR_DUPLICATE,
        OutcomeKind.REJECTED,
    )


@pytest.mark.parametrize("name", PLANTED)
def test_every_planted_echo_is_heard(open_clew: Open, name: str) -> None:
    sets = planted(name)
    returned = sets["returned"]
    memory = open_clew()
    told(memory, *returned)
    for at in range(len(returned)):
        turned = [*returned[at:], *returned[:at]]
        for wrapping in sets["echoes"]:
            echo = wrapping.format(*turned, quoted=json.dumps(turned[0], ensure_ascii=False))
            outcome = memory.remember(echo, near=False)
            assert is_echo(outcome) or outcome.rule == "same_text", echo


@pytest.mark.parametrize("name", PLANTED)
def test_follow_ups_that_speak_of_what_was_returned_are_stored(open_clew: Open, name: str) -> None:
    sets = planted(name)
    memory = open_clew()
    told(memory, *sets["returned"])
    lost = [text for text in sets["follow_ups"] if is_echo(memory.remember(text, near=False))]
    assert lost == []


def test_an_echo_of_one_memory_names_it_and_of_several_is_rejected_and_names_all(
    memory: clew.Clew,
) -> None:
    port, tea = told(memory, PORT, TEA)
    one = memory.remember(WRAPPED, near=False)
    assert (one.outcome, one.rule, one.id, one.canonical_id) == (
        OutcomeKind.NEAR_DUPLICATE,
        "echo",
        port,
        port,
    )
    both = memory.remember(f"- {PORT}\n- {TEA}", near=False)
    assert (both.outcome, both.rule, both.id, both.canonical_id) == (
        OutcomeKind.REJECTED,
        "echo",
        None,
        port,
    )
    assert port in both.notes[0]
    assert tea in both.notes[0]
    assert "on_duplicate insert" in both.notes[0]
    assert memory.stats()["rejected"] == {"echo": 1}


def test_an_echo_reinforces_nothing(memory: clew.Clew) -> None:
    (port,) = told(memory, PORT)
    memory.remember(WRAPPED, near=False)
    assert [str(event.kind) for event in memory.history(port)] == ["ADD"]


def test_the_same_text_is_an_exact_duplicate_as_ever(memory: clew.Clew) -> None:
    told(memory, PORT)
    assert memory.remember(PORT).rule == "same_text"


def test_without_a_recall_there_is_no_echo(memory: clew.Clew) -> None:
    memory.remember(PORT)
    assert memory.remember(WRAPPED, near=False).outcome is OutcomeKind.INSERTED


def test_clews_own_explanation_is_an_echo(memory: clew.Clew) -> None:
    (port,) = told(memory, PORT)
    hit = memory.recall("staging port").hits[0]
    assert is_echo(memory.remember(hit.explanation, near=False))
    assert memory.remember(f"{hit.text}\n{hit.explanation}", near=False).id == port


def test_a_memory_with_a_title_comes_back_with_it(memory: clew.Clew) -> None:
    memory.remember("It listens on port 5433 of host alpha.", title="Staging database")
    memory.recall("staging port", track=False)
    assert is_echo(
        memory.remember(
            "From memory: Staging database: It listens on port 5433 of host alpha.", near=False
        )
    )
    titled = memory.remember(
        "It listens on port 5433 of host alpha, I recall.", title="Billing database", near=False
    )
    assert titled.outcome is OutcomeKind.INSERTED


def test_insert_overrides_and_error_raises(memory: clew.Clew) -> None:
    (port,) = told(memory, PORT)
    with pytest.raises(DuplicateError) as caught:
        memory.remember(WRAPPED, near=False, on_duplicate="error")
    assert caught.value.facts["canonical_id"] == port
    assert memory.remember(WRAPPED, on_duplicate="insert").outcome is OutcomeKind.INSERTED


def test_what_is_inserted_in_any_case_leaves_what_was_returned_to_be_heard_by_the_next(
    memory: clew.Clew,
) -> None:
    told(memory, PORT)
    assert memory.remember(TEA, on_duplicate="insert").outcome is OutcomeKind.INSERTED
    kept, echo = memory.remember_many(
        [{"text": WRAPPED, "on_duplicate": "insert"}, {"text": WRAPPED + " Noted."}], near=False
    )
    assert kept.outcome is OutcomeKind.INSERTED and is_echo(echo)


def test_a_retry_under_the_same_key_gets_the_memory_of_the_first_time(memory: clew.Clew) -> None:
    first = memory.remember(WRAPPED, idempotency_key="a")
    memory.recall("staging port")
    again = memory.remember(WRAPPED, idempotency_key="a")
    assert (again.rule, again.id) == ("idempotency_key", first.id)


def test_a_key_given_with_an_echo_stands_for_the_memory_it_echoes(memory: clew.Clew) -> None:
    (port,) = told(memory, PORT)
    assert is_echo(memory.remember(WRAPPED, near=False, idempotency_key="b"))
    assert (
        memory.remember("Something quite different about the harbour", idempotency_key="b").id
        == port
    )


def test_what_was_forgotten_expired_or_ended_since_may_be_said_again(
    memory: clew.Clew, clock: FixedClock
) -> None:
    port, tea = told(memory, PORT, TEA)
    memory.forget(port)
    assert memory.remember(WRAPPED, near=False).outcome is OutcomeKind.INSERTED
    clock.advance(minutes=1)
    memory.invalidate(tea)
    clock.advance(minutes=1)
    assert memory.remember(f"Again I remember: {TEA}", near=False).outcome is OutcomeKind.INSERTED


def test_another_space_is_another_matter(memory: clew.Clew) -> None:
    told(memory, PORT)
    assert memory.remember(WRAPPED, near=False, space="other").outcome is OutcomeKind.INSERTED


def test_after_the_window_nothing_is_recognised(memory: clew.Clew, clock: FixedClock) -> None:
    told(memory, PORT)
    clock.advance(minutes=memory.settings.firewall.echo_minutes + 1)
    assert memory.remember(WRAPPED, near=False).outcome is OutcomeKind.INSERTED


def test_the_guard_can_be_turned_off(open_clew: Open) -> None:
    memory = open_clew(firewall={"echo": False})
    told(memory, PORT)
    assert memory.remember(WRAPPED, near=False).outcome is OutcomeKind.INSERTED


def test_with_a_lower_share_a_word_may_be_added_but_no_number_and_no_name(open_clew: Open) -> None:
    memory = open_clew(firewall={"echo_share": 0.7})
    told(memory, PORT)
    assert is_echo(memory.remember("Surely the staging database listens on port 5433.", near=False))
    assert (
        memory.remember("The staging database listens on port 5433 at Hetzner", near=False).outcome
        is OutcomeKind.INSERTED
    )
    assert (
        memory.remember("The staging database listens on port 5433 and 5434", near=False).outcome
        is OutcomeKind.INSERTED
    )


def test_a_chunk_that_came_with_its_neighbours_is_recognised_with_them(
    open_clew: Open, tmp_path: Path
) -> None:
    memory = open_clew(
        chunking={"min_tokens": 5, "target_tokens": 24, "max_tokens": 40, "overlap_tokens": 0}
    )
    file = tmp_path / "harbour.md"
    parts = [
        f"## Part {number}\n\nCrane {number} lifts {number * 7} tons, was built in {1900 + number}."
        for number in range(1, 60)
    ]
    file.write_text("# Harbour\n\n" + "\n".join(parts), encoding="utf-8")
    memory.import_path(file)
    hit = next(hit for hit in memory.recall("which crane lifts 84 tons", track=False).hits)
    assert hit.context
    said = memory.remember(f"From the notes: {hit.context}", near=False)
    assert is_echo(said)
    assert said.canonical_id in {
        each.id for each in memory.recall("which crane lifts 84 tons", track=False).hits
    }


def test_two_returned_memories_recombined_are_new(memory: clew.Clew) -> None:
    told(
        memory,
        "Redis in the blue zone listens on port 6379 for the workers.",
        "Postgres in the red zone listens on port 5432 for the clerks.",
    )
    said = memory.remember(
        "Redis in the blue zone listens on port 5432 for the clerks.", near=False
    )
    assert said.outcome is OutcomeKind.INSERTED


@pytest.mark.parametrize(
    ("returned", "offered"),
    [
        ("Deploy on Friday. Only if Kim agrees to it.", "Deploy on Friday."),
        ("Tom thinks that the roof of the barn is safe.", "The roof of the barn is safe."),
        ("The roof of the barn is safe.", "assistant: The roof of the barn is safe."),
        ("Few members of the board voted.", "I know the few members of the board voted."),
        ("def ship():\n    check()\n    run_all_jobs()", "def ship():\n    run_all_jobs()"),
    ],
)
def test_a_part_of_what_was_returned_or_another_speaker_is_no_echo(
    memory: clew.Clew, returned: str, offered: str
) -> None:
    told(memory, returned)
    assert memory.remember(offered, near=False).outcome is OutcomeKind.INSERTED


def test_code_that_comes_back_with_its_indentation_is_an_echo(memory: clew.Clew) -> None:
    code = "def ship():\n    check()\n    run_all_jobs()"
    told(memory, code)
    assert is_echo(memory.remember(f"Recalled memory:\n{code}", near=False))


# --- other processes, other threads, bounds ---


def test_another_process_knows_what_was_returned_and_counted(open_clew: Open) -> None:
    one, other = open_clew(), open_clew()
    (port,) = told(one, PORT, track=True)
    one.stats()  # writes what is waiting
    said = other.remember(WRAPPED, near=False)
    assert (said.rule, said.id) == ("echo", port)


def test_without_tracking_nothing_is_left_for_other_processes(open_clew: Open) -> None:
    one, other = open_clew(), open_clew()
    told(one, PORT, track=False)
    one.stats()
    assert one.store.kept(f"{KIND} default") == {}
    assert other.remember(WRAPPED, near=False).outcome is OutcomeKind.INSERTED


def test_processes_leave_one_another_a_few_records_of_ids_and_no_text(
    memory: clew.Clew, clock: FixedClock
) -> None:
    for number in range(3 * MAX_RECORDS):
        text = f"Locker number {number} belongs to team {number * 3}."
        memory.remember(text, near=False)
        memory.recall(text, k=1)
        memory.stats()
        clock.advance(seconds=5)
    records = memory.store.kept(f"{KIND} default")
    assert 0 < len(records) <= MAX_RECORDS
    assert "Locker" not in json.dumps(records)


def test_many_hits_that_are_counted_together_are_told_in_several_records(memory: clew.Clew) -> None:
    ids = [f"n{number:03}" for number in range(MAX_IDS * MAX_RECORDS + 7)]
    RecalledTexts(memory.store, minutes=60).publish("default", ids, NOW)
    records = memory.store.kept(f"{KIND} default").values()
    assert [len(record["ids"]) for record in records] == [MAX_IDS] * MAX_RECORDS
    assert {id for record in records for id in record["ids"]} == set(ids[7:])  # the latest


def test_returned_again_within_the_window_nothing_more_is_written(memory: clew.Clew) -> None:
    told(memory, PORT, track=True)
    memory.stats()
    before = memory.store.kept(f"{KIND} default")
    memory.recall("staging port")
    memory.stats()
    assert memory.store.kept(f"{KIND} default") == before


def test_what_is_remembered_is_bounded(memory: clew.Clew) -> None:
    returned = RecalledTexts(memory.store, minutes=60).of("default")
    now = memory.now()
    for number in range(300):
        long = " ".join(f"w{number}x{word}" for word in range(400))
        returned.note(node(f"n{number:04}", long), "", now)
        returned.refresh(now)
    assert returned._size <= MAX_WORDS
    assert (
        find_echo(
            " ".join(f"w0x{word}" for word in range(400)),
            space="default",
            returned=returned,
            share=1.0,
        )
        is None
    )
    assert (
        find_echo(
            " ".join(f"w299x{word}" for word in range(400)),
            space="default",
            returned=returned,
            share=1.0,
        )
        is not None
    )


def test_recalls_and_writes_of_many_threads_do_not_disturb_each_other(memory: clew.Clew) -> None:
    told(memory, PORT, TEA)
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for round_ in range(10):
                memory.recall("port" if round_ % 2 else "tea")
                assert is_echo(memory.remember(WRAPPED, near=False))
                memory.remember(
                    f"Shelf {number} row {round_} holds {number * round_} boxes.", near=False
                )
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


HOSTILE = (
    "a b c ",
    "\n>",
    "- \n",
    "a b c; ",
    "[",
    "found by x\n",
    "01m7gfwdmr422zgpq588cdfnzy ",
    "· ",
    "(score ",
    "a: ",
)


@pytest.mark.parametrize("part", HOSTILE, ids=repr)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(
    memory: clew.Clew, part: str
) -> None:
    returned = RecalledTexts(memory.store, minutes=60).of("default")
    returned.note(node("n", "a b c " * 1300), "", memory.now())
    returned.refresh(memory.now())
    started = time.process_time()
    find_echo(part * (16_000 // len(part)), space="default", returned=returned, share=1.0)
    assert time.process_time() - started < 2
