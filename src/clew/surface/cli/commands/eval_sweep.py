"""`clew eval sweep`: datasets × chunkers × embedders × policies in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.files import expanded
from clew.surface.cli.commands.eval_options import key_value, listed, option_value, watched
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from clew.evaluate.sweep import Axes

CHUNKERS = "code,fixed,recursive,semantic,chonkie-code"


@click.command("sweep")
@click.option(
    "--datasets",
    metavar="NAME[=FOLDER],…",
    required=True,
    help="Which sets; FOLDER where a set is not in the folder of its name.",
)
@click.option("--path", metavar="DIR", required=True, help="The folder that holds their folders.")
@click.option("--sources", metavar="DIR", help="The folder with the source trees of each set.")
@click.option(
    "--part",
    "parts",
    metavar="[SET=]NAME,…",
    default="test",
    show_default=True,
    help="dev, test or all; SET=NAME for one set.",
)
@click.option("--chunkers", metavar="NAME,…", default=CHUNKERS, show_default=True, help="Which.")
@click.option("--embedders", metavar="SPEC,…", default="", help="Models. [model.embedder]")
@click.option(
    "--policies",
    metavar="NAME,…",
    default="single-hop,multi-hop",
    show_default=True,
    help="Which policies: single-hop, multi-hop, follow-names.",
)
@click.option("--budget", type=int, default=15, show_default=True, help="Chunks examined.")
@click.option("--hops", type=int, default=2, show_default=True, help="The most hops.")
@click.option("--chunks-per-hop", type=int, default=5, show_default=True, help="But for the last.")
@click.option("--no-early-stop", is_flag=True, help="Spend the whole budget.")
@click.option("--recipe", metavar="NAME", default="", help="How each hop searches.")
@click.option(
    "--chunk-size",
    type=int,
    metavar="TOKENS",
    default=400,
    show_default=True,
    help="The largest chunk.",
)
@click.option(
    "--sample",
    metavar="[SET=]N,…",
    default="",
    help="Questions of each set, drawn by the seed; SET=N for one set.",
)
@click.option(
    "--corpus-tokens",
    metavar="[SET=]N,…",
    default="",
    help="Tokens of each set: what answers, and other texts drawn by the seed; SET=N for one set.",
)
@click.option("--option", "options", metavar="SET:KEY=VALUE", multiple=True, help="Of a set.")
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="A setting of Clew.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of samples and intervals.")
@click.option(
    "--resamples",
    type=int,
    metavar="N",
    default=10_000,
    show_default=True,
    help="Of intervals and p values.",
)
@click.option(
    "--jobs", type=int, metavar="N", default=1, show_default=True, help="Cells at a time."
)
@click.option("--cache", metavar="DIR", help="Vectors, answers, cells. [~/.cache/clew/eval]")
@click.option("--out", metavar="DIR", help="Write result.json, samples.jsonl and report.md.")
@common
def sweep_command(session: Session, *, out: str | None, **asked: Any) -> int:
    """Cross datasets, chunkers, embedders and policies.

    Every policy meets one search under the same number of examined chunks and under half as many more; all are ordered by
    the same scorer. Holm's correction counts every comparison of the table, and the findings are made from it.
    Interrupted, the same command goes on from there.

    \b
      clew eval sweep --datasets swe-qa,semble,chroma-chunking --path data --sources sources --sample 60 --out report
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.evaluate.sweep import sweep  # noqa: PLC0415 - each start pays for what it uses
    from clew.evaluate.sweep_report import write_sweep  # noqa: PLC0415

    axes = _axes(session, asked)
    with watched(session) as watch:
        result, samples = sweep(axes, watch)
    written = write_sweep(expanded(out), result, samples) if out else ()

    def people() -> None:
        for finding in result.findings:
            click.echo(clean(f"- {finding}"))
        for path in written:
            click.echo(clean(f"wrote {path}"))

    import json  # noqa: PLC0415

    from clew.evaluate.report import dumps  # noqa: PLC0415

    session.answer(json.loads(dumps(result)), people)
    return 0


