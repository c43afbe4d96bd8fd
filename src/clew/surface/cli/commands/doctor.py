"""`clew doctor`: is everything in order on this machine, and if not, what helps?"""

from __future__ import annotations

from collections.abc import Sequence

import click

from clew.surface.cli.session import Session, common
from clew.surface.cli.text import counted

FAILED = 3


@click.command("doctor")
@common
def doctor_command(session: Session) -> int:
    """Check this machine, the store and the model.

    Each line is ok, a warning or a problem, with the way out. Exits with 3 if there is a problem.
    """
    from clew.surface.cli.checks import examine  # noqa: PLC0415 - each start pays for what it uses

    checks = examine(session)
    healthy = all(check.status != "problem" for check in checks)
    document = {"healthy": healthy, "checks": [check.as_dict() for check in checks]}

    def people() -> None:
        from rich.table import Table  # noqa: PLC0415 - loads rich

        from clew.surface.cli.views.screen import BAD, DIM, GOOD, KEY, WARN, safe, show, whole_words  # noqa: PLC0415

        styles = {"ok": GOOD, "warning": WARN, "problem": BAD}
        table = Table.grid(padding=(0, 2))
        for check in checks:
            table.add_row(
                safe(check.status, styles[check.status]), safe(check.name, KEY), safe(check.detail)
            )
            if check.way_out:
                table.add_row("", "", safe(f"→ {check.way_out}", styles[check.status]))
        show(whole_words(table), safe(_verdict([check.status for check in checks]), DIM))

    session.answer(document, people)
    return 0 if healthy else FAILED


def _verdict(statuses: Sequence[str]) -> str:
    """Return the last line.

    >>> _verdict(["ok", "ok"]), _verdict(["ok", "warning"])
    ('All is well.', 'Works, with 1 warning.')
    >>> _verdict(["warning", "problem"])
    'There is 1 problem; the arrow says what helps.'
    """
    if problems := statuses.count("problem"):
        found = counted(problems, "problem")
        return (
            f"There is {found}; the arrow says what helps."
            if problems == 1
            else f"There are {found}; the arrows say what helps."
        )
    warnings = statuses.count("warning")
    return f"Works, with {counted(warnings, 'warning')}." if warnings else "All is well."
