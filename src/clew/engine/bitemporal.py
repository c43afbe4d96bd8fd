"""Changes of bitemporal truth: supersede, invalidate, expire and reassert.

Supersede, invalidate, expire, reassert.

A row has one valid interval (`t_valid`, `t_invalid`) and one of belief (`t_created`, `t_expired`).
A change of the valid interval begins a new belief: the row keeps its id and with it accesses,
edges, keys and protection, and what was believed until now stays as a version, a row of its own
with the same words and vectors whose `root` is the id that the fact keeps. So for every `as_of` and
`known_at` a filter gives what was believed then about that time, and forgetting the fact forgets
its versions.

    remembered in March        A  true from March         believed from March
    invalidated in June        A  true from March to May  believed from June
                               V  true from March         believed from March to June

A memory that was told without a beginning counts from when it was told. Ended before that, it was
true until then all the same, and since when is not known: its interval opens at `BEGINNING`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from clew.engine.versions import carried, head_of, rows_of, successor
from clew.errors import InputError, NotFoundError
from clew.memories.commit import Committer, without_conflict, without_offer
from clew.memories.draft import Draft, OnDuplicate, cleaned, embedding_text
from clew.memories.embedding import Embed, is_message, sources_of
from clew.memories.firewall.recalled_texts import RecalledTexts
from clew.memories.questions import PreparedQuestioner, ask_questions
from clew.ports import Background, Clock, ModelInfo, Questioner, Store
from clew.settings import Settings
from clew.text.words import content_hash, fold, terms, words
from clew.times import Moment, iso, parse_time
from clew.types import (
    BEGINNING,
    SUPERSEDES,
    Edge,
    Event,
    EventKind,
    Filter,
    Kind,
    Node,
    NodeId,
    Outcome,
    OutcomeKind,
    Stability,
)

# Which memories are about the same? Those that go out of date, with the same title and category,
# however it is written.

# memories looked at for the same subject; one with the same title holds all its words and stands
# among the first
LOOKED_AT = 50


def same_subject(store: Store, new: Node, now: datetime) -> list[Node]:
    """Return the dynamic memories of the same title and category that are true when the new one begins, or later."""
    if new.stability is not Stability.DYNAMIC or not (subject := subject_of(new.title)):
        return []
    # what had not ended by then
    where = Filter(
        space=new.space, kinds=(Kind.MEMORY,), categories=(new.category,), now=new.t_valid
    )
    found = store.sparse(terms(new.title), where, limit=LOOKED_AT)
    nodes = store.get([match.id for match in found if match.id != new.id]).values()
    same = [
        node
        for node in nodes
        if node.stability is Stability.DYNAMIC and subject_of(node.title) == subject
    ]
    # What the clock has not come to yet is left alone, and what begins where it ends was never
    # true.
    return [node for node in same if node.t_created <= now and node.t_valid != node.t_invalid]


def subject_of(title: str) -> Sequence[str]:
    """Return the words of a title, however they are written.

    >>> subject_of("Redis  TTL") == subject_of("redis-ttl"), subject_of(" … ")
    (True, [])
    """
    return [fold(word) for word in words(title)]


INHERITED = ("title", "space", "category", "importance", "stability", "tags", "metadata")


@dataclass(frozen=True, slots=True)
class Truth:
    """Changes what is held true.

    Each change is one transaction at one moment of the clock, read inside it.
    """

    store: Store
    embed: Embed
    model: Callable[[], ModelInfo]
    settings: Settings
    clock: Clock
    new_id: Callable[[datetime], NodeId]
    draft: Callable[[str, Mapping[str, Any]], Draft]
    questioner: Questioner | None = None
    returned: RecalledTexts | None = None
    background: Callable[[], Background] = Background

    # --- changes ---

    def supersede(
        self, id: NodeId, text: str, *, valid_from: Moment | None, fields: Mapping[str, Any]
    ) -> Outcome:
        """Put a new fact in the place of one, which ends where the new one begins.

        A rejected text changes nothing.
        """
        old = _existing(self.store, id)
        inherited = {name: getattr(old, name) for name in INHERITED}
        offered = self.draft(text, {**inherited, **fields, "valid_from": valid_from})
        if offered.space != old.space:
            raise InputError(
                "space",
                offered.space,
                f"is not that of {id}, {old.space!r}",
                "Leave it out: a fact stays in its space.",
            )
        # alike is what a correction is to what it corrects
        offered = replace(offered, on_duplicate=OnDuplicate.INSERT)
        ahead = self._made_ahead(offered)
        with self.store.transaction():
            now = self.clock()
            commit = self._committer(ahead, now).commit
            if (
                offered.idempotency_key is not None
                and self.store.find_key(offered.space, offered.idempotency_key) is not None
            ):
                return commit([offered])[0]  # a retry: it was done the first time
            old = self._changeable(id, now)
            self._check_new(old, offered, now)
            if not fields and (same := self._same_text(old, offered)):
                return self._replaced_by(old, same, now)
            outcome = commit([_placed(offered, old, now)])[0]
            if outcome.outcome is OutcomeKind.INSERTED and outcome.id is not None:
                return replace(
                    outcome, notes=(*outcome.notes, *self._succeed(old, outcome.id, now))
                )
            return outcome

    def remember(self, offered: Draft) -> Outcome:
        """Commit a draft and let it take its place by itself among the memories of its subject and category, told in the notes.

        It ends the one that is true when it begins; where it arrives late, it ends itself where the
        next one begins.
        """
        ahead = self._made_ahead(offered)
        with self.store.transaction():
            now = self.clock()
            outcome = self._committer(ahead, now).commit([offered])[0]
            if outcome.outcome is not OutcomeKind.INSERTED or outcome.id is None:
                return outcome
            placed = self._take_place(_existing(self.store, outcome.id), now)
            if any(str(outcome.may_supersede) in note for note in placed):
                outcome = without_offer(outcome)
            for each in outcome.conflicts:
                if any(each.id in note for note in placed):
                    outcome = without_conflict(outcome, each.id)
            return replace(outcome, notes=(*outcome.notes, *placed))

    def invalidate(self, id: NodeId, *, at: Moment | None) -> Node:
        """Say that a fact stopped being true at a time, or at another than was said before.

        One whose beginning nobody stated may have stopped before it was told: then it was true
        until that time, whenever it began.
        """
        ends = None if at is None else parse_time(at, "at")
        with self.store.transaction():
            now = self.clock()
            node = self._changeable(id, now)
            ends = max(now, node.t_valid) if ends is None else ends
            began = self._began(node, ends)
            _not_before(ends, node, began, "at")
            self._check_next(node, ends)
            if ends != node.t_invalid:
                self._end(
                    node, now, EventKind.INVALIDATE, {"at": iso(ends)}, began=began, ends=ends
                )
            return _existing(self.store, id)

    def expire(self, id: NodeId) -> Node:
        """Say that a fact is believed no longer, with all its intervals.

        It stays for `known_at`.
        """
        with self.store.transaction():
            now = self.clock()
            node = self._believed(id, now)
            for row in [node] if node.root else rows_of(self.store, node):
                if row.t_expired is None:
                    self.store.update(row.id, t_expired=_after(now, row))
                    self.store.append(
                        [Event(node=row.id, kind=EventKind.EXPIRE, at=now, detail={})]
                    )
            return _existing(self.store, id)

    def reassert(self, id: NodeId, *, valid_from: Moment | None) -> Node:
        """Say that a fact that had ended, or was believed no longer, is true again from a time on."""
        begins = None if valid_from is None else parse_time(valid_from, "valid_from")
        with self.store.transaction():
            now = self.clock()
            node = head_of(self.store, _memory(_existing(self.store, id)))
            _after(now, node)
            begins = _reopened(node, begins, now)
            self._keep(node, now)
            self.store.update(
                node.id, t_created=now, t_expired=None, t_valid=begins, t_invalid=None
            )
            self.store.append(
                [
                    Event(
                        node=node.id,
                        kind=EventKind.UPDATE,
                        at=now,
                        detail={"reasserted": iso(begins)},
                    )
                ]
            )
            return _existing(self.store, node.id)

    # --- what a change is made of ---

    def _succeed(self, old: Node, new: NodeId, now: datetime) -> tuple[str, ...]:
        """End the old fact where the new one begins, and connect them.

        What had ended before stays as it was. Say what is unusual.

        One that was said to begin even later was never true, as is known now: it ends where it
        begins.
        """
        at = _existing(self.store, new).t_valid
        began = self._began(old, at)
        ends = max(at, began)
        said = {"by": new, "at": iso(at)}
        if old.t_invalid is None or ends < old.t_invalid:
            self._end(old, now, EventKind.SUPERSEDE, said, began=began, ends=ends)
        else:
            self.store.append([Event(node=old.id, kind=EventKind.SUPERSEDE, at=now, detail=said)])
        if old.protected:
            self.store.update(new, protected=True)
        self._connect(new, old.id, at, now)
        self.store.link(carried(self.store, old, new, now))
        if began != old.t_valid:
            return (
                f"Since when {old.id} was true was never said: it was until {iso(at)}, and at every time before.",
            )
        return (
            (
                f"{old.id} was to begin at {iso(began)}, which is later: as is known now, it never was true.",
            )
            if at < began
            else ()
        )

    def _same_text(self, old: Node, offered: Draft) -> Node | None:
        """Return the live memory that was told after the old one and says the new text already.

        It need not be stored twice.
        """
        text = cleaned(offered.text, limits=self.settings.memory)
        ids = self.store.find_hash(old.space, content_hash(text)) if isinstance(text, str) else ()
        found = self.store.get(ids).values() if ids else ()
        later = [node for node in found if node.id != old.id and _may_follow(node, old, offered)]
        return next((node for node in later if not successor(self.store, node)), None)

    def _replaced_by(self, old: Node, new: Node, now: datetime) -> Outcome:
        """Let a memory that is there already take the place of another."""
        notes = self._succeed(old, new.id, now)
        return Outcome(
            outcome=OutcomeKind.EXACT_DUPLICATE,
            id=new.id,
            rule="same_text",
            value=new.content_hash,
            canonical_id=new.id,
            notes=notes,
        )

    def _connect(self, new: NodeId, old: NodeId, at: datetime, now: datetime) -> None:
        self.store.append(
            [
                Event(
                    node=new,
                    kind=EventKind.SUPERSEDE,
                    at=now,
                    detail={"supersedes": old, "at": iso(at)},
                )
            ]
        )
        self.store.link([Edge(source=new, target=old, kind=SUPERSEDES, t_created=now)])

    def _take_place(self, new: Node, now: datetime) -> tuple[str, ...]:
        """End the fact of the same subject that is true when the new one begins, and the new one where the next begins; say so."""
        same = same_subject(self.store, new, now)
        before = [node for node in same if node.t_valid <= new.t_valid]
        after = min(
            (node for node in same if node.t_valid > new.t_valid),
            key=lambda node: (node.t_valid, node.id),
            default=None,
        )
        if len(before) > 1:  # nobody can tell which one it replaces
            return (
                f"Nothing was superseded: {len(before)} memories with the same subject are true when it begins.",
            )
        notes = []
        for old in before:
            self._succeed(old, new.id, now)
            notes.append(f"It supersedes {old.id}, which has the same subject.")
        if after is not None and (new.t_invalid is None or after.t_valid < new.t_invalid):
            later = after.root or after.id
            self.store.update(new.id, t_invalid=after.t_valid)
            told = {"by": later, "at": iso(after.t_valid)}
            self.store.append([Event(node=new.id, kind=EventKind.SUPERSEDE, at=now, detail=told)])
            self._connect(later, new.id, after.t_valid, now)
            notes.append(
                f"It came late and is true until {iso(after.t_valid)}: then {later} begins, which has the same subject."
            )
        return tuple(notes)

    def _end(
        self,
        node: Node,
        now: datetime,
        kind: EventKind,
        said: Mapping[str, Any],
        *,
        began: datetime,
        ends: datetime,
    ) -> None:
        """Give a row its interval as known from now on.

        The event tells where it ended and began before this change, if otherwise.
        """
        version = self._keep(replace(node, t_expired=now), now)
        self.store.update(node.id, t_created=now, t_valid=began, t_invalid=ends)
        was = {} if node.t_invalid is None else {"was": iso(node.t_invalid)}
        opened = {} if began == node.t_valid else {"was_from": iso(node.t_valid)}
        kept = {"version": version} if version else {}
        self.store.append(
            [Event(node=node.id, kind=kind, at=now, detail={**said, **was, **opened, **kept})]
        )

    def _began(self, node: Node, ends: datetime) -> datetime:
        """Return since when a fact is true that ends at a time.

        One that was told later and nobody dated, since before all times.
        """
        return BEGINNING if ends < node.t_valid and self._undated(node) else node.t_valid

    def _undated(self, node: Node) -> bool:
        """Tell whether a fact counts from when it was told only because nobody said since when it is true.

        What took another's place, or was asserted again, begins where it was put.
        """
        events = self.store.events(node.id)
        told = next((event.at for event in events if event.kind is EventKind.ADD), None)
        return told == node.t_valid and all(
            {"supersedes", "reasserted"}.isdisjoint(event.detail) for event in events
        )

    def _keep(self, node: Node, now: datetime) -> NodeId | None:
        """Keep a row as it is as a version of its fact, vectors and names too.

        One that was never seen at any time is not worth a row.
        """
        if node.t_expired == node.t_created or node.t_invalid == node.t_valid:
            return None
        version = replace(
            node,
            id=self.new_id(now),
            root=node.root or node.id,
            idempotency_key=None,
            protected=False,
        )
        vectors = [replace(each, node=version.id) for each in self.store.embeddings([node.id])]
        told = Event(
            node=version.id, kind=EventKind.ADD, at=now, detail={"version_of": version.root}
        )
        self.store.insert([version], vectors, [told])
        self.store.mention(
            [
                said._replace(node=version.id)
                for said in self.store.mentions([node.id]).get(node.id, ())
            ]
        )
        return version.id

    # --- what may be changed ---

    def _changeable(self, id: NodeId, now: datetime) -> Node:
        """Return a row whose end may be set: believed, and with nothing in its place."""
        node = self._believed(id, now)
        if later := successor(self.store, node):
            raise InputError(
                "id",
                id,
                f"was superseded by {later}",
                f"Change {later}, or let this one hold again: clew reassert {id}",
            )
        return node

    def _believed(self, id: NodeId, now: datetime) -> Node:
        node = _memory(_existing(self.store, id))
        if node.t_expired is not None:
            head = node.root or id
            way_out = (
                f"Believe it again with: clew reassert {id}"
                if head == id
                else f"Change the fact itself: {head}"
            )
            raise InputError(
                "id", id, f"is believed no longer since {iso(node.t_expired)}", way_out
            )
        _after(now, node)
        return node

    def _check_new(self, old: Node, offered: Draft, now: datetime) -> None:
        text = cleaned(offered.text, limits=self.settings.memory)
        if isinstance(text, str) and content_hash(text) == old.content_hash:
            raise InputError(
                "text",
                offered.text,
                f"is what {old.id} says already",
                "To change when it is true: invalidate, reassert.",
            )
        begins = _placed(offered, old, now).valid_from or now
        if any(
            row.t_expired is None and row.t_valid < old.t_valid for row in rows_of(self.store, old)
        ):
            _not_before(
                begins, old, old.t_valid, "valid_from"
            )  # it was true in an earlier interval too, which the new fact would run through
        if offered.valid_to is not None and offered.valid_to <= begins:
            raise InputError(
                "valid_to",
                iso(offered.valid_to),
                f"must be after {iso(begins)}, when it begins",
                "Give a later time.",
            )

    def _check_next(self, node: Node, ends: datetime) -> None:
        """Refuse to let one interval of a fact run into its next."""
        later = [
            row.t_valid
            for row in rows_of(self.store, node)
            if row.t_expired is None and row.t_valid > node.t_valid
        ]
        if later and ends > min(later):
            raise InputError(
                "at",
                iso(ends),
                f"is after {iso(min(later))}, from when it is true again",
                "Give an earlier time.",
            )

    # --- the new text ---

    def _made_ahead(self, offered: Draft) -> tuple[Embed, Questioner | None]:
        """Make questions and embed before the write lock is taken.

        Nobody waits while a model thinks.
        """
        text = cleaned(offered.text, limits=self.settings.memory)
        if not isinstance(text, str):
            return self.embed, None  # it will be rejected
        clean = replace(offered, text=text)
        questions = ask_questions([clean], self.questioner, self.settings.questions)
        wanted = list(
            sources_of(
                [embedding_text(clean)],
                (each for made in questions.values() for each in made.texts),
            ).values()
        )
        made = self.embed(wanted)
        return (
            lambda texts: made if list(texts) == wanted else self.embed(texts)
        ), PreparedQuestioner(questions, self.questioner)

    def _committer(self, ahead: tuple[Embed, Questioner | None], now: datetime) -> Committer:
        """Return a committer whose clock stands still.

        What begins and what ends by one change do so at one moment.
        """
        embed, questioner = ahead
        return Committer(
            self.store,
            embed=embed,
            model=self.model,
            settings=self.settings,
            clock=lambda: now,
            new_id=self.new_id,
            questioner=questioner,
            returned=self.returned,
            background=self.background,
        )


def _existing(store: Store, id: NodeId) -> Node:
    node = store.get([id]).get(id)
    if node is None:
        raise NotFoundError(f"No memory {id}. List them with: clew list", id=id)
    return node


def _memory(node: Node) -> Node:
    if is_message(node):
        raise InputError(
            "id",
            node.id,
            "is a message of a conversation",
            "Say what is true now with remember, or forget the conversation.",
        )
    if node.kind is not Kind.MEMORY:
        raise InputError(
            "id",
            node.id,
            f"is a {node.kind} of an imported file",
            "Import the changed file: its earlier state expires.",
        )
    return node


def _after(now: datetime, node: Node) -> datetime:
    """Return now, unless the clock has gone back behind what it wrote: belief has an order."""
    last = max(node.t_created, node.t_expired or node.t_created)
    if now < last:
        raise InputError(
            "clock",
            iso(now),
            f"is before {iso(last)}, when {node.id} was changed last",
            "Set the clock right, or wait.",
        )
    return now


def _not_before(at: datetime, node: Node, began: datetime, field: str) -> None:
    if at < began:
        problem = f"is before {iso(began)}, when {node.id} became true"
        way_out = f"Give a later time. What never was true, or began at another time: clew expire {node.id}, and say it anew."
        raise InputError(field, iso(at), problem, way_out)


def _may_follow(node: Node, old: Node, offered: Draft) -> bool:
    """Tell whether a memory with the new text began after the old one, at the time that the new text is said to begin."""
    lasts = node.t_invalid is None and node.root is None and offered.valid_to is None
    return lasts and node.t_valid >= old.t_valid and offered.valid_from in (None, node.t_valid)


def _placed(offered: Draft, old: Node, now: datetime) -> Draft:
    """Return the draft with its beginning: now, or with what it replaces if that is still to come.

    And with the end of what had one.
    """
    begins = offered.valid_from or max(now, old.t_valid)
    inherits = offered.valid_to is None and old.t_invalid is not None and begins < old.t_invalid
    return replace(
        offered, valid_from=begins, valid_to=old.t_invalid if inherits else offered.valid_to
    )


def _reopened(node: Node, begins: datetime | None, now: datetime) -> datetime:
    """Return when a fact begins to be true again, which is not before it ended."""
    if node.t_expired is not None:
        return begins or now
    if node.t_invalid is None:
        raise InputError(
            "id",
            node.id,
            "is true without end already",
            f"End it first: clew invalidate {node.id} --at TIME",
        )
    chosen = begins or max(now, node.t_invalid)
    if chosen < node.t_invalid:
        problem = f"is before {iso(node.t_invalid)}, until when {node.id} is true already"
        raise InputError(
            "valid_from",
            iso(chosen),
            problem,
            f"Give a later time, or move the end: clew invalidate {node.id} --at TIME",
        )
    return chosen
