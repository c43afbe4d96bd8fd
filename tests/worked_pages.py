"""Pages whose examples run.

What their blocks are, a shell to run them in, and whether what came is what the page says.

A page's blocks run in order in one folder. `console` has commands after `$ `, each followed by what
it prints; `sh` has commands alone; `python` prints what its comments say, as in the README. In what
is expected `…` stands for anything, alone on a line for any lines, and an id stands for whichever
id came first in its place: a later command that names it gets the real one.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple, Self

BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>[\w{}-]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PRINTED = re.compile(r"^\s*print\(.*\)  # (.+)$", re.MULTILINE)
COMMAND = re.compile(r"(?:.*<<'(\w+)'.*\n(?:.*\n)*?\1\n|(?:.*\\\n)*.*\n)")
ID = re.compile(r"\b[0-9][0-9a-hjkmnp-tv-z]{25}\b")
SLOW = re.compile(r"[^:]+: .+ in \d+\.\d s")  # told of what took long, which depends on the machine
RUNS = ("console", "sh", "python")


class Block(NamedTuple):
    """One fenced block of a page."""

    language: str
    body: str
    line: int
    not_run: str = ""


class Step(NamedTuple):
    """One command and the lines that it is said to print; None where the page does not say."""

    command: str
    expected: tuple[str, ...] | None


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page in order.

    >>> [block.language for block in blocks("```sh\\nls\\n```\\n\\n```\\nplain\\n```\\n")]
    ['sh', '']
    """
    for found in BLOCK.finditer(page):
        yield Block(
            found["language"],
            found["body"],
            page.count("\n", 0, found.start()) + 1,
            found["reason"] or "",
        )


def steps(block: Block) -> Iterator[Step]:
    """Yield the commands of a block.

    A line that begins with "> " goes on with the command before it.

    >>> list(steps(Block("console", "$ echo a\\\\\\n> b\\nab\\n", 1)))
    [Step(command='echo a\\\\\\nb', expected=('ab',))]
    """
    if block.language == "sh":
        yield from (Step(command.rstrip("\n"), None) for command in commands(block.body))
        return
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        while lines and lines[0].startswith("> "):
            command += "\n" + lines.pop(0).removeprefix("> ")
        yield Step(command, tuple(lines))


def commands(body: str) -> list[str]:
    """Return the commands of a block without outputs.

    A line each, with what it goes on with and what it reads.

    >>> commands("cat > a <<'EOF'\\nx\\nEOF\\nls \\\\\\n  -l\\n\\npwd\\n")
    ["cat > a <<'EOF'\\nx\\nEOF\\n", 'ls \\\\\\n  -l\\n', 'pwd\\n']
    """
    return [found[0] for found in COMMAND.finditer(body) if found[0].strip()]


@dataclass
class Names:
    """Which real id stands behind each id that a page shows."""

    real: dict[str, str] = field(default_factory=dict)

    def put_in(self, command: str) -> str:
        """Return a command with the real ids."""
        return ID.sub(lambda shown: self.real.get(shown[0], shown[0]), command)

    def matches(self, expected: str, line: str) -> bool:
        """Return whether a line is as expected, and learn the ids in it.

        >>> names = Names()
        >>> names.matches("+ inserted 01m7hd6w61tcjd54qqvgrdz4ac", "+ inserted 01m7hd6x2wx4ap7q792qt1dyga")
        True
        >>> names.put_in("clew show 01m7hd6w61tcjd54qqvgrdz4ac"), names.matches("a … c", "a bc")
        ('clew show 01m7hd6x2wx4ap7q792qt1dyga', False)
        """
        shown = ID.findall(expected)
        pattern = re.escape(self.put_in(expected)).replace("…", ".*")
        for each in dict.fromkeys(shown):
            if each not in self.real:
                pattern = pattern.replace(each, f"({ID.pattern})", 1).replace(each, ID.pattern)
        found = re.fullmatch(pattern, line.rstrip())
        if found:
            self.real.update(
                zip(
                    (each for each in dict.fromkeys(shown) if each not in self.real),
                    found.groups(),
                    strict=True,
                )
            )
        return found is not None

    def same(self, expected: tuple[str, ...], lines: list[str]) -> str:
        """Return what differs between the lines of a page and those that came, or nothing."""
        came = [line for line in lines if not SLOW.fullmatch(line)]
        for at, line in enumerate(expected):
            if line.strip() == "…":
                following = expected[at + 1] if at + 1 < len(expected) else None
                while came and (following is None or not self.matches(following, came[0])):
                    came.pop(0)
            elif not came or not self.matches(line.rstrip(), came.pop(0)):
                return f"the page says {line!r}; it printed:\n" + "\n".join(lines)
        return (
            ""
            if not came
            else f"the page does not say {came[0]!r}; it printed:\n" + "\n".join(lines)
        )


