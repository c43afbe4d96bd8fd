"""What each hook event leads to: memories for the agent to see, and memories of what was said."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from threading import Lock
from typing import TYPE_CHECKING, Any

from clew.errors import ClewError
from clew.memories.firewall.screening import scrub
from clew.memories.firewall.trust import assess_trust
from clew.surface.hooks.block import block
from clew.surface.hooks.capture import Found, Reader
from clew.surface.hooks.log import HookLog, SessionState
from clew.surface.hooks.transcript import read_new, spoken
from clew.times import iso

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.types import Node

START, PROMPT, FAILURE = "SessionStart", "UserPromptSubmit", "PostToolUseFailure"
CAPTURING = frozenset({"PostToolUse", "Stop", "SessionEnd"})
# sources of a session start after which nothing injected is seen any more
FORGOTTEN_CONTEXT = frozenset({"compact", "clear"})
SHORTEST_PROMPT = 8  # characters
LONGEST_QUERY = 1000  # characters from the beginning, and as many from the end
CANDIDATES = 12
MOST_PER_EVENT, MOST_PER_SESSION = 8, 100  # captured memories
STANDING = ("preference", "procedure", "decision", "feedback")


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to an event, and what is left to do once the agent has it."""

    output: Mapping[str, Any] | None = None
    delivered: Callable[[], None] = lambda: None
    """Writes down what was injected; called when the agent has the answer."""
    afterwards: Callable[[], None] = lambda: None
    """Captures; nobody waits for it."""


@dataclass
class _Session:
    state: SessionState = field(default_factory=SessionState)
    reader: Reader = field(default_factory=Reader)
    lock: Lock = field(default_factory=Lock)