def _axes(session: Session, asked: dict[str, Any]) -> Axes:
    from clew.evaluate.comparing import Contest  # noqa: PLC0415 - each start pays for what it uses
    from clew.evaluate.plan import Plan, default_cache  # noqa: PLC0415
    from clew.evaluate.sweep import Axes  # noqa: PLC0415

    root = expanded(asked["path"])
    paths = {name: root / folder for name, folder in _datasets(asked["datasets"])}
    part, parts = _parts(asked["parts"], "test")
    tokens, tokens_of = _sizes("corpus-tokens", asked["corpus_tokens"])
    sample, samples = _sizes("sample", asked["sample"])
    plan = Plan(
        dataset=next(iter(paths), ""),
        path=root,
        part=part,
        chunk_size=asked["chunk_size"],
        seed=asked["seed"],
        resamples=asked["resamples"],
        sample=sample,
        corpus_tokens=tokens,
        cache=expanded(asked["cache"]) if asked["cache"] else default_cache(),
        config=Path(session.config) if session.config else None,
        settings=dict(key_value("set", each) for each in asked["settings"]),
    )
    contest = Contest(
        policies=listed(asked["policies"]),
        budget=asked["budget"],
        hops=asked["hops"],
        chunks_per_hop=asked["chunks_per_hop"],
        early_stop=not asked["no_early_stop"],
        recipe=asked["recipe"],
    )
    return Axes(
        datasets=paths,
        base=plan,
        contest=contest,
        chunkers=listed(asked["chunkers"]),
        embedders=listed(asked["embedders"]),
        options=_options(paths, asked),
        parts=parts,
        corpus_tokens=tokens_of,
        samples=samples,
        jobs=asked["jobs"],
    )


def _datasets(text: str) -> list[tuple[str, str]]:
    from clew.evaluate.datasets import card  # noqa: PLC0415 - each start pays for what it uses

    pairs = [each.partition("=") for each in listed(text)]
    return [(name, folder if equals else card(name).folder) for name, equals, folder in pairs]


def _parts(text: str, default: str) -> tuple[str, dict[str, str]]:
    """Return the value of all sets and those of single ones.

    >>> _parts("test,swe-qa=dev", "")
    ('test', {'swe-qa': 'dev'})
    """
    pairs = [each.partition("=") for each in listed(text)]
    general = [name for name, equals, _ in pairs if not equals]
    return general[-1] if general else default, {
        name: value for name, equals, value in pairs if equals
    }


def _sizes(option: str, text: str) -> tuple[int | None, dict[str, int]]:
    """Return the number for all sets, None where there is none, and those of single ones."""
    general, single = _parts(text, "")
    return _whole(option, general) if general else None, {
        name: _whole(option, size) for name, size in single.items()
    }


def _whole(option: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise InputError(
            option,
            text,
            "is not a number",
            f"Write it as --{option} 100 or --{option} 100,swe-qa=50.",
        )
    return int(text)


def _options(paths: dict[str, Path], asked: dict[str, Any]) -> dict[str, dict[str, object]]:
    """Return what each set's loader is given: its sources, and what --option names."""
    from clew.evaluate.datasets import card  # noqa: PLC0415 - each start pays for what it uses

    options: dict[str, dict[str, object]] = {name: {} for name in paths}
    for name in paths if asked["sources"] else ():
        folder = expanded(asked["sources"]) / card(name).folder
        if "sources" in card(name).options and folder.is_dir():
            options[name]["sources"] = str(folder)
    for each in asked["options"]:
        key, value = key_value("option", each)
        name, colon, option = key.partition(":")
        if not colon or name not in options:
            way_out = "Write it as --option swe-qa:paths=true, of a set in --datasets."
            raise InputError("option", each, "does not name a set of this sweep", way_out)
        options[name][option] = option_value(value)
    return options
