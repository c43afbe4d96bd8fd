"""What answers look like, for the OpenAPI document alone.

They are made by `clew.surface.payload` and sent as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic.json_schema import models_json_schema

from clew.surface.http.bodies import EXAMPLE_ID

if TYPE_CHECKING:
    from fastapi import FastAPI

_PROBLEM: JsonDict = {
    "type": "urn:clew:problem:refused.not_found",
    "title": "Not Found",
    "status": 404,
    "detail": "No memory 01m7. List them with: clew list",
    "code": "refused.not_found",
    "request_id": "b2d1c9e0",
    "id": "01m7",
}


class Document(BaseModel):
    """Keys are added in later versions, never renamed or removed."""

    model_config = ConfigDict(extra="allow")


class Problem(Document):
    """An error (RFC 9457); `code` is stable, `detail` is for people, further keys are the facts."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [_PROBLEM]})

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str


class Outcome(Document):
    """What became of an offered text; what does not apply is left out."""

    outcome: Literal["inserted", "exact_duplicate", "near_duplicate", "rejected"] = Field(
        examples=["inserted"]
    )
    id: str | None = Field(examples=[EXAMPLE_ID])


class Superseded(Outcome):
    """What became of the text that was to take a memory's place.

    `supersedes` is that memory, where it did.
    """


class Outcomes(Document):
    """What became of each text, in order; one that could not be taken has its `error`."""

    outcomes: list[Outcome]
    counts: dict[str, int]


class Conversation(Outcomes):
    """What became of each message, in order.

    Under `session` later messages are added, `sections` hold them.
    """

    session: str = Field(examples=["ann-and-bob"])
    sections: list[str] = Field(examples=[[EXAMPLE_ID]])
    notes: list[str]


class Memory(Document):
    """A memory, whole."""

    id: str
    text: str
    title: str
    category: str
    trigger: str
    importance: float
    stability: str
    t_valid: str
    t_invalid: str | None
    t_created: str
    t_expired: str | None
    source: str
    space: str
    tags: list[str]
    keywords: list[str]
    metadata: dict[str, Any]
    kind: str
    protected: bool
    archived: bool
    accesses: int


class Memories(Document):
    """A page of a list; `cursor` asks for the next one and is null on the last."""

    memories: list[Memory]
    cursor: str | None


class Searched(Document):
    """How often what was looked for occurs in the raw bytes of a file."""

    file: str
    found: int


class Forgotten(Document):
    """What was forgotten, and what a search of the store's files found of it afterwards."""

    forgotten: list[str]
    removed: dict[str, int]
    at: str
    dry_run: bool
    kept: list[str]
    tombstones: int
    found: int
    files: list[Searched]
    shared: int | None
    remains: list[str]
    unchecked: list[str]


class Interval(Document):
    """Since and until when a memory is true, and is believed."""

    id: str
    t_valid: str
    t_invalid: str | None
    t_created: str
    t_expired: str | None


class Protected(Document):
    """Whether a memory is protected."""

    id: str
    protected: bool


class Unarchived(Document):
    """Whether a memory is in the archive."""

    id: str
    archived: bool


class Happening(Document):
    """Something that happened to a memory."""

    kind: str
    at: str
    detail: dict[str, Any]


class History(Document):
    """What happened to a memory, oldest first, and what it was ever held to be."""

    id: str
    events: list[Happening]
    versions: list[Interval]


class Related(Document):
    """What a memory names, its edges, and the memories behind both."""

    id: str
    entities: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    nodes: list[dict[str, Any]]


class Overlap(Document):
    """The time for which both memories of a conflict are said to be true.

    Without an end it goes on.
    """

    from_: str = Field(alias="from")
    to: str | None


class Conflict(Document):
    """Two live memories about the same subject that contradict each other, as far as rules can tell."""

    id: str
    kind: Literal["value", "number", "negation", "state"]
    explanation: str
    score: float
    first: Memory
    second: Memory
    overlap: Overlap


class Conflicts(Document):
    """Conflicts, the surest first; `notes` says what was not compared, and how."""

    conflicts: list[Conflict]
    examined: int
    notes: list[str]


class Dismissed(Document):
    """That a conflict is listed no more; both memories stay."""

    id: str
    dismissed: bool
    first: str
    second: str


class Link(Document):
    """A connection from one memory to another."""

    source: str
    target: str
    kind: str = Field(examples=["RELATED"])
    weight: float
    confidence: float
    evidence: str
    t_created: str


class Decayed(Document):
    """Which memories faded, the weakest first, and which go next."""

    at: str
    dry_run: bool
    examined: int
    protected: int
    archived: list[dict[str, Any]]
    upcoming: list[dict[str, Any]]


class Hit(Document):
    """A recalled memory with the reasons for it: the contributions add up to the score exactly."""

    id: str
    rank: int
    score: float
    confidence: float | None
    text: str
    context: str
    components: dict[str, dict[str, Any]]
    channels: dict[str, dict[str, Any]]
    method: str
    path: list[dict[str, Any]]
    explanation: str
    node: Memory


