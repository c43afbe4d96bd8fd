"""The importer over its ports: batches, progress, several documents of one file, names and tags."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from clew.documents.chunkers.port import estimate
from clew.documents.chunkers.structural import chunker_for
from clew.documents.importing import (
    FILE,
    KEY,
    STATE,
    FileReport,
    Importer,
    ImportOptions,
    ImportReport,
    Status,
    legible_name,
)
from clew.memories.embedding import Embed, Embedded, Source, embed_passages
from clew.models.vectors import HashingEmbedder
from clew.ports import ModelInfo
from clew.store.memory import MemoryStore
from clew.testing import FixedClock, where
from clew.types import Kind

HASHING = HashingEmbedder()
MODEL = ModelInfo(HASHING.id, HASHING.dimension)
LONG = "\n\n".join(
    " ".join(f"Berth {number} has bollard {each} for ships." for each in range(80))
    for number in range(8)
)


class Run:
    """One store, one clock, and as many imports as wanted; keeps what was embedded and told."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.clock = FixedClock()
        self.batches: list[int] = []
        self.progress: list[tuple[str, int, int | None]] = []
        self._numbers = count()

    def embed(self, sources: Sequence[Source]) -> Embedded:
        if sources:
            self.batches.append(len(sources))
        return embed_passages(HASHING, sources, token_codes=True)

    def importer(self, embed: Embed | None = None, **options: Any) -> Importer:
        chosen = ImportOptions(
            **{"space": "default", "category": "note", "max_bytes": 10**7, **options}
        )
        return Importer(
            self.store,
            options=chosen,
            chunker=lambda format: (chunker_for(format, count=estimate), ()),
            embed=embed or self.embed,
            model=lambda: MODEL,
            clock=self.clock,
            new_id=lambda now: f"n{next(self._numbers):05}",
            progress=lambda *told: self.progress.append(told),
        )


@pytest.fixture
def run() -> Run:
    return Run()


def test_small_files_share_batches_and_a_large_one_fills_several(run: Run, tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"note{number}.txt").write_text(f"The note number {number} is about boats.")
    run.importer(batch_size=256).paths([tmp_path])
    assert run.batches == [10]
    run.batches.clear()
    (tmp_path / "long.txt").write_text(LONG)
    report = run.importer(batch_size=4).paths([tmp_path])
    assert max(run.batches) == 4
    assert sum(run.batches) == report.vectors


def test_a_model_that_fails_costs_vectors_and_no_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("The note is about boats.")
    (tmp_path / "long.txt").write_text(LONG)
    report = run.importer(lambda _: Embedded(None, ("no model today",))).paths([tmp_path])
    assert {file.status for file in report.files} == {Status.IMPORTED}
    assert (report.vectors, report.notes) == (0, ("no model today",))
    later = run.importer().paths([tmp_path])
    assert {file.status for file in later.files} == {Status.UNCHANGED}
    assert run.store.unembedded(MODEL.id, limit=1) == ()
    coverage = run.store.coverage("default")
    assert later.vectors == coverage.vectors + coverage.contexts == coverage.nodes + coverage.keyed


def test_progress_tells_every_file_and_ends_at_all_of_them(run: Run, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"note{number}.txt").write_text(f"The note number {number} is about boats.")
    run.importer().paths([tmp_path])
    files = [(done, total) for what, done, total in run.progress if what == "importing files"]
    assert files == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert run.progress[-1][0] == "embedding"


def test_every_conversation_of_an_export_is_a_document_and_one_changed_one_updates_the_file(
    run: Run,
) -> None:
    def export(last: str) -> bytes:
        talks = [
            {
                "uuid": f"talk-{number}",
                "name": f"Talk {number}",
                "chat_messages": [
                    {"sender": "human", "text": f"Where is boat {number}?"},
                    {
                        "sender": "assistant",
                        "text": last if number == 2 else f"Boat {number} is at berth {number}.",
                    },
                ],
            }
            for number in range(3)
        ]
        return json.dumps(talks).encode()

    (file,) = run.importer().data(export("Boat 2 is at sea."), name="conversations.json").files
    # of each a document, a section and two messages
    assert (file.status, file.nodes) == (Status.IMPORTED, 12)
    keys = {node.metadata[KEY] for node in run.store.nodes() if KEY in node.metadata}
    assert len(keys) == 3
    run.clock.advance(days=1)
    (file,) = (
        run.importer().data(export("Boat 2 is back at berth 9."), name="conversations.json").files
    )
    assert (file.status, file.nodes) == (Status.UPDATED, 12)
    live = [node for node in run.store.nodes() if node.t_expired is None]
    assert {node.metadata[KEY] for node in live if KEY in node.metadata} == keys
    assert sum("berth 9" in node.text for node in live if node.kind is Kind.CHUNK) == 1


def test_a_root_notes_its_file_and_its_state_and_its_parts_do_not(run: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(LONG)
    run.importer().paths([tmp_path / "long.txt"])
    nodes = list(run.store.nodes())
    (root,) = [node for node in nodes if node.kind is Kind.DOCUMENT]
    assert root.metadata[FILE] == root.source == str((tmp_path / "long.txt").resolve())
    assert [node.id for node in nodes if STATE in node.metadata] == [root.id]
    assert all(node.source == root.source for node in nodes)


def test_an_untitled_file_is_called_by_its_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "note.txt").write_text("The note is about boats.")
    run.importer().paths([tmp_path])
    assert [node.title for node in run.store.nodes()] == ["deep/note.txt"]


def test_tags_of_a_document_join_those_of_the_import_as_far_as_a_filter_can_ask_for_them(
    run: Run,
) -> None:
    own = ["two  words", "given", "x" * 5000, *(f"t{number}" for number in range(50))]
    text = f"---\ntags: {json.dumps(own)}\n---\nA note about boats.\n"
    run.importer(tags=("given",), max_tags=5).data(text.encode(), name="note.md")
    (node,) = run.store.nodes()
    assert node.tags == ("given", "two words", "t0", "t1", "t2")
    assert len(node.metadata["tags"]) == len(own)
    assert run.store.sparse(["boat"], where(tags=("two words",)), limit=5)


def test_totals_count_files_by_fate_and_what_was_written() -> None:
    files = (
        FileReport(path="a", status=Status.IMPORTED, nodes=3),
        FileReport(path="b", status=Status.UPDATED, nodes=2),
        FileReport(path="c", status=Status.UNCHANGED, nodes=9),
        FileReport(path="d", status=Status.FAILED, reason="broken"),
    )
    report = ImportReport(files=files, vectors=4)
    assert report.failed
    assert report.totals == {
        "files": 4,
        "imported": 1,
        "unchanged": 1,
        "updated": 1,
        "failed": 1,
        "skipped": 0,
        "nodes": 5,
        "vectors": 4,
    }
    assert not ImportReport(files=files[:3]).failed


def test_a_legible_name_is_text_that_can_be_written_and_tells_names_apart() -> None:
    names = [os.fsdecode(raw) for raw in (b"caf\xe9", b"caf\xe8", "café".encode(), b"plain")]
    shown = [legible_name(name) for name in names]
    assert len(set(shown)) == 4
    assert all(each.encode() for each in shown)
    assert shown[2:] == ["café", "plain"]
