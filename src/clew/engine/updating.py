"""What stands beside a memory's text can be changed in place.

The text itself is superseded, so that what was believed stays known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clew.engine import versions
from clew.engine.request import unknown
from clew.errors import InputError, RefusedError
from clew.graph.mentions import mentions_of
from clew.memories.draft import Draft
from clew.memories.embedding import Embed, Embedded, agree_on_model, is_message, made, wanted
from clew.memories.firewall.screening import FIX, REFUSE
from clew.memories.firewall.screening import RULE as SECRET
from clew.memories.quality import assess
from clew.memories.validation import one_of
from clew.ports import Clock, ModelInfo, Store
from clew.settings import Settings
from clew.text.words import sentence_list
from clew.types import Embedding, Event, EventKind, Kind, Node, NodeId

CHANGEABLE = (
    "title",
    "category",
    "trigger",
    "importance",
    "stability",
    "tags",
    "metadata",
    "source",
)
MakeDraft = Callable[[Any, Mapping[str, Any]], Draft]


def updated(
    store: Store,
    id: NodeId,
    given: Mapping[str, Any],
    *,
    drafted: MakeDraft,
    embed: Embed,
    model: Callable[[], ModelInfo],
    settings: Settings,
    clock: Clock,
) -> Node:
    """Change the given fields of a memory and return it.

    What is given as it was changes nothing.
    """
    for name in given:
        if name == "text":
            raise InputError(
                "text",
                given[name],
                "cannot be changed in place",
                "Use supersede: what was believed before stays known.",
            )
        one_of("update", name, CHANGEABLE)
    found = store.get([id]).get(id)
    if found is None:
        raise unknown(id)
    if is_message(found):
        raise InputError(
            "id", id, "is a message of a conversation", "Forget the conversation and tell it again."
        )
    if found.kind is not Kind.MEMORY:
        raise InputError(
            "id",
            id,
            f"is a {found.kind} of an imported file",
            "Change the file and import it again.",
        )
    checked = drafted(versions.head_of(store, found).text, given)
    if checked.secrets and settings.firewall.secrets == REFUSE:
        raise RefusedError(
            f"What was given holds a secret ({sentence_list(checked.secrets)}). {FIX}",
            rule=SECRET,
        )
    needed = (
        list(wanted([replace(versions.head_of(store, found), title=checked.title)]))
        if "title" in given
        else []
    )
    vectors = embed([each.source for each in needed]) if needed else Embedded(None)
    with store.transaction():
        node = versions.head_of(store, found)
        changes = {
            name: getattr(checked, name)
            for name in given
            if getattr(checked, name) != getattr(node, name)
        }
        if changes:
            _write(store, node.id, changes, clock)
        if "title" in changes:
            _retitled(
                store,
                node.id,
                [] if vectors.vectors is None else made(needed, vectors.rows()),
                model,
                settings,
            )
        return store.get([node.id])[node.id]


def _write(store: Store, id: NodeId, changes: Mapping[str, Any], clock: Clock) -> None:
    told = {
        name: list(value) if isinstance(value, tuple) else value for name, value in changes.items()
    }
    store.update(id, **changes)
    store.append([Event(node=id, kind=EventKind.UPDATE, at=clock(), detail=told)])


def _retitled(
    store: Store,
    id: NodeId,
    vectors: Sequence[Embedding],
    model: Callable[[], ModelInfo],
    settings: Settings,
) -> None:
    """Let what was read from the title follow it: the vectors, the names, the quality."""
    node = store.get([id])[id]
    store.update(id, quality=assess(node.text, title=node.title))
    store.mention(mentions_of(node, settings=settings.entities))
    if vectors:
        agree_on_model(store, model())
        store.put(vectors, model())
