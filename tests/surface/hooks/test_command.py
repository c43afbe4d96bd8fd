"""`clew hooks`: the agent's settings, the plug-in folder, and the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import clew
from clew.surface.hooks.handler import Handler
from clew.surface.hooks.log import HookLog, log_path
from tests.surface.conftest import Cli
from tests.surface.hooks.recorded import Transcript

OTHERS = {
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}],
    },
}


def test_install_keeps_what_others_have_and_uninstall_leaves_it_as_it_was(
    cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps(OTHERS), encoding="utf-8")
    file.chmod(0o600)
    told = cli.json("hooks", "install", "claude-code")
    assert told["file"] == str(file)
    settings = json.loads(file.read_text(encoding="utf-8"))
    assert settings["model"] == "opus"
    assert settings["hooks"]["Stop"][0] == OTHERS["hooks"]["Stop"][0]  # type: ignore[index]
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    assert command.endswith(f" hooks run claude-code --store {cli.store}")
    assert Path(command.split()[0]).is_absolute()
    assert set(told["events"]) == {
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SessionEnd",
    }
    assert file.stat().st_mode & 0o777 == 0o600
    cli("hooks", "install")
    assert json.loads(file.read_text(encoding="utf-8")) == settings  # again changes nothing
    assert cli.json("hooks", "uninstall")["removed"]
    assert json.loads(file.read_text(encoding="utf-8")) == OTHERS
    assert not cli.json("hooks", "uninstall", code=1)["removed"]


def test_a_project_has_settings_of_its_own(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for scope, name in (("project", "settings.json"), ("local", "settings.local.json")):
        assert cli.json("hooks", "install", "--scope", scope)["file"] == str(
            tmp_path / ".claude" / name
        )
    cli("hooks", "install", "--scope", "local", "--space", "shop")
    assert "--space shop" in (tmp_path / ".claude" / "settings.local.json").read_text(
        encoding="utf-8"
    )


def test_a_dry_run_prints_the_settings_and_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    assert "UserPromptSubmit" in json.loads(cli("hooks", "install", "--dry-run").stdout)["hooks"]
    assert cli.json("hooks", "install", "--dry-run")["file"] == str(
        tmp_path / ".claude" / "settings.json"
    )
    assert not (tmp_path / ".claude").exists()


@pytest.mark.parametrize("content", ["{ // a comment\n}", "[]", '{"hooks": []}'])
def test_settings_that_cannot_be_read_are_left_alone(
    content: str, cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(content, encoding="utf-8")
    assert "clew hooks print" in cli("hooks", "install", code=2).output
    assert file.read_text(encoding="utf-8") == content


def test_a_plugin_folder_has_a_manifest_and_the_same_hooks(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    cli("hooks", "print", "claude-code", "--plugin", str(folder))
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert manifest["name"] == "clew"
    assert manifest["version"] == clew.__version__
    assert len((folder / "README.md").read_text(encoding="utf-8").split()) > 40
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert hooks == cli.json("hooks", "print")["hooks"]


def test_the_log_shows_what_was_injected_and_captured_and_why(cli: Cli, tmp_path: Path) -> None:
    with clew.open(cli.store) as memory:
        handler = Handler(memory, HookLog(log_path(cli.store)), agent="claude-code")
        known = memory.remember(
            "Use pnpm in the web folder, because npm breaks the lock file.", category="preference"
        ).id
        transcript = Transcript(tmp_path / "session.jsonl")
        handler.handle(
            transcript.event("UserPromptSubmit", prompt="which of pnpm and npm for the web folder?")
        ).delivered()
        transcript.user("Remember that the staging cluster is rebuilt every Sunday night.")
        handler.handle(transcript.event("Stop")).afterwards()
    prompt, stop = cli.json("hooks", "log")["entries"]
    assert prompt["injected"][0]["id"] == known
    assert prompt["injected"][0]["text"].startswith("Use pnpm")
    assert stop["captured"][0]["rule"] == "remember"
    shown = cli("hooks", "log", "-n", "1").stdout
    assert "remember · Remember that the staging cluster" in shown
    assert "pnpm" not in shown
    cli("forget", str(known), "--yes")
    assert cli.json("hooks", "log")["entries"][0]["injected"][0]["text"] is None
    assert "(forgotten)" in cli("hooks", "log").stdout
    assert cli.json("hooks", "log", "--session", "nobody", code=1)["entries"] == []


def test_stopping_nothing_says_so(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert not cli.json("hooks", "stop", code=1)["stopped"]
