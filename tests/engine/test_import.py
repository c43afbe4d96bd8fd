"""From files to nodes and back: what an import promises of a store, through the engine."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clew
from clew.documents import importing
from clew.documents.importing import ImportReport, Status
from clew.documents.readers.document import Document
from clew.documents.readers.reading import read
from clew.errors import InputError, ModelMismatchError, ProtectedError, ReadOnlyError
from clew.memories.embedding import wanted
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole
from clew.testing import FixedClock, where
from clew.types import EventKind, Kind, Role, Vectors
from tests.conftest import Open

WORDS = "harbour berth crane tide anchor cargo pilot beacon hull mast rudder keel sail quay dock freight ballast buoy".split()


def prose(seed: int, sentences: int, *, about: str = "") -> str:
    """Return sentences that are the same in every run."""
    draw = random.Random(seed)
    said = [
        f"The {' '.join(draw.choices(WORDS, k=9))} stands at number {draw.randrange(10_000)}."
        for _ in range(sentences)
    ]
    return " ".join([*([f"Everything here is about {about}."] if about else []), *said])


def book(*, chapters: int = 4, sentences: int = 60, seed: int = 1) -> str:
    parts = [
        f"## Chapter {i}\n\n{prose(seed * 100 + i, sentences, about=f'subject{i}x')}\n"
        for i in range(chapters)
    ]
    return "# The book\n\n" + "\n".join(parts)


def statuses(report: ImportReport) -> dict[str, str]:
    return {Path(each.path).name: str(each.status) for each in report.files}


def snapshot(memory: clew.Clew) -> list[str]:
    """Return the store as lines: nothing has changed where these are equal."""
    return list(memory.export())


class CountingEmbedder(HashingEmbedder):
    """The hashing model, with a list of what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        self.texts += texts
        return super().embed(texts, role=role)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    (made / "book.md").write_text(book())
    (made / "note.txt").write_text(
        "The harbour master keeps the keys of the crane in the blue cabinet."
    )
    return made


# --- twice in a row ---


def test_a_long_file_becomes_a_document_with_sections_and_chunks_and_a_short_one_a_chunk(
    memory: clew.Clew, folder: Path
) -> None:
    report = memory.import_path(folder)
    assert statuses(report) == {"book.md": "imported", "note.txt": "imported"}
    kinds = memory.stats()["by_kind"]
    assert kinds["document"] == 1
    assert kinds["section"] >= 1
    assert kinds["chunk"] >= 5
    assert report.totals["nodes"] == memory.stats()["nodes"] == sum(kinds.values())
    coverage = memory.store.coverage("default")
    assert coverage.vectors == coverage.nodes
    assert coverage.contexts == coverage.keyed
    assert memory.verify() == ()


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
def test_importing_twice_changes_nothing(open_clew: Open, folder: Path, kind: str) -> None:
    memory = open_clew(":memory:" if kind == "memory" else None)
    first = memory.import_path(folder)
    before = snapshot(memory)
    again = memory.import_path(folder)
    assert statuses(again) == {"book.md": "unchanged", "note.txt": "unchanged"}
    assert [each.nodes for each in again.files] == [each.nodes for each in first.files]
    assert (again.totals["nodes"], again.totals["vectors"]) == (0, 0)
    assert snapshot(memory) == before
    assert memory.verify() == ()


