"""What requests may hold: names and types.

What the values may be, the core says, so that every surface refuses the same.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[
    str,
    Field(description="The text itself.", examples=["The staging database listens on port 5433"]),
]
Time = Annotated[
    str,
    Field(
        description="A date or time of ISO 8601; without a zone it is UTC.", examples=["2026-03-01"]
    ),
]
Space = Annotated[
    str,
    Field(
        description="The space; without one the caller's only one, or the setting store.space.",
        examples=["work"],
    ),
]
Sort = Literal["recent", "important", "popular"]
EXAMPLE_ID = "01m7gfwdmr422zgpq588cdfnzy"


class Body(BaseModel):
    """Refuses what it does not know; nothing is turned into another type in silence."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def given(self, *without: str) -> dict[str, Any]:
        """Return the fields that the caller wrote, under the core's names."""
        return self.model_dump(exclude_unset=True, exclude=set(without))


class Labels(Body):
    """What stands beside a memory's text."""

    category: str | None = Field(
        None, description="One of the setting memory.categories.", examples=["fact"]
    )
    trigger: str | None = Field(
        None,
        description="What caused it to be written: one of memory.triggers.",
        examples=["problem-solution"],
    )
    importance: float | None = Field(
        None, description="How much it matters, from 0 to 1.", examples=[0.7]
    )
    title: str | None = Field(None, description="A short name.", examples=["Staging"])
    stability: Literal["static", "dynamic", "ephemeral", "unknown"] | None = Field(
        None, description="How fast it goes out of date."
    )
    tags: list[str] = Field(default=[], description="Names to find it by.", examples=[["db"]])
    metadata: dict[str, Any] | None = Field(
        None, description="Anything else to keep with it.", examples=[{"host": "db1"}]
    )
    source: str | None = Field(None, description="Where it comes from.", examples=["runbook"])


class NewLabels(Labels):
    """What may stand beside a text that is offered."""

    valid_to: Time | None = None
    keywords: list[str] = Field(
        default=[], description="Words to find it by; without them they are taken from the text."
    )
    idempotency_key: str | None = Field(
        None,
        description="Said again under the same key, nothing is done twice.",
        examples=["note-17"],
    )
    near: bool | None = Field(None, description="Look for memories that say nearly the same.")


class Offer(NewLabels):
    """A memory to keep."""

    text: Text
    space: Space | None = None
    valid_from: Time | None = None
    on_duplicate: Literal["reinforce", "insert", "error", "replace"] = Field(
        "reinforce",
        description="What to do when it is there already; `replace` deletes what was written under the same idempotency_key.",
    )
    force: bool = Field(False, description="Keep it although the same text was forgotten.")
    verbatim: bool = Field(
        False,
        description="Keep the text exactly as given, whatever its length and however little it says.",
    )


class Batch(Body):
    """Many memories to keep."""

    memories: list[Offer] = Field(
        description="In the order in which the outcomes come back.", min_length=1
    )


class Said(Body):
    """One message of a conversation."""

    text: str | None = Field(
        None, description="What was said.", examples=["Only on Sundays, around the lake."]
    )
    content: str | None = Field(None, description="Another name of `text`.")
    speaker: str | None = Field(None, description="Who said it.", examples=["Bob"])
    name: str | None = Field(None, description="Another name of `speaker`.")
    role: str | None = Field(
        None, description="user, assistant, system or tool; none between people.", examples=["user"]
    )
    time: Time | None = None


class NewConversation(Body):
    """Messages of a session, in order: all from its beginning, or how it went on."""

    messages: list[Said] = Field(description="In the order in which they were said.", min_length=1)
    session: str | None = Field(
        None, description="Its name: under it later messages are added.", examples=["ann-and-bob"]
    )
    title: str | None = Field(
        None, description="A short name of what it is about.", examples=["Running"]
    )
    space: Space | None = None
    source: str | None = Field(None, description="Where it comes from.", examples=["chat"])
    category: str | None = Field(
        None, description="One of the setting memory.categories.", examples=["observation"]
    )
    importance: float | None = Field(
        None, description="How much it matters, from 0 to 1.", examples=[0.5]
    )
    tags: list[str] = Field(default=[], description="Tags for all messages.", examples=[["sport"]])
    metadata: dict[str, Any] | None = Field(
        None, description="Anything else to keep with all messages."
    )
    time: Time | None = Field(
        None, description="When messages without a time of their own were said; else now."
    )
    force: bool = Field(False, description="Keep messages although they were forgotten.")