class Shell:
    """One bash for one page, so that folders, variables and background jobs last from block to block."""

    END = "--- end of command:"
    # a command that takes longer hangs; less than the limit of pytest on a whole test
    PATIENCE_SECONDS = 1200

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # so that it can be ended with all that it started
        )

    def _end(self) -> None:
        os.killpg(self._bash.pid, signal.SIGKILL)

    def run(self, command: str) -> tuple[list[str], int]:
        """Run a command; return the lines that it printed and its exit code."""
        assert self._bash.stdin and self._bash.stdout
        self._bash.stdin.write(
            f"{{ {command}\n}} </dev/null\nprintf '\\n%s %s\\n' '{self.END}' $?\n"
        )
        self._bash.stdin.flush()
        lines: list[str] = []
        impatience = Timer(self.PATIENCE_SECONDS, self._end)
        impatience.start()
        try:
            for line in self._bash.stdout:
                if line.startswith(self.END):
                    return lines if lines[-1:] != [""] else lines[:-1], int(line.split()[-1])
                lines.append(line.rstrip("\n"))
        finally:
            impatience.cancel()
        raise AssertionError(f"the shell ended in: {command}\n" + "\n".join(lines))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the page's background jobs, then the shell."""
        assert self._bash.stdin and self._bash.stdout
        with contextlib.suppress(BrokenPipeError):
            self._bash.stdin.write('jobs="$(jobs -p)"; [ -z "$jobs" ] || kill $jobs; wait\nexit\n')
            self._bash.stdin.close()
        self._bash.stdout.read()
        self._bash.stdout.close()
        self._bash.wait()


def printed(block: Block, known: dict[str, Any], name: str) -> list[str]:
    """Run a block of Python in the page's names and return the lines that it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * block.line + block.body, name, "exec"), known)
    return out.getvalue().splitlines()


def run_page(page: str, name: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Run every block of a page in a folder, and compare what it prints with what the page says."""
    names, known = Names(), {"__name__": "page"}
    with Shell(folder, environment) as shell:
        for block in blocks(page):
            if block.not_run or block.language not in RUNS:
                continue
            try:
                difference = (
                    ran_python(block, known, names, name)
                    if block.language == "python"
                    else ran_shell(block, shell, names)
                )
            except Exception as error:
                raise AssertionError(f"{name}, line {block.line}: {error!r}") from error
            assert not difference, f"{name}, line {block.line}: {difference}"


def ran_python(block: Block, known: dict[str, Any], names: Names, name: str) -> str:
    """Run a block of Python; return what differs."""
    return names.same(tuple(PRINTED.findall(block.body)), printed(block, known, name))


def ran_shell(block: Block, shell: Shell, names: Names) -> str:
    """Run the commands of a block until one differs; return what differs."""
    for step in steps(block):
        lines, code = shell.run(names.put_in(step.command))
        if code:
            return f"{step.command} exited with {code}:\n" + "\n".join(lines)
        if step.expected is not None and (difference := names.same(step.expected, lines)):
            return f"{step.command}: {difference}"
    return ""