class Answer(Document):
    """What should be seen for a question, best first."""

    query: str
    hits: list[Hit]
    stats: dict[str, Any]
    nothing_relevant: bool
    filtered_count: int
    best_rejected: dict[str, Any] | None
    trace_id: str


class AgentAnswer(Answer):
    """An answer of chunks worth reading, each amid its neighbours, and what was turned away and why."""

    rejections: list[dict[str, Any]]


class Why(Document):
    """A memory's place in the whole ranking, and what put it there."""

    id: str
    query: str
    rank: int | None
    ranked: int
    answer_rank: int | None
    reasons: list[dict[str, Any]]
    hit: Hit | None
    why_not: dict[str, Any] | None


class WhyNot(Document):
    """Where a memory was lost, by which value and threshold."""

    id: str
    stage: str
    reason: str
    sentence: str


class Replayed(Document):
    """Whether a ranking came again, and what changed."""

    identical: bool
    trace_id: str
    changes: list[dict[str, Any]]


class Progress(Document):
    """How far a job is."""

    what: str
    done: int
    total: int | None


class Job(Document):
    """An import; `report` is there when it is done and was asked for by its id, `error` when it failed."""

    id: str
    space: str
    source: str
    state: Literal["waiting", "running", "done", "failed"]
    attempts: int
    created: str
    started: str | None
    finished: str | None
    progress: Progress
    report: dict[str, Any] | None
    error: dict[str, Any] | None


class Jobs(Document):
    """The imports of the caller's spaces, newest first."""

    jobs: list[Job]


class Stats(Document):
    """Counts: of the whole store for whoever may administer it, else of one space."""

    nodes: int


class ImportedSource(Document):
    """An imported file."""

    path: str
    space: str
    titles: list[str]
    documents: list[str]
    imported_at: str
    exists: bool


class Sources(Document):
    """The imported files of a space."""

    sources: list[ImportedSource]


class Health(Document):
    """Whether the server lives, or takes requests."""

    status: Literal["live", "ready"]


class Me(Document):
    """Who is calling; `spaces` is null for every space, `space` the one that counts where none is named."""

    name: str
    rights: list[str]
    spaces: list[str] | None
    whole_store: bool
    space: str
    version: str
    categories: list[str]
    presets: dict[str, dict[str, float]]
    preset: str
    recipes: list[str]
    recipe: str
    k: int
    now: str


class Density(Document):
    """How many memories began and ended to be true, and how many were recorded."""

    began: int
    ended: int
    recorded: int


class Bucket(Density):
    """A part of the axis, from `from` to the next one's."""

    from_: str = Field(alias="from")


class Timeline(Document):
    """Counts over time; `before` and `after` are outside of the axis."""

    space: str
    from_: str = Field(alias="from")
    to: str
    bucket_seconds: float
    before: Density
    buckets: list[Bucket]
    after: Density


class Changed(Document):
    """The same memory, or one and what superseded it."""

    before: Memory
    after: Memory


class Differences(Document):
    """What differs between two points in time.

    `only_after` and `only_before` count what is not listed too.
    """

    added: list[Memory]
    removed: list[Memory]
    changed: list[Changed]
    only_after: int
    only_before: int


class Neighbourhood(Document):
    """Nodes and edges around a memory; `cut` says that there is more."""

    id: str
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    cut: bool


class Assessed(Document):
    """Texts by quality, from 0 to 1."""

    nodes: int
    assessed: int
    bins: list[dict[str, float]]
    stubs: dict[str, int]
    lowest: list[Memory]


class Settings(Document):
    """Every setting, its value and its source."""

    settings: list[dict[str, Any]]


class Recalls(Document):
    """The last recalls, latest first, and the sums since the start."""

    recalls: list[dict[str, Any]]
    totals: dict[str, Any]


class Verified(Document):
    """Whether the store is sound."""

    sound: bool
    problems: list[dict[str, Any]]


class BackedUp(Document):
    """Where the copy is, on the server's machine."""

    path: str
    bytes: int


class Evaluations(Document):
    """The reports; without a folder in serve.report_roots `configured` is false."""

    configured: bool
    evaluations: list[dict[str, Any]]


class Evaluation(Document):
    """A report's table, as of result.json."""

    name: str
    dataset: str
    measure: str
    rows: list[dict[str, Any]]
    timings: dict[str, Any] | None
    samples: int


class EvaluationQuestions(Document):
    """Questions with what each system answered, as of samples.jsonl."""

    name: str
    total: int
    offset: int
    questions: list[dict[str, Any]]


# The OpenAPI document: what FastAPI makes of the routes, with the forms of answers and problems
# added.

PLACE = "#/components/schemas/{model}"


def document(app: FastAPI) -> dict[str, Any]:
    """Return the document, made once."""
    if not app.openapi_schema:
        made = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        made["components"]["schemas"].update(forms())
        app.openapi_schema = made
    return app.openapi_schema


def forms() -> dict[str, Any]:
    """Return the schema of every answer, by name."""
    known = [
        each for each in globals().values() if isinstance(each, type) and issubclass(each, Document)
    ]
    _, made = models_json_schema([(each, "serialization") for each in known], ref_template=PLACE)
    found: dict[str, Any] = made["$defs"]
    return found
