"""What does each tool do? Those that change something, and the table of all.

The values are those of `payload`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from clew import __version__
from clew.engine.auth import Right
from clew.engine.request import cursor_at, whole
from clew.errors import InputError
from clew.ports import Sort
from clew.surface import payload
from clew.surface.mcp.budget import Answer

if TYPE_CHECKING:
    from clew.engine.authorised import Guarded
    from clew.search.state import Hit
    from clew.types import Node

# The tools that look: what they ask of the guarded Clew, and what they tell; the values are those
# of `payload`.

Arguments = Mapping[str, Any]

ASKED = ("k", "where", "preset", "as_of", "known_at")
OF_A_MEMORY = ("id", "title", "space", "category", "kind", "importance")
ORIGIN = ("source", "t_valid", "t_invalid")
DATE_CHARACTERS = 10  # of a time in ISO 8601
EVENTS, MOST_EVENTS = 20, 10_000  # of a memory's history, the latest


def recall(memory: Guarded, given: Arguments) -> Answer:
    """Ask a question."""
    answer = memory.recall(given["query"], **given_of(given, ASKED))
    notes = {"notes": list(answer.notes)} if answer.notes else {}
    facts = {"nothing_relevant": answer.nothing_relevant, **notes}
    return Answer(facts=facts, name="hits", items=[hit(each) for each in answer.hits])


def hit(found: Hit) -> dict[str, Any]:
    """Return what a model needs of a hit, best first without ranks.

    Origin and reasons are for `explain`.
    """
    told = payload.hit(found, 1)
    node = told["node"] or {}
    sure = {} if found.confidence is None else {"confidence": round(found.confidence, 2)}
    date = {"date": str(node["t_valid"])[:DATE_CHARACTERS]} if node.get("t_valid") else {}
    return {
        "id": found.id,
        **date,
        **telling(told, ("category",)),
        **sure,
        **_doubt(told),
        "text": found.context or found.text,
    }


def _doubt(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the firewall found suspicious; what it did not goes without saying."""
    return (
        {}
        if record["trust"] in (None, "normal")
        else {"trust": record["trust"], "flags": record["flags"]}
    )


def explain(memory: Guarded, given: Arguments) -> Answer:
    """Say why a memory is where it is in an answer, or why it is not in it."""
    why = payload.why(memory.why(given["query"], given["id"], **given_of(given, ASKED)))
    found, missing = why["hit"], why["why_not"]
    node = memory.get(given["id"])
    origin = {} if node is None else telling(payload.memory(node), (*OF_A_MEMORY[1:], *ORIGIN))
    parts = (
        {}
        if found is None
        else {
            name: found[name]
            for name in ("score", "confidence", "method", "components", "channels", "path")
        }
    )
    facts = {
        **telling(why, ("id", "k", "ranked")),
        **origin,
        "rank": why["rank"],
        "answer_rank": why["answer_rank"],
        "explanation": missing["sentence"]
        if found is None and missing
        else found["explanation"]
        if found
        else "",
        "main_reason": why["main_reason"],
        **parts,
        **({} if missing is None else {"why_not": missing}),
    }
    return Answer(facts=facts, name="reasons", items=why["reasons"])


def related(memory: Guarded, given: Arguments) -> Answer:
    """List what a memory hangs together with."""
    found = memory.related(given["id"], **given_of(given, ("limit",)))
    told = payload.related(found)
    origins = [payload.memory(each.node) for each in found.nodes]
    nodes = [
        {**_doubt(of), **telling(of, ("space", *ORIGIN)), **telling(node, tuple(node))}
        for of, node in zip(origins, told["nodes"], strict=True)
    ]
    return Answer(facts=given_of(told, ("id", "entities", "edges")), name="nodes", items=nodes)


def timeline(memory: Guarded, given: Arguments) -> Answer:
    """Tell a memory's history, or list memories by time."""
    if "id" in given:
        return _history(memory, given)
    asked = given_of(given, ("limit", "cursor", "where", "as_of", "known_at"))
    page = memory.page("recent", **asked)

    def going_on(kept: int) -> dict[str, Any]:
        """Go on behind the last that was told, which the budget may have set earlier than the page's end."""
        if kept == len(page.nodes):
            return {"cursor": page.cursor}
        return {
            "cursor": cursor_at(page.nodes[kept - 1], Sort.RECENT) if kept else given.get("cursor")
        }

    return Answer(
        facts={}, name="entries", items=[summary(node) for node in page.nodes], going_on=going_on
    )


