"""Lists page by page, and what stands beside a memory's text changed in place."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest

import clew
from clew.errors import InputError, NotFoundError
from clew.models.vectors import HashingEmbedder


@pytest.fixture(params=["memory", "file"])
def memory(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[clew.Clew]:
    path = (
        ":memory:"
        if request.param == "memory"
        else tmp_path_factory.mktemp("store") / "memory.clew"
    )
    with clew.open(path, embedder=HashingEmbedder()) as opened:
        yield opened


def numbered(count: int) -> list[dict[str, object]]:
    return [
        {
            "text": f"Machine {i} stands in rack {i * 7} of the north hall.",
            "importance": (i % 5) / 5,
        }
        for i in range(count)
    ]


@pytest.mark.parametrize("sort", ["recent", "important", "popular"])
def test_pages_hold_each_memory_once_while_others_are_written(memory: clew.Clew, sort: str) -> None:
    ids = [outcome.id for outcome in memory.remember_many(numbered(25))]
    seen: list[str] = []
    page = memory.page(sort, limit=7)
    while True:
        seen += [node.id for node in page.nodes]
        memory.remember(
            f"The {len(seen)} newest remark came while the list was being read.", importance=1.0
        )
        if page.cursor is None:
            break
        page = memory.page(sort, limit=7, cursor=page.cursor)
    assert [id for id in seen if id in ids] == list(
        dict.fromkeys(id for id in seen if id in ids)
    ), "none twice"
    assert set(ids) <= set(seen)


def test_the_last_page_has_no_cursor_and_an_empty_list_is_one_page(memory: clew.Clew) -> None:
    assert memory.page() == clew.engine.request.Page((), None)
    memory.remember_many(numbered(4))
    assert memory.page(limit=4).cursor is None
    assert memory.page(limit=3).cursor is not None


@pytest.mark.parametrize(
    "cursor", ["", "nonsense", "é", "W10", "W1tdXQ", 7, "A" * 10_000, "bnVsbA"]
)
def test_a_cursor_that_clew_did_not_give_is_refused(memory: clew.Clew, cursor: object) -> None:
    with pytest.raises(InputError, match="cursor"):
        memory.page(cursor=cursor)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "told",
    [
        '["recent",1' + "0" * 400 + ',"2026-01-01","a"]',
        '["recent",0,"2026-01-01","\\ud800"]',
        '["recent",0,"2026-01-01",["a"]]',
        '["recent",0,1e400,"a"]',
        '["recent",0,"9999-12-31T23:59:59-23:59","a"]',
        "[" * 5000,
    ],
)
def test_a_cursor_that_was_made_up_with_care_is_refused_too(memory: clew.Clew, told: str) -> None:
    with pytest.raises(InputError, match="cursor"):
        memory.page(cursor=base64.urlsafe_b64encode(told.encode()).decode().rstrip("="))


def test_a_cursor_belongs_to_its_order(memory: clew.Clew) -> None:
    memory.remember_many(numbered(4))
    cursor = memory.page("recent", limit=2).cursor
    with pytest.raises(InputError, match="belongs to the order recent"):
        memory.page("popular", cursor=cursor)


def test_what_is_given_changes_and_the_rest_stays(memory: clew.Clew) -> None:
    id = str(
        memory.remember("The quarterly report is due on Friday.", tags=["work"], importance=0.4).id
    )
    before = memory.get(id)
    after = memory.update(id, importance=0.9, tags=["work", "deadline"], metadata={"owner": "Dana"})
    assert before is not None
    assert (after.importance, after.tags, after.metadata) == (
        0.9,
        ("work", "deadline"),
        {"owner": "Dana"},
    )
    assert (after.text, after.category, after.t_created) == (
        before.text,
        before.category,
        before.t_created,
    )
    assert memory.get(id) == after
    assert [
        hit.id
        for hit in memory.recall(
            "report", where={"tags": "deadline", "metadata": {"owner": "Dana"}}
        ).hits
    ] == [id]
    told = memory.history(id)[1]
    assert (str(told.kind), dict(told.detail)) == (
        "UPDATE",
        {"importance": 0.9, "tags": ["work", "deadline"], "metadata": {"owner": "Dana"}},
    )


def test_a_new_title_is_found_by_its_words_its_names_and_its_vector(memory: clew.Clew) -> None:
    id = str(memory.remember("The fee is paid on the first of each month.").id)
    memory.update(id, title="Kestrel Harbour mooring")
    assert [hit.id for hit in memory.recall("Kestrel").hits] == [id]
    assert "kestrel harbour mooring" in {
        mention.name.lower() for mention in memory.store.mentions([id])[id]
    }
    vectors = {each.role: each.vector for each in memory.store.embeddings([id])}
    fresh = memory.remember(
        "The fee is paid on the first of each month.",
        title="Kestrel Harbour mooring",
        on_duplicate="insert",
    )
    assert [list(each.vector) for each in memory.store.embeddings([str(fresh.id)])] == [
        list(vector) for vector in vectors.values()
    ]
    assert memory.verify() == ()


def test_nothing_new_leaves_no_event(memory: clew.Clew) -> None:
    id = str(memory.remember("The quarterly report is due on Friday.", title="Report").id)
    memory.update(id, title="Report")
    assert len(memory.history(id)) == 1


def test_the_text_is_superseded_and_not_overwritten(memory: clew.Clew) -> None:
    id = str(memory.remember("The quarterly report is due on Friday.").id)
    with pytest.raises(InputError, match="supersede"):
        memory.update(id, text="The report is due on Monday.")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="Did you mean 'title'"):
        memory.update(id, titel="Report")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="importance"):
        memory.update(id, importance=2)
    with pytest.raises(NotFoundError):
        memory.update("0" * 26, importance=1)


def test_a_part_of_a_file_is_changed_in_the_file(memory: clew.Clew) -> None:
    memory.import_data("# Notes\n\nThe boat is moored at pier nine.", name="notes.md")
    (document,) = memory.recent()
    with pytest.raises(InputError, match="import it again"):
        memory.update(document.id, title="Boats")
