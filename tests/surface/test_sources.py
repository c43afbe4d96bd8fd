"""Folders kept in step, sources as things to list, show and forget, and memories as notes.

Through the command line.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import clew
from clew.errors import InputError
from tests.conftest import Open
from tests.surface.conftest import Cli

HARBOUR = "# Harbour\n\nCranes are inspected in March, and pier four opens at six in the morning.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    (made / "old").mkdir(parents=True)
    (made / "harbour.md").write_text(HARBOUR)
    (made / "old" / "vpn.txt").write_text(
        "The VPN needs a hardware key, which Tomas hands out on Tuesdays.\n"
    )
    return made


def fates(report: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {Path(each["path"]).name: each["status"] for each in report["files"]}


def test_sync_retires_what_is_gone_and_earlier_times_still_find_it(
    memory: clew.Clew, folder: Path
) -> None:
    memory.import_path(folder, sync=True)
    before = memory.now()
    memory._clock.advance(days=1)  # type: ignore[attr-defined]
    (folder / "old" / "vpn.txt").unlink()
    report = memory.import_path(folder, sync=True)
    assert {Path(each.path).name: str(each.status) for each in report.files} == {
        "harbour.md": "unchanged",
        "vpn.txt": "retired",
    }
    assert report.totals["retired"] == 1
    assert [Path(each.path).name for each in memory.sources()] == ["harbour.md"]
    query = "who hands out the hardware key?"
    assert "hardware key" not in " ".join(hit.text for hit in memory.recall(query).hits)
    assert "hardware key" in memory.recall(query, known_at=before).hits[0].text


def test_a_moved_file_is_imported_under_its_new_name_and_retired_under_the_old(
    memory: clew.Clew, folder: Path
) -> None:
    memory.import_path(folder)
    (folder / "harbour.md").rename(folder / "port.md")
    report = memory.import_path(folder, sync=True)
    assert {Path(each.path).name: str(each.status) for each in report.files} == {
        "port.md": "imported",
        "vpn.txt": "unchanged",
        "harbour.md": "retired",
    }


def test_a_dry_run_reports_and_writes_nothing(cli: Cli, folder: Path) -> None:
    cli("import", str(folder))
    (folder / "harbour.md").unlink()
    (folder / "new.md").write_text("A new note about the load test on pier four.")
    report = cli.json("import", "--sync", "--dry-run", str(folder))
    assert fates(report) == {"new.md": "imported", "vpn.txt": "unchanged", "harbour.md": "retired"}
    listed = [Path(each["path"]).name for each in cli.json("sources", "list")["sources"]]
    assert sorted(listed) == ["harbour.md", "vpn.txt"]


def test_what_came_from_elsewhere_or_by_a_pipe_is_never_retired(
    memory: clew.Clew, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("Something that was imported from another folder entirely.")
    memory.import_path(outside)
    memory.import_data("Minutes of the harbour meeting, late by two weeks.", name="minutes")
    outside.unlink()
    report = memory.import_path(folder, sync=True)
    assert "retired" not in {str(each.status) for each in report.files}
    assert len(memory.sources()) == 4


def test_an_empty_folder_is_taken_for_a_missing_disk_unless_forced(
    memory: clew.Clew, folder: Path
) -> None:
    memory.import_path(folder)
    (folder / "harbour.md").unlink()
    (folder / "old" / "vpn.txt").unlink()
    with pytest.raises(InputError, match="is a disk missing"):
        memory.import_path(folder, sync=True)
    assert memory.import_path(folder, sync=True, force=True).totals["retired"] == 2


def test_only_an_existing_folder_can_be_kept_in_step(memory: clew.Clew, folder: Path) -> None:
    for wrong in (folder / "nowhere", folder / "harbour.md"):
        with pytest.raises(InputError, match="is not a folder"):
            memory.import_path(wrong, sync=True)


def test_sync_of_one_space_leaves_another_alone(memory: clew.Clew, folder: Path) -> None:
    memory.import_path(folder, space="work")
    memory.import_path(folder, space="home")
    (folder / "harbour.md").unlink()
    memory.import_path(folder, space="work", sync=True)
    assert len(memory.sources("work")) == 1
    assert len(memory.sources("home")) == 2


def test_sources_are_listed_shown_and_forgotten(cli: Cli, folder: Path) -> None:
    cli("import", str(folder))
    listed = cli.json("sources", "list")["sources"]
    assert [(Path(each["path"]).name, each["titles"], each["exists"]) for each in listed] == [
        ("harbour.md", ["Harbour"], True),
        ("vpn.txt", ["old/vpn.txt"], True),
    ]
    shown = cli.json("sources", "show", str(folder / "harbour.md"))
    assert shown["nodes"][0]["title"] == "Harbour"
    cli("sources", "forget", str(folder / "harbour.md"), "--confirm", "1")
    assert len(cli.json("sources", "list")["sources"]) == 1


def notes_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def filled(memory: clew.Clew) -> None:
    memory.remember(
        "The crane controller speaks Modbus over a serial line.",
        title="Crane: protocol",
        tags=["harbour", "crane"],
    )
    memory.remember(
        "We keep readings for ninety days; the auditors asked for sixty.",
        category="decision",
        importance=0.9,
    )
    memory.remember(
        "First line of a note.\n\n---\n\nA line after three dashes, and a colon: here.",
        title="Odd text",
    )


def test_exported_notes_imported_again_change_nothing(memory: clew.Clew, tmp_path: Path) -> None:
    filled(memory)
    folder = tmp_path / "out"
    assert memory.export_notes(folder).written == 3
    notes = notes_of(folder)
    before = sorted(memory.export(vectors=False))
    report = memory.import_path(folder)
    assert {str(each.status) for each in report.files} == {"unchanged"}
    assert sorted(memory.export(vectors=False)) == before
    again = memory.export_notes(folder)
    assert (again.written, again.unchanged) == (0, 3)
    assert notes_of(folder) == notes
    assert {path.stat().st_mode & 0o077 for path in folder.iterdir()} == {0}


def test_notes_bring_memories_into_an_empty_store_once(
    memory: clew.Clew, open_clew: Open, tmp_path: Path
) -> None:
    filled(memory)
    memory.export_notes(tmp_path / "out")
    other = open_clew(tmp_path / "other.clew")
    assert other.import_path(tmp_path / "out").totals["imported"] == 3
    assert other.import_path(tmp_path / "out").totals["unchanged"] == 3
    (crane,) = [node for node in other.recent() if "Modbus" in node.text]
    assert (crane.title, crane.tags) == ("Crane: protocol", ("harbour", "crane"))


def test_an_edited_note_supersedes_its_memory_once(memory: clew.Clew, tmp_path: Path) -> None:
    filled(memory)
    memory.export_notes(tmp_path / "out")
    memory._clock.advance(days=1)  # type: ignore[attr-defined]
    (note,) = [path for path in (tmp_path / "out").iterdir() if "crane" in path.name]
    note.write_text(note.read_text().replace("a serial line", "TCP port 502"))
    assert memory.import_path(tmp_path / "out").totals["updated"] == 1
    assert memory.import_path(tmp_path / "out").totals["unchanged"] == 3
    assert (
        memory.recall("how is the crane controller reached?").hits[0].text.endswith("TCP port 502.")
    )
    fields = yaml.safe_load(note.read_text().split("---\n")[1])
    live = [
        node
        for node in memory.versions(fields["clew"])
        if node.t_invalid is None and node.t_expired is None
    ]
    assert [node.text[-9:] for node in live] == ["port 502."]


def test_edited_fields_of_a_note_are_updated_in_place(memory: clew.Clew, tmp_path: Path) -> None:
    filled(memory)
    memory.export_notes(tmp_path / "out")
    (note,) = [path for path in (tmp_path / "out").iterdir() if "crane" in path.name]
    note.write_text(note.read_text().replace("- crane\n", "- pier-four\n"))
    assert memory.import_path(note).totals["updated"] == 1
    (crane,) = [node for node in memory.recent() if "Modbus" in node.text]
    assert crane.tags == ("harbour", "pier-four")


def test_a_note_never_reaches_a_memory_of_another_space(memory: clew.Clew, tmp_path: Path) -> None:
    secret = memory.remember(
        "The safe stands behind the painting of the lighthouse.", space="private"
    ).id
    note = tmp_path / "note.md"
    note.write_text(
        f"---\nclew: {secret}\n---\nThe safe is open, and stands in the hall of the lighthouse.\n"
    )
    memory.import_path(note, space="public")
    assert memory.get(str(secret)).text == "The safe stands behind the painting of the lighthouse."  # type: ignore[union-attr]


def test_a_file_in_the_place_of_a_note_is_not_replaced(memory: clew.Clew, tmp_path: Path) -> None:
    filled(memory)
    memory.export_notes(tmp_path / "out")
    victim = next((tmp_path / "out").iterdir())
    victim.write_text("mine")
    with pytest.raises(InputError, match="is no note of this memory"):
        memory.export_notes(tmp_path / "out")
    assert victim.read_text() == "mine"


def test_notes_are_exported_by_the_command_line(cli: Cli, tmp_path: Path) -> None:
    cli("add", "The crane controller speaks Modbus over a serial line.")
    done = cli.json("export", "--format", "markdown", str(tmp_path / "out"))
    assert (done["written"], done["unchanged"]) == (1, 0)
    assert fates(cli.json("import", str(tmp_path / "out"))).popitem()[1] == "unchanged"


def test_watch_imports_what_changes_while_it_runs(home: Path, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("watchfiles", reason="the extra watch is not installed")
    command = [
        sys.executable,
        "-m",
        "clew",
        "--json",
        "--store",
        str(tmp_path / "w.clew"),
        "watch",
        str(folder),
    ]
    environment = {
        "HOME": str(home),
        "CLEW_MODEL__EMBEDDER": "hashing",
        "PATH": "",
        "WATCHFILES_FORCE_POLLING": "1",
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            assert fates(json.loads(process.stdout.readline())) == {
                "harbour.md": "imported",
                "vpn.txt": "imported",
            }
            (folder / "old" / "vpn.txt").unlink()
            seen = fates(json.loads(process.stdout.readline()))
            assert seen["vpn.txt"] == "retired"
            (folder / "new.md").write_text("A new note about the load test on pier four.")
            seen = fates(json.loads(process.stdout.readline()))
            assert seen["new.md"] == "imported"
        finally:
            process.terminate()  # a parent may have told its children to ignore Ctrl-C
            process.wait()
    assert seen["harbour.md"] == "unchanged"