class Handler:
    """Answers the hook events of all sessions on one store."""

    def __init__(self, clew: Clew, log: HookLog, *, agent: str, space: str | None = None) -> None:
        self._clew = clew
        self._options = clew.settings.hooks
        self._log = log
        self._agent = agent
        self._space = space
        self._lock = Lock()
        self._sessions = {name: _Session(state) for name, state in log.sessions().items()}

    def handle(self, event: Mapping[str, Any]) -> Reply:
        """Return the reply to an event; an event that is none of ours gets an empty one."""
        name = event.get("hook_event_name")
        if name == START:
            return self._started(event)
        if name == PROMPT:
            return self._asked(event, PROMPT, event.get("prompt"))
        if name == FAILURE:
            return self._asked(event, FAILURE, _failure(event))
        if name in CAPTURING:
            return Reply(afterwards=lambda: self._captured(event))
        return Reply()

    def _session(self, event: Mapping[str, Any]) -> _Session:
        with self._lock:
            return self._sessions.setdefault(str(event.get("session_id", "")), _Session())

    # --- inject ---

    def _started(self, event: Mapping[str, Any]) -> Reply:
        session = self._session(event)
        reset = event.get("source") in FORGOTTEN_CONTEXT
        if reset:
            session.state.seen.clear()
        began = time.perf_counter()
        where = {"category": list(STANDING), **({"space": self._space} if self._space else {})}
        nodes = self._clew.important(self._options.most, where=where)
        told = [(node, None) for node in nodes]
        return self._reply(event, START, told, session, began, reason="important", reset=reset)

    def _asked(self, event: Mapping[str, Any], name: str, said: Any) -> Reply:
        session = self._session(event)
        query = _query(said)
        afterwards = (lambda: self._captured(event)) if name == PROMPT else (lambda: None)
        if len(query) < SHORTEST_PROMPT or query.startswith("/"):
            return Reply(afterwards=afterwards)
        began = time.perf_counter()
        answer = self._clew.recall(
            query, k=CANDIDATES, where={"space": self._space} if self._space else None, track=False
        )
        if answer.nothing_relevant:
            best = max((hit.confidence or 0.0 for hit in answer.hits), default=0.0)
            self._log.write(
                self._record(
                    event, name, began, reason="nothing_relevant", confidence=round(best, 3)
                )
            )
            return Reply(afterwards=afterwards)
        told = [(hit.node, hit.confidence) for hit in answer.hits if hit.node is not None]
        return replace(
            self._reply(event, name, told, session, began, reason="relevant"), afterwards=afterwards
        )

    def _reply(
        self,
        event: Mapping[str, Any],
        name: str,
        told: Sequence[tuple[Node, float | None]],
        session: _Session,
        began: float,
        *,
        reason: str,
        reset: bool = False,
    ) -> Reply:
        chosen: list[tuple[Node, float | None]] = []
        skipped: list[dict[str, str]] = []
        for node, confidence in told:
            why_not = self._why_not(node, confidence, session.state.seen)
            if why_not:
                skipped.append({"id": node.id, "reason": why_not})
            elif len(chosen) < self._options.most:
                chosen.append((node, confidence))
        text, count = block([node for node, _ in chosen], budget_tokens=self._options.budget_tokens)
        skipped += [{"id": node.id, "reason": "budget"} for node, _ in chosen[count:]]
        injected = [
            {"id": node.id, "confidence": None if sure is None else round(sure, 3)}
            for node, sure in chosen[:count]
        ]
        record = self._record(
            event,
            name,
            began,
            reason=reason if injected else "none_left" if told else f"nothing_{reason}",
            injected=injected,
            skipped=skipped,
            reset=reset,
        )

        def delivered() -> None:
            session.state.seen.update(node.id for node, _ in chosen[:count])
            self._log.write(record)

        output = (
            {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
            if text
            else None
        )
        return Reply(output, delivered)

    def _why_not(self, node: Node, confidence: float | None, seen: set[str]) -> str:
        """Return why a memory is not injected, or nothing."""
        if node.id in seen:
            return "seen"
        if confidence is not None and confidence < self._options.min_confidence:
            return "confidence"
        return "trust" if assess_trust(node).level != "normal" else ""

    # --- capture ---

    def _captured(self, event: Mapping[str, Any]) -> None:
        """Read what is new in the transcript and offer what the rules find in it."""
        path = event.get("transcript_path")
        if not self._options.capture or not isinstance(path, str) or not path:
            return
        session = self._session(event)
        with session.lock:
            began = time.perf_counter()
            try:
                entries, offset = read_new(path, session.state.offset)
            except OSError as error:
                # the first prompt comes before the transcript
                if event.get("hook_event_name") != PROMPT:
                    self._log.write(
                        self._record(
                            event, "capture", began, reason=f"transcript: {error.strerror}"
                        )
                    )
                return
            if offset == session.state.offset:
                return
            captured, refused = self._offered(
                list(session.reader.read(entries)), event, session.state
            )
            session.state.offset = offset
            session.state.captured += len(captured)
            self._log.write(
                self._record(
                    event, "capture", began, captured=captured, refused=refused, offset=offset
                )
            )

    def _offered(
        self, found: Sequence[Found], event: Mapping[str, Any], state: SessionState
    ) -> tuple[list[Any], list[Any]]:
        captured: list[dict[str, Any]] = []
        refused: list[dict[str, Any]] = []
        room = min(MOST_PER_EVENT, MOST_PER_SESSION - state.captured)
        for each in found:
            told = {"rule": each.rule.name, "entry": each.entry}
            if len(captured) >= room:
                refused.append({**told, "reason": "too_many"})
            elif scrub(each.text) != each.text:
                refused.append({**told, "reason": "secret"})
            else:
                self._offer(each, event, told, captured, refused)
        return captured, refused

    def _offer(
        self,
        found: Found,
        event: Mapping[str, Any],
        told: dict[str, Any],
        captured: list[Any],
        refused: list[Any],
    ) -> None:
        session = str(event.get("session_id", ""))
        metadata = {
            "agent": self._agent,
            "session": session[:100],
            "project": PurePath(str(event.get("cwd") or "")).name[:100],
        }
        try:
            done = self._clew.remember(
                found.text,
                category=found.rule.category,
                trigger=found.rule.trigger,
                importance=found.rule.importance,
                metadata={name: value for name, value in metadata.items() if value},
                source=f"{self._agent}:{found.entry}"[:200],
                space=self._space,
                idempotency_key=f"{self._agent}:{session}:{found.entry}:{found.rule.name}:{len(found.text)}"[
                    :200
                ],
            )
        except ClewError as error:  # such as a category that the settings do not have
            refused.append({**told, "reason": error.code})
            return
        if done.outcome == "inserted":
            captured.append(
                {
                    **told,
                    "id": done.id,
                    "category": found.rule.category,
                    "trigger": found.rule.trigger,
                }
            )
        else:
            refused.append(
                {
                    **told,
                    "reason": done.rule or str(done.outcome),
                    **({"id": done.canonical_id} if done.canonical_id else {}),
                }
            )

    def _record(
        self, event: Mapping[str, Any], name: str, began: float, **facts: Any
    ) -> dict[str, Any]:
        known = {
            "at": iso(self._clew.now()),
            "session": str(event.get("session_id", "")),
            "event": name,
        }
        spent = round((time.perf_counter() - began) * 1000, 1)
        return {
            **known,
            **{key: value for key, value in facts.items() if value not in (None, [], False)},
            "ms": spent,
        }


def _query(said: Any) -> str:
    """Return what to search for: what the user said, of a long prompt its beginning and its end."""
    text = spoken(said) if isinstance(said, str) else ""
    return (
        text
        if len(text) <= 2 * LONGEST_QUERY
        else f"{text[:LONGEST_QUERY]}\n{text[-LONGEST_QUERY:]}"
    )


def _failure(event: Mapping[str, Any]) -> str:
    """Return what went wrong: the command and the last lines of its error."""
    given = event.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    error = event.get("error")
    lines = (
        [line.strip() for line in str(error).splitlines() if line.strip()][-3:]
        if isinstance(error, str)
        else []
    )
    return (
        "\n".join(str(each)[:LONGEST_QUERY] for each in (command, *lines) if each) if lines else ""
    )
