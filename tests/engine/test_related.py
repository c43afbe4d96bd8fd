"""What a memory is connected with, through the engine: names, neighbours, edges.

Kept through export, load and repair.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from clew.errors import InputError, NotFoundError
from tests.conftest import Open

PLAN = "Anna Keller reviews the harbour plan with Bob Stone"
REPORT = "the report on cranes is by Anna Keller"


def test_a_memory_is_related_by_names_by_subject_and_by_edges(memory: clew.Clew) -> None:
    plan, report = memory.remember(PLAN).id, memory.remember(REPORT).id
    person = memory.remember("Leads the pilots since 2019.", title="Anna Keller").id
    other = memory.remember("Low tide is at six in the morning").id
    assert plan and report and person and other
    edge = memory.link(plan, other, kind="CAUSES", weight=0.4, evidence="said so")
    found = memory.related(plan)
    assert {(each.mention.name, each.mention.type, each.count) for each in found.entities} == {
        ("Anna Keller", "PERSON", 3),
        ("Bob Stone", "PERSON", 1),
    }
    assert all(each.evidence == PLAN for each in found.entities)
    assert found.edges == (edge,)
    near = {each.node.id: (each.about, each.shares, each.edges) for each in found.nodes}
    assert near == {
        report: ((), ("Anna Keller",), ()),
        person: (("Anna Keller",), (), ()),
        other: ((), (), ("CAUSES",)),
    }
    back = memory.related(other)
    assert (back.entities, back.edges, [each.node.id for each in back.nodes]) == (
        (),
        (edge,),
        [plan],
    )


def test_who_shares_more_comes_first_and_the_limit_holds(memory: clew.Clew) -> None:
    plan = memory.remember(PLAN, near=False).id
    one = memory.remember(REPORT, near=False).id
    both = memory.remember("Bob Stone and Anna Keller met at the old quay", near=False).id
    assert [each.node.id for each in memory.related(str(plan)).nodes] == [both, one]
    assert [each.node.id for each in memory.related(str(plan), limit=1).nodes] == [both]
    with pytest.raises(InputError, match="limit"):
        memory.related(str(plan), limit=0)


def test_nothing_crosses_spaces_and_nothing_unseen_is_shown(memory: clew.Clew) -> None:
    plan = str(memory.remember(PLAN, near=False).id)
    memory.remember(REPORT, space="other", near=False)
    gone = str(memory.remember(f"Earlier {REPORT}", near=False).id)
    memory.link(plan, gone, kind="CAUSES")
    memory.store.update(gone, t_expired=memory.now())
    found = memory.related(plan)
    assert (found.edges, found.nodes) == ((), ())
    assert found.entities[0].count == 1


def test_an_unknown_memory_is_an_error(memory: clew.Clew) -> None:
    with pytest.raises(NotFoundError):
        memory.related("nobody")


def test_a_name_far_inside_a_text_is_shown_amid_its_words(memory: clew.Clew) -> None:
    text = f"{'low water again ' * 20}until Anna Keller came {'and high water ' * 20}"
    entity = memory.related(str(memory.remember(text).id)).entities[0]
    assert entity.evidence.startswith("…")
    assert entity.evidence.endswith("…")
    assert "until Anna Keller came" in entity.evidence


def test_what_was_exported_and_loaded_names_and_recalls_the_same(
    memory: clew.Clew, open_clew: Open, tmp_path: Path
) -> None:
    memory.remember_many(
        [PLAN, REPORT, {"text": "Leads the pilots since 2019.", "title": "Anna Keller"}]
    )
    copy = open_clew(tmp_path / "copy.clew")
    copy.load(memory.export())
    ids = [node.id for node in memory.recent(10)]
    assert copy.store.mentions(ids) == memory.store.mentions(ids) != {}
    for question in ("Anna Keller", "who reviews the harbour plan", "cranes"):
        there, here = (each.recall(question, track=False).hits for each in (memory, copy))
        assert [(hit.id, round(hit.score, 9)) for hit in here] == [
            (hit.id, round(hit.score, 9)) for hit in there
        ]
    assert copy.related(ids[0]) == memory.related(ids[0])


def test_repair_reads_the_texts_of_an_earlier_version(memory: clew.Clew) -> None:
    id = str(memory.remember(PLAN).id)
    before = memory.store.mentions([id])
    memory.store.update(id, title="for a moment")
    memory.store.update(id, title="")
    assert memory.store.mentions([id]) == {}
    assert memory.verify(repair=True) == ()
    assert memory.store.mentions([id]) == before


def test_memories_of_two_spaces_are_never_linked() -> None:
    with clew.open(":memory:", model={"embedder": "none"}) as memory:
        here = str(memory.remember("The harbour crane lifts forty tons.").id)
        there = str(memory.remember("The harbour crane is for sale soon.", space="other").id)
        with pytest.raises(clew.ClewError, match="is in another space"):
            memory.link(here, there)
