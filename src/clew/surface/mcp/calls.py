"""What does each tool do? Those that change something, and the table of all; the values are those of `payload`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from clew import __version__
from clew.engine.access import Right
from clew.errors import InputError
from clew.surface import payload
from clew.surface.mcp.budget import Answer
from clew.surface.mcp.looking import Arguments, explain, given_of, recall, related, timeline

if TYPE_CHECKING:
    from clew.engine.guarded import Guarded

Call = Callable[["Guarded", Arguments], Answer]

EDITED = ("title", "category", "importance", "tags")


def remember(memory: Guarded, given: Arguments) -> Answer:
    """Offer one memory."""
    fields = {name: value for name, value in given.items() if name not in ("text", "key")}
    if "key" in given:
        fields["idempotency_key"] = given["key"]
    facts = payload.outcome(memory.remember(given["text"], **fields))
    similar = facts.pop("similar", [])
    return Answer(facts=facts, name="similar" if similar else "", items=similar)


def update(memory: Guarded, given: Arguments) -> Answer:
    """Correct a memory: its text, how long it was true, what stands beside it, whether it may be forgotten."""
    edited = given_of(given, EDITED)
    _check_goes_together(given)
    id = memory.known(given["id"], Right.WRITE).id  # nobody else may make the store wait
    # All of it or nothing. A new text is one change by itself, embedded before the store is locked.
    several = "text" not in given and bool(edited) + ("ended_at" in given) + ("protected" in given) > 1
    with memory.clew.store.transaction() if several else nullcontext():
        facts = _changed(memory, id, given, edited)
    done = facts["id"] is not None
    return Answer(facts={**facts, "changed": [name for name in given if name != "id"] if done else []})


def _changed(memory: Guarded, id: str, given: Arguments, edited: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"id": id}
    if "text" in given:
        facts = payload.outcome(memory.supersede(id, given["text"], **given_of(given, ("valid_from",)), **edited))
        if facts["outcome"] == "rejected":
            return facts
    elif edited:
        memory.update(id, **edited)
    if "ended_at" in given:
        memory.invalidate(id, at=given["ended_at"])
    if "protected" in given:
        memory.protect(facts["id"], given["protected"])
    return facts


def _check_goes_together(given: Arguments) -> None:
    if len(given) == 1:
        raise InputError("update", given["id"], "says nothing to change", "Give text, ended_at, protected or a field.")
    if "text" in given and "ended_at" in given:
        raise InputError("ended_at", given["ended_at"], "does not go with text", "A new text ends the old one at valid_from.")
    if "valid_from" in given and "text" not in given:
        raise InputError("valid_from", given["valid_from"], "says since when a new text is true", "Give text too, or ended_at.")


def forget(memory: Guarded, given: Arguments) -> Answer:
    """Remove memories; a filter without a confirmed count only tells what would go."""
    where = dict(given.get("where", {}))
    asked = {**given_of(given, ("expect",)), **({"query": where.pop("query")} if "query" in where else {})}
    counting = "id" not in given and "expect" not in given
    done = payload.receipt(memory.forget(given.get("id"), where=where or None, **asked, dry_run=counting))
    told = ("dry_run", "removed", "kept", "found", "remains")
    return Answer(facts=given_of(done, told), name="forgotten", items=[{"id": id} for id in done["forgotten"]])


def status(memory: Guarded, given: Arguments) -> Answer:  # noqa: ARG001 - every call has this signature
    """Count what the caller may know of."""
    grant = memory.grant
    whole = grant.spaces is None and Right.ADMIN in grant.rights
    told = memory.stats() if whole else {}
    seen = told.get("by_space", {}) if whole else {space: memory.stats(space)["nodes"] for space in sorted(_spaces(memory))}
    facts = {
        "version": __version__,
        "caller": grant.name,
        "rights": sorted(grant.rights),
        "memories": sum(seen.values()),
        **given_of(told, ("live", "archived", "by_category", "model", "vectors", "unembedded")),
        "answer_tokens": memory.clew.settings.mcp.answer_tokens,
    }
    return Answer(facts=facts, name="spaces", items=[{"space": space, "memories": count} for space, count in seen.items()])


def _spaces(memory: Guarded) -> frozenset[str]:
    """Return the spaces to count; whoever has all of them without administering the store is told of the usual one."""
    return frozenset({memory.space(None, Right.READ)}) if memory.grant.spaces is None else memory.grant.spaces


CALLS: Mapping[str, Call] = {
    "remember": remember,
    "recall": recall,
    "explain": explain,
    "related": related,
    "timeline": timeline,
    "update": update,
    "forget": forget,
    "status": status,
}
