"""`clew import` as its users meet it.

Every file reported, twice in a row the same, whatever happens in between.
"""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import docx
import pytest

import clew
from clew.documents.importing import FILE
from tests.fork_server import ForkedPython
from tests.ingest.test_readers_office import pdf
from tests.surface.conftest import Cli, Process
from tests.waiting import wait_until

LONG = "# Harbour guide\n\n" + "\n\n".join(
    f"## Berth {number}\n\n"
    + " ".join(
        f"Berth {number} has bollard {each} for ships of class {each * 7 % 13}."
        for each in range(60)
    )
    for number in range(5)
)
CHAT = [
    {
        "role": "user",
        "content": "Where is the spare key of the crane?",
        "created_at": "2026-01-05T10:00:00Z",
    },
    {
        "role": "assistant",
        "content": "In the blue cabinet behind the pilot's desk.",
        "created_at": "2026-01-05T10:01:00Z",
    },
]

CODE = '''"""Berth bookings."""


def booked(berth):
    """Say whether a berth is taken."""
    return berth in TAKEN
'''


def word(text: str) -> bytes:
    document = docx.Document()
    document.add_heading("Minutes", level=1)
    document.add_paragraph(text)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A directory with something of everything."""
    folder = tmp_path / "mixed"
    (folder / "deep").mkdir(parents=True)
    files: dict[str, bytes] = {
        "guide.md": LONG.encode(),
        "page.html": b"<html><body><h1>Tides</h1><p>The tide at the north quay turns at six in the morning.</p></body></html>",
        "paper.pdf": pdf(
            "The lighthouse was rebuilt in 1911",
            "Its lamp is electric since 1957",
            title="Lighthouse",
        ),
        "minutes.docx": word("The council decided to dredge the harbour in April."),
        "deep/tool.py": CODE.encode(),
        "chat.json": json.dumps(CHAT).encode(),
        "broken.pdf": b"%PDF-1.4\nthis is no document at all",
        "large.txt": b"water " * (20_000_000 // 6 + 1),
        "empty.md": b"",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "loop").symlink_to(folder)
    (folder / "deep" / "self").symlink_to(folder / "deep" / "self")
    return folder


def by_name(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {Path(each["path"]).name: each for each in answer["files"]}


def test_every_file_of_a_mixed_directory_is_reported_and_twice_in_a_row_changes_nothing(
    cli: Cli, mixed: Path
) -> None:
    first = cli.json("import", str(mixed), code=1)
    assert set(first) == {"files", "totals", "notes"}
    assert all(
        {"path", "status", "nodes"} <= set(each) <= {"path", "status", "nodes", "reason", "notes"}
        for each in first["files"]
    )
    files = by_name(first)
    assert {name: each["status"] for name, each in files.items()} == {
        **dict.fromkeys(
            ("guide.md", "page.html", "paper.pdf", "minutes.docx", "tool.py", "chat.json"),
            "imported",
        ),
        "broken.pdf": "failed",
        **dict.fromkeys(("large.txt", "empty.md", "loop", "self"), "skipped"),
    }
    assert all(each["reason"] for each in files.values() if each["status"] in ("failed", "skipped"))
    assert "imports.max_file_mb" in files["large.txt"]["reason"]
    assert files["empty.md"]["reason"] == "empty"
    assert files["guide.md"]["nodes"] > 5
    counts = Counter(each["status"] for each in first["files"])
    assert {name: first["totals"][name] for name in counts} == counts
    assert first["totals"]["files"] == len(first["files"])
    assert first["totals"]["nodes"] == cli.json("stats")["nodes"]

    exported = cli("export").stdout
    again = cli.json("import", str(mixed), code=1)
    assert {name: each["status"] for name, each in by_name(again).items()} == {
        name: "unchanged" if each["status"] == "imported" else each["status"]
        for name, each in files.items()
    }
    assert [each["nodes"] for each in again["files"]] == [each["nodes"] for each in first["files"]]
    assert (again["totals"]["nodes"], again["totals"]["vectors"]) == (0, 0)
    assert cli("export").stdout == exported
    cli("verify")


def test_what_was_imported_is_found(cli: Cli, mixed: Path) -> None:
    cli("import", str(mixed), code=1)
    for question, answer in {
        "when does the tide turn at the north quay": "six in the morning",
        "lighthouse lamp electric": "1957",
        "when will the harbour be dredged": "April",
        "spare key of the crane": "blue cabinet",
        "is a berth taken": "TAKEN",
        "berth 3 bollard": "Berth 3",
    }.items():
        hits = cli.json("recall", question)["hits"]
        assert any(answer in (hit["context"] or hit["text"]) for hit in hits[:3]), question


def test_one_failed_file_makes_the_exit_code_1_and_the_others_are_there(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "good.txt").write_text("The pilot boat leaves at noon every day.")
    done = cli("import", str(tmp_path / "good.txt"), str(tmp_path / "missing.txt"), code=1)
    assert "+ imported" in done.stdout
    assert "✗ failed" in done.stdout
    assert "does not exist" in done.stdout
    assert "2 files: 1 imported, 1 failed; 1 node, 1 vector" in done.stderr
    assert cli.json("recall", "pilot boat")["hits"]


def test_show_tells_the_place_the_resolution_and_the_quality(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(LONG)
    cli("import", str(tmp_path / "guide.md"))
    memory = cli.add("The staging database listens on port 5433")
    hit = cli.json("recall", "Berth 3 bollard")["hits"][0]
    chunk = cli.json("show", hit["id"])
    section, document = cli.json("show", chunk["parent"]), cli.json("show", chunk["root"])
    assert [(each["kind"], each["resolution"]) for each in (document, section, chunk)] == [
        ("document", 0),
        ("section", 1),
        ("chunk", 2),
    ]
    assert (document["parent"], document["root"], section["parent"], section["root"]) == (
        None,
        None,
        document["id"],
        document["id"],
    )
    for each in (document, section, chunk):
        assert document["text"][each["start"] : each["end"]] == each["text"]
        assert isinstance(each["position"], int)
        assert set(each["quality"]) == {
            "overall",
            "substance",
            "specificity",
            "coherence",
            "clarity",
            "stub",
            "words",
            "version",
        }
        assert 0 <= each["quality"]["overall"] <= 1
    plain = cli.json("show", memory)
    assert (plain["kind"], plain["resolution"], plain["parent"], plain["start"]) == (
        "memory",
        None,
        None,
        None,
    )


def test_a_short_chunk_comes_with_its_context_and_a_memory_without(
    cli: Cli, tmp_path: Path
) -> None:
    turns = [
        f"{'Ada' if number % 2 else 'Ben'}: Remark {number} is about {'lamp oil' if number == 20 else 'rope'} today."
        for number in range(40)
    ]
    (tmp_path / "talk.txt").write_text("\n".join(turns))
    cli("import", str(tmp_path / "talk.txt"))
    cli.add("The lamp oil is bought in spring every year")
    hits = cli.json("recall", "lamp oil", "-k", "2")["hits"]
    context = {hit["node"]["kind"]: hit["context"] for hit in hits}
    assert context["memory"] == ""
    chunk = next(hit for hit in hits if hit["node"]["kind"] == "chunk")
    assert len(chunk["text"].split()) < 50
    assert chunk["text"].strip() in chunk["context"]
    assert len(chunk["context"]) > len(chunk["text"])


def test_the_agent_recipe_says_what_it_turned_away_and_why(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "menu.md").write_text("Home > Harbour > Lamp oil\n")
    (tmp_path / "links.md").write_text(
        "- https://example.org/lamp-oil\n- https://example.org/lamp-oil/2\n"
    )
    (tmp_path / "good.md").write_text(
        " ".join(
            f"The lamp oil of lighthouse {n} is kept in tank {n * 3} beside its stairs."
            for n in range(12)
        )
    )
    cli("import", str(tmp_path), "--exclude", "*.clew*")
    everything = cli.json("recall", "lamp oil", "--recipe", "balanced")
    judged = cli.json("recall", "lamp oil", "--recipe", "agent")
    assert len(everything["hits"]) == 3
    assert [Path(hit["node"]["source"]).name for hit in judged["hits"]] == ["good.md"]
    assert sum(judged["stats"]["rejected"].values()) == judged["filtered_count"] == 2
    assert set(judged["stats"]["rejected"]) <= {
        "stub:breadcrumb",
        "stub:reference",
        "stub:media",
        "quality",
        "too_short",
    }
    assert judged["best_rejected"]["stage"] == "gate"


def test_staged_says_when_there_are_no_sections_and_uses_them_when_there_are(
    cli: Cli, tmp_path: Path
) -> None:
    cli.add("The staging database listens on port 5433")
    note = "no sections"
    assert any(
        note in each
        for each in cli.json("recall", "staging", "--recipe", "staged")["stats"]["notes"]
    )
    (tmp_path / "guide.md").write_text(LONG)
    cli("import", str(tmp_path / "guide.md"))
    answer = cli.json("recall", "Berth 3 bollard 12", "--recipe", "staged")
    assert not any(note in each for each in answer["stats"]["notes"])
    assert "Berth 3" in answer["hits"][0]["text"]
    assert answer["hits"][0]["channels"]["section"]["rank"] is not None
    assert len(answer["stats"]["notes"]) == len(set(answer["stats"]["notes"]))


def test_a_note_about_a_missing_model_comes_once_also_when_two_stages_wanted_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "guide.md").write_text(LONG)
    cli("import", str(tmp_path / "guide.md"))
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", "none")
    notes = cli.json("recall", "Berth 3", "--recipe", "staged")["stats"]["notes"]
    assert len([each for each in notes if "words alone" in each]) == 1


# --- options ---


def test_stdin_is_imported_under_its_name_or_its_hash(cli: Cli) -> None:
    named = cli.json(
        "import", "-", "--name", "tide.txt", stdin="The tide turns at six in the morning."
    )
    assert [(each["path"], each["status"]) for each in named["files"]] == [("tide.txt", "imported")]
    assert (
        cli.json("import", "-", "--name", "tide.txt", stdin="The tide turns at seven.")["files"][0][
            "status"
        ]
        == "updated"
    )
    bare = cli.json("import", "-", stdin="The pilot boat leaves at noon every day.")
    assert bare["files"][0]["path"].startswith("stdin:")
    assert cli.json("import", "-", stdin=" \n")["files"][0]["status"] == "skipped"
    assert (
        cli.json("import", "-", stdin=b"\x00\x01\x02" * 50, code=1)["files"][0]["status"]
        == "failed"
    )


def test_importance_zero_is_meant(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The pilot boat leaves at noon every day.")
    cli(
        "import",
        str(tmp_path / "a.txt"),
        "--importance",
        "0",
        "--tag",
        "x",
        "--category",
        "fact",
        "--metadata",
        "who=Ada",
    )
    node = cli.json("list")["memories"][0]
    assert (node["importance"], node["tags"], node["category"], node["metadata"]["who"]) == (
        0.0,
        ["x"],
        "fact",
        "Ada",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nonsense",),
        ("--format", "chat"),
        ("--category", "nonsense"),
        ("--importance", "2"),
        ("--importance", "nan"),
        ("--metadata", "novalue"),
        ("--metadata", "file=x"),
        ("--exclude", ""),
        ("--name", "x"),
        ("-",),
    ],
)
def test_a_wrong_option_is_a_usage_error_and_nothing_is_written(
    cli: Cli, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "a.txt").write_text("The pilot boat leaves at noon every day.")
    assert "error" in cli.json("import", str(tmp_path / "a.txt"), *arguments, code=2)
    if cli.store.exists():
        assert cli.json("stats")["nodes"] == 0


def test_an_empty_argument_never_means_the_current_directory(
    cli: Cli, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mixed)
    assert cli.json("import", "", code=2)["error"]["field"] == "paths"


def test_a_format_that_does_not_fit_is_a_failure_with_a_way_out(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The pilot boat leaves at noon every day.")
    for format in ("pdf", "docx", "conversation"):
        (file,) = cli.json("import", str(tmp_path / "a.txt"), "--format", format, code=1)["files"]
        assert file["status"] == "failed"
        assert ". " in file["reason"], "a reason, and what to do"


def test_a_missing_library_is_a_failure_that_names_the_extra(
    cli: Cli, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    files = by_name(cli.json("import", str(mixed / "paper.pdf"), str(mixed / "guide.md"), code=1))
    assert (files["paper.pdf"]["status"], files["guide.md"]["status"]) == ("failed", "imported")
    assert "pip install 'clew[docs]'" in files["paper.pdf"]["reason"]


def test_a_name_cannot_pass_for_another_line(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "a\n+ imported  b\x1b[31m").write_text("The pilot boat leaves at noon every day.")
    lines = cli("import", str(folder)).stdout.splitlines()
    assert len(lines) == 1
    assert "\x1b" not in lines[0]


def test_a_name_that_is_no_text_is_reported(process: Process, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    with open(os.path.join(os.fsencode(folder), b"caf\xe9.txt"), "w") as file:  # noqa: PTH118, PTH123 - bytes, which no Path takes
        file.write("The pilot boat leaves at noon every day.")
    for _ in range(2):
        done = process("import", str(folder), "--json", PYTHONIOENCODING="ascii")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["files"][0]["path"].endswith("caf\\xe9.txt")
    assert json.loads(process("stats", "--json").stdout)["nodes"] == 1


def test_a_store_that_cannot_be_written_is_left_as_it_is(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The pilot boat leaves at noon every day.")
    blocked = tmp_path / "a.txt" / "x.clew"
    assert (
        cli.json("import", str(tmp_path / "a.txt"), "--store", str(blocked), code=3)["error"][
            "code"
        ]
        == "store.read_only"
    )


def test_a_document_is_forgotten_whole_and_its_parts_lead_to_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(LONG)
    cli("import", str(tmp_path / "guide.md"))
    part = cli.json("recall", "Berth 3")["hits"][0]["node"]
    assert part["root"] in cli.json("forget", part["id"], "--yes", code=2)["error"]["message"]
    cli("protect", part["root"])
    cli("forget", part["root"], "--yes", code=1)
    cli("forget", part["root"], "--yes", "--force")
    assert cli.json("stats")["nodes"] == 0
    assert [event["kind"] for event in cli.json("history", part["id"])["events"]] == ["FORGET"]
    cli("verify")


# --- kill −9 and company ---

FILES = 24
ROUNDS = 6


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(FILES):
        text = LONG if number % 3 else "A short file."
        (folder / f"file{number:02}.md").write_text(f"Canary{number:02}x lives here.\n\n{text}")
    return folder


def start(folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "CLEW_MEMORY__BATCH_SIZE": "20"}
    return ForkedPython(
        ["-m", "clew", "import", str(folder), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )


def check_whole(store: Path, files: int) -> None:
    """Check that every file is there once, with all its nodes and vectors."""
    with clew.open(store, model={"embedder": "hashing"}) as memory:
        assert memory.verify() == ()
        live = [node for node in memory.store.nodes() if node.t_expired is None]
        roots = Counter(node.metadata[FILE] for node in live if FILE in node.metadata)
        assert len(roots) == files
        assert set(roots.values()) == {1}
        coverage = memory.store.coverage("default")
        assert coverage.nodes == coverage.vectors == len(live)
        assert coverage.contexts == coverage.keyed
        assert memory.stats()["unembedded"] == 0


def await_growth(file: Path, bytes: int, child: subprocess.Popen[bytes]) -> None:
    """Return when a file has grown by so much, or its writer has ended."""

    def size() -> int:
        return file.stat().st_size if file.exists() else 0

    enough = size() + bytes
    wait_until(lambda: child.poll() is not None or size() >= enough)


def test_an_import_killed_anywhere_is_completed_by_the_next(cli: Cli, many: Path) -> None:
    draw = random.Random(7)
    journal = Path(f"{cli.store}-wal")
    killed = 0
    for _ in range(ROUNDS):
        child = start(many)
        await_growth(journal, draw.randint(1, 60) * 4096, child)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        killed += child.returncode == -signal.SIGKILL
        if cli.store.exists():
            with clew.open(cli.store, model={"embedder": "hashing"}) as memory:
                assert memory.verify() == ()
    assert killed, "every run was over before its kill"
    child = start(many)
    out, error = child.communicate()
    assert child.returncode == 0, error
    assert {each["status"] for each in json.loads(out)["files"]} <= {"imported", "unchanged"}
    check_whole(cli.store, FILES)
    assert cli.json("import", str(many))["totals"]["unchanged"] == FILES


def test_two_processes_importing_one_folder_bring_each_file_in_once(cli: Cli, many: Path) -> None:
    children = [start(many), start(many)]
    reports = []
    for child in children:
        out, error = child.communicate()
        assert child.returncode == 0, error
        reports.append(
            {Path(each["path"]).name: each["status"] for each in json.loads(out)["files"]}
        )
    for name in reports[0]:
        assert sorted(report[name] for report in reports) == ["imported", "unchanged"], name
    check_whole(cli.store, FILES)