class Change(Labels):
    """What is to change beside a memory's text; what is left out stays."""


class Successor(NewLabels):
    """What is true instead of a memory; what is left out is as the old one has it."""

    text: Text
    valid_from: Time | None = None


class End(Body):
    """When a memory stopped being true."""

    at: Time | None = None


class Again(Body):
    """Since when a memory is true again."""

    valid_from: Time | None = None


class Protection(Body):
    """Whether a memory is protected from being forgotten."""

    protected: bool = Field(True, description="False lifts the protection.")


class Where(Body):
    """Which memories are seen."""

    space: Space | None = None
    kind: str | list[str] | None = Field(None, description="memory, document, section, chunk.")
    category: str | list[str] | None = Field(None, description="One of these.", examples=["fact"])
    tags: str | list[str] | None = Field(None, description="All of them must be there.")
    metadata: dict[str, Any] | None = Field(None, description="All of it must be there.")
    since: Time | None = None
    until: Time | None = None
    archived: bool = Field(False, description="See the archive instead.")


class Unwanted(Body):
    """Which memories and documents are forgotten; archived and ended ones count too."""

    space: Space | None = None
    kind: str | list[str] | None = Field(None, description="memory, document, chunk.")
    category: str | list[str] | None = Field(None, description="One of these.", examples=["fact"])
    tags: str | list[str] | None = Field(None, description="All of them must be there.")
    metadata: dict[str, Any] | None = Field(None, description="All of it must be there.")
    source: str | None = Field(None, description="Where it comes from, exactly.")
    since: Time | None = None
    until: Time | None = None
    before: Time | None = None
    archived: bool | None = Field(None, description="Only what is archived, or only what is not.")


class Forget(Body):
    """What to forget: ids, or a filter with the number of memories that it is expected to take."""

    ids: list[str] | None = Field(
        None, description="The memories and documents.", examples=[[EXAMPLE_ID]]
    )
    where: Unwanted | None = Field(None, description="A filter in place of ids.")
    query: str | None = Field(
        None,
        description="Words that every forgotten text holds, all of them.",
        examples=["staging database"],
    )
    dry_run: bool = Field(False, description="Only tell what would go.")
    expect: int | None = Field(
        None, description="How many memories and documents go; needed with a filter.", examples=[3]
    )
    only: bool = Field(
        False, description="Leave what superseded them, and other states of the same file."
    )
    force: bool = Field(False, description="Forget what is protected too.")
    tombstone: bool = Field(
        True,
        description="Keep a keyed hash of each text, so that it is rejected when it is offered again.",
    )
    check: bool = Field(True, description="Search the bytes of the store's files afterwards.")


class Weights(Body):
    """How much each signal counts; what is left out counts nothing."""

    semantic: float = Field(0.0, description="How well it fits the question.")
    recency: float = Field(0.0, description="How new it is.")
    importance: float = Field(0.0, description="How much it matters.")
    access: float = Field(0.0, description="How often it was recalled.")


class Narrowed(Body):
    """A question and what may be seen for it."""

    query: str = Field(
        description="What is asked, in words.",
        examples=["which port does the staging database use"],
    )
    k: int | None = Field(None, description="How many hits to return.", examples=[5])
    preset: str | None = Field(
        None, description="Named weights of the score: one of score.presets.", examples=["balanced"]
    )
    weights: Weights | None = Field(None, description="Weights of your own in place of a preset.")
    where: Where | None = Field(None, description="Which memories are seen.")
    as_of: Time | None = None
    known_at: Time | None = None
    min_similarity: float | None = Field(
        None, description="A hit with a lower cosine is not returned."
    )
    budget_tokens: int | None = Field(None, description="The most tokens to return; 0 is no limit.")
    seed: int = Field(0, description="Of the random walk, where the settings choose one.")


