"""What each command does, for people and for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clew.engine import opening
from clew.surface.cli import checks
from tests.surface.conftest import TEXTS, Cli
from tests.token_model import TokenModel


def test_add_says_what_became_of_the_text(cli: Cli) -> None:
    inserted = cli.json(
        "add", TEXTS[0], "--category", "fact", "--tag", "infra", "--importance", "0.8"
    )
    assert set(inserted) == {"outcome", "id"}
    again = cli.json("add", TEXTS[0])
    assert again == {
        "outcome": "exact_duplicate",
        "id": inserted["id"],
        "rule": "same_text",
        "value": again["value"],
        "canonical_id": inserted["id"],
    }
    refused = cli.json("add", "ok", code=1)
    assert (refused["outcome"], refused["id"], refused["rule"]) == ("rejected", None, "chatter")


def test_add_keeps_every_field(cli: Cli) -> None:
    id = cli.add(
        TEXTS[0],
        *(
            "--category",
            "fact",
            "--trigger",
            "observation",
            "--importance",
            "0.9",
            "--title",
            "Ports",
            "--space",
            "work",
        ),
        *(
            "--tag",
            "a",
            "--tag",
            "b",
            "--metadata",
            "port=5433",
            "--metadata",
            "host=stg",
            "--source",
            "wiki",
            "--stability",
            "static",
        ),
        *("--valid-from", "2026-01-01", "--valid-to", "2099-01-01", "--key", "k1"),
    )
    node = cli.json("show", id)
    expected = {
        "text": TEXTS[0],
        "category": "fact",
        "trigger": "observation",
        "importance": 0.9,
        "title": "Ports",
        "space": "work",
        "tags": ["a", "b"],
        "metadata": {"port": 5433, "host": "stg"},
        "source": "wiki",
        "stability": "static",
        "t_valid": "2026-01-01T00:00:00Z",
        "t_invalid": "2099-01-01T00:00:00Z",
        "idempotency_key": "k1",
    }
    assert {key: node[key] for key in expected} == expected
    assert (
        cli.json("add", "Another text altogether", "--key", "k1", "--space", "work")["rule"]
        == "idempotency_key"
    )


def test_a_person_who_adds_is_not_corrected_unless_asked(cli: Cli) -> None:
    first = cli.add(
        "the deploy runs through jenkins and then through the staging cluster every day"
    )
    near = "deploy runs through jenkins and then through the staging cluster every day!"
    assert cli.json("add", near, "--near")["canonical_id"] == first
    assert cli.json("add", near)["outcome"] == "inserted"


def test_add_lists_what_is_similar_and_offers_to_supersede(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_DUPLICATES__NEAR_THRESHOLD", "0.5")
    text = "The patient takes metformin every morning"
    first = cli.add(text)
    more = f"{text} and omeprazole"
    shown = cli("add", more, "--near")
    assert shown.stdout.splitlines()[1].startswith(f"  similar to {first} (cosine 0.")
    assert shown.stdout.splitlines()[1].endswith(text)
    assert f"clew supersede {first} TEXT" in shown.stderr
    answer = cli.json("add", "-", "--near", stdin=f"{text} and ramipril".encode())["outcomes"][0]
    assert {each["id"] for each in answer["similar"]} > {first}
    assert answer["similar"][0].keys() == {"id", "cosine", "text"}
    assert answer["may_supersede"] == first
    done = cli.json("supersede", first, more)
    assert (done["outcome"], done["supersedes"]) == ("exact_duplicate", first)


def test_on_duplicate_error_is_a_refusal(cli: Cli) -> None:
    cli.add(TEXTS[0])
    assert (
        cli.json("add", TEXTS[0], "--on-duplicate", "error", code=1)["error"]["code"]
        == "refused.duplicate"
    )
    assert cli.json("add", TEXTS[0], "--on-duplicate", "insert")["outcome"] == "inserted"


def test_lines_of_stdin_become_memories_and_each_has_an_outcome(cli: Cli) -> None:
    answer = cli.json("add", "-", stdin=f"{TEXTS[0]}\n\nok\r\n{TEXTS[1]}\n{TEXTS[0]}", code=1)
    assert [(entry["line"], entry["outcome"]) for entry in answer["outcomes"]] == [
        (1, "inserted"),
        (3, "rejected"),
        (4, "inserted"),
        (5, "exact_duplicate"),
    ]
    assert answer["counts"] == {"exact_duplicate": 1, "inserted": 2, "rejected": 1}


def test_json_lines_bring_their_fields_and_a_bad_line_costs_no_other(cli: Cli) -> None:
    lines = [
        json.dumps({"text": TEXTS[0], "category": "fact", "tags": ["x"]}),
        "{broken",
        json.dumps({"text": TEXTS[1], "category": "nonsense"}),
        json.dumps({"text": TEXTS[2], "colour": "red"}),
        json.dumps(["no", "object"]),
        json.dumps({"text": "A last one that is perfectly fine", "category": "event"}),
    ]
    answer = cli.json("add", "-", "--jsonl", "--space", "bulk", stdin="\n".join(lines), code=1)
    assert [entry["outcome"] for entry in answer["outcomes"]] == [
        "inserted",
        *["rejected"] * 4,
        "inserted",
    ]
    assert all("error" in entry for entry in answer["outcomes"][1:5])
    assert cli.json("list", "--space", "bulk", "--category", "fact")["memories"][0]["tags"] == ["x"]


def test_people_see_each_line_and_a_summary(cli: Cli) -> None:
    result = cli("add", "-", stdin=f"{TEXTS[0]}\nok\n", code=1)
    assert "1  + inserted" in result.stdout
    assert "2  ✗ rejected        chatter" in result.stdout
    assert "2 lines: 1 inserted, 1 rejected" in result.stderr


def test_recall_shows_rank_confidence_text_and_explains_on_request(filled: Cli) -> None:
    result = filled("recall", "which port does staging use", "--explain", "-k", "1")
    assert re.search(r"^1 \d+ % The staging", result.stdout)
    assert TEXTS[0] in result.stdout
    assert "semantic" in result.stdout
    assert "words" in result.stdout
    assert "BM25" in result.stdout
    assert all(line == line.rstrip() for line in result.stdout.splitlines())
    assert "semantic  " not in filled("recall", "which port does staging use").stdout


def test_recall_reads_its_question_from_stdin(filled: Cli) -> None:
    assert filled.json("recall", "-", "-k", "1", stdin="staging port\n")["query"] == "staging port"


def test_recall_without_a_model_says_so_on_stderr(
    filled: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", "none")
    assert "by words alone" in filled("recall", "staging port").stderr
    assert "by words alone" in filled.json("recall", "staging port")["stats"]["notes"][0]


def test_nothing_relevant_is_said_and_exits_with_one(cli: Cli) -> None:
    cli("init")
    assert "Nothing relevant." in cli("recall", "anything at all", code=1).stdout
    assert cli.json("recall", "anything at all", code=1)["nothing_relevant"] is True


def test_filters_narrow_recall_and_list(cli: Cli) -> None:
    cli(
        "add",
        TEXTS[0],
        "--category",
        "fact",
        "--tag",
        "infra",
        "--metadata",
        "port=5433",
        "--valid-from",
        "2026-01-10",
    )
    cli("add", TEXTS[1], "--category", "preference", "--valid-from", "2026-02-10")
    for options in (
        ("--category", "fact"),
        ("--tag", "infra"),
        ("--metadata", "port=5433"),
        ("--until", "2026-01-31"),
    ):
        assert [
            hit["text"] for hit in cli.json("recall", "staging summaries", *options)["hits"]
        ] == [TEXTS[0]], options
        assert [memory["text"] for memory in cli.json("list", *options)["memories"]] == [
            TEXTS[0]
        ], options
    assert [memory["text"] for memory in cli.json("list", "--since", "2026-02-01")["memories"]] == [
        TEXTS[1]
    ]
    assert cli("list", "--tag", "nobody", code=1).stdout == "No memory passes these filters.\n"


def test_presets_and_weights_change_the_score(filled: Cli) -> None:
    recent = filled.json("recall", "staging", "--preset", "recent")
    assert recent["stats"]["preset"] == "recent"
    custom = filled.json("recall", "staging", "--weights", "semantic=1,importance=2")
    assert custom["hits"][0]["components"]["importance"]["weight"] == 2
    assert custom["hits"][0]["components"]["recency"]["weight"] == 0


def test_a_token_budget_holds_back_and_counts(filled: Cli) -> None:
    answer = filled.json("recall", "staging summaries error", "--budget-tokens", "9")
    assert answer["filtered_count"] >= 1
    assert set(answer["best_rejected"]) == {"id", "stage", "reason", "value", "limit"}


def test_recall_counts_accesses_unless_told_not_to(filled: Cli) -> None:
    hit = filled.json("recall", "staging port", "-k", "1", "--no-track")["hits"][0]
    assert filled.json("show", hit["id"])["accesses"] == 0
    filled("recall", "staging port", "-k", "1")
    assert filled.json("show", hit["id"])["accesses"] == 1


def test_list_sorts(cli: Cli) -> None:
    cli("add", TEXTS[0], "--importance", "0.8", "--valid-from", "2026-01-01")
    cli("add", TEXTS[1], "--importance", "0.9", "--valid-from", "2025-01-01")
    assert [memory["text"] for memory in cli.json("list")["memories"]] == [TEXTS[0], TEXTS[1]]
    assert [memory["text"] for memory in cli.json("list", "--sort", "important")["memories"]] == [
        TEXTS[1],
        TEXTS[0],
    ]
    assert "recalled 5 times or more" in cli("list", "--sort", "popular", code=1).stdout
    assert len(cli.json("list", "--limit", "1")["memories"]) == 1


def test_show_and_history_of_a_memory(filled: Cli) -> None:
    id = filled.json("list", "--limit", "1")["memories"][0]["id"]
    assert id in filled("show", id).stdout
    assert [event["kind"] for event in filled.json("history", id)["events"]] == ["ADD"]
    assert "ADD" in filled("history", id).stdout
    for command in ("show", "history", "protect"):
        assert filled.json(command, "01nobody", code=1)["error"]["code"] == "refused.not_found"


def test_forget_asks_and_needs_yes_where_nobody_can_be_asked(filled: Cli) -> None:
    id = filled.json("list", "--limit", "1")["memories"][0]["id"]
    assert "add --yes" in filled("forget", id, code=2).stderr
    assert filled.json("forget", id, code=2)["error"]["code"] == "usage"
    told = filled.json("forget", id, "--yes")
    assert (told["forgotten"], told["removed"], told["found"]) == ([id], {"memory": 1}, 0)
    assert [event["kind"] for event in filled.json("history", id)["events"]] == ["FORGET"]


def test_forget_tells_all_that_went_with_what_was_named(filled: Cli, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(
        "".join(
            f"# Part {n}\n\n" + f"Tank {n} of the depot holds oil number {n}. " * 200 + "\n\n"
            for n in range(3)
        )
    )
    filled("import", str(tmp_path / "guide.md"))
    document = filled.json("recall", "which oil does tank 2 of the depot hold")["hits"][0]["node"][
        "root"
    ]
    before = filled.json("stats")["by_kind"]
    told = filled("forget", document, "--yes").stdout
    assert told.startswith(
        f"Forgot 1 document, {before['section']} sections and {before['chunk']} chunks.\nSearched "
    )
    assert told.endswith("nothing of it is left.\n")
    id = filled.json("list", "--limit", "1")["memories"][0]["id"]
    filled("invalidate", id)
    assert filled("forget", id, "--yes", "--only").stdout.startswith(
        "Forgot 1 memory and 1 version.\n"
    )


def test_forget_removes_nothing_when_one_of_several_cannot_be(filled: Cli) -> None:
    ids = [memory["id"] for memory in filled.json("list")["memories"]]
    filled("protect", ids[1])
    assert filled.json("forget", *ids, "--yes", code=1)["error"]["code"] == "refused.protected"
    assert (
        filled.json("forget", ids[0], "01nobody", "--yes", code=1)["error"]["code"]
        == "refused.not_found"
    )
    assert len(filled.json("list")["memories"]) == 3
    assert filled.json("protect", ids[1], "--off") == {"id": ids[1], "protected": False}
    assert filled.json("forget", *ids, "--yes")["forgotten"] == ids


def test_protected_memories_are_forgotten_by_force_only(filled: Cli) -> None:
    id = filled.json("list", "--limit", "1")["memories"][0]["id"]
    filled("protect", id)
    assert filled.json("forget", id, "--force", "--yes")["forgotten"] == [id]


def test_stats_verify_and_backup(filled: Cli, tmp_path: Path) -> None:
    stats = filled.json("stats")
    assert (stats["nodes"], stats["vectors"], stats["store"]) == (3, 3, str(filled.store))
    assert "none yet" in filled("stats", "--store", ":memory:").stdout
    assert "3 live" in filled("stats").stdout
    assert filled.json("verify") == {
        "sound": True,
        "repaired": False,
        "problems": [],
        "quarantined": [],
        "quarantine": None,
    }
    assert "Repaired and sound" in filled("verify", "--repair").stdout
    target = tmp_path / "copy.clew"
    assert filled.json("backup", str(target))["bytes"] == target.stat().st_size
    assert filled.json("backup", str(target), code=2)["error"]["code"] == "input.invalid"
    assert filled.json("stats", "--store", str(target))["nodes"] == 3


def test_stats_tells_memories_from_their_versions_and_from_those_that_ended(filled: Cli) -> None:
    filled(
        "supersede",
        filled.json("list", "--limit", "1")["memories"][0]["id"],
        "The crane at berth nine was painted green in May",
    )
    stats = filled.json("stats")
    assert (stats["nodes"], stats["memories"], stats["versions"], stats["ending"]) == (5, 4, 1, 1)
    assert stats["memories"] - stats["ending"] == len(filled.json("list")["memories"]) == 3
    page = filled("stats").stdout
    assert "4  (1 that ended or will end)" in page
    assert "1  (what was believed of them earlier)" in page


def test_export_and_load_carry_everything(filled: Cli, tmp_path: Path) -> None:
    file, other, third = (
        tmp_path / "all.jsonl",
        str(tmp_path / "other.clew"),
        str(tmp_path / "third.clew"),
    )
    assert filled.json("export", str(file))["lines"] == len(file.read_text().splitlines())
    assert filled.json("export", str(file), code=2)["error"]["field"] == "path"
    filled("export", str(file), "--force")
    assert filled.json("load", str(file), "--store", other)["nodes"] == 3
    assert filled.json("load", str(file), "--store", other)["skipped"] == 3
    assert filled("export", "--store", other).stdout == file.read_text()
    assert filled.json("load", "-", "--store", third, stdin=file.read_bytes())["vectors"] == 3


def test_loading_an_export_again_counts_nothing_as_brought_in(filled: Cli, tmp_path: Path) -> None:
    file, other = str(tmp_path / "all.jsonl"), str(tmp_path / "other.clew")
    filled(
        "supersede",
        filled.json("list", "--limit", "1")["memories"][0]["id"],
        "The crane at berth nine was painted green in May",
    )
    filled("export", file)
    first, again = (filled.json("load", file, "--store", other) for _ in range(2))
    assert first["edges"] >= 1
    assert (again["skipped"], again["nodes"], again["edges"]) == (first["nodes"], 0, 0)


def test_load_brings_in_a_backup_too(filled: Cli, tmp_path: Path) -> None:
    filled("backup", str(tmp_path / "b.clew"))
    assert (
        filled.json("load", str(tmp_path / "b.clew"), "--store", str(tmp_path / "new.clew"))[
            "nodes"
        ]
        == 3
    )


def test_load_refuses_what_is_no_export(filled: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"\xff\xfe no export")
    assert filled.json("load", str(tmp_path / "x.txt"), code=2)["error"]["code"] == "input.invalid"
    assert filled.json("load", str(tmp_path / "absent"), code=2)["error"]["code"] == "usage"


def test_reembed_moves_the_store_to_another_model(filled: Cli) -> None:
    done = filled.json("reembed", "--model", "hashing-64")
    assert done["embedded"] == 3
    assert "CLEW_MODEL__EMBEDDER=hashing-64" in done["notes"][0]
    assert filled.json("recall", "staging", code=3)["error"]["code"] == "model.mismatch"
    assert filled.json("reembed")["embedded"] == 3
    assert filled.json("recall", "staging port")["hits"]


def test_init_makes_a_store_and_can_run_twice(cli: Cli) -> None:
    assert cli.json("init")["created"] is True
    assert cli.json("init") == {
        "store": str(cli.store),
        "created": False,
        "model": "hashing",
        "model_ready": True,
        "notes": [],
    }


def test_init_without_a_model_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", "arctic-embed-s")
    result = cli("init")
    assert "by words alone" in result.stderr
    assert cli.store.exists()


def test_config_shows_values_and_their_sources(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("recall:\n  k: 7\n")
    rows = {row["key"]: row for row in cli.json("config", "--config", str(file))["settings"]}
    assert (rows["recall.k"]["value"], rows["recall.k"]["source"]) == (7, f"file:{file}")
    assert rows["model.embedder"]["source"] == "env:CLEW_MODEL__EMBEDDER"
    assert [row["key"] for row in cli.json("config", "recall.k")["settings"]] == ["recall.k"]
    assert "recall.k" in cli("config", "recall").stdout
    assert cli.json("config", "recal.k", code=2)["error"]["message"].endswith(
        "Did you mean recall.k?"
    )
    assert cli("config", "--template").stdout.startswith("# Settings")


def test_models_are_listed_and_missing_ones_say_what_to_do(cli: Cli) -> None:
    assert cli.json("models", "list")["models"][0]["path"] is None
    assert "clew models pull" in cli("models", "list").stdout
    assert cli.json("models", "pull", "arctic-embed-s", code=3)["error"]["code"] == "model.missing"
    assert cli.json("models", "pull", "arctic-embd", code=2)["error"]["code"] == "input.invalid"
    assert cli.json("models", "rm", "arctic-embed-s", code=3)["error"]["code"] == "model.missing"
    assert cli.json("models", "verify") == {"sound": True, "models": {}}
    assert cli.json("models", "add", str(cli.store), code=2)["error"]["code"] == "input.invalid"


def test_doctor_is_content_with_a_sound_store_and_names_what_is_not(
    filled: Cli, tmp_path: Path
) -> None:
    report = filled.json("doctor")
    assert report["healthy"] is True
    assert {check["name"] for check in report["checks"]} >= {
        "clew",
        "sqlite",
        "scan",
        "settings",
        "store",
        "verify",
        "model",
        "disk",
    }
    assert "All is well." in filled("doctor").stdout
    broken = tmp_path / "broken.clew"
    broken.write_bytes(b"this is no store at all" * 100)
    report = filled.json("doctor", "--store", str(broken), code=3)
    assert [check["status"] for check in report["checks"] if check["name"] == "store"] == [
        "problem"
    ]


def test_doctor_makes_no_store(cli: Cli) -> None:
    cli("doctor")
    assert not cli.store.exists()


@pytest.mark.parametrize("model", ["hashing", "none", "arctic-embed-s"])
def test_the_demo_tells_its_story_with_and_without_a_model(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("CLEW_MODEL__EMBEDDER", model)
    store = tmp_path / "demo folder" / "demo.clew"
    result = cli("demo", "--store", str(store))
    assert ("by words alone" in result.stdout) == (model != "hashing")
    assert "chatter" in result.stdout
    assert result.stdout.count(f"--store '{store}'") == 3
    assert cli.json("stats", "--store", str(store))["nodes"] >= 60
    assert cli.json("demo", "--store", str(store), code=2)["error"]["field"] == "store"


def test_the_demo_as_data_holds_answers_of_the_contract(cli: Cli, tmp_path: Path) -> None:
    document = cli.json("demo", "--store", str(tmp_path / "demo.clew"))
    assert set(document) == {"store", "lexical", "seconds", "counts", "offers", "recalls", "next"}
    assert [offer["outcome"] for offer in document["offers"]][:2] == ["rejected", "exact_duplicate"]
    assert document["counts"] == {"inserted": 61}
    assert next(recall for recall in document["recalls"] if recall["title"] == "By words")["hits"][
        0
    ]["text"].startswith("Error E4012")


def test_global_options_may_stand_before_the_command(cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other.clew"
    assert (
        json.loads(cli("--store", str(other), "--json", "add", TEXTS[0]).stdout)["outcome"]
        == "inserted"
    )
    assert other.exists()
    assert not cli.store.exists()


def test_stats_and_doctor_tell_how_many_memories_lack_token_codes_and_reembed_fills_them_in(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (opening, checks):  # a model that gives tokens, and none has to be fetched
        monkeypatch.setattr(
            place, "load_model", lambda spec, **_: None if spec == "none" else TokenModel()
        )
    monkeypatch.setenv("CLEW_MODEL__TOKEN_CODES", "false")
    cli("add", "-", stdin="\n".join(TEXTS))
    assert "token codes" not in cli("stats").stdout
    assert cli.json("stats")["token_codes"] == {"nodes": 0, "missing": 0, "bytes": 0}
    assert "token codes" not in {check["name"] for check in cli.json("doctor")["checks"]}
    monkeypatch.delenv("CLEW_MODEL__TOKEN_CODES")
    assert "without them  3: run clew reembed" in cli("stats").stdout
    found = {check["name"]: check for check in cli.json("doctor")["checks"]}["token codes"]
    assert (found["status"], found["way_out"]) == ("warning", "clew reembed")
    assert found["detail"].startswith("3 memories without token codes")
    assert "3 memories embedded" in cli("reembed").stdout
    told = cli.json("stats")["token_codes"]
    assert (told["nodes"], told["missing"], told["bytes"] > 0) == (3, 0, True)
    assert f"token codes  3, {told['bytes'] // 3} B each" in cli("stats").stdout
    assert {check["name"]: check["status"] for check in cli.json("doctor")["checks"]}[
        "token codes"
    ] == "ok"
