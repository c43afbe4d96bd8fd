"""The JSON contract and the generated pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click

from clew import errors
from clew.surface import payload
from clew.surface.cli.app import app
from clew.surface.cli.reference import reference_markdown
from tests.surface.conftest import Cli

DOCS = Path(__file__).parents[2] / "docs"
HIT = {
    *(
        "id",
        "rank",
        "score",
        "text",
        "context",
        "title",
        "space",
        "category",
        "components",
        "channels",
        "method",
        "explanation",
        "node",
    ),
    *("confidence", "path", "hops", "signal", "trust", "flags"),
}
ANSWER = {
    "query",
    "hits",
    "stats",
    "nothing_relevant",
    "filtered_count",
    "best_rejected",
    "trace_id",
}


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None, name
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


def test_an_answer_has_the_keys_of_the_contract(filled: Cli) -> None:
    answer = filled.json("recall", "which port does the staging database use")
    assert set(answer) == ANSWER
    for rank, hit in enumerate(answer["hits"], start=1):
        assert set(hit) == HIT
        assert hit["rank"] == rank
        assert set(hit["components"]) == {"semantic", "recency", "importance", "access"}
        assert hit["node"]["id"] == hit["id"]
        assert hit["explanation"]


def test_contributions_add_up_to_the_score_exactly(filled: Cli) -> None:
    for preset in ("semantic", "balanced", "recent", "important", "popular"):
        for hit in filled.json("recall", "port of staging, error, summaries", "--preset", preset)[
            "hits"
        ]:
            assert sum(part["contribution"] for part in hit["components"].values()) == hit["score"]
            assert all(
                part["value"] * part["weight"] == part["contribution"]
                for part in hit["components"].values()
            )
            assert (
                sum(place["contribution"] for place in hit["channels"].values())
                == hit["components"]["semantic"]["value"]
            )
            assert all(
                set(place) == {"rank", "score", "normalised", "weight", "contribution"}
                for place in hit["channels"].values()
            )


def test_every_command_takes_the_shared_options_and_has_help() -> None:
    for path, command in commands(app):
        assert command.help, path
        # fits the list of commands in 80 columns
        assert len(command.help.partition("\n")[0]) <= 56, path
        if not isinstance(command, click.Group):
            options = {option for parameter in command.params for option in parameter.opts}
            assert {"--store", "--json", "--config"} <= options, path


def test_every_option_is_explained() -> None:
    for path, command in commands(app):
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help, (path, parameter.name)


def test_the_page_of_commands_is_the_generated_one() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert page == reference_markdown(), "run: python -m clew.surface.cli.reference > docs/cli.md"
    for path, _ in commands(app):
        assert f"## clew {' '.join(path)}\n" in page


def test_the_json_of_every_command_is_documented() -> None:
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    for path, _ in commands(app):
        assert f"clew {' '.join(path)}" in page, path
    for key in HIT | ANSWER:
        assert f'"{key}"' in page, key


def test_the_examples_of_the_page_are_json() -> None:
    for block in re.findall(
        r"```json\n(.*?)```", (DOCS / "json.md").read_text(encoding="utf-8"), re.DOTALL
    ):
        json.loads(block)


def test_every_error_code_is_documented() -> None:
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.ClewError)
    ]
    for kind in kinds:
        assert kind is errors.ClewError or f"`{kind.code}`" in page, kind


def test_a_long_value_is_not_sent_back_whole() -> None:
    assert (
        len(
            payload.error(errors.InputError("text", "x" * 10_000, "is long", "Shorten it."))[
                "error"
            ]["value"]
        )
        < 300
    )