class Search(Narrowed):
    """A question whose stages the route decides."""

    track: bool | None = Field(None, description="Count the hits as used.")


class Hybrid(Search):
    """A question to words and meaning at once."""

    staged: bool = Field(
        False, description="Find sections first, then only the chunks inside the best of them."
    )


class Question(Search):
    """A question."""

    recipe: str | None = Field(
        None,
        description="The stages to run: fast, balanced, thorough, reranked, agent, staged, passages, lexical or dense.",
    )
    kinds: list[str] | None = Field(None, description="Only these kinds of hits: memory, chunk.")
    spaces: list[str] | None = Field(
        None,
        description="Several spaces in place of where.space: each counted by its own statistics, merged by confidence.",
    )
    trace: bool = Field(False, description="Add a trace, which /v1/replay reads.")
    question: bool = Field(
        False, description="Add the question as it was understood, with every default filled in."
    )


class Doubt(Narrowed):
    """A question and the memory about which it is."""

    id: str = Field(description="The memory.", examples=[EXAMPLE_ID])
    recipe: str | None = Field(None, description="As of /v1/recall.")


class Replayable(Body):
    """A trace, as an answer of /v1/recall has it under `trace`."""

    trace: dict[str, Any] = Field(
        description="What an answer had under `trace`.",
        examples=[{"format": "clew-trace", "version": 1}],
    )


class Import(Body):
    """What to bring in: data, or a path below a folder that the server allows."""

    data: str | None = Field(
        None,
        description="The text or file itself.",
        examples=["# Harbour\n\nCranes are inspected in March."],
    )
    encoding: Literal["text", "base64"] = Field("text", description="How `data` is written.")
    name: str | None = Field(
        None,
        description="The name of `data`: under the same one it takes the place of what was there.",
    )
    path: str | None = Field(
        None,
        description="A file or folder on the server's machine, absolute or below one of serve.import_roots.",
    )
    format: str | None = Field(
        None,
        description="Read it as this: text, markdown, html, pdf, docx, conversation, python, …",
    )
    space: Space | None = None
    category: str | None = Field(None, description="The category of what is imported.")
    importance: float | None = Field(None, description="How much it matters, from 0 to 1.")
    tags: list[str] = Field(default=[], description="Tags for all of it.")
    metadata: dict[str, Any] | None = Field(
        None, description="Anything else to keep with all of it."
    )
    exclude: list[str] = Field(
        default=[], description="Leave out what matches, written as in .gitignore."
    )
    include_hidden: bool = Field(False, description="Take hidden files too.")
    force: bool = Field(
        False, description="Read unchanged files anew, and keep documents that were forgotten."
    )
    sync: bool = Field(
        False, description="With a folder: also expire what came from files below it that are gone."
    )
    dry_run: bool = Field(False, description="Only report what would happen.")


class Listing(BaseModel):
    """Which list, and where it goes on."""

    model_config = ConfigDict(extra="forbid")

    sort: Sort = Field("recent", description="By what.")
    limit: int = Field(10, ge=1, le=1000, description="How many on a page.")
    cursor: str | None = Field(None, description="The `cursor` of the page before.")
    space: Space | None = None
    kind: list[str] | None = Field(
        None, description="One of these: memory, document, section, chunk."
    )
    category: list[str] | None = Field(None, description="One of these.")
    tag: list[str] | None = Field(None, description="All of these.")
    since: Time | None = None
    until: Time | None = None
    as_of: Time | None = None
    known_at: Time | None = None
    archived: bool = Field(False, description="List the archive instead.")


class Times(BaseModel):
    """A point in both times."""

    model_config = ConfigDict(extra="forbid")

    as_of: Time | None = None
    known_at: Time | None = None
