"""Recall by kind, and from several spaces at once."""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from clew.engine.auth import Grant, Right
from clew.engine.authorised import Guarded
from clew.errors import ForbiddenError, InputError


@pytest.fixture
def spaces(memory: clew.Clew) -> clew.Clew:
    memory.remember("The crane controller speaks Modbus over a serial line.", space="work")
    memory.remember("The spare key for the crane cabin hangs in the shed.", space="home")
    memory.remember("The safe behind the painting opens with the crane code.", space="private")
    return memory


def test_several_spaces_are_asked_at_once_and_ordered_by_confidence(spaces: clew.Clew) -> None:
    hits = spaces.recall("crane", spaces=["work", "home"]).hits
    assert {hit.node.space for hit in hits if hit.node} == {"work", "home"}
    told = [-1.0 if hit.confidence is None else hit.confidence for hit in hits]
    assert told == sorted(told, reverse=True)
    assert len(spaces.recall("crane", spaces=["work", "home"], k=1).hits) == 1
    assert [hit.id for hit in spaces.recall("crane", spaces=["work"]).hits] == [
        hit.id for hit in spaces.recall("crane", where={"space": "work"}).hits
    ]


def test_a_token_budget_counts_for_all_spaces_together(spaces: clew.Clew) -> None:
    budget = 15
    found = spaces.recall("crane", spaces=["work", "home", "private"], budget_tokens=budget)
    assert 0 < found.tokens_returned <= budget


def test_a_caller_sees_only_spaces_that_it_may_read(spaces: clew.Clew) -> None:
    caller = Guarded(
        spaces,
        Grant(name="reader", spaces=frozenset({"work", "home"}), rights=frozenset({Right.READ})),
    )
    assert len(caller.recall("crane", spaces=["work", "home"]).hits) == 2
    with pytest.raises(ForbiddenError):
        caller.recall("crane", spaces=["work", "private"])
    with pytest.raises(ForbiddenError):
        caller.sources("private")


@pytest.mark.parametrize(
    "wrong", ["work", [], [7], ["a"] * 3 + [f"s{number}" for number in range(20)]]
)
def test_what_is_no_list_of_spaces_is_refused(spaces: clew.Clew, wrong: object) -> None:
    with pytest.raises(InputError, match="space"):
        spaces.recall("crane", spaces=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="stands beside"):
        spaces.recall("crane", spaces=["work"], where={"space": "home"})


def test_hits_are_of_the_kinds_that_were_asked_for(memory: clew.Clew, tmp_path: Path) -> None:
    memory.remember("We decided that the crane controller speaks Modbus.", category="decision")
    (tmp_path / "crane.md").write_text(
        "# Crane\n\nThe crane controller speaks Modbus, says the manual.\n"
    )
    memory.import_path(tmp_path)
    for kind in ("memory", "chunk"):
        assert {
            str(hit.node.kind)
            for hit in memory.recall("crane controller", kinds=[kind]).hits
            if hit.node
        } == {kind}
    with pytest.raises(InputError, match="kinds"):
        memory.recall("crane", kinds="memory")
    with pytest.raises(InputError, match="kind"):
        memory.recall("crane", kinds=["idea"])
