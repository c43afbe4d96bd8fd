"""`clew add`: offers memories to the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.surface import payload
from clew.surface.cli.options import STDIN, categories, pairs
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean
from clew.surface.cli.views.outcomes import beside_lines, outcome_line

if TYPE_CHECKING:
    pass


@click.command("add")
@click.argument("text")
@click.option(
    "--category",
    metavar="NAME",
    shell_complete=categories,
    help="Such as fact, decision, preference, procedure. [observation]",
)
@click.option(
    "--trigger", metavar="NAME", help="What caused it, such as problem-solution or feedback."
)
@click.option("--importance", type=float, metavar="0–1", help="How much it matters. [0.5]")
@click.option("--title", metavar="TEXT", help="A short name; it counts in recall.")
@click.option("--space", metavar="NAME", help="The space it belongs to. [the setting store.space]")
@click.option("--tag", "tags", metavar="NAME", multiple=True, help="A tag; repeatable.")
@click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    help="Anything else; a VALUE that is JSON is kept as JSON. Repeatable.",
)
@click.option(
    "--valid-from", metavar="DATE", help="Since when it is true, such as 2026-03-01. [now]"
)
@click.option("--valid-to", metavar="DATE", help="Until when it is true.")
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@click.option(
    "--stability",
    metavar="NAME",
    help="How fast it goes out of date: static, dynamic, ephemeral or unknown.",
)
@click.option(
    "--key",
    "idempotency_key",
    metavar="KEY",
    help="Offered again under the same key, nothing is added twice.",
)
@click.option(
    "--near/--no-near",
    default=False,
    help="Look for near duplicates too. [no: a person knows what they add]",
)
@click.option(
    "--on-duplicate",
    type=click.Choice(["reinforce", "insert", "error"]),
    default="reinforce",
    help="What to do with what is there already. [reinforce]",
)
@click.option("--force", is_flag=True, help="Keep it although the same text was forgotten.")
@click.option("--jsonl", is_flag=True, help="With -: each line is a JSON object as said above.")
@click.option(
    "--conversation",
    is_flag=True,
    help="TEXT is a file with a conversation, or - for stdin: keep each message.",
)
@click.option(
    "--session",
    "talk",
    metavar="NAME",
    help="With --conversation: its name; messages that it holds are not added twice.",
)
@click.option(
    "--extract",
    is_flag=True,
    help="With --conversation: keep its facts too, by the language model if one is configured.",
)
@common
def add_command(
    session: Session,
    text: str,
    *,
    jsonl: bool,
    conversation: bool,
    talk: str | None,
    extract: bool,
    tags: tuple[str, ...],
    metadata: tuple[str, ...],
    **options: Any,
) -> int:
    """Remember TEXT, or with - each line of stdin.

    Says what became of each: inserted, exact_duplicate, near_duplicate, or rejected by which rule. Exits with 1 if any was refused.

    \b
      clew add "Deploys go through Jenkins job ship-it" --category fact --tag ci
      cat notes.txt | clew add - --space work
      clew add - --jsonl < memories.jsonl
      clew add chat.json --conversation --session ann-and-bob

    A line of --jsonl must have text, and may have category, trigger, importance, title, space, tags (or tag), metadata, valid_from,
    valid_to, source, keywords, stability, idempotency_key (or key), near, on_duplicate, verbatim and force. A field of the line takes the
    place of the option; tags of both are united. Any other field is refused, that line only.

    With --conversation a chat export, messages as JSON or JSON lines, or a transcript is kept message by message. Offered again under the
    same session, only new messages are added; --valid-from is when messages without a time of their own were said. With --extract each
    fact of the new messages is a memory of its own, linked to the messages that say it; a note tells who extracted them.
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    fields: dict[str, Any] = {**options, "tags": tags, "metadata": pairs(metadata)}
    given = {name: value for name, value in fields.items() if value not in (None, (), {})}
    if conversation:
        if jsonl:
            raise InputError(
                "--jsonl",
                text,
                "does not go with --conversation",
                "Leave it out: JSON lines are found by content.",
            )
        from clew.surface.cli.add_many import add_conversation  # noqa: PLC0415 - loads readers

        return add_conversation(session, text, talk, {**given, "extract": extract})
    if extract:
        raise InputError(
            "--extract",
            text,
            "is for the facts of a conversation",
            "Write: clew add FILE --conversation --extract",
        )
    if talk is not None:
        raise InputError(
            "--session",
            talk,
            "is the name of a conversation",
            "Write: clew add FILE --conversation --session NAME",
        )
    if text == STDIN:
        from clew.surface.cli.add_many import add_many  # noqa: PLC0415

        return add_many(session, given, jsonl=jsonl)
    if jsonl:
        raise InputError("--jsonl", text, "reads stdin", "Write: clew add - --jsonl")
    return _add_one(session, text, given)


def _add_one(session: Session, text: str, fields: dict[str, Any]) -> int:

    with session.clew(create=True) as clew:
        entry = payload.outcome(clew.remember(text, **fields))
    for note in entry.get("notes", ()):
        session.note(note)
    session.answer(
        entry, lambda: click.echo(clean("\n".join([outcome_line(entry), *beside_lines(entry)])))
    )
    return 1 if entry["outcome"] == "rejected" else 0
