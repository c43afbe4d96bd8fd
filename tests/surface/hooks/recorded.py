"""Transcripts in the format in which Claude Code records its sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "5e0a6c1e-7a52-4c0f-9f43-2f1d2b7f8a10"
CWD = "/home/dana/shop"


class Transcript:
    """A session's JSON lines, written entry by entry."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = 0
        path.write_text("", encoding="utf-8")
        self._write({"type": "summary", "summary": "Shop backend", "leafUuid": "0"})

    def user(self, content: str | list[dict[str, Any]], **flags: Any) -> None:
        self._entry("user", {"role": "user", "content": content}, **flags)

    def assistant(self, *texts: str, **flags: Any) -> None:
        self._message([{"type": "text", "text": text} for text in texts], **flags)

    def thinking(self, text: str) -> None:
        self._message([{"type": "thinking", "thinking": text, "signature": "c2ln"}])

    def run(self, command: str, result: str, *, failed: bool = False) -> None:
        call = f"toolu_{self._number:04}"
        self._message(
            [
                {
                    "type": "tool_use",
                    "id": call,
                    "name": "Bash",
                    "input": {"command": command, "description": "Run"},
                }
            ]
        )
        answer = {"tool_use_id": call, "type": "tool_result", "content": result, "is_error": failed}
        self.user([answer], toolUseResult={"stdout": result, "stderr": "", "interrupted": False})

    def attachment(self, content: str) -> None:
        """Write what a hook injected, as the agent records it."""
        told = {
            "type": "hook_additional_context",
            "content": [content],
            "hookName": "UserPromptSubmit",
            "hookEvent": "UserPromptSubmit",
        }
        self._write(
            {
                "parentUuid": f"u{self._number}",
                "isSidechain": False,
                "attachment": told,
                "type": "attachment",
                "uuid": "a1",
            }
        )

    def raw(self, line: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)

    def event(self, name: str, **more: Any) -> dict[str, Any]:
        known = {
            "session_id": SESSION,
            "transcript_path": str(self.path),
            "cwd": CWD,
            "permission_mode": "default",
        }
        return {**known, "hook_event_name": name, **more}

    def _message(self, content: list[dict[str, Any]], **flags: Any) -> None:
        usage = {"input_tokens": 4, "output_tokens": 21, "service_tier": "standard"}
        message = {
            "id": f"msg_{self._number:04}",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": content,
        }
        self._entry(
            "assistant",
            {**message, "stop_reason": None, "usage": usage},
            requestId="req_1",
            **flags,
        )

    def _entry(self, kind: str, message: dict[str, Any], **flags: Any) -> None:
        self._number += 1
        known = {
            "parentUuid": f"u{self._number - 1}",
            "isSidechain": False,
            "userType": "external",
            "cwd": CWD,
            "sessionId": SESSION,
        }
        of = {
            "version": "2.1.0",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": f"u{self._number}",
        }
        self._write(
            {**known, **of, "timestamp": f"2026-03-04T10:{self._number % 60:02}:00.000Z", **flags}
        )

    def _write(self, record: dict[str, Any]) -> None:
        self.raw(json.dumps(record) + "\n")
