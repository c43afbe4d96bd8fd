"""The page docs/cli.md, made from the commands themselves; a test keeps it true."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc

import click

from clew.surface.cli.app import app

INTRODUCTION = """\
# Command line

<!-- Generated: python -m clew.surface.cli.reference > docs/cli.md; a test keeps it true. -->

Exit codes, the same for every command:

| code | meaning |
|---|---|
| 0 | done |
| 1 | nothing found, or refused: no hit, a rejected text, an unknown id, a protected memory |
| 2 | usage or input: an unknown option, a value that cannot be used, a wrong setting |
| 3 | the store or the model cannot do it; `verify` and `doctor` found a problem |
| 130 | interrupted |

Answers go to stdout; notes, progress and errors go to stderr. Lines are broken on a terminal only.
With `--json` stdout holds one JSON document ([json.md](json.md)), also for an error. Bars are drawn on a terminal only;
with `NO_COLOR` there are neither bars nor colours. `CLEW_DEBUG=1` adds the traceback of a bug.
`--store`, `--config` and `--json` may also stand before the command.

An `ID` may be typed in full or, from six characters on, as far as no other id begins so; where several do, the error names up to five. Ids
begin with the time, so those of one hour differ late. That of a forgotten memory is typed in full, and so are all in Python, HTTP and MCP.
"""
SHARED = frozenset({"--store", "--config", "--json", "--help"})


def reference_markdown() -> str:
    """Return the page."""
    return "\n".join(
        [
            INTRODUCTION,
            *_section(
                app,
                click.Context(app, info_name="clew", **app.context_settings),
                "## clew",
                shared=True,
            ),
        ]
    )


def _section(
    command: click.Command, ctx: click.Context, heading: str, *, shared: bool = False
) -> Iterator[str]:
    """Yield the lines about a command and, below it, about its subcommands."""
    yield from (
        heading,
        "",
        *_prose(command),
        "",
        f"    {' '.join((ctx.command_path, *command.collect_usage_pieces(ctx)))}",
        "",
    )
    options = [
        each
        for each in command.get_params(ctx)
        if isinstance(each, click.Option) and (shared or SHARED.isdisjoint(each.opts))
    ]
    rows = [f"| `{names}` | {about} |" for names, about in map(_record, options)]
    if rows:
        yield from ("| option | what it does |", "|---|---|", *rows, "")
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            child = command.get_command(ctx, name)
            if child is not None:
                yield from _section(
                    child,
                    click.Context(child, info_name=name, parent=ctx),
                    f"## {ctx.command_path} {name}",
                )


def _record(option: click.Option) -> tuple[str, str]:
    """Return an option's names with what they take, and its help.

    Not click's own record, whose form changes with its version.
    """
    names = ", ".join((*option.opts, *option.secondary_opts))
    kind = (
        "\\|".join(option.type.choices) if isinstance(option.type, click.Choice) else option.metavar
    )
    return " ".join(filter(None, (names, kind))), option.help or ""


def _prose(command: click.Command) -> Iterator[str]:
    """Yield the description; a paragraph that keeps its lines becomes a block of code."""
    paragraphs = cleandoc(command.help or "").replace("\b\n", "\b").split("\n\n")
    for number, paragraph in enumerate(paragraphs):
        yield from ([""] if number else [])
        if paragraph.startswith("\b"):
            yield from (
                "```sh",
                *(line.strip() for line in paragraph.lstrip("\b").splitlines()),
                "```",
            )
        else:
            yield " ".join(paragraph.split())


if __name__ == "__main__":
    click.echo(reference_markdown(), nl=False)
