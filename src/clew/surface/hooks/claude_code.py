"""Claude Code's hooks: the entries in its settings files, and a plug-in folder with the same hooks."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clew import __version__
from clew.errors import InputError
from clew.files import read_file
from clew.parsing import parse_json

AGENT = "claude-code"
MARK = f"hooks run {AGENT}"  # in every command of ours, and in no other
TIMEOUT_SECONDS = 10
SCOPES = ("user", "project", "local")
MOST_BYTES = 4_000_000
MATCHERS: Mapping[str, str | None] = {
    "SessionStart": None,
    "UserPromptSubmit": None,
    "PostToolUse": "Bash",
    "PostToolUseFailure": "*",
    "Stop": None,
    "SessionEnd": None,
}
DESCRIPTION = "Memory by Clew: relevant memories reach the agent with each prompt, and what a session decides and learns is kept."

README = """\
# Clew for Claude Code

Clew remembers across sessions. With each prompt this plug-in gives Claude the memories that matter to it, marked as data; from the
transcript it keeps decisions, corrections, preferences, fixes and failures. Everything stays in one file on your machine, and nothing is
sent anywhere. `clew hooks log` shows what was injected and kept, and why. It needs Clew itself, at the place that hooks/hooks.json names.
"""


def hooks(command: Sequence[str]) -> dict[str, Any]:
    """Return the hooks that run a command, as settings files and plug-ins have them."""
    entry = {"type": "command", "command": shlex.join(command), "timeout": TIMEOUT_SECONDS}
    return {
        event: [{**({} if matcher is None else {"matcher": matcher}), "hooks": [entry]}]
        for event, matcher in MATCHERS.items()
    }


def settings_file(scope: str, *, folder: Path) -> Path:
    """Return the settings file of a scope.

    The user's, the project's, or the project's that is not committed.
    """
    if scope == "user":
        own = os.environ.get("CLAUDE_CONFIG_DIR")
        return (Path(own) if own else Path.home() / ".claude") / "settings.json"
    return folder / ".claude" / ("settings.json" if scope == "project" else "settings.local.json")


def installed(settings: Mapping[str, Any], command: Sequence[str]) -> dict[str, Any]:
    """Return settings with our hooks added, or put in the place of earlier ones of ours."""
    kept = removed(settings)
    merged = dict(kept.get("hooks", {}))
    for event, groups in hooks(command).items():
        merged[event] = [*merged.get(event, []), *groups]
    return {**kept, "hooks": merged}


def removed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without our hooks; those of others stay as they are."""
    left: dict[str, Any] = {}
    for event, groups in dict(settings.get("hooks", {})).items():
        others = (
            [each for each in (_without_ours(group) for group in groups) if each is not None]
            if isinstance(groups, list)
            else groups
        )
        if others:
            left[event] = others
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    return {**rest, "hooks": left} if left else rest


def _without_ours(group: Any) -> Any:
    entries = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(entries, list):
        return group
    others = [
        each
        for each in entries
        if not (isinstance(each, dict) and MARK in str(each.get("command", "")))
    ]
    if len(others) == len(entries):
        return group
    return {**group, "hooks": others} if others else None


def read_settings(file: Path) -> dict[str, Any]:
    """Return what a settings file says.

    A missing one says nothing, and one that cannot be read is not overwritten.
    """
    try:
        found = parse_json(read_file(file, limit_bytes=MOST_BYTES))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise InputError(
            "settings",
            str(file),
            "is not JSON",
            "Mend the file, or add the hooks by hand: clew hooks print claude-code",
        ) from error
    if not isinstance(found, dict) or not isinstance(found.get("hooks", {}), dict):
        raise InputError(
            "settings",
            str(file),
            "does not hold settings",
            "Mend the file, or add the hooks by hand: clew hooks print claude-code",
        )
    return found


def write_settings(file: Path, settings: Mapping[str, Any]) -> None:
    """Write a settings file whole or not at all, with the mode that it had."""
    target = file.resolve()  # a link to a file elsewhere stays a link
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.clew")
    fresh.write_text(as_json(settings), encoding="utf-8")
    if target.exists():
        fresh.chmod(target.stat().st_mode & 0o777)
    fresh.replace(target)


def write_plugin(folder: Path, command: Sequence[str]) -> list[Path]:
    """Write a plug-in with our hooks into a folder, and return its files."""
    files: dict[Path, dict[str, Any]] = {
        folder / ".claude-plugin" / "plugin.json": {
            "name": "clew",
            "version": __version__,
            "description": DESCRIPTION,
            "author": {"name": "Clew"},
            "license": "Apache-2.0",
        },
        folder / "hooks" / "hooks.json": {"description": DESCRIPTION, "hooks": hooks(command)},
    }
    texts = {file: as_json(content) for file, content in files.items()} | {
        folder / "README.md": README
    }
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return list(texts)


def as_json(content: Mapping[str, Any]) -> str:
    """Return JSON as people edit it."""
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
