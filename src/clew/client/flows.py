"""Each method of the API as a flow of requests.

One definition for the clients with and without `async`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Unpack
from urllib.parse import quote
from uuid import uuid4

from clew.client import decoding
from clew.client.transport import Flow, Pause, Request, error_of
from clew.documents.importing import ImportReport
from clew.engine.relating import Related
from clew.engine.replaying import Replay
from clew.engine.request import Page
from clew.errors import InputError, NotFoundError
from clew.memories.decay import Decayed
from clew.options import ImportFields, Labels, MemoryFields, RecallOptions, SuccessorFields
from clew.ports import Progress
from clew.search.state import Recall
from clew.search.why import Why
from clew.search.why_not import WhyNot
from clew.times import Moment, iso
from clew.types import (
    ConversationOutcome,
    Edge,
    Event,
    Filter,
    Message,
    Node,
    NodeId,
    Outcome,
    Receipt,
)

BATCH = 500  # memories in one request; a server takes 1,000 by default
POLL_SECONDS = 0.2
Where = Mapping[str, Any] | Filter | None
WHERE_NAMES = {"kinds": "kind", "categories": "category"}
# fields of a Filter that `where` does not have
NOT_SENT = ("now", "within", "recorded_until", "as_of", "known_at")


def plain(value: Any) -> Any:
    """Return a value as JSON has it: times as text, tuples and iterables as lists."""
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return str(value) if isinstance(value, str) else value
    return [plain(each) for each in value]


def given(**fields: Any) -> dict[str, Any]:
    """Return the arguments that are not None, as JSON has them."""
    return {name: plain(value) for name, value in fields.items() if value is not None}


def narrowed(
    where: Where, as_of: Moment | None = None, known_at: Moment | None = None
) -> dict[str, Any]:
    """Return a filter as a body has it."""
    if not isinstance(where, Filter):
        return given(where=where, as_of=as_of, known_at=known_at)
    told = {
        WHERE_NAMES.get(name, name): each
        for name, each in asdict(where).items()
        if each and name not in NOT_SENT
    }
    return given(where=told, as_of=as_of or where.as_of, known_at=known_at or where.known_at)


def at(id: NodeId, *rest: str) -> str:
    """Return the path of a memory."""
    if not isinstance(id, str) or not id.strip():
        raise InputError("id", id, "is not an id", "Pass the id of a memory.")
    return "/".join(("/v1/memories", quote(id, safe=""), *rest))


def post(path: str, body: Any, *, repeatable: bool = False) -> Request:
    """Return a POST request."""
    return Request(method="POST", path=path, body=body, repeatable=repeatable)


def silent(what: str, done: int, total: int | None) -> None:
    """Report progress to nobody."""


def keyed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a memory with an idempotency key, so that the request may be repeated."""
    return {"idempotency_key": uuid4().hex, **given(**fields)}


# --- remember ---


def remember(text: str, **fields: Unpack[MemoryFields]) -> Flow[Outcome]:
    """Offer one memory; without an idempotency key it gets one, so that a lost answer is asked for again safely."""
    document = yield post("/v1/memories", {"text": text, **keyed(fields)}, repeatable=True)
    return decoding.outcome(document)


def remember_many(
    memories: Iterable[str | Mapping[str, Any]],
    *,
    progress: Progress = silent,
    **fields: Unpack[MemoryFields],
) -> Flow[list[Outcome]]:
    """Offer many memories in batches.

    The first that cannot be taken raises after its batch, whose others are kept.
    """
    if isinstance(memories, str | bytes | Mapping) or not isinstance(memories, Iterable):
        raise InputError(
            "memories",
            memories,
            "must be several memories",
            "Pass a list; for one memory use remember().",
        )
    offers = [
        keyed({**fields, **({"text": each} if isinstance(each, str) else each)})
        for each in memories
    ]
    outcomes: list[Outcome] = []
    for start in range(0, len(offers), BATCH):
        document = yield post(
            "/v1/memories/batch", {"memories": offers[start : start + BATCH]}, repeatable=True
        )
        for each in document["outcomes"]:
            if "error" in each:
                raise error_of(
                    {**each["error"], "detail": each["error"]["message"]}, status=422, url=""
                )
            outcomes.append(decoding.outcome(each))
        progress("remembering", len(outcomes), len(offers))
    return outcomes


