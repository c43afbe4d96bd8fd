"""`clew eval init` and `clew eval watch`.

Questions of your own, and an alarm when recall gets worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.files import expanded
from clew.surface.cli.commands.eval_options import key_value, measured, plan_of, watched
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, counted

if TYPE_CHECKING:
    from clew.evaluate.own_questions import EvaluationFile, Proposal

LOST = 1
FOLDER = "clew-eval"
KEYS = "Enter takes the question, other text replaces it, - skips the memory, q ends."


@click.command("init")
@click.option(
    "--out", metavar="DIR", default=FOLDER, show_default=True, help="Where memories.yaml goes."
)
@click.option(
    "--space", "spaces", metavar="NAME", multiple=True, help="Of this space; repeatable. [default]"
)
@click.option(
    "--count",
    type=click.IntRange(1, 1000),
    default=50,
    show_default=True,
    help="How many questions to propose.",
)
@click.option(
    "--seed", type=int, metavar="N", default=0, show_default=True, help="Which memories are drawn."
)
@click.option("--yes", is_flag=True, help="Take every question as it is proposed.")
@common
def init_command(
    session: Session, *, out: str, spaces: tuple[str, ...], count: int, seed: int, yes: bool
) -> None:
    """Make an evaluation file from your store.

    Memories are drawn, a rule proposes a question for each, and you accept, rewrite or skip it. A question in other words than
    the memory's own tells more. The file holds all memories of the spaces, as recall has to find the right one among them.

    \b
      clew eval init --store notes.clew
      clew eval run --dataset mine
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.evaluate.own_questions import EvaluationFile, memories_of, proposals  # noqa: PLC0415

    if session.as_json and not yes:
        raise InputError("json", "", "leaves nobody to ask", "Add --yes, or leave out --json.")
    with session.clew() as clew:
        made = EvaluationFile({space: memories_of(clew, space) for space in spaces or ("default",)})
    for space, nodes in made.memories.items():
        if not nodes:
            raise InputError(
                "space", space, "holds no memories", "Name a space that does with --space."
            )
    for proposal, question in _accepted(proposals(made.memories, count=count, seed=seed), yes=yes):
        made.accept(proposal, question)
    if not made.count:
        raise InputError(
            "count", count, "no question was accepted", "Run it again and accept or write some."
        )
    path = made.write(expanded(out))
    session.answer(_record(path.as_posix(), made), lambda: _told(path.as_posix(), made))


def _accepted(proposed: Iterator[Proposal], *, yes: bool) -> Iterator[tuple[Proposal, str]]:
    if not yes:
        click.echo(KEYS)
    for proposal in proposed:
        if yes:
            yield proposal, proposal.question
            continue
        click.echo(clean(f"\n{proposal.node.text}"))
        answer = click.prompt("question", default=proposal.question).strip()
        if answer == "q":
            return
        if answer != "-":
            yield proposal, answer


def _record(path: str, made: EvaluationFile) -> dict[str, Any]:
    return {
        "file": path,
        "memories": sum(map(len, made.memories.values())),
        "questions": made.count,
    }


def _told(path: str, made: EvaluationFile) -> None:
    click.echo(clean(f"wrote {path}: {counted(made.count, 'question')}"))
    click.echo(
        "Use it with: clew eval run --dataset mine --path DIR, and clew eval watch in a CI job."
    )


@click.command("watch")
@measured
@click.option(
    "--baseline",
    metavar="DIR",
    help="A report that an earlier version wrote with clew eval run --output DIR.",
)
@click.option(
    "--against",
    metavar="KEY=VALUE",
    multiple=True,
    help="Settings to compare with instead; repeatable.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Beyond chance.",
)
@common
def watch_command(
    session: Session,
    *,
    asked: dict[str, Any],
    baseline: str | None,
    against: tuple[str, ...],
    alpha: float,
) -> int:
    """Fail if recall got worse than before.

    Compares recall now, on the same questions, with a report of an earlier version (--baseline) or with other settings
    (--against). Exits with 1 if it lost beyond chance: the mean fell, and the randomisation test has p below --alpha.

    \b
      clew eval run --dataset mine --path clew-eval --output baseline
      clew eval watch --dataset mine --path clew-eval --baseline baseline
      clew eval watch --dataset mine --path clew-eval --against recall.preset=recent
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    import json  # noqa: PLC0415 - each start pays for what it uses

    from clew.evaluate.report import dumps  # noqa: PLC0415
    from clew.evaluate.watching import watch_baseline, watch_settings  # noqa: PLC0415

    if bool(baseline) == bool(against):
        raise InputError(
            "baseline",
            baseline,
            "or --against is needed, and not both",
            "Name what to compare with.",
        )
    plan = plan_of(session, asked)
    with watched(session) as watch:
        if baseline:
            found = watch_baseline(plan, expanded(baseline), watch, level=alpha)
        else:
            settings = dict(key_value("against", each) for each in against)
            found = watch_settings(plan, settings, watch, level=alpha)

    def people() -> None:
        verdict = "LOST" if found.lost else "not worse beyond chance"
        interval = f"{100 * found.ci.low:+.1f} to {100 * found.ci.high:+.1f}"
        click.echo(
            clean(
                f"{verdict}: {found.measure} {100 * found.before:.1f} → {100 * found.now:.1f} on {counted(found.n, 'question')}"
            )
        )
        click.echo(
            clean(
                f"difference {100 * found.delta:+.1f} points, interval {interval}, p {found.p:.3f}"
            )
        )
        for id in found.worse if found.lost else ():
            click.echo(clean(f"  lost: {id}"))

    session.answer(json.loads(dumps(found)), people)
    return LOST if found.lost else 0
