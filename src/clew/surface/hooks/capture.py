"""Find what is worth keeping in a transcript.

Statements by rule, and commands that worked after one that could not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.memories.statements import ASSISTANT, BOTH, LONGEST, Rule, rule, statements
from clew.surface.hooks.transcript import Entry

# Of an error only these kinds are about the environment; a failing test says nothing about how to
# run it.
_SETUP_ERROR = re.compile(
    r"command not found|no module named|modulenotfounderror|permission denied|no such file"
    r"|not recognized|unrecognized|unknown (?:option|command)|invalid option|no such option|is required"
    r"|missing script|could not connect|connection refused|cannot connect|not installed|unsupported",
    re.IGNORECASE,
)
COMMAND = rule("command", by=[], stored=("procedure", "problem-solution", 0.5))


class Found(NamedTuple):
    """Something worth keeping, by which rule, and the entry that says it."""

    text: str
    rule: Rule
    entry: str


@dataclass
class Reader:
    """Finds what is worth keeping in the entries of one session, in order."""

    answered: bool = False
    """Whether the assistant has spoken or acted since the session began."""
    commands: dict[str, str] = field(default_factory=dict)
    """The shell commands without a result, by call."""
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The last command that failed and its error, by program."""

    def read(self, entries: Sequence[Entry]) -> Iterator[Found]:
        """Yield what the entries say that is worth keeping."""
        for entry in entries:
            if entry.role in BOTH:
                yield from self._said(entry)
                self.answered = self.answered or entry.role == ASSISTANT
            elif entry.role == "command":
                self.answered = True
                self.commands[entry.call] = entry.text
            else:
                yield from self._done(entry)

    def _said(self, entry: Entry) -> Iterator[Found]:
        for text, found_by in statements(entry.text, role=entry.role, answers=self.answered):
            yield Found(text, found_by, entry.id)

    def _done(self, entry: Entry) -> Iterator[Found]:
        command = " ".join(self.commands.pop(entry.call, "").split())
        program = command.split(" ", 1)[0]
        if not command or len(command) > LONGEST:
            return
        if entry.failed:
            error = next(
                (
                    line.strip()
                    for line in reversed(entry.text.splitlines())
                    if _SETUP_ERROR.search(line[:LONGEST])
                ),
                "",
            )
            if error:
                self.failed[program] = command, error[:LONGEST]
        elif program in self.failed and self.failed[program][0] != command:
            tried, error = self.failed.pop(program)
            yield Found(f"`{tried}` failed ({error}). What worked: `{command}`.", COMMAND, entry.id)
