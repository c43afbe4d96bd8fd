"""Damage, loads and backups from the command line."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.surface.conftest import TEXTS, Cli


def edit(store: Path, statement: str) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute(statement)


EDITED = "UPDATE node SET text = replace(text, '5433', '9999') WHERE text LIKE '%5433%'"


def test_verify_finds_an_edited_text_and_repair_says_what_it_sets_aside(filled: Cli) -> None:
    edit(filled.store, EDITED)
    found = filled.json("verify", code=3)
    assert (found["sound"], [problem["check"] for problem in found["problems"]]) == (
        False,
        ["rows"],
    )
    assert "content_hash differs" in filled("verify", code=3).stdout
    file = f"{filled.store}.quarantine.jsonl"
    done = filled.json("verify", "--repair")
    assert (done["sound"], done["repaired"], done["quarantine"], len(done["quarantined"])) == (
        True,
        True,
        file,
        1,
    )
    assert "9999" in Path(file).read_text(encoding="ascii")
    assert filled.json("verify", "--repair")["quarantine"] is None
    assert "9999" not in filled("recall", "port of the staging database", code=None).stdout


def test_an_edited_text_is_refused_by_every_command_that_would_show_it(filled: Cli) -> None:
    edit(filled.store, EDITED)
    for command in (["recall", "port of the staging database"], ["list"]):
        error = filled.json(*command, code=3)["error"]
        assert (error["code"], "checksum differs" in error["message"]) == ("store.corrupt", True)


def test_a_flipped_byte_in_a_keyword_list_is_damage_and_no_bug(filled: Cli) -> None:
    edit(
        filled.store,
        "UPDATE node SET keywords = CAST(x'5b22ff225d' AS TEXT) WHERE text LIKE '%5433%'",
    )
    assert filled.json("list", code=3)["error"]["code"] == "store.corrupt"
    assert filled.json("verify", code=3)["sound"] is False
    assert filled.json("verify", "--repair")["sound"] is True
    assert TEXTS[0] in filled("list").stdout


def test_export_leaves_damaged_rows_out_names_them_and_exits_with_3(
    filled: Cli, tmp_path: Path
) -> None:
    edit(filled.store, EDITED)
    target = tmp_path / "all.jsonl"
    done = filled.json("export", str(target), code=3)
    assert [("checksum differs" in message) for message in done["damaged"]] == [True]
    records = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert {record["node"]["text"] for record in records if "node" in record} == set(TEXTS[1:])
    assert "damaged: Memory" in filled("export", code=3).stderr


def test_load_names_an_invalid_line_and_loads_the_others_only_when_asked(
    filled: Cli, tmp_path: Path
) -> None:
    target, fresh = tmp_path / "all.jsonl", str(tmp_path / "new.clew")
    filled("export", str(target))
    with target.open("a", encoding="utf-8") as file:
        file.write('{"node": {"id": 5}}\n')
    number = len(target.read_text(encoding="utf-8").splitlines())
    error = filled.json("--store", fresh, "load", str(target), code=2)["error"]
    assert error["message"].startswith(f"line {number}: ")
    assert filled.json("--store", fresh, "stats")["nodes"] == 0
    done = filled.json("--store", fresh, "load", str(target), "--skip-invalid", code=1)
    assert (done["nodes"], [each["line"] for each in done["invalid"]]) == (len(TEXTS), [number])
    assert (
        f"line {number} was not loaded"
        in filled("--store", fresh, "load", str(target), "--skip-invalid", code=1).stderr
    )


def test_restore_puts_a_backup_in_place_and_names_what_was_there(
    filled: Cli, tmp_path: Path
) -> None:
    backup = str(tmp_path / "monday.clew")
    filled("backup", backup)
    filled("add", "The kettle was sold after the backup was made")
    done = filled.json("restore", backup)
    assert done == {
        "path": str(filled.store),
        "nodes": len(TEXTS),
        "replaced": f"{filled.store}.replaced",
        "problems": [],
    }
    assert filled.json("stats")["nodes"] == len(TEXTS)
    assert f"kept as {filled.store}.replaced.2" in filled("restore", backup).stdout
    assert filled.json("restore", backup, "--discard")["replaced"] is None
    filled.store.write_bytes(b"overwritten by something else")
    assert filled.json("restore", backup, code=3)["error"]["code"] == "store.not_a_store"
    filled("restore", backup, "--force")
    assert filled.json("verify")["sound"] is True


def test_restore_with_the_id_of_a_memory_says_which_command_is_meant(filled: Cli) -> None:
    assert "clew unarchive" in filled("restore", "01jqxyz", code=2).stderr
