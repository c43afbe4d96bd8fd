"""Find what a node names and what it is about, for commit, import, loading and evaluation.

Memories and chunks have mentions; sections and documents would only repeat those of their chunks. A
memory is about what its title says, and so is the first chunk of a document; the names inside a
memory's title are mentions like those of its text.

The word lists behind this take 20 ms to load, which only a write should pay: everything of
`clew.graph` is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

from clew.ports import Store
from clew.settings import EntitySettings
from clew.types import Kind, Mention, Node

if TYPE_CHECKING:
    from clew.text.names.extraction import Extractor
    from clew.text.names.keys import Entity

NAMING_KINDS = (Kind.MEMORY, Kind.CHUNK)
# between a document's title and the headings below it, see `clew.documents.tree.titled`
TITLE_SEPARATOR = " > "
PAGE_SIZE = 256  # nodes that are read in one transaction
DEFAULT = "default"
SPACY_MODEL = "en_core_web_sm"
GLINER_MODEL = "urchade/gliner_small-v2.1"


def mentions_of(node: Node, *, settings: EntitySettings) -> tuple[Mention, ...]:
    """Return what a node names and is about, subjects first.

    None for a section or a document, or where this is turned off.
    """
    return mentions([node], settings=settings)[0]


def mentions(nodes: Sequence[Node], *, settings: EntitySettings) -> list[tuple[Mention, ...]]:
    """Return what each of the nodes names and is about, in order.

    A model reads all the texts at once.
    """
    naming = [node for node in nodes if settings.enabled and node.kind in NAMING_KINDS]
    found = (
        {
            node.id: entities
            for node, entities in zip(naming, _extract(naming, settings), strict=True)
        }
        if naming
        else {}
    )
    return [
        _mentions_of(node, found[node.id], settings) if node.id in found else () for node in nodes
    ]


def rebuild_mentions(store: Store, *, settings: EntitySettings) -> None:
    """Extract the mentions of all nodes again, page by page, and replace the stored ones."""
    if not settings.enabled:
        return
    waiting = (node for node in store.nodes() if node.kind in NAMING_KINDS)
    while page := list(islice(waiting, PAGE_SIZE)):
        store.mention([mention for said in mentions(page, settings=settings) for mention in said])


def subject_of(node: Node) -> str:
    """Return what a node is about.

    A memory's title, and of a document's first chunk the title of the document; else nothing.
    """
    if node.kind is Kind.MEMORY:
        return node.title
    return (
        ""
        if node.kind is not Kind.CHUNK or node.position
        else node.title.partition(TITLE_SEPARATOR)[0]
    )


def _mentions_of(
    node: Node, found: Sequence[Entity], settings: EntitySettings
) -> tuple[Mention, ...]:
    """Return the subject of a node under all its keys, then its most certain other mentions."""
    # a title says it better
    opens = settings.openings and node.kind is Kind.MEMORY and not node.title
    about = {
        mention.key: mention
        for mention in (_opening_mentions(node) if opens else _subject_mentions(node))
    }
    if not found and not about and not node.title:  # as most: nothing is named
        return ()
    from clew.text.names.opening import begins_with  # noqa: PLC0415

    # what the text has too is found there
    named = {entity.key: entity for entity in (*_title_entities(node, settings), *found)}
    others = sorted(
        (entity for entity in named.values() if entity.key not in about),
        key=lambda found: (-found.confidence, found.start, found.key),
    )
    return (
        *about.values(),
        *(
            _mention(node, entity, opens=opens and begins_with(node.text, entity.start, entity.end))
            for entity in others[: settings.most]
        ),
    )


def _subject_mentions(node: Node) -> Iterator[Mention]:
    if not (title := subject_of(node)):
        return
    from clew.text.names.extraction import title_entity  # noqa: PLC0415
    from clew.text.names.keys import key_beginnings  # noqa: PLC0415
    from clew.text.names.opening import is_name  # noqa: PLC0415

    subject = title_entity(title, node.text)
    if subject is not None:
        told = _mention(node, subject)
        yield from (
            told._replace(key=key, opens=True)
            for key in (key_beginnings(subject.key) if is_name(subject.name) else ())
        )
        yield from (told._replace(key=key, subject=True) for key in (subject.key, *subject.aliases))


def _opening_mentions(node: Node) -> Iterator[Mention]:
    """Yield the subject of a text's heading or first words, under all its keys."""
    from clew.text.names.extraction import title_entity  # noqa: PLC0415
    from clew.text.names.keys import key_beginnings  # noqa: PLC0415
    from clew.text.names.opening import read_opening  # noqa: PLC0415

    found = read_opening(node.text)
    for name in filter(None, (found.name, *found.others)):
        if (subject := title_entity(name, node.text)) is not None:
            told = _mention(node, subject, opens=not found.heading)._replace(
                subject=found.heading, start=0, end=len(found.name)
            )
            yield from (
                told._replace(key=key, opens=True, subject=False)
                for key in key_beginnings(subject.key)
            )
            yield from (told._replace(key=key) for key in (subject.key, *subject.aliases))


def _title_entities(node: Node, settings: EntitySettings) -> Sequence[Entity]:
    """Return what the title of a memory names.

    The titles of chunks repeat what stands above many of them.
    """
    if node.kind is not Kind.MEMORY or not node.title:
        return ()
    found = _rules()(node.title, limit=settings.most, least=settings.least_confidence)
    return [replace(entity, start=0, end=0) for entity in found]


def _mention(node: Node, entity: Entity, *, opens: bool = False) -> Mention:
    return Mention(
        node.id,
        entity.key,
        entity.name,
        str(entity.type),
        entity.confidence,
        False,
        entity.start,
        entity.end,
        opens,
    )


def _extract(nodes: Sequence[Node], settings: EntitySettings) -> Sequence[Sequence[Entity]]:
    if settings.extractor != "rules":
        extractor = _extractor(
            settings.extractor, settings.model, settings.most, settings.least_confidence
        )
        return extractor.extract([node.text for node in nodes])
    entities = _rules()
    return [
        entities(
            node.text, format=_format(node), limit=settings.most, least=settings.least_confidence
        )
        for node in nodes
    ]


@cache
def _rules() -> Callable[..., Sequence[Entity]]:
    """Return the reading by rules; an import at every text would look for the module each time."""
    from clew.text.names.extraction import extract_entities  # noqa: PLC0415

    return extract_entities


@lru_cache(maxsize=4)
def _extractor(kind: str, model: str, limit: int, least: float) -> Extractor:
    """Return an extractor that loads its model once for the whole process."""
    if kind == "spacy":
        from clew.text.names.adapters import SpacyExtractor  # noqa: PLC0415

        return SpacyExtractor(SPACY_MODEL if model == DEFAULT else model, limit=limit, least=least)
    from clew.text.names.adapters import GlinerExtractor  # noqa: PLC0415

    return GlinerExtractor(GLINER_MODEL if model == DEFAULT else model, limit=limit, least=least)


def _format(node: Node) -> str:
    """Return how a text is written, as far as its file's name tells.

    In code, quotation marks hold data.
    """
    if node.kind is not Kind.CHUNK:
        return "text"
    # With all the chunkers, which who imports has loaded
    from clew.file_formats import detect  # noqa: PLC0415
    from clew.graph.code.languages import GRAMMARS  # noqa: PLC0415

    found = detect(PurePath(node.source), b"")
    return found if found in GRAMMARS or found == "markdown" else "text"
