"""Shows how far long work has come.

A bar on a terminal, a line at the end elsewhere, nothing for what is quick.
"""

from __future__ import annotations

import os
import sys
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import click

from clew.surface.cli.text import clean, counted, size

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Unit = Literal["bytes", "memories", "items"]

LONG_SECONDS = 1.0  # quicker work leaves no line
# A download may be silent after its first call, so its bar appears at once; a bar for quick work
# would only flicker.
PATIENCE_SECONDS = {"bytes": 0.0, "memories": 0.5, "items": 0.5}


class Meter:
    """A `clew.ports.Progress` that draws on stderr, and nothing at all when quiet.

    Rich is loaded with the first bar.
    """

    _drawing: ClassVar[Meter | None] = None  # two bars on one screen would overwrite each other

    def __init__(self, *, unit: Unit = "memories", quiet: bool = False) -> None:
        self._unit = unit
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._what = ""
        self._began = 0.0
        self._done = 0

    def __enter__(self) -> Self:
        """Return itself; nothing is drawn before the first call."""
        return self

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Show that so much of `what` is done."""
        if self._quiet:
            return
        if what != self._what:
            self.finish()
            self._what, self._began = what, monotonic()
        self._done = done
        if (
            sys.stderr.isatty()
            and not os.environ.get("NO_COLOR")
            and monotonic() - self._began >= PATIENCE_SECONDS[self._unit]
        ):
            self._draw(done, total)
        if total is not None and done >= total:
            self.finish()

    def _draw(self, done: int, total: int | None) -> None:
        if Meter._drawing is not None and Meter._drawing is not self:
            Meter._drawing.finish()
        Meter._drawing = self
        if self._bar is None:
            self._bar = _bar(self._unit)
            self._task = self._bar.add_task(clean(self._what), total=total)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, completed=done, total=total)

    def finish(self) -> None:
        """Take the bar away; of long work a line stays."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = Meter._drawing = None
        seconds = monotonic() - self._began
        if self._what and seconds >= LONG_SECONDS:
            amount = self._amount()
            click.echo(
                clean(f"{self._what}: {f'{amount} in ' if amount else ''}{seconds:.1f} s"), err=True
            )
        self._what, self._done = "", 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish."""
        self.finish()

    def _amount(self) -> str:
        # whoever fetches it told no size: a sum of 0 B would be wrong
        if self._unit == "bytes" and not self._done:
            return ""
        if self._unit == "items":  # what they are is said before the number
            return f"{self._done:,}"
        return size(self._done) if self._unit == "bytes" else counted(self._done, "memory")


def _bar(unit: Unit) -> Progress:
    from rich.console import Console  # noqa: PLC0415 - only when something is drawn
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    amount: Any = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        amount,
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # Redirected, what a command prints would go where the bar is: wrong when stdout is a file
        # or a pipe.
        redirect_stdout=sys.stdout.isatty(),
    )
