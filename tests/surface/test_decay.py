"""`clew decay` and `clew unarchive` from the command line."""

from __future__ import annotations

from tests.surface.conftest import TEXTS, Cli


def test_by_itself_it_only_tells_and_apply_archives(filled: Cli) -> None:
    told = filled.json("decay", "--now", "2999-01-01")
    assert told["dry_run"] is True
    assert told["examined"] == len(told["archived"]) == 3
    assert filled.json("stats")["archived"] == 0
    assert filled.json("decay", "--apply")["archived"] == []  # they are new
    refused = filled.json("decay", "--apply", "--now", "2999-01-01", code=2)["error"]
    assert (refused["field"], filled.json("stats")["archived"]) == ("now", 0)
    done = filled.json("decay", "--apply", "--now", "2999-01-01", "--force")
    assert done["dry_run"] is False
    assert {each["id"] for each in done["archived"]} == {each["id"] for each in told["archived"]}
    assert filled.json("stats")["archived"] == 3
    assert filled.json("recall", "staging database port", code=1)["hits"] == []


def test_the_document_has_the_keys_of_the_contract(filled: Cli) -> None:
    document = filled.json("decay")
    assert set(document) == {"at", "dry_run", "examined", "protected", "archived", "upcoming"}
    assert sorted(each["text"] for each in document["upcoming"]) == sorted(TEXTS)
    for each in document["upcoming"]:
        assert set(each) == {"id", "score", "forgotten_at", "text"}
        assert each["score"] > 0.49
        assert each["forgotten_at"].endswith("Z")


def test_people_see_what_goes_and_when_the_next_one_does(filled: Cli) -> None:
    shown = filled("decay")
    assert "Would archive 0 memories of 3." in shown.stdout
    assert "Next to go:" in shown.stdout
    assert TEXTS[1] in shown.stdout
    shown = filled("decay", "--now", "2999-01-01")
    assert "Would archive 3 memories of 3." in shown.stdout
    assert "clew decay --apply" in shown.stderr
    assert (
        "Archived 3 memories of 3."
        in filled("decay", "--apply", "--now", "2999-01-01", "--force").stdout
    )


def test_a_long_list_is_cut_for_people_and_whole_for_programs(cli: Cli) -> None:
    cli("add", "-", stdin="\n".join(f"Berth {n} has {n} bollards and a lamp" for n in range(25)))
    assert "and 5 more" in cli("decay", "--now", "2999-01-01").stdout
    assert len(cli.json("decay", "--now", "2999-01-01")["archived"]) == 25


def test_protected_ones_are_counted_and_a_space_can_be_named(cli: Cli) -> None:
    kept = cli.add(TEXTS[0])
    other = cli.add(TEXTS[1], "--space", "other")
    cli("protect", kept)
    assert cli.json("decay", "--now", "2999-01-01")["protected"] == 1
    assert (
        "1 memory would have gone without protection." in cli("decay", "--now", "2999-01-01").stdout
    )
    assert [
        each["id"]
        for each in cli.json("decay", "--space", "other", "--now", "2999-01-01")["archived"]
    ] == [other]


def test_unarchive_brings_one_back(cli: Cli) -> None:
    id = cli.add(TEXTS[0])
    assert cli("unarchive", id).stdout == f"{id} was not archived.\n"
    cli("decay", "--apply", "--now", "2999-01-01", "--force")
    assert cli("unarchive", id).stdout == f"{id} is back.\n"
    assert cli.json("unarchive", id) == {"id": id, "archived": False}
    assert cli.json("recall", "staging database port")["hits"][0]["id"] == id
    assert cli.json("unarchive", "nobody", code=1)["error"]["code"] == "refused.not_found"


def test_a_text_cannot_command_the_terminal(cli: Cli) -> None:
    cli.add("The berth \u202eis red and wet today")
    shown = cli("decay").stdout
    assert "is red and wet" in shown
    assert "\u202e" not in shown


def test_a_wrong_date_is_refused_with_a_way_out(filled: Cli) -> None:
    error = filled.json("decay", "--now", "soon", code=2)["error"]
    assert (error["field"], error["value"]) == ("now", "soon")
    filled("decay", "--now", "2999-01-01")
    assert filled.json("stats")["archived"] == 0
