"""`clew mcp --print-config`: snippets that can be pasted as they are."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from clew.surface.mcp.clients import CLIENTS
from tests.surface.conftest import Cli


def command_in(client: str, snippet: str) -> list[str]:
    """Read a snippet as its client would."""
    if client == "claude-code":
        words = shlex.split(snippet)
        return words[words.index("--") + 1 :]
    document: Any = tomllib.loads(snippet) if client == "codex" else json.loads(snippet)
    key = {"codex": "mcp_servers", "vscode": "servers"}.get(client, "mcpServers")
    entry = (document if client == "json" else document[key])["clew"]
    return [entry["command"], *entry["args"]]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_snippet_holds_the_command_and_the_store_of_this_machine(
    cli: Cli, client: str, tmp_path: Path
) -> None:
    store = tmp_path / "with a space" / 'and "quotes" ü.clew'
    options = ("--store", str(store), "--space", "team notes", "--read-only")
    snippet = cli("mcp", "--print-config", client, *options).stdout
    command = command_in(client, snippet)
    assert Path(command[0]).is_absolute()
    assert command[-6:] == ["mcp", *options]
    assert cli.json("mcp", "--print-config", client, *options)["snippet"] == snippet.rstrip("\n")


def test_the_command_of_a_snippet_runs(cli: Cli) -> None:
    command = command_in("cursor", cli("mcp", "--print-config", "cursor").stdout)
    assert command[-2:] == ["--store", str(cli.store)]
    done = subprocess.run([*command, "--help"], capture_output=True, check=True)
    assert b"Serve an agent over MCP" in done.stdout


def test_an_unknown_client_is_answered_with_the_known_ones(cli: Cli) -> None:
    assert "claude-code" in cli("mcp", "--print-config", "emacs", code=2).output


def test_without_the_sdk_it_says_how_to_get_it(cli: Cli) -> None:
    program = (
        "import importlib.util, sys\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'mcp' else find(name, *rest)\n"
        "sys.argv = ['clew', 'mcp']\nfrom clew.surface.cli import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=b"", capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"pip install 'clew[mcp]'" in done.stderr
