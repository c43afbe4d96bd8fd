"""The options that `clew eval run`, `compare` and `ablate` share, and the plan that they become."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.files import expanded
from clew.surface.cli.progress import Meter
from clew.surface.cli.session import Session
from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from clew.evaluate.plan import Plan, Watch
    from clew.evaluate.report import Report

PLAIN = (
    "dataset",
    "part",
    "level",
    "chunker",
    "chunk_size",
    "overlap",
    "k",
    "limit",
    "sample",
    "corpus_tokens",
    "seed",
    "resamples",
    "jobs",
)  # taken as they are


def measured(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a measurement; the command gets them as `asked`, beside its own."""
    names = []

    def option(*declared: str, **about: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        names.append(
            next(
                (each for each in declared if not each.startswith("-")),
                declared[0].lstrip("-").replace("-", "_"),
            )
        )
        return click.option(*declared, **about)

    options = [
        option(
            "--dataset",
            metavar="NAME",
            required=True,
            help="Which set; clew eval datasets lists them.",
        ),
        option("--path", metavar="DIR", help="The folder that holds it. [clew-eval for mine]"),
        option(
            "--part",
            metavar="NAME",
            default="test",
            show_default=True,
            help="dev to tune on, test to report, or all.",
        ),
        option(
            "--level",
            metavar="NAME",
            default="",
            help="What is judged, such as turn or session. [the set's first]",
        ),
        option(
            "--chunker",
            metavar="NAME",
            default="recursive",
            show_default=True,
            help="For sets of whole documents: how they are cut.",
        ),
        option(
            "--chunk-size",
            type=int,
            metavar="TOKENS",
            default=400,
            show_default=True,
            help="The largest chunk.",
        ),
        option(
            "--overlap",
            type=int,
            metavar="TOKENS",
            default=0,
            show_default=True,
            help="Of our own chunkers: shared by neighbours.",
        ),
        option("--model", metavar="SPEC", help="The embedding model. [the setting model.embedder]"),
        option(
            "--k",
            type=int,
            metavar="N",
            default=10,
            show_default=True,
            help="How many results are judged.",
        ),
        option(
            "--measures",
            metavar="NAME,…",
            default="",
            help="What to measure, the headline first, such as recall@5,MRR.",
        ),
        option("--limit", type=int, metavar="N", help="The first questions only."),
        option("--sample", type=int, metavar="N", help="So many questions, drawn by the seed."),
        option(
            "--corpus-tokens",
            type=int,
            metavar="N",
            help="About so much text: what answers them, and other texts drawn by the seed.",
        ),
        option(
            "--option",
            "options",
            metavar="KEY=VALUE",
            multiple=True,
            help="Of the set, such as sources=DIR or unit=turn; repeatable.",
        ),
        option(
            "--set",
            "settings",
            metavar="KEY=VALUE",
            multiple=True,
            help="A setting, such as recall.candidates=30; repeatable.",
        ),
        option(
            "--seed",
            type=int,
            metavar="N",
            default=0,
            show_default=True,
            help="Of the intervals and p values.",
        ),
        option(
            "--resamples",
            type=int,
            metavar="N",
            default=10_000,
            show_default=True,
            help="How many of each.",
        ),
        option(
            "--jobs",
            type=int,
            metavar="N",
            default=1,
            show_default=True,
            help="Questions asked at a time; latencies are true with 1.",
        ),
        option(
            "--cache",
            metavar="DIR",
            help="Where vectors and answers are kept. [~/.cache/clew/eval]",
        ),
        option(
            "--output",
            metavar="DIR",
            help="Write result.json, samples.jsonl, report.md, report.html and timings.json.",
        ),
        option(
            "--timings",
            is_flag=True,
            help="Add to --json what the clock said; it is never the same twice.",
        ),
    ]

    @wraps(function)
    def run(*args: Any, **given: Any) -> Any:
        return function(*args, asked={name: given.pop(name) for name in names}, **given)

    for each in reversed(options):
        run = each(run)
    return run


def plan_of(session: Session, asked: dict[str, Any]) -> Plan:
    """Return the plan that the options mean."""
    from pathlib import Path  # noqa: PLC0415 - each start pays for what it uses

    from clew.evaluate.plan import Plan, default_cache  # noqa: PLC0415

    settings = dict(key_value("set", each) for each in asked["settings"])
    if asked["model"] is not None:
        settings["model.embedder"] = asked["model"]
    path = asked["path"] or {"mine": "clew-eval"}.get(asked["dataset"])
    if path is None:
        raise InputError(
            "path", path, "is missing", "Name the folder that holds the set: --path DIR."
        )
    return Plan(
        path=expanded(path),
        cache=expanded(asked["cache"]) if asked["cache"] else default_cache(),
        config=Path(session.config) if session.config else None,
        measures=listed(asked["measures"]),
        settings=settings,
        options={
            name: option_value(value)
            for name, value in (key_value("option", each) for each in asked["options"])
        },
        **{name: asked[name] for name in PLAIN},
    )


def listed(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas.

    >>> listed("bm25, clew,")
    ('bm25', 'clew')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def key_value(option: str, text: str) -> tuple[str, str]:
    """Return both sides of KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(
            option,
            text,
            "is not KEY=VALUE",
            f"Write it as --{option} {'recall.k=20' if option == 'set' else 'unit=turn'}.",
        )
    return key.strip(), value


def option_value(text: str) -> Any:
    """Read true, false and whole numbers; everything else is text."""
    known = {"true": True, "false": False, "on": True, "off": False}
    return known.get(text.casefold(), int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text)


@contextmanager
def watched(session: Session) -> Iterator[Watch]:
    """Lend progress bars; an interrupt says that nothing was lost."""
    from clew.evaluate.plan import Watch  # noqa: PLC0415 - each start pays for what it uses

    with (
        Meter(unit="items", quiet=session.as_json) as meter,
        Meter(unit="bytes", quiet=session.as_json) as download,
    ):
        try:
            yield Watch(progress=meter, download=download, announce=session.announce)
        except KeyboardInterrupt:
            meter.finish()
            session.note(
                "Interrupted. What was embedded and answered is kept: the same command goes on from here."
            )
            raise


def finish(session: Session, report: Report, asked: dict[str, Any]) -> None:
    """Write the files that were asked for and show the result."""
    from clew.evaluate.report import result_json, write  # noqa: PLC0415

    written = write(expanded(asked["output"]), report) if asked["output"] else ()

    def people() -> None:
        from clew.surface.cli.views.evaluation import result_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(result_page(report))
        for path in written:
            click.echo(clean(f"wrote {path}"))

    import json  # noqa: PLC0415

    session.answer(
        json.loads(
            result_json(report.result, timings=report.timings if asked["timings"] else None)
        ),
        people,
    )