def _history(memory: Guarded, given: Arguments) -> Answer:
    for name in ("where", "cursor"):
        if name in given:
            raise InputError(
                name,
                given[name],
                "does not go with an id",
                "Ask for the history of a memory, or for a list.",
            )
    times = given_of(given, ("as_of", "known_at"))
    nodes = memory.versions(given["id"])
    told = payload.history(given["id"], memory.history(given["id"]), nodes)
    then = memory.get(given["id"], **times) if times else None
    doubts = [_doubt(payload.trust(node)) for node in nodes]
    versions = [
        {"entry": "version", **doubt, **telling(each, tuple(each))}
        for doubt, each in zip(doubts, told["versions"], strict=True)
    ]
    events = [{"entry": "event", **telling(each, tuple(each))} for each in reversed(told["events"])]
    facts = {
        "id": told["id"],
        "cursor": None,
        **({"then": None if then is None else summary(then)} if times else {}),
    }
    limit = whole("limit", given.get("limit", EVENTS), 1, MOST_EVENTS)
    return Answer(facts=facts, name="entries", items=[*versions, *events[:limit]])


def summary(node: Node) -> dict[str, Any]:
    """Return a memory with its origin."""
    told = payload.memory(node)
    return {**telling(told, OF_A_MEMORY), **_doubt(told), **telling(told, (*ORIGIN, "text"))}


def given_of(given: Arguments, names: tuple[str, ...]) -> dict[str, Any]:
    """Return those of the arguments that were given, whatever they say: the engine judges them."""
    return {name: given[name] for name in names if name in given}


