"""An id may be typed as far as it is the only one that begins so.

By people, on the command line alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import clew
from clew.errors import NotFoundError
from clew.types import Event, EventKind
from tests.surface.conftest import Cli

FIRST, SECOND = "01m7gfwdmr422zgpq588cdfnzy", "01m7gfwdmr999zgpq588cdfnzy"


@pytest.fixture
def typed(cli: Cli) -> Cli:
    """A store with two memories of one moment."""
    ids = iter((FIRST, SECOND))
    with clew.open(cli.store) as memory:
        for text in (
            "The staging database listens on port 5433",
            "The kitchen lamp was repaired by Rui",
        ):
            node = memory.get(str(memory.remember(text).id))
            assert node is not None
            memory.store.delete([node.id])
            named = replace(node, id=next(ids))
            memory.store.insert(
                [named], events=[Event(node=named.id, kind=EventKind.ADD, at=named.t_created)]
            )
    return cli


ON_ONE: dict[str, Callable[[str], tuple[str, ...]]] = {
    "show": lambda id: ("show", id),
    "history": lambda id: ("history", id),
    "related": lambda id: ("related", id),
    "why": lambda id: ("why", "which port", id),
    "why-not": lambda id: ("why-not", "which port", id),
    "update": lambda id: ("update", id, "--importance", "0.9"),
    "protect": lambda id: ("protect", id),
    "invalidate": lambda id: ("invalidate", id),
    "expire": lambda id: ("expire", id),
    "unarchive": lambda id: ("unarchive", id),
    "supersede": lambda id: ("supersede", id, "The staging database listens on port 6000"),
    "forget": lambda id: ("forget", id, "--yes"),
}


@pytest.mark.parametrize("command", ON_ONE)
def test_every_command_takes_the_beginning_of_an_id(typed: Cli, command: str) -> None:
    answer = typed(*ON_ONE[command](FIRST[:11].upper()), "--json", code=None)
    assert FIRST in answer.output
    assert "error" not in answer.output


@pytest.mark.parametrize("command", ON_ONE)
def test_what_begins_several_ids_is_refused_with_their_names_and_changes_nothing(
    typed: Cli, command: str
) -> None:
    error = typed.json(*ON_ONE[command](FIRST[:10]), code=2)["error"]
    assert (error["code"], error["field"], error["value"]) == ("input.invalid", "id", FIRST[:10])
    assert FIRST in error["message"]
    assert SECOND in error["message"]
    assert len(typed.json("list")["memories"]) == 2


def test_fewer_than_six_characters_and_an_unknown_beginning_are_unknown(typed: Cli) -> None:
    for id in (FIRST[:5], "01zzzzzzzz"):
        assert typed.json("show", id, code=1)["error"]["code"] == "refused.not_found"


def test_in_python_an_id_is_data(typed: Cli) -> None:
    with clew.open(typed.store) as memory:
        assert memory.get(FIRST[:20]) is None
        with pytest.raises(NotFoundError):
            memory.forget(FIRST[:20])
