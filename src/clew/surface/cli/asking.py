"""The options of a question, the same wherever one is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from clew.surface.cli.options import argument_or_stdin, filters, weights
from clew.surface.cli.values import presets, recipes

OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("query"),
    click.option("-k", "k", type=int, metavar="N", help="At most so many hits. [10]"),
    click.option(
        "--recipe",
        metavar="NAME",
        shell_complete=recipes,
        help="The stages to run: fast, balanced, thorough, reranked, agent, staged, passages, lexical or dense. [balanced]",
    ),
    click.option(
        "--preset",
        metavar="NAME",
        shell_complete=presets,
        help="What counts: semantic, balanced, recent, important or popular. [semantic]",
    ),
    click.option("--weights", metavar="NAME=NUMBER,…", help="Your own: of semantic, recency, importance, access."),
    filters,
    click.option("--as-of", metavar="DATE", help="What was true then; of a date at its end."),
    click.option("--known-at", metavar="DATE", help="What was believed then; of a date at its end."),
    click.option("--min-similarity", type=float, metavar="COSINE", help="Leave out what is further away."),
    click.option("--budget-tokens", type=int, metavar="N", help="At most so many tokens in all."),
    click.option("--seed", type=int, default=0, metavar="N", help="For recipes that draw at random."),
)
ASKED = ("k", "recipe", "preset", "weights", "where", "as_of", "known_at", "min_similarity", "budget_tokens", "seed")


def question(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the question and its options, and pass them on as `query`, which is read from stdin if it is a dash, and `asked`."""

    @wraps(function)
    def run(*args: Any, query: str, **options: Any) -> Any:
        asked = {name: options.pop(name) for name in ASKED}
        asked["weights"] = weights(asked["weights"])
        return function(*args, query=argument_or_stdin(query), asked=asked, **options)

    for option in reversed(OPTIONS):
        run = option(run)
    return run
