"""Writes with the help of a language model: judged drafts, added names, facts of conversations.

And summaries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clew.documents.conversations import parse_messages
from clew.engine.conflicts import Conflicts
from clew.engine.language import Language, Made, facts_by_rule, summary_by_rule
from clew.errors import ClewError
from clew.memories.draft import Draft
from clew.models.language_tasks import Fact
from clew.ports import Store
from clew.settings import Settings
from clew.types import ConversationOutcome, Kind, Message, Node, NodeId, Outcome, OutcomeKind

if TYPE_CHECKING:
    from clew.engine.clew import Clew

CONFLICT = "conflict"  # the verdict of a model that confirms
EVIDENCE = "EVIDENCE"  # the kind of an edge from a fact to a message that says it
BY_RULES = "The facts were extracted by rules."
UNCONFIGURED = "No language model is configured (llm.protocol)."
MOST_READ = 200  # passages of a section that a summary reads


def confirmed(language: Language, found: Conflicts) -> Conflicts:
    """Return the conflicts that the model does not reject, with notes of what it was asked.

    A conflict stays if the call fails.
    """
    kept, notes = [], list(found.notes)
    for each in found:
        verdict, note = language.conflict(each.first.text, each.second.text)
        notes.append(note)
        if verdict is None or verdict.verdict == CONFLICT:
            kept.append(each)
    if rejected := len(found) - len(kept):
        notes.append(f"{rejected} found by rules are not conflicts according to the model.")
    result = Conflicts(kept)
    result.notes, result.examined = tuple(dict.fromkeys(notes)), found.examined
    return result


def committed(
    language: Language,
    drafts: Sequence[Draft],
    commit: Callable[[list[Draft]], list[Outcome]],
    *,
    store: Store,
    settings: Settings,
) -> list[Outcome]:
    """Commit the drafts that a model does not reject, and add the names that it finds.

    The outcomes say what was asked.
    """
    judged = [
        language.judged(draft, settings) if language.substance and not draft.force else (None, "")
        for draft in drafts
    ]
    done = iter(
        commit(
            [
                draft
                for draft, (rejection, _) in zip(drafts, judged, strict=True)
                if rejection is None
            ]
        )
    )
    outcomes = []
    for rejection, note in judged:
        outcome = next(done) if rejection is None else rejection
        notes = (note, _renamed(language, outcome, store, settings) if language.entities else "")
        outcomes.append(replace(outcome, notes=(*outcome.notes, *filter(None, notes))))
    return outcomes


def _renamed(language: Language, outcome: Outcome, store: Store, settings: Settings) -> str:
    """Add the model's names to those of an inserted memory; return the note."""
    if outcome.outcome is not OutcomeKind.INSERTED or outcome.id is None:
        return ""
    node = store.get([outcome.id])[outcome.id]
    added, note = language.named(node, most=settings.entities.most)
    with store.transaction():
        known = store.mentions([node.id]).get(node.id, ())
        keys = {each.key for each in known}
        if more := [each for each in added if each.key not in keys]:
            store.mention([*known, *more])
    return note


def with_facts(
    clew: Clew,
    messages: Iterable[Message | Mapping[str, Any]],
    done: ConversationOutcome,
    *,
    space: str,
) -> ConversationOutcome:
    """Return the outcome of a conversation with the facts of its new messages, each kept and linked to them."""
    fresh = [
        (message, outcome.id)
        for message, outcome in zip(parse_messages(messages), done.outcomes, strict=True)
        if outcome.outcome is OutcomeKind.INSERTED and outcome.id is not None
    ]
    if not fresh:
        return done
    found, note = _facts(clew, [message for message, _ in fresh])
    fields = {"space": space, "metadata": {"session_of": done.session}}
    facts = tuple(
        _kept(clew, fact, trigger, [fresh[number][1] for number in fact.messages], fields)
        for fact, trigger in found
    )
    return replace(done, facts=facts, notes=(*done.notes, note))


def _facts(clew: Clew, said: Sequence[Message]) -> tuple[list[tuple[Fact, str]], str]:
    categories = clew.settings.memory.categories
    problem = UNCONFIGURED
    if clew.language is not None:
        lines = [
            f"{message.speaker or message.role or 'someone'}: {message.text}" for message in said
        ]
        found, note = clew.language.facts(lines, categories=categories)
        if found is not None:
            return [(fact, "") for fact in found], note
        problem = note
    by_rule = facts_by_rule(
        [(message.role, message.text) for message in said], categories=categories
    )
    return list(by_rule), f"{BY_RULES} {problem}"


def _kept(
    clew: Clew, fact: Fact, trigger: str, evidence: Sequence[NodeId], fields: Mapping[str, Any]
) -> Outcome:
    """Keep a fact and link it to the messages that say it."""
    known = trigger if trigger in clew.settings.memory.triggers else None
    try:
        done = clew.remember(fact.text, category=fact.category, trigger=known, **fields)
    except ClewError as error:
        return Outcome(outcome=OutcomeKind.REJECTED, rule=error.code, notes=(error.message,))
    kept = done.id if done.outcome is OutcomeKind.INSERTED else done.canonical_id
    if (
        kept is not None
        and (node := clew.store.get([kept]).get(kept)) is not None
        and node.kind is Kind.MEMORY
    ):
        for id in evidence:
            clew.link(kept, id, kind=EVIDENCE)
    return done


def summary(clew: Clew, node: Node) -> Made:
    """Return a summary of a node by the language model, or by rules, as the note says."""
    text = "\n".join(_texts(clew.store, node))
    problem = UNCONFIGURED
    if clew.language is not None:
        found, problem = clew.language.summary(text)
        if found is not None:
            return Made(found, problem)
    return Made(summary_by_rule(text), f"Summarised by rules. {problem}")


def _texts(store: Store, node: Node) -> Iterator[str]:
    """Yield the title and the text of a node.

    A section has its own text, which its passages only divide.
    """
    if node.title:
        yield node.title
    if node.text.strip():
        yield node.text
        return
    parts = [
        each
        for each in store.get(store.family([node.id])[:MOST_READ]).values()
        if each.kind is Kind.CHUNK
    ]
    yield from (each.text for each in sorted(parts, key=lambda each: (each.position or 0, each.id)))
