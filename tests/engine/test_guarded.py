"""A caller sees and changes what its grant covers.

Of the rest it cannot even tell whether it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import clew
from clew.engine.auth import EVERY_RIGHT, OWNER, Grant, Right
from clew.engine.authorised import Guarded
from clew.errors import ForbiddenError, InputError, NotFoundError
from clew.models.vectors import HashingEmbedder
from clew.types import Filter

TEAM = "The staging database runs PostgreSQL 16 on port 5433."
SECRET = "The payroll database runs on the vault host with port 7777."


def granted(*spaces: str, rights: frozenset[Right] = EVERY_RIGHT) -> Grant:
    return Grant(name="bot", rights=rights, spaces=frozenset(spaces))


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", embedder=HashingEmbedder()) as opened:
        yield opened


@pytest.fixture
def ids(memory: clew.Clew) -> dict[str, str]:
    kept = {
        "team": memory.remember(TEAM, space="team").id,
        "hr": memory.remember(SECRET, space="hr").id,
    }
    return {space: str(id) for space, id in kept.items()}


ON_AN_ID: dict[str, Callable[[Guarded, str], Any]] = {
    "history": lambda door, id: door.history(id),
    "related": lambda door, id: door.related(id),
    "supersede": lambda door, id: door.supersede(id, "The database moved to port 9999 today."),
    "invalidate": lambda door, id: door.invalidate(id),
    "expire": lambda door, id: door.expire(id),
    "reassert": lambda door, id: door.reassert(id),
    "update": lambda door, id: door.update(id, importance=1.0),
    "protect": lambda door, id: door.protect(id),
    "forget": lambda door, id: door.forget(id),
    "unarchive": lambda door, id: door.unarchive(id),
    "link": lambda door, id: door.link(id, id),
}


@pytest.mark.parametrize("method", ON_AN_ID)
def test_a_memory_of_another_space_is_as_unknown_as_one_that_never_was(
    memory: clew.Clew, ids: dict[str, str], method: str
) -> None:
    door = Guarded(memory, granted("team"))
    with pytest.raises(NotFoundError) as foreign:
        ON_AN_ID[method](door, ids["hr"])
    never = "0" * 26
    with pytest.raises(NotFoundError) as unknown:
        ON_AN_ID[method](door, never)
    assert str(foreign.value).replace(ids["hr"], never) == str(unknown.value)
    assert memory.get(ids["hr"]) == memory.get(ids["hr"])


def test_what_is_asked_for_and_not_there_is_none_for_both(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    door = Guarded(memory, granted("team"))
    assert door.get(ids["hr"]) is None
    assert door.versions(ids["hr"]) == () == door.questions(ids["hr"])
    assert door.get(ids["team"]) == memory.get(ids["team"])


def test_a_recall_sees_the_callers_space_by_default_and_no_other(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    door = Guarded(memory, granted("team"))
    assert [hit.id for hit in door.recall("which port does the database use").hits] == [ids["team"]]
    for where in (
        {"space": "hr"},
        Filter(space="hr", now=memory.now()),
        {"space": "never heard of"},
    ):
        with pytest.raises(ForbiddenError):
            door.recall("which port does the database use", where=where)


def test_a_refusal_is_the_same_whether_a_space_exists_or_not(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    door = Guarded(memory, granted("team"))
    words = []
    for space in ("hr", "xx"):
        with pytest.raises(ForbiddenError) as refused:
            door.remember("The database has a new port since Monday.", space=space)
        words.append(str(refused.value).replace(space, "…"))
    assert words[0] == words[1]


def test_a_space_is_checked_in_the_form_in_which_it_is_kept(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    door = Guarded(memory, granted("team"))
    for disguised in (" hr", "hr\t", "h\u200br"):
        with pytest.raises((ForbiddenError, InputError)):
            door.recall("port", where={"space": disguised})


@pytest.mark.parametrize("right", [Right.READ, Right.WRITE])
def test_a_lacking_right_is_named_where_the_caller_may_know_of_the_space(
    memory: clew.Clew, ids: dict[str, str], right: Right
) -> None:
    door = Guarded(memory, granted("team", rights=frozenset({right})))
    denied = ON_AN_ID["history"] if right is Right.WRITE else ON_AN_ID["forget"]
    with pytest.raises(ForbiddenError, match="lacks the right"):
        denied(door, ids["team"])
    assert memory.get(ids["team"]) is not None


def test_each_memory_of_a_batch_is_checked(memory: clew.Clew, ids: dict[str, str]) -> None:
    door = Guarded(memory, granted("team"))
    with pytest.raises(ForbiddenError):
        door.remember_many(
            [
                "The cache was cleared on Monday.",
                {"text": "Salaries rise by four percent.", "space": "hr"},
            ]
        )
    assert len(memory.recent(where={"space": "hr"})) == 1
    assert len(memory.recent(where={"space": "team"})) == 1, "nothing of a refused batch is written"
    door.remember_many(["The cache was cleared on Monday.", {"text": "The cache has four shards."}])
    assert len(memory.recent(where={"space": "team"})) == 3


def test_a_conversation_goes_only_into_a_space_that_the_caller_may_write(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    said = [{"speaker": "Ann", "text": "The cache has four shards."}]
    with pytest.raises(ForbiddenError):
        Guarded(memory, granted("team")).remember_conversation(said, space="hr")
    with pytest.raises(ForbiddenError):
        Guarded(memory, granted("team", rights=frozenset({Right.READ}))).remember_conversation(said)
    done = Guarded(memory, granted("team")).remember_conversation(said, session="s")
    assert {node.space for node in memory.store.get(done.sections).values()} == {"team"}


def test_what_a_near_duplicate_was_counted_for_is_told_to_those_who_may_read_it(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    again = TEAM.replace("on port", "on the port")
    assert Guarded(memory, granted("team")).remember(again, space="team").canonical_text == TEAM
    blind = Guarded(memory, granted("team", rights=frozenset({Right.WRITE})))
    outcome = blind.remember(again + "!", space="team")
    assert (outcome.canonical_id, outcome.canonical_text) == (ids["team"], None)
    assert blind.remember_many([again + "!!"], space="team")[0].canonical_text is None


def test_that_a_memory_was_forgotten_is_told_only_in_its_space(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    memory.forget(ids["hr"])
    memory.forget(ids["team"])
    door = Guarded(memory, granted("team"))
    assert [str(event.kind) for event in door.history(ids["team"])] == ["FORGET"]
    with pytest.raises(NotFoundError):
        door.history(ids["hr"])
    assert Guarded(memory, OWNER).history(ids["hr"])


def test_a_trace_is_replayed_only_by_who_may_read_its_space(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    trace = memory.trace(memory.recall("payroll database", where={"space": "hr"}, track=False))
    with pytest.raises(ForbiddenError):
        Guarded(memory, granted("team")).replay(trace)
    assert Guarded(memory, granted("hr")).replay(trace).identical


def test_the_whole_store_is_for_those_whose_grant_covers_every_space(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    door = Guarded(memory, granted("team", "hr"))
    for whole in (door.verify, lambda: door.load([]), lambda: door.backup("copy.clew")):
        with pytest.raises(ForbiddenError):
            whole()
    assert list(Guarded(memory, OWNER).export(vectors=False))
    exported = "\n".join(Guarded(memory, granted("team")).export(vectors=False))
    assert TEAM in exported
    assert SECRET not in exported


def test_a_memory_does_not_move_to_another_space_by_being_superseded(
    memory: clew.Clew, ids: dict[str, str]
) -> None:
    door = Guarded(memory, granted("team", "ops"))
    with pytest.raises(InputError, match="another space"):
        door.supersede(ids["team"], "The staging database moved to port 5444.", space="ops")


def test_a_grant_for_nothing_covers_nothing(memory: clew.Clew, ids: dict[str, str]) -> None:
    door = Guarded(memory, Grant(name="nobody", rights=EVERY_RIGHT))
    with pytest.raises(ForbiddenError):
        door.recall("port")
    assert door.get(ids["team"]) is None
