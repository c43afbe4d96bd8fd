"""`clew conflicts`, for people and for programs."""

from __future__ import annotations

from tests.surface.conftest import Cli

OLD, NEW = "The gateway listens on port 8443.", "The gateway listens on port 9443."


def test_conflicts_are_listed_with_both_texts_and_dismissed_by_id(cli: Cli) -> None:
    first, second = cli.add(OLD), cli.add(NEW)
    (found,) = cli.json("conflicts")["conflicts"]
    assert (found["first"]["id"], found["second"]["id"], found["kind"]) == (first, second, "number")
    page = cli("conflicts", "--kind", "number").stdout
    assert all(shown in page for shown in (first, second, OLD, NEW, found["id"], '"8443"'))
    assert cli.json("conflicts", "--kind", "state", code=1)["conflicts"] == []
    assert cli.json("conflicts", "dismiss", found["id"])["dismissed"] is True
    assert "No conflicts" in cli("conflicts", code=1).stdout


def test_add_tells_what_the_text_may_contradict(cli: Cli) -> None:
    first = cli.add(OLD)
    shown = cli("add", NEW, "--near")
    assert f"may contradict {first} (number, " in shown.stdout
    assert f"similar to {first}" not in shown.stdout
    assert "clew conflicts dismiss" in shown.stderr


def test_a_wrong_kind_and_an_unknown_conflict_have_their_exit_codes(cli: Cli) -> None:
    cli.add(OLD)
    assert "value" in cli("conflicts", "--kind", "vaule", code=2).stderr
    assert "No conflict nobody" in cli("conflicts", "dismiss", "nobody", code=1).stderr