def remember_conversation(
    messages: Iterable[Message | Mapping[str, Any]],
    *,
    session: str | None = None,
    title: str | None = None,
    space: str | None = None,
    source: str | None = None,
    category: str | None = None,
    importance: float | None = None,
    tags: Iterable[str] = (),
    metadata: Mapping[str, Any] | None = None,
    time: Moment | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Flow[ConversationOutcome]:
    """Keep a conversation message by message.

    Under the same session only new messages are added.
    """
    said = [given(**asdict(each)) if is_dataclass(each) else given(**each) for each in messages]
    options = given(
        title=title, space=space, source=source, category=category, importance=importance, tags=tags
    )
    body = {
        **options,
        **given(session=session, metadata=metadata, time=time, force=force),
        "messages": said,
    }
    document = yield post("/v1/conversations", body, repeatable=True)
    progress("remembering", len(said), len(said))
    return decoding.conversation(document)


def import_path(
    *paths: str | Path, progress: Progress = silent, **options: Unpack[ImportFields]
) -> Flow[ImportReport]:
    """Bring in files and folders of the server's machine, below one of its `serve.import_roots`."""
    reports: list[ImportReport] = []
    for path in paths:
        reports += [(yield from _job({"path": str(path), **given(**options)}, progress))]
    files = tuple(each for report in reports for each in report.files)
    notes = tuple(dict.fromkeys(each for report in reports for each in report.notes))
    return ImportReport(files=files, vectors=sum(each.vectors for each in reports), notes=notes)


def import_data(
    data: bytes | str,
    *,
    name: str | None = None,
    progress: Progress = silent,
    **options: Unpack[ImportFields],
) -> Flow[ImportReport]:
    """Bring in one text or file; under the same name it takes the place of what was there."""
    if isinstance(data, str):
        sent = {"data": data, "encoding": "text"}
    else:
        sent = {"data": base64.b64encode(bytes(data)).decode(), "encoding": "base64"}
    return (yield from _job({**sent, **given(name=name), **given(**options)}, progress))


def _job(body: Mapping[str, Any], progress: Progress) -> Flow[ImportReport]:
    """Start an import and wait until it is done."""
    job = yield post("/v1/import", body, repeatable=True)
    while job["state"] not in ("done", "failed"):
        yield Pause(POLL_SECONDS)
        job = yield Request(method="GET", path=f"/v1/jobs/{job['id']}", repeatable=True)
        progress(job["progress"]["what"], job["progress"]["done"], job["progress"]["total"])
    if job["state"] == "failed":
        error = job["error"] or {}
        error = error.get("error", error)
        raise error_of(
            {**error, "detail": error.get("message", "The import failed.")}, status=500, url=""
        )
    return decoding.report(job["report"])


# --- recall ---


def recall(
    query: str,
    *,
    k: int | None = None,
    recipe: str | None = None,
    preset: str | None = None,
    weights: Mapping[str, float] | None = None,
    where: Where = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    min_similarity: float | None = None,
    budget_tokens: int | None = None,
    seed: int = 0,
    track: bool | None = None,
    kinds: Iterable[str] | None = None,
    spaces: Iterable[str] | None = None,
) -> Flow[Recall]:
    """Return what should be seen for a question, best first, each hit with the reason for it."""
    options = given(
        k=k,
        recipe=recipe,
        preset=preset,
        weights=weights,
        min_similarity=min_similarity,
        track=track,
        kinds=None if kinds is None else list(kinds),
        spaces=None if spaces is None else list(spaces),
    )
    body = {
        **options,
        **given(budget_tokens=budget_tokens, seed=seed),
        **narrowed(where, as_of, known_at),
    }
    document = yield post("/v1/recall", {"query": query, "question": True, **body}, repeatable=True)
    return decoding.recall(document)


def why(query: str, id: NodeId, **options: Unpack[RecallOptions]) -> Flow[Why]:
    """Return a memory's place in the whole ranking for a question, and what put it there."""
    document = yield post("/v1/why", {"query": query, "id": id, **_asked(options)}, repeatable=True)
    return decoding.why(document)


def why_not(query: str, id: NodeId, **options: Unpack[RecallOptions]) -> Flow[WhyNot]:
    """Return the stage, value and threshold that kept a memory out of an answer."""
    document = yield post(
        "/v1/why-not", {"query": query, "id": id, **_asked(options)}, repeatable=True
    )
    return decoding.why_not(document)


def _asked(options: RecallOptions) -> dict[str, Any]:
    others = {
        name: value for name, value in options.items() if name not in ("where", "as_of", "known_at")
    }
    return {
        **given(**others),
        **narrowed(options.get("where"), options.get("as_of"), options.get("known_at")),
    }


def replay(trace: str | bytes | Mapping[str, Any]) -> Flow[Replay]:
    """Ask a traced question again, by the trace's clock, and return what changed."""
    kept = trace if isinstance(trace, Mapping) else json.loads(trace)
    return decoding.replay((yield post("/v1/replay", {"trace": kept}, repeatable=True)))


# --- look ---


def get(
    id: NodeId, *, as_of: Moment | None = None, known_at: Moment | None = None
) -> Flow[Node | None]:
    """Return a memory, or None.

    With a time, what it or what stood in its place was held to be then.
    """
    try:
        document = yield Request(
            method="GET", path=at(id), query=given(as_of=as_of, known_at=known_at), repeatable=True
        )
    except NotFoundError:
        return None
    return decoding.node(document)


def find(key: str, *, space: str | None = None) -> Flow[Node | None]:
    """Return the memory that was written under an idempotency key, or None."""
    try:
        document = yield Request(
            method="GET",
            path="/v1/memories/by-key",
            query=given(key=key, space=space),
            repeatable=True,
        )
    except NotFoundError:
        return None
    return decoding.node(document)


def history(id: NodeId) -> Flow[tuple[Event, ...]]:
    """Return what happened to a memory, oldest first."""
    document = yield Request(method="GET", path=at(id, "history"), repeatable=True)
    return decoding.events(document)


def questions(id: NodeId) -> Flow[tuple[str, ...]]:
    """Return the questions that were made for a memory when it was written."""
    try:
        document = yield Request(method="GET", path=at(id), repeatable=True)
    except NotFoundError:
        return ()
    return tuple(document.get("questions", ()))


def versions(id: NodeId) -> Flow[tuple[Node, ...]]:
    """Return a memory as it was ever held to be, in the order of valid time."""
    if (yield from get(id)) is None:
        return ()
    document = yield Request(method="GET", path=at(id, "history"), repeatable=True)
    found: list[Node | None] = []
    for each in document["versions"]:
        found += [(yield from get(each["id"]))]
    return tuple(each for each in found if each is not None)


def related(id: NodeId, *, limit: int = 20) -> Flow[Related]:
    """Return what a memory names, the nodes that share that or are about it, and its edges, the strongest first."""
    document = yield Request(
        method="GET",
        path=at(id, "related"),
        query={"limit": limit, "full": "true"},
        repeatable=True,
    )
    return decoding.related(document)


def recent(
    limit: int = 10,
    *,
    where: Where = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Flow[tuple[Node, ...]]:
    """Return the newest memories by valid time."""
    return (yield from _list("recent", limit, where, as_of, known_at))


def important(
    limit: int = 10,
    *,
    where: Where = None,
    least: float | None = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Flow[tuple[Node, ...]]:
    """Return the most important memories, at least `lists.important_min` of the server."""
    return (yield from _list("important", limit, where, as_of, known_at, least=least))


def popular(
    limit: int = 10,
    *,
    where: Where = None,
    least: int | None = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Flow[tuple[Node, ...]]:
    """Return the most recalled memories, with at least `lists.popular_min` accesses."""
    return (yield from _list("popular", limit, where, as_of, known_at, least=least))


def _list(
    name: str,
    limit: int,
    where: Where,
    as_of: Moment | None,
    known_at: Moment | None,
    **options: Any,
) -> Flow[tuple[Node, ...]]:
    body = {"limit": limit, **narrowed(where, as_of, known_at), **given(**options)}
    return decoding.nodes((yield post(f"/v1/lists/{name}", body, repeatable=True)))


def page(
    sort: str = "recent",
    *,
    limit: int = 10,
    cursor: str | None = None,
    where: Where = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Flow[Page]:
    """Return a list page by page; the cursor of one page asks for the next."""
    body = {
        "sort": str(sort),
        "limit": limit,
        **given(cursor=cursor),
        **narrowed(where, as_of, known_at),
    }
    return decoding.page((yield post("/v1/memories/list", body, repeatable=True)))


def stats(*, space: str | None = None) -> Flow[dict[str, Any]]:
    """Return counts and sizes of the whole store, or of one space."""
    document = yield Request(
        method="GET", path="/v1/stats", query=given(space=space), repeatable=True
    )
    return dict(document)


def export(*, space: str | None = None, vectors: bool = True) -> Flow[Iterator[str]]:
    """Return the store as lines of JSON; they are all received before the first is returned."""
    query = {"vectors": "true" if vectors else "false", **given(space=space)}
    text = yield Request(method="GET", path="/v1/export", query=query, repeatable=True, lines=True)
    return iter(text.rstrip("\n").split("\n"))


# --- change ---


def link(
    source: NodeId,
    target: NodeId,
    *,
    kind: str = "RELATED",
    weight: float = 1.0,
    evidence: str = "",
) -> Flow[Edge]:
    """Connect two memories."""
    body = {"target": target, "kind": kind, "weight": weight, "evidence": evidence}
    return decoding.edge((yield post(at(source, "link"), body, repeatable=True)))


def supersede(
    id: NodeId, text: str, *, valid_from: Moment | None = None, **fields: Unpack[SuccessorFields]
) -> Flow[Outcome]:
    """Put a new memory in the place of one, which ends where the new one begins.

    At `valid_from`, or now.
    """
    body = {"text": text, **given(valid_from=valid_from), **given(**fields)}
    return decoding.outcome((yield post(at(id, "supersede"), body)))


def invalidate(id: NodeId, *, at: Moment | None = None) -> Flow[Node]:
    """Say that a memory stopped being true at a time, by default now."""
    return (yield from _changed(id, "invalidate", given(at=at), repeatable=at is not None))


def expire(id: NodeId) -> Flow[Node]:
    """Say that a memory is no longer believed, for any time; it stays for `known_at`."""
    return (yield from _changed(id, "expire", None))


def reassert(id: NodeId, *, valid_from: Moment | None = None) -> Flow[Node]:
    """Say that a memory that had ended or expired is true again, by default from now on."""
    return (yield from _changed(id, "reassert", given(valid_from=valid_from)))


def protect(id: NodeId, protected: bool = True) -> Flow[Node]:
    """Keep a memory from being forgotten, or let it go again."""
    return (yield from _changed(id, "protect", {"protected": bool(protected)}, repeatable=True))


def unarchive(id: NodeId) -> Flow[Node]:
    """Bring back a memory from the archive."""
    return (yield from _changed(id, "unarchive", None, repeatable=True))


def _changed(id: NodeId, change: str, body: Any, *, repeatable: bool = False) -> Flow[Node]:
    """Change a memory and return it as it is afterwards."""
    document = yield post(at(id, change), body, repeatable=repeatable)
    return decoding.node((yield Request(method="GET", path=at(document["id"]), repeatable=True)))


def update(id: NodeId, **fields: Unpack[Labels]) -> Flow[Node]:
    """Change what stands beside a memory's text; only what is given changes."""
    document = yield Request(method="PATCH", path=at(id), body=plain(fields), repeatable=True)
    return decoding.node(document)


def forget(
    id: NodeId | Iterable[NodeId] | None = None,
    *,
    where: Mapping[str, Any] | None = None,
    query: str | None = None,
    only: bool = False,
    force: bool = False,
    tombstone: bool = True,
    check: bool = True,
    dry_run: bool = False,
    expect: int | None = None,
) -> Flow[Receipt]:
    """Remove memories or documents for good, and return a receipt."""
    ids = [id] if isinstance(id, str) else id
    chosen = given(ids=ids, where=where, query=query, expect=expect)
    options = {
        "only": only,
        "force": force,
        "tombstone": tombstone,
        "check": check,
        "dry_run": dry_run,
    }
    return decoding.receipt((yield post("/v1/forget", {**chosen, **options}, repeatable=dry_run)))


def decay(
    *,
    dry_run: bool = True,
    space: str | None = None,
    now: Moment | None = None,
    force: bool = False,
) -> Flow[Decayed]:
    """Archive the memories that have faded, or only tell which would go; nothing is deleted."""
    body = {"dry_run": dry_run, "force": force, **given(space=space, now=now)}
    return decoding.decay((yield post("/v1/decay", body, repeatable=True)))