def test_a_file_is_the_same_however_its_path_is_written(
    memory: clew.Clew, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.import_path(folder)
    before = snapshot(memory)
    monkeypatch.chdir(folder)
    for path in (".", "book.md", "../folder/book.md", folder / "book.md", "*.md"):
        assert set(statuses(memory.import_path(path)).values()) == {"unchanged"}, path
    assert snapshot(memory) == before


def test_files_of_one_name_in_two_folders_are_two_files(
    memory: clew.Clew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "README.md").write_text(
            f"This project is called {place} and it is about boats."
        )
        monkeypatch.chdir(tmp_path / place)
        assert statuses(memory.import_path("README.md")) == {"README.md": "imported"}
    assert memory.stats()["expired"] == 0
    assert len(memory.recall("project boats").hits) == 2


def test_other_labels_are_a_change_and_the_same_labels_are_none(
    memory: clew.Clew, folder: Path
) -> None:
    note = folder / "note.txt"
    memory.import_path(note)
    for options in (
        {"importance": 0.9},
        {"tags": ["x"]},
        {"category": "fact"},
        {"metadata": {"a": 1}},
    ):
        assert statuses(memory.import_path(note, **options)) == {"note.txt": "updated"}, options
        assert statuses(memory.import_path(note, **options)) == {"note.txt": "unchanged"}, options
    (node,) = memory.recent()
    assert node.metadata["a"] == 1
    assert memory.stats()["live"] == 1


def test_spaces_keep_their_own_copies(memory: clew.Clew, folder: Path) -> None:
    memory.import_path(folder / "note.txt", space="one")
    assert statuses(memory.import_path(folder / "note.txt", space="two")) == {
        "note.txt": "imported"
    }
    assert memory.stats()["by_space"] == {"one": 1, "two": 1}


# --- a changed file ---


def test_of_a_changed_file_the_old_nodes_expire_and_are_no_longer_recalled(
    memory: clew.Clew, folder: Path, clock: FixedClock
) -> None:
    path = folder / "note.txt"
    memory.import_path(path)
    (old,) = memory.recent()
    clock.advance(days=1)
    path.write_text("The harbour master keeps the keys of the crane in the red drawer.")
    report = memory.import_path(path)
    assert [(each.status, each.nodes) for each in report.files] == [(Status.UPDATED, 1)]
    (hit,) = memory.recall("keys of the crane").hits
    assert "red drawer" in hit.text
    assert memory.recent() == (hit.node,)
    assert [event.kind for event in memory.history(old.id)] == [EventKind.ADD, EventKind.EXPIRE]
    assert memory.history(old.id)[-1].detail == {"reason": "file changed"}
    (believed,) = memory.recall(
        "keys of the crane", known_at=clock.now.replace(day=clock.now.day - 1)
    ).hits
    assert "blue cabinet" in believed.text
    assert memory.verify() == ()


def test_at_no_moment_are_both_states_of_a_file_believed(
    memory: clew.Clew, folder: Path, clock: FixedClock
) -> None:
    path = folder / "note.txt"
    memory.import_path(path)
    clock.advance(hours=1)
    path.write_text("The harbour master has no keys of the crane any more.")
    memory.import_path(path)
    old, new = sorted(memory.store.nodes(), key=lambda node: node.t_created)
    assert old.t_expired == new.t_created


def test_unchanged_passages_keep_their_vectors(open_clew: Open, path: Path, folder: Path) -> None:
    model = CountingEmbedder()
    memory = clew.open(path, embedder=model)
    memory.import_path(folder)
    count = len(model.texts)
    assert count == memory.stats()["vectors"]
    text = (folder / "book.md").read_text()
    (folder / "book.md").write_text(
        text + "\n## Afterword\n\nA single new sentence about marmalade.\n"
    )
    model.texts.clear()
    assert statuses(memory.import_path(folder)) == {"book.md": "updated", "note.txt": "unchanged"}
    assert 0 < len(model.texts) < count / 2
    assert any("marmalade" in each for each in model.texts)
    fresh = {
        each.node: each.vector
        for each in memory.store.embeddings([node.id for node in memory.store.nodes()])
        if each.role is Role.CONTENT
    }
    for node in memory.store.nodes():
        if node.t_expired is None and node.kind is Kind.CHUNK:
            said = f"{node.title}\n{node.text}" if node.title else node.text
            (expected,) = HashingEmbedder().embed([said], role=EmbedRole.PASSAGE)
            assert float(np.dot(expected, fresh[node.id])) > 0.999, node.text[:40]
    assert memory.store.unembedded(model.id, limit=1) == ()
    memory.close()


def test_a_vector_of_a_whole_section_never_stands_for_a_chunk_with_the_same_words(
    path: Path, tmp_path: Path
) -> None:
    """Chunks so large that each is a section.

    Both say the same, but of the larger one only opening and ending are embedded.
    """
    file = tmp_path / "long.txt"
    text = prose(3, 600)
    with clew.open(
        path, embedder=HashingEmbedder(), chunking={"max_tokens": 4000, "target_tokens": 3500}
    ) as memory:
        for state in (text, text + "\n\n" + prose(4, 1)):
            file.write_text(state)
            memory.import_path(file)
        live = [node for node in memory.store.nodes() if node.t_expired is None]
        doubled = {node.text for node in live if node.kind is Kind.SECTION} & {
            node.text for node in live if node.kind is Kind.CHUNK
        }
        assert doubled
        kept = {
            each.node: each.vector
            for each in memory.store.embeddings([node.id for node in live])
            if each.role is Role.CONTENT
        }
        for each in wanted(live):
            if each.role is Role.CONTENT:
                (expected,) = HashingEmbedder().embed([each.text], role=EmbedRole.PASSAGE)
                assert float(np.dot(expected, kept[each.node.id])) > 0.999, each.node.kind


def test_a_memory_that_names_a_file_is_not_mistaken_for_it(memory: clew.Clew, folder: Path) -> None:
    path = folder / "note.txt"
    id = memory.remember(
        "A remark about this very file, to be kept", metadata={"file": str(path)}
    ).id
    memory.import_path(path)
    path.write_text("Something else about the harbour and its crane.")
    memory.import_path(path)
    kept = memory.get(str(id))
    assert kept is not None
    assert kept.t_expired is None


def test_labels_that_an_import_writes_itself_are_refused(memory: clew.Clew, folder: Path) -> None:
    for name in ("file", "file_state", "document"):
        with pytest.raises(InputError, match=name):
            memory.import_path(folder, metadata={name: "x"})
    assert memory.stats()["nodes"] == 0


# --- vectors ---


def test_what_a_run_left_without_vectors_the_next_one_gives_them(
    open_clew: Open, folder: Path
) -> None:
    """As after a kill between the words and the vectors.

    Also where the store had not a single vector yet.
    """
    open_clew(model={"embedder": "none"}).import_path(folder)
    memory = open_clew()
    assert memory.store.model() is None
    report = memory.import_path(folder)
    assert set(statuses(report).values()) == {"unchanged"}
    coverage = memory.store.coverage("default")
    assert (coverage.vectors, coverage.contexts) == (coverage.nodes, coverage.keyed)
    assert report.totals["vectors"] == coverage.vectors + coverage.contexts
    assert memory.verify() == ()


def test_without_a_model_the_report_says_so_and_words_find(open_clew: Open, folder: Path) -> None:
    memory = open_clew(model={"embedder": "none"})
    report = memory.import_path(folder)
    assert (report.failed, report.totals["vectors"]) == (False, 0)
    assert any("none" in note for note in report.notes)
    assert memory.recall("subject2x").hits


def test_a_store_of_another_model_is_refused_before_anything_is_written(
    path: Path, folder: Path
) -> None:
    class Other(HashingEmbedder):
        @property
        def id(self) -> str:
            return "another-model"

    with clew.open(path, embedder=HashingEmbedder()) as memory:
        memory.remember("The staging server runs Postgres 16")
    with clew.open(path, embedder=Other()) as memory:
        with pytest.raises(ModelMismatchError):
            memory.import_path(folder)
        assert memory.stats()["nodes"] == 1


def test_nothing_is_said_of_missing_vectors_that_nobody_can_make(
    open_clew: Open, folder: Path, clock: FixedClock
) -> None:
    """What is expired has no vector of a new model, and wants none."""
    memory = open_clew()
    memory.import_path(folder)
    clock.advance(days=1)
    (folder / "note.txt").write_text("The harbour master has no keys of the crane any more.")
    memory.import_path(folder)

    class Other(HashingEmbedder):
        @property
        def id(self) -> str:
            return "another-model"

    memory.reembed(Other())
    assert memory.recall("keys of the crane").notes == ()
    assert memory.stats()["unembedded"] == 0


def test_stats_count_a_context_key_without_its_vector_as_missing(
    memory: clew.Clew, folder: Path
) -> None:
    memory.import_path(folder)
    chunk = next(node for node in memory.store.nodes() if node.kind is Kind.CHUNK)
    memory.store.update(chunk.id, context="another key")
    assert memory.stats()["unembedded"] == 1
    assert any("context" in note for note in memory.recall("harbour").notes)
    memory.reembed()
    assert memory.stats()["unembedded"] == 0
    assert memory.recall("harbour").notes == ()


def test_a_read_only_store_refuses_an_import(
    open_clew: Open, path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        memory.remember("The staging server runs Postgres 16")
    content = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda where, mode: not mode & os.W_OK or Path(where) != path)
    with pytest.raises(ReadOnlyError, match="permissions"):
        open_clew().import_path(folder)
    assert path.read_bytes() == content


def test_a_text_that_is_piped_in_is_embedded_once(path: Path) -> None:
    model = CountingEmbedder()
    with clew.open(path, embedder=model) as memory:
        memory.import_data(
            "The harbour master keeps the keys in the blue cabinet.", name="keys.txt"
        )
        assert len(model.texts) == 1


# --- stdin and data ---


def test_data_under_one_name_takes_the_place_of_what_was_there(memory: clew.Clew) -> None:
    assert (
        memory.import_data("The tide turns at six in the morning.", name="tide.txt").files[0].status
        is Status.IMPORTED
    )
    assert (
        memory.import_data(b"The tide turns at six in the morning.", name="tide.txt")
        .files[0]
        .status
        is Status.UNCHANGED
    )
    assert (
        memory.import_data("The tide turns at seven in the morning.", name="tide.txt")
        .files[0]
        .status
        is Status.UPDATED
    )
    (hit,) = memory.recall("tide turns").hits
    assert "seven" in hit.text


def test_nameless_data_is_known_by_its_content(memory: clew.Clew) -> None:
    first, again, other = (
        memory.import_data(text).files[0]
        for text in ("One text of boats.", "One text of boats.", "Another of them.")
    )
    assert (first.status, again.status, other.status) == (
        Status.IMPORTED,
        Status.UNCHANGED,
        Status.IMPORTED,
    )
    assert first.path == again.path != other.path
    assert memory.import_data(" \n ").files[0].status is Status.SKIPPED


@pytest.mark.parametrize("data", [None, 7, ["text"], {"text": 1}])
def test_data_that_is_neither_text_nor_bytes_is_refused(memory: clew.Clew, data: object) -> None:
    with pytest.raises(InputError, match="data"):
        memory.import_data(data)  # type: ignore[arg-type]


# --- bad input ---


@pytest.mark.parametrize("given", ["", None, 7, b"folder"])
def test_what_is_no_path_is_refused_and_never_means_the_current_directory(
    memory: clew.Clew, folder: Path, monkeypatch: pytest.MonkeyPatch, given: object
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="paths"):
        memory.import_path(given)  # type: ignore[arg-type]
    assert memory.stats()["nodes"] == 0


@pytest.mark.parametrize(
    "options",
    [
        {"fromat": "text"},
        {"format": "chat"},
        {"category": "nonsense"},
        {"importance": 2},
        {"importance": float("nan")},
        {"tags": "one"},
        {"metadata": {"a": object()}},
        {"exclude": "*.log"},
        {"exclude": [""]},
        {"space": ""},
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_written(
    memory: clew.Clew, folder: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        memory.import_path(folder, **options)
    assert memory.stats()["nodes"] == 0


def test_a_file_that_breaks_its_reader_is_its_own_failure(
    memory: clew.Clew, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a parser raises on a hostile file, the next file goes on."""

    def broken(path: Path, *, format: str | None, data: bytes) -> tuple[Document, ...]:
        if path.name == "book.md":
            raise KeyError("no such glyph")
        return read(path, format=format, data=data)

    monkeypatch.setattr(importing, "read", broken)
    report = memory.import_path(folder)
    assert statuses(report) == {"book.md": "failed", "note.txt": "imported"}
    assert "no such glyph" in report.files[0].reason


def test_odd_names_are_kept_and_found_again(memory: clew.Clew, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    names = [
        "naïve café.txt",
        "数据 库.md",
        "emoji 🎉.txt",
        "new\nline.txt",
        " lead.txt",
        "-dash.txt",
        "a*b[c].txt",
        "‮rtl.txt",
        os.fsdecode(b"caf\xe9.txt"),
    ]
    for number, name in enumerate(names):
        (folder / name).write_text(f"The file number {number} tells of {WORDS[number]} and boats.")
    report = memory.import_path(folder)
    assert [each.status for each in report.files] == [Status.IMPORTED] * len(names)
    before = snapshot(memory)
    assert {each.status for each in memory.import_path(folder).files} == {Status.UNCHANGED}
    assert snapshot(memory) == before
    for number in range(len(names)):
        assert f"number {number}" in memory.recall(f"{WORDS[number]} boats", k=1).hits[0].text
    assert memory.verify() == ()
    assert all(each.path.encode() for each in report.files)


def test_a_file_from_beyond_the_calendar_is_imported(memory: clew.Clew, folder: Path) -> None:
    path = folder / "note.txt"
    try:
        os.utime(path, (0, 2**40))
    except (OSError, OverflowError):
        pytest.skip("this file system keeps no such times")
    assert statuses(memory.import_path(path)) == {"note.txt": "imported"}


def test_halves_of_characters_in_an_export_are_replaced_and_told(memory: clew.Clew) -> None:
    text = '[{"role": "user", "content": "Where is the \\ud83d crane?"}, {"role": "assistant", "content": "At the quay, number 7."}]'
    (file,) = memory.import_data(text, name="chat.json").files
    assert file.status is Status.IMPORTED
    assert any("surrogate" in note for note in file.notes)


# --- recall of what was imported ---


def test_recall_returns_chunks_and_coarser_nodes_only_when_asked(
    memory: clew.Clew, folder: Path
) -> None:
    memory.import_path(folder)
    memory.remember("A memory of its own about subject0x and nothing else")
    for given in (None, {"space": "default"}, where()):
        for recipe in ("fast", "balanced", "agent", "staged", "lexical", "dense"):
            kinds = {
                hit.node.kind
                for hit in memory.recall("subject0x", where=given, recipe=recipe, k=50).hits
                if hit.node
            }
            assert kinds <= {Kind.CHUNK, Kind.MEMORY}
            assert kinds
    for kind in (Kind.SECTION, Kind.DOCUMENT):
        assert {
            hit.node.kind
            for hit in memory.recall("subject0x", where={"kind": kind}, k=50).hits
            if hit.node
        } == {kind}


def test_lists_show_documents_and_not_their_parts(memory: clew.Clew, folder: Path) -> None:
    memory.import_path(folder)
    assert sorted(node.kind for node in memory.recent(50)) == [Kind.CHUNK, Kind.DOCUMENT]
    assert all(node.parent is None for node in memory.recent(50))


def test_an_imported_store_comes_back_from_its_export(
    memory: clew.Clew, folder: Path, open_clew: Open, tmp_path: Path, clock: FixedClock
) -> None:
    memory.import_path(folder)
    clock.advance(days=1)
    (folder / "note.txt").write_text("Another note about the harbour and its crane, with a fox.")
    memory.import_path(folder)
    lines = snapshot(memory)
    for target in (":memory:", tmp_path / "copy.clew"):
        copy = open_clew(target)
        copy.load(lines)
        assert snapshot(copy) == lines
        assert copy.verify() == ()
        assert copy.store.coverage("default") == memory.store.coverage("default")
        asked = "subject2x harbour"
        assert [
            (hit.id, hit.score, hit.context) for hit in copy.recall(asked, track=False).hits
        ] == [(hit.id, hit.score, hit.context) for hit in memory.recall(asked, track=False).hits]
        assert set(statuses(copy.import_path(folder)).values()) == {"unchanged"}
        assert snapshot(copy) == lines


# --- forget and protect ---


def test_a_forgotten_document_takes_its_parts_along(memory: clew.Clew, folder: Path) -> None:
    memory.import_path(folder)
    (root,) = memory.recent(where={"kind": "document"})
    family = memory.store.family([root.id])
    assert len(family) > 5
    assert memory.forget(root.id).ids == (root.id,)
    assert memory.store.get(family) == {}
    assert memory.store.edges(family) == ()
    assert [[event.kind for event in memory.history(id)] for id in family] == [
        [EventKind.FORGET]
    ] * len(family)
    assert memory.recall("subject2x").hits == () or all(
        "subject2x" not in hit.text for hit in memory.recall("subject2x").hits
    )
    assert memory.stats()["nodes"] == 1
    assert memory.verify() == ()


def test_nothing_of_a_forgotten_document_is_left_in_the_file(
    open_clew: Open, path: Path, folder: Path
) -> None:
    (folder / "book.md").write_text(
        book() + "\n## Secret\n\nThe canary is xyzzyplugh47 and nobody knows it.\n"
    )
    memory = open_clew()
    memory.import_path(folder)
    (root,) = memory.recent(where={"kind": "document"})
    memory.forget(root.id)
    memory.close()
    left = b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))
    assert b"xyzzyplugh47" not in left


def test_a_part_of_a_document_is_not_forgotten_by_itself(memory: clew.Clew, folder: Path) -> None:
    memory.import_path(folder)
    (root,) = memory.recent(where={"kind": "document"})
    part = memory.recall("subject2x", k=1).hits[0]
    with pytest.raises(InputError, match=root.id):
        memory.forget(part.id)
    assert memory.get(part.id) is not None


def test_a_protected_part_protects_its_document_until_forced(
    memory: clew.Clew, folder: Path
) -> None:
    memory.import_path(folder)
    (root,) = memory.recent(where={"kind": "document"})
    part = memory.recall("subject2x", k=1).hits[0].id
    memory.protect(part)
    with pytest.raises(ProtectedError, match=part):
        memory.forget(root.id)
    assert len(memory.store.family([root.id])) > 5
    memory.protect(part, False)
    memory.protect(root.id)
    with pytest.raises(ProtectedError, match=root.id):
        memory.forget(root.id)
    memory.forget(root.id, force=True)
    assert memory.store.family([root.id]) == ()


def test_after_forgetting_a_file_can_be_imported_again(memory: clew.Clew, folder: Path) -> None:
    memory.import_path(folder)
    (root,) = memory.recent(where={"kind": "document"})
    memory.forget(root.id, tombstone=False)
    assert statuses(memory.import_path(folder)) == {"book.md": "imported", "note.txt": "unchanged"}
