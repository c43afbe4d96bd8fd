"""What only a process shows: what it imports, pipes, encodings, terminals, completion."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from tests.fork_server import ForkedPython
from tests.surface.conftest import TEXTS, Cli, Process

HEAVY = ("numpy", "rich", "onnxruntime", "yaml", "clew.engine", "clew.models", "clew.store")


def imported_by(*arguments: str) -> set[str]:
    program = (
        "import sys\nsys.argv = ['clew', *sys.argv[1:]]\nfrom clew.surface.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint('MODULES', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stderr.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("recall", "--help"), ("completion", "bash"), ("nonsense",)],
)
def test_what_needs_no_store_loads_nothing_heavy(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert imported_by(*arguments) & set(HEAVY) == set()


def test_a_recall_for_a_program_draws_nothing(filled: Cli) -> None:
    modules = imported_by("recall", "staging port", "--json")
    assert "clew.engine" in modules
    assert modules & {"rich", "yaml", "onnxruntime", "clew.surface.cli.commands.demo"} == set()


def test_exit_codes_reach_the_shell(process: Process) -> None:
    assert process("add", TEXTS[0]).returncode == 0
    assert process("add", "ok").returncode == 1
    assert process("show", "01nobody").returncode == 1
    assert process("recall", "staging", "--weights", "semantic=nan").returncode == 2
    assert process("recall", "staging", "--store", os.devnull + "/x").returncode == 3


def test_commands_can_be_piped_together(process: Process) -> None:
    added = process("add", "-", stdin="\n".join(TEXTS).encode())
    assert added.stdout.count(b"inserted") == 3
    exported = process("export")
    loaded = process(
        "load", "-", "--store", os.environ["CLEW_STORE"] + "2", "--json", stdin=exported.stdout
    )
    assert json.loads(loaded.stdout)["nodes"] == 3


def test_a_reader_that_leaves_early_is_no_error(process: Process) -> None:
    process(
        "add",
        "-",
        stdin="\n".join(
            f"Memory number {number} is about boats and berths" for number in range(300)
        ).encode(),
    )
    command = f"{sys.executable} -m clew export | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert json.loads(done.stdout)["format"] == "clew-export"
    assert done.stderr == b""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_output_that_is_not_utf_8_loses_nothing(process: Process, encoding: str) -> None:
    text = "Müller trinkt 茶 und zahlt in € – immer"
    process("add", text)
    done = process("list", "--json", PYTHONIOENCODING=encoding)
    assert done.returncode == 0
    assert json.loads(done.stdout.decode(encoding))["memories"][0]["text"] == text
    people = process("recall", "Müller", "--explain", PYTHONIOENCODING=encoding)
    assert people.returncode == 0
    assert b"zahlt" in people.stdout


def test_no_colour_in_a_pipe_and_colour_when_forced(process: Process) -> None:
    process("add", TEXTS[0])
    assert b"\x1b" not in process("recall", "staging").stdout
    assert b"\x1b" in process("recall", "staging", FORCE_COLOR="1").stdout


def in_terminal(*arguments: str, answer: bytes = b"", **environment: str) -> tuple[int, bytes]:
    """Run on a terminal of its own and return the exit code and what it showed."""
    leader, follower = pty.openpty()
    child = ForkedPython(
        ["-m", "clew", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(follower)
    os.write(leader, answer)
    shown = b""
    try:
        while chunk := os.read(leader, 4096):
            shown += chunk
    except OSError:  # Linux: the other end is closed
        pass
    os.close(leader)
    return child.wait(), shown


def test_a_terminal_gets_colours_unless_it_wants_none(filled: Cli) -> None:
    assert b"\x1b[" in in_terminal("recall", "staging")[1]
    code, shown = in_terminal("recall", "staging", NO_COLOR="1", CLEW_MODEL__EMBEDDER="none")
    assert code == 0
    assert b"\x1b[3" not in shown
    assert b"note: Recall is by words alone" in shown


def test_forget_asks_a_person(filled: Cli) -> None:
    id = filled.json("list", "--limit", "1")["memories"][0]["id"]
    code, shown = in_terminal("forget", id, answer=b"n\n")
    assert (code, b"Nothing was forgotten." in shown) == (1, True)
    code, shown = in_terminal("forget", id, answer=b"y\n")
    assert (code, b"Forgot 1 memory." in shown) == (0, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(process: Process, shell: str) -> None:
    done = process("completion", shell)
    assert b"_CLEW_COMPLETE" in done.stdout
    assert done.stderr == b""


def test_completion_completes_commands_and_values(process: Process) -> None:
    found = process(_CLEW_COMPLETE="bash_complete", COMP_WORDS="clew rec", COMP_CWORD="1").stdout
    assert b"recall" in found
    found = process(
        _CLEW_COMPLETE="bash_complete", COMP_WORDS="clew list --sort p", COMP_CWORD="3"
    ).stdout
    assert b"popular" in found
