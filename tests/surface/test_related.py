"""`clew related`, for people and for programs."""

from __future__ import annotations

from tests.surface.conftest import TEXTS, Cli


def test_related_shows_names_edges_and_nodes(cli: Cli) -> None:
    plan = cli.add("Anna Keller reviews the harbour plan")
    report = cli.add("the report on cranes is by Anna Keller")
    found = cli.json("related", plan)
    assert set(found) == {"id", "entities", "edges", "nodes"}
    assert found["id"] == plan
    (entity,) = found["entities"]
    assert set(entity) == {"name", "type", "confidence", "subject", "evidence", "count"}
    assert (entity["name"], entity["type"], entity["count"]) == ("Anna Keller", "PERSON", 2)
    assert [(node["id"], node["shares"]) for node in found["nodes"]] == [(report, ["Anna Keller"])]
    page = cli("related", plan).stdout
    assert "Anna Keller" in page
    assert report in page


def test_edges_are_told_with_their_ends(cli: Cli) -> None:
    first = cli.add("the tide table of the northern harbour shows low water at dawn", "--near")
    second = cli.add("the tide table of the northern harbour shows high water at dusk", "--near")
    (edge,) = cli.json("related", first)["edges"]
    assert set(edge) == {"from", "edge", "weight", "to", "confidence", "evidence"}
    assert (edge["from"], edge["edge"], edge["to"]) == (second, "RELATED", first)


def test_a_memory_without_ties_and_an_unknown_one_have_their_exit_codes(cli: Cli) -> None:
    alone = cli.add(TEXTS[0])
    assert cli.json("related", alone, code=1) == {
        "id": alone,
        "entities": [],
        "edges": [],
        "nodes": [],
    }
    assert "nothing" in cli("related", alone, code=1).stdout
    cli("related", "nobody", code=1)
