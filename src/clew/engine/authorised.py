"""A Clew as one caller may use it: the same methods, each behind the predicate of `access`.

Spaces are checked on the way in, what comes back is checked on the way out. What a caller may not
know of is not there: a memory of another space is as unknown as one that never was, and no refusal
tells whether a space exists.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.engine.auth import Grant, Right, known_to, may
from clew.engine.request import unknown, unknown_conflict
from clew.errors import ForbiddenError, InputError
from clew.memories.validation import MAX_NAME_CHARACTERS, line
from clew.ports import Problem, Repaired
from clew.types import (
    ConversationOutcome,
    Edge,
    Event,
    EventKind,
    FileCheck,
    Filter,
    Message,
    Node,
    NodeId,
    Outcome,
    Receipt,
)

if TYPE_CHECKING:
    from clew.documents.importing import ImportReport
    from clew.engine.clew import Clew
    from clew.engine.conflicts import Conflict, Conflicts
    from clew.engine.language import Made
    from clew.engine.neighbourhood import Neighbourhood
    from clew.engine.overview import Differences, Timeline
    from clew.engine.relating import Related
    from clew.engine.replaying import Replay
    from clew.engine.request import Page
    from clew.engine.transfer import Loaded
    from clew.memories.decay import Decayed
    from clew.memories.sync import Source
    from clew.search.state import Recall
    from clew.search.why import Why
    from clew.search.why_not import WhyNot
    from clew.store.overview import Assessed

Where = Mapping[str, Any] | Filter | None


class Guarded:
    """The face of a Clew for one caller; parameters and results are those of `Clew`."""

    def __init__(self, clew: Clew, grant: Grant) -> None:
        """Take the Clew, which stays the owner of the store, and what the caller may do."""
        self.clew = clew
        self.grant = grant

    # --- the boundary ---

    def space(self, named: object, right: Right) -> str:
        """Return the space that a request is about.

        The named one, else the caller's only one, else the settings'.
        """
        if named is None:
            only = self.grant.spaces or ()
            chosen = next(iter(only)) if len(only) == 1 else self.clew.settings.store.space
        else:
            # the form in which a memory's space is kept
            chosen = line("space", named, limit=MAX_NAME_CHARACTERS)
        if not may(self.grant, right, chosen):
            raise ForbiddenError(
                f"{self.grant.name} lacks the right '{right}' for the space '{chosen}'. Name one for which it has it, or create a token: "
                f"clew token create NAME --space {shlex.quote(chosen)} --right {right}",
                space=chosen,
                right=str(right),
            )
        return chosen

    def whole_store(self, right: Right = Right.ADMIN) -> None:
        """Raise unless the grant covers the store as a whole."""
        if not may(self.grant, right, None):
            raise ForbiddenError(
                f"{self.grant.name} lacks the right '{right}' for the whole store. Create a token that has it: "
                f"clew token create NAME --all-spaces --right {right}",
                right=str(right),
            )

    def known(self, id: NodeId, right: Right) -> Node:
        """Return a memory that the caller may know of.

        Raise if the grant does not hold this right there.
        """
        node = self.clew.get(id)
        if node is None or not known_to(self.grant, node.space):
            raise unknown(id)
        self.space(node.space, right)
        return node

    def _where(self, where: Any, right: Right = Right.READ) -> Any:
        if isinstance(where, Filter):
            self.space(where.space, right)
            return where
        if where is not None and not isinstance(where, Mapping):
            return where  # the engine says what is wrong with it
        return {**(where or {}), "space": self.space((where or {}).get("space"), right)}

    def _readable(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        return tuple(node for node in nodes if may(self.grant, Right.READ, node.space))

    # --- remember ---

    def remember(self, text: str, **fields: Any) -> Outcome:
        """Offer one memory."""
        space = self.space(fields.get("space"), Right.WRITE)
        return self._outcome(self.clew.remember(text, **{**fields, "space": space}), space)

    def remember_many(
        self, memories: Iterable[str | Mapping[str, Any]], **fields: Any
    ) -> list[Outcome]:
        """Offer many memories, each into a space that the caller may write."""
        if isinstance(memories, str | bytes | Mapping) or not isinstance(memories, Iterable):
            raise InputError(
                "memories",
                memories,
                "must be several memories",
                "Pass a list; for one memory use remember().",
            )
        placed = [self._placed(memory, fields.get("space")) for memory in memories]
        outcomes = self.clew.remember_many(
            placed, **{name: value for name, value in fields.items() if name != "space"}
        )
        return [
            self._outcome(outcome, memory["space"])
            for outcome, memory in zip(outcomes, placed, strict=True)
        ]

    def _outcome(self, outcome: Outcome, space: str) -> Outcome:
        """Return an outcome without what memories say, where the caller may not read them."""
        if may(self.grant, Right.READ, space):
            return outcome
        similar = tuple(each._replace(text=None) for each in outcome.similar)
        conflicts = tuple(each._replace(text=None, explanation=None) for each in outcome.conflicts)
        return replace(outcome, canonical_text=None, similar=similar, conflicts=conflicts)

    def _placed(self, memory: Any, space: object) -> Any:
        if isinstance(memory, str):
            return {"text": memory, "space": self.space(space, Right.WRITE)}
        if not isinstance(memory, Mapping):
            return memory  # the engine says what is wrong with it
        return {**memory, "space": self.space(memory.get("space", space), Right.WRITE)}

    def remember_conversation(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        space: str | None = None,
        **options: Any,
    ) -> ConversationOutcome:
        """Keep a conversation in a space that the caller may write."""
        chosen = self.space(space, Right.WRITE)
        done = self.clew.remember_conversation(messages, space=chosen, **options)
        return (
            replace(done, facts=tuple(self._outcome(each, chosen) for each in done.facts))
            if done.facts
            else done
        )

    def import_path(self, *paths: str | Path, **options: Any) -> ImportReport:
        """Bring in files; which paths a caller may name is for the surface to say."""
        return self.clew.import_path(
            *paths, **{**options, "space": self.space(options.get("space"), Right.WRITE)}
        )

    def import_data(self, data: bytes | str, **options: Any) -> ImportReport:
        """Bring in one text or file that is not on disk."""
        return self.clew.import_data(
            data, **{**options, "space": self.space(options.get("space"), Right.WRITE)}
        )

    def sources(self, space: str | None = None) -> tuple[Source, ...]:
        """Return the imported files of a space that the caller may read."""
        return self.clew.sources(self.space(space, Right.READ))

    # --- recall ---

    def recall(self, query: str, *, where: Where = None, **options: Any) -> Recall:
        """Return what should be seen for a question."""
        spaces = options.get("spaces")
        if spaces is None:
            return self.clew.recall(query, where=self._where(where), **options)
        # Few recalls ask several
        from clew.engine.several_spaces import checked_spaces  # noqa: PLC0415

        for space in checked_spaces(spaces):
            self.space(space, Right.READ)
        return self.clew.recall(query, where=where, **options)

    def why(self, query: str, id: NodeId, *, where: Where = None, **options: Any) -> Why:
        """Return a memory's place in the whole ranking.

        One of another space than asked is not known.
        """
        return self.clew.why(query, id, where=self._where(where), **options)

    def why_not(self, query: str, id: NodeId, *, where: Where = None, **options: Any) -> WhyNot:
        """Return what kept a memory out of an answer."""
        return self.clew.why_not(query, id, where=self._where(where), **options)

    def summarise(self, id: NodeId) -> Made:
        """Return a summary of a memory that the caller may read."""
        return self.clew.summarise(self.known(id, Right.READ).id)

    def trace(self, answer: Recall) -> dict[str, Any]:
        """Return an answer as data that `replay` reads."""
        self.space(answer.question.where.space, Right.READ)
        return self.clew.trace(answer)

    def replay(self, trace: str | bytes | Mapping[str, Any]) -> Replay:
        """Ask a traced question again, in a space that the caller may read."""
        from clew.engine.tracing import read_trace  # noqa: PLC0415 - as in `Clew.replay`

        self.space(read_trace(trace).question.where.space, Right.READ)
        return self.clew.replay(trace)

    # --- look ---

    def get(self, id: NodeId, **times: Any) -> Node | None:
        """Return a memory, or None."""
        node = self.clew.get(id)
        if node is None or not known_to(self.grant, node.space):
            return None
        self.space(node.space, Right.READ)
        found = self.clew.get(id, **times)
        return next(iter(self._readable([] if found is None else [found])), None)

    def find(self, key: str, *, space: str | None = None) -> Node | None:
        """Return the memory that was written under an idempotency key, or None."""
        return self.clew.find(key, space=self.space(space, Right.READ))

    def history(self, id: NodeId) -> tuple[Event, ...]:
        """Return what happened to a memory, or that one of a space that the caller may read was forgotten."""
        if self.clew.get(id) is not None:
            self.known(id, Right.READ)
            return self.clew.history(id)
        events = tuple(event for event in self.clew.history(id) if self._told(event))
        if not events:
            raise unknown(id)
        return events

    def _told(self, event: Event) -> bool:
        """Tell whether the last word on a forgotten memory is for this caller.

        One that names no space is for the owner alone.
        """
        space = event.detail.get("space") if event.kind is EventKind.FORGET else None
        return may(self.grant, Right.READ, space if isinstance(space, str) else None)

    def versions(self, id: NodeId) -> tuple[Node, ...]:
        """Return a memory as it was ever held to be."""
        return () if self.get(id) is None else self._readable(self.clew.versions(id))

    def questions(self, id: NodeId) -> tuple[str, ...]:
        """Return the questions that were made for a memory."""
        return () if self.get(id) is None else self.clew.questions(id)

    def related(self, id: NodeId, **options: Any) -> Related:
        """Return what a memory names and what hangs together with it."""
        self.known(id, Right.READ)
        return self.clew.related(id, **options)

    def conflicts(self, *, space: str | None = None, **options: Any) -> Conflicts:
        """Return pairs of memories of a space that contradict each other."""
        return self.clew.conflicts(space=self.space(space, Right.READ), **options)

    def dismiss_conflict(self, id: str) -> Conflict:
        """Keep both memories of a conflict.

        Whoever may not know of them gets the error of an unknown conflict.
        """
        found = self.clew.conflict(id)
        if not known_to(self.grant, found.first.space):
            raise unknown_conflict(id)
        self.space(found.first.space, Right.READ)  # the answer tells both memories
        self.space(found.first.space, Right.WRITE)
        return self.clew.dismiss_conflict(id)

    def recent(self, limit: int = 10, *, where: Where = None, **options: Any) -> tuple[Node, ...]:
        """Return the newest memories."""
        return self.clew.recent(limit, where=self._where(where), **options)

    def important(
        self, limit: int = 10, *, where: Where = None, **options: Any
    ) -> tuple[Node, ...]:
        """Return the most important memories."""
        return self.clew.important(limit, where=self._where(where), **options)

    def popular(self, limit: int = 10, *, where: Where = None, **options: Any) -> tuple[Node, ...]:
        """Return the most recalled memories."""
        return self.clew.popular(limit, where=self._where(where), **options)

    def page(self, sort: str = "recent", *, where: Where = None, **options: Any) -> Page:
        """Return a list page by page."""
        return self.clew.page(sort, where=self._where(where), **options)

    def around(self, id: NodeId, **options: Any) -> Neighbourhood:
        """Return the part of the graph around a memory."""
        # Only who looks around needs it
        from clew.engine.neighbourhood import neighbourhood  # noqa: PLC0415

        self.known(id, Right.READ)
        return neighbourhood(self.clew, id, **options)

    def timeline(self, *, space: str | None = None, **options: Any) -> Timeline:
        """Return densities over time of one space."""
        from clew.engine.overview import timeline  # noqa: PLC0415 - as in `around`

        return timeline(self.clew, space=self.space(space, Right.READ), **options)

    def differences(self, *, where: Where = None, **options: Any) -> Differences:
        """Return what differs between two moments in one space."""
        from clew.engine.overview import differences  # noqa: PLC0415 - as in `around`

        return differences(self.clew, where=self._where(where), **options)

    def quality(self, *, space: str | None = None) -> Assessed:
        """Return how good the live texts of one space are."""
        from clew.engine.overview import quality  # noqa: PLC0415 - as in `around`

        return quality(self.clew, space=self.space(space, Right.READ))

    # --- change ---

    def link(self, source: NodeId, target: NodeId, **options: Any) -> Edge:
        """Connect two memories."""
        self.known(source, Right.WRITE)
        self.known(target, Right.WRITE)
        return self.clew.link(source, target, **options)

    def supersede(self, id: NodeId, text: str, **fields: Any) -> Outcome:
        """Put a new memory in the place of one, in the same space."""
        node = self.known(id, Right.WRITE)
        if (
            fields.get("space") is not None
            and self.space(fields["space"], Right.WRITE) != node.space
        ):
            raise InputError(
                "space", fields["space"], f"is another space than {id}'s", "Leave it out."
            )
        return self._outcome(self.clew.supersede(id, text, **fields), node.space)

    def invalidate(self, id: NodeId, **options: Any) -> Node:
        """Say that a memory stopped being true."""
        self.known(id, Right.WRITE)
        return self.clew.invalidate(id, **options)

    def expire(self, id: NodeId) -> Node:
        """Say that a memory is no longer believed."""
        self.known(id, Right.WRITE)
        return self.clew.expire(id)

    def reassert(self, id: NodeId, **options: Any) -> Node:
        """Say that a memory is true again."""
        self.known(id, Right.WRITE)
        return self.clew.reassert(id, **options)

    def update(self, id: NodeId, **fields: Any) -> Node:
        """Change what stands beside a memory's text."""
        self.known(id, Right.WRITE)
        return self.clew.update(id, **fields)

    def protect(self, id: NodeId, protected: bool = True) -> Node:
        """Keep a memory from being forgotten, or let it go again."""
        self.known(id, Right.WRITE)
        return self.clew.protect(id, protected)

    def forget(
        self,
        id: NodeId | Iterable[NodeId] | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Receipt:
        """Remove memories or documents, by id or by a filter on one space."""
        if id is None:
            done = self.clew.forget(
                where=self._where(where, Right.WRITE) if where or "query" in options else where,
                **options,
            )
        else:
            from clew.engine.forgetting import ids_of  # noqa: PLC0415 - as in `Clew.forget`

            ids = ids_of(id)
            for each in ids:
                self.known(each, Right.WRITE)
            done = self.clew.forget(ids, where=where, **options)
        # That another memory holds the same words tells of spaces which the caller may not know.
        return done if may(self.grant, Right.READ, None) else replace(done, shared=None)

    def search_files(self, text: str) -> tuple[FileCheck, ...]:
        """Count a text in the raw bytes of the store's files, which hold every space."""
        self.whole_store()
        return self.clew.search_files(text)

    def unarchive(self, id: NodeId) -> Node:
        """Bring back a memory from the archive."""
        self.known(id, Right.WRITE)
        return self.clew.unarchive(id)

    # --- care ---

    def stats(self, space: str | None = None) -> dict[str, Any]:
        """Return counts: of the whole store for whoever may administer it, else of one space."""
        if space is None and may(self.grant, Right.ADMIN, None):
            return self.clew.stats()
        return self.clew.stats(space=self.space(space, Right.READ))

    def decay(self, *, space: str | None = None, **options: Any) -> Decayed:
        """Archive what has faded, of one space or of all."""
        if space is None and may(self.grant, Right.ADMIN, None):
            return self.clew.decay(**options)
        return self.clew.decay(space=self.space(space, Right.ADMIN), **options)

    def export(self, *, space: str | None = None, **options: Any) -> Iterator[str]:
        """Yield a space, or the whole store, as lines of JSON."""
        if space is None and may(self.grant, Right.ADMIN, None):
            return self.clew.export(**options)
        return self.clew.export(space=self.space(space, Right.ADMIN), **options)

    def load(self, lines: Iterable[str], **options: Any) -> Loaded:
        """Bring in the lines of an export, whose spaces are its own."""
        self.whole_store()
        return self.clew.load(lines, **options)

    def backup(self, path: str | Path) -> Path:
        """Write a copy of the store."""
        self.whole_store()
        return self.clew.backup(path)

    def verify(self, *, repair: bool = False) -> tuple[Problem, ...]:
        """Check the store."""
        self.whole_store()
        return self.clew.verify(repair=repair)

    def repair(self) -> Repaired:
        """Repair the store."""
        self.whole_store()
        return self.clew.repair()