def telling(record: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return some of a record, without what says nothing."""
    return {name: record[name] for name in names if record.get(name) not in (None, "", [], {})}


Call = Callable[["Guarded", Arguments], Answer]

EDITED = ("title", "category", "trigger", "importance", "stability", "tags")
# characters: the call waits for it; larger files are imported on the command line or over HTTP
LONGEST_DOCUMENT = 1_000_000


def remember(memory: Guarded, given: Arguments) -> Answer:
    """Offer one memory."""
    fields = {name: value for name, value in given.items() if name not in ("text", "key")}
    if "key" in given:
        fields["idempotency_key"] = given["key"]
    facts = payload.outcome(memory.remember(given["text"], **fields))
    similar, conflicts = facts.pop("similar", []), facts.pop("conflicts", [])
    if conflicts:  # the more urgent; what lies near without contradicting is told without its text
        contradicted = {each["id"] for each in conflicts}
        near = [
            {"id": each["id"], "cosine": each["cosine"]}
            for each in similar
            if each["id"] not in contradicted
        ]
        return Answer(
            facts={**facts, **({"similar": near} if near else {})},
            name="conflicts",
            items=conflicts,
        )
    return Answer(facts=facts, name="similar" if similar else "", items=similar)


def update(memory: Guarded, given: Arguments) -> Answer:
    """Correct a memory: its text, how long it was true, what stands beside it, whether it may be forgotten."""
    edited = given_of(given, EDITED)
    _check_goes_together(given)
    id = memory.known(given["id"], Right.WRITE).id  # nobody else may make the store wait
    if "link_to" in given:
        memory.known(given["link_to"], Right.WRITE)  # before anything is changed
    # All of it or nothing. A new text is one change by itself, embedded before the store is locked.
    several = (
        "text" not in given
        and bool(edited) + sum(name in given for name in ("ended_at", "protected", "link_to")) > 1
    )
    with memory.clew.store.transaction() if several else nullcontext():
        facts = _changed(memory, id, given, edited)
    done = facts["id"] is not None
    return Answer(
        facts={**facts, "changed": [name for name in given if name != "id"] if done else []}
    )


def _changed(
    memory: Guarded, id: str, given: Arguments, edited: Mapping[str, Any]
) -> dict[str, Any]:
    facts: dict[str, Any] = {"id": id}
    if "text" in given:
        facts = payload.outcome(
            memory.supersede(id, given["text"], **given_of(given, ("valid_from",)), **edited)
        )
        if facts["outcome"] == "rejected":
            return facts
    elif edited:
        memory.update(id, **edited)
    if "ended_at" in given:
        memory.invalidate(id, at=given["ended_at"])
    if "protected" in given:
        memory.protect(facts["id"], given["protected"])
    if "link_to" in given:
        memory.link(
            facts["id"],
            given["link_to"],
            **({"kind": given["link_kind"]} if "link_kind" in given else {}),
        )
    return facts


def _check_goes_together(given: Arguments) -> None:
    if len(given) == 1:
        raise InputError(
            "update",
            given["id"],
            "says nothing to change",
            "Give text, ended_at, protected, link_to or a field.",
        )
    if "link_kind" in given and "link_to" not in given:
        raise InputError(
            "link_kind",
            given["link_kind"],
            "says how to connect",
            "Give link_to too, the id of the other memory.",
        )
    if "text" in given and "ended_at" in given:
        raise InputError(
            "ended_at",
            given["ended_at"],
            "does not go with text",
            "A new text ends the old one at valid_from.",
        )
    if "valid_from" in given and "text" not in given:
        raise InputError(
            "valid_from",
            given["valid_from"],
            "says since when a new text is true",
            "Give text too, or ended_at.",
        )


def forget(memory: Guarded, given: Arguments) -> Answer:
    """Remove memories; a filter without a confirmed count only tells what would go."""
    where = dict(given.get("where", {}))
    asked = {
        **given_of(given, ("expect",)),
        **({"query": where.pop("query")} if "query" in where else {}),
    }
    counting = "id" not in given and "expect" not in given
    done = payload.receipt(
        memory.forget(given.get("id"), where=where or None, **asked, dry_run=counting)
    )
    told = ("dry_run", "removed", "kept", "found", "remains")
    return Answer(
        facts=given_of(done, told), name="forgotten", items=[{"id": id} for id in done["forgotten"]]
    )


def import_text(memory: Guarded, given: Arguments) -> Answer:
    """Import a text as a document."""
    if len(given["text"]) > LONGEST_DOCUMENT:
        problem = f"has {len(given['text'])} characters, more than {LONGEST_DOCUMENT}"
        raise InputError(
            "text", given["text"], problem, "Import it in parts, each under a name of its own."
        )
    options = {
        "space": memory.space(given.get("space"), Right.WRITE),
        **given_of(given, ("category", "tags")),
    }
    report = payload.imported(memory.import_data(given["text"], name=given["name"], **options))
    (file,) = report["files"]
    return Answer(facts={**file, **({"notes": report["notes"]} if report["notes"] else {})})


# Pairs of memories that contradict each other belong here once the engine finds them: as an
# argument of `status`, for which the
# list of tools has room for some 30 tokens.
# Every call has this signature
def status(memory: Guarded, given: Arguments) -> Answer:  # noqa: ARG001
    """Count what the caller may know of."""
    grant = memory.grant
    whole = grant.spaces is None and Right.ADMIN in grant.rights
    told = memory.stats() if whole else {}
    seen = (
        told.get("by_space", {})
        if whole
        else {space: memory.stats(space)["nodes"] for space in sorted(_spaces(memory))}
    )
    facts = {
        "version": __version__,
        "caller": grant.name,
        "rights": sorted(grant.rights),
        "memories": sum(seen.values()),
        **given_of(told, ("live", "archived", "by_category", "model", "vectors", "unembedded")),
        "answer_tokens": memory.clew.settings.mcp.answer_tokens,
    }
    return Answer(
        facts=facts,
        name="spaces",
        items=[{"space": space, "memories": count} for space, count in seen.items()],
    )


def _spaces(memory: Guarded) -> frozenset[str]:
    """Return the spaces to count.

    Whoever has all of them without administering the store is told of the usual one.
    """
    return (
        frozenset({memory.space(None, Right.READ)})
        if memory.grant.spaces is None
        else memory.grant.spaces
    )


CALLS: Mapping[str, Call] = {
    "remember": remember,
    "recall": recall,
    "explain": explain,
    "related": related,
    "timeline": timeline,
    "update": update,
    "forget": forget,
    "import": import_text,
    "status": status,
}
