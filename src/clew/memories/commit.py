"""From drafts to memories.

Hygiene, substance, vectors, duplicates, and one transaction per chunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

from clew.errors import DuplicateError, ProtectedError
from clew.ids import new_id as ulid
from clew.memories.conflicts.judging import explanation, judged, pair_id
from clew.memories.draft import Draft, OnDuplicate, cleaned, embedding_text, rejected, unchanged
from clew.memories.duplicates import extends, near_threshold
from clew.memories.embedding import Embed, agree_on_model, sources_of
from clew.memories.firewall.echo import echo_outcome, find_live_echo
from clew.memories.firewall.recalled_texts import RecalledTexts
from clew.memories.firewall.screening import FIX, REFUSE, redaction_note
from clew.memories.firewall.screening import RULE as SECRET
from clew.memories.firewall.trust import ARCHIVE, INSTRUCTION, assess_trust, warning
from clew.memories.questions import (
    NO_QUESTIONS,
    ask_questions,
    embeddings,
    gets_questions,
    question_detail,
)
from clew.memories.substance import reject_unsubstantial
from clew.memories.write_batch import Near, Pending
from clew.ports import Background, Clock, ModelInfo, Questioner, Questions, Store
from clew.settings import Settings
from clew.text.words import content_hash, keywords, sentence_list
from clew.times import iso
from clew.types import (
    Contradiction,
    Event,
    EventKind,
    Node,
    NodeId,
    Outcome,
    OutcomeKind,
    Quality,
    Similar,
    Vectors,
)

MOST_CONFLICTS = 3  # listed beside an inserted text, the surest
FORGOTTEN = "forgotten"
ALWAYS_INSERTED = (OnDuplicate.INSERT, OnDuplicate.REPLACE)
KEEP_BY_FORCE = "This text was forgotten in this space and is not kept again. To keep it all the same, use force."
COMPARED = ("title", "category", "trigger", "importance", "tags", "metadata", "source")
# What a draft holds where its writer said nothing: no reason for a note.
USUAL: Mapping[str, object] = {
    "title": "",
    "category": "observation",
    "trigger": "",
    "importance": 0.5,
    "tags": (),
    "metadata": {},
    "source": "",
}


@dataclass(frozen=True, slots=True)
class _Ready:
    """A chunk's vectors and token codes by the text they were made from, None when there is no model; its questions by memory's text."""

    vectors: Mapping[str, Vectors] | None
    notes: tuple[str, ...]
    questions: Mapping[str, Questions] = field(default_factory=dict)
    codes: Mapping[str, bytes | None] = field(default_factory=dict)


class Committer:
    """Decides what becomes of each draft and writes it. Safe to share between threads."""

    def __init__(
        self,
        store: Store,
        *,
        embed: Embed,
        model: Callable[[], ModelInfo],
        settings: Settings,
        clock: Clock,
        new_id: Callable[[datetime], NodeId] = ulid,
        questioner: Questioner | None = None,
        returned: RecalledTexts | None = None,
        background: Callable[[], Background] = Background,
    ) -> None:
        """Take the ports; `model` is asked only after `embed` gave vectors, and without a questioner no questions are made.

        `returned` is what recalls gave out lately; without it nothing is taken for an echo.
        """
        self._store = store
        self._embed = embed
        self._model = model
        self._settings = settings
        self._clock = clock
        self._new_id = new_id
        self._questioner = questioner
        self._returned = returned
        self._background = background

    def commit(self, drafts: Sequence[Draft]) -> list[Outcome]:
        """Return what became of each draft, in order; when it returns, everything is durable.

        A chunk of `memory.batch_size` drafts is one transaction: an error leaves the chunks before
        it written.
        """
        size = self._settings.memory.batch_size
        return [
            outcome
            for start in range(0, len(drafts), size)
            for outcome in self._commit_chunk(drafts[start : start + size])
        ]

    def _commit_chunk(self, drafts: Sequence[Draft]) -> list[Outcome]:
        judged = [self._judged(draft) for draft in drafts]
        ready = self._prepared([each for each in judged if isinstance(each, Draft)])
        if self._returned is not None:
            for space in dict.fromkeys(
                draft.space for draft in drafts if draft.on_duplicate not in ALWAYS_INSERTED
            ):
                self._returned.of(space).refresh(self._clock())
        with self._store.transaction():
            if ready.vectors:
                agree_on_model(self._store, self._model())
            pending = Pending(self._store, self._settings, self._background())
            settled = [
                self._settled(each, ready, pending) if isinstance(each, Draft) else each
                for each in judged
            ]
            outcomes = [_noted(draft, each) for draft, each in zip(drafts, settled, strict=True)]
            pending.write()
            if refused := [
                str(each.rule) for each in outcomes if each.outcome is OutcomeKind.REJECTED
            ]:
                self._store.reject(Counter(refused))
        return outcomes

    def _judged(self, draft: Draft) -> Draft | Outcome:
        """Return the draft with its text in order, or its rejection."""
        if draft.secrets and self._settings.firewall.secrets == REFUSE:
            return replace(
                rejected(SECRET, sentence_list(draft.secrets), "no secret"), notes=(FIX,)
            )
        text = (
            unchanged(draft.text)
            if draft.verbatim
            else cleaned(draft.text, limits=self._settings.memory)
        )
        if not isinstance(text, str):
            return text
        clean = draft if text == draft.text else replace(draft, text=text)
        if self._settings.firewall.instructions == REFUSE and (flags := assess_trust(clean).flags):
            return rejected(INSTRUCTION, sentence_list(flags), "no orders to the reader")
        if draft.verbatim:
            return clean
        # The title counts: "Matt's phone" makes a bare number worth keeping.
        return (
            reject_unsubstantial(embedding_text(clean), settings=self._settings.substance) or clean
        )

    def _prepared(self, drafts: Sequence[Draft]) -> _Ready:
        """Embed in one batch, before the write lock is taken, the texts that are not there already, with their questions."""
        return self._made([draft for draft in drafts if not self._is_known(draft)])

    def _made(self, drafts: Sequence[Draft]) -> _Ready:
        if not drafts:
            return _Ready({}, ())
        questions = ask_questions(drafts, self._questioner, self._settings.questions)
        sources = sources_of(
            map(embedding_text, drafts),
            (text for each in questions.values() for text in each.texts),
        )
        found = self._embed(list(sources.values()))
        rows = dict(zip(sources, found.rows(), strict=False))
        vectors = (
            None if found.vectors is None else {text: vector for text, (vector, _) in rows.items()}
        )
        return _Ready(
            vectors, found.notes, questions, {text: codes for text, (_, codes) in rows.items()}
        )

    def _is_known(self, draft: Draft) -> bool:
        if draft.idempotency_key is None and not self._seeks_same(draft):
            return False
        there = Pending(self._store, self._settings, self._background())
        if draft.on_duplicate is OnDuplicate.REPLACE:
            return False
        return (
            there.by_key(draft) is not None or self._same(draft, there, self._clock()) is not None
        )

    def _same(self, draft: Draft, pending: Pending, now: datetime) -> Node | None:
        return pending.by_text(draft, at=now) if self._seeks_same(draft) else None

    def _seeks_same(self, draft: Draft) -> bool:
        return self._settings.duplicates.exact and draft.on_duplicate not in ALWAYS_INSERTED

    def _near(self, draft: Draft, ready: _Ready, pending: Pending, now: datetime) -> Near | None:
        if not draft.near:
            return None
        if ready.vectors is None:
            return pending.by_words(draft, at=now)
        return pending.near(draft, ready.vectors[embedding_text(draft)], at=now)

    def _settled(self, draft: Draft, ready: _Ready, pending: Pending) -> Outcome:
        """Reinforce what is there already or insert the draft; runs inside the transaction."""
        now = self._clock()
        earlier = pending.by_key(draft)
        if earlier and draft.on_duplicate is not OnDuplicate.REPLACE:
            return _repeated(draft, earlier)
        if same := self._same(draft, pending, now):
            outcome = Outcome(
                outcome=OutcomeKind.EXACT_DUPLICATE,
                id=same.id,
                rule="same_text",
                value=same.content_hash,
                canonical_id=same.id,
            )
            return _reinforced(draft, outcome, EventKind.REINFORCE_EXACT, pending, now)
        refused = self._forgotten(draft)
        if earlier and not refused:
            pending.remove(_replaced(draft, earlier))
        if refused or draft.on_duplicate in ALWAYS_INSERTED:  # whatever is there already
            return refused or self._inserted(draft, self._renewed(draft, ready), pending, now)
        draft, bounded = self._bounded(draft, pending, now)
        if echo := self._echoed(draft, pending, now):
            return echo
        ready = self._renewed(draft, ready)
        near = self._near(draft, ready, pending, now)
        if near and (alike := near.alike):
            limit = self._background().passage_cosine_at(
                near_threshold(draft, self._settings.duplicates)
            )
            outcome = Outcome(
                outcome=OutcomeKind.NEAR_DUPLICATE,
                id=alike.id,
                rule="similar_text",
                value=alike.score,
                limit=limit,
                canonical_id=alike.id,
            )
            return _reinforced(draft, outcome, EventKind.REINFORCE_NEAR, pending, now)
        return self._inserted(draft, ready, pending, now, near=near, bounded=bounded)

    def _inserted(
        self,
        draft: Draft,
        ready: _Ready,
        pending: Pending,
        now: datetime,
        *,
        near: Near | None = None,
        bounded: tuple[str, ...] = (),
    ) -> Outcome:
        """Make the draft a memory of its own."""
        said = embedding_text(draft)
        node = _node(draft, self._new_id(now), now, max_keywords=self._settings.memory.max_keywords)
        marked = warning(assess_trust(draft).flags, self._settings.firewall)
        if marked and self._settings.firewall.instructions == ARCHIVE:
            node = replace(node, archived=True)
        questions = (
            ready.questions.get(said, NO_QUESTIONS)
            if gets_questions(draft, self._settings.questions)
            else NO_QUESTIONS
        )
        vectors = ready.vectors or {}
        pending.add(
            node,
            vectors.get(said),
            embeddings(node.id, questions.texts, vectors),
            codes=ready.codes.get(said),
        )
        if near:
            pending.relate(node, near.nearest)
        pending.note(
            Event(
                node=node.id,
                kind=EventKind.ADD,
                at=now,
                detail={**_whence(draft), **question_detail(questions.texts)},
            )
        )
        notes = (*ready.notes, *bounded, *filter(None, (questions.note, marked)))
        outcome = _compared(
            draft, Outcome(outcome=OutcomeKind.INSERTED, id=node.id, notes=notes), near
        )
        return self._contradicting(node, outcome, near)

    def _contradicting(self, node: Node, outcome: Outcome, near: Near | None) -> Outcome:
        """Return the outcome of a new memory with the near ones that it may contradict."""
        if near is None or not near.compared or node.archived:
            return outcome
        found: list[Contradiction] = []
        for other, cosine in near.compared:
            share = None if cosine is None else self._background().passage_share(cosine)
            if difference := judged(
                other, node, share=share, least_score=self._settings.conflicts.least_score
            ):
                told = not assess_trust(other).flags
                known = (
                    explanation(difference) if told else None,
                    difference.score,
                    other.text if told else None,
                )
                found.append(
                    Contradiction(
                        other.id, pair_id(other.id, node.id), str(difference.kind), *known
                    )
                )
        if not found:
            return outcome
        conflicts = tuple(sorted(found, key=lambda each: (-each.score, each.id))[:MOST_CONFLICTS])
        return replace(outcome, conflicts=conflicts, notes=(*outcome.notes, _warning(conflicts)))

    def _forgotten(self, draft: Draft) -> Outcome | None:
        """Reject a text that was forgotten in this space.

        By force it is kept, and no longer counts as forgotten.
        """
        known = content_hash(draft.text)
        if not self._store.find_tombstones(draft.space, [known]):
            return None
        if draft.force:
            self._store.drop_tombstones(draft.space, [known])
            return None
        return Outcome(outcome=OutcomeKind.REJECTED, rule=FORGOTTEN, notes=(KEEP_BY_FORCE,))

    def _bounded(
        self, draft: Draft, pending: Pending, now: datetime
    ) -> tuple[Draft, tuple[str, ...]]:
        """Let a draft end where a memory with the same text begins, and say so.

        Together they tell what was said, and nothing twice.
        """
        later = pending.goes_on(draft, at=now) if self._seeks_same(draft) else None
        if later is None:
            return draft, ()
        note = f"It is true until {iso(later.t_valid)}: from then on {later.id} says the same."
        return replace(draft, valid_to=later.t_valid), (note,)

    def _echoed(self, draft: Draft, pending: Pending, now: datetime) -> Outcome | None:
        """Return what becomes of a text that says only what was returned lately.

        It reinforces nothing, or recall would feed itself.
        """
        if self._returned is None:
            return None
        echo = find_live_echo(
            draft,
            self._store,
            self._returned.of(draft.space),
            share=self._settings.firewall.echo_share,
            now=now,
        )
        if echo is None:
            return None
        outcome = echo_outcome(echo, self._settings.firewall)
        if draft.on_duplicate is OnDuplicate.ERROR:
            raise _duplicate(outcome)
        if outcome.id is not None:
            pending.claim(draft, outcome.id)
        return outcome

    def _renewed(self, draft: Draft, ready: _Ready) -> _Ready:
        """Return what is ready for a draft, made now if what was there before the transaction is gone: another process forgot it."""
        if ready.vectors is None or embedding_text(draft) in ready.vectors:
            return ready
        made = self._made([draft])
        if made.vectors is not None:
            agree_on_model(self._store, self._model())
        return made


def _noted(draft: Draft, outcome: Outcome) -> Outcome:
    """Return the outcome with what was taken out of the draft."""
    kept = outcome.outcome is not OutcomeKind.REJECTED
    notes = (*draft.notes, *((redaction_note(draft.secrets),) if draft.secrets and kept else ()))
    return replace(outcome, notes=(*outcome.notes, *notes)) if notes else outcome


def _compared(draft: Draft, outcome: Outcome, near: Near | None) -> Outcome:
    """Return the outcome of an inserted draft with what lies near it, and which of these it could take the place of."""
    if near is None or not near.similar:
        return outcome
    similar = tuple(
        Similar(node.id, cosine, None if assess_trust(node).flags else node.text)
        for node, cosine in near.similar
    )
    extended = next((node.id for node, _ in near.similar if extends(draft, node)), None)
    if extended is None:
        return replace(outcome, similar=similar)
    return replace(
        outcome, similar=similar, may_supersede=extended, notes=(*outcome.notes, _offer(extended))
    )


def _offer(id: NodeId) -> str:
    return (
        f"It says what {id} says, and more; both are kept. If it replaces that one, supersede {id} with the same text "
        f"(clew supersede {id} TEXT, in MCP the tool update)."
    )


def _warning(conflicts: Sequence[Contradiction]) -> str:
    ids = sentence_list([each.id for each in conflicts])
    return (
        f"It may contradict {ids}; nothing was done. If it replaces what is there, supersede that with the same text; "
        f"if both are true: clew conflicts dismiss {conflicts[0].conflict}"
    )


def without_conflict(outcome: Outcome, id: NodeId) -> Outcome:
    """Return an outcome without a conflict that is settled: the memory was superseded."""
    if all(each.id != id for each in outcome.conflicts):
        return outcome
    left = tuple(each for each in outcome.conflicts if each.id != id)
    notes = [note for note in outcome.notes if note != _warning(outcome.conflicts)]
    return replace(outcome, conflicts=left, notes=(*notes, *((_warning(left),) if left else ())))


def without_offer(outcome: Outcome) -> Outcome:
    """Return an outcome without the offer to supersede a memory: it was done."""
    notes = tuple(note for note in outcome.notes if note != _offer(str(outcome.may_supersede)))
    return replace(outcome, may_supersede=None, notes=notes)


def _reinforced(
    draft: Draft, outcome: Outcome, kind: EventKind, pending: Pending, now: datetime
) -> Outcome:
    """Note that the canonical memory was told again, or raise when the caller wants no duplicate."""
    if draft.on_duplicate == OnDuplicate.ERROR:
        raise _duplicate(outcome)
    # The wording of a near duplicate is kept as evidence.
    told = {"cosine": outcome.value, "text": draft.text} if kind == EventKind.REINFORCE_NEAR else {}
    pending.note(
        Event(node=str(outcome.canonical_id), kind=kind, at=now, detail={**told, **_whence(draft)})
    )
    pending.claim(draft, str(outcome.canonical_id))
    kept = pending.node(str(outcome.canonical_id))
    # an order is not served without its mark
    if kept is not None and kind == EventKind.REINFORCE_NEAR and not assess_trust(kept).flags:
        outcome = replace(outcome, canonical_text=kept.text)
    ignored = [] if kept is None else _ignored(draft, kept)
    if ignored:
        outcome = replace(
            outcome,
            notes=(
                *outcome.notes,
                f"The memory keeps its own {sentence_list(ignored)}; what was offered was not taken over.",
            ),
        )
    return outcome


def _ignored(draft: Draft, kept: Node) -> list[str]:
    """Return which fields somebody gave that the memory has another value of."""
    differ = [
        name
        for name in COMPARED
        if getattr(draft, name) not in (getattr(kept, name), USUAL.get(name))
    ]
    times = {
        "valid_from": (draft.valid_from, kept.t_valid),
        "valid_to": (draft.valid_to, kept.t_invalid),
    }
    return differ + [
        name for name, (offered, there) in times.items() if offered not in (None, there)
    ]


def _duplicate(outcome: Outcome) -> DuplicateError:
    return DuplicateError(
        f"{outcome.canonical_id} says this already ({outcome.outcome}); nothing of this batch's chunk was written. "
        "Use on_duplicate reinforce to count it, or insert to keep both.",
        canonical_id=outcome.canonical_id,
        outcome=str(outcome.outcome),
        rule=outcome.rule,
        value=outcome.value,
        limit=outcome.limit,
    )


def _replaced(draft: Draft, earlier: Node) -> Node:
    """Return the memory that a draft replaces, or raise if it is protected or only shares the key."""
    if earlier.protected:
        raise ProtectedError(
            f"Memory {earlier.id} is protected and was not replaced. Lift the protection with: clew protect {earlier.id} --off",
            id=earlier.id,
        )
    if earlier.idempotency_key != draft.idempotency_key:
        raise DuplicateError(
            f"The key {draft.idempotency_key} stands for memory {earlier.id}, which was written under another key. Use another key.",
            id=earlier.id,
        )
    return earlier


def _repeated(draft: Draft, earlier: Node) -> Outcome:
    """Return the outcome of a key that was seen.

    Whoever retries gets the memory of the first time.
    """
    changed = earlier.content_hash != content_hash(draft.text)
    notes = (
        ("The text differs from the one kept under this key, which stays as it is.",)
        if changed
        else ()
    )
    return Outcome(
        outcome=OutcomeKind.EXACT_DUPLICATE,
        id=earlier.id,
        rule="idempotency_key",
        value=draft.idempotency_key,
        canonical_id=earlier.id,
        notes=notes,
    )


@cache
def _assess() -> Callable[..., Quality]:
    # Its word lists take 15 ms to load, which only a write should pay
    from clew.memories.quality import assess  # noqa: PLC0415

    return assess


def _node(draft: Draft, id: NodeId, now: datetime, *, max_keywords: int) -> Node:
    return Node(
        id=id,
        text=draft.text,
        t_created=now,
        # A memory drafted to end and committed after that moment was true for no time at all, never
        # for less.
        t_valid=draft.valid_from or min(now, draft.valid_to or now),
        t_invalid=draft.valid_to,
        content_hash=content_hash(draft.text),
        space=draft.space,
        title=draft.title,
        category=draft.category,
        trigger=draft.trigger,
        importance=draft.importance,
        stability=draft.stability,
        source=draft.source,
        keywords=draft.keywords or keywords(draft.text, limit=max_keywords),
        tags=draft.tags,
        metadata=draft.metadata,
        idempotency_key=draft.idempotency_key,
        quality=_assess()(draft.text, title=draft.title),
    )


def _whence(draft: Draft) -> dict[str, str]:
    return {"source": draft.source} if draft.source else {}
