"""No message repeats more than 200 characters of what it complains about.

Every argument, each with 10,000 characters.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

import clew
from clew.engine.clew import FIELDS
from clew.engine.opening import restore_backup
from clew.errors import ClewError
from clew.settings import load as load_settings
from clew.settings.sections import declared
from clew.surface.cli.app import app
from tests.conftest import Open
from tests.evaluate.sample import beir_folder
from tests.long_values import DIGIT, KEY, LONG, NUMBER, UNKNOWN, check_echo
from tests.surface.conftest import Cli

# --- Python ---

VALUES: tuple[Any, ...] = (
    LONG,
    f"2026-01-01{LONG}",
    int(DIGIT * 4000),
    [LONG],
    [f"{LONG} {each}" for each in range(50)],
    {KEY: LONG},
    {"text": LONG, KEY: LONG},
    {"space": LONG},
    {"metadata": {KEY: [LONG]}},
    {"category": [LONG]},
    LONG.encode(),
)
# methods that do more with a store that has a file
OF_FILES = frozenset({"backup", "forget", "search_files", "verify"})
# values that only a program makes
NOT_TEXT = frozenset({"self", "answer", "progress", "on_damage", "embedder"})
ASKED = (
    "k",
    "recipe",
    "preset",
    "weights",
    "where",
    "as_of",
    "known_at",
    "min_similarity",
    "budget_tokens",
    "seed",
)
IMPORTED = (
    "format",
    "space",
    "category",
    "importance",
    "tags",
    "metadata",
    "exclude",
    "include_hidden",
    "force",
)
KEYWORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("remember", "remember_many", "supersede", "update"), FIELDS),
    **dict.fromkeys(("import_path", "import_data"), IMPORTED),
    **dict.fromkeys(("why", "why_not"), ASKED),
    "variant": ("recall", "memory", "store.path"),
}


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return [
        each
        for each in inspect.signature(function).parameters.values()
        if each.kind is not each.VAR_KEYWORD
    ]


def python_arguments() -> dict[str, list[str]]:
    """Return every public method of a Clew with the arguments that it takes."""
    found = {}
    for name, method in inspect.getmembers(clew.Clew, inspect.isfunction):
        # which is for what `recall` has checked
        if not name.startswith("_") and name != "embedded_query":
            known = (*(each.name for each in parameters_of(method)), *KEYWORDS.get(name, ()))
            found[name] = [argument for argument in known if argument not in NOT_TEXT]
    return {name: arguments for name, arguments in found.items() if arguments}


def usual(memory: clew.Clew, folder: Path) -> dict[str, Any]:
    """Return a value for every argument that has to be given."""
    ids = [node.id for node in memory.recent()]
    return {
        "id": ids[0],
        "key": "a key",
        "source": ids[0],
        "target": ids[1],
        "text": "A sentence that is fine by itself",
        "query": "which port",
        "memories": ["Another sentence that is fine"],
        "messages": [{"text": "A message that is fine by itself", "speaker": "Ann"}],
        "data": "A text to import",
        "name": "lexical",
        "trace": memory.trace(memory.recall("which port")),
        "lines": list(memory.export()),
        "path": folder / "backup.clew",
        "folder": folder / "notes",
        "paths": folder / "nothing.md",
    }


def call(method: Callable[..., Any], argument: str, value: Any, given: Mapping[str, Any]) -> Any:
    needed = [each.name for each in parameters_of(method) if each.default is each.empty]
    arguments = {name: given[name] for name in needed if name not in NOT_TEXT} | {argument: value}
    spread = arguments.pop("paths", None)
    done = method(*(() if spread is None else (spread,)), **arguments)
    return list(done) if isinstance(done, Iterator) else done


def attempted(what: object, act: Callable[[], Any]) -> None:
    """Do something that may be refused, and look at what is said of it."""
    try:
        done = act()
    except ClewError as error:
        check_echo(json.dumps(error.as_dict()), what)
    else:
        check_echo("".join(getattr(done, "notes", ())), what)


@pytest.mark.parametrize(("name", "arguments"), python_arguments().items())
def test_no_error_of_python_repeats_a_long_argument(
    open_clew: Open, tmp_path: Path, name: str, arguments: list[str]
) -> None:
    for argument in arguments:
        memory = open_clew(tmp_path / f"{argument}.clew" if name in OF_FILES else ":memory:")
        memory.remember_many(
            [
                "The staging database listens on port 5433",
                "Dana wants summaries as three bullet points",
            ]
        )
        given = usual(memory, tmp_path)
        for value in VALUES:
            attempted(
                (name, argument, value),
                partial(call, getattr(memory, name), argument, value, given),
            )


@pytest.mark.parametrize("name", ["remember", "update", "supersede", "import_data", "variant"])
def test_no_error_repeats_a_long_name_of_an_argument(
    open_clew: Open, tmp_path: Path, name: str
) -> None:
    memory = open_clew()
    memory.remember_many(
        ["The staging database listens on port 5433", "Dana wants summaries as three bullet points"]
    )
    given = usual(memory, tmp_path)
    try:
        call(getattr(memory, name), UNKNOWN, 1, given)
    except ClewError as error:
        check_echo(json.dumps(error.as_dict()), name)
    except TypeError:
        pass  # Python's own, which the caller alone sees
    attempted(
        "remember_many",
        lambda: memory.remember_many([{"text": "A sentence that is fine", KEY: LONG}]),
    )


@pytest.mark.parametrize(
    "value", [LONG, f"~{LONG}/x", f"/{LONG}/x", "/x" * 5000, "a\0" + LONG, f"https://{LONG}"]
)
def test_no_error_of_opening_and_restoring_repeats_a_long_path(home: Path, value: str) -> None:
    attempted("path", partial(clew.open, value))
    attempted("config", partial(clew.open, ":memory:", config=value))
    for backup, path in ((value, home / "x.clew"), (home / "x.clew", value)):
        attempted("restore", partial(restore_backup, backup, path))


def test_no_error_repeats_a_long_setting() -> None:
    values = (LONG, NUMBER, [LONG], {KEY: LONG}, f"[{LONG}]", f"{{{KEY}: {LONG}}}", "[" * 500)
    for key, _, _ in declared():
        variable = f"CLEW_{key.replace('.', '__')}".upper()
        for value in values:
            attempted((key, value), partial(load_settings, environ={}, overrides={key: value}))
            if isinstance(value, str):
                attempted((key, value), partial(load_settings, environ={variable: value}))


def test_no_error_repeats_a_long_name_of_a_setting() -> None:
    for key in (KEY, f"recall.{KEY}", f"{KEY}.k"):
        attempted(key, partial(load_settings, environ={}, overrides={key: LONG}))
        attempted(key, partial(load_settings, environ={f"CLEW_{key.replace('.', '__')}": LONG}))


@pytest.mark.parametrize("suffix", [".yaml", ".toml"])
@pytest.mark.parametrize(
    "content",
    [
        LONG,
        f"{KEY}: {LONG}\n",
        f"recall:\n  {KEY}: {LONG}\n",
        f"recall:\n  k: {LONG}\n",
        f"recall: [{LONG}",
        f'{{"{KEY}": "{LONG}"',
        f"!{KEY} {LONG}",
        f"*{KEY}",
        f'"{KEY}" = "{LONG}"\n"{KEY}" = 1\n',
        f"[recall]\nk = '{LONG}'\n",
        f"[recall]\nk = {NUMBER}\n",
        f"['{KEY}']\n['{KEY}']\n",
        f"x = {LONG}",
    ],
)
def test_no_error_repeats_a_long_line_of_a_settings_file(
    home: Path, suffix: str, content: str
) -> None:
    file = home / f"config{suffix}"
    file.write_text(content, encoding="utf-8")
    attempted(content, partial(load_settings, file, environ={}))


# --- the command line ---

RUNNING = {("serve",), ("demo",), ("mcp",)}  # these would run
SHARED = frozenset({"store", "config", "as_json"})  # by all commands: looked at in one
OF_RUNS = ("run", "ablate", "compare")


def commands(
    command: click.Command = app, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with the words that call it."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        if (found := command.get_command(context, name)) is not None:
            yield from commands(found, (*path, name))


COMMANDS = {path: command for path, command in commands() if path not in RUNNING}
OF_A_RUN = {str(each.name) for each in COMMANDS["eval", "run"].params}


def looked_at(path: tuple[str, ...]) -> list[str]:
    """Return the arguments of a command that no command before it has in common with it."""
    values = [
        str(each.name) for each in COMMANDS[path].params if not getattr(each, "is_flag", False)
    ]
    known = (
        set()
        if path == ("list",)
        else SHARED | (OF_A_RUN if path[0] == "eval" and path[1] != "run" else set())
    )
    return [name for name in values if name not in known]


NEEDED: Mapping[str, str] = {
    "text": "A sentence that is fine by itself",
    "query": "which port",
    "shell": "bash",
    "dataset": "beir",
    "name": "nothing",
    "files": "nothing.onnx",
}


def arguments(
    command: click.Command, changed: str, value: str, needed: Mapping[str, str]
) -> list[str]:
    """Return the words behind a command.

    One argument changed, those that are needed as they should be.
    """
    options: list[str] = []
    positional: list[str] = []
    for each in command.params:
        said = (
            value if each.name == changed else needed.get(str(each.name)) if each.required else None
        )
        if said is not None and isinstance(each, click.Option):
            options += [each.opts[-1], said]
        elif said is not None:
            positional.append(said)
    return [*options, "--", *positional]


@pytest.mark.parametrize("path", [path for path in COMMANDS if looked_at(path)], ids="-".join)
def test_no_message_of_a_command_repeats_a_long_argument(
    cli: Cli, tmp_path: Path, path: tuple[str, ...]
) -> None:
    id = cli.add("The staging database listens on port 5433")
    files = {
        "trace": tmp_path / "trace.json",
        "backup": tmp_path / "backup.clew",
        "paths": tmp_path / "nothing.md",
        "folder": tmp_path,
    }
    cli("recall", "which port", "--save-trace", str(files["trace"]))
    needed = {
        **NEEDED,
        "id": id,
        "path": str(beir_folder(tmp_path)),
        **{name: str(file) for name, file in files.items()},
    }
    short = (
        ["--limit", "1", "--resamples", "10"]
        if path[-1] in OF_RUNS
        else ["--dry-run"]
        if path == ("forget",)
        else []
    )
    for name in looked_at(path):
        for value in (LONG, NUMBER, f"{KEY}={LONG}"):
            person = cli(
                *path, *short, *arguments(COMMANDS[path], name, value, needed), code=None, stdin=""
            )
            check_echo(
                person.stderr if person.exit_code == 0 else person.output,
                (path, name, value[:20], person.exit_code),
            )
            assert "This is a bug" not in person.output, (name, value[:20], person.output[-500:])
        program = cli(
            *path,
            "--json",
            *short,
            *arguments(COMMANDS[path], name, LONG, needed),
            code=None,
            stdin="",
        )
        if '"error"' in program.stdout:
            check_echo(program.stdout, (path, name))


@pytest.mark.parametrize(
    "words",
    [
        [LONG],
        ["list", f"--{LONG}"],
        ["list", f"-{LONG}"],
        ["list", *LONG],
        ["list", "--sort", LONG],
        [f"--{KEY}={LONG}"],
    ],
)
def test_no_message_repeats_long_usage(cli: Cli, words: list[str]) -> None:
    check_echo(cli(*words, code=2).output, words)
    check_echo(cli(*words, "--json", code=2).output, words)


@pytest.mark.parametrize(
    "line",
    [
        LONG,
        json.dumps({"text": LONG}),
        json.dumps({KEY: LONG}),
        json.dumps({"text": "A sentence that is fine", KEY: LONG}),
        *(
            json.dumps({"text": "A sentence that is fine", name: LONG})
            for name in (*FIELDS, "tag", "key")
        ),
        *(
            json.dumps({"text": "A sentence that is fine", name: {KEY: LONG}})
            for name in (*FIELDS, "tag", "key")
        ),
    ],
)
def test_no_message_repeats_a_long_line_of_stdin(cli: Cli, line: str) -> None:
    for given in (("add", "-", "--jsonl"), ("load", "-"), ("replay", "-")):
        person = cli(*given, stdin=line, code=None)
        check_echo(person.output, (given, line))
        assert "This is a bug" not in person.output
